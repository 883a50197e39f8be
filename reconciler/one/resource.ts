/** The handler of one kind of resource: what a program asks of it, carried out under its claims and notes. */

import type { Kind } from "../core/model/address";
import type { Closed } from "../core/model/desired";
import { type Diagnostic, errorsAmong, hasErrors } from "../core/model/diagnostic";
import { compareScopes } from "../core/model/evidence";
import { identity } from "../core/model/identity";
import { findSeen, sight } from "../core/model/live";
import type { Loss } from "../core/model/loss";
import type { Disk } from "../core/model/recorded";
import { itemAt } from "../core/text/invariant";
import { createdBefore, foreignBefore } from "./created-before";
import { changedInputs, difference, emptying, isOtherwiseNow, withPlanned } from "./differences";
import { holding } from "./exclusion";
import { fieldThing } from "./field-of";
import { mayBeFormerVersion, warningOfReplacement } from "./former";
import {
  adoptsAnother,
  adoptsTooMuch,
  assertSameService,
  keptAlive,
  notedOpen,
  nothingRemembered,
  notProvenGone,
  noWitness,
  refuseLosses,
  replacesAdopted,
  stillPending,
} from "./guards";
import {
  type Difference,
  type Former,
  type Found,
  type Handler,
  type HandlerContext,
  HandlerFailure,
  type HandlerService,
  holdsUnknown,
  isPending,
  type Kept,
  PartialFailure,
  type PropertyChange,
  type Props,
  pendingId,
  throwErrors,
} from "./handler";
import { lookAt, lookAtAll, recordById } from "./looking";
import { noteGone, noteReplaced, noteSaid, noteSuccessor, saidOf } from "./made-here";
import { refuseUnknownIds } from "./named-ids";
import { checkInputs, desiredOf } from "./one-desired";
import {
  assertPermitted,
  carryOut,
  changeOf,
  forgetStopOver,
  type PlannedOne,
  plain,
  planAgain,
  planAsObserved,
  planAsRecorded,
  type RanOne,
  type Remembered,
  stateOf,
  warningsOf,
} from "./one-run";
import {
  claimMade,
  claimSeen,
  claimSettled,
  isClaimedBySome,
  newOwner,
  releaseClaim,
  staysWithAnother,
  takenOver,
  taking,
  thingAt,
  thingOf,
} from "./ownership";
import { lookOnce, maySendAgain, pendingDifference, readPending } from "./pending";
import { NotedMeanwhile } from "./program-notes";
import { readAgain, readByIdAlone } from "./reading";
import { clientForRemoval, planReplacementAsObserved, resourcePlans, standingOf } from "./resource-plans";
import {
  goingAsSaid,
  type Of,
  ownRecordOf,
  recordedKey,
  recordedProperty,
  recordIn,
  rememberedIn,
  type Shape,
  withLeft,
  withStopped,
} from "./shape";
import { adoptedId, adoptsNothing, isDoneWith } from "./shared-properties";
import { noteStanding } from "./stands-on";
import { isVouchedFor, noteRecorded } from "./witnesses";
import { inProgramWords } from "./words";

const adopts = (what: string): string =>
  `${what} is taken over: nothing is made. Where another resource of this program goes that named the same one, it stays; aliases: [{ name: "<its former name>" }] keeps it the same resource`;

const refusedLater = ({ message }: HandlerFailure): string => `the update will refuse this one: ${message}`;

const flushStated = (inputs: Props): boolean => inputs["flushConfirmed"] === true;

/** A volume does not know its attachment: of a VM that none is noted for, the user is told that the word counts there. */
const flushesToTell = ({ notes }: HandlerContext, service: HandlerService, { plan }: PlannedOne): readonly string[] =>
  plan.steps.flatMap(({ action }) => {
    if (action.operation !== "volume.detach" || action.flush !== "ask") return [];
    if (!("id" in action.volume && "id" in action.vm)) return [];
    const { volume, vm } = action;
    return isClaimedBySome(service, fieldThing({ noun: "attachment" }, `${vm.id}/${volume.id}`), notes)
      ? []
      : [`volume ${volume.id} comes off VM ${vm.id}: flushConfirmed says that it is flushed in that VM's guest`];
  });

/** What the user loses: by the plan, or where only the program replaces the resource by its shape. */
function lossesToTell<K extends Kind>(
  shape: Shape<K>,
  losses: readonly Loss[],
  isReplacedByProgram: boolean,
  inputs: Props,
): readonly string[] {
  const told = losses.map(({ detail }) => detail);
  if (told.length > 0 || !isReplacedByProgram) return told;
  const loss = shape.lossOfReplacing?.(inputs) ?? "";
  return loss === "" ? [] : [loss];
}

interface Next {
  readonly planned: PlannedOne;
  readonly desired: Closed;
  readonly inputs: Props;
  readonly isChanged: boolean;
}

export function createHandler<K extends Kind>(shape: Shape<K>): Handler {
  const { kind } = shape;
  const { planCreate, planUpdate, planRemoval } = resourcePlans(shape);
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
      noteStanding(service, identity(shape.kind, id), { isChanged: false, is: shape.noticed(record) });
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

  return {
    type: shape.type,
    description: shape.description,
    inputs: shape.inputs,
    outputs: { ...shape.outputs, [recordedKey]: recordedProperty },
    stables: Object.entries(shape.inputs).flatMap(([name, property]) => (property.replaces === true ? [name] : [])),

    check: (inputs, exists = false) => checkInputs(shape.inputs, inputs, shape.write, exists),

    async diff(context, id, given, inputs): Promise<Difference> {
      const before = ownRecordOf(shape, id, given);
      const service = await context.service();
      const remembered = rememberedIn(before);
      assertSameService(service, remembered, String(inputs["name"]));
      if (!isPending(id)) await claimSeen(service, thing(id), remembered, context.notes);
      await noteInState(context, service, id, remembered);
      const { changes: stated, known } = changedInputs(shape, service.client.can, remembered, before, inputs);
      if (isPending(id)) return pendingDifference(shape, context, id, before, known, stated);
      const inputsChanged = stated.filter(({ property }) => property !== "adopt" || !isDoneWith(inputs, id));
      const { desired, address, record, own } = standingOf(shape, context, before, known);
      if (record === undefined) throw nothingRemembered(whatOf(before, id));
      const left = context.notes?.findLeft(id);
      const state = stateOf(address, { ...own, record: withLeft(shape, record, left) });
      const observed = left !== undefined || shape.isUnsettled(record);
      const planned = observed
        ? await planAsObserved(service, desired, state, address, context.signal)
        : await planReplacementAsObserved(
            context,
            await planAsRecorded(service, desired, state, address, context.signal),
            desired,
          );
      throwErrors(planned.plan.diagnostics);
      if (observed) forgetStopOver(context, planned);
      const change = changeOf(planned);
      // A change that `up` would refuse is refused here, before anything else is changed.
      let asSent = planned;
      if (change?.action === "update" && !observed && !holdsUnknown(inputs)) {
        asSent = await planUpdate(context, service, id, before, inputs, "recent");
        assertPermitted(asSent, flushStated(inputs));
      }
      const changes = withPlanned(shape, change, inputsChanged);
      if (changes.length > 0) await refuseUnknownIds(service, shape.names?.(inputs) ?? []);
      // What an earlier update left to do, such as a command that is owed, is a difference of the record alone.
      if (changes.length === 0 && observed && planned.plan.steps.length > 0)
        changes.push({ property: recordedKey, replaces: false });
      noteSaid(service, thing(id), inputs);
      const isReplaced = inputsChanged.some(isOtherwiseNow(before, inputs));
      const losses = lossesToTell(shape, await lossesOf(context, service, id, before, change), isReplaced, inputs);
      noteNext(service, id, record, { planned, desired, inputs, isChanged: changes.length > 0 });
      if (changes.some(({ replaces }) => replaces)) {
        if (inputs["adopt"] === id) throw replacesAdopted(inputs, id);
        noteReplaced(service, { kind, id });
      }
      const unheard = adoptsInVain(id, before, inputs, changes);
      if (changes.length === 0 && compareScopes(remembered.scope, { origin: service.client.origin }) !== undefined)
        changes.push({ property: recordedKey, replaces: false });
      return difference(shape, changes, [
        ...losses,
        ...unheard,
        ...flushesToTell(context, service, asSent),
        ...(asSent.spares === undefined ? [] : [asSent.spares]),
        ...planned.plan.diagnostics.flatMap(({ severity, summary }) =>
          severity === "warning" ? [inProgramWords(summary)] : [],
        ),
      ]);
    },

    async preview(context, inputs, former) {
      const service = await context.service();
      await refuseUnknownIds(service, shape.names?.(inputs) ?? []);
      if (holdsUnknown(inputs)) return [];
      const { desired, address } = desiredOf(shape.write(inputs));
      const adopted = adoptedId(inputs);
      const isAdopted = adopted !== undefined;
      const earlier = isAdopted ? undefined : await createdBefore(context, service, desired, address, inputs);
      const foreign = earlier === undefined ? foreignBefore(context, service, kind, inputs) : undefined;
      // Only its own create is refused: a preview that failed would keep everything else from being made.
      if (foreign !== undefined) return [refusedLater(foreign)];
      const planned = await planCreate(context, service, desired, address, adopted, inputs, earlier ?? {});
      const errors = errorsAmong(planned.plan.diagnostics);
      if (earlier?.intent !== undefined && errors.length > 0)
        return [refusedLater(notedOpen(inputs, earlier.intent.sentAt))];
      const inItsWay = await nameInItsWay(context, service, planned, inputs, former);
      if (errors.length > inItsWay.length) throw new HandlerFailure(errors);
      if (isAdopted || earlier?.record !== undefined) refuseLosses(planned, adoptsTooMuch);
      const loss = former === "told" ? undefined : shape.lossOfReplacing?.(inputs);
      const isOwn = former === "there" || (former === "unasked" && inItsWay.length === 0);
      if (isOwn && loss !== undefined) return [loss, ...warningsOf(planned)];
      return [
        ...(former === undefined || former === "unasked"
          ? inItsWay.map((one) => warningOfReplacement(shape, one, loss))
          : []),
        ...(adopted === undefined ? [] : [adopts(`${kind} ${adopted}`)]),
        ...warningsOf(planned),
      ];
    },

    async create(context, inputs) {
      for (;;)
        try {
          return await create(context, inputs);
        } catch (error) {
          if (!(error instanceof NotedMeanwhile)) throw error;
        }
    },

    async read(context, id, given): Promise<Found | undefined> {
      const before = given && ownRecordOf(shape, id, given);
      const service = await context.service();
      if (before !== undefined) await noteInState(context, service, id, rememberedIn(before));
      if (isPending(id)) return before === undefined ? undefined : readPending(shape, context, service, id, before);
      const record = before === undefined ? undefined : recordIn(shape, before);
      return record === undefined || before === undefined
        ? readByIdAlone(shape, service.client, id, context.signal)
        : readAgain(shape, context, service, id, before, record);
    },

    async update(context, id, given, inputs) {
      const before = ownRecordOf(shape, id, given);
      const service = await context.service();
      assertSameService(service, rememberedIn(before), String(inputs["name"]));
      await noteInState(context, service, id, rememberedIn(before));
      context.notes?.forgetLeaving();
      return exclusively(service, service.client, id, before, context.signal, () =>
        update(context, service, id, before, inputs),
      );
    },

    async delete(context, id, given) {
      const before = ownRecordOf(shape, id, given);
      const service = await context.service();
      const remembered = rememberedIn(before);
      assertSameService(service, remembered, String(before["name"]));
      await noteInState(context, service, id, remembered);
      await context.notes?.formerGoes();
      if (context.notes?.staysAlive() === true) return context.log("warning", keptAlive(whatOf(before, id)));
      const isOthers = (): string | undefined =>
        isPending(id)
          ? undefined
          : staysWithAnother(service, thing(id), remembered.owner, context.notes, whatOf(before, id));
      await exclusively(service, clientForRemoval(service), id, before, context.signal, async () => {
        const stays = isOthers();
        if (stays !== undefined) return context.log("warning", stays);
        const isFlushed = flushStated(before) || flushStated(saidOf(service, thing(id)) ?? {});
        await remove(context, service, id, { ...before, flushConfirmed: isFlushed });
      });
    },
  };

  /** What `adopt` names, where the resource has another id and keeps it. Said before, it stands in the state by now. */
  function adoptsInVain(id: string, before: Props, inputs: Props, changes: readonly PropertyChange[]): string[] {
    const adopted = adoptedId(inputs);
    const isKept = !changes.some(({ replaces }) => replaces);
    if (adopted === undefined || adopted === id || holdsUnknown(adopted) || !isKept) return [];
    const another = adoptsAnother(whatOf(before, id), adopted);
    if (before["adopt"] !== adopted) throw another;
    return [another.message];
  }

  /** The name that a former version of the same resource still has, and gives up before this one is made. */
  async function nameInItsWay(
    context: HandlerContext,
    service: HandlerService,
    { plan, live }: PlannedOne,
    inputs: Props,
    former: Former | undefined,
  ): Promise<readonly Diagnostic[]> {
    const taken = plan.diagnostics.filter(({ code }) => code === "plan/name-taken");
    if (taken.length === 0 || former !== undefined) return taken;
    const mayHaveFormer = shape.deleteBeforeReplace || context.isInState === true;
    if (!mayHaveFormer || adoptedId(inputs) !== undefined) return [];
    return (await mayBeFormerVersion(service, live, kind, inputs["name"], context.signal)) ? taken : [];
  }

  /** What is replaced loses what its delete takes along, which is less than its own where others have a part in it. */
  async function lossesOf(
    context: HandlerContext,
    service: HandlerService,
    id: string,
    before: Props,
    change: ReturnType<typeof changeOf>,
  ): Promise<readonly Loss[]> {
    const losses = change?.losses ?? [];
    if (change?.action !== "replace" || losses.length === 0) return losses;
    const going = await recordGoing(context, service, id, before, undefined);
    const removal = changeOf(await planRemoval(context, service, id, before, going));
    const goes = removal?.action === "delete" ? removal.losses : losses;
    return losses.filter(({ disk, id: lost }) => goes.some((one) => one.disk === disk && one.id === lost));
  }

  /** What stands on it, and what is a field of it, finds out here what becomes of it. */
  function noteNext(
    service: HandlerService,
    id: string,
    record: Of<K>,
    { planned, desired, inputs, isChanged }: Next,
  ): void {
    const is = shape.noticed?.(record, planned.plan.steps, inputs);
    const was = shape.noticed?.(record);
    if (shape.noticed !== undefined) noteStanding(service, identity(kind, id), { isChanged, was, is });
    const [wish] = desired.resources;
    if (wish !== undefined && !holdsUnknown(inputs)) shape.fields?.noteGoing(service, id, wish, record);
  }

  async function create(context: HandlerContext, inputs: Props): Promise<Kept> {
    const service = await context.service();
    const { desired, address } = desiredOf(shape.write(inputs));
    const { notes } = context;
    const adopted = adoptedId(inputs);
    const earlier = adopted === undefined ? await createdBefore(context, service, desired, address, inputs) : undefined;
    const foreign = earlier === undefined ? foreignBefore(context, service, kind, inputs) : undefined;
    if (foreign !== undefined) throw foreign;
    const planned = await planCreate(context, service, desired, address, adopted, inputs, earlier ?? {});
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

  function whatOf(before: Props, id: string): string {
    return `${kind} ${String(before["name"])} (${id})`;
  }

  /** Pulumi's state has the outcome of the create, so that the note about it is no longer needed. */
  async function noteInState(
    { notes }: HandlerContext,
    service: HandlerService,
    id: string,
    remembered: Remembered,
  ): Promise<void> {
    await notes?.isInState(thingAt(service, thing(id)), remembered.intent?.sentAt);
    const { record } = remembered;
    if (record === undefined) return;
    const isGoing = notes?.findLeft(id) !== undefined;
    const known = isGoing ? { ...remembered, record: { ...record, deleting: true as const } } : remembered;
    noteRecorded(service, stateOf(record.address, known));
  }

  /** The user has said what became of the create that was cut off. */
  async function settleNote({ notes, signal, log }: HandlerContext, adopted: string): Promise<void> {
    const open = await notes?.find(signal);
    if (open === undefined) return;
    if (open.id !== undefined && open.id !== adopted)
      log("warning", `a run that was cut off made ${kind} ${open.id} for this resource as well, which nothing manages`);
    notes?.settled();
  }

  async function exclusively<T>(
    service: HandlerService,
    client: HandlerService["client"],
    id: string,
    before: Props,
    signal: AbortSignal,
    call: () => Promise<T>,
  ): Promise<T> {
    if (isPending(id)) return call();
    return holding(service, `${kind}:${id}`, async () => {
      const record = recordIn(shape, before);
      if (shape.hangsOn === undefined || record === undefined) return call();
      const live = await lookAtAll(shape, client, record, id, signal);
      const host = live === undefined ? undefined : shape.hangsOn(live);
      return host === undefined ? call() : holding(service, `vm:${host}`, call);
    });
  }

  async function update(
    context: HandlerContext,
    service: HandlerService,
    id: string,
    before: Props,
    inputs: Props,
  ): Promise<Kept> {
    if (isPending(id)) throw stillPending(inputs, rememberedIn(before));
    const { remembered, desired, address, record, own } = standingOf(shape, context, before, inputs);
    if (record === undefined) throw nothingRemembered(whatOf(before, id));
    const { owner = newOwner() } = remembered;
    const state = stateOf(address, own);
    let planned = await planUpdate(context, service, id, before, inputs, "fresh");
    if (planned.spares !== undefined) context.log("warning", planned.spares);
    const shown = await planAsRecorded(service, desired, state, address, context.signal);
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
  async function remove(context: HandlerContext, service: HandlerService, id: string, before: Props): Promise<void> {
    const { intent } = rememberedIn(before);
    if (isPending(id) && intent === undefined) return;
    const left = context.notes?.findLeft(id);
    const record = await recordGoing(context, service, id, before, left);
    if (record === undefined && intent === undefined) {
      if (!isVouchedFor(service)) throw notProvenGone(whatOf(before, id), noWitness);
      return;
    }
    const planned = await planRemoval(context, service, id, before, record);
    const sighting = record === undefined ? undefined : sight(planned.live, kind, id);
    if (sighting?.seen === "unobserved" && (planned.live.doubt !== undefined || sighting.vanished !== undefined))
      throw notProvenGone(whatOf(before, id), sighting.reason);
    const ran = await carryOut(context, service, planned, flushStated(before), context.notes);
    if (ran.problems.length > 0) throw new HandlerFailure(ran.problems);
    if (ran.missing.length > 0 && sighting?.seen !== "gone" && !isVouchedFor(service)) {
      if (left === undefined) context.notes?.forgetLeaving();
      throw notProvenGone(whatOf(before, id), noWitness);
    }
    for (const one of ran.missing) context.log("warning", `${one} was gone already`);
    releaseClaim(service, thing(id), context.notes);
    context.notes?.isGone(thingAt(service, thing(id)));
    noteGone(service, { kind, id }, before["name"]);
  }

  /** What is to go, as it is remembered or else found by its id, with what a delete that was cut off has noted. */
  async function recordGoing(
    { signal, notes }: HandlerContext,
    service: HandlerService,
    id: string,
    before: Props,
    left: readonly Disk[] | undefined,
  ): Promise<Of<K> | undefined> {
    const isOpen = rememberedIn(before).intent !== undefined;
    const known = recordIn(shape, before) ?? (isOpen ? undefined : await recordById(shape, service.client, id, signal));
    const record = withStopped(shape, known, notes);
    if (record === undefined) return undefined;
    const said = goingAsSaid(shape, record, saidOf(service, thing(id)));
    return withLeft(shape, shape.going?.(said) ?? said, left);
  }
}
