/** An address with a password, given where a name or a file belongs, is not repeated with it. */
import { expect, test } from "vitest";
import { runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const address = "https://ops:never-shown@cloud.example/x";
const file = "version: 1\nproject: acme\nservice: { base_url: embedded }\ngroups: { web: {} }\n";

test.each([
  [["init", address]],
  [["plan", address]],
  [["plan", "--target", address]],
  [["destroy", "--target", address]],
  [["plan", "--env", address]],
  [["plan", "--allow-loss", address]],
  [["state", "show", address]],
  [["state", "push", address]],
  [["import", address, "id"]],
  [["explain", address]],
  [["help", address]],
  [[address]],
])("%j", async (args) => {
  const cwd = makeFolder({ "reconcile.yaml": file });
  const { exitCode, stdout, stderr } = await runCli(args, { cwd });
  expect(`${stdout}${stderr}`).not.toContain("never-shown");
  expect(exitCode).toBe(args.includes("--allow-loss") ? 0 : 1);
});
