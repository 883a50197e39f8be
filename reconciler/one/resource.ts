import type { Address, Kind } from "../core/model/address";
import { type Desired, nothingDesired } from "../core/model/desired";
import { compareScopes } from "../core/model/evidence";
import type { RecordedResource } from "../core/model/recorded";
import { desiredAsRecorded } from "../core/plan/as-recorded";
import { itemAt } from "../core/text/invariant";
import { refresh } from "../engine/refresh";
import { createdBefore } from "./created-before";
import { holding } from "./exclusion";
import { mayBeItself, orElseRefused } from "./former";
import {
  assertSameService,
  keepingRules,
  nothingPlanned,
  refuseLosses,
  replacesAdopted,
  sameBehaviour,
  stillPending,
  whatMayBeLeft,
} from "./guards";
import {
  type Difference,
  type Found,
  type Handler,
  type HandlerContext,
  HandlerFailure,
  type HandlerService,
  holdsUnknown,
  type Kept,
  PartialFailure,
  type PropertyChange,
  type Props,
} from "./handler";
import { addressOf, asProperty, checkInputs, desiredOf, writtenOfExisting } from "./one-desired";
import {
  assertPermitted,
  carryOut,
  changeOf,
  type HowFresh,
  type PlannedOne,
  plain,
  planAgain,
  planAsObserved,
  planAsRecorded,
  type RanOne,
  type Remembered,
  stateOf,
  throwErrors,
  warningsOf,
} from "./one-run";
import { belongsToAnother, claimMade, claimSeen, newOwner, releaseClaim, staysWithAnother } from "./ownership";
import {
  isPending,
  type LiveOf,
  type Of,
  pendingId,
  recordedKey,
  recordedProperty,
  rememberedIn,
  type Shape,
} from "./shape";

const lastLookMs = 5000;

const adoptsTooMuch = "taking it over would go further than a preview can show";

const flushStated = (inputs: Props): boolean => inputs["flushConfirmed"] === true;

/** The program gave another value before, and both are known. */
const isOtherwise = (before: unknown, now: unknown): boolean =>
  before !== undefined && now !== undefined && !holdsUnknown(now) && String(before) !== String(now);

const isOtherwiseNow =
  (before: Props, inputs: Props) =>
  ({ property, replaces }: PropertyChange): boolean =>
    replaces && isOtherwise(before[property], inputs[property]);

export function createHandler<K extends Kind>(shape: Shape<K>): Handler {
  const { kind } = shape;
  /** What was read by its id may be more than the program manages; `inputs` and `before` say how much that is. */
  function recordIn(before: Props, inputs: Props = before): Of<K> | undefined {
    const { record, imported } = rememberedIn(before) as Remembered & { readonly record?: Of<K> };
    return record === undefined || imported !== true ? record : (shape.managed?.(record, before, inputs) ?? record);
  }
  const idOf = (record: RecordedResource | undefined): string | undefined => record?.id;
  const thing = (id: string): string => `${kind}:${id}`;

  async function keep(
    context: HandlerContext,
    inputs: Props,
    ended: RanOne,
    declared: Desired,
    former: Remembered,
  ): Promise<Kept> {
    const ran = await lookOnce(context, inputs, ended, declared);
    const record = ran.record as Of<K> | undefined;
    const id = idOf(record);
    const remembered: Remembered =
      record === undefined ? ran : { record: shape.keep?.(record, itemAt(declared.resources, 0)) ?? record };
    let outputs: Props = {};
    if (record !== undefined && id !== undefined) outputs = shape.outputsOf(record, await lookAt(context, record, id));
    const service = await context.service();
    const { owner = newOwner(), scope } = former;
    const { origin } = service.client;
    if (id !== undefined) claimMade(service, thing(id), owner);
    const kept = {
      id: id ?? pendingId(owner),
      outputs: plain({
        ...inputs,
        ...outputs,
        [recordedKey]: {
          owner,
          scope: scope?.origin === origin ? scope : { origin },
          ...(remembered.record === undefined ? {} : { record: remembered.record }),
          ...(id !== undefined || ran.intent === undefined ? {} : { intent: ran.intent }),
        },
      }),
    };
    if (ran.problems.length === 0 && id !== undefined) return kept;
    if (record === undefined && ran.intent === undefined) throw new HandlerFailure(ran.problems);
    throw new PartialFailure(kept, ran.problems);
  }

  /** A run that was stopped while it looked for what it made: one more look, so that it is kept by its id. */
  async function lookOnce(context: HandlerContext, inputs: Props, ran: RanOne, declared: Desired): Promise<RanOne> {
    if (ran.intent === undefined || ran.record !== undefined || !context.signal.aborted) return ran;
    const service = await context.service();
    const address = addressOf(kind, inputs["name"]);
    const soon = AbortSignal.timeout(lastLookMs);
    const { record } = await findPending(service, declared, stateOf(address, ran), address, soon);
    return record === undefined ? ran : { record, problems: ran.problems };
  }

  /** What only the service knows (addresses). Not worth failing for. */
  async function lookAt(context: HandlerContext, record: Of<K>, id: string): Promise<LiveOf<K> | undefined> {
    if (Object.keys(shape.outputs).length === 0) return undefined;
    const service = await context.service();
    const look = async (client: HandlerClient): Promise<LiveOf<K> | undefined> => {
      const seen = await refresh(client, nothingDesired, stateOf(record.address, { record }));
      const sighting = shape.sight(seen.live, id);
      return sighting.seen === "yes" ? sighting.value : undefined;
    };
    // The look that has shown the end of the run shows this as well.
    const known = service.looks === undefined ? undefined : await look(service.looks.forCreate);
    return known !== undefined && shape.isSettled?.(known) === true ? known : look(service.client);
  }

  function wanted(inputs: Props): { readonly desired: Desired; readonly address: Address } {
    return desiredOf(writtenOfExisting(shape.inputs, inputs, shape.write));
  }

  return {
    type: shape.type,
    description: shape.description,
    inputs: shape.inputs,
    outputs: { ...shape.outputs, [recordedKey]: recordedProperty },
    stables: Object.entries(shape.inputs).flatMap(([name, property]) => (property.replaces === true ? [name] : [])),

    check: (inputs, exists = false) => checkInputs(shape.inputs, inputs, shape.write, exists),

    async diff(context, id, before, inputs): Promise<Difference> {
      const service = await context.service();
      const remembered = rememberedIn(before);
      assertSameService(service, remembered, String(inputs["name"]));
      if (!isPending(id)) {
        claimSeen(service, thing(id), remembered.owner);
        context.notes?.forget();
      }
      const { changes, known } = changedInputs(remembered, before, inputs);
      const { desired, address } = wanted(emptied(remembered, before, known));
      if (isPending(id)) return pendingDifference(context, id, remembered, known, changes);
      const record = recordIn(before, known);
      const state = stateOf(address, record === undefined ? remembered : { ...remembered, record });
      const observed = record !== undefined && shape.isUnsettled(record);
      const planned = observed
        ? await planAsObserved(service, desired, state, address, context.signal)
        : await planAsRecorded(service, desired, state, address, context.signal);
      throwErrors(planned);
      const change = changeOf(planned);
      // What up would refuse is refused here, before anything else is changed.
      if (change?.action === "update" && !observed && !holdsUnknown(inputs))
        assertPermitted(await planUpdate(context, service, id, before, inputs, "recent"), flushStated(inputs));
      const untold = (change?.losses ?? []).length === 0 && changes.some(isOtherwiseNow(before, inputs));
      changes.push(...plannedChanges(change, changes));
      if (changes.some(({ replaces }) => replaces) && inputs["adopt"] === id) throw replacesAdopted(inputs, id);
      if (changes.length === 0 && compareScopes(remembered.scope, service.client) !== undefined)
        changes.push({ property: recordedKey, replaces: false });
      return difference(changes, [
        ...(change?.losses ?? []).map(({ detail }) => detail),
        ...(untold ? [shape.lossOfReplacing?.(inputs) ?? ""] : []).filter((text) => text !== ""),
        ...planned.plan.diagnostics.filter(({ severity }) => severity === "warning").map(({ summary }) => summary),
      ]);
    },

    async preview(context, inputs, former) {
      const service = await context.service();
      if (holdsUnknown(inputs)) return [];
      const { desired, address } = desiredOf(shape.write(inputs));
      const isAdopted = typeof inputs["adopt"] === "string";
      const earlier = isAdopted ? undefined : await createdBefore(context, service, desired, address);
      const planned = await planCreate(context, service, desired, address, inputs, earlier ?? {});
      const errors = planned.plan.diagnostics.filter(({ severity }) => severity === "error");
      const mayMakeWay =
        former !== undefined ||
        (shape.deleteBeforeReplace && !isAdopted && mayBeItself(service, planned.live, kind, inputs["name"]));
      const inItsWay = errors.filter(({ code }) => code === "plan/name-taken" && mayMakeWay);
      if (errors.length > inItsWay.length) throw new HandlerFailure(errors);
      if (isAdopted) refuseLosses(planned, adoptsTooMuch);
      const loss = former === "told" ? undefined : shape.lossOfReplacing?.(inputs);
      if (former === "there" && loss !== undefined) return [loss, ...warningsOf(planned)];
      return [...(former === undefined ? inItsWay.map((one) => orElseRefused(one, loss)) : []), ...warningsOf(planned)];
    },

    async create(context, inputs) {
      const service = await context.service();
      const { desired, address } = desiredOf(shape.write(inputs));
      const { notes } = context;
      const isAdopted = typeof inputs["adopt"] === "string";
      const earlier = isAdopted ? undefined : await createdBefore(context, service, desired, address);
      const planned = await planCreate(context, service, desired, address, inputs, earlier ?? {});
      throwErrors(planned);
      if (isAdopted) refuseLosses(planned, adoptsTooMuch);
      const ran = await carryOut(context, service, planned, flushStated(inputs), notes);
      try {
        return await keep(context, inputs, ran, desired, {});
      } finally {
        notes?.told();
      }
    },

    async read(context, id, before): Promise<Found | undefined> {
      const service = await context.service();
      if (isPending(id)) return before === undefined ? undefined : readPending(context, service, id, before);
      context.notes?.forget();
      const record = before === undefined ? undefined : recordIn(before);
      return record === undefined || before === undefined
        ? readByIdAlone(service.client, id, context.signal)
        : readAgain(context, service, id, before, record);
    },

    async update(context, id, before, inputs) {
      const service = await context.service();
      assertSameService(service, rememberedIn(before), String(inputs["name"]));
      return exclusively(service, id, before, context.signal, () => update(context, service, id, before, inputs));
    },

    async delete(context, id, before) {
      const service = await context.service();
      const remembered = rememberedIn(before);
      assertSameService(service, remembered, String(before["name"]));
      if (!isPending(id) && belongsToAnother(service, thing(id), remembered.owner))
        return context.log("warning", staysWithAnother(`${kind} ${String(before["name"])} (${id})`));
      await exclusively(service, id, before, context.signal, () => remove(context, service, id, before));
      context.notes?.forget();
    },
  };

  /** What the inputs themselves say: an unknown value, one that is stated now, another behaviour, a text that is emptied. */
  function changedInputs(remembered: Remembered, before: Props, inputs: Props) {
    const changes: PropertyChange[] = [];
    const known: Record<string, unknown> = { ...inputs };
    for (const [name, property] of Object.entries(shape.inputs)) {
      if (holdsUnknown(inputs[name])) {
        changes.push({ property: name, replaces: property.replaces === true });
        known[name] = before[name];
        continue;
      }
      const isStatedNow = shape.optional.includes(name) && before[name] === undefined && inputs[name] !== undefined;
      // Nothing in the service says how changes are carried out, so what was just imported does not differ in it.
      const isComparable = remembered.imported !== true || before[name] !== undefined;
      const behavesOtherwise = property.behaviour === true && !sameBehaviour(property, before[name], inputs[name]);
      if (isStatedNow || (behavesOtherwise && isComparable)) changes.push({ property: name, replaces: false });
      // No service tells it, and the record of what was imported does not know it: the program's word was another one.
      if (property.onlyToCreate === true && property.replaces === true && isOtherwise(before[name], inputs[name]))
        changes.push({ property: name, replaces: true });
    }
    for (const name of shape.emptied ?? [])
      if (isEmptied(remembered, name, before, inputs)) changes.push({ property: name, replaces: false });
    return { changes, known };
  }

  /** What the plan changes beside that. */
  function plannedChanges(
    change: ReturnType<typeof changeOf>,
    stated: readonly PropertyChange[],
  ): readonly PropertyChange[] {
    const replaced = change !== undefined && change.action !== "update" && change.action !== "import";
    const changes: PropertyChange[] = [];
    const isNamed = (property: string) => [...stated, ...changes].some((one) => one.property === property);
    for (const field of change?.fields ?? []) {
      const property = asProperty(field.field);
      const replaces = replaced && (field.forces === "replace" || kind === "group");
      if (!isNamed(property)) changes.push({ property, replaces });
    }
    if (replaced && ![...stated, ...changes].some(({ replaces }) => replaces))
      changes.push({ property: recordedKey, replaces: true });
    return changes;
  }

  function isEmptied({ imported }: Remembered, name: string, before: Props, inputs: Props): boolean {
    const had = before[name];
    return imported !== true && inputs[name] === undefined && typeof had === "string" && had !== "";
  }

  function emptied(remembered: Remembered, before: Props, inputs: Props): Props {
    const texts = (shape.emptied ?? []).filter((name) => isEmptied(remembered, name, before, inputs));
    return texts.length === 0 ? inputs : { ...inputs, ...Object.fromEntries(texts.map((name) => [name, ""])) };
  }

  async function exclusively<T>(
    service: HandlerService,
    id: string,
    before: Props,
    signal: AbortSignal,
    call: () => Promise<T>,
  ): Promise<T> {
    if (isPending(id)) return call();
    return holding(service, `${kind}:${id}`, async () => {
      const record = recordIn(before);
      if (shape.hangsOn === undefined || record === undefined) return call();
      const live = await lookAtAll(service.client, record, id, signal);
      const host = live === undefined ? undefined : shape.hangsOn(live);
      return host === undefined ? call() : holding(service, `vm:${host}`, call);
    });
  }

  async function planCreate(
    { signal }: HandlerContext,
    service: HandlerService,
    desired: Desired,
    address: Address,
    inputs: Props,
    earlier: Remembered,
  ): Promise<PlannedOne> {
    const { adopt } = inputs;
    const wish = typeof adopt === "string" ? { ...desired, imports: [{ to: address, id: adopt }] } : desired;
    const seen = await planAsObserved(service, wish, stateOf(address, earlier), address, signal, "forCreate");
    return typeof adopt === "string" ? among(service, seen, wish, inputs, undefined, adopt) : seen;
  }

  async function planUpdate(
    { signal }: HandlerContext,
    service: HandlerService,
    id: string,
    before: Props,
    inputs: Props,
    look: HowFresh,
  ): Promise<PlannedOne> {
    const remembered = rememberedIn(before);
    const { desired, address } = wanted(emptied(remembered, before, inputs));
    const record = recordIn(before, inputs);
    const own: Remembered = record === undefined ? remembered : { ...remembered, record };
    const seen = await withHosts(service, id, desired, own, address, inputs, signal, look);
    const planned = among(service, seen, desired, inputs, record, id);
    throwErrors(planned);
    return planned;
  }

  async function update(
    context: HandlerContext,
    service: HandlerService,
    id: string,
    before: Props,
    inputs: Props,
  ): Promise<Kept> {
    const remembered = rememberedIn(before);
    const { desired, address } = wanted(emptied(remembered, before, inputs));
    if (isPending(id)) throw stillPending(inputs, remembered);
    const record = recordIn(before, inputs);
    const state = stateOf(address, record === undefined ? remembered : { ...remembered, record });
    let planned = await planUpdate(context, service, id, before, inputs, "fresh");
    const shown = await planAsRecorded(service, desired, state, address, context.signal);
    if (changeOf(planned)?.action === "replace" && kind === "group") {
      // Rules that nobody knew of can only go with the group; a refresh shows them, and then a preview does.
      context.log(
        "warning",
        `${String(inputs["name"])} has rules that were added elsewhere; they stay until a refresh`,
      );
      planned = planAgain(service, planned, keepingRules(desired));
    }
    if ((changeOf(shown)?.losses.length ?? 0) === 0)
      refuseLosses(planned, "it was changed behind this program's back: run a refresh, and look at the preview");
    const ran = await carryOut(context, service, planned, flushStated(inputs));
    return keep(context, inputs, ran, desired, remembered);
  }

  async function remove(context: HandlerContext, service: HandlerService, id: string, before: Props): Promise<void> {
    const remembered = rememberedIn(before);
    const known = recordIn(before);
    if (isPending(id) && remembered.intent === undefined) return;
    const address = addressOf(kind, before["name"]);
    const looked =
      known ?? (remembered.intent === undefined ? await recordById(service.client, id, context.signal) : undefined);
    const left = context.notes?.findLeft(id);
    const record = looked === undefined || left === undefined ? looked : (shape.leaving?.(looked, left) ?? looked);
    if (record === undefined && remembered.intent === undefined) return;
    const own: Remembered = record === undefined ? remembered : { ...remembered, record };
    const live = record === undefined ? undefined : await lookAtAll(service.client, record, id, context.signal);
    const others = record === undefined ? [] : (shape.neighbours?.(record, live) ?? []);
    const state = stateOf(address, own, others);
    const planned =
      record === undefined
        ? await planPendingDelete(context, service, before, state, address)
        : await planAsObserved(service, nothingDesired, state, address, context.signal);
    const ran = await carryOut(context, service, planned, before["flushConfirmed"] === true, context.notes);
    if (ran.problems.length > 0) throw new HandlerFailure(ran.problems);
    releaseClaim(service, thing(id));
  }

  async function withHosts(
    service: HandlerService,
    id: string,
    desired: Desired,
    remembered: Remembered,
    address: Address,
    inputs: Props,
    signal: AbortSignal,
    look: HowFresh,
  ): Promise<PlannedOne> {
    const seen = await planAsObserved(service, desired, stateOf(address, remembered), address, signal, look);
    const sighting = shape.sight(seen.live, id);
    const hosts = sighting.seen === "yes" ? (shape.standsOn?.(sighting.value, inputs) ?? []) : [];
    return hosts.length === 0
      ? seen
      : planAsObserved(service, desired, stateOf(address, remembered, hosts), address, signal, look);
  }

  function among(
    service: HandlerService,
    planned: PlannedOne,
    desired: Desired,
    inputs: Props,
    record: Of<K> | undefined,
    id: string,
  ): PlannedOne {
    const sighting = shape.sight(planned.live, id);
    const [resource] = desired.resources;
    if (shape.wantedAmong === undefined || sighting.seen !== "yes" || resource === undefined) return planned;
    const wish = shape.wantedAmong(resource, inputs, record, sighting.value);
    return wish === resource ? planned : planAgain(service, planned, { ...desired, resources: [wish] });
  }

  function difference(changes: readonly PropertyChange[], warnings: readonly string[]): Difference {
    const replaces = changes.filter((change) => change.replaces).map(({ property }) => property);
    return { changes, replaces, deleteBeforeReplace: shape.deleteBeforeReplace && changes.length > 0, warnings };
  }

  function withoutOutputs(before: Props): Props {
    return Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(shape.inputs, name)));
  }

  async function lookAtAll(client: HandlerClient, record: Of<K>, id: string, signal: AbortSignal) {
    const seen = await refresh(client, nothingDesired, stateOf(record.address, { record }), { signal });
    const sighting = shape.sight(seen.live, id);
    return sighting.seen === "yes" ? sighting.value : undefined;
  }

  async function sightById(client: HandlerClient, id: string, signal: AbortSignal) {
    const address = addressOf(kind, undefined);
    const desired: Desired = { ...nothingDesired, imports: [{ to: address, id }] };
    const { live, findings } = await refresh(client, desired, stateOf(address, {}), { signal });
    const errors = findings.filter(({ severity }) => severity === "error");
    if (errors.length > 0) throw new HandlerFailure(errors);
    return { address, live, sighting: shape.sight(live, id) };
  }

  async function recordById(client: HandlerClient, id: string, signal: AbortSignal): Promise<Of<K> | undefined> {
    const { address, live, sighting } = await sightById(client, id, signal);
    return sighting.seen === "yes" ? shape.recordOfLive(address, sighting.value, live) : undefined;
  }

  async function readByIdAlone(client: HandlerClient, id: string, signal: AbortSignal): Promise<Found | undefined> {
    const { address, live, sighting } = await sightById(client, id, signal);
    if (sighting.seen === "gone") return undefined;
    if (sighting.seen === "unobserved")
      throw new HandlerFailure([
        {
          severity: "error",
          code: "plan/unobserved",
          summary: `${kind} ${id} cannot be looked at: ${sighting.reason}`,
          fix: 'declare it in full with adopt: "<its id>" instead',
        },
      ]);
    const record = shape.recordOfLive(address, sighting.value, live);
    const inputs = plain(shape.inputsOf(record));
    return {
      id,
      inputs,
      outputs: plain({
        ...inputs,
        ...shape.outputsOf(record, sighting.value),
        [recordedKey]: { owner: newOwner(), scope: { origin: client.origin }, record, imported: true },
      }),
    };
  }

  /** What an open create made, under its id from now on; what does not show stays open, and is named. */
  async function readPending(
    context: HandlerContext,
    service: HandlerService,
    id: string,
    before: Props,
  ): Promise<Found> {
    const inputs = withoutOutputs(before);
    const remembered = rememberedIn(before);
    const { desired } = wanted(inputs);
    const address = addressOf(kind, before["name"]);
    const { record } = await findPending(service, desired, stateOf(address, remembered), address, context.signal);
    if (record?.id === undefined || !isOfKind(record)) {
      context.log("warning", stillPending(before, remembered, id).message);
      return { id, inputs, outputs: before };
    }
    const outputs = shape.outputsOf(record, await lookAt(context, record, record.id));
    const { intent: _intent, ...kept } = remembered;
    return { id: record.id, inputs, outputs: plain({ ...inputs, ...outputs, [recordedKey]: { ...kept, record } }) };
  }

  function isOfKind(record: RecordedResource): record is Of<K> {
    return record.kind === kind;
  }

  async function readAgain(
    { signal, log }: HandlerContext,
    service: HandlerService,
    id: string,
    before: Props,
    record: Of<K>,
  ): Promise<Found | undefined> {
    const { address } = record;
    const remembered = rememberedIn(before);
    const state = stateOf(address, { ...remembered, record });
    const asRecorded = desiredAsRecorded(state);
    const mode = before["rulesMode"];
    const desired: Desired =
      mode === "additive" || mode === "shared"
        ? {
            ...asRecorded,
            resources: asRecorded.resources.map((one) =>
              one.kind === "group" ? { ...one, rulesMode: "additive" as const } : one,
            ),
          }
        : asRecorded;
    const planned = await planAsObserved(service, desired, state, address, signal, "recent");
    const errors = planned.plan.diagnostics.filter(
      ({ severity, code }) => severity === "error" && code.startsWith("service/"),
    );
    if (errors.length > 0) throw new HandlerFailure(errors);
    const sighting = shape.sight(planned.live, id);
    if (sighting.seen === "gone") {
      const lost = shape.lostWith?.(record) ?? "";
      log(
        "warning",
        `${kind} ${String(before["name"])} (${id}) is gone: ${sighting.because}; the next update makes a new one${lost}`,
      );
      return undefined;
    }
    const inputs: Record<string, unknown> = { ...withoutOutputs(before) };
    if (sighting.seen === "unobserved") {
      log("warning", `${kind} ${id} was not seen, and is kept as it was: ${sighting.reason}`);
      return { id, inputs, outputs: before };
    }
    const change = changeOf(planned);
    const next = change === undefined ? record : shape.drifted(record, sighting.value, change, before);
    const shown = shape.inputsOf(next);
    for (const field of change?.fields ?? []) {
      const property = asProperty(field.field);
      if (Object.hasOwn(shape.inputs, property)) inputs[property] = shown[property];
    }
    return {
      id,
      inputs: plain(inputs),
      outputs: plain({
        ...inputs,
        ...shape.outputsOf(next, sighting.value),
        [recordedKey]: { ...remembered, record: next },
      }),
    };
  }

  async function pendingDifference(
    context: HandlerContext,
    id: string,
    remembered: Remembered,
    inputs: Props,
    changes: readonly PropertyChange[],
  ): Promise<Difference> {
    const { client } = await context.service();
    const settles = typeof inputs["adopt"] === "string" || client.can.canFindCreated(kind);
    return difference(
      settles
        ? [...changes.filter(({ property }) => property !== recordedKey), { property: recordedKey, replaces: true }]
        : // Not to be settled from here: the update says what has to be found out.
          [...changes, { property: recordedKey, replaces: false }],
      [stillPending(inputs, remembered, id).message],
    );
  }

  /** Only what this very create made may be deleted; the intent tells it from what was there before. */
  async function planPendingDelete(
    { signal, log }: HandlerContext,
    service: HandlerService,
    before: Props,
    state: ReturnType<typeof stateOf>,
    address: Address,
  ): Promise<PlannedOne> {
    const { planned, record } = await findPending(
      service,
      wanted(withoutOutputs(before)).desired,
      state,
      address,
      signal,
    );
    const isOpen = planned.plan.diagnostics.some(({ severity }) => severity === "error");
    if (record === undefined && isOpen) log("warning", whatMayBeLeft(before, kind, rememberedIn(before)));
    return record === undefined
      ? nothingPlanned(planned)
      : planAsObserved(service, nothingDesired, stateOf(address, { record }), address, signal);
  }

  /** What an open create made, if the service shows it by now. */
  async function findPending(
    service: HandlerService,
    desired: Desired,
    state: ReturnType<typeof stateOf>,
    address: Address,
    signal: AbortSignal,
  ): Promise<{ readonly planned: PlannedOne; readonly record?: RecordedResource }> {
    const planned = await planAsObserved(service, desired, state, address, signal);
    for (const { action } of changeOf(planned)?.id === undefined ? [] : planned.plan.steps) {
      if (action.operation !== "record") continue;
      for (const one of action.changes)
        if (one.type === "resource" && one.record !== null) return { planned, record: one.record };
    }
    return { planned };
  }
}

type HandlerClient = HandlerService["client"];
