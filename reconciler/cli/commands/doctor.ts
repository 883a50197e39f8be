/** `reconcile doctor`: finds out, with reads alone, what this service has and lacks, and whether a dialect fits it. */

import { existsSync, readFileSync } from "node:fs";
import { type Diagnostic, hasErrors } from "../../core/model/diagnostic";
import { allOfKind, type Kind } from "../../core/model/kinds";
import type { AssumedOperation, Operation } from "../../core/model/operation";
import type { RecordedResource } from "../../core/model/recorded";
import { errorCode, errorMessage } from "../../core/text/errors";
import { onlyDefined } from "../../core/text/objects";
import type { Dialect, Route } from "../../dialect/dialect";
import { parseJsonText } from "../../dialect/json-text";
import { placeInDialect } from "../../dialect/read-dialect";
import { type DialectMisfit, everyMisfit } from "../../engine/doctor/check";
import { diagnoseService } from "../../engine/doctor/diagnose";
import type { DoctorPorts } from "../../engine/doctor/look";
import {
  type DoctorReport,
  type KnownIds,
  notTried,
  type OperationFinding,
  saidMissing,
  type TriedOperation,
} from "../../engine/doctor/report";
import type { TrialWish } from "../../engine/doctor/trial/act";
import { systemClock } from "../../outside/clock";
import { type Trust, trustFrom } from "../../outside/trust";
import { doctorText } from "../../report/doctor-text";
import { askForWord } from "../ask";
import { command, type Invocation } from "../command";
import { fail, readDialectWith, type Service, stateIn } from "../compose";
import { CommandFailed } from "../crash";
import { answersFrom, recordingIn, withSamples } from "../doctor/answers";
import { type DoctorStart, doctorFileText, doctorStart, writeDialectFile } from "../doctor/file";
import { type AskLine, askOpen, questionOf, questionsAfter } from "../doctor/questions";
import { nothingTold, readTold, type ToldToDoctor, withTold } from "../doctor/told";
import { leftOfTrial, planTrial, runTrial, trialLeft, unprovenByTrial } from "../doctor/trial";
import { commonFlags } from "../flags";
import type { Finish } from "../output";
import { type Session, unlessStopped } from "../session";
import { withLockedSession, withSession } from "../with-session";
import { readWorkspace } from "../workspace";

const doctorFlags = [
  "file",
  "out",
  "record",
  "from",
  "sample",
  "curl",
  "none",
  "openapi",
  "trial",
  "allow-trial",
  "lock-timeout",
  ...commonFlags,
] as const;
type Doctor = Invocation<(typeof doctorFlags)[number]>;

export const doctorCommand = command({
  usage: "doctor [FILE|DIR]… [--dialect FILE] [--out FILE]",
  summary: "what this service has and lacks, and a dialect that fits",
  section: "Looking",
  examples: [
    [
      "reconcile doctor --base-url https://cloud.example.com",
      "tries what is safe to try, and says what each missing operation costs",
    ],
    ["reconcile doctor --out my.dialect.yaml", "writes the dialect that fits, for service.dialect or --dialect"],
    ["reconcile doctor --dialect my.dialect.yaml", "checks a dialect: exit 2, with the lines to change"],
    [
      "reconcile doctor --trial --allow-trial m1.small",
      "makes a VM and more, learns from their life, and deletes them",
    ],
    ["reconcile doctor --record answers", "keeps what the service answered, to work from with --from answers"],
  ],
  flags: doctorFlags,
  async run(invocation) {
    const told = readTold(invocation.flags);
    const start = doctorStart(readWorkspace(invocation, { args: invocation.args, needed: false }), invocation.flags);
    const { workspace } = start;
    if (invocation.flags.from !== undefined) {
      const needing = (["trial", "record"] as const).find((flag) => invocation.flags[flag] !== undefined);
      if (needing !== undefined)
        throw fail(
          "cli/bad-flag",
          `--from works without the service, and --${needing} needs it`,
          "leave one of them out",
        );
      const { dialect, diagnostics } = readDialectWith(workspace, start.flags);
      const { start: given, reads } = withTold(dialect, told, undefined, new Set());
      const ports = keptAnswers(invocation.flags.from, given, trustFrom(invocation.flags["no-programs"]));
      const report = await diagnose({ ...ports, ...onlyDefined({ told: reads }) }, { told, given, start });
      const from = `the answers in ${invocation.flags.from}`;
      return invocation.output.finish(await finish(invocation, { report, start, before: diagnostics, from }));
    }
    const trial = invocation.flags.trial === true ? planTrial(workspace, invocation.flags) : undefined;
    if (trial !== undefined && "missing" in trial)
      return invocation.output.finish({ exitCode: 3, diagnostics: [trial.missing] });
    // The session reads the dialect from which the doctor starts.
    const opening = { ...invocation, flags: start.flags };
    if (trial !== undefined)
      return withLockedSession(opening, workspace, (session, { soft }) =>
        examineService(invocation, start, told, session, { ...trial, signal: soft }),
      );
    return withSession(opening, workspace, async (session) =>
      invocation.output.finish(await examineService(invocation, start, told, session, undefined)),
    );
  },
});

async function examineService(
  invocation: Doctor,
  start: DoctorStart,
  toldBefore: ToldToDoctor,
  { service, store }: Session,
  trial: (TrialWish & { readonly signal: AbortSignal }) | undefined,
): Promise<Finish> {
  const { workspace } = start;
  const state = await stateIn(store);
  const recorded = [...state.resources.values()];
  const ids = knownIdsIn(recorded);
  const vms = allOfKind(workspace.desired.resources, "vm");
  const known = { ...ids, names: { flavor: vms.map(({ flavor }) => flavor), image: vms.map(({ image }) => image) } };
  const { record } = invocation.flags;
  const look = async (by: ToldToDoctor): Promise<{ readonly ports: DoctorPorts; readonly looked: DoctorReport }> => {
    const { start: given, reads } = withTold(service.dialect, by, service.url, new Set(Object.values(ids)));
    const live = portsAt(service, given);
    const recording = record === undefined ? live : recordingIn(record, live);
    const ports: DoctorPorts = { ...recording, ...onlyDefined({ told: reads }) };
    return { ports, looked: await diagnose(ports, { told: by, given, start, known }) };
  };
  let told = toldBefore;
  let { ports, looked } = await unlessStopped(trial?.signal, look(told));
  const askLine = lineAsker(invocation, trial?.signal);
  // What is answered about one list may well lead to the others, so a look comes after each answer.
  const asked = new Set<AssumedOperation>();
  for (let next = questionsAfter("looked", looked, asked); askLine !== undefined; ) {
    const [question] = next;
    if (question === undefined) break;
    asked.add(question[0]);
    const answers = await askOpen([question], told, askLine);
    if (answers.isAnswered) {
      ({ told } = answers);
      ({ ports, looked } = await unlessStopped(trial?.signal, look(told)));
    }
    next = answers.isOver ? [] : questionsAfter("looked", looked, asked);
  }
  /** What no guess has found is asked for while it can be tried. */
  const askFor = async (operation: TriedOperation, dialect: Dialect): Promise<Route | null | undefined> => {
    const question = questionOf(operation, asked);
    if (askLine === undefined || question.length === 0) return undefined;
    asked.add(operation);
    const { told: answer } = await askOpen(question, nothingTold, askLine);
    if (answer.none.length > 0) return null;
    return answer.commands.length === 0
      ? undefined
      : (withTold(dialect, answer, service.url, new Set()).start.operations[operation] ?? undefined);
  };
  const tried =
    trial === undefined || looked.operations.length === 0
      ? looked
      : await runTrial({ workspace, service, output: invocation.output }, ports, looked, trial, trial.signal, askFor);
  const second = askLine === undefined ? [] : questionsAfter("tried", tried, asked);
  // Over what was learnt of an earlier request, such as how its list goes on, it is not written once more.
  const more = askLine === undefined ? undefined : await askOpen(second, nothingTold, askLine);
  const report = more?.isAnswered === true ? withAnswers(tried, more.told, service.url) : tried;
  const left = trial === undefined ? trialLeft(workspace) : leftOfTrial(report);
  const isChecked = invocation.flags.dialect !== undefined && report.operations.length > 0;
  return finish(invocation, {
    report,
    start,
    before: [...service.diagnostics, ...left],
    from: service.baseUrl,
    misfits: isChecked ? await everyMisfit(report, service.client, recorded, service.dialect) : undefined,
    again: async (dialect) => {
      const { client } = service.inDialect(dialect);
      const again = await diagnoseService({ ...portsAt(service, dialect), baseUrl: service.url }, dialect, {
        known,
        notAgain: missingIn(report),
      });
      // A word without a meaning is a question, which the file has among its own.
      const misfits = await everyMisfit({ ...again, unknownVmStates: [] }, client, recorded, dialect);
      // What a sample says the service need not be able to show.
      return misfits.filter(
        ({ path: [, name = ""] }) =>
          !told.samples.has(`${name}.list` as Operation) && !told.samples.has(name as Operation),
      );
    },
  });
}

/** Where a person watches a file being written, or a trial. */
function lineAsker({ flags, output }: Doctor, signal = new AbortController().signal): AskLine | undefined {
  const screen = process.stderr.isTTY === true ? process.stderr : process.stdout;
  const isWatched = process.stdin.isTTY === true && screen.isTTY === true && !output.json;
  if (!isWatched || (flags.out === undefined && flags.trial !== true)) return undefined;
  return (question) => askForWord(question, signal, process.stdin, screen);
}

/** Requests that a person named after the trial: they are written down, and nobody has tried them. */
function withAnswers(report: DoctorReport, told: ToldToDoctor, url: string): DoctorReport {
  const { start } = withTold(report.dialect, told, url, new Set());
  const operations = report.operations.map((finding): OperationFinding => {
    if (told.none.includes(finding.operation)) return saidMissing(finding.operation);
    const isTold = told.commands.some(([operation]) => operation === finding.operation);
    return isTold && finding.verdict !== "found" ? notTried(start, finding.operation) : finding;
  });
  return { ...report, operations, dialect: start };
}

/** What was looked for everywhere once is not looked for again. */
const missingIn = ({ operations }: DoctorReport): ReadonlySet<AssumedOperation> =>
  new Set(operations.flatMap(({ operation, verdict }) => (verdict === "missing" ? [operation] : [])));

function portsAt(service: Service, dialect: Dialect): DoctorPorts {
  const client = dialect === service.dialect ? service.client : service.inDialect(dialect).client;
  return {
    probe: (request) => client.probe(request),
    baseUrl: service.url,
    pause: (ms) => systemClock.sleep(ms),
    withAuthorization: (name, header) =>
      portsAt(service, { ...dialect, authorization: { ...dialect.authorization, name, header } }),
  };
}

function knownIdsIn(recorded: readonly RecordedResource[]): Partial<Record<Kind, string>> {
  const known: Partial<Record<Kind, string>> = {};
  for (const record of recorded) if (record.id !== undefined) known[record.kind] ??= record.id;
  return known;
}

function keptAnswers(folder: string, dialect: Dialect, trust: Trust): DoctorPorts {
  try {
    return answersFrom(folder, dialect, trust);
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    throw fail(
      "cli/file-unreadable",
      `the answers in ${folder} cannot be read: ${errorCode(error) === "ENOENT" ? "there is no such folder" : errorMessage(error)}`,
      "name a folder that --record wrote",
    );
  }
}

interface Diagnosis {
  readonly told: ToldToDoctor;
  readonly given: Dialect;
  readonly start: DoctorStart;
  readonly known?: KnownIds;
}

const listsAKind = (operation: Operation): boolean => operation.endsWith(".list") && operation !== "group.rule.list";

async function diagnose(ports: DoctorPorts, { told, given, start, known }: Diagnosis): Promise<DoctorReport> {
  const samples = [...told.samples].map(([operation, text]) => ({ operation, text, body: sampleOf(operation, text) }));
  const lists = new Map(samples.flatMap(({ operation, text }) => (listsAKind(operation) ? [[operation, text]] : [])));
  const answers = new Map(
    samples.flatMap(({ operation, body }) => (listsAKind(operation) ? [] : [[operation, { body }]])),
  );
  const report = await diagnoseService(lists.size === 0 ? ports : withSamples(ports, lists, given), given, {
    known,
    base: start.base,
    none: new Set(told.none),
    answers,
  });
  const open = [...lists.keys()].map(
    (operation) => `${operation}: learnt from a sample; its path is as the dialect has it, and was not tried`,
  );
  return { ...report, open: [...open, ...report.open] };
}

function sampleOf(operation: Operation, text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    throw fail(
      "cli/file-unreadable",
      `the sample of ${operation} is no JSON: ${errorMessage(error)}`,
      "keep the body of one answer in the file",
    );
  }
}

interface DoctorEnd {
  readonly report: DoctorReport;
  readonly start: DoctorStart;
  readonly before: readonly Diagnostic[];
  readonly from: string;
  /** Which lines of the dialect that was named to be checked do not fit. */
  readonly misfits?: readonly DialectMisfit[];
  /** The same of the file that was written; left out: there is no service to ask. */
  again?(dialect: Dialect): Promise<readonly DialectMisfit[]>;
}

async function finish({ flags, output }: Doctor, ended: DoctorEnd): Promise<Finish> {
  const { report, before, misfits = [] } = ended;
  const { out } = flags;
  const text = showFindings(output, ended, flags.dialect);
  const wrong = misfits.map((misfit) => misfitDiagnostic(misfit, flags.dialect));
  const unproven = unprovenByTrial(report);
  const written = out === undefined || text === undefined ? undefined : await writeFound(text, out, ended);
  if (written?.proof !== undefined && unproven.length === 0)
    output.note(
      `Wrote ${out}: it fits what was seen, and on the embedded service it carries a project through ${written.proof}. Use it with service.dialect in the file, or --dialect ${out}`,
    );
  else if (written?.isWritten === true) output.note(`Wrote ${out}. It is not to be used as it is`);
  const found = [...wrong.filter(() => out === undefined), ...(written?.diagnostics ?? []), ...unproven];
  const failed =
    !report.reachable || report.credential === "refused" || hasErrors([...before, ...report.diagnostics, ...found]);
  // What the file that was written over left to a person is over with it.
  const still = written?.isWritten === true ? before.filter(({ code }) => code !== "dialect/todo") : before;
  // The text shows the report's diagnostics in their places; JSON readers find them in the summary.
  return {
    exitCode: failed ? 1 : found.length > 0 ? 2 : 0,
    diagnostics: [...(output.json ? [...still, ...report.diagnostics] : still), ...found],
  };
}

/** Answers with the text of a dialect that fits; `undefined`: nothing was seen. */
function showFindings(
  output: Doctor["output"],
  { report, start, from, misfits = [] }: DoctorEnd,
  dialect: string | undefined,
): string | undefined {
  for (const { operation, verdict, route, fallback } of report.operations)
    output.event({ type: "operation", operation, verdict, route, fallback });
  for (const made of report.trial?.made ?? []) output.event({ type: "made", ...made });
  const origin = { baseUrl: from, date: new Date().toISOString().slice(0, 10) };
  const text = report.operations.length === 0 ? undefined : doctorFileText(report, start.base, origin);
  if (text !== undefined) output.event({ type: "dialect", yaml: text });
  if (misfits.length > 0)
    output.print(
      `${dialect} does not fit this service in ${misfits.length} ${misfits.length === 1 ? "place" : "places"}`,
    );
  if (misfits.length === 0 || report.trial !== undefined)
    output.print(doctorText(report, output.width, doctorFileText(report, start.base)));
  return text;
}

const writeFound = (text: string, out: string, { start: { base }, again }: DoctorEnd) =>
  writeDialectFile(text, {
    out,
    base,
    misfits: async (dialect) => ((await again?.(dialect)) ?? []).map((misfit) => misfitDiagnostic(misfit, out)),
  });

function misfitDiagnostic({ path, summary, detail, fix }: DialectMisfit, file: string | undefined): Diagnostic {
  const source =
    file !== undefined && existsSync(file) ? placeInDialect(readFileSync(file, "utf8"), file, path) : undefined;
  return { severity: "warning", code: "dialect/does-not-fit", summary, detail, fix, source };
}
