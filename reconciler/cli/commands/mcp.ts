/**
 * `reconcile mcp`: the commands that only look, as tools for a program that plans with a person, over the Model Context
 * Protocol. The only plan that a tool can apply is one that the tool `plan` saved and a person approved: in the client's
 * own window, or at a terminal with the approver's passphrase. The run is closed: no program that a file names is
 * started, and no address is asked that this server was not started with.
 */

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../../core/model/diagnostic";
import type { ConsentKind } from "../../core/plan/consent";
import type { Plan } from "../../core/plan/plan";
import { errorMessage, ifPossible } from "../../core/text/errors";
import { inShell } from "../../core/text/in-shell";
import type { Fields } from "../../core/text/objects";
import { setting } from "../../outside/environment";
import { writePrivately } from "../../outside/private-file";
import { closedTrust, isReallyBelow, type Trust, trustFrom } from "../../outside/trust";
import { diagnosticsText } from "../../report/diagnostics-text";
import { planLines } from "../../report/plan-text";
import { planOfSaved, type SavedPlan } from "../../saved-plan";
import { shortestPassphrase } from "../../store/seal";
import { type Approver, approvalOf, approved, newApprover, readApprover, writeApprover } from "../approvals";
import { ask, askForSecret } from "../ask";
import { command, type Invocation, noArguments } from "../command";
import { fail } from "../compose";
import type { Flags } from "../flags";
import { type PersonAtClient, serveTools, type Tool, type ToolResult } from "../mcp-server";
import { readPlan } from "../plan-file";
import { showPlanText } from "../planning";
import { programsMissing, withoutPlanText } from "../review";
import { environmentsOf, readWorkspace } from "../workspace";

export const mcpCommand = command({
  usage: "mcp [--approve PLAN|--approver]",
  summary: "the commands that only look, as tools over the Model Context Protocol",
  section: "This program",
  examples: [
    ["reconcile mcp", "serves validate, plan, explain, exposure, drift and rehearse on standard input and output"],
    ["reconcile mcp --approver", "asks for a passphrase, and prints what the server needs to know its approvals"],
    ["reconcile mcp --approve 3f9a12c4b7d0", "shows a plan that a tool made, and asks whether it may be applied"],
  ],
  longRunning: true,
  flags: ["approve", "approver", "base-url", "dialect", "state", "steps", "summary", "no-color"],
  positionals: noArguments,
  async run(invocation) {
    const { flags } = invocation;
    if (flags.approver === true) return showApprover(invocation);
    if (flags.approve !== undefined) return approveId(invocation, flags.approve);
    const server = startServer(flags);
    await serveTools(toolsOf(server), instructions, process.stdin, process.stdout);
    return 0;
  },
});

const instructions =
  "The tools look at what a file declares, what its state remembers and what the service has; they change nothing. To " +
  "change something: plan, show the plan to a person, then apply ID. The person is asked in the client's own window where " +
  "the client can ask; otherwise they approve it first at a terminal with reconcile mcp --approve ID.";

/** What the server was started with; nothing that comes later changes it. */
interface Server {
  /** Files lie below it. */
  readonly root: string;
  /** Of the commands that it runs. */
  readonly environment: NodeJS.ProcessEnv;
  /** Programs that files name are started: whoever started the server said so. */
  readonly startsPrograms: boolean;
  /** What the commands that it runs are closed to. */
  readonly trust: Trust;
  readonly approver: Approver | undefined;
  /** The plans that its tool made, by their ids, as they were then. */
  readonly plans: Map<string, Buffer>;
}

function startServer(flags: Pick<Flags, "base-url" | "dialect" | "state">): Server {
  const root = realpathSync(process.cwd());
  const startsPrograms = setting("RECONCILE_PROGRAMS") === "run";
  const given = {
    RECONCILE_BASE_URL: flags["base-url"],
    RECONCILE_DIALECT: flags.dialect,
    RECONCILE_STATE: flags.state,
  };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) process.env[name] = value;
  const addresses = [...(setting("RECONCILE_ADDRESSES") ?? "").split(/[\s,]+/), ...addressesHere()];
  const text = setting("RECONCILE_APPROVER");
  const approver = text === undefined ? undefined : readApprover(text);
  if (text !== undefined && approver === undefined)
    throw fail(
      "cli/bad-flag",
      "RECONCILE_APPROVER is not what reconcile mcp --approver prints",
      "reconcile mcp --approver",
    );
  return {
    root,
    startsPrograms,
    trust: startsPrograms ? trustFrom() : closedTrust("this server", root, addresses),
    approver,
    plans: new Map(),
    environment: {
      ...process.env,
      RECONCILE_PROGRAMS: startsPrograms ? "run" : "none",
      RECONCILE_FILES_BELOW: root,
      RECONCILE_ADDRESSES: addresses.join(" ").trim(),
    },
  };
}

/** The addresses that the file of this folder names when the server starts, in any of its environments. */
function addressesHere(): string[] {
  const read = (env?: string): string[] => {
    const { desired } = readWorkspace({ args: [], flags: env === undefined ? {} : { env } });
    const { service, state, external } = desired;
    return [service.baseUrl, state?.location, ...(external?.reads ?? []).map((one) => one.state)].flatMap((address) =>
      address !== undefined && URL.canParse(address) ? [address] : [],
    );
  };
  // A file that is not there, or has errors, names nothing.
  const environments = ifPossible(() => environmentsOf({ args: [], flags: {} }));
  if (environments === undefined) return [];
  const chosen = environments.length === 0 ? [undefined] : environments;
  return chosen.flatMap((env) => ifPossible(() => read(env)) ?? []);
}

/** The folder where plans of the tool `plan` wait for approval, beside the embedded world. */
const plansFolder = join(".reconcile", "mcp");
const fileOfPlan = (id: string): string => join(plansFolder, `${id}.plan.json`);
const approvalFile = (id: string): string => join(plansFolder, `${id}.approved`);
/** What checks an approval, for the terminal that makes one. The server believes its own environment, not this file. */
const approverFile = join(plansFolder, "approver");
const isPlanId = (text: unknown): text is string => typeof text === "string" && /^[0-9a-f]{12}$/.test(text);

/** What a plan needs the consent of this kind for. */
const wantedConsents = (wanted: ConsentKind, { consents }: Plan): string[] => [
  ...new Set(consents.flatMap(({ kind, address }) => (kind === wanted && address !== undefined ? [address] : []))),
];
/** The volumes whose flush a person has to vouch for. */
const flushesOf = (plan: Plan): string[] => wantedConsents("flush", plan);
const unlockingFlags = (plan: Plan): string =>
  wantedConsents("prevent_destroy", plan)
    .map((address) => `--unprotect ${inShell(address)}`)
    .join(" ");

/** Why the tool `apply` cannot apply a plan, however it is approved: nobody is asked about what would be refused. */
function whyNoTool(plan: Plan, { trust }: Server): string | undefined {
  const unlocking = unlockingFlags(plan);
  if (unlocking !== "")
    return `it changes what is protected, and no tool lifts a protection: whoever applies it adds ${unlocking}`;
  const refused = programsMissing(plan, trust, false);
  if (refused.length === 0) return undefined;
  return `${refused.map(({ summary }) => summary).join("; ")}; and this server closes its runs to that`;
}

const never = new AbortController().signal;

const askSecretly = async (question: string): Promise<string> =>
  (await askForSecret(question, never, process.stdin, process.stderr)) ?? "";

async function showApprover({ output }: Pick<Invocation, "output">): Promise<number> {
  if (process.stdin.isTTY !== true)
    throw fail("consent/approval", "only a person at a terminal can choose the passphrase", "reconcile mcp --approver");
  const passphrase = await askSecretly(`The passphrase of approvals, at least ${shortestPassphrase} characters:`);
  if (passphrase.length < shortestPassphrase || passphrase !== (await askSecretly("Once more:")))
    throw fail(
      "consent/approval",
      `the passphrase has at least ${shortestPassphrase} characters and is typed twice`,
      "reconcile mcp --approver",
    );
  output.print(`RECONCILE_APPROVER=${writeApprover(newApprover(passphrase))}\n`);
  output.note("Give it to the server in the configuration of your client. The passphrase is nowhere but in your head.");
  return output.finish({ exitCode: 0 });
}

async function approveId(invocation: Invocation, id: string): Promise<number> {
  const { output } = invocation;
  const saved = isPlanId(id) && existsSync(fileOfPlan(id)) ? readPlan(fileOfPlan(id)) : undefined;
  if (saved === undefined) throw fail("plan/unreadable", `no tool has made a plan ${id}`, "the tool plan names its id");
  const plan = planOfSaved(saved);
  const unlocking = unlockingFlags(plan);
  if (unlocking !== "")
    throw fail(
      "consent/prevent-destroy",
      `plan ${id} changes what is protected, and no tool lifts a protection`,
      `apply it yourself: reconcile apply ${fileOfPlan(id)} ${unlocking}`,
    );
  if (process.stdin.isTTY !== true)
    throw fail("consent/approval", "only a person at a terminal can approve a plan", `reconcile mcp --approve ${id}`);
  const approver = existsSync(approverFile) ? readApprover(readFileSync(approverFile, "utf8").trim()) : undefined;
  if (approver === undefined)
    throw fail(
      "consent/approval",
      "the server has no approver, so that it would believe no approval of this terminal",
      `start it with RECONCILE_APPROVER (reconcile mcp --approver prints it), or apply the plan yourself: reconcile apply ${fileOfPlan(id)}`,
    );
  const bytes = readFileSync(fileOfPlan(id));
  output.hide(saved.sensitive ?? []);
  showPlanText(invocation, plan);
  output.tell(openedBy(saved));
  const flushed: string[] = [];
  for (const address of flushesOf(plan)) {
    if (await ask(`Is ${address} unmounted or synced in its guest?`, never, process.stdin, process.stderr)) {
      flushed.push(address);
      continue;
    }
    output.note(`Cancelled: the plan detaches ${address}, which nobody says is flushed.`);
    return output.finish({ exitCode: 3 });
  }
  const passphrase = await askSecretly("May this plan be applied? Your passphrase of approvals says yes:");
  const approval = approvalOf(approver, passphrase, bytes, flushed);
  if (approval === undefined) {
    output.note("Cancelled: that is not the passphrase, and the plan was not approved.");
    return output.finish({ exitCode: 3 });
  }
  writePrivately(approvalFile(id), `${approval}\n`);
  output.note(`Approved: the tool apply may apply plan ${id}, once and only as it is.`);
  return output.finish({ exitCode: 0 });
}

const textInput = (description: string) => ({ type: "string", description });
const textsInput = (description: string) => ({ type: "array", items: { type: "string" }, description });
const inputOfProject = {
  files: textsInput("Files or folders of the desired state; left out: reconcile.yaml of the working folder."),
  environment: textInput("The environment of the file, where it declares several."),
};
const objectSchema = (properties: object, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

/** A word of a tool's input, which must not be read as a flag. */
function wordsGiven(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.map((word) => {
    if (typeof word !== "string" || word.startsWith("-") || /[\u0000-\u001f\u007f]/.test(word))
      throw new Error(`${JSON.stringify(word)} is no file, address or name`);
    return word;
  });
}

/** Files of the folder that the server was started in, after all links. */
const filesOfRoot = ({ root }: Server, given: unknown): string[] =>
  wordsGiven(given).map((file) => {
    if (!isReallyBelow(file, root)) throw new Error(`${JSON.stringify(file)} is not below the folder of this server`);
    return file;
  });

const commonArguments = (server: Server, { files: given, environment: env }: Fields): string[] => [
  ...filesOfRoot(server, given),
  ...wordsGiven(env).flatMap((name) => ["--env", name]),
];

interface LookingMore {
  readonly required?: readonly string[];
  readonly asksService?: false;
}

const toolsOf = (server: Server): readonly Tool[] => {
  const looking = (
    name: string,
    description: string,
    properties: object,
    argv: (input: Fields) => readonly string[],
    more: LookingMore = {},
  ): Tool => ({
    name,
    description,
    inputSchema: objectSchema(properties, more.required),
    // What may start a program of a file is no mere look.
    isReadOnly: more.asksService === false || !server.startsPrograms,
    call: (input, signal) => runTool(server, () => argv(input), signal),
  });
  const ofProject = (name: string, description: string, more?: LookingMore): Tool =>
    looking(name, description, inputOfProject, (input) => [name, ...commonArguments(server, input)], more);
  return [
    ofProject("validate", "Everything that can be checked without the service.", { asksService: false }),
    {
      name: "plan",
      description:
        "What apply would do, as JSON lines; sends only reads. The plan is kept under an id, with which a person can approve it.",
      inputSchema: objectSchema({
        ...inputOfProject,
        target: textsInput("Only these addresses and what they stand on."),
      }),
      isReadOnly: !server.startsPrograms,
      call: (input, signal, person) => planTool(server, input, signal, person),
    },
    looking(
      "explain",
      "What a code of an error means, or what a change of a field costs.",
      { what: textInput("A code such as consent/flush, a field such as vm.flavor_id, or an address.") },
      ({ what }) => ["explain", ...wordsGiven(what)],
      { required: ["what"], asksService: false },
    ),
    ofProject("exposure", "Who can reach what through the groups, before and after."),
    ofProject("drift", "What differs between the state and the service."),
    ofProject("rehearse", "The real plan on a twin of the live world: timeline, downtime, refusals."),
    {
      name: "apply",
      description:
        "Applies a plan that the tool plan made, after a person has approved it in the client's window, or with reconcile mcp --approve.",
      inputSchema: objectSchema({ plan: textInput("The id that the tool plan named.") }, ["plan"]),
      isReadOnly: false,
      call: (input, signal, person) => apply(server, input, signal, person),
    },
  ];
};

async function planTool(
  server: Server,
  input: Fields,
  signal: AbortSignal,
  person: PersonAtClient | undefined,
): Promise<ToolResult> {
  mkdirSync(plansFolder, { recursive: true, mode: 0o700 });
  const made = join(plansFolder, `new-${randomUUID()}.plan.json`);
  const ran = await runTool(
    server,
    () => [
      "plan",
      ...commonArguments(server, input),
      ...wordsGiven(input["target"]).flatMap((address) => ["--target", address]),
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
  const bytes = readFileSync(made);
  server.plans.set(id, bytes);
  writePrivately(fileOfPlan(id), bytes.toString("utf8"));
  if (server.approver !== undefined) writePrivately(approverFile, `${writeApprover(server.approver)}\n`);
  rmSync(made);
  return { ...ran, text: `${ran.text}\nplan id: ${id}\n${nextStep(server, id, planOfSaved(saved), person)}` };
}

/** How this plan can be applied, or why not by a tool. */
function nextStep(server: Server, id: string, made: Plan, person: PersonAtClient | undefined): string {
  const byHand = `A person applies it from a terminal: it is saved as ${fileOfPlan(id)}.`;
  const why = whyNoTool(made, server);
  if (why !== undefined) return `The tool apply cannot apply it: ${why}. ${byHand}`;
  const flushed = flushesOf(made);
  const words = flushed.length === 0 ? "" : `, with the word that ${flushed.join(" and ")} is flushed`;
  if (person !== undefined) return `The tool apply asks a person in the client's window${words}.`;
  if (server.approver !== undefined) return `A person approves it${words}: reconcile mcp --approve ${id}`;
  return `No approval is possible here: the client cannot ask a person, and RECONCILE_APPROVER is not set. ${byHand}`;
}

async function apply(
  server: Server,
  { plan: id }: Fields,
  signal: AbortSignal,
  person: PersonAtClient | undefined,
): Promise<ToolResult> {
  if (!isPlanId(id) || !existsSync(fileOfPlan(id)))
    return { text: "no tool has made such a plan: plan first", isError: true };
  // What was planned by this server, whatever has become of the file since.
  const bytes = server.plans.get(id) ?? readFileSync(fileOfPlan(id));
  const own = join(plansFolder, `apply-${randomUUID()}.plan.json`);
  try {
    writePrivately(own, bytes.toString("utf8"));
    const saved = readPlan(own);
    if (saved === undefined) return { text: "no tool has made such a plan: plan first", isError: true };
    const made = planOfSaved(saved);
    if (whyNoTool(made, server) !== undefined) return { text: nextStep(server, id, made, person), isError: true };
    const flushed = approvedAtTerminal(server, id, bytes) ?? (await approvedInWindow(id, saved, signal, person));
    if (flushed === undefined)
      return { text: `plan ${id} is not approved. ${nextStep(server, id, made, person)}`, isError: true };
    return await runTool(
      server,
      () => ["apply", own, ...flushed.flatMap((address) => ["--confirm-flush", address])],
      signal,
    );
  } finally {
    rmSync(own, { force: true });
  }
}

function approvedAtTerminal({ approver }: Server, id: string, plan: Buffer): readonly string[] | undefined {
  if (approver === undefined || !existsSync(approvalFile(id))) return undefined;
  return approved(approver, readFileSync(approvalFile(id), "utf8"), plan);
}

/** Of a longer plan, so many lines of its beginning and of its end, where it says what is lost and how much it changes. */
const mostLinesShown = 40;

/** Asks the person at the client: yes to the plan, and a yes to each volume that is to be flushed. */
async function approvedInWindow(
  id: string,
  saved: SavedPlan,
  signal: AbortSignal,
  person: PersonAtClient | undefined,
): Promise<readonly string[] | undefined> {
  if (person === undefined) return undefined;
  const made = planOfSaved(saved);
  const lines = [
    ...diagnosticsText(openedBy(saved)).split("\n"),
    ...planLines(made, { colour: false, width: 100, steps: false }),
  ];
  const rest = lines.length - 2 * mostLinesShown;
  if (rest > 0) lines.splice(mostLinesShown, rest, `… ${rest} lines more: reconcile show ${fileOfPlan(id)}`);
  const flushed = flushesOf(made);
  const yes = (title: string) => ({ type: "boolean", title, default: false });
  const schema = {
    type: "object",
    properties: {
      apply: yes("Apply this plan"),
      ...Object.fromEntries(
        flushed.map((address, index) => [`flushed_${index}`, yes(`${address} is unmounted or synced in its guest`)]),
      ),
    },
    required: ["apply", ...flushed.map((_, index) => `flushed_${index}`)],
  };
  const answer = await person.ask(`May plan ${id} be applied?\n\n${lines.join("\n")}`, schema, signal);
  if (answer?.["apply"] !== true) return undefined;
  return flushed.every((_, index) => answer[`flushed_${index}`] === true) ? flushed : undefined;
}

/** What the text of the plan does not say: what it opens, and what checks and the policy found. */
const openedBy = ({ findings = [] }: SavedPlan): readonly Diagnostic[] =>
  withoutPlanText({ findings }).filter(({ severity }) => severity !== "note");

/** Runs the command as a process, as a person would; its output is the tool's answer. */
function runTool(server: Server, argv: () => readonly string[], signal: AbortSignal): Promise<ToolResult> {
  let given: readonly string[];
  try {
    given = argv();
  } catch (error) {
    return Promise.resolve({ text: errorMessage(error), isError: true });
  }
  // The program that runs now: the script it was started from, or the single executable, which needs no script.
  const [, script = process.execPath] = process.argv;
  const lead = script === process.execPath ? [] : [script];
  return new Promise((done) => {
    const child = spawn(process.execPath, [...lead, ...given, "--json"], {
      stdio: ["ignore", "pipe", "pipe"],
      env: server.environment,
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
      done({ text: `${out}${err === "" ? "" : `\n${err}`}`.trim(), isError: !isFine(code, out) }),
    );
  });
}

/** 2 is a finding, 4 that something was left; what the service accepted and nobody saw has not been done. */
const isFine = (code: number | null, out: string): boolean =>
  code === 0 || code === 2 || (code === 4 && !out.includes('"code":"apply/not-seen"'));
