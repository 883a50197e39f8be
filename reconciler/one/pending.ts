/**
 * A create whose outcome could not be found out is kept under an id of its own until something shows what the create
 * made.
 */
import type { Kind } from "../core/model/address";
import { type Closed, nothingDesired } from "../core/model/desired";
import { hasErrors } from "../core/model/diagnostic";
import type { RecordedResource } from "../core/model/recorded";
import { difference } from "./differences";
import {
  adoptsTooMuch,
  nothingPlanned,
  notProvenGone,
  refuseLosses,
  saidBefore,
  stillPending,
  whatMayBeLeft,
} from "./guards";
import type { Difference, Found, HandlerContext, HandlerService, PropertyChange, Props } from "./handler";
import { lookAt } from "./looking";
import { addressOf } from "./one-desired";
import {
  type Asking,
  changeOf,
  type OfOne,
  type OneState,
  type PlannedOne,
  plain,
  planAsObserved,
  type RanOne,
  stateOf,
} from "./one-run";
import { isAwaited, isClaimed, isClaimedBySome, noteSettling, staysWithAnother, takenOver, thingOf } from "./ownership";
import { type Of, recordedKey, rememberedIn, type Shape, wanted, withoutOutputs } from "./shape";
import { adoptedId, adoptsNothing } from "./shared-properties";
import { isVouchedFor } from "./witnesses";

const lastLookMs = 5000;

/** The service refuses a second one of the name, and nothing but that refusal shows whether the first was made. */
export const maySendAgain = ({ can, unique }: HandlerService["client"], kind: Kind): boolean =>
  !can.canFindCreated(kind) && unique?.includes(kind) === true;

const foundOpen = (inputs: Props, kind: Kind, id: string): string =>
  `${kind} ${String(inputs["name"])} (${id}) was made by a create whose outcome was not known: it is taken over, and nothing is deleted for that`;

export const sentAgain = (name: string, sentAt = "an unknown time"): string =>
  `the create of ${name} that a run sent at ${sentAt} is sent again: nothing else can have its name`;

/** What an open create made, if the service shows it by now. */
async function findPending(
  of: Asking,
  desired: Closed,
  state: OneState,
): Promise<{ readonly planned: PlannedOne; readonly record?: RecordedResource }> {
  const planned = await planAsObserved(of, desired, state);
  for (const { action } of changeOf(planned)?.id === undefined ? [] : planned.plan.steps) {
    if (action.operation !== "record") continue;
    for (const one of action.changes)
      if (one.type === "resource" && one.record !== null) return { planned, record: one.record };
  }
  return { planned };
}

/** The same for what the program's state keeps of it. */
function findKept<K extends Kind>(shape: Shape<K>, of: OfOne) {
  const { desired } = wanted(shape, withoutOutputs(shape, of.before));
  const address = addressOf(shape.kind, of.before["name"]);
  return findPending(of, desired, stateOf(address, rememberedIn(of.before)));
}

/**
 * Reads what an open create made, which has its real id from then on; a create whose result the service does not show
 * stays open.
 */
export async function readPending<K extends Kind>(shape: Shape<K>, of: OfOne): Promise<Found> {
  const { context, service, id, before } = of;
  const inputs = withoutOutputs(shape, before);
  const remembered = rememberedIn(before);
  // Another resource has settled it.
  if (isClaimedBySome(service, thingOf(shape.kind, id), context.notes)) return { id, inputs, outputs: before };
  const { record } = await findKept(shape, of);
  if (record?.id === undefined || !isOfKind(shape, record)) {
    context.log("warning", stillPending(before, remembered, id).message);
    return { id, inputs, outputs: before };
  }
  const outputs = shape.outputsOf(record, await lookAt(shape, context, record, record.id));
  const { intent: _intent, ...kept } = remembered;
  return { id: record.id, inputs, outputs: plain({ ...inputs, ...outputs, [recordedKey]: { ...kept, record } }) };
}

export async function pendingDifference<K extends Kind>(
  shape: Shape<K>,
  of: OfOne,
  inputs: Props,
  changes: readonly PropertyChange[],
): Promise<Difference> {
  const { service, id, before } = of;
  const { client } = service;
  const remembered = rememberedIn(before);
  const isAdopted = adoptedId(inputs) !== undefined;
  if (isAdopted || maySendAgain(client, shape.kind)) {
    noteSettling(service, shape.kind, inputs["name"], { pending: id });
    return {
      ...difference(
        shape,
        [...changes.filter(({ property }) => property !== recordedKey), { property: recordedKey, replaces: true }],
        isAdopted ? [] : [sentAgain(String(inputs["name"]), remembered.intent?.sentAt)],
      ),
      // It is given up once it is known to be made: a service that has it already refuses another one.
      deleteBeforeReplace: false,
    };
  }
  const isSaidAgain = adoptsNothing(before) && adoptsNothing(inputs);
  const isSaid = adoptsNothing(inputs) && !isSaidAgain;
  const settles = isSaid || client.can.canFindCreated(shape.kind);
  const { record: made } = settles && !isSaid ? await findKept(shape, of) : {};
  if (made?.id !== undefined) {
    const { desired, address } = wanted(shape, inputs);
    const state = stateOf(address, { record: made });
    refuseLosses(await planAsObserved(of, desired, state), adoptsTooMuch);
    noteSettling(service, shape.kind, inputs["name"], { pending: id, made });
  }
  return difference(
    shape,
    settles
      ? [...changes.filter(({ property }) => property !== recordedKey), { property: recordedKey, replaces: true }]
      : // No call can find the outcome out here; the update tells the user what to find out.
        [...changes, { property: recordedKey, replaces: false }],
    made?.id !== undefined
      ? [foundOpen(inputs, shape.kind, made.id)]
      : [stillPending(inputs, remembered, id).message, ...(isSaidAgain ? [saidBefore] : [])],
  );
}

/** Deletes only what this open create made; its intent tells that from what existed before. */
export async function planPendingDelete<K extends Kind>(shape: Shape<K>, of: OfOne): Promise<PlannedOne> {
  const { service, id, before } = of;
  const { log, notes } = of.context;
  const { planned, record } = await findKept(shape, of);
  // What takes its place in the program takes over what it made.
  if (isAwaited(service, id)) return nothingPlanned(planned);
  const { kind } = shape;
  const name = String(before["name"]);
  const remembered = rememberedIn(before);
  const isTakenOver = isClaimed(service, takenOver(kind, name)) || isClaimedBySome(service, thingOf(kind, id), notes);
  const { doubt } = planned.live;
  if (record === undefined && doubt !== undefined && !isTakenOver)
    throw notProvenGone(`the open create of ${kind} ${name}`, doubt.reason);
  // Where nothing of the program vouches for the credential, a list that lacks it proves nothing.
  const isOpen = hasErrors(planned.plan.diagnostics) || !isVouchedFor(service);
  if (record === undefined && isOpen && !isTakenOver) log("warning", whatMayBeLeft(before, kind, remembered));
  // What another resource has taken over by its id meanwhile belongs to that resource.
  const isOwn =
    record?.id !== undefined &&
    staysWithAnother(service, thingOf(kind, record.id), remembered.owner, notes, name) === undefined;
  return isOwn
    ? planAsObserved(of, nothingDesired, stateOf(planned.state.address, { record }))
    : nothingPlanned(planned);
}

/**
 * A run that was stopped while it looked for what it had made looks once more, so that the result is kept by its id.
 */
export async function lookOnce<K extends Kind>(
  shape: Shape<K>,
  context: HandlerContext,
  inputs: Props,
  ran: RanOne,
  declared: Closed,
): Promise<RanOne> {
  if (ran.intent === undefined || ran.record !== undefined || !context.signal.aborted) return ran;
  const service = await context.service();
  const address = addressOf(shape.kind, inputs["name"]);
  const soon = AbortSignal.timeout(lastLookMs);
  const { record } = await findPending({ service, signal: soon }, declared, stateOf(address, ran));
  return record === undefined ? ran : { ...ran, record, intent: undefined };
}

const isOfKind = <K extends Kind>({ kind }: Shape<K>, record: RecordedResource): record is Of<K> =>
  record.kind === kind;
