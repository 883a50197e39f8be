/** What a program has done to one resource: its create, its update and its delete, under its claims and notes. */
import type { Kind } from "../core/model/address";
import type { Closed } from "../core/model/desired";
import { hasErrors } from "../core/model/diagnostic";
import { identity } from "../core/model/identity";
import { findSeen, sight } from "../core/model/live";
import { itemAt } from "../core/text/invariant";
import { createdBefore, foreignBefore } from "./created-before";
import { emptying } from "./differences";
import {
  adoptsTooMuch,
  notedOpen,
  nothingRemembered,
  notProvenGone,
  noWitness,
  refuseLosses,
  stillPending,
} from "./guards";
import {
  type HandlerContext,
  HandlerFailure,
  isPending,
  type Kept,
  PartialFailure,
  type Props,
  pendingId,
  throwErrors,
} from "./handler";
import { lookAt } from "./looking";
import { noteGone, noteSuccessor } from "./made-here";
import { desiredOf } from "./one-desired";
import {
  carryOut,
  changeOf,
  type OfOne,
  type PlannedOne,
  plain,
  planAgain,
  planAsRecorded,
  type RanOne,
  type Remembered,
  stateOf,
} from "./one-run";
import { claimMade, claimSettled, newOwner, releaseClaim, takenOver, taking, thingAt, thingOf } from "./ownership";
import { lookOnce, maySendAgain } from "./pending";
import { flushStated, type ResourcePlans, standingOf, whatOf } from "./resource-plans";
import { type Of, recordedKey, rememberedIn, type Shape } from "./shape";
import { adoptedId, adoptsNothing } from "./shared-properties";
import { noteStanding } from "./stands-on";
import { isVouchedFor } from "./witnesses";

export function writesOf<K extends Kind>(
  shape: Shape<K>,
  { planCreate, planUpdate, planRemoval, recordGoing }: ResourcePlans<K>,
) {
  const { kind } = shape;
  const thing = (id: string): string => thingOf(kind, id);

  async function keep(
    context: HandlerContext,
    inputs: Props,
    ended: RanOne,
    declared: Closed,
    former: Remembered,
  ): Promise<Kept> {
    const ran = await lookOnce(shape, context, inputs, ended, declared);
    // `lookOnce` gives the record of the one declared resource, which is of this kind.
    const record = ran.record as Of<K> | undefined;
    const id = record?.id;
    const remembered: Remembered =
      record === undefined
        ? ran
        : { record: shape.keep?.(record, itemAt(declared.resources, 0), ran.beside) ?? record };
    let outputs: Props = {};
    if (record !== undefined && id !== undefined)
      outputs = shape.outputsOf(record, await lookAt(shape, context, record, id));
    const service = await context.service();
    const { owner = newOwner(), scope } = former;
    const { origin } = service.client;
    if (id !== undefined) claimMade(service, thing(id), owner);
    if (record !== undefined && id !== undefined && shape.noticed !== undefined)
      noteStanding(service, identity(kind, id), { isChanged: false, is: shape.noticed(record) });
    const kept = {
      id: id ?? pendingId(owner),
      outputs: plain({
        ...inputs,
        ...outputs,
        [recordedKey]: {
          owner,
          scope: scope?.origin === origin ? scope : { origin },
          record: remembered.record,
          emptying: ran.problems.length > 0 ? emptying(shape, declared, inputs) : undefined,
          intent: id !== undefined || ran.intent === undefined ? undefined : ran.intent,
        },
      }),
    };
    if (ran.problems.length === 0 && id !== undefined) return kept;
    if (record === undefined && ran.intent === undefined) throw new HandlerFailure(ran.problems);
    throw new PartialFailure(kept, ran.problems);
  }

  async function create(context: HandlerContext, inputs: Props): Promise<Kept> {
    const service = await context.service();
    const { desired, address } = desiredOf(shape.write(inputs));
    const { notes, signal } = context;
    const adopted = adoptedId(inputs);
    const earlier = adopted === undefined ? await createdBefore(context, service, desired, address, inputs) : undefined;
    const foreign = earlier === undefined ? foreignBefore(context, service, kind, inputs) : undefined;
    if (foreign !== undefined) throw foreign;
    const planned = await planCreate({ service, signal }, desired, address, adopted, inputs, earlier ?? {});
    const { intent } = earlier ?? {};
    if (intent === undefined) throwErrors(planned.plan.diagnostics);
    else if (hasErrors(planned.plan.diagnostics)) throw notedOpen(inputs, intent.sentAt);
    const takes = adopted ?? earlier?.record?.id;
    if (takes !== undefined) refuseLosses(planned, adoptsTooMuch);
    const owner = newOwner();
    const said = {
      saidNone: adoptsNothing(inputs) ? true : undefined,
      hasFormer: context.isInState === true ? true : undefined,
    } as const;
    const doIt = () => carryOut(context, service, planned, flushStated(inputs), notes, said);
    const ran = await (takes === undefined
      ? doIt()
      : taking(service, [thing(takes), ...fieldsTaken(planned, desired, undefined, takes)], owner, notes, doIt));
    if (adopted !== undefined) await settleNote(context, adopted);
    if (inputs["adopt"] !== undefined) notes?.settleForeign(String(inputs["name"]));
    if (inputs["adopt"] !== undefined || maySendAgain(service.client, kind))
      claimMade(service, takenOver(kind, inputs["name"]), undefined);
    const kept = await keep(context, inputs, ran, desired, { owner });
    await claimSettled(service, kind, inputs["name"], owner, notes);
    if (!isPending(kept.id)) noteSuccessor(service, { kind, id: kept.id }, inputs["name"]);
    return kept;
  }

  /** The user has said what became of the create that was cut off. */
  async function settleNote({ notes, signal, log }: HandlerContext, adopted: string): Promise<void> {
    const open = await notes?.find(signal);
    if (open === undefined) return;
    if (open.id !== undefined && open.id !== adopted)
      log("warning", `a run that was cut off made ${kind} ${open.id} for this resource as well, which nothing manages`);
    notes?.settled();
  }

  async function update(of: OfOne, inputs: Props): Promise<Kept> {
    const { context, service, id, before } = of;
    if (isPending(id)) throw stillPending(inputs, rememberedIn(before));
    const { remembered, desired, address, record, own } = standingOf(shape, of, inputs);
    if (record === undefined) throw nothingRemembered(whatOf(kind, of));
    const { owner = newOwner() } = remembered;
    let planned = await planUpdate(of, inputs, "fresh");
    if (planned.spares !== undefined) context.log("warning", planned.spares);
    const shown = await planAsRecorded(of, desired, stateOf(address, own));
    const sparing = changeOf(planned)?.action === "replace" ? shape.sparing?.(desired, inputs) : undefined;
    if (sparing !== undefined) {
      context.log("warning", sparing.says);
      planned = planAgain(service, planned, sparing.wish);
    }
    if ((changeOf(shown)?.losses.length ?? 0) === 0)
      refuseLosses(planned, "it was changed behind this program's back: run a refresh, and look at the preview");
    const ran = await taking(service, fieldsTaken(planned, desired, record, id), owner, context.notes, () =>
      carryOut(context, service, planned, flushStated(inputs)),
    );
    return keep(context, inputs, ran, desired, { ...remembered, owner });
  }

  /** What is wished and there already may be another resource's, which goes. */
  function fieldsTaken(planned: PlannedOne, desired: Closed, record: Of<K> | undefined, id: string): readonly string[] {
    const shown = findSeen(planned.live, kind, id);
    const [resource] = desired.resources;
    return shown === undefined || resource === undefined ? [] : (shape.fields?.taken(shown, resource, record) ?? []);
  }

  // A delete of a known record, of one that is looked up by its id, or of an open create: what is absent is skipped.
  async function remove(of: OfOne): Promise<void> {
    const { context, service, id, before } = of;
    const { intent } = rememberedIn(before);
    if (isPending(id) && intent === undefined) return;
    const left = context.notes?.findLeft(id);
    const record = await recordGoing(of, left);
    if (record === undefined && intent === undefined) {
      if (!isVouchedFor(service)) throw notProvenGone(whatOf(kind, of), noWitness);
      return;
    }
    const planned = await planRemoval(of, record);
    const sighting = record === undefined ? undefined : sight(planned.live, kind, id);
    if (sighting?.seen === "unobserved" && (planned.live.doubt !== undefined || sighting.vanished !== undefined))
      throw notProvenGone(whatOf(kind, of), sighting.reason);
    const ran = await carryOut(context, service, planned, flushStated(before), context.notes);
    if (ran.problems.length > 0) throw new HandlerFailure(ran.problems);
    if (ran.missing.length > 0 && sighting?.seen !== "gone" && !isVouchedFor(service)) {
      if (left === undefined) context.notes?.forgetLeaving();
      throw notProvenGone(whatOf(kind, of), noWitness);
    }
    for (const one of ran.missing) context.log("warning", `${one} was gone already`);
    releaseClaim(service, thing(id), context.notes);
    context.notes?.isGone(thingAt(service, thing(id)));
    noteGone(service, { kind, id }, before["name"]);
  }

  return { create, update, remove };
}
