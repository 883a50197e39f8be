/** What a large project holds. Counted in what is in use, which no load of the machine changes. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { prepareState } from "../../bench/prepared-state.mjs";
import { shapes } from "../../bench/shapes.mjs";
import { root } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const run = promisify(execFile);

it("a plan of 40,000 resources lets go of what is over: without that it would hold 370 MB", async () => {
  const count = 40_000;
  const cwd = makeFolder({ "reconcile.yaml": shapes.flat(count) });
  prepareState(cwd);
  const script = `
    process.on("exit", () => process.stderr.write("PEAK " + Math.round(process.resourceUsage().maxRSS / 1024)));
    process.argv.splice(1, 0, "reconcile");
    require(${JSON.stringify(join(root, "bin/reconcile.js"))});`;
  const { stdout, stderr } = await run(
    process.execPath,
    ["-e", script, "plan", "--no-refresh", "--base-url", "http://127.0.0.1:9"],
    { cwd, env: { ...process.env, RECONCILE_TOKEN: "ops-token" } },
  );
  expect(stdout).toContain("Nothing to do");
  // Node 24 gives what is young more room.
  const most = Number(process.versions.node.split(".")[0]) < 24 ? 240 : 340;
  expect(Number(/PEAK (\d+)/.exec(stderr)?.[1])).toBeLessThan(most);
});
