/** Recorded answers against what a dialect is expected to read in them: the tests that a dialect has of its own. */
import { isAssumed, isList, type Operation, operationNames, rowOf } from "../core/model/operation";
import { type Failure, failureText } from "../core/model/outcome";
import { calendarMs, instantAt } from "../core/model/time";
import { ifPossible } from "../core/text/errors";
import { type Fields, fieldsIn, isObject } from "../core/text/objects";
import { operationOfList, routeOfList } from "./answers";
import { type Answer, judgeAnswer } from "./conditions";
import type { Dialect } from "./dialect";
import { envelopeReader, waitHeader } from "./envelope";
import { readJob } from "./jobs";
import { parseJsonText } from "./json-text";
import { own } from "./messages";
import { type Reading, readAll } from "./reading";
import { createRecordReaders, type RecordReaders } from "./records";
import { fillRoute, namesVm, routeFor, versionShown, withVersion } from "./requests";
import { readLiveRule } from "./rule-record";

export interface DialectCase {
  readonly title: string;
  /** `wait`: the answer is one about a job. */
  readonly operation: Operation | "wait" | "attachments";
  readonly answer: Answer;
  /** What the answer about a job has to mean: done, failed or waiting. */
  readonly job?: unknown;
  /** What the request has to be, for these ids and this record. */
  readonly sends?: unknown;
  readonly ids?: unknown;
  readonly record?: unknown;
  /** What has to be read from the answer: fields of one record, or of each record of a list. */
  readonly reads?: unknown;
  /** The condition that a refusal has to mean. */
  readonly is?: string;
  /** How many seconds the answer asks to wait. */
  readonly waits?: number;
}

/** In words, what differs from the expectation. Empty: the answer is read as expected. */
export function tryCase(dialect: Dialect, tried: DialectCase): readonly string[] {
  const { operation, answer, reads, is, job, sends } = tried;
  if (operation === "wait") {
    const body = ifPossible(() => parseJsonText(answer.text));
    const found = dialect.wait === undefined ? undefined : readJob(dialect.wait, body);
    return differences(found?.means, job, "job");
  }
  if (sends !== undefined) return differences(requestOfCase(dialect, operation, tried), sends, "");
  const judging = {
    errors: dialect.errors,
    envelope: envelopeReader(dialect),
    nowMs: calendarMs(answer.date, ofCases),
    scrub: (text: string) => text,
  };
  const meant = operation === "attachments" ? operationOfList(operation) : operation;
  const outcome = judgeAnswer(meant, withWait(answer, dialect), judging);
  if (outcome.status !== "accepted") return tryRefusal(outcome, tried);
  if (is !== undefined) return [`it is an answer, and ${is} was expected`];
  if (reads === undefined) return [];
  const { attachments } = dialect;
  const ofVm = attachments !== undefined && namesVm(attachments) ? String(fieldsIn(tried.ids)["id"] ?? "") : undefined;
  const reading = readingOf(createRecordReaders(dialect), operation, outcome.value, answer, ofVm);
  if (reading === undefined) return [`what ${operation} answers is not read by a dialect`];
  if (reading.status !== "accepted")
    return [`${reading.message}${reading.hint === undefined ? "" : ` (${reading.hint})`}`];
  return differences(reading.value, reads, "");
}

function tryRefusal(failure: Failure, { is, waits }: DialectCase): readonly string[] {
  const meant =
    failure.status === "rejected" ? failure.condition : "throttled" in failure ? "throttled" : failure.status;
  const said = failureText(failure);
  const asked = failure.status === "unavailable" ? failure.retryAfterMs : undefined;
  if (waits !== undefined && asked !== waits * 1000)
    return [asked === undefined ? "it asks for no wait" : `it asks to wait ${asked / 1000} s, not ${waits}`];
  if (is === undefined) return waits === undefined ? [`it means ${meant} (${said}), and an answer was expected`] : [];
  return meant === is ? [] : [`it means ${meant} (${said}), not ${is}`];
}

/** What is sent: the route that is for the record, with ids, values, fields and the version filled in. */
function requestOfCase(
  dialect: Dialect,
  operation: Operation | "attachments",
  { ids, record, answer }: DialectCase,
): unknown {
  const said =
    operation === "attachments"
      ? routeOfList(dialect, operation)
      : isAssumed(operation)
        ? dialect.operations[operation]
        : rowOf(operation);
  if (said === null) return undefined;
  const route = routeFor(said, record);
  const given = Object.entries(fieldsIn(ids)).map(([name, id]): [string, string] => [name, String(id)]);
  const { region, ...own } = Object.fromEntries(given);
  const values = region === undefined ? dialect.values : { ...dialect.values, region };
  const filled = fillRoute(route, own, { ...dialect, values }, record);
  const { fingerprint } = dialect;
  const headers = Object.entries(answer.paging ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const version =
    fingerprint === undefined || operation === "attachments" || rowOf(operation).kind === "read"
      ? undefined
      : versionShown(fingerprint, record, Object.fromEntries(headers));
  const whole =
    filled === undefined || fingerprint === undefined || version === undefined
      ? filled
      : withVersion(filled, fingerprint.send, version);
  return { method: route.method, ...filled, ...whole };
}

/** When a case is answered that has no Date of its own: any moment will do, as long as it stays the same. */
const ofCases = instantAt(Date.UTC(2030, 0, 1));

function withWait(answer: Answer, dialect: Dialect): Answer {
  const name = waitHeader(dialect.retry_after)?.toLowerCase();
  const found = Object.entries(answer.paging ?? {}).find(([header]) => header.toLowerCase() === name);
  return found === undefined ? answer : { ...answer, wait: found[1] };
}

function readingOf(
  readers: RecordReaders,
  operation: Operation | "attachments",
  body: unknown,
  answer: Answer,
  /** Of whose attachments the list is, where each VM has one. */
  ofVm: string | undefined,
): Reading<unknown> | undefined {
  if (operation === "attachments") {
    const page = readers.page(operation, body, answer.paging ?? {});
    return page.status === "accepted" ? readAll(page.value.items, (item) => readers.attachment(item, ofVm)) : page;
  }
  if (isList(operation) || operation === "group.rule.list") {
    const page = readers.page(operation, body, answer.paging ?? {});
    if (page.status !== "accepted") return page;
    // The name of every other list begins with one of the keys below.
    const kind = operation === "group.rule.list" ? "rule" : (operation.split(".")[0] as keyof typeof byKind);
    const byKind = {
      vm: readers.vm,
      volume: readers.volume,
      group: readers.group,
      flavor: readers.flavor,
      image: readers.image,
      region: readers.region,
      rule: readLiveRule,
    };
    return readAll<unknown>(page.value.items, byKind[kind]);
  }
  const payload = readers.payload(operation, body);
  if (operation === "vm.get") return readers.vm(payload);
  if (operation === "volume.get" || operation === "volume.create") return readers.volume(payload);
  if (operation === "group.get" || operation === "group.create") return readers.group(payload);
  return undefined;
}

function differences(found: unknown, expected: unknown, at: string): string[] {
  const it = at || "it";
  if (Array.isArray(expected)) {
    if (!Array.isArray(found)) return [`${it} is no list`];
    if (found.length !== expected.length)
      return [`${it} has ${found.length === 1 ? "1 item" : `${found.length} items`}, not ${expected.length}`];
    return expected.flatMap((item, index) => differences(found[index], item, `${at}[${index}]`));
  }
  if (typeof expected === "object" && expected !== null)
    return Object.entries(expected).flatMap(([key, value]) =>
      differences(own(found, key), value, at === "" ? key : `${at}.${key}`),
    );
  return JSON.stringify(found ?? null) === JSON.stringify(expected)
    ? []
    : [`${it} reads ${JSON.stringify(found) ?? "nothing"}, not ${JSON.stringify(expected)}`];
}

/** The cases of a file, or what is wrong with it. */
export function readCases(value: unknown): {
  readonly cases: readonly DialectCase[];
  readonly problems: readonly string[];
} {
  const listed = own(value, "cases");
  if (!Array.isArray(listed)) return { cases: [], problems: ["it has no list of cases"] };
  const problems: string[] = [];
  const cases = listed.flatMap((one: unknown, index): DialectCase[] => {
    const operation = (["wait", "attachments", ...operationNames] as const).find(
      (name) => name === own(one, "operation"),
    );
    if (operation === undefined) {
      problems.push(
        `cases[${index}].operation is not the name of an operation: ${JSON.stringify(own(one, "operation")) ?? "it has none"}`,
      );
      return [];
    }
    const { title, status, text, answer, headers, is, waits, reads, job, sends, ids, record } = fieldsIn(one);
    return [
      {
        title: typeof title === "string" ? title : `${operation} (${index + 1})`,
        operation,
        answer: {
          status: typeof status === "number" ? status : 200,
          // A text is for an answer that is no JSON.
          text: typeof text === "string" ? text : JSON.stringify(answer ?? null),
          ...(isObject(headers) && headersOf(headers)),
        },
        ...{ reads, job, sends, ids, record },
        is: typeof is === "string" ? is : undefined,
        waits: typeof waits === "number" ? waits : undefined,
      },
    ];
  });
  return { cases, problems };
}

function headersOf(given: Fields): Partial<Answer> {
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  const named = (wanted: string): string | undefined =>
    Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
  const contentType = named("content-type");
  const location = named("location");
  const retryAfter = named("retry-after");
  const date = named("date");
  return { paging: headers, contentType, location, retryAfter, date };
}
