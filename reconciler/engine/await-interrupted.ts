/**
 * What an earlier run created, or may have created, may still be about to show in the list: it is looked for until its
 * window is over, so that the plan made next neither misses it nor makes it twice. What no list shows is not waited for;
 * the plan says what to do about it.
 */

import { mayBeCut } from "../core/canonical/names";
import type { Kind } from "../core/model/address";
import { addressesByIdentity, identity, lookUpIn } from "../core/model/identity";
import { allOfKind, kindRows, perKind } from "../core/model/kinds";
import type { Live } from "../core/model/live";
import type { Failure } from "../core/model/outcome";
import type { Intent, PlannedChange, State } from "../core/model/recorded";
import { calendarLeft, type Elapsed } from "../core/model/time";
import { isWindowOver, lookedAgain, openWindow } from "../core/schedule/window";
import { mustGet } from "../core/text/invariant";
import { addAll, keysOf } from "../core/text/objects";
import type { ServiceReader } from "../service/client";
import type { Clock } from "../service/clock";
import type { StateStore } from "../store/store";
import { lookRepeatedly } from "./look-again";
import { mayShowLater, windowsOf } from "./looked-for";
import { listOfKind } from "./observe";
import { openStoredState } from "./plan";
import type { Ports } from "./ports";
import { whyUnread } from "./run";

interface Listed {
  readonly id: string;
  readonly name?: string;
}

type LookingForCreates = Pick<Ports, "timing"> & { readonly clock: Clock };

interface Awaited {
  /** What tells it from everything else that this process looks for. */
  readonly key: string;
  /** How long the list may be without it. */
  readonly windowMs: number;
  readonly isIt: (one: Listed) => boolean;
}

export async function awaitInterrupted(
  store: StateStore,
  client: ServiceReader,
  ports: LookingForCreates,
  lineage: string,
  signal: AbortSignal,
): Promise<void> {
  const { state } = openStoredState(await store.read(), store.location, lineage);
  const intents = [...state.intents.values()];
  const { timing, clock } = ports;
  const open = perKind((kind: Kind) => createsOf(kind, intents).map((intent) => awaitedOf(intent, ports)));
  const setting = { client, windowMs: timing.discoveryWindowMs, now: clock.instant() };
  for (const record of allOfKind(state.resources.values(), "vm"))
    if (record.id !== undefined && mayShowLater(record, setting))
      open.vm.push({ key: record.id, windowMs: timing.discoveryWindowMs, isIt: (one) => one.id === record.id });
  await Promise.all(
    keysOf(kindRows).map(async (kind) => {
      const all = open[kind];
      if (all.length > 0 && client.can.canFindCreated(kind)) await lookForCreates(all, kind, client, ports, signal);
    }),
  );
}

const createsOf = (kind: Kind, intents: readonly Intent[]): Intent[] =>
  intents.filter(({ operation }) => operation === `${kind}.create`);

/** `mayBe`: what else has to be so of what the create made. */
function awaitedOf(intent: Intent, ports: LookingForCreates, mayBe: (one: Listed) => boolean = () => true): Awaited {
  const { operation, address, name, sentAt } = intent;
  return {
    key: `${operation} ${address} ${name} ${sentAt}`,
    windowMs: windowOf(intent, ports),
    isIt: (one) => isMadeByIntent(one, intent) && mayBe(one),
  };
}

/**
 * A create whose answer was lost is sent again when its window is over, so that is served from the first look. One that
 * was accepted is never sent again: it is given what is left of the time that the run which sent it would have waited.
 */
function windowOf({ operation, accepted, sentAt }: Intent, { timing, clock }: LookingForCreates): number {
  const isAccepted = operation === "vm.create" && accepted === true;
  const left = isAccepted ? calendarLeft(sentAt, timing.vmCreateTimeoutMs, clock.instant()) : 0;
  return Math.max(left, timing.discoveryWindowMs);
}

type LookedForCreates =
  | { readonly status: "seen"; readonly shown: readonly Awaited[] }
  | { readonly status: "blind"; readonly failure: Failure }
  | { readonly status: "aborted" };

/** One list serves all of them, until each has shown or was missing in a list that was asked for after its window. */
async function lookForCreates(
  open: readonly Awaited[],
  kind: Kind,
  client: ServiceReader,
  ports: LookingForCreates,
  signal: AbortSignal,
): Promise<LookedForCreates> {
  const windows = windowsOf(client);
  const shown: Awaited[] = [];
  let left = open;
  const look = async (askedAt: Elapsed): Promise<LookedForCreates | undefined> => {
    for (const { key, windowMs } of left) {
      const begun = windows.get(key);
      windows.set(key, begun === undefined ? openWindow(windowMs, askedAt) : lookedAgain(begun, askedAt));
    }
    const isServed = ({ key }: Awaited): boolean => isWindowOver(mustGet(windows, key));
    const listed = await listOfKind(kind, client, { signal });
    if (signal.aborted) return { status: "aborted" };
    if (listed.status !== "accepted")
      return listed.status === "rejected" || left.every(isServed) ? { status: "blind", failure: listed } : undefined;
    addAll(
      shown,
      left.filter(({ isIt }) => listed.value.some(isIt)),
    );
    left = left.filter((one) => !isServed(one) && !shown.includes(one));
    return left.length === 0 ? { status: "seen", shown } : undefined;
  };
  return (await lookRepeatedly({ ports, signal }, look)) ?? { status: "aborted" };
}

const isMadeByIntent = ({ id, name }: Listed, intent: Intent): boolean =>
  (name?.toLowerCase() === intent.name.toLowerCase() || mayBeCut(name, intent.name)) && !intent.idsBefore.includes(id);

/**
 * A plan that takes an open create for not done was made from one look, perhaps before its window was over and perhaps
 * long ago. Before it is carried out there is another look; says in words what speaks against it.
 */
export async function whyMayBeCreated(
  bookkeeping: readonly PlannedChange[],
  state: State,
  live: Live,
  client: ServiceReader,
  ports: LookingForCreates,
  signal: AbortSignal,
): Promise<string | undefined> {
  const kept = new Set(bookkeeping.flatMap((change) => (change.type === "intent" ? [change.intent?.sentAt] : [])));
  const ended = bookkeeping.flatMap((change) => {
    const intent = change.type === "intent" && change.intent === null ? state.intents.get(change.address) : undefined;
    return intent === undefined || intent.operation === "vm.snapshot" || kept.has(intent.sentAt) ? [] : [intent];
  });
  const managed = lookUpIn(addressesByIdentity(state.resources.values()));
  for (const kind of keysOf(kindRows)) {
    const intents = createsOf(kind, ended);
    if (intents.length === 0) continue;
    const isNew = ({ id }: Listed): boolean => !live.of[kind].byId.has(id) && managed(identity(kind, id)) === undefined;
    const open = intents.map((intent) => awaitedOf(intent, ports, isNew));
    const looked = await lookForCreates(open, kind, client, ports, signal);
    const names = intents.map(({ name }) => name).join(", ");
    if (looked.status === "blind")
      return `whether an interrupted run created ${names} cannot be told: ${whyUnread(looked.failure)}`;
    // The plan ends the intent, and without that nothing would look for the create ever again.
    if (looked.status === "aborted") return `stopped while looking for what an interrupted run created (${names})`;
    if (looked.shown.length > 0) return `what an interrupted run created shows by now (${names})`;
  }
  return undefined;
}
