/**
 * The plans of one resource, from what a program wants, what is remembered and what shows: what its create, its update
 * and its delete would do.
 */
import type { Address, Kind } from "../core/model/address";
import { type Closed, closedWith, nothingDesired } from "../core/model/desired";
import { hasErrors } from "../core/model/diagnostic";
import { idsNamedBy } from "../core/model/facts";
import { findSeen } from "../core/model/live";
import { isWindowOver, lookedAgain, openWindow } from "../core/schedule/window";
import { emptied, leaving, saysOfUnseen, unseenFields } from "./differences";
import { hangsElsewhere, stillShownOn } from "./guards";
import { type HandlerContext, type HandlerService, type Props, throwErrors } from "./handler";
import { lookAtAll } from "./looking";
import { takenOffFrom } from "./made-here";
import { addressOf } from "./one-desired";
import {
  assertOwnProject,
  changeOf,
  type HowFresh,
  type PlannedOne,
  planAgain,
  planAsObserved,
  planAsRecorded,
  type Remembered,
  stateOf,
} from "./one-run";
import { staysWithAnother } from "./ownership";
import { planPendingDelete } from "./pending";
import { type Of, recordIn, rememberedIn, type Shape, wanted, withStopped } from "./shape";

export const clientForRemoval = ({ client, looks }: HandlerService): HandlerService["client"] =>
  looks?.forRemoval ?? client;

/** What hangs on a resource that is replaced, and so is lost or left with it, only a look tells. */
export async function planReplacementAsObserved(
  context: HandlerContext,
  planned: PlannedOne,
  desired: Closed,
): Promise<PlannedOne> {
  if (changeOf(planned)?.action !== "replace" || hasErrors(planned.plan.diagnostics)) return planned;
  const { state, address } = planned;
  const seen = await planAsObserved(await context.service(), desired, state, address, context.signal, "recent");
  return changeOf(seen)?.action === "replace" && !hasErrors(seen.plan.diagnostics) ? seen : planned;
}

const belongsToAnother =
  (service: HandlerService, { owner }: Remembered, notes: HandlerContext["notes"]) =>
  (thing: string): boolean =>
    staysWithAnother(service, thing, owner, notes, thing) !== undefined;

/** What the program wants now, and what is remembered of what exists. */
export function standingOf<K extends Kind>(shape: Shape<K>, { notes }: HandlerContext, before: Props, inputs: Props) {
  const remembered = rememberedIn(before);
  const record = withStopped(shape, recordIn(shape, before, inputs), notes);
  const own: Remembered = record === undefined ? remembered : { ...remembered, record };
  return { remembered, record, own, ...wanted(shape, emptied(shape, remembered, before, inputs)) };
}

export function resourcePlans<K extends Kind>(shape: Shape<K>) {
  const { kind } = shape;

  async function planCreate(
    { signal }: HandlerContext,
    service: HandlerService,
    desired: Closed,
    address: Address,
    adopted: string | undefined,
    inputs: Props,
    earlier: Remembered,
  ): Promise<PlannedOne> {
    const wish = adopted === undefined ? desired : closedWith(desired, { imports: [{ to: address, id: adopted }] });
    const look = (how: HowFresh) => planAsObserved(service, wish, stateOf(address, earlier), address, signal, how);
    const seen = await look("forCreate");
    await assertOwnProject(service, signal);
    // What stands in the way, or is there already, may have been deleted by another process since that look.
    const isDoubtful = adopted === undefined && hasErrors(seen.plan.diagnostics);
    const planned = isDoubtful ? await look("fresh") : seen;
    // What an earlier process made is of the kind of this one.
    const record = earlier.record as Of<K> | undefined;
    const takes = adopted ?? record?.id;
    if (takes === undefined) return planned;
    return planWith(service, planned, wish, wishAmong(planned, wish, inputs, record, takes));
  }

  async function planUpdate(
    context: HandlerContext,
    service: HandlerService,
    id: string,
    before: Props,
    inputs: Props,
    look: HowFresh,
  ): Promise<PlannedOne> {
    const { signal, notes } = context;
    const { remembered, desired, address, record, own } = standingOf(shape, context, before, inputs);
    const seen = await withHosts(service, id, desired, own, address, inputs, signal, look);
    const shown = findSeen(seen.live, kind, id);
    const isOthers = belongsToAnother(service, remembered, notes);
    const kept =
      record === undefined || shown === undefined ? record : (shape.fields?.without(record, shown, isOthers) ?? record);
    const wish = wishAmong(seen, desired, inputs, kept, id);
    const planned = planWith(service, seen, desired, wish);
    throwErrors(planned.plan.diagnostics);
    if (record === undefined || shape.isUnsettled(record)) return planned;
    const asRecorded = await planAsRecorded(service, desired, stateOf(address, own), address, signal);
    const unseen = unseenFields(shape, changeOf(planned), changeOf(asRecorded), before, inputs);
    if (unseen.length === 0) return planned;
    return {
      ...planAgain(service, planned, leaving(wish, unseen)),
      spares: saysOfUnseen(before["name"] ?? id, unseen),
    };
  }

  async function planRemoval(
    context: HandlerContext,
    service: HandlerService,
    id: string,
    before: Props,
    record: Of<K> | undefined,
  ): Promise<PlannedOne> {
    if (record === undefined) return planPendingDelete(shape, context, service, id, before);
    const remembered = rememberedIn(before);
    const address = addressOf(kind, before["name"]);
    const { signal } = context;
    const isOthers = belongsToAnother(service, remembered, context.notes);
    const look = async (client: HandlerService["client"], how: HowFresh): Promise<PlannedOne> => {
      const live = await lookAtAll(shape, client, record, id, signal);
      const state = stateOf(address, { ...remembered, record }, shape.neighbours?.(record, live, isOthers));
      return planAsObserved(service, nothingDesired, state, address, signal, how);
    };
    const seen = await look(clientForRemoval(service), "forRemoval");
    // It may have come off its VM since that look, by another process of the program, or because the VM was deleted.
    const isRefused = before["flushConfirmed"] !== true && seen.plan.consents.some(({ kind }) => kind === "flush");
    const comesOff = shape.hangsOn !== undefined && seen.plan.steps.length > 1;
    if (!isRefused && !comesOff) return seen;
    const { client, clock, timing } = service;
    let planned = await look(client, "fresh");
    const from = takenOffFrom(service, id);
    if (from === undefined) return planned;
    const hostShown = (): string | undefined => {
      const shown = findSeen(planned.live, kind, id);
      return shown === undefined ? undefined : shape.hangsOn?.(shown);
    };
    // A list may be behind: it still shows the volume where it was taken off.
    let window = openWindow(timing.discoveryWindowMs, clock.now());
    while (hostShown() === from && !isWindowOver(window) && !signal.aborted) {
      await clock.sleep(timing.pollIntervalMs, signal);
      planned = await look(client, "fresh");
      window = lookedAgain(window, clock.now());
    }
    const host = hostShown();
    if (host === from) throw stillShownOn(`${kind} ${id}`, host);
    if (host !== undefined) throw hangsElsewhere(`${kind} ${id}`, host);
    return planned;
  }

  async function withHosts(
    service: HandlerService,
    id: string,
    desired: Closed,
    remembered: Remembered,
    address: Address,
    inputs: Props,
    signal: AbortSignal,
    look: HowFresh,
  ): Promise<PlannedOne> {
    const seen = await planAsObserved(service, desired, stateOf(address, remembered), address, signal, look);
    const shown = findSeen(seen.live, kind, id);
    const named = remembered.record === undefined ? [] : idsNamedBy(remembered.record);
    const standing = shown === undefined ? [] : (shape.standsOn?.(shown, inputs) ?? []);
    // What the record names itself is no other's to remember.
    const hosts = standing.filter(({ id }) => id === undefined || !named.includes(id));
    return hosts.length === 0
      ? seen
      : planAsObserved(service, desired, stateOf(address, remembered, hosts), address, signal, look);
  }

  /** What is wished once it is seen what else the service has. */
  function wishAmong(
    { live }: PlannedOne,
    desired: Closed,
    inputs: Props,
    record: Of<K> | undefined,
    id: string,
  ): Closed {
    const shown = findSeen(live, kind, id);
    const [resource] = desired.resources;
    if (shape.wantedAmong === undefined || shown === undefined || resource === undefined) return desired;
    const wish = shape.wantedAmong(resource, inputs, record, shown);
    return wish === resource ? desired : closedWith(desired, { resources: [wish] });
  }

  const planWith = (service: HandlerService, seen: PlannedOne, desired: Closed, wish: Closed): PlannedOne =>
    wish === desired ? seen : planAgain(service, seen, wish);

  return { planCreate, planUpdate, planRemoval };
}
