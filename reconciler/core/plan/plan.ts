/**
 * The whole of planning on one page: pair the three inputs, diff kind by kind, make steps, order them, and say what
 * consent they need. Pure and deterministic: the same inputs give the same plan, byte for byte.
 */
import type { Action, Change } from "../diff/changes";
import { diffContext, type PlanOptions } from "../diff/context";
import { diffGroups, type GroupDifference } from "../diff/group";
import { type Pair, pairResources } from "../diff/pair";
import { diffVm, type VmDifference } from "../diff/vm";
import { diffVolume, type VolumeDifference } from "../diff/volume";
import { type Address, compareAddresses } from "../model/address";
import type { Desired, DesiredResource, Reference } from "../model/desired";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../model/diagnostic";
import type { Live } from "../model/live";
import type { Operation } from "../model/operation";
import type { Orphan, RecordedResource, State, StateChange } from "../model/recorded";
import { nearestName } from "../text/nearest";
import { bookkeeping } from "./bookkeeping";
import { type Consent, consentsFor, emptyConsent } from "./consent";
import type { Draft } from "./draft";
import { orderAcrossResources } from "./edges";
import { type Estimate, estimate } from "./estimate";
import { orderNodes } from "./graph";
import { stepsForGroups } from "./group-steps";
import { breakNameCycles } from "./name-cycles";
import type { Step } from "./step";
import { stepsForVm } from "./vm-steps";
import { stepsForVolume } from "./volume-steps";

export interface PlanInput {
  readonly desired: Desired;
  readonly state: State;
  readonly live: Live;
  readonly has: (operation: Operation) => boolean;
  readonly options: PlanOptions;
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
  readonly bookkeeping: readonly StateChange[];
  readonly consents: readonly Consent[];
  readonly diagnostics: readonly Diagnostic[];
  readonly orphans: readonly Orphan[];
  readonly estimate: Estimate;
  readonly unchanged: number;
}

export type Difference = VmDifference | VolumeDifference | GroupDifference;

export function makePlan(input: PlanInput): Plan {
  const { options, live } = input;
  const desired =
    options.destroy === true ? { ...input.desired, resources: [], imports: [], moved: [], removed: [] } : input.desired;
  const paired = pairResources(desired, input.state);
  const { state } = paired;
  const context = diffContext({ desired, state, live, has: input.has, options });
  const diagnostics: Diagnostic[] = [...(input.findings ?? []), ...paired.diagnostics];
  const pairs = selectTargets(paired.pairs, options, diagnostics).filter((pair) => !pair.quarantined);
  diagnostics.push(...unknownAddresses(options.replace ?? [], paired.pairs, "--replace"));

  const vms = pairs.filter((pair) => pair.kind === "vm").map((pair) => diffVm(pair, context));
  const fates = {
    deleted: new Set(
      vms.flatMap((vm) =>
        vm.change?.action === "delete" || vm.change?.action === "replace" ? [vm.change.id ?? ""] : [],
      ),
    ),
    renewed: new Set(
      vms.flatMap((vm) =>
        vm.change?.action === "create" || vm.change?.action === "replace" || vm.idUnknown === true ? [vm.address] : [],
      ),
    ),
  };
  const volumes = pairs.filter((pair) => pair.kind === "volume").map((pair) => diffVolume(pair, context, state, fates));
  const groups = diffGroups(
    pairs.filter((pair) => pair.kind === "group"),
    context,
    state,
  );
  const differences: Difference[] = [...groups, ...vms, ...volumes];
  for (const difference of differences) diagnostics.push(...difference.diagnostics);

  const changes = differences.flatMap((difference) => (difference.change === undefined ? [] : [difference.change]));
  const draft = emptyDraft(context, state, changes, diagnostics);
  stepsForGroups(groups, draft);
  for (const vm of vms) stepsForVm(vm, draft);
  for (const volume of volumes) stepsForVolume(volume, draft);
  breakNameCycles(draft);
  orderAcrossResources(draft);

  const byAddress = new Map<Address, DesiredResource>(
    desired.resources.map((resource) => [resource.address, resource]),
  );
  const consents = consentsFor(
    changes,
    draft.steps,
    (address) => byAddress.get(address),
    (address) => state.resources.get(address),
  );
  const deleted = changes.filter((change) => change.action === "delete").length;
  if (options.destroy !== true && desired.resources.length === 0 && deleted > 0)
    consents.unshift(emptyConsent(deleted));

  const steps = hasErrors(diagnostics) ? [] : sortSteps(draft.steps);
  return {
    lineage: state.lineage,
    serial: state.serial,
    options,
    changes,
    steps,
    bookkeeping: bookkeeping(differences, pairs, input.state, (group: Reference) =>
      "id" in group ? group.id : state.resources.get(group.address)?.id,
    ),
    consents,
    diagnostics: sortDiagnostics(diagnostics),
    orphans: [...state.orphans.values()],
    estimate: estimate(steps),
    unchanged: differences.filter(
      (difference) => difference.change === undefined && difference.diagnostics.every((d) => d.severity !== "error"),
    ).length,
  };
}

function emptyDraft(context: Draft["context"], state: State, changes: Change[], diagnostics: Diagnostic[]): Draft {
  return {
    context,
    state,
    steps: [],
    changes,
    diagnostics,
    ready: new Map(),
    detachesOf: new Map(),
    vmDeletes: new Map(),
    frees: new Map(),
    takes: [],
    powerStops: new Map(),
    stops: new Map(),
  };
}

function sortSteps(steps: readonly Step[]): Step[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const ordered = orderNodes([...byId.keys()], (id) => byId.get(id)!.needs.map((need) => need.step));
  if (ordered.stuck.length > 0) throw new Error(`steps wait for each other: ${ordered.stuck.join(", ")}`);
  return ordered.order.map((id) => byId.get(id)!);
}

function selectTargets(pairs: readonly Pair[], options: PlanOptions, diagnostics: Diagnostic[]): readonly Pair[] {
  const targets = options.targets ?? [];
  if (targets.length === 0) return pairs;
  diagnostics.push(...unknownAddresses(targets, pairs, "--target"));
  const byAddress = new Map(pairs.map((pair) => [pair.address, pair]));
  const selected = new Set<Address>();
  const visit = (address: Address): void => {
    if (selected.has(address)) return;
    selected.add(address);
    for (const next of referencesOf(byAddress.get(address)?.desired)) visit(next);
  };
  for (const target of targets)
    for (const address of byAddress.keys())
      if (address === target || (!target.endsWith("]") && address.startsWith(`${target}[`))) visit(address);
  return pairs.filter((pair) => selected.has(pair.address));
}

function referencesOf(desired: DesiredResource | undefined): Address[] {
  if (desired === undefined || desired.kind === "vm") return [];
  const references: Reference[] =
    desired.kind === "volume"
      ? desired.attachTo === undefined
        ? []
        : [desired.attachTo]
      : desired.rules.flatMap((rule) => (rule.remote.kind === "group" ? [rule.remote.group] : []));
  return references.flatMap((reference) => ("address" in reference ? [reference.address] : []));
}

function unknownAddresses(wanted: readonly Address[], pairs: readonly Pair[], flag: string): Diagnostic[] {
  const known = new Set(pairs.map((pair) => pair.address));
  return wanted
    .filter((address) => !known.has(address) && ![...known].some((one) => one.startsWith(`${address}[`)))
    .map((address) => {
      const near = nearestName(address, known);
      return {
        severity: "error" as const,
        code: "plan/unknown-address",
        summary: `${flag} ${address} names nothing that is declared or recorded`,
        ...(near === undefined ? {} : { fix: `did you mean ${near}?` }),
        address,
      };
    });
}

export type ChangeCounts = Record<"create" | "update" | "replace" | "delete" | "import", number>;

/** What the summary counts: resources, by what happens to them. Letting go is no change of the world. */
export function countChanges(changes: readonly Change[]): ChangeCounts {
  const counts: ChangeCounts = { create: 0, update: 0, replace: 0, delete: 0, import: 0 };
  for (const change of changes) if (change.action !== "forget") counts[change.action as Exclude<Action, "forget">]++;
  return counts;
}

/** True when applying would do nothing at all, not even learn something. */
export const isEmpty = (plan: Plan): boolean => plan.changes.length === 0 && plan.steps.length === 0;

export const sortChanges = (changes: readonly Change[]): Change[] =>
  [...changes].sort((a, b) => compareAddresses(a.address, b.address));

export type { RecordedResource };
