/** What a program is told of a resource before anything is done: by its difference, and by the preview of its create. */
import type { Kind } from "../core/model/address";
import type { Closed } from "../core/model/desired";
import { type Diagnostic, errorsAmong } from "../core/model/diagnostic";
import { compareScopes } from "../core/model/evidence";
import { identity } from "../core/model/identity";
import type { Loss } from "../core/model/loss";
import { createdBefore, foreignBefore } from "./created-before";
import { difference, isOtherwiseNow, withPlanned } from "./differences";
import { fieldThing } from "./field-of";
import { goesUnasked, mayBeFormerVersion, warningOfReplacement } from "./former";
import { adoptsAnother, adoptsTooMuch, notedOpen, nothingRemembered, refuseLosses, replacesAdopted } from "./guards";
import {
  type Difference,
  type Former,
  type HandlerContext,
  HandlerFailure,
  holdsUnknown,
  type PropertyChange,
  type Props,
  throwErrors,
} from "./handler";
import { noteReplaced, noteSaid } from "./made-here";
import { refuseUnknownIds } from "./named-ids";
import { desiredOf } from "./one-desired";
import {
  type Asking,
  assertPermitted,
  changeOf,
  forgetStopOver,
  type OfOne,
  type PlannedOne,
  planAsObserved,
  planAsRecorded,
  stateOf,
  warningsOf,
} from "./one-run";
import { isClaimedBySome, thingOf } from "./ownership";
import { flushStated, planReplacementAsObserved, type ResourcePlans, standingOf, whatOf } from "./resource-plans";
import { type Of, recordedKey, type Shape, withLeft } from "./shape";
import { adoptedId, isDoneWith } from "./shared-properties";
import { noteStanding } from "./stands-on";
import { inProgramWords } from "./words";

const adopts = (what: string): string =>
  `${what} is taken over: nothing is made. Where another resource of this program goes that named the same one, it stays; aliases: [{ name: "<its former name>" }] keeps it the same resource`;

const refusedLater = ({ message }: HandlerFailure): string => `the update will refuse this one: ${message}`;

/** A volume does not know its attachment: of a VM that none is noted for, the user is told that the word counts there. */
const flushesToTell = ({ context, service }: OfOne, { plan }: PlannedOne): readonly string[] =>
  plan.steps.flatMap(({ action }) => {
    if (action.operation !== "volume.detach" || action.flush !== "ask") return [];
    if (!("id" in action.volume && "id" in action.vm)) return [];
    const { volume, vm } = action;
    return isClaimedBySome(service, fieldThing({ noun: "attachment" }, `${vm.id}/${volume.id}`), context.notes)
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

/** What `adopt` names, where the resource has another id and keeps it. Said before, it stands in the state by now. */
function adoptsInVain(
  what: string,
  { id, before }: OfOne,
  inputs: Props,
  changes: readonly PropertyChange[],
): string[] {
  const adopted = adoptedId(inputs);
  const isKept = !changes.some(({ replaces }) => replaces);
  if (adopted === undefined || adopted === id || holdsUnknown(adopted) || !isKept) return [];
  const another = adoptsAnother(what, adopted);
  if (before["adopt"] !== adopted) throw another;
  return [another.message];
}

export function differenceOf<K extends Kind>(
  shape: Shape<K>,
  { planUpdate, planRemoval, recordGoing }: ResourcePlans<K>,
) {
  const { kind } = shape;

  /** What is replaced loses what its delete takes along, which is less than its own where others have a part in it. */
  async function lossesOf(of: OfOne, change: ReturnType<typeof changeOf>): Promise<readonly Loss[]> {
    const losses = change?.losses ?? [];
    if (change?.action !== "replace" || losses.length === 0) return losses;
    const removal = changeOf(await planRemoval(of, await recordGoing(of)));
    const goes = removal?.action === "delete" ? removal.losses : losses;
    return losses.filter(({ disk, id: lost }) => goes.some((one) => one.disk === disk && one.id === lost));
  }

  /** What stands on it, and what is a field of it, finds out here what becomes of it. */
  function noteNext(
    { service, id }: OfOne,
    record: Of<K>,
    { plan }: PlannedOne,
    desired: Closed,
    inputs: Props,
    isChanged: boolean,
  ): void {
    const is = shape.noticed?.(record, plan.steps, inputs);
    const was = shape.noticed?.(record);
    if (shape.noticed !== undefined) noteStanding(service, identity(kind, id), { isChanged, was, is });
    const [wish] = desired.resources;
    if (wish !== undefined && !holdsUnknown(inputs)) shape.fields?.noteGoing(service, id, wish, record);
  }

  return async (of: OfOne, inputs: Props, stated: readonly PropertyChange[], known: Props): Promise<Difference> => {
    const { context, service, id, before } = of;
    const inputsChanged = stated.filter(({ property }) => property !== "adopt" || !isDoneWith(inputs, id));
    const { desired, address, record, own, remembered } = standingOf(shape, of, known);
    if (record === undefined) throw nothingRemembered(whatOf(kind, of));
    const left = context.notes?.findLeft(id);
    const state = stateOf(address, { ...own, record: withLeft(shape, record, left) });
    const observed = left !== undefined || shape.isUnsettled(record);
    const planned = observed
      ? await planAsObserved(of, desired, state)
      : await planReplacementAsObserved(of, await planAsRecorded(of, desired, state), desired);
    throwErrors(planned.plan.diagnostics);
    if (observed) forgetStopOver(context, planned);
    const change = changeOf(planned);
    // A change that `up` would refuse is refused here, before anything else is changed.
    let asSent = planned;
    if (change?.action === "update" && !observed && !holdsUnknown(inputs)) {
      asSent = await planUpdate(of, inputs, "recent");
      assertPermitted(asSent, flushStated(inputs));
    }
    const changes = withPlanned(shape, change, inputsChanged);
    if (changes.length > 0) await refuseUnknownIds(service, shape.names?.(inputs) ?? []);
    // What an earlier update left to do, such as a command that is owed, is a difference of the record alone.
    if (changes.length === 0 && observed && planned.plan.steps.length > 0)
      changes.push({ property: recordedKey, replaces: false });
    noteSaid(service, thingOf(kind, id), inputs);
    const isReplaced = inputsChanged.some(isOtherwiseNow(before, inputs));
    const losses = lossesToTell(shape, await lossesOf(of, change), isReplaced, inputs);
    noteNext(of, record, planned, desired, inputs, changes.length > 0);
    if (changes.some(({ replaces }) => replaces)) {
      if (inputs["adopt"] === id) throw replacesAdopted(inputs, id);
      noteReplaced(service, { kind, id });
    }
    const unheard = adoptsInVain(whatOf(kind, of), of, inputs, changes);
    if (changes.length === 0 && compareScopes(remembered.scope, { origin: service.client.origin }) !== undefined)
      changes.push({ property: recordedKey, replaces: false });
    return difference(shape, changes, [
      ...losses,
      ...unheard,
      ...flushesToTell(of, asSent),
      ...(asSent.spares === undefined ? [] : [asSent.spares]),
      ...planned.plan.diagnostics.flatMap(({ severity, summary }) =>
        severity === "warning" ? [inProgramWords(summary)] : [],
      ),
    ]);
  };
}

/** What the create would fail with, and what it would warn of. */
export async function previewOf<K extends Kind>(
  shape: Shape<K>,
  { planCreate }: ResourcePlans<K>,
  context: HandlerContext,
  inputs: Props,
  former: Former | undefined,
): Promise<readonly string[]> {
  const service = await context.service();
  const of: Asking = { service, signal: context.signal };
  await refuseUnknownIds(service, shape.names?.(inputs) ?? []);
  if (holdsUnknown(inputs)) return [];
  const { desired, address } = desiredOf(shape.write(inputs));
  const adopted = adoptedId(inputs);
  const isAdopted = adopted !== undefined;
  const earlier = isAdopted ? undefined : await createdBefore(context, service, desired, address, inputs);
  const foreign = earlier === undefined ? foreignBefore(context, service, shape.kind, inputs) : undefined;
  // Only its own create is refused: a preview that failed would keep everything else from being made.
  if (foreign !== undefined) return [refusedLater(foreign)];
  const planned = await planCreate(of, desired, address, adopted, inputs, earlier ?? {});
  const errors = errorsAmong(planned.plan.diagnostics);
  if (earlier?.intent !== undefined && errors.length > 0)
    return [refusedLater(notedOpen(inputs, earlier.intent.sentAt))];
  const inItsWay = await nameInItsWay(shape, context, of, planned, inputs, former);
  if (errors.length > inItsWay.length) throw new HandlerFailure(errors);
  if (isAdopted || earlier?.record !== undefined) refuseLosses(planned, adoptsTooMuch);
  const loss = former === "told" ? undefined : shape.lossOfReplacing?.(inputs);
  const isOwn = former === "there" || (goesUnasked(context, former) && inItsWay.length === 0);
  if (isOwn && loss !== undefined) return [loss, ...warningsOf(planned)];
  return [
    ...(former === undefined || former === "unasked"
      ? inItsWay.map((one) => warningOfReplacement(shape, one, loss))
      : []),
    ...(adopted === undefined ? [] : [adopts(`${shape.kind} ${adopted}`)]),
    ...warningsOf(planned),
  ];
}

/** The name that a former version of the same resource still has, and gives up before this one is made. */
async function nameInItsWay<K extends Kind>(
  shape: Shape<K>,
  context: HandlerContext,
  { service, signal }: Asking,
  { plan, live }: PlannedOne,
  inputs: Props,
  former: Former | undefined,
): Promise<readonly Diagnostic[]> {
  const taken = plan.diagnostics.filter(({ code }) => code === "plan/name-taken");
  if (taken.length === 0 || former !== undefined) return taken;
  const mayHaveFormer = shape.deleteBeforeReplace || context.isInState === true;
  if (!mayHaveFormer || adoptedId(inputs) !== undefined) return [];
  return (await mayBeFormerVersion(service, live, shape.kind, inputs["name"], signal)) ? taken : [];
}
