/** What Node is spared: compiling the same files again for each command (bin/compile-cache.js). */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
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
  /** A process of another kind, which keeps by itself. */
  const add = (then: string, further = "./later.js"): void => {
    writeFileSync(join(folder, "further.js"), "exports.more = (one) => [one, one, one].map((each) => each + 1);");
    writeFileSync(
      join(folder, "other.js"),
      `const keep = require(${JSON.stringify(keeper)}).keepCompiled(${JSON.stringify(cache)}, "-other"); require("./part.js"); require("${further}"); ${then}`,
    );
    spawnSync(process.execPath, [...quiet, join(folder, "other.js")]);
  };
  const run = () => {
    const { stdout, stderr } = spawnSync(process.execPath, [...quiet, join(folder, "main.js")], { encoding: "utf8" });
    return `${stdout}${stderr}`.trim();
  };
  const kept = () => join(cache, readdirSync(cache)[0]!);
  return { says, run, add, cache, kept, module };
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

  it("is kept at once where the process may be killed, beside what others kept, and grows by what it compiled later", () => {
    const { says, run, cache, add } = setUp();
    says("one");
    run();
    const killed = () => add(`keep(); keep(); process.kill(process.pid, "SIGKILL");`);
    const [first = "", second = ""] = [killed(), killed()].map(() => readdirSync(cache).sort()[1]);
    expect([readdirSync(cache).length, first]).toEqual([2, second]);
    const before = statSync(join(cache, first));
    killed();
    expect(statSync(join(cache, first)).mtimeMs).toBe(before.mtimeMs);
    add("keep();", "./further.js");
    expect(statSync(join(cache, first)).size).toBeGreaterThan(before.size);
  });

  it("grows by what another command calls, or one that needs another file, once, also where Node has a cache of its own", () => {
    const folder = join(makeFolder(), "with a space");
    mkdirSync(join(folder, "dist"), { recursive: true });
    const functions = ["plan", "apply", "further"].map((name) => `exports.${name} = (n) => [${"n, ".repeat(500)}];`);
    writeFileSync(join(folder, "dist/part.js"), functions.join("\n"));
    writeFileSync(join(folder, "dist/further.js"), 'require("./part.js").further();');
    cpSync(join(__dirname, "../../bin"), join(folder, "bin"), { recursive: true });
    writeFileSync(
      join(folder, "bin/main.js"),
      `const [command, code, further] = process.argv.slice(2);
require("./compile-cache.js").keepHere("", command); require("../dist/part.js")[command](); process.exitCode = Number(code);
if (further !== undefined) require("../dist/further.js");`,
    );
    const sizeAfter = (...run: [command: string, code: number, further?: string]): number => {
      spawnSync(process.execPath, [join(folder, "bin/main.js"), ...run.map(String)]);
      const [kept = "", ...more] = readdirSync(join(folder, "dist/.compile-cache"));
      expect(more).toEqual([]);
      return statSync(join(folder, "dist/.compile-cache", kept)).size;
    };
    const first = sizeAfter("plan", 0);
    expect(sizeAfter("apply", 1)).toBe(first);
    const second = sizeAfter("apply", 0);
    expect(second).toBeGreaterThan(first + 1000);
    expect([sizeAfter("plan", 0), sizeAfter("apply", 0)]).toEqual([second, second]);
    // Its other way calls more of the files that it has used before as well.
    const third = sizeAfter("plan", 0, "further");
    expect(third).toBeGreaterThan(second + 1000);
    expect(sizeAfter("plan", 0, "further")).toBe(third);
    // What a command has no need of stays for others, also where the folder has a space in its name.
    const fourth = sizeAfter("further", 0);
    expect(sizeAfter("plan", 0, "further")).toBe(fourth);
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

describe("what a package keeps that another user installed", () => {
  const isRoot = process.getuid?.() === 0;
  /** Root may write everywhere: the user is another one then. */
  const nobody = isRoot ? { uid: 65_534, gid: 65_534 } : {};

  function installed({ cacheMode = 0o700 } = {}) {
    const folder = makeFolder();
    chmodSync(folder, 0o755);
    for (const part of ["bin", "dist", "home"]) mkdirSync(join(folder, part));
    cpSync(keeper, join(folder, "bin/compile-cache.js"));
    writeFileSync(join(folder, "package.json"), '{ "version": "1.2.3" }');
    writeFileSync(join(folder, "bin/part.js"), "exports.more = (one) => [one, one].map((each) => each + 1);");
    writeFileSync(
      join(folder, "bin/main.js"),
      'require("./compile-cache.js").keepHere(); require("./part.js"); console.log("ran");',
    );
    const ofUser = join(folder, "home/.cache/reconcile/compiled/1.2.3");
    mkdirSync(ofUser, { recursive: true });
    for (const path of ["home", "home/.cache", "home/.cache/reconcile", "home/.cache/reconcile/compiled"])
      if (isRoot) chownSync(join(folder, path), 65_534, 65_534);
    if (isRoot) chownSync(ofUser, 65_534, 65_534);
    chmodSync(ofUser, cacheMode);
    const run = (as: object = nobody, env: NodeJS.ProcessEnv = {}) =>
      spawnSync(process.execPath, [join(folder, "bin/main.js")], {
        encoding: "utf8",
        ...as,
        env: { PATH: process.env["PATH"], HOME: join(folder, "home"), ...env },
      });
    const close = (mode: number) => {
      for (const part of ["dist", "bin"]) chmodSync(join(folder, part), mode);
    };
    return { folder, ofUser, run, close, own: join(folder, "dist/.compile-cache") };
  }

  it("is in a folder of the user's own, which the next run takes", () => {
    const { ofUser, run, close, own } = installed();
    close(0o555);
    expect(run()).toMatchObject({ stdout: "ran\n", stderr: "" });
    expect(existsSync(own)).toBe(false);
    const kept = readdirSync(ofUser);
    expect(kept).toHaveLength(1);
    const before = statSync(join(ofUser, kept[0]!)).mtimeMs;
    expect(run().stdout).toBe("ran\n");
    expect(statSync(join(ofUser, kept[0]!)).mtimeMs).toBe(before);
    close(0o755);
  });

  it.each(["", "home", "."])("is never below a relative folder, such as XDG_CACHE_HOME=%s", (given) => {
    const { folder, ofUser, run, close } = installed();
    close(0o555);
    expect(run({ ...nobody, cwd: folder }, { XDG_CACHE_HOME: given }).stdout).toBe("ran\n");
    expect(readdirSync(ofUser)).toHaveLength(1);
    expect(readdirSync(join(folder, "home"))).toEqual([".cache"]);
    rmSync(ofUser, { recursive: true });
    run({ ...nobody, cwd: join(folder, "home") }, { XDG_CACHE_HOME: given, HOME: "." });
    expect(existsSync(ofUser)).toBe(false);
    close(0o755);
  });

  it("is nothing where others may write that folder, and where there is no place for one", () => {
    const { ofUser, folder, run, close } = installed({ cacheMode: 0o777 });
    close(0o555);
    expect(run().stdout).toBe("ran\n");
    expect(readdirSync(ofUser)).toEqual([]);
    expect(run(nobody, { HOME: join(folder, "package.json") })).toMatchObject({ stdout: "ran\n", stderr: "" });
    close(0o755);
  });

  it("is in the package's folder for whoever may write there", () => {
    const { ofUser, run, own } = installed();
    expect(run({}).stdout).toBe("ran\n");
    expect(readdirSync(own)).toHaveLength(1);
    expect(readdirSync(ofUser)).toEqual([]);
  });

  it.runIf(isRoot)("is nothing in the home of another user, when root runs it where nobody may write", () => {
    const { folder, ofUser, run, own } = installed();
    rmSync(join(folder, "dist"), { recursive: true });
    expect(run({})).toMatchObject({ stdout: "ran\n", stderr: "" });
    expect([existsSync(own), readdirSync(ofUser)]).toEqual([false, []]);
  });

  it.runIf(isRoot)(
    "is in a folder of the user's own also where root has run it, and nowhere new where there is none",
    () => {
      const { folder, ofUser, run, own, close } = installed();
      run({});
      close(0o555);
      expect(run(nobody, { HOME: join(folder, "package.json") }).stdout).toBe("ran\n");
      expect([readdirSync(own).length, readdirSync(ofUser)]).toEqual([1, []]);
      expect(run().stdout).toBe("ran\n");
      expect(readdirSync(ofUser)).toHaveLength(1);
    },
  );
});
