/**
 * The status of one stack, as data: `fleet list`, the pages, the metrics and the notifications show its conditions. The
 * words are those of kstatus. A new status is a function of the former one and of how the round ended.
 */

import type { SeenState } from "../core/state/identity";
import { onlyDefined } from "../core/text/objects";
import type { Voice } from "./decide";
import type { Occasion } from "./model";

/** How a round ended. */
export type RoundEnd =
  /** `note`: what is left to do, such as inside the guests. */
  | { readonly end: "in_sync"; readonly note?: string | undefined }
  /** `but`: the plan was carried out, and the service is not as the files say. */
  | { readonly end: "applied"; readonly but?: string; readonly note?: string | undefined }
  /** The stack differs, and the fleet may not correct it. */
  | { readonly end: "observed"; readonly why: string }
  /** The plan waits for a person. */
  | { readonly end: "awaiting_approval"; readonly plan: string; readonly why: string }
  /** The round waits until something else ends; `plan` would be carried out then. */
  | { readonly end: "blocked"; readonly why: string; readonly waitingFor: WaitingFor; readonly plan?: string }
  /** The worker was told to stop: requests in flight are finished, and another worker does the rest. */
  /** `stood`: where each resource of a run that was stopped stands, in a line. */
  | { readonly end: "handed_over"; readonly why: string; readonly stood?: string }
  /** `lasts`: trying again does not help until somebody changes something. */
  | { readonly end: "failed"; readonly why: string; readonly lasts?: true };

export interface WaitingFor {
  readonly what: "budget" | "share" | "worker" | "window" | "dependency" | "lock";
  readonly detail: string;
  readonly until?: string;
}

/** What a round saw of the state last, for the next worker, which may be on another machine. */
export interface StateSeen extends SeenState {
  /** Of the place where it was seen. */
  readonly place: string;
  /** Its store has answered with less since. */
  readonly isLess?: true;
}

export interface Status {
  readonly ready: boolean;
  readonly reconciling: boolean;
  readonly stalled: boolean;
  readonly drifted: boolean;
  readonly awaitingApproval: boolean;
  readonly blocked: boolean;
  /** What to do about it; null when nothing has to be done. */
  readonly reason: string | null;
  readonly observedRevision: string | null;
  readonly appliedRevision: string | null;
  /** The digest of the plan that waits for a person or for a window. */
  readonly plan: string | null;
  readonly failures: number;
  readonly waitingFor: WaitingFor | null;
  readonly stateSeen?: StateSeen;
}

export const newStatus: Status = {
  ready: false,
  reconciling: false,
  stalled: false,
  drifted: false,
  awaitingApproval: false,
  blocked: false,
  reason: "it was not looked at yet",
  observedRevision: null,
  appliedRevision: null,
  plan: null,
  failures: 0,
  waitingFor: null,
};

export interface EndedRound {
  readonly result: RoundEnd;
  /** Absent: the source could not be read. */
  readonly revision?: string;
  /** Resources that were not as the state had them when the round began. Absent: nobody could look. */
  readonly drifted?: number;
  readonly giveUpAfter: number;
  readonly stateSeen?: StateSeen;
  /** The plan has begun to be carried out. */
  readonly begun?: true;
}

export const pausedReason = (stack: string): string => `it is paused: reconcile fleet resume ${stack}`;

/** A person wants the round that runs to end, and none to begin. */
export interface StopRequest extends Voice {
  /** Without waiting for the requests in flight. */
  readonly now: boolean;
}

export function stoppedReason(stack: string, request: StopRequest | "left"): string {
  if (request === "left") return "its stack left the fleet while it ran, so that nothing more was sent";
  const { by, why } = request;
  return `it was stopped by ${by}${why === undefined ? "" : `: ${why}`}; reconcile fleet resume ${stack} goes on with it`;
}

/**
 * While a round runs, the status stays as the last round left it, except that the stack does not wait for a place any
 * more.
 */
export const whileRunning = (status: Status): Status => ({
  ...status,
  reconciling: true,
  waitingFor: isPlace(status.waitingFor) ? null : status.waitingFor,
});

const isPlace = (waits: WaitingFor | null): boolean => ["share", "budget", "worker"].includes(waits?.what ?? "");

export const waitsForPlace = (
  held: "service" | "suspect",
  limit: { readonly service: string; readonly most: number } | undefined,
): WaitingFor => ({
  what: "share",
  detail:
    held === "suspect"
      ? "its workers were lost, so that it runs when no other stack that lost its workers runs beside it"
      : `the service ${limit?.service} has its ${limit?.most} rounds`,
});

/** After so many failures in a row of a round that failed for good, the stack is stalled. */
const mostLasting = 3;

export function afterRound(
  before: Status,
  { result, revision, drifted, giveUpAfter, begun, stateSeen = before.stateSeen }: EndedRound,
): Status {
  const base: Status = {
    ...before,
    ready: false,
    reconciling: false,
    stalled: false,
    drifted: drifted === undefined ? before.drifted : drifted > 0,
    awaitingApproval: false,
    blocked: false,
    reason: null,
    plan: null,
    failures: 0,
    waitingFor: null,
    observedRevision: revision ?? before.observedRevision,
    ...onlyDefined({ stateSeen }),
  };
  switch (result.end) {
    case "in_sync":
    case "applied":
      if (result.end === "applied" && result.but !== undefined)
        return { ...base, drifted: true, reason: result.but, appliedRevision: before.appliedRevision };
      return {
        ...base,
        ready: true,
        drifted: false,
        reason: result.note ?? null,
        appliedRevision: base.observedRevision,
      };
    case "observed":
      return { ...base, drifted: true, reason: result.why };
    case "awaiting_approval":
      return { ...base, awaitingApproval: true, plan: result.plan, reason: result.why };
    case "blocked":
      return {
        ...base,
        blocked: true,
        failures: before.failures,
        reason: result.why,
        waitingFor: result.waitingFor,
        plan: result.plan ?? before.plan,
      };
    case "handed_over":
      // Where nothing was sent, the stack stands as the last round left it: nobody is told of it anew.
      return {
        ...(begun === true ? base : { ...whileRunning(before), ...onlyDefined({ stateSeen }) }),
        observedRevision: base.observedRevision,
        drifted: before.drifted,
        failures: before.failures,
        reconciling: true,
        reason: result.why,
        plan: before.plan,
      };
    case "failed": {
      const failures = before.failures + 1;
      const stalled = failures >= (result.lasts === true ? Math.min(mostLasting, giveUpAfter) : giveUpAfter);
      return {
        ...base,
        drifted: before.drifted,
        failures,
        stalled,
        reconciling: !stalled,
        reason: result.why,
        plan: before.plan,
      };
    }
  }
}

/** The status after so many workers died that the stack is not run any more. */
export const afterLostWorkers = (before: Status, workers: number): Status => ({
  ...before,
  ready: false,
  reconciling: false,
  stalled: true,
  reason: `${workers} workers died in its rounds, so that it is not tried any more: read what they printed last, mend it, then reconcile fleet resume`,
});

/** The service is left as it is, which is not as the files say. */
export const afterRejection = (why: string): Partial<Status> => ({
  ready: false,
  drifted: true,
  awaitingApproval: false,
  blocked: false,
  waitingFor: null,
  plan: null,
  reason: why,
});

const isHeldBack = ({ stalled, stateSeen }: Status): boolean => stalled || stateSeen?.isLess === true;

/**
 * A person who saw the stack given up, or its state with less than before, has it tried anew with what is there now.
 * `seen`: the status at that time, where a round has ended since.
 */
export function afterResume(status: Status, seen = status): Status {
  if (!isHeldBack(status) || !isHeldBack(seen)) return status;
  const { stateSeen, ...rest } = status;
  const kept = seen.stateSeen?.isLess === true ? {} : onlyDefined({ stateSeen });
  return { ...rest, ...kept, stalled: false, failures: 0, reason: newStatus.reason };
}

/** What receivers are told: each condition that became true, and each apply. */
export function occasionsOf(before: Status, after: Status, { end }: RoundEnd, corrected = false): Occasion[] {
  const now: readonly (readonly [Occasion, boolean, boolean])[] = [
    ["ready", after.ready, before.ready],
    ["stalled", after.stalled, before.stalled],
    ["drifted", after.drifted, before.drifted],
    ["awaiting_approval", after.awaitingApproval, before.awaitingApproval && before.plan === after.plan],
    ["blocked", after.blocked, before.blocked],
  ];
  return [
    ...(end === "applied" ? (["applied"] as const) : []),
    ...(corrected ? (["drift_corrected"] as const) : []),
    // A failed round is tried again and again: the receiver is told again when the reason is another one.
    ...(end === "failed" && (before.failures === 0 || before.reason !== after.reason) ? (["failed"] as const) : []),
    ...now.flatMap(([occasion, is, was]) => (is && !was ? [occasion] : [])),
  ];
}
