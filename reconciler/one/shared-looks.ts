/**
 * Shares answers within one process. A program's resources are handled one by one, many at a time, and each would read
 * the same lists; here everything that asks for the same within some milliseconds gets the answer of one request. Each
 * call says how old an answer may be: what changes or deletes something asks anew, a refresh reads each list once, and
 * a create needs no newer list than a plan of the whole file would.
 */
import { isKind } from "../core/model/kinds";
import { type Operation, operationNames, rowOf } from "../core/model/operation";
import { fieldsIn } from "../core/text/objects";
import { sharedLook } from "../engine/shared-look";
import type { ServiceClient } from "../service/client";

export interface SharedLooks {
  /** Answers that were asked for after the call. */
  readonly fresh: ServiceClient;
  /** Answers of the last seconds that a call with the same need asked for, if nothing was sent since. */
  readonly recent: ServiceClient;
  /** Answers of the last seconds, if nothing was deleted or renamed since. */
  readonly forCreate: ServiceClient;
  /** When something was last being sent: now, while it is. */
  busyAt(): number;
}

interface Answer {
  readonly startedAt: number;
  readonly writes: number;
  readonly removals: number;
  readonly writesOfIt: number;
  readonly outcome: Promise<{ readonly status: string }>;
  accepted?: boolean;
  /** The answer was asked for by a call that needs the present state, and not by a run under way. */
  readonly forRecent: boolean;
}

const gatherMs = 4;
const recentMs = 15_000;
/** Looks of one refresh follow on one another; however long they take, they are one. */
const refreshMs = 300_000;
const forCreateMs = 5000;
/** Flavors, images and regions change by the month. */
const catalogueMs = 300_000;
/** How long the answer to a create stands for what it made. */
const madeMs = 600_000;

type CallKind = "catalogue" | "read" | "write" | "removal";

function kindOf(operation: Operation): CallKind {
  const { kind, removes } = rowOf(operation);
  if (removes === true) return "removal";
  if (kind !== "read") return "write";
  return isKind(operation.split(".")[0]) ? "read" : "catalogue";
}

/** The kind of each call that sends a request. Everything else that a client has passes through as it is. */
const kindOfCall: ReadonlyMap<string, CallKind> = new Map(
  operationNames.map((operation) => [rowOf(operation).call, kindOf(operation)]),
);

const proves = (options: unknown): boolean =>
  typeof options === "object" && options !== null && "proves" in options && options.proves === true;

type Call = (...args: unknown[]) => Promise<{ readonly status: string; readonly value?: unknown }>;

export function shareLooks(client: ServiceClient, now: () => number): SharedLooks {
  /** Of each look the newest answer, and the one before it: the newest may still be on its way. */
  const answers = new Map<string, { readonly newest: Answer; readonly before?: Answer }>();
  const looks = new Map<string, () => Promise<{ readonly status: string }>>();
  /** Requests that wait a moment for other calls that ask for the same. */
  const gathering = new Map<string, Promise<{ readonly status: string }>>();
  /** The next answer is for a call that needs the present state, and for all that ask meanwhile. */
  const wantedByRecent = new Set<string>();
  const writesOf = new Map<string, number>();
  let writes = 0;
  let sending = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  let removed = 0;

  const take = (key: string, id: string, outcome: Answer["outcome"], startedAt = now()): Answer => {
    const counts = { writes, removals: removed, writesOfIt: writesOf.get(id) ?? 0 };
    const answer: Answer = { startedAt, ...counts, forRecent: wantedByRecent.delete(key), outcome };
    const { newest, before } = answers.get(key) ?? {};
    const last = newest?.accepted === true ? newest : before;
    answers.set(key, { newest: answer, ...(last === undefined ? {} : { before: last }) });
    outcome.then(
      ({ status }) => {
        answer.accepted = status === "accepted";
      },
      () => undefined,
    );
    return answer;
  };

  /** Since when those who need what is there now have asked without a pause. */
  let burstFrom = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  const noteRecent = (): void => {
    if (now() - askedAt > recentMs) burstFrom = now();
    askedAt = now();
  };

  const look = (key: string, id: string, call: () => Promise<{ readonly status: string }>) => {
    let shared = looks.get(key);
    if (shared === undefined) {
      shared = sharedLook(() => take(key, id, call()).outcome);
      looks.set(key, shared);
    }
    let gathered = gathering.get(key);
    if (gathered === undefined) {
      const ask = shared;
      gathered = new Promise((resolve) => setTimeout(resolve, gatherMs)).then(() => {
        gathering.delete(key);
        return ask();
      });
      gathering.set(key, gathered);
    }
    return gathered;
  };

  const countWrite = (method: string, args: readonly unknown[]): void => {
    writes++;
    if (kindOfCall.get(method) === "removal") removed++;
    for (const arg of args) if (typeof arg === "string") writesOf.set(arg, (writesOf.get(arg) ?? 0) + 1);
  };

  const view = (isGood: (answer: Answer, method: string, id: string) => boolean, asksRecent = false): ServiceClient =>
    new Proxy(client, {
      get(target, method) {
        const value: unknown = Reflect.get(target, method);
        if (typeof value !== "function" || typeof method !== "string") return value;
        // Every method of the client takes values and ends in an outcome.
        const call = value.bind(target) as Call;
        const kind = kindOfCall.get(method);
        if (kind === undefined) return call;
        if (kind === "write" || kind === "removal")
          return async (...args: unknown[]) => {
            countWrite(method, args);
            sending++;
            try {
              const outcome = await call(...args);
              const made = fieldsIn(outcome.value);
              if (method === "createVolume" && typeof made["id"] === "string" && made["changing"] !== true)
                take(`getVolume ${made.id}`, made.id, Promise.resolve(outcome));
              return outcome;
            } finally {
              countWrite(method, args);
              sending--;
              sentAt = now();
            }
          };
        return (first?: unknown) => {
          const id = typeof first === "string" ? first : "";
          // A call for a list that proves an absence does not share a list that was read without that purpose.
          const options = proves(first) ? [{ proves: true }] : [];
          if (asksRecent) noteRecent();
          const key = options.length > 0 ? `${method} that proves` : `${method} ${id}`;
          const { newest, before } = answers.get(key) ?? {};
          for (const known of [newest, before])
            if (known !== undefined && known.accepted !== false && isGood(known, method, id)) return known.outcome;
          if (asksRecent) wantedByRecent.add(key);
          return look(key, id, () => (id === "" ? call(...options) : call(id)));
        };
      },
    });

  const age = ({ startedAt }: Answer): number => now() - startedAt;
  const isRecent = (answer: Answer): boolean =>
    age(answer) <= recentMs || (answer.startedAt >= burstFrom && age(answer) <= refreshMs);
  const isCatalogue = (answer: Answer, method: string): boolean =>
    kindOfCall.get(method) === "catalogue" && age(answer) <= catalogueMs;
  return {
    busyAt: () => (sending > 0 ? now() : sentAt),
    fresh: view(isCatalogue),
    recent: view(
      (answer, method) =>
        isCatalogue(answer, method) || (answer.forRecent && answer.writes === writes && isRecent(answer)),
      true,
    ),
    forCreate: view((answer, method, id) => {
      if (isCatalogue(answer, method)) return true;
      if (id === "") return answer.accepted === true && answer.removals === removed && age(answer) <= forCreateMs;
      return method === "getVolume" && answer.writesOfIt === (writesOf.get(id) ?? 0) && age(answer) <= madeMs;
    }),
  };
}
