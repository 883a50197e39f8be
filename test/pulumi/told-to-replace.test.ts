/** What an engine is told to replace, as the processes that it starts know it from its command line. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const urn = "urn:pulumi:dev::demo::my:index:Web$reconcile-cloud:index:Volume::data";

const module = join(__dirname, "../../dist/provider/told-to-replace.js");
const provider = `process.stdout.write(String(require(${JSON.stringify(module)}).isToldToReplace(${JSON.stringify(urn)})))`;
/** Starts the next one of these, as an engine starts a launcher, and that the provider. */
const launcher = `const [next, ...rest] = JSON.parse(process.env.CHAIN);
  process.env.CHAIN = JSON.stringify(rest);
  process.stdout.write(require("node:child_process").execFileSync(process.execPath, next));`;

it.runIf(process.platform !== "win32").each([
  [["up", "--yes", "--replace", urn], "true"],
  [["up", `--target-replace=${urn}`, "--target-dependents"], "true"],
  [["preview", "--replace", "**::other", "--replace", urn], "true"],
  // A pattern may be of nothing that the state has.
  [["up", "--replace", "**::data"], "false"],
  [["up", "--replace", `${urn}-2`], "false"],
  [["up", "--target", urn, "--replace", "**::other"], "false"],
  [["up", "--yes"], "false"],
])("an engine that was started with %j: %s", (args, told) => {
  const chain = [
    ["-e", launcher, "--", "engine", ...args],
    ["-e", launcher, "--", "launcher", "127.0.0.1:1"],
    ["-e", provider],
  ];
  const [first = [], ...rest] = chain;
  const environment = { ...process.env, CHAIN: JSON.stringify(rest) };
  expect(execFileSync(process.execPath, first, { encoding: "utf8", env: environment })).toBe(told);
});
