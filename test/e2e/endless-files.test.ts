/** Files that would keep their reader busy for ever, or take all its memory, are refused within seconds, with their line. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { jsonLines, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const numbers = (count: number): string => `[${Array.from({ length: count }, (_, index) => index + 1).join(", ")}]`;
const cidrs = (count: number): string =>
  `[${Array.from({ length: count }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`).join(", ")}]`;
const text = `${"a".repeat(40)}!`;

/** Variables of which each uses the next; `up`: from the last to the first. */
function steps(count: number, value: (n: number) => string, up = false): string {
  const lines = Array.from({ length: count }, (_, n) => `  v${n}: { default: ${value(n)} }\n`);
  const all = [...lines, `  v${count}: { default: [a, b] }\n`];
  return (up ? all.toReversed() : all).join("");
}

const files: Readonly<Record<string, readonly [file: string, told: RegExp, line: number]>> = {
  "a pattern for a value": [
    `vars:\n  word: { default: "${text}", matches: "(a+)+" }\n`,
    /the variable word cannot be .*text that fits \(a\+\)\+; it was not decided within 1 s/,
    4,
  ],
  "a pattern for the items of a list": [
    `vars:\n  words: { type: list, default: ["${text}", b], matches: "(a|aa)+" }\n`,
    /it was not decided within 1 s/,
    4,
  ],
  "a pattern for a parameter, in every use of its component": [
    `components:\n  c: { for_each: 200, from: ./c.yaml, with: { word: "${text}" } }\n`,
    /the parameter word cannot be .*it was not decided within 1 s/,
    4,
  ],
  "variables that double a list": [
    `vars:\n${steps(30, (n) => `["\${var.v${n + 1}}", "\${var.v${n + 1}}"]`)}outputs: { all: "\${var.v0}" }\n`,
    /the variable v\d+ stands for more than 1000000 values/,
    16,
  ],
  "variables that put each list into another": [
    `vars:\n${steps(300, (n) => `["\${var.v${n + 1}}"]`)}outputs: { all: "\${var.v0}" }\n`,
    /the variable v\d+ is used by 100 others, one through the other/,
    104,
  ],
  "variables in the order in which they use each other": [
    `vars:\n${steps(8000, (n) => `["\${var.v${n + 1}}"]`, true)}`,
    /the variable v\d+ is nested too deeply/,
    104,
  ],
  "outputs that repeat a list": [
    `vars:\n${steps(17, (n) => `["\${var.v${n + 1}}", "\${var.v${n + 1}}"]`)}outputs:\n${Array.from({ length: 60 }, (_, n) => `  o${n}: "\${var.v0}"\n`).join("")}`,
    /the outputs stand for more than 1000000 values/,
    24,
  ],
  "components that are handed what others hand out": [
    `components:\n${Array.from({ length: 1500 }, (_, n) => `  c${n}: { from: ./c.yaml, with: { word: "\${component.c${n + 1}.word}" } }\n`).join("")}  c1500: { from: ./c.yaml, with: { word: aa } }\n`,
    /the component c100 is used by 100 others, one through the other/,
    104,
  ],
  "a pattern for names": [
    `checks:\n  names: { group: "(a+)+" }\ngroups: { x: { name: ${"a".repeat(40)}-1 } }\n`,
    /the pattern for names of a group does not end on the name/,
    4,
  ],
  "the lists of a rule": [
    `groups:\n  x:\n    name: web\n    rules:\n      - { protocol: tcp, dst_port: ${numbers(3000)}, remote_ip: ${cidrs(3000)} }\n`,
    /the lists of a rule stand for 9000000 rules, and 10000 are the most/,
    7,
  ],
};

test.each(Object.keys(files))("%s", async (what) => {
  const [file = "", told = /x/, line = 0] = files[what] ?? [];
  const cwd = makeFolder({
    "reconcile.yaml": `version: 1\nproject: acme\n${file}`,
    "c.yaml": `component: 1\nparameters: { word: { matches: "(a+)+" } }\noutputs: { word: "\${param.word}" }\n`,
  });
  const { exitCode, stdout } = await runCli(["validate", "--json"], { cwd });
  expect(exitCode).toBe(1);
  const [summary] = jsonLines(stdout);
  const problems = summary?.["diagnostics"] as Record<string, unknown>[];
  expect(problems.map((one) => `${one["summary"]} ${one["detail"]}`).join("\n")).toMatch(told);
  expect(JSON.stringify(problems[0])).toContain(`"line":${line}`);
});

test("what is large and well is read as before", async () => {
  const cwd = makeFolder({
    "reconcile.yaml": `version: 1
project: acme
vars: { words: { type: list, default: [web-1, web-2], matches: "web-[0-9]+" } }
checks: { names: { group: "[a-z]+" } }
groups: { x: { name: web, rules: [ { protocol: tcp, dst_port: ${numbers(100)}, remote_ip: ${cidrs(100)} } ] } }
`,
  });
  expect((await runCli(["validate"], { cwd })).exitCode).toBe(0);
});

/** Half a second of a processor at most, in the middle of which the process stands still three times, in two tries. */
const paused = `
const { fitOf } = require(process.argv[1]);
const pattern = /^(a+)+$/u;
const costMs = (text) => {
  const before = process.cpuUsage();
  pattern.test(text);
  return process.cpuUsage(before).user / 1000;
};
const pause = "kill -STOP " + process.pid + "; sleep 1.3; kill -CONT " + process.pid + "; sleep 0.05; ";
const { stdin } = require("node:child_process").spawn("sh", ["-c", "read now; " + pause.repeat(3)]);
let text = "aaaaaaaaaaaaaaaab";
while (costMs(text) < 150) text = "a" + text;
stdin.end("now\\n");
console.log(fitOf(pattern, text));
`;

test("a pattern is not endless because the machine was busy or paused meanwhile", () => {
  const patterns = join(__dirname, "../../dist/reconciler/config/patterns.js");
  expect(execFileSync(process.execPath, ["-e", paused, patterns], { encoding: "utf8" })).toBe("differs\n");
});

test("a pattern for which there is too little memory is given up, and not tried for ever", () => {
  const patterns = join(__dirname, "../../dist/reconciler/config/patterns.js");
  const tried = `console.log(require(process.argv[1]).fitOf(/^(?:(a)|b)*c$/u, "a".repeat(2e7)))`;
  const within = { encoding: "utf8", timeout: 60_000 } as const;
  expect(execFileSync(process.execPath, ["-e", tried, patterns], within)).toBe("endless\n");
});
