/**
 * Changes of many VMs in waves: no more of them down at a time than the file allows, the first of them alone where it
 * says so, and each wave checked before the next begins. A wave that fails ends the rollout: what comes after it waits
 * for a gate that needs all of it done. Nothing is remembered for it: a run that goes on after a kill makes waves of
 * what is left, and begins with a check of those that are there.
 */

import { guestOf } from "../../kinds/vm/guest-steps";
import { type Address, componentOf, keyWithin } from "../model/address";
import type { Desired, HealthCheck, Rollout } from "../model/desired";
import { allOfKind } from "../model/kinds";
import { findSeen, type LiveVm } from "../model/live";
import { limitOf } from "../model/policy";
import { isDetach } from "../model/relations";
import { itemAt } from "../text/invariant";
import { appendTo, mostOf } from "../text/objects";
import { addStep, type Draft, onceEach, vmHold } from "./draft";
import { isFallback } from "./estimate";
import { isGuestStep, need, type Step, type StepId, type StepOperation } from "./step";

export function rollOut(draft: Draft, { rollouts = [], resources }: Pick<Desired, "rollouts" | "resources">): void {
  if (rollouts.length === 0) return;
  const vms = allOfKind(resources, "vm");
  const stopped = new Set(vms.flatMap(({ power, address }) => (power === "stopped" ? [address] : [])));
  const plan = indexed(draft, new Map(vms.map(({ address }) => [vmHold(draft, { address }), address])));
  for (const rollout of rollouts) rollOne(plan, rollout, stopped);
}

/** The draft with its steps by what they are about. Steps are only added, so that a place stays the step's. */
interface Indexed {
  readonly draft: Draft;
  readonly placeOf: Map<StepId, number>;
  /** What is done to a VM, and the commands that are run on it: places before any rollout adds to them. */
  readonly placesFor: ReadonlyMap<Address, readonly number[]>;
  readonly down: ReadonlySet<Address>;
}

/** `memberHeld`: the VMs by their names in `holds`. */
function indexed(draft: Draft, memberHeld: ReadonlyMap<string, Address>): Indexed {
  const placesFor = new Map<Address, number[]>();
  const heldBy = ({ address, holds }: Step): string[] => holds.map((hold) => `${address} ${hold}`);
  const comesOff = new Set(draft.steps.filter(({ action }) => isDetach(action.operation)).flatMap(heldBy));
  // A volume that comes off a VM is flushed, comes off and goes back with its wave: the guest does without it meanwhile.
  const hosts = (step: Step): (Address | undefined)[] =>
    step.holds.map((hold) => (comesOff.has(`${step.address} ${hold}`) ? memberHeld.get(hold) : undefined));
  for (const [place, step] of draft.steps.entries()) {
    const about = [step.address, step.downtimeOf, isGuestStep(step) ? guestOf(step, draft) : undefined, ...hosts(step)];
    for (const address of new Set(about)) if (address !== undefined) appendTo(placesFor, address, place);
  }
  return {
    draft,
    placeOf: new Map(draft.steps.map(({ id }, place) => [id, place])),
    placesFor,
    down: new Set(draft.steps.flatMap(({ downtimeOf }) => downtimeOf ?? [])),
  };
}

function add(plan: Indexed, step: Parameters<typeof addStep>[1]): StepId {
  plan.placeOf.set(step.id, plan.draft.steps.length);
  return addStep(plan.draft, step);
}

function rollOne(plan: Indexed, rollout: Rollout, stopped: ReadonlySet<Address>): void {
  const { draft } = plan;
  // A VM that is to be stopped cannot answer a check.
  const isRunning = (member: Address): boolean =>
    !stopped.has(member) && draft.state.resources.get(member)?.id !== undefined;
  const { name, members, check } = rollout;
  const changing = new Set(members.filter((member) => isMemberChanging(draft, member)));
  // A VM that an earlier run left in transition is down already, so it is among the first.
  const touched = members.filter((member) => isAffected(plan, member));
  const isLeft = (member: Address): boolean => changing.has(member) || phaseOfMember(draft, member) === "verify_resize";
  const affected = [...touched].sort((a, b) => Number(isLeft(b)) - Number(isLeft(a)));
  if (affected.length === 0) return;
  const waves = wavesOf(affected, rollout);
  // A resize that an earlier run left undecided, or a command that it left owed, is a wave that is not done.
  const isAmong = new Set(affected);
  const others = members.filter((member) => !isAmong.has(member));
  const isUndecided = others.some((member) => leftUndone(plan, member).length > 0);
  if (waves.length < 2 && check === undefined && changing.size === 0 && !isUndecided) return;
  const checked = (member: Address, after: readonly StepId[]): readonly StepId[] =>
    check === undefined || !isRunning(member) || isCheckedAlready(plan, rollout, member)
      ? after
      : [addCheck(plan, check, rollout, member, after)];
  const ready = others.flatMap((member) => {
    const settles = changing.has(member) ? [addSettle(plan, member)] : [];
    return checked(member, [...settles, ...leftUndone(plan, member)]);
  });
  let gate = ready.length === 0 ? undefined : addGate(plan, rollout, 0, ready);
  let before: Before | undefined;
  for (const [index, wave] of waves.entries()) {
    if (gate !== undefined) {
      before = beforeGate(plan, gate, before);
      holdWave(plan, wave, before);
    }
    const done = wave.flatMap((member) => {
      const its = stepsOf(plan, member).filter((step) => !isFallback(step));
      return checked(
        member,
        its.map(({ id }) => id),
      );
    });
    if (index + 1 < waves.length) gate = addGate(plan, rollout, index + 1, done);
  }
  const sizes = waves.map((wave) => wave.length);
  const shown = waves.slice(0, mostWaves).map((wave, index) => `wave ${index + 1}: ${wave.join(", ")}`);
  draft.diagnostics.push({
    severity: "note",
    code: "plan/rollout",
    summary: `rollout ${name}: ${affected.length} of ${members.length} VMs in ${waves.length} ${waves.length === 1 ? "wave" : "waves"} of ${waves.length > mostWaves ? `up to ${mostOf(sizes)}` : sizes.join(", ")}${check === undefined ? "" : ", each checked before the next"}`,
    detail: [
      ...shown,
      ...(waves.length > mostWaves ? [`${waves.length - mostWaves} more waves in the order of the members`] : []),
      ...wayBack(plan, rollout, affected),
    ].join("; "),
    source: rollout.source,
  });
}

/** So many waves are written out. */
const mostWaves = 20;

/** What becomes of VMs that fail the check, where the file asks for more than to stop. */
function wayBack(plan: Indexed, { reverts }: Rollout, affected: readonly Address[]): string[] {
  if (reverts !== true) return [];
  const resized = affected.filter((member) => isResizedAlone(plan, member));
  const rest = affected.length - resized.length;
  const back = plan.draft.context.can.revertsResize
    ? "a resize that fails its check goes back"
    : "this service has no way to take a resize back, and one that fails its check stays as it is";
  const stays = "what is rebuilt or made anew has no way back, and stays as it is when it fails";
  return [...(resized.length > 0 ? [back] : []), ...(rest > 0 ? [stays] : [])];
}

/**
 * A resize that is reverted was checked before its confirmation: by the rollout's own check, unless the VM has another
 * one. What the plan does to the VM besides may come after that check.
 */
const isCheckedAlready = (plan: Indexed, { reverts, check }: Rollout, member: Address): boolean => {
  const actions = stepsOf(plan, member).map(({ action }) => action);
  return (
    reverts === true &&
    isResizedAlone(plan, member) &&
    actions.every(({ operation }) => besideCheck.has(operation)) &&
    actions.some((action) => action.operation === "vm.check" && JSON.stringify(action.check) === JSON.stringify(check))
  );
};

/** A resize, and what comes before it or changes nothing about how the VM answers. */
const besideCheck: ReadonlySet<StepOperation> = new Set([
  ...(["vm.rename", "vm.snapshot", "vm.resize", "vm.check"] as const),
  ...(["vm.resize.confirm", "vm.resize.revert", "record"] as const),
]);

/**
 * What an earlier run left of a VM that is not changed any more, before the first wave: an undecided resize is confirmed
 * or goes back, and the commands that it is owed are run.
 */
function leftUndone(plan: Indexed, member: Address): StepId[] {
  const its = stepsOf(plan, member);
  const decisions = its.filter((step) => step.address === member && step.action.operation === "vm.resize.confirm");
  const commands = its.filter((step) => isGuestStep(step) && guestOf(step, plan.draft) === member);
  return [...decisions, ...commands].map(({ id }) => id);
}

/** Whether the VM is only resized: a resize is confirmed or reverted. */
const isResizedAlone = (plan: Indexed, member: Address): boolean => {
  const operations = new Set(stepsOf(plan, member).map(({ action }) => action.operation));
  return operations.has("vm.resize.revert") && !operations.has("vm.rebuild") && !operations.has("vm.create");
};

/** What is done to the VM, and the commands that are run on it. */
const stepsOf = ({ draft, placesFor }: Indexed, member: Address): Step[] =>
  (placesFor.get(member) ?? []).map((place) => itemAt(draft.steps, place));

const isAffected = ({ draft, down }: Indexed, member: Address): boolean =>
  draft.changeAt.get(member)?.action === "replace" || down.has(member);

export function wavesOf(
  affected: readonly Address[],
  { members, maxUnavailable, canary }: Pick<Rollout, "members" | "maxUnavailable" | "canary">,
): Address[][] {
  const size = Math.max(1, limitOf(maxUnavailable, members.length));
  const waves: Address[][] = [];
  let at = 0;
  if (canary !== undefined && canary < affected.length) {
    // The first VMs are down together, so there are no more of them than may be down.
    for (; at < canary; at += size) waves.push(affected.slice(at, Math.min(at + size, canary)));
    at = canary;
  }
  for (; at < affected.length; at += size) waves.push(affected.slice(at, at + size));
  return waves;
}

const restingPhases: ReadonlySet<string> = new Set(["running", "stopped", "failed", "verify_resize"]);

const phaseOfMember = ({ state, context }: Draft, member: Address): LiveVm["phase"] | undefined =>
  findSeen(context.live, "vm", state.resources.get(member)?.id)?.phase;

function isMemberChanging(draft: Draft, member: Address): boolean {
  const phase = phaseOfMember(draft, member);
  return phase !== undefined && !restingPhases.has(phase);
}

const shortOf = (member: Address): string => `${componentOf(member)}${keyWithin(member)}`;

const addSettle = (plan: Indexed, member: Address): StepId =>
  add(plan, {
    id: `${member}/rollout-settle`,
    address: member,
    action: { operation: "vm.settle", vm: { address: member } },
    title: `wait for VM ${shortOf(member)}, which an earlier run changed`,
    holds: [vmHold(plan.draft, { address: member })],
    record: { building: undefined },
  });

const addCheck = (
  plan: Indexed,
  check: HealthCheck,
  { name, timeoutMs }: Rollout,
  member: Address,
  after: readonly StepId[],
): StepId =>
  add(plan, {
    id: `${member}/rollout-check`,
    address: member,
    action: { operation: "vm.check", vm: { address: member }, check, timeoutMs, rollout: name },
    title: `check VM ${shortOf(member)} before the next wave`,
    needs: after.map((step) => need(step)),
  });

const addGate = (plan: Indexed, { name, members, check }: Rollout, wave: number, after: readonly StepId[]): StepId =>
  add(plan, {
    id: `rollout ${name}/wave-${wave}`,
    address: members[0] ?? "",
    action: { operation: "record", changes: [] },
    title:
      wave === 0
        ? `rollout ${name}: after ${check === undefined ? "what an earlier run began is done" : "the running VMs passed their check"}`
        : `rollout ${name}: wave ${wave} is done`,
    needs: after.map((step) => need(step)),
  });

/**
 * A step for which the gate waits cannot wait for the gate: a disk that moves from one wave to an earlier one goes
 * first.
 */
function holdWave(plan: Indexed, wave: readonly Address[], { gate, steps }: Before): void {
  for (const place of new Set(wave.flatMap((member) => plan.placesFor.get(member) ?? []))) {
    const step = itemAt(plan.draft.steps, place);
    if (!steps.has(step.id)) plan.draft.steps[place] = { ...step, needs: onceEach([...step.needs, need(gate)]) };
  }
}

/** A gate, and the steps for which it waits. */
interface Before {
  readonly gate: StepId;
  readonly steps: Set<StepId>;
}

/** A gate mostly waits for the one before it, whose steps are known. */
function beforeGate({ draft, placeOf }: Indexed, gate: StepId, known: Before | undefined): Before {
  const steps = new Set<StepId>();
  const open = [gate];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const place = placeOf.get(next);
    if (next === known?.gate || place === undefined) continue;
    for (const { step } of itemAt(draft.steps, place).needs)
      if (!steps.has(step)) {
        steps.add(step);
        open.push(step);
      }
  }
  if (known === undefined || !steps.has(known.gate)) return { gate, steps };
  for (const step of steps) known.steps.add(step);
  return { gate, steps: known.steps };
}
