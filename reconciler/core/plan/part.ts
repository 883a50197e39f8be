/**
 * Which part of the world a narrow plan has to look at: the resources that it is made for, those that they refer to,
 * those that refer to them, and every resource that may bear a name that the plan gives. Everything else is taken from
 * the state, and an absence there proves nothing.
 */

import type { Change } from "../diff/changes";
import type { PlanOptions } from "../diff/context";
import { type Pair, pairResources } from "../diff/pair";
import type { Abilities } from "../model/abilities";
import type { Address, Kind } from "../model/address";
import { isAddressAttribute } from "../model/computed";
import type { Desired } from "../model/desired";
import { errorsAmong } from "../model/diagnostic";
import { idsNamedBy, recordedAttribute } from "../model/facts";
import { allOfKind } from "../model/kinds";
import { computedInShaped } from "../model/output";
import type { State } from "../model/recorded";
import { hangersOf } from "../model/relations";
import type { Instant } from "../model/time";
import { groupedBy } from "../text/objects";
import { type LookMemory, oldest, tooOld } from "./memory";
import type { Plan } from "./plan";
import { referencesOf, selectTargets, whatIsMeant } from "./select";
import { nameGiven } from "./step";
import { type Swept, unswept } from "./sweep";

export interface Part {
  readonly addresses: ReadonlySet<Address>;
  /** Kinds of which the plan gives or looks for a name: only a whole list shows who bears it. */
  readonly named: ReadonlySet<Kind>;
}

/** `undefined`: everything. */
export function partTargeted(desired: Desired, state: State, options: PlanOptions): Part | undefined {
  if (options.targets === undefined && options.excludes === undefined) return undefined;
  const world = pairResources(whatIsMeant(desired, options), state);
  const selected = selectTargets(world.pairs, options, []);
  return partAround(new Set(selected.map(({ address }) => address)), world.pairs, world.state, desired);
}

/** Where to look: at what a plan from the state alone touches, at what is open, and at what is too old. */
export function partChanged(fromState: Plan, desired: Desired, before: State, now: Instant, memory?: LookMemory): Part {
  const { options } = fromState;
  const { pairs, state } = pairResources(whatIsMeant(desired, options), before);
  const start = touchedByPlan(fromState, [...state.intents.keys(), ...tooOld(state, options.maxAgeMs ?? 0, now)]);
  if (memory !== undefined)
    for (const address of [...memory.again, ...oldest(before, Math.ceil(before.resources.size * memory.share))])
      start.add(address);
  const targeted = partTargeted(desired, before, options);
  if (targeted !== undefined) for (const address of start) if (!targeted.addresses.has(address)) start.delete(address);
  return partAround(start, pairs, state, desired);
}

/**
 * Where to look beside the slices of a sweep: at what they did not see, at what is open, and at what a plan on them
 * would touch.
 */
export function partUnswept(fromSwept: Plan, desired: Desired, before: State, swept: Swept): Part {
  const { pairs, state } = pairResources(whatIsMeant(desired, fromSwept.options), before);
  const start = touchedByPlan(fromSwept, [...state.intents.keys(), ...unswept(before, swept)]);
  const { outputs: _, reachability: __, ...rest } = desired;
  return partAround(start, pairs, state, rest);
}

/** What a plan touches or cannot do, beside others. */
const touchedByPlan = ({ changes, steps, diagnostics }: Plan, others: readonly Address[]): Set<Address> =>
  new Set([
    ...others,
    ...[...changes, ...steps].map(({ address }) => address),
    ...errorsAmong(diagnostics).flatMap(({ address }) => address ?? []),
  ]);

/** One loop for each way in which a resource gets near to the start. */
export function partAround(
  start: ReadonlySet<Address>,
  pairs: readonly Pair[],
  state: State,
  { outputs = [], reachability }: Desired,
): Part {
  // A service may number each kind by itself: then several have an id, and all of them are looked at.
  const byId = groupedBy(state.resources.values(), ({ id }) => id);
  const named = new Set<Kind>();
  const names = new Set<string>();
  const addresses = new Set(start);
  const neighboursOf = ({ desired, recorded }: Pair): Address[] => [
    ...referencesOf(desired),
    ...(recorded === undefined ? [] : idsNamedBy(recorded)).flatMap((id) =>
      (byId.get(id) ?? []).map(({ address }) => address),
    ),
  ];
  for (const pair of pairs) {
    if (!start.has(pair.address)) continue;
    for (const name of namesOf(pair)) names.add(`${pair.kind} ${name}`);
    if (isNameAsked(pair)) named.add(pair.kind);
    for (const address of neighboursOf(pair)) addresses.add(address);
  }
  for (const pair of pairs) {
    const isNear =
      neighboursOf(pair).some((address) => start.has(address)) ||
      namesOf(pair).some((name) => names.has(`${pair.kind} ${name}`));
    if (isNear) addresses.add(pair.address);
  }
  // An assertion of the file is about all of its groups.
  if (reachability !== undefined) for (const { address } of allOfKind(pairs, "group")) addresses.add(address);
  for (const address of vmsWithUnknownOutputAddress(outputs, state)) addresses.add(address);
  // The record of a moved resource may still be under its old address.
  for (const { address, movedFrom } of pairs)
    if (movedFrom !== undefined && addresses.has(address)) addresses.add(movedFrom);
  return { addresses, named };
}

/** The VMs of which an output hands out an IP address that the state does not remember. */
const vmsWithUnknownOutputAddress = (outputs: NonNullable<Desired["outputs"]>, state: State): Address[] =>
  outputs.flatMap(({ value }) =>
    computedInShaped(value).flatMap(({ address, attribute }) =>
      isAddressAttribute(attribute) && recordedAttribute(state.resources.get(address), attribute) === undefined
        ? [address]
        : [],
    ),
  );

/** What the plan turned out to touch beyond what was looked at; `undefined`: nothing. */
export function widened(
  part: Part,
  { changes, steps }: Pick<Plan, "changes" | "steps">,
  can: Pick<Abilities, "canFindCreated">,
): Part | undefined {
  const addresses = new Set(part.addresses);
  const named = new Set(part.named);
  for (const { address } of [...changes, ...steps]) addresses.add(address);
  for (const step of steps) {
    const kind = nameGiven(step)?.kind;
    if (kind !== undefined) named.add(kind);
  }
  // Only a list tells what hangs on a host that changes, or outlived one: the disks on a VM, strangers' disks included.
  const isStanding = ({ id, reason }: Change): boolean => id !== undefined || reason === "gone";
  for (const change of changes)
    if (isStanding(change)) for (const kind of hangersOf[change.kind]) if (can.canFindCreated(kind)) named.add(kind);
  return addresses.size === part.addresses.size && named.size === part.named.size ? undefined : { addresses, named };
}

const namesOf = ({ desired, recorded }: Pair): string[] =>
  [desired?.name, recorded?.name].flatMap((name) => name?.toLowerCase() ?? []);

/** Whether the plan creates the resource, renames it, or looks for it by its name. */
const isNameAsked = ({ desired, recorded, intent, import: wanted }: Pair): boolean =>
  intent !== undefined ||
  wanted?.name !== undefined ||
  (recorded?.id === undefined && wanted?.id === undefined) ||
  (desired !== undefined && recorded?.name !== undefined && desired.name !== recorded.name);
