// Holds the direction of the arrows: which folder may import which, and what the pure core must never touch.
// docs/architecture.md draws the same picture.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/**
 * Folder (longest match wins) -> folders it may import besides itself, packages it may import, and why.
 *
 * @type {[folder: string, folders: string[], packages: string[], reason: string][]}
 */
const rules = [
  ["reconciler/core/text", [], [], "text is the bottom layer"],
  [
    "reconciler/kinds:rows",
    ["reconciler/core/model/field-row", "reconciler/core/model/operation-row"],
    [],
    "what a kind says of itself is data",
  ],
  [
    "reconciler/core/model",
    ["reconciler/core/text", "reconciler/kinds:rows", "reconciler/kinds:model"],
    [],
    "the model knows values only",
  ],
  ["reconciler/kinds:model", ["reconciler/core/model", "reconciler/core/text"], [], "what is to know of one resource"],
  [
    "reconciler/core/canonical",
    ["reconciler/core/model", "reconciler/core/text"],
    ["ipaddr.js"],
    "canonical forms stand on the model alone",
  ],
  ["reconciler/core/state", ["reconciler/core/model", "reconciler/core/text"], [], "the state sees only the model"],
  [
    "reconciler/kinds",
    ["reconciler/core", "reconciler/kinds:rows"],
    ["ipaddr.js"],
    "what is particular to a kind is decided as purely as the rest of the core",
  ],
  [
    "reconciler/core/diff",
    ["reconciler/core/canonical", "reconciler/core/model", "reconciler/core/text", "reconciler/kinds"],
    [],
    "a diff decides nothing about order",
  ],
  [
    "reconciler/core/plan",
    [
      "reconciler/core/diff",
      "reconciler/core/canonical",
      "reconciler/core/model",
      "reconciler/core/text",
      "reconciler/kinds",
    ],
    [],
    "a plan is data; nothing here runs it",
  ],
  ["reconciler/core/schedule", ["reconciler/core"], [], "scheduling is a reducer over the plan"],
  ["reconciler/core", ["reconciler/core", "reconciler/kinds"], ["ipaddr.js"], "the core is pure"],
  [
    "reconciler/kinds:config",
    ["reconciler/core", "reconciler/kinds", "reconciler/config"],
    [],
    "how the block of a kind is read",
  ],
  [
    "reconciler/kinds:one",
    ["reconciler/core", "reconciler/kinds", "reconciler/engine", "reconciler/one"],
    [],
    "the resource of a program, of a kind",
  ],
  [
    "reconciler/config",
    ["reconciler/core", "reconciler/kinds", "reconciler/kinds:config"],
    // node:vm runs a pattern of the file within a limit, of the processor's time that node:process tells.
    ["yaml", "ajv", "node:vm", "node:process"],
    "config turns text into desired values; it takes text, not paths",
  ],
  [
    "reconciler/dialect",
    ["reconciler/core/model", "reconciler/core/text", "reconciler/config"],
    ["yaml", "ajv", "ipaddr.js"],
    "the dialect knows the model, never the diff",
  ],
  [
    "reconciler/service",
    ["reconciler/core/model", "reconciler/core/text", "reconciler/core/schedule", "reconciler/dialect"],
    ["undici"],
    "the service edge knows the model and the dialect, never the diff, the state or a store",
  ],
  [
    "reconciler/store",
    ["reconciler/core/model", "reconciler/core/state", "reconciler/core/text"],
    ["pg", "@aws-sdk/client-s3"],
    "a store knows the state's text, never the service or the diff",
  ],
  [
    "reconciler/engine",
    [
      "reconciler/core",
      "reconciler/kinds",
      "reconciler/kinds:engine",
      "reconciler/config",
      "reconciler/dialect",
      "reconciler/service/client",
      "reconciler/service/abort-listeners",
      "reconciler/service/clock",
      "reconciler/store/store",
    ],
    [],
    "the engine gets its ports handed in",
  ],
  [
    "reconciler/kinds:engine",
    ["reconciler/core", "reconciler/kinds", "reconciler/engine", "reconciler/service/client"],
    [],
    "how the requests of a kind are sent, looked up and settled",
  ],
  [
    "reconciler/rehearse",
    [
      "reconciler/core",
      "reconciler/kinds",
      "reconciler/config",
      "reconciler/dialect",
      "reconciler/engine",
      "reconciler/service",
      "reconciler/store/memory",
      "reconciler/store/store",
      "emulator",
    ],
    [],
    "a rehearsal runs the engine on a twin; it knows no file and no command line",
  ],
  [
    "reconciler/report",
    [
      "reconciler/core",
      "reconciler/kinds",
      "reconciler/kinds:report",
      "reconciler/engine/drift",
      "reconciler/engine/events",
      "reconciler/engine/run-plan",
      "reconciler/dialect/dialect",
      "reconciler/dialect/built-in",
      "reconciler/dialect/questions",
      "reconciler/engine/doctor",
      "reconciler/engine/watch",
      "reconciler/rehearse",
    ],
    [],
    "a report is a view of a plan and an event stream",
  ],
  [
    "reconciler/kinds:report",
    ["reconciler/core", "reconciler/kinds", "reconciler/report"],
    [],
    "what is said of a resource of a kind",
  ],
  [
    "reconciler/fleet",
    [
      "reconciler/core",
      "reconciler/config",
      "reconciler/engine",
      "reconciler/report",
      "reconciler/service/client",
      "reconciler/store/store",
      "reconciler/store/make-once",
      "reconciler/store/driver-address",
      "reconciler/store/file-lock",
      "reconciler/store/lease",
    ],
    [
      "ajv",
      "pg",
      "pg-boss",
      "@electric-sql/pglite",
      "cron-parser",
      "hono",
      "@hono/node-server",
      "openid-client",
      "nodemailer",
    ],
    "a fleet runs the engine on projects that are handed in; it knows no command line and no state's place",
  ],
  [
    "reconciler/editor",
    ["reconciler/core", "reconciler/config", "reconciler/report"],
    ["yaml"],
    "what an editor asks, answered from texts; it knows no protocol, no disk and no command line",
  ],
  [
    "reconciler/outside",
    ["reconciler", "emulator"],
    ["@opentelemetry/api"],
    "this machine and this process; what is decided is decided elsewhere",
  ],
  ["reconciler/cli", ["reconciler", "emulator", "provider"], [], "the CLI composes everything"],
  ["reconciler", ["reconciler", "emulator", "provider"], [], "the public API"],
  [
    "emulator",
    ["reconciler/core/text/outside-policy"],
    ["yaml", "ajv", "ipaddr.js"],
    "the emulator is written from the contract alone: were it to share the engine's code, both could be wrong together; which hosts are this machine is no matter of the contract",
  ],
  [
    "provider",
    ["reconciler/index", "reconciler/for-provider"],
    ["@pulumi/pulumi", "@grpc/grpc-js", "google-protobuf", "reconcile-cloud/pulumi/dynamic"],
    "the Pulumi resources stand on the public API, on what it keeps for them alone (for-provider.ts), and on what the SDK brings with it",
  ],
];

/** The files of a kind that belong to a room below the model or above the pure core, by their names. The projects of TypeScript have the same. */
const above = {
  engine: /^(perform|watch|observe)(-|$)/,
  config: /^(read|block)(-|$)/,
  one: /^one(-|$)/,
  report: /^words$/,
  model: /^(facts|live)$/,
  rows: /^(table|definition|index|fields|calls)$/,
};

/** A path as the rules above know it: `reconciler/kinds/vm/perform` is `reconciler/kinds:engine/vm/perform`. */
function inItsRoom(path) {
  const name = /^reconciler\/kinds\/(?:.*\/)?([^/]+?)(?:\.ts)?$/.exec(path)?.[1] ?? "";
  const room = Object.keys(above).find((one) => above[one].test(name));
  return room === undefined ? path : path.replace("reconciler/kinds/", `reconciler/kinds:${room}/`);
}

const impure = [
  /\bDate\.now\(/,
  /\bnew Date\(\)/,
  /\bMath\.random\(/,
  /\bprocess\./,
  /\bconsole\.(log|error|warn|info|debug)\b/,
  /\bsetTimeout\(/,
  /\bfetch\(/,
];
/** Rooms that decide by time that has passed. A date may come from a clock that is wrong, or that somebody set. */
const decidesByTime = /^reconciler\/(engine|one|service)\//;
const dates = [/\bDate\.now\b/, /\bnew Date\b/, /\bDate\.parse\b/, /\bperformance\.(now|timeOrigin)\b/, /\bhrtime\b/];
const problems = [];
/**
 * How often a file outside of kinds/ may still compare with the word of a kind. The numbers only become smaller:
 * --shrink writes them down when a file has become better. The emulator has kinds of its own.
 *
 * @type {Record<string, number>}
 */
const kindsNamed = JSON.parse(readFileSync(join(root, "scripts/kinds-named.json"), "utf8"));
/** @type {Map<string, number>} */
const kindsCompared = new Map();

function visit(folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) visit(path);
    else if (/\.ts$/.test(entry.name)) checkFile(path);
  }
}

function checkKinds(path, text) {
  if (!/^(reconciler|provider)\/(?!kinds\/)(?!.*\/generated\/)/.test(path)) return;
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  const count = [...code.matchAll(/[!=]==\s*"(vm|volume|group)"/g)].length;
  if (count > 0) kindsCompared.set(path, count);
  const allowed = kindsNamed[path] ?? 0;
  if (count > allowed)
    problems.push(
      `${path}: compares with the word of a kind ${count} times, and may ${allowed} times: what is particular to a kind belongs to reconciler/kinds, and of a kind's resources there are ofKind and allOfKind (core/model/kinds.ts)`,
    );
}

/**
 * The files that each file imports, types included.
 *
 * @type {Map<string, string[]>}
 */
const importsOf = new Map();

function checkFile(path) {
  const rule = rules.find(([folder]) => inItsRoom(path).startsWith(`${folder}/`));
  const text = readFileSync(join(root, path), "utf8");
  checkKinds(path, text);
  // An example in a comment imports this package the way its reader does.
  const imported = [...text.replace(/^ \*.*$/gm, "").matchAll(/(?<!["\w])(?:from\s+|require\(|import\()"([^"\s]+)"/g)];
  const specifiers = imported.map(([, specifier]) => specifier);
  const base = dirname(path);
  importsOf.set(
    path.replace(/(\/index)?\.ts$/, ""),
    specifiers
      .filter((one) => one.startsWith("."))
      .map((one) => relative(root, resolve(root, base, one)).replace(/\/index$/, "")),
  );
  if (rule !== undefined) {
    const [folder, folders, packages, reason] = rule;
    for (const specifier of specifiers) {
      if (specifier.startsWith(".")) {
        const target = inItsRoom(relative(root, resolve(root, dirname(path), specifier)));
        const within = [folder, ...folders].some((allowed) => target === allowed || target.startsWith(`${allowed}/`));
        if (!within && !target.startsWith("package.json") && !target.startsWith("schemas/"))
          problems.push(`${path}: must not import ${target}: ${reason}`);
      } else if (specifier.startsWith("node:")) {
        const isPure = /^reconciler\/(core|kinds|config)$/.test(folder) || folder.startsWith("reconciler/core/");
        if (isPure && !packages.includes(specifier)) problems.push(`${path}: must not import ${specifier}: ${reason}`);
      } else if (
        // The text of a program that is written out imports what the program needs.
        path !== "reconciler/one/program-text.ts" &&
        !packages.some((allowed) => specifier === allowed || specifier.startsWith(`${allowed}/`)) &&
        folder !== "reconciler/cli"
      ) {
        problems.push(`${path}: must not import the package ${specifier}: ${reason}`);
      }
    }
  }
  if (/^reconciler\/(core|kinds|config)\//.test(inItsRoom(path))) {
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    for (const pattern of impure)
      if (pattern.test(code))
        problems.push(`${path}: ${pattern.source} is a clock, a chance or a side effect; hand it in as an argument`);
  }
  if (decidesByTime.test(path) && path !== "reconciler/service/system-clock.ts") {
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    for (const pattern of dates)
      if (pattern.test(code))
        problems.push(
          `${path}: ${pattern.source} reads a clock: what passed is measured with the clock that is handed in (now), a date to show is its instant(), and what dates may decide is in core/model/time.ts`,
        );
  }
  if (
    /(?:from |require\()"undici[/"]/.test(text) &&
    path !== "reconciler/service/transport.ts" &&
    /^reconciler\//.test(path)
  )
    problems.push(`${path}: only service/transport.ts imports undici`);
}

for (const folder of ["reconciler", "emulator", "provider"]) if (existsSync(join(root, folder))) visit(folder);

/** @type {Set<string>} */
const inNoCircle = new Set();
/** @param {string[]} way */
function checkCircles(path, way) {
  if (inNoCircle.has(path)) return;
  const begin = way.indexOf(path);
  if (begin >= 0) problems.push(`imports go round: ${[...way.slice(begin), path].join(" > ")}`);
  else for (const next of importsOf.get(path) ?? []) checkCircles(next, [...way, path]);
  inNoCircle.add(path);
}
for (const path of importsOf.keys()) checkCircles(path, []);

if (process.argv.includes("--shrink")) {
  const fewer = [...kindsCompared]
    .flatMap(([path, count]) => (kindsNamed[path] === undefined ? [] : [[path, Math.min(count, kindsNamed[path])]]))
    .sort();
  writeFileSync(join(root, "scripts/kinds-named.json"), `${JSON.stringify(Object.fromEntries(fewer), undefined, 2)}\n`);
}
/** A kind that the product does not ship shows what one costs: so many files and lines, its part of the emulator included. */
const most = { files: 8, lines: 450 };
for (const entry of readdirSync(join(root, "test/kinds"), { withFileTypes: true })) {
  if (!entry.isDirectory() || entry.name === "support") continue;
  const folder = join(root, "test/kinds", entry.name);
  const files = readdirSync(folder);
  const lines = files.reduce((sum, name) => sum + readFileSync(join(folder, name), "utf8").split("\n").length - 1, 0);
  if (files.length > most.files || lines > most.lines)
    problems.push(
      `test/kinds/${entry.name}: ${files.length} files and ${lines} lines, where a kind takes at most ${most.files} and ${most.lines}: what is usual belongs to reconciler/kinds/usual`,
    );
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
