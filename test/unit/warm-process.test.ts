/** What tests are told of a command that ran in a process with others must be what they would be told of it alone. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { startWarm } from "../support/cli-process";
import { makeFolder } from "../support/folder";

/** A script of these lines, and a module beside it that counts how often it was asked. */
const scriptOf = (lines: string): string =>
  makeFolder({ "script.js": lines, "count.js": "let n = 0; module.exports = () => ++n;" });
const run = (lines: string, env: Readonly<Record<string, string>> = {}, cwd = scriptOf(lines)) =>
  startWarm(join(cwd, "script.js"), ["one"], { cwd, env });
const ended = async (lines: string, env?: Readonly<Record<string, string>>) => run(lines, env).finished;

it("a run finds nothing of the one before", async () => {
  const lines = `
    const seen = [require("./count.js")(), globalThis.left, process.env.LEFT, process.listenerCount("SIGTERM"), process.exitCode];
    globalThis.left = true;
    process.env.LEFT = "left";
    process.on("SIGTERM", () => undefined);
    process.on("exit", () => { process.exitCode = 4; });
    setInterval(() => process.stdout.write("late"), 1).unref();
    const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = (text) => write("[" + text + "]");
    setTimeout(() => console.log(JSON.stringify([...seen, process.argv.slice(2)])), 20);`;
  const own = { exitCode: 4, stdout: expect.stringContaining('[[1,null,null,0,null,["one"]]\n]'), stderr: "" };
  const folder = scriptOf(lines);
  expect(await run(lines, {}, folder).finished).toEqual(own);
  expect(await run(lines, {}, folder).finished).toEqual(own);
  const pause = "setTimeout(() => console.log('over'), 50)";
  expect(await ended(pause)).toEqual({ exitCode: 0, stdout: "over\n", stderr: "" });
});

it("it ends as a process does, however it ends", async () => {
  expect(await ended("console.log('said'); process.exitCode = 2")).toEqual({
    exitCode: 2,
    stdout: "said\n",
    stderr: "",
  });
  expect(await ended("process.exit(3)")).toMatchObject({ exitCode: 3 });
  expect(await ended("throw new Error('broken')")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("broken"),
  });
  expect(await ended("Promise.reject(new Error('broken'))")).toMatchObject({ exitCode: 1 });
  expect(await ended("console.log(process.env.OWN)", { OWN: "own" })).toMatchObject({ exitCode: 0, stdout: "own\n" });
});

it("what waits for something does not end before it comes, and a server is ended by its stop alone", async () => {
  const waiting = run(`require("node:net").createServer().listen(0, "127.0.0.1", () => console.log("serves"))`);
  const first = await Promise.race([waiting.finished, ended("setTimeout(() => console.log('other'), 100)")]);
  expect(first.stdout).toBe("other\n");
  await waiting.stop();
  expect(await waiting.finished).toEqual({ exitCode: 0, stdout: "serves\n", stderr: "" });
});
