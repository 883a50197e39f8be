/** What a person tells the doctor beside the files: requests, answers, and what the service does not have. */
import { collectProblems } from "../../config/problems";
import { readYaml } from "../../config/yaml/reader";
import { errorsAmong } from "../../core/model/diagnostic";
import {
  type AssumedOperation,
  assumedOperations,
  listOperations,
  type Operation,
  operationNames,
} from "../../core/model/operation";
import { nearestText } from "../../core/text/nearest";
import { onlyDefined, parsedJson } from "../../core/text/objects";
import type { Dialect, Route } from "../../dialect/dialect";
import {
  constantsIn,
  isListTold,
  problemOfTold,
  readCurl,
  type ToldOperation,
  type ToldRequest,
} from "../../dialect/learn/curl";
import { readDescription, toldDialect } from "../../dialect/learn/description";
import { recordOfOperation, saysKind } from "../../dialect/learn/where";
import type { DoctorPorts } from "../../engine/doctor/look";
import { fail } from "../compose";
import { CommandFailed } from "../crash";
import type { Flags } from "../flags";
import { readGiven } from "../workspace";

export interface ToldToDoctor {
  readonly samples: ReadonlyMap<Operation, string>;
  /** `wait`: how a job is asked for. `attachments`: how what hangs on what is listed. */
  readonly commands: readonly (readonly [operation: ToldOperation, command: string])[];
  readonly none: readonly AssumedOperation[];
  readonly openapi?: string;
}

export const nothingTold: ToldToDoctor = { samples: new Map(), commands: [], none: [] };

export function readTold(flags: Flags): ToldToDoctor {
  const samples = new Map<Operation, string>();
  for (const given of flags.sample ?? []) {
    const [name, file] = pair("sample", "FILE", given);
    samples.set(wordGiven(name, operationNames), readGivenText(file));
  }
  const commands = (flags.curl ?? []).map((given) => {
    const [name, text] = pair("curl", "COMMAND", given);
    return [
      wordGiven(name, [...assumedOperations, "wait", "attachments"] as const),
      /^\s*curl\s/.test(text) ? text : readGivenText(text),
    ] as const;
  });
  const none = (flags.none ?? []).flatMap((names) =>
    names.split(",").map((name) => wordGiven(name, assumedOperations)),
  );
  for (const operation of none)
    for (const [flag, told] of [
      ["sample", [...samples.keys()]],
      ["curl", commands.map(([name]) => name)],
    ] as const)
      if (told.some((name) => name === operation))
        throw fail(
          "cli/bad-flag",
          `--none ${operation} and --${flag} ${operation}=… contradict each other`,
          "leave one of them out",
        );
  return { samples, commands, none, openapi: flags.openapi };
}

function pair(flag: string, what: string, given: string): readonly [name: string, rest: string] {
  const at = given.indexOf("=");
  if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
  throw fail("cli/usage", `--${flag} ${given} needs a second word`, `write --${flag} ${given}=${what}`);
}

function wordGiven<O extends string>(name: string, all: readonly O[]): O {
  const found = all.find((one) => one === name);
  if (found !== undefined) return found;
  throw fail(
    "cli/usage",
    `${name} is no operation that can be told here`,
    nearestText(name, all, (near) => `write ${near}`) ?? `write one of ${all.join(", ")}`,
  );
}

export const readGivenText = (file: string): string => readGiven(file, "correct the path");

/** Those of a file; what is built in has no constants. */
const listsGiven = ({ operations }: Dialect): readonly Route[] =>
  listOperations.flatMap((operation) => operations[operation] ?? []);

/**
 * Headers that several requests have alike, or the only one that was told: this service wants them in every one, those of
 * the contract as well. One that says what is listed, or that goes with a write, is of its request alone.
 */
function headersOfAll(requests: readonly (readonly [ToldOperation, ToldRequest])[]): Readonly<Record<string, string>> {
  const [first, ...others] = requests;
  if (first === undefined) return {};
  const [operation, { route }] = first;
  const isInAll = ([name, value]: [string, string]): boolean =>
    others.every(([, other]) => other.route.headers?.[name] === value);
  const isOfList = ([name, value]: [string, string]): boolean =>
    isListTold(operation) && !asksFor.test(`${name}:${value}`) && !saysKind(recordOfOperation(operation), value);
  return Object.fromEntries(Object.entries(route.headers ?? {}).filter(others.length === 0 ? isOfList : isInAll));
}

/** A header that names an action. */
const asksFor = /action|target|operation|command|:(list|describe|get|query|search|show|read)/i;

function withoutHeaders({ headers = {}, ...route }: Route, always: Readonly<Record<string, string>>): Route {
  const own = Object.entries(headers).filter(([name]) => always[name] === undefined);
  return own.length === 0 ? route : { ...route, headers: Object.fromEntries(own) };
}

const folderOfUrl = (url: string): string => new URL(url).pathname.replace(/\/+$/, "");

/** What is JSON is read as that, since descriptions may be large. */
function documentIn(file: string): unknown {
  const text = readGivenText(file).replace(/^\ufeff/, "");
  const json = parsedJson(text);
  if (json !== undefined) return json;
  const problems = collectProblems();
  const { root } = readYaml({ file, text }, problems);
  const errors = errorsAmong(problems.diagnostics);
  if (errors.length > 0) throw new CommandFailed(errors);
  return root;
}

/** The dialect with what was told over it, and the paths at which reads are to be looked for. */
export function withTold(
  dialect: Dialect,
  told: ToldToDoctor,
  baseUrl: string | undefined,
  ids: ReadonlySet<string>,
): { readonly start: Dialect; readonly reads: DoctorPorts["told"] } {
  let start = dialect;
  let job: Route | undefined;
  let attachments: Route | undefined;
  const lists = told.commands.flatMap(([operation, text]) =>
    operation.endsWith(".list") ? (readCurl(operation, text.trim(), baseUrl, ids)?.route ?? []) : [],
  );
  const constants = constantsIn([...lists, ...listsGiven(dialect)]);
  const requests = told.commands.map(
    ([operation, text]) => [operation, readCurl(operation, text.trim(), baseUrl, ids, constants)] as const,
  );
  const always = headersOfAll(
    requests.flatMap(([operation, request]) => (request === undefined ? [] : [[operation, request] as const])),
  );
  start = { ...start, headers: { ...start.headers, ...always } };
  for (const [operation, request] of requests) {
    const wrong = problemOfTold(operation, request, `what --curl says of ${operation}`);
    if (wrong !== undefined) throw fail("cli/usage", wrong.problem, wrong.fix);
    if (request === undefined) continue;
    const route = withoutHeaders(request.route, always);
    if (operation === "wait") job = route;
    else if (operation === "attachments") attachments = route;
    else start = toldDialect(start, { [operation]: route });
    if (request.authorization !== undefined)
      start = { ...start, authorization: { ...start.authorization, ...request.authorization } };
  }
  let paths: NonNullable<DoctorPorts["told"]>["paths"];
  if (told.openapi !== undefined) {
    const described = readDescription(documentIn(told.openapi), baseUrl === undefined ? "" : folderOfUrl(baseUrl));
    if (described === undefined)
      throw fail("cli/usage", `${told.openapi} is no OpenAPI document`, "it has to have paths");
    start = toldDialect(start, described.writes);
    paths = described.reads;
  }
  for (const operation of told.none) start = { ...start, operations: { ...start.operations, [operation]: null } };
  return { start, reads: onlyDefined({ paths, job, attachments }) };
}
