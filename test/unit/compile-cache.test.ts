/** What Node 20 is spared: compiling the same files again for each command (bin/compile-cache.js). */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../support/folder";

const keeper = join(__dirname, "../../bin/compile-cache.js");

/** Node 20 says that loading them by require is an experiment. */
const quiet = ["--disable-warning=ExperimentalWarning"];

function setUp() {
  const folder = makeFolder();
  const cache = join(folder, "dist/.compile-cache");
  mkdirSync(join(folder, "dist"));
  writeFileSync(
    join(folder, "main.js"),
    `require(${JSON.stringify(keeper)}).keepCompiled(${JSON.stringify(cache)}); require("./part.js");`,
  );
  const part = join(folder, "part.js");
  const later = join(folder, "later.js");
  writeFileSync(later, `exports.sep = import("node:path").then(({ sep }) => sep);`);
  const says = (word: string): void =>
    writeFileSync(
      part,
      `const found = require.resolve("./part.js") === __filename;
require("./later.js").sep.then((sep) => console.log("${word}", sep, found));`,
    );
  /** Such as a dependency may be. */
  const module = (): void => {
    mkdirSync(join(folder, "node_modules/its"), { recursive: true });
    writeFileSync(join(folder, "node_modules/its/package.json"), '{ "type": "module", "main": "index.js" }');
    writeFileSync(join(folder, "node_modules/its/index.js"), "import { sep } from 'node:path'; export { sep };");
    writeFileSync(later, `exports.sep = Promise.resolve(require("its").sep);`);
  };
  const run = () => {
    const { stdout, stderr } = spawnSync(process.execPath, [...quiet, join(folder, "main.js")], { encoding: "utf8" });
    return `${stdout}${stderr}`.trim();
  };
  const kept = () => join(cache, readdirSync(cache)[0]!);
  return { says, run, cache, kept, module };
}

describe("what was compiled", () => {
  it("is taken by the next run, and written once", () => {
    const { says, run, kept } = setUp();
    says("one");
    expect(run()).toBe("one / true");
    const before = statSync(kept()).mtimeMs;
    expect(run()).toBe("one / true");
    expect(statSync(kept()).mtimeMs).toBe(before);
  });

  it("is not taken for a file that was changed, whatever its size, and does not pile up", () => {
    const { says, run, kept } = setUp();
    says("one");
    run();
    says("two");
    expect(run()).toBe("two / true");
    expect(
      readFileSync(kept(), "utf8")
        .split("\n")[0]!
        .match(/part\.js/g),
    ).toHaveLength(1);
  });

  it("is kept of scripts alone: an ES module is loaded by require as without it", () => {
    const { says, run, module } = setUp();
    module();
    says("one");
    expect(run()).toBe("one / true");
    expect(run()).toBe("one / true");
  });

  it("is made anew where it is cut off", () => {
    const { says, run, cache, kept } = setUp();
    says("one");
    run();
    writeFileSync(kept(), '[["x",10]]\n');
    expect(run()).toBe("one / true");
    writeFileSync(kept(), readFileSync(kept()).subarray(0, -200));
    expect(run()).toBe("one / true");
    expect(readdirSync(cache)).toHaveLength(1);
  });
});
