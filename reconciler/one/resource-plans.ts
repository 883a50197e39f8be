/**
 * The plans of one resource, from what a program wants, what is remembered and what shows: what its create, its update
 * and its delete would do.
 */
import type { Address, Kind } from "../core/model/address";
import { type Closed, closedWith, nothingDesired } from "../core/model/desired";
import { hasErrors } from "../core/model/diagnostic";
import { idsNamedBy } from "../core/model/facts";
import { findSeen } from "../core/model/live";
import type { Disk } from "../core/model/recorded";
import { lookWithin } from "../engine/look-again";
import { emptied, leaving, saysOfUnseen, unseenFields } from "./differences";
import { hangsElsewhere, stillShownOn } from "./guards";
import { type HandlerService, type Props, throwErrors } from "./handler";
import { lookAtAll, recordById } from "./looking";
import { saidOf, takenOffFrom } from "./made-here";
import { addressOf } from "./one-desired";
import {
  type Asking,
  assertOwnProject,
  changeOf,
  type HowFresh,
  type OfOne,
  type PlannedOne,
  planAgain,
  planAsObserved,
  planAsRecorded,
  type Remembered,
  stateOf,
} from "./one-run";
import { staysWithAnother, thingOf } from "./ownership";
import { planPendingDelete } from "./pending";
import { goingAsSaid, type Of, recordIn, rememberedIn, type Shape, wanted, withLeft, withStopped } from "./shape";

export const clientForRemoval = ({ client, looks }: HandlerService): HandlerService["client"] =>
  looks?.forRemoval ?? client;

export const flushStated = (inputs: Props): boolean => inputs["flushConfirmed"] === true;

export const whatOf = (kind: Kind, { id, before }: OfOne): string => `${kind} ${String(before["name"])} (${id})`;

/** What hangs on a resource that is replaced, and so is lost or left with it, only a look tells. */
export async function planReplacementAsObserved(of: Asking, planned: PlannedOne, desired: Closed) {
  if (changeOf(planned)?.action !== "replace" || hasErrors(planned.plan.diagnostics)) return planned;
  const seen = await planAsObserved(of, desired, planned.state, "recent");
  return changeOf(seen)?.action === "replace" && !hasErrors(seen.plan.diagnostics) ? seen : planned;
}

const belongsToAnother =
  ({ service, context, before }: OfOne) =>
  (thing: string): boolean =>
    staysWithAnother(service, thing, rememberedIn(before).owner, context.notes, thing) !== undefined;

/** What the program wants now, and what is remembered of what exists. */
export function standingOf<K extends Kind>(shape: Shape<K>, { context, before }: OfOne, inputs: Props) {
  const remembered = rememberedIn(before);
  const record = withStopped(shape, recordIn(shape, before, inputs), context.notes);
  const own: Remembered = record === undefined ? remembered : { ...remembered, record };
  return { remembered, record, own, ...wanted(shape, emptied(shape, remembered, before, inputs)) };
}

export function resourcePlans<K extends Kind>(shape: Shape<K>) {
  const { kind } = shape;

  async function planCreate(
    of: Asking,
    desired: Closed,
    address: Address,
    adopted: string | undefined,
    inputs: Props,
    earlier: Remembered,
  ): Promise<PlannedOne> {
    const wish = adopted === undefined ? desired : closedWith(desired, { imports: [{ to: address, id: adopted }] });
    const look = (how: HowFresh) => planAsObserved(of, wish, stateOf(address, earlier), how);
    const seen = await look("forCreate");
    await assertOwnProject(of);
    // What stands in the way, or is there already, may have been deleted by another process since that look.
    const isDoubtful = adopted === undefined && hasErrors(seen.plan.diagnostics);
    const planned = isDoubtful ? await look("fresh") : seen;
    // What an earlier process made is of the kind of this one.
    const record = earlier.record as Of<K> | undefined;
    const takes = adopted ?? record?.id;
    if (takes === undefined) return planned;
    return planWith(of.service, planned, wish, wishAmong(planned, wish, inputs, record, takes));
  }

  async function planUpdate(of: OfOne, inputs: Props, look: HowFresh): Promise<PlannedOne> {
    const { service, id, before } = of;
    const { desired, address, record, own } = standingOf(shape, of, inputs);
    const seen = await withHosts(of, desired, own, address, inputs, look);
    const shown = findSeen(seen.live, kind, id);
    const isOthers = belongsToAnother(of);
    const kept =
      record === undefined || shown === undefined ? record : (shape.fields?.without(record, shown, isOthers) ?? record);
    const wish = wishAmong(seen, desired, inputs, kept, id);
    const planned = planWith(service, seen, desired, wish);
    throwErrors(planned.plan.diagnostics);
    if (record === undefined || shape.isUnsettled(record)) return planned;
    const asRecorded = await planAsRecorded(of, desired, stateOf(address, own));
    const unseen = unseenFields(shape, changeOf(planned), changeOf(asRecorded), before, inputs);
    if (unseen.length === 0) return planned;
    return {
      ...planAgain(service, planned, leaving(wish, unseen)),
      spares: saysOfUnseen(before["name"] ?? id, unseen),
    };
  }

  async function planRemoval(of: OfOne, record: Of<K> | undefined): Promise<PlannedOne> {
    if (record === undefined) return planPendingDelete(shape, of);
    const { service, signal, id, before } = of;
    const remembered = rememberedIn(before);
    const address = addressOf(kind, before["name"]);
    const isOthers = belongsToAnother(of);
    const look = async (client: HandlerService["client"], how: HowFresh): Promise<PlannedOne> => {
      const live = await lookAtAll(shape, client, record, id, signal);
      const state = stateOf(address, { ...remembered, record }, shape.neighbours?.(record, live, isOthers));
      return planAsObserved(of, nothingDesired, state, how);
    };
    const seen = await look(clientForRemoval(service), "forRemoval");
    // It may have come off its VM since that look, by another process of the program, or because the VM was deleted.
    const isRefused = !flushStated(before) && seen.plan.consents.some(({ kind }) => kind === "flush");
    const comesOff = shape.hangsOn !== undefined && seen.plan.steps.length > 1;
    if (!isRefused && !comesOff) return seen;
    const { client } = service;
    let planned = await look(client, "fresh");
    const from = takenOffFrom(service, id);
    if (from === undefined) return planned;
    const hostShown = (): string | undefined => {
      const shown = findSeen(planned.live, kind, id);
      return shown === undefined ? undefined : shape.hangsOn?.(shown);
    };
    // A list may be behind: it still shows the volume where it was taken off.
    const again = async (isOver: boolean): Promise<true | undefined> => {
      planned = await look(client, "fresh");
      return isOver || hostShown() !== from ? true : undefined;
    };
    if (hostShown() === from)
      await lookWithin({ ports: service, signal }, service.timing.discoveryWindowMs, again, { pauseFirst: true });
    const host = hostShown();
    if (host === from) throw stillShownOn(`${kind} ${id}`, host);
    if (host !== undefined) throw hangsElsewhere(`${kind} ${id}`, host);
    return planned;
  }

  async function withHosts(
    of: OfOne,
    desired: Closed,
    remembered: Remembered,
    address: Address,
    inputs: Props,
    look: HowFresh,
  ): Promise<PlannedOne> {
    const seen = await planAsObserved(of, desired, stateOf(address, remembered), look);
    const shown = findSeen(seen.live, kind, of.id);
    const named = remembered.record === undefined ? [] : idsNamedBy(remembered.record);
    const standing = shown === undefined ? [] : (shape.standsOn?.(shown, inputs) ?? []);
    // What the record names itself is no other's to remember.
    const hosts = standing.filter(({ id }) => id === undefined || !named.includes(id));
    return hosts.length === 0 ? seen : planAsObserved(of, desired, stateOf(address, remembered, hosts), look);
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

  /** What is to go, as it is remembered or else found by its id, with what a delete that was cut off has noted. */
  async function recordGoing(of: OfOne, left?: readonly Disk[]): Promise<Of<K> | undefined> {
    const { context, service, id, before } = of;
    const isOpen = rememberedIn(before).intent !== undefined;
    const known = recordIn(shape, before) ?? (isOpen ? undefined : await recordById(shape, of, id));
    const record = withStopped(shape, known, context.notes);
    if (record === undefined) return undefined;
    const said = goingAsSaid(shape, record, saidOf(service, thingOf(kind, id)));
    return withLeft(shape, shape.going?.(said) ?? said, left);
  }

  return { planCreate, planUpdate, planRemoval, recordGoing };
}

export type ResourcePlans<K extends Kind> = ReturnType<typeof resourcePlans<K>>;
