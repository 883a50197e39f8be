/**
 * The whole of planning on one page: pair the three inputs, diff kind by kind, make steps, order them, and say what
 * consent they need. Pure and deterministic: the same inputs give the same plan, byte for byte.
 */

import { stepsForGroups } from "../../kinds/group/steps";
import { orderAcrossResources } from "../../kinds/order";
import type { UsualDifference } from "../../kinds/usual/diff";
import { stepsForUsual } from "../../kinds/usual/steps";
import { attachmentsOf } from "../../kinds/vm/departure";
import { type Owed, payGuests } from "../../kinds/vm/guest-steps";
import { stepsForVm } from "../../kinds/vm/steps";
import { stepsForVolume } from "../../kinds/volume/steps";
import { type Differences, diffAll } from "../diff/all";
import type { Change } from "../diff/changes";
import { withClaims } from "../diff/claims";
import { diffContext, type PlanOptions } from "../diff/context";
import { otherByNow } from "../diff/evidence";
import { blocksBeside, fixForDamaged, type Pair, pairResources } from "../diff/pair";
import type { Abilities } from "../model/abilities";
import { type Address, compareAddresses } from "../model/address";
import { computedName } from "../model/computed";
import { type Closed, type Desired, type DesiredResource, type Reference, removalFor } from "../model/desired";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../model/diagnostic";
import { computedOfResource, isNeverSeen } from "../model/facts";
import { fixText } from "../model/fix";
import { meantToOwe, owesNothing } from "../model/guest";
import { allOfKind, type Kind, kinds } from "../model/kinds";
import { type Live, notSeen, sight } from "../model/live";
import type { NameProblem } from "../model/name-rule";
import type { PlannedCost } from "../model/prices";
import type { Orphan, PlannedChange, RecordedResource, RecordedVm, State } from "../model/recorded";
import { invariant } from "../text/invariant";
import { addAll, ifAny } from "../text/objects";
import { bookkeeping } from "./bookkeeping";
import { valuesMissing } from "./computed-of";
import { type Consent, consentsFor, massRemoval, permittedChanges } from "./consent";
import { costOfPlan } from "./cost";
import { Draft, planStep } from "./draft";
import { type Estimate, estimate } from "./estimate";
import { orderNodes } from "./graph";
import { type TakenFromMemory, takenFromMemory } from "./memory";
import { presumeVanished, takeBack } from "./missing";
import { breakNameCycles } from "./name-cycles";
import { namesRefused } from "./names-refused";
import { namesTaken } from "./names-taken";
import { type PlannedOutput, planOutputs } from "./outputs";
import { rangesRefused } from "./port-ranges";
import { renamedKeys } from "./renamed-keys";
import { rollOut } from "./roll-out";
import {
  excludedAndStopped,
  guardedBy,
  leftOutDependents,
  replacedAndLeftOut,
  selectTargets,
  setAsideUnreadable,
  unknownAddresses,
  whatIsMeant,
} from "./select";
import { computedOf, type Step, type StepId } from "./step";
import { unseenNotes } from "./unseen";

export interface PlanInput {
  readonly desired: Closed;
  readonly state: State;
  readonly live: Live;
  readonly can: Abilities;
  /** False: a rule with a range of ports cannot be sent. */
  readonly takesPortRanges?: boolean;
  /** By rules for names that are narrower than the contract's. */
  readonly nameProblem?: NameProblem;
  readonly options: PlanOptions;
  /** Where a volume hangs is said by another resource of a program. */
  readonly attachedApart?: true;
  /** Whether a resource created at that time may not show everything of itself yet. */
  readonly isYoung?: (vm: RecordedVm) => boolean;
  /** What the refresh has to say: unreadable answers, missing operations. */
  readonly findings?: readonly Diagnostic[];
}

export interface Plan {
  /** The state it was made from. */
  readonly lineage: string;
  readonly serial: number;
  readonly options: PlanOptions;
  readonly changes: readonly Change[];
  /** In an order that respects every edge. */
  readonly steps: readonly Step[];
  /** What the state learns without any request: not a change of the world. */
  readonly bookkeeping: readonly PlannedChange[];
  readonly consents: readonly Consent[];
  /** Resources with prevent_destroy that may be changed as the environment permits. Absent: none. */
  readonly unguarded?: readonly Address[];
  readonly diagnostics: readonly Diagnostic[];
  readonly orphans: readonly Orphan[];
  /**
   * The disks that hang on each VM that the plan changes, where that can be seen: the plan holds only while they are
   * the same.
   */
  readonly attached?: Readonly<Record<Address, readonly string[]>>;
  readonly estimate: Estimate;
  readonly unchanged: number;
  /**
   * The resources that the plan takes from memory, with the time of the last look where it is known. Absent: everything
   * was looked at.
   */
  readonly fromMemory?: readonly TakenFromMemory[];
  /** What a month costs before and after; absent without prices. */
  readonly cost?: PlannedCost;
  /** Every output before and after; absent where there are none. */
  readonly outputs?: readonly PlannedOutput[];
  /** Commands that were owed to guests before it. Absent: none. */
  readonly owed?: readonly Owed[];
}

/** The requests of all differences, kind by kind. */
function addSteps({ groups, vms, volumes, all }: Differences, draft: Draft): void {
  const own: { readonly [K in Kind]?: () => void } = {
    group: () => stepsForGroups(groups, draft),
    vm: () => {
      for (const vm of vms) stepsForVm(vm, draft);
    },
    volume: () => {
      for (const volume of volumes) stepsForVolume(volume, draft);
    },
  };
  const addUsual = (kind: Kind): void => {
    // A difference of a kind without code of its own was made by kinds/usual/diff.ts.
    for (const one of allOfKind(all, kind)) stepsForUsual(one as UsualDifference, draft);
  };
  for (const kind of kinds) (own[kind] ?? (() => addUsual(kind)))();
}

/** Whether a resource counts as gone, and nothing proves it. */
function isGoneUnproven(record: RecordedResource | undefined, live: Live): boolean {
  const sighting = record?.id === undefined ? undefined : sight(live, record.kind, record.id);
  if (record === undefined || sighting?.seen !== "gone") return false;
  // A create that was accepted is not sent again by itself, also where its answer named an id.
  return sighting.doubt !== undefined || isNeverSeen(record);
}

export function makePlan(input: PlanInput): Plan {
  const { options, findings = [], isYoung = () => false } = input;
  const desired = whatIsMeant(input.desired, options);
  const guards = blocksBeside(input.state, desired);
  const back = takeBack(guardedBy(guards, input.state), desired, input.live);
  const paired = pairResources(desired, back.state);
  const { state } = paired;
  const diagnostics: Diagnostic[] = [...findings, ...back.diagnostics, ...paired.diagnostics];
  const targeted = selectTargets(paired.pairs, options, diagnostics);
  const declared = targeted.flatMap((pair) =>
    pair.desired === undefined || pair.recorded === undefined ? [] : [pair.recorded],
  );
  const live = presumeVanished(input.live, declared);
  const context = withClaims(paired.pairs, diffContext({ ...input, desired, state, live }));
  const pairs = setAsideUnreadable(targeted, diagnostics);
  // A plan that destroys pairs only what is recorded: what is declared and gone is no slip.
  addAll(diagnostics, unknownAddresses(options, [...paired.pairs, ...input.desired.resources]));
  addAll(diagnostics, replacedAndLeftOut(options, paired.pairs, targeted));

  const found = diffAll(pairs, context, state, isYoung);
  const { vms, volumes, groups, all: differences, fates } = found;
  addAll(diagnostics, found.diagnostics);
  for (const difference of differences) addAll(diagnostics, difference.diagnostics);
  if (pairs.length < paired.pairs.length)
    addAll(diagnostics, leftOutDependents({ all: paired.pairs, targeted, pairs }, fates.deleted, groups, context));

  const removals = new Map(desired.removed.map((entry) => [entry.from, entry]));
  const changes = differences.flatMap(({ change }) => {
    if (change === undefined) return [];
    // What no block declares comes from the `removed` entry that names it.
    const source = removalFor(change.address, removals)?.source;
    return [source === undefined ? change : { source, ...change }];
  });
  const draft = new Draft(context, state, changes, diagnostics);
  addSteps(found, draft);
  for (const pair of targeted) if (pair.quarantined) waitForRecord(pair, draft);
  addAll(diagnostics, namesTaken(draft, paired.pairs, targeted));
  breakNameCycles(draft);
  orderAcrossResources(draft);
  const owed = payGuests(draft, vms, volumes);
  addAll(diagnostics, excludedAndStopped(draft.steps, options, paired.pairs, targeted));
  addAll(
    diagnostics,
    valuesMissing(draft.steps, found.standings, (address) => state.resources.get(address)?.id !== undefined),
  );
  if (options.destroy !== true && desired.rollouts !== undefined) rollOut(draft, desired);

  const byAddress = new Map<Address, DesiredResource>(
    desired.resources.map((resource) => [resource.address, resource]),
  );
  const desiredOf = (address: Address) => byAddress.get(address);
  const inPlan = new Set(differences.map(({ address }) => address));
  for (const named of options.owe ?? [])
    for (const address of meantToOwe(named, byAddress)) addAll(diagnostics, owesNothing(address, byAddress, inPlan));
  addAll(diagnostics, requestsRefused(draft.steps, input, byAddress));
  const consents = consentsOf(desired, draft, byAddress, guards);
  const { prices } = input.desired;
  const unguarded = permittedChanges(changes, desiredOf, desired.protection);

  addAll(diagnostics, unseenNotes(differences, state));
  const planned = planOutputs(desired.outputs, state, found.standings);
  addAll(diagnostics, planned.diagnostics);
  if (options.destroy !== true) addAll(diagnostics, renamedKeys(changes, byAddress, state.resources));
  const attached = attachmentsOf(
    vms.flatMap(({ address, change }) => (change?.id === undefined ? [] : [{ address, id: change.id }])),
    context,
  );
  const remembered = options.maxAgeMs === undefined && live !== notSeen ? [] : takenFromMemory(pairs, state, live);
  const sorted = hasErrors(diagnostics) ? { order: [], stuck: [] } : sortSteps(draft.steps);
  const circle = circleOf([...stepsBeforeThemselves(sorted.order, draft), ...sorted.stuck], byAddress);
  if (circle !== undefined) diagnostics.push(circle);
  const steps = circle === undefined ? sorted.order : [];
  return {
    lineage: state.lineage,
    serial: state.serial,
    options,
    changes,
    steps,
    bookkeeping: [
      ...back.changes,
      ...bookkeeping(differences, pairs, back.state, live, draft.steps, (group: Reference) =>
        "id" in group ? group.id : (draft.adoptedId(group.address) ?? state.resources.get(group.address)?.id),
      ),
    ],
    consents,
    unguarded: ifAny(unguarded),
    diagnostics: sortDiagnostics(withoutItsEffects(diagnostics)),
    orphans: [...state.orphans.values()],
    attached: ifAny(attached),
    fromMemory: ifAny(remembered),
    cost: prices && costOfPlan({ prices, changes, records: state.resources, desiredOf, live }),
    outputs: planned.outputs,
    owed: ifAny(owed),
    estimate: estimate(steps),
    unchanged: differences.filter(
      ({ change, desired, recorded, diagnostics: told }) =>
        change === undefined && (desired ?? recorded) !== undefined && !hasErrors(told),
    ).length,
  };
}

function consentsOf(
  { resources, protection }: Desired,
  { context: { live, options }, state, changes, steps }: Draft,
  byAddress: ReadonlyMap<Address, DesiredResource>,
  guards: ReadonlyMap<Address, DesiredResource>,
): Consent[] {
  const managed = state.resources.size;
  return [
    ...(options.destroy === true ? [] : massRemoval(changes, resources.length === 0, managed)),
    ...consentsFor({
      changes,
      steps,
      desiredOf: (address) => byAddress.get(address) ?? guards.get(address),
      // A resource that an interrupted run made is remembered by its intent alone.
      recordedOf: (address) => state.resources.get(address) ?? state.intents.get(address)?.record,
      managed,
      isUnproven: (address) => isGoneUnproven(state.resources.get(address), live),
      environment: protection,
      otherAt: (address) => otherByNow(state.resources.get(address), live),
    }),
  ];
}

/** What is missing because the credential was refused is not said beside that. */
function withoutItsEffects(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const isRefused = ({ code, severity }: Diagnostic): boolean =>
    code === "service/unauthenticated" && severity === "error";
  if (!diagnostics.some(isRefused)) return diagnostics;
  return diagnostics.filter(({ code, severity }) => severity !== "warning" || code !== "plan/image-unresolved");
}

/** What the requests would say that this service does not take, as its dialect tells. */
function requestsRefused(
  steps: readonly Step[],
  { takesPortRanges, nameProblem }: PlanInput,
  byAddress: ReadonlyMap<Address, DesiredResource>,
): Diagnostic[] {
  const sourceOf = (address: Address) => byAddress.get(address)?.source;
  return [
    ...(takesPortRanges === false ? rangesRefused(steps, sourceOf) : []),
    ...(nameProblem === undefined ? [] : namesRefused(steps, nameProblem, sourceOf)),
  ];
}

function waitForRecord({ address, desired }: Pair, draft: Draft): void {
  planStep(draft, address, "record", {
    holds: [],
    action: {
      operation: "outside",
      waitsFor: `a readable record of ${address}`,
      command: fixText(...fixForDamaged(address, desired !== undefined)),
    },
    title: `replace the damaged record of ${address}`,
  });
}

function sortSteps(steps: readonly Step[]): { readonly order: Step[]; readonly stuck: Step[] } {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const ordered = orderNodes([...byId.keys()], (id) => (byId.get(id)?.needs ?? []).map((need) => need.step));
  const stepsOf = (ids: readonly StepId[]): Step[] => ids.flatMap((id) => byId.get(id) ?? []);
  return { order: stepsOf(ordered.order), stuck: stepsOf(ordered.stuck) };
}

/** A text may hold a value of its own resource once that exists, and not in the request that makes it. */
const stepsBeforeThemselves = (steps: readonly Step[], draft: Draft): Step[] =>
  steps.filter(
    ({ id, address, action }) =>
      draft.madeBy(address) === id &&
      draft.state.resources.get(address)?.id === undefined &&
      computedOf(action).some((one) => one.address === address),
  );

/** Values in texts can make a circle of resources that each need the other first; nothing else can. */
function circleOf(stuck: readonly Step[], byAddress: ReadonlyMap<Address, DesiredResource>): Diagnostic | undefined {
  if (stuck.length === 0) return undefined;
  const addresses = [...new Set(stuck.map(({ address }) => address))].sort(compareAddresses);
  const inside = new Set(addresses);
  const uses = addresses.flatMap((address) => {
    const resource = byAddress.get(address);
    const values = resource === undefined ? [] : computedOfResource(resource).filter((one) => inside.has(one.address));
    return resource === undefined || values.length === 0 ? [] : [{ resource, values }];
  });
  const [first] = uses;
  invariant(first, `the steps of a plan wait for each other: ${stuck.map(({ id }) => id).join(", ")}`);
  return {
    severity: "error",
    code: "plan/circle",
    summary:
      addresses.length === 1
        ? `${first.resource.address} needs itself before it exists`
        : `${addresses.join(" and ")} need each other before they exist`,
    detail: uses
      .map(
        ({ resource, values }) =>
          `${resource.address} uses ${values.map((one) => `\${${computedName(one)}}`).join(", ")}`,
      )
      .join("; "),
    fix: "take one of these values out of its text, or write it in after the first apply",
    address: first.resource.address,
    source: first.resource.source,
  };
}

export type ChangeCounts = Record<"create" | "update" | "replace" | "delete" | "import", number>;

/** What the summary counts: resources, by what happens to them. Letting go is no change of the world. */
export function countChanges(changes: readonly Pick<Change, "action">[]): ChangeCounts {
  const counts: ChangeCounts = { create: 0, update: 0, replace: 0, delete: 0, import: 0 };
  for (const { action } of changes) if (action !== "forget") counts[action]++;
  return counts;
}

/** The same for people, who want to read as well what nothing will look after any more. */
export const countChangesAndForgotten = (changes: readonly Pick<Change, "action">[]) => ({
  ...countChanges(changes),
  forget: changes.filter(({ action }) => action === "forget").length,
});

/** True when applying would do nothing at all, not even learn something. */
export const isEmpty = (plan: Plan): boolean => plan.changes.length === 0 && plan.steps.length === 0;
