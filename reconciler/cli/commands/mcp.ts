/**
 * `reconcile mcp`: the commands that only look, as tools for a program that plans with a person, over the Model Context
 * Protocol. The only plan that a tool can apply is one that the tool `plan` saved and a person approved at a terminal.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivately } from "../../outside/private-file";
import { ask } from "../ask";
import { command, type Invocation, noArguments } from "../command";
import { fail } from "../compose";
import { serveTools, type Tool, type ToolResult } from "../mcp-server";
import { showPlanText } from "../planning";
import { planOfSaved, readPlan } from "../saved-plan";

export const mcpCommand = command({
  usage: "mcp [--approve PLAN]",
  summary: "the commands that only look, as tools over the Model Context Protocol",
  section: "This program",
  examples: [
    ["reconcile mcp", "serves validate, plan, explain, exposure, drift and rehearse on standard input and output"],
    ["reconcile mcp --approve 3f9a12c4b7d0", "shows a plan that a tool made, and asks whether it may be applied"],
  ],
  longRunning: true,
  flags: ["approve", "steps", "summary", "no-color"],
  positionals: noArguments,
  async run(invocation) {
    const { flags } = invocation;
    if (flags.approve !== undefined) return approve(invocation, flags.approve);
    await serveTools(tools, instructions, process.stdin, process.stdout);
    return 0;
  },
});

const instructions =
  "The tools look at what a file declares, what its state remembers and what the service has; they change nothing. To " +
  "change something: plan, show the plan to a person, who approves it at a terminal with reconcile mcp --approve ID, then apply ID.";

/** The folder where plans of the tool `plan` wait for approval, beside the embedded world. */
const folder = join(".reconcile", "mcp");
const planFile = (id: string): string => join(folder, `${id}.plan.json`);
const approvalFile = (id: string): string => join(folder, `${id}.approved`);
const isPlanId = (text: unknown): text is string => typeof text === "string" && /^[0-9a-f]{12}$/.test(text);
const markOf = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

async function approve(invocation: Invocation, id: string): Promise<number> {
  const { output } = invocation;
  const saved = isPlanId(id) && existsSync(planFile(id)) ? readPlan(planFile(id)) : undefined;
  if (saved === undefined) throw fail("plan/unreadable", `no tool has made a plan ${id}`, "the tool plan names its id");
  if (process.stdin.isTTY !== true)
    throw fail("consent/approval", "only a person at a terminal can approve a plan", `reconcile mcp --approve ${id}`);
  const plan = planOfSaved(saved);
  showPlanText(invocation, plan);
  const never = new AbortController().signal;
  if (!(await ask("May this plan be applied?", never, process.stdin, process.stderr))) {
    output.note("Cancelled: the plan was not approved.");
    return output.finish({ exitCode: 3 });
  }
  writePrivately(approvalFile(id), `${markOf(planFile(id))}\n`);
  output.note(`Approved: the tool apply may apply plan ${id}, once and only as it is.`);
  return output.finish({ exitCode: 0 });
}

const files = {
  type: "array",
  items: { type: "string" },
  description: "Files or folders of the desired state; left out: reconcile.yaml of the working folder.",
};
const environment = { type: "string", description: "The environment of the file, where it declares several." };
const text = (description: string) => ({ type: "string", description });
const schema = (properties: object, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** A word of a tool's input, which must not be read as a flag. */
function words(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.map((word) => {
    if (typeof word !== "string" || word.startsWith("-"))
      throw new Error(`${JSON.stringify(word)} is no file, address or name`);
    return word;
  });
}

const common = ({ files: given, environment: env }: Readonly<Record<string, unknown>>): string[] => [
  ...words(given),
  ...words(env).flatMap((name) => ["--env", name]),
];

const looking = (
  name: string,
  description: string,
  properties: object,
  argv: (input: Readonly<Record<string, unknown>>) => readonly string[],
  required: readonly string[] = [],
): Tool => ({
  name,
  description,
  inputSchema: schema(properties, required),
  isReadOnly: true,
  call: (input, signal) => runCommand(() => argv(input), signal),
});

const tools: readonly Tool[] = [
  looking("validate", "Everything that can be checked without the service.", { files, environment }, (input) => [
    "validate",
    ...common(input),
  ]),
  {
    name: "plan",
    description:
      "What apply would do, as JSON lines; sends only reads. The plan is kept under an id, with which a person can approve it.",
    inputSchema: schema({
      files,
      environment,
      target: { type: "array", items: { type: "string" }, description: "Only these addresses and what they stand on." },
    }),
    isReadOnly: true,
    call: plan,
  },
  looking(
    "explain",
    "What a code of an error means, or what a change of a field costs.",
    { what: text("A code such as consent/flush, a field such as vm.flavor_id, or an address.") },
    ({ what }) => ["explain", ...words(what)],
    ["what"],
  ),
  looking("exposure", "Who can reach what through the groups, before and after.", { files, environment }, (input) => [
    "exposure",
    ...common(input),
  ]),
  looking("drift", "What differs between the state and the service.", { files, environment }, (input) => [
    "drift",
    ...common(input),
  ]),
  looking(
    "rehearse",
    "The real plan on a twin of the live world: timeline, downtime, refusals.",
    { files, environment },
    (input) => ["rehearse", ...common(input)],
  ),
  {
    name: "apply",
    description: "Applies a plan that the tool plan made and that a person approved with reconcile mcp --approve.",
    inputSchema: schema({ plan: text("The id that the tool plan named.") }, ["plan"]),
    isReadOnly: false,
    call: apply,
  },
];

async function plan(input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolResult> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made = join(folder, `new-${process.pid}-${Date.now().toString(36)}.plan.json`);
  const ran = await runCommand(
    () => [
      "plan",
      ...common(input),
      ...words(input["target"]).flatMap((address) => ["--target", address]),
      "--out",
      made,
      // The answer names the plan by its id, so the command's line about the saved file is left out.
      "--log-level",
      "silent",
    ],
    signal,
  );
  const saved = existsSync(made) ? readPlan(made) : undefined;
  if (saved === undefined) return ran;
  const id = saved.id.slice(0, 12);
  writePrivately(planFile(id), readFileSync(made, "utf8"));
  rmSync(made);
  return {
    ...ran,
    text: `${ran.text}\nplan id: ${id}\nA person approves it with: reconcile mcp --approve ${id}`,
  };
}

async function apply({ plan: id }: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolResult> {
  if (!isPlanId(id) || !existsSync(planFile(id)))
    return { text: "no tool has made such a plan: plan first", isError: true };
  const file = planFile(id);
  const approved = existsSync(approvalFile(id)) ? readFileSync(approvalFile(id), "utf8").trim() : undefined;
  if (approved !== markOf(file))
    return {
      text: `plan ${id} is not approved; a person does that with: reconcile mcp --approve ${id}`,
      isError: true,
    };
  return runCommand(() => ["apply", file], signal);
}

/** Runs the command as a process, as a person would; its output is the tool's answer. */
function runCommand(argv: () => readonly string[], signal: AbortSignal): Promise<ToolResult> {
  let given: readonly string[];
  try {
    given = argv();
  } catch (error) {
    return Promise.resolve({ text: error instanceof Error ? error.message : String(error), isError: true });
  }
  // The program that runs now: the script it was started from, or the single executable, which needs no script.
  const [, script = process.execPath] = process.argv;
  const lead = script === process.execPath ? [] : [script];
  return new Promise((done) => {
    const child = spawn(process.execPath, [...lead, ...given, "--json"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    // The same signal as Ctrl-C: requests in flight are finished.
    const stop = (): void => void child.kill("SIGINT");
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      out += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      err += chunk;
    });
    child.on("error", (error) => done({ text: error.message, isError: true }));
    child.on("close", (code) =>
      done({ text: `${out}${err === "" ? "" : `\n${err}`}`.trim(), isError: code !== 0 && code !== 2 && code !== 4 }),
    );
  });
}
