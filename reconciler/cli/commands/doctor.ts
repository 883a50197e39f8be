/** `reconcile doctor`: finds out, with reads alone, what this service has and lacks, and whether a dialect fits it. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseValue } from "../../config/yaml-reader";
import { type Diagnostic, hasErrors } from "../../core/model/diagnostic";
import type { Kind } from "../../core/model/kinds";
import { type AssumedOperation, assumedOperations, type Operation, operationNames } from "../../core/model/operation";
import type { RecordedResource } from "../../core/model/recorded";
import { errorMessage } from "../../core/text/errors";
import { nearestName } from "../../core/text/nearest";
import { builtInDialect } from "../../dialect/built-in";
import type { Dialect } from "../../dialect/dialect";
import { readCurl } from "../../dialect/learn/curl";
import { readDescription, toldDialect } from "../../dialect/learn/description";
import { placeInDialect } from "../../dialect/read-dialect";
import { type DialectMisfit, misfitsOf, readByDialect } from "../../engine/doctor/check";
import { diagnoseService } from "../../engine/doctor/diagnose";
import type { DoctorPorts } from "../../engine/doctor/look";
import type { DoctorReport, KnownIds } from "../../engine/doctor/report";
import { openStoredState } from "../../engine/plan";
import { writePrivately } from "../../outside/private-file";
import { dialectYaml, doctorText } from "../../report/doctor-text";
import { command, type Invocation } from "../command";
import { fail, newLineage, readDialect } from "../compose";
import { answersFrom, recordingIn, withSamples } from "../doctor-answers";
import { leftBehind, planTrial, runTrial, type TrialPlan, trialLeft } from "../doctor-trial";
import { commonFlags } from "../flags";
import type { Session } from "../session";
import { withLockedSession, withSession } from "../with-session";
import { readWorkspace, type Workspace } from "../workspace";

const flags = [
  "file",
  "out",
  "record",
  "from",
  "sample",
  "curl",
  "openapi",
  "trial",
  "allow-trial",
  ...commonFlags,
] as const;
type Doctor = Invocation<(typeof flags)[number]>;

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
  flags,
  run,
});

async function run(invocation: Doctor): Promise<number> {
  const told = readTold(invocation);
  const workspace = withoutItsFile(
    readWorkspace(invocation, { args: told.files, needed: false }),
    invocation.flags.out,
  );
  if (invocation.flags.from !== undefined) {
    const { dialect, diagnostics } = readDialect(workspace, invocation.flags);
    const ports = keptAnswers(invocation.flags.from, dialect);
    const { start, report } = await diagnose(invocation, ports, dialect, told, {});
    return finish(invocation, report, start, diagnostics, `the answers in ${invocation.flags.from}`, []);
  }
  const trial = invocation.flags.trial === true ? planTrial(workspace, invocation.flags) : undefined;
  if (trial !== undefined && "missing" in trial)
    return invocation.output.finish({ exitCode: 3, diagnostics: [trial.missing] });
  if (trial !== undefined)
    return withLockedSession(invocation, workspace, (session, { soft }) =>
      examine(invocation, workspace, told, session, { ...trial, signal: soft }),
    );
  return withSession(invocation, workspace, (session) => examine(invocation, workspace, told, session, undefined));
}

/** The file of desired state names the dialect that is about to be written: until then there is what is built in. */
function withoutItsFile(workspace: Workspace, out: string | undefined): Workspace {
  const { dialect: named } = workspace.desired.service;
  if (out === undefined || named === undefined || !("path" in named)) return workspace;
  const path = resolve(dirname(named.source.file), named.path);
  return path === resolve(out) && !existsSync(path) ? { ...workspace, dialect: builtInDialect } : workspace;
}

async function examine(
  invocation: Doctor,
  workspace: Workspace,
  told: Told,
  { service, store }: Session,
  trial: (TrialPlan & { readonly signal: AbortSignal }) | undefined,
): Promise<number> {
  const { state } = openStoredState(await store.read(), store.location, newLineage());
  const recorded = [...state.resources.values()];
  const live: DoctorPorts = {
    probe: (request) => service.client.probe(request),
    baseUrl: service.url,
    withAuthorization(name, header) {
      const { client } = service.inDialect({
        ...service.dialect,
        authorization: { ...service.dialect.authorization, name, header },
      });
      return { probe: (request) => client.probe(request), baseUrl: service.url };
    },
  };
  const { record } = invocation.flags;
  const ports = record === undefined ? live : recordingIn(record, live);
  const looked = await diagnose(invocation, ports, service.dialect, told, idsIn(recorded), service.url);
  const report =
    trial === undefined || looked.report.operations.length === 0
      ? looked.report
      : await runTrial({ workspace, service, output: invocation.output }, ports, looked.report, trial, trial.signal);
  const left = trial === undefined ? trialLeft(workspace) : leftBehind(report);
  const isChecked = invocation.flags.dialect !== undefined && report.operations.length > 0;
  const misfits = isChecked ? [...misfitsOf(report), ...(await readByDialect(service.client, recorded))] : [];
  return finish(invocation, report, looked.start, [...service.diagnostics, ...left], service.baseUrl, misfits);
}

function idsIn(recorded: readonly RecordedResource[]): KnownIds {
  const known: Partial<Record<Kind, string>> = {};
  for (const record of recorded) if (record.id !== undefined) known[record.kind] ??= record.id;
  return known;
}

function keptAnswers(folder: string, dialect: Dialect): DoctorPorts {
  try {
    return answersFrom(folder, dialect);
  } catch (error) {
    throw fail(
      "cli/file-unreadable",
      `the answers in ${folder} cannot be read: ${errorMessage(error)}`,
      "name a folder that --record wrote",
    );
  }
}

interface Told {
  readonly files: readonly string[];
  readonly samples: ReadonlyMap<Operation, string>;
  readonly commands: readonly (readonly [operation: AssumedOperation, command: string])[];
}

/** `--sample OP FILE` and `--curl OP COMMAND`: the parser leaves the second word among the arguments. */
function readTold({ flags, args }: Doctor): Told {
  const files = [...args];
  const pair = (flag: string, given: string): readonly [string, string] => {
    const at = given.indexOf("=");
    if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
    const second = files.shift();
    if (second === undefined)
      throw fail(
        "cli/usage",
        `--${flag} ${given} needs a second word`,
        `write --${flag} ${given} ${flag === "sample" ? "FILE" : "COMMAND"}`,
      );
    return [given, second];
  };
  const samples = new Map<Operation, string>();
  for (const given of flags.sample ?? []) {
    const [name, file] = pair("sample", given);
    samples.set(oneOf(name, operationNames), readText(file));
  }
  const commands = (flags.curl ?? []).map((given) => {
    const [name, text] = pair("curl", given);
    return [oneOf(name, assumedOperations), /^\s*curl\s/.test(text) ? text : readText(text)] as const;
  });
  return { files, samples, commands };
}

function oneOf<O extends string>(name: string, all: readonly O[]): O {
  const found = all.find((one) => one === name);
  if (found !== undefined) return found;
  const nearest = nearestName(name, all);
  throw fail(
    "cli/usage",
    `${name} is no operation that can be told here`,
    nearest === undefined ? `write one of ${all.join(", ")}` : `write ${nearest}`,
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw fail("cli/file-unreadable", `${file} cannot be read: ${errorMessage(error)}`, "correct the path");
  }
}

async function diagnose(
  { flags }: Doctor,
  ports: DoctorPorts,
  dialect: Dialect,
  told: Told,
  known: KnownIds,
  baseUrl?: string,
): Promise<{ readonly start: Dialect; readonly report: DoctorReport }> {
  let start = dialect;
  const ids = new Set(Object.values(known));
  for (const [operation, text] of told.commands) {
    const request = readCurl(operation, text.trim(), baseUrl, ids);
    if (request === undefined)
      throw fail(
        "cli/usage",
        `what --curl says of ${operation} is no command for curl with a URL`,
        "copy it whole, as it runs in a shell",
      );
    start = toldDialect(start, { [operation]: request.route });
    if (request.authorization !== undefined)
      start = { ...start, authorization: { ...start.authorization, ...request.authorization } };
  }
  let reads: DoctorPorts["told"];
  if (flags.openapi !== undefined) {
    const described = readDescription(parseValue(readText(flags.openapi)));
    if (described === undefined)
      throw fail("cli/usage", `${flags.openapi} is no OpenAPI document`, "it has to have paths");
    start = toldDialect(start, described.writes);
    reads = described.reads;
  }
  const asked: DoctorPorts = { ...ports, ...(reads !== undefined && { told: reads }) };
  const report = await diagnoseService(
    told.samples.size === 0 ? asked : withSamples(asked, told.samples, start),
    start,
    { known },
  );
  const samples = [...told.samples.keys()].filter(
    (operation) => operation.endsWith(".list") || operation.endsWith(".get"),
  );
  const todo = samples.map(
    (operation) => `${operation}: learnt from a sample; its path is as the dialect has it, and was not tried`,
  );
  return { start, report: { ...report, todo: [...todo, ...report.todo] } };
}

function finish(
  { flags, output }: Doctor,
  report: DoctorReport,
  start: Dialect,
  before: readonly Diagnostic[],
  from: string,
  misfits: readonly DialectMisfit[],
): number {
  const origin = { baseUrl: from, date: new Date().toISOString().slice(0, 10) };
  for (const finding of report.operations)
    output.event({
      type: "operation",
      operation: finding.operation,
      verdict: finding.verdict,
      route: finding.route,
      ...(finding.fallback === undefined ? {} : { fallback: finding.fallback }),
    });
  if (report.operations.length > 0) output.event({ type: "dialect", yaml: dialectYaml(report, origin) });
  const wrong = misfits.map((misfit) => asDiagnostic(misfit, flags.dialect));
  if (wrong.length === 0) output.print(doctorText(report, output.width));
  else
    output.print(
      `${wrong.length} ${wrong.length === 1 ? "line" : "lines"} of ${flags.dialect} do not fit this service`,
    );
  if (flags.out !== undefined && report.operations.length > 0) {
    writePrivately(flags.out, dialectYaml({ ...report, given: start }, origin));
    output.note(`Wrote ${flags.out}. Use it with service.dialect in the file, or --dialect ${flags.out}`);
  }
  const failed = !report.reachable || report.credential === "refused" || hasErrors([...before, ...report.diagnostics]);
  // The text shows the report's diagnostics in their places; JSON readers find them in the summary.
  return output.finish({
    exitCode: failed ? 1 : wrong.length > 0 ? 2 : 0,
    diagnostics: [...(output.json ? [...before, ...report.diagnostics] : before), ...wrong],
  });
}

function asDiagnostic({ path, summary, detail, fix }: DialectMisfit, file: string | undefined): Diagnostic {
  const source =
    file !== undefined && existsSync(file) ? placeInDialect(readFileSync(file, "utf8"), file, path) : undefined;
  return {
    severity: "warning",
    code: "dialect/does-not-fit",
    summary,
    ...(detail !== undefined && { detail }),
    fix,
    ...(source !== undefined && { source }),
  };
}
