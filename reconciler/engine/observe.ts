/**
 * Looks at one kind of resource: its list where there is one, and each known id that the list does not show. What comes
 * back is what was seen and what was not; whether something is gone is weighed elsewhere.
 */
import type { Kind } from "../core/model/address";
import type { Diagnostic } from "../core/model/diagnostic";
import { type Look, notInList, notLookedAt, saidGoneTwice, type Unobserved } from "../core/model/evidence";
import { definitionOf, kindRows } from "../core/model/kinds";
import { usualListCost } from "../core/model/list-cost";
import type { LiveOf } from "../core/model/live";
import { rowOf } from "../core/model/operation";
import { type Failure, failureText, isGone, isRefusedAs, type Outcome } from "../core/model/outcome";
import type { RequestOptions, ServiceReader } from "../service/client";
import { readFailed } from "./read-failed";

// The reads that every kind has, for whoever asks the same of each.

/** The list of a kind, by the call of its row, whose answers are read as the kind's own. */
export const listOfKind = <K extends Kind>(
  kind: K,
  client: ServiceReader,
  options?: RequestOptions,
): Promise<Outcome<readonly LiveOf[K][]>> => Reflect.get(client, rowOf(`${kind}.list`).call).call(client, options);

export const readOfKind = <K extends Kind>(
  kind: K,
  client: ServiceReader,
  id: string,
  options?: RequestOptions,
): Promise<Outcome<LiveOf[K]>> => Reflect.get(client, rowOf(`${kind}.get`).call).call(client, id, options);

/** One that is asked for by its id, by whatever read shows whether it is there; `undefined`: there is none. */
export function readAtAll(
  kind: Kind,
  client: ServiceReader,
  id: string,
  options?: RequestOptions,
): Promise<Outcome<unknown>> | undefined {
  const { readBeside = "", calls } = definitionOf(kind);
  const beside = calls[readBeside];
  if (client.can.readsOne(kind)) return readOfKind(kind, client, id, options);
  // The row of the read names the call.
  return beside === undefined ? undefined : Reflect.get(client, beside.call).call(client, id, options);
}

export type LookOptions = { readonly signal?: AbortSignal };

/** What one kind's look at the service found; `unlisted`: what it says of every other id. */
export interface Observed<T> {
  readonly looks: Map<string, Look<T>>;
  /** Whether everything there is was shown. */
  readonly listed: boolean;
  readonly unlisted: Look<never>;
  /** What the credential may not look at, as `vm:ID`. */
  readonly forbidden: readonly string[];
}

/** What is to be looked at of one kind. */
export interface LooksWanted {
  /** Ids that have to be looked at. */
  readonly wanted: ReadonlySet<string>;
  /** All ids that the state and the file know: one that the list does not show is looked at by itself. */
  readonly known: ReadonlySet<string>;
  /** The whole list is needed: a name may be anybody's. */
  readonly whole: boolean;
}

/** Whether a list costs less than reading each by itself, or nothing but a list will do. */
function isListCheaper(client: ServiceReader, kind: Kind, { wanted, known, whole }: LooksWanted): boolean {
  const { pageItems, pageReads } = client.listCost?.(kind) ?? usualListCost;
  return whole || wanted.size > Math.ceil(known.size / pageItems) * pageReads;
}

/** What the list of a kind says, and what that says of every id that it does not show. */
export interface Opening<T> {
  /** Left out: there is no list, each is cheaper to read by itself, or the list was `refused`. */
  readonly listed?: readonly T[];
  readonly refused?: true;
  readonly unlisted: Look<never>;
}

/** How a look at a kind begins. */
export async function openLook<K extends Kind>(
  kind: K,
  client: ServiceReader,
  asked: LooksWanted,
  findings: Diagnostic[],
  options: LookOptions,
): Promise<Opening<LiveOf[K]>> {
  const noun = kindRows[kind].fullNoun;
  if (!client.can.canFindCreated(kind)) return { unlisted: cannotLook(`a ${noun} by its list`) };
  if (client.can.readsOne(kind) && !isListCheaper(client, kind, asked)) return { unlisted: notLookedAt };
  const answer = await listOfKind(kind, client, options);
  if (answer.status === "accepted") return { listed: answer.value, unlisted: notInList(listName(kind)) };
  findings.push(readFailed(listName(kind), answer));
  return { refused: true, unlisted: unobservedBy(answer) };
}

export const listName = (kind: Kind): string => `the list of ${kindRows[kind].fullNoun}s`;

export const wantsNothing = ({ wanted, whole }: LooksWanted): boolean => wanted.size === 0 && !whole;

export const cannotLook = (what: string): Unobserved => ({
  seen: "unobserved",
  reason: `this service has no way to look at ${what}`,
});

/** By its list where there is one, and each that the list does not show by itself. `also`: ids beside those asked for. */
export async function observeUsual<K extends Kind>(
  kind: K,
  client: ServiceReader,
  asked: LooksWanted,
  also: readonly string[],
  findings: Diagnostic[],
  options: LookOptions,
): Promise<Observed<LiveOf[K]>> {
  const looks = new Map<string, Look<LiveOf[K]>>();
  const read = (wanted: ReadonlySet<string>): Promise<readonly string[]> =>
    observeEach(kind, wanted, (id) => readOfKind(kind, client, id, options), looks, findings);
  const { listed, refused, unlisted } = await openLook(kind, client, asked, findings, options);
  if (listed === undefined)
    return { looks, unlisted, forbidden: refused === true ? [] : await read(asked.wanted), listed: false };
  for (const one of listed) looks.set(one.id, { seen: "yes", value: one });
  // A list may be behind: a resource that it does not show counts as gone only when a read of its id says so too.
  const forbidden = await read(new Set([...asked.known, ...also].filter((id) => !looks.has(id))));
  return { looks, unlisted, forbidden, listed: true };
}

/** Returns the ids that the credential may not look at. */
export async function observeEach<T>(
  kind: Kind,
  ids: ReadonlySet<string>,
  read: (id: string) => Promise<Outcome<T>>,
  into: Map<string, Look<T>>,
  findings: Diagnostic[],
): Promise<readonly string[]> {
  const what = kindRows[kind].fullNoun;
  // A single wrong answer must not lead to a second create: "not found" is believed when it came twice.
  const readTwice = async (id: string): Promise<Outcome<T>> => {
    const outcome = await read(id);
    return isGone(outcome) ? read(id) : outcome;
  };
  const forbidden: string[] = [];
  const answers = await Promise.all([...ids].map(async (id) => [id, await readTwice(id)] as const));
  for (const [id, outcome] of answers) {
    if (outcome.status === "accepted") into.set(id, { seen: "yes", value: outcome.value });
    else if (isGone(outcome) && into.has(id))
      findings.push(readFailed(`${what} ${id}, which its list shows,`, outcome));
    else if (outcome.status === "rejected" && isGone(outcome)) into.set(id, saidGoneTwice(outcome));
    else if (isRefusedAs(outcome, "forbidden")) {
      forbidden.push(`${kind}:${id}`);
      into.set(id, unobservedBy(outcome));
      findings.push({
        severity: "warning",
        code: "plan/forbidden",
        summary: `${what} ${id} may not be looked at with this credential; the state's record is used instead`,
        detail: outcome.message,
      });
    } else {
      if (!into.has(id)) into.set(id, unobservedBy(outcome));
      findings.push(readFailed(`${what} ${id}`, outcome));
    }
  }
  return forbidden;
}

export const unobservedBy = (failure: Failure): Unobserved => ({
  seen: "unobserved",
  reason: failureText(failure),
  fix: failure.status === "rejected" && failure.hint !== undefined ? failure.hint : undefined,
});
