// Breaks lines of the core, the kinds, the engine and the single resources, one at a time, and says which of them no test near them
// notices: npm run mutate -- [--count 20] [--seed 1] [--tests test/core,test/engine] [FILE or FOLDER …]
// As in check:fast, the compiler looks first. It works in a copy of what is committed, so nothing here changes. A survivor
// is a line that nothing holds, or one that says the same as another.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import ts from "typescript";
import { fastEnvironment, fastTests } from "./check-fast.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    tests: { type: "string", default: fastTests.join(",") },
  },
});
const places =
  positionals.length > 0 ? positionals : ["reconciler/core", "reconciler/kinds", "reconciler/engine", "reconciler/one"];

/** A generator of numbers from a seed, so that a run can be had again (mulberry32). */
function numbersFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const kinds = ts.SyntaxKind;
const swapped = new Map([
  [kinds.EqualsEqualsEqualsToken, "!=="],
  [kinds.ExclamationEqualsEqualsToken, "==="],
  [kinds.LessThanToken, "<="],
  [kinds.LessThanEqualsToken, "<"],
  [kinds.GreaterThanToken, ">="],
  [kinds.GreaterThanEqualsToken, ">"],
]);

/** What may be broken in a file: where, and what stands there then. */
function breaksOf(file) {
  const text = readFileSync(join(root, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const found = [];
  const say = (node, becomes) => {
    const start = node.getStart(source);
    const { line } = source.getLineAndCharacterOfPosition(start);
    found.push({ file, line: line + 1, start, end: node.end, before: text.slice(start, node.end), becomes });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const operator = node.operatorToken;
      const other = swapped.get(operator.kind);
      if (other !== undefined) say(operator, other);
      if (operator.kind === kinds.BarBarToken || operator.kind === kinds.AmpersandAmpersandToken) {
        say(node, node.left.getText(source));
        say(node, node.right.getText(source));
      }
    }
    if (ts.isIfStatement(node) && node.elseStatement === undefined) say(node.expression, "false");
    if (ts.isConditionalExpression(node)) say(node.condition, `!(${node.condition.getText(source)})`);
    // A write or a wait that is left out.
    if (ts.isExpressionStatement(node) && ts.isAwaitExpression(node.expression)) say(node, ";");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const files = execFileSync("git", ["ls-files", ...places], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((file) => file.endsWith(".ts"));
const next = numbersFrom(Number(values.seed));
const all = files.flatMap(breaksOf);
const chosen = all
  .map((one) => ({ one, at: next() }))
  .sort((a, b) => a.at - b.at)
  .slice(0, Number(values.count))
  .map(({ one }) => one);

const copy = mkdtempSync(join(tmpdir(), "mutate-"));
execFileSync("git", ["worktree", "add", "--quiet", "--detach", copy, "HEAD"], { cwd: root });
let running;
function endGroup(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
process.on("exit", () => {
  if (running !== undefined) endGroup(running);
  spawnSync("git", ["worktree", "remove", "--force", copy], { cwd: root });
  rmSync(copy, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));
// Like check:fast, the tests that run the built command run what was built before.
for (const folder of ["node_modules", "dist"]) symlinkSync(join(root, folder), join(copy, folder));

const native = join(root, "node_modules", "typescript-native", "bin", "tsc");
const onlyLook = join(copy, "tsconfig.mutate.json");
writeFileSync(
  onlyLook,
  JSON.stringify({
    extends: "./tsconfig.json",
    compilerOptions: { composite: false, incremental: false, declaration: false, noEmit: true, tsBuildInfoFile: null },
    include: ["reconciler", "emulator", "provider"],
    references: [],
  }),
);
const compiles = () =>
  spawnSync(process.execPath, [native, "-p", onlyLook], { cwd: copy, stdio: "ignore" }).status === 0;

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
let limitMs = 30 * 60_000;

/** What a kind of rows alone does is walked through by kinds that only the tests have. */
const besides = (file) => (file.startsWith("reconciler/kinds/usual/") ? ["test/kinds"] : []);

/** A broken loop may never end: then its processes, a group of their own, are ended, and it counts as noticed. */
const passes = (file = "") =>
  new Promise((resolve) => {
    const words = [vitest, "run", "--bail=1", "--reporter=dot", ...values.tests.split(","), ...besides(file)];
    const env = { ...fastEnvironment, ...process.env, SKIP_BUILD: "1" };
    const child = spawn(process.execPath, words, { cwd: copy, env, stdio: "ignore", detached: true });
    running = child;
    const limit = setTimeout(() => endGroup(child), limitMs);
    child.on("exit", (code) => {
      clearTimeout(limit);
      running = undefined;
      resolve(code === 0);
    });
  });

const began = performance.now();
if (!compiles() || !(await passes())) {
  console.error("the tests fail before anything is broken");
  process.exit(1);
}
limitMs = Math.max(60_000, 4 * (performance.now() - began));
const short = (text) => text.replaceAll(/\s+/g, " ").slice(0, 100);
let survivors = 0;
for (const { file, line, start, end, before, becomes } of chosen) {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, `${text.slice(0, start)}${becomes}${text.slice(end)}`);
  const survived = compiles() && (await passes(file));
  writeFileSync(path, text);
  if (survived) survivors++;
  console.log(`${survived ? "SURVIVED" : "caught  "}  ${file}:${line}  ${short(before)}  =>  ${short(becomes)}`);
}
console.log(`${chosen.length - survivors} of ${chosen.length} broken lines were caught (of ${all.length} that may be)`);
