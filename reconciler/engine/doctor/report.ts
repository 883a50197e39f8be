/** What the doctor says: of each operation, each kind of record, and what a person still has to find out. */
import type { Diagnostic } from "../../core/model/diagnostic";
import type { Kind } from "../../core/model/kinds";
import { type AssumedOperation, type Fallback, type ListOperation, operations } from "../../core/model/operation";
import { deepEqual } from "../../core/text/deep-equal";
import { isObject } from "../../core/text/objects";
import { builtInDialect } from "../../dialect/built-in";
import type { Dialect, ErrorRule, ListRoute, Route } from "../../dialect/dialect";
import type { LearntEnvelope } from "../../dialect/learn/envelope";
import { isSameWay, type Way } from "../../dialect/learn/pages";
import type { RecordFinding } from "../../dialect/learn/records";
import type { Learnt } from "../../dialect/learn/where";
import { own } from "../../dialect/messages";
import { isCounted } from "../../dialect/next-page";
import type { TrialFate } from "./trial/notes";

/** The file from which the doctor starts: what it says is kept, unless something else was seen. */
export interface DialectBase {
  /** As it is written. */
  readonly value: unknown;
  readonly dialect: Dialect;
}

/** What the file says at a place; `undefined`: it says nothing there. */
export const saidAt = (base: DialectBase | undefined, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(own, base?.value);

interface Given {
  readonly given: Dialect;
  readonly base?: DialectBase | undefined;
}

/** A route that a person gave, in the file or beside it: it is never switched off. */
export const isGivenRoute = ({ given, base }: Given, operation: AssumedOperation): boolean =>
  given.operations[operation] !== null &&
  (isObject(saidAt(base, "operations", operation)) ||
    !deepEqual(given.operations[operation], builtInDialect.operations[operation]));

/** Ids that are known already, for operations that read one resource when no list gives an id. */
export interface KnownIds {
  readonly vm?: string;
  readonly volume?: string;
  /** More of them, where no list shows any. */
  readonly volumes?: readonly string[];
  readonly group?: string;
  readonly groups?: readonly string[];
  /** Names that only the trial's own have, and those of the flavors and the image that it is made from. */
  readonly names?: Readonly<Partial<Record<Learnt, readonly string[]>>>;
}

export interface OperationFinding {
  readonly operation: AssumedOperation;
  /**
   * `found` and `missing` (not found where it looked) were tried; `unclear`: it was tried and the answer decides nothing
   * (refused, out of order, several lists, no id to try it with); `not_tried`: only a change would show it.
   */
  readonly verdict: "found" | "missing" | "unclear" | "not_tried";
  /** The route that was found; for an operation that was not found, the dialect's. */
  readonly route: Route | ListRoute | null;
  readonly tried: readonly { readonly path: string; readonly answer: string }[];
  /** How many items were read. */
  readonly items?: number;
  /** A trial sent the request, and saw its effect. */
  readonly isTried?: true;
  /** A person says that the service does not have it. */
  readonly isSaid?: true;
  /** A person gave the route, and it was not found there. */
  readonly isKept?: true;
  /** The route is asked as those that were found are, and answered with nothing where other words are refused. */
  readonly isLikely?: true;
  /** For operations that are missing, or that the dialect switches off. */
  readonly fallback?: Fallback;
}

/** Lists without records: nothing in them can be told from another, or by its name. */
export const withoutRecords = {
  ids: "a list of ids alone",
  rows: "a list of rows whose values have no names",
} as const;

/** What is shown in the place of records; `undefined`: the list has them, or there is none. */
export const shownForRecords = ({ tried }: OperationFinding): string | undefined =>
  Object.values(withoutRecords).find((words) => tried.some(({ answer }) => answer === words));

export const showsNoRecords = (finding: OperationFinding): boolean => shownForRecords(finding) !== undefined;

/** Changes that only a trial can find. */
export type TriedOperation = "vm.resize.confirm" | "vm.resize.revert" | "volume.delete" | "group.rule.delete";

/** A kind of which a trial made nothing that lived. */
export interface Unproven {
  readonly kind: Kind;
  readonly why: string;
}

export interface TrialFindings {
  /** What the trial saw, in sentences. */
  readonly seen: readonly string[];
  readonly states: {
    readonly vm: Readonly<
      Partial<Record<"running" | "stopped" | "verify_resize" | "changing" | "failed" | "gone", readonly string[]>>
    >;
    readonly volume: Readonly<Partial<Record<"ready" | "changing" | "gone", readonly string[]>>>;
  };
  readonly routes: Readonly<Partial<Record<TriedOperation, Route>>>;
  /** Operations of which no usual way had its effect. */
  readonly inVain: Readonly<Partial<Record<TriedOperation, OperationFinding["tried"]>>>;
  readonly errors: readonly ErrorRule[];
  readonly rules: Partial<Dialect["rules"]>;
  readonly limits: Partial<Dialect["limits"]>;
  /** Everything that the trial asked for, and what became of it. */
  readonly made: readonly TrialFate[];
  /** Resources that could not be deleted again, and why. */
  readonly left: readonly string[];
  /** What the trial could not learn, and why. */
  readonly open: readonly string[];
  /** What it was to walk through a life and did not: of that the file holds what was read, and what is built in. */
  readonly unproven: readonly Unproven[];
  /** It was stopped before its end, so of some things nothing was tried. */
  readonly isStopped: boolean;
}

export interface DoctorReport {
  readonly reachable: boolean;
  readonly credential: "accepted" | "refused" | "unknown";
  /** How the credential was sent when it was taken, where the dialect says it otherwise. */
  readonly authorization?: { readonly name: string; readonly header: string };
  readonly operations: readonly OperationFinding[];
  readonly records: readonly RecordFinding[];
  /** Words for a VM's state that the dialect gives no meaning to. */
  readonly unknownVmStates: readonly string[];
  /** What a word probably means, by the word alone. */
  readonly likelyStates: Readonly<Partial<Record<keyof Dialect["states"]["vm"], readonly string[]>>>;
  readonly refusal?: LearntEnvelope;
  /** The records that were looked at. */
  readonly samples: ReadonlyMap<Learnt, readonly unknown[]>;
  /** Lists that left out their key while there was nothing to show. */
  readonly emptied: ReadonlySet<ListOperation>;
  readonly given: Dialect;
  readonly base?: DialectBase;
  /** The given dialect, with what was found laid over it. */
  readonly dialect: Dialect;
  /** What a trial learnt, where one was asked for. */
  readonly trial?: TrialFindings;
  /** What the look itself left open; todo.ts has all that a person has to find out. */
  readonly open: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Only in the words of the table of operations. */
function fallbackOf(operation: AssumedOperation): Fallback {
  const { cost, instead } = operations[operation].assumed;
  return { cost, instead };
}

const notFound = (
  operation: AssumedOperation,
  verdict: OperationFinding["verdict"],
  route: OperationFinding["route"],
  tried: OperationFinding["tried"] = [],
): OperationFinding => ({
  operation,
  verdict,
  route,
  tried,
  fallback: route === null ? fallbackOf(operation) : undefined,
});

export const notTried = (dialect: Dialect, operation: AssumedOperation): OperationFinding =>
  notFound(operation, "not_tried", dialect.operations[operation]);

/** By a person's word the service does not have it. */
export const saidMissing = (operation: AssumedOperation): OperationFinding => ({
  ...notFound(operation, "missing", null),
  isSaid: true,
});

export const operationNotFound = (
  operation: AssumedOperation,
  route: Route | null,
  tried: OperationFinding["tried"],
  unclear: boolean,
): OperationFinding => notFound(operation, unclear ? "unclear" : "missing", unclear ? route : null, tried);

/** Once an operation turned out to be none: with what is found of it now. */
export const withoutOperation = (report: DoctorReport, finding: OperationFinding): DoctorReport => ({
  ...report,
  dialect: { ...report.dialect, operations: { ...report.dialect.operations, [finding.operation]: null } },
  operations: report.operations.map((one) => (one.operation === finding.operation ? finding : one)),
});

/** What a trial says of a request whose effect it did not see. */
export const acceptedInVain = "it was accepted, and did not do what was asked";

/** A route that was given and not found stays in the dialect. */
export const keptIfGiven = (of: Given, finding: OperationFinding): OperationFinding =>
  finding.verdict === "missing" && isGivenRoute(of, finding.operation) ? { ...finding, isKept: true } : finding;

/**
 * The way on of its lists, to be written once. A page that does not lead on is the last one of any list; a count is sent
 * for every list that is read so, and holds for all only where it was seen to hold for each.
 */
export function commonWay(report: Pick<DoctorReport, "dialect">): Way | undefined {
  const { operations, attachments } = report.dialect;
  const lists = Object.values(operations).flatMap((route) =>
    route !== null && "items" in route ? [route.pagination] : [],
  );
  if (attachments !== undefined) lists.push(attachments.pagination);
  const ways = lists.filter((way) => way !== undefined);
  const [first] = ways;
  // What a list goes on with stands in its own records.
  if (first === undefined || first.marker !== undefined) return undefined;
  const isForAll = !isCounted(first) || ways.length === lists.length;
  return isForAll && ways.every((way) => isSameWay(way, first)) ? first : undefined;
}
