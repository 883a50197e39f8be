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
import { type LiveVm, sight } from "../model/live";
import { limitOf } from "../model/policy";
import { addStep, type Draft, onceEach, vmHold } from "./draft";
import { isFallback } from "./estimate";
import { isGuestStep, need, type Step, type StepId } from "./step";

export function rollOut(draft: Draft, { rollouts = [], resources }: Pick<Desired, "rollouts" | "resources">): void {
  const stopped = new Set(
    allOfKind(resources, "vm").flatMap((resource) => (resource.power === "stopped" ? [resource.address] : [])),
  );
  for (const rollout of rollouts) rollOne(draft, rollout, stopped);
}

function rollOne(draft: Draft, rollout: Rollout, stopped: ReadonlySet<Address>): void {
  // A VM that is to be stopped cannot answer a check.
  const isRunning = (member: Address): boolean =>
    !stopped.has(member) && draft.state.resources.get(member)?.id !== undefined;
  const { name, members, check } = rollout;
  const changing = members.filter((member) => isMemberChanging(draft, member));
  // A VM that an earlier run left in transition is down already, so it is among the first.
  const touched = members.filter((member) => isAffected(draft, member));
  const isLeft = (member: Address): boolean =>
    changing.includes(member) || phaseOfMember(draft, member) === "verify_resize";
  const affected = [...touched].sort((a, b) => Number(isLeft(b)) - Number(isLeft(a)));
  if (affected.length === 0) return;
  const waves = wavesOf(affected, rollout);
  // A resize that an earlier run left undecided, or a command that it left owed, is a wave that is not done.
  const others = members.filter((member) => !affected.includes(member));
  const isUndecided = others.some((member) => [...decisionsOf(draft, member), ...commandsOn(draft, member)].length > 0);
  if (waves.length < 2 && check === undefined && changing.length === 0 && !isUndecided) return;
  const ready = others.flatMap((member) => {
    const settles = changing.includes(member) ? [addSettle(draft, member)] : [];
    const settled = [...settles, ...decisionsOf(draft, member), ...commandsOn(draft, member)];
    return check === undefined || !isRunning(member) || isCheckedAlready(draft, rollout, member)
      ? settled
      : [addCheck(draft, check, rollout, member, settled)];
  });
  let gate = ready.length === 0 ? undefined : addGate(draft, rollout, 0, ready);
  for (const [index, wave] of waves.entries()) {
    const after = gate;
    if (after !== undefined) holdWave(draft, wave, after);
    const done = wave.flatMap((member) => {
      const its = stepsOf(draft, member)
        .filter((step) => !isFallback(step))
        .map(({ id }) => id);
      return check === undefined || !isRunning(member) || isCheckedAlready(draft, rollout, member)
        ? its
        : [addCheck(draft, check, rollout, member, its)];
    });
    if (index + 1 < waves.length) gate = addGate(draft, rollout, index + 1, done);
  }
  const size = (wave: readonly Address[]): string => `${wave.length}`;
  draft.diagnostics.push({
    severity: "note",
    code: "plan/rollout",
    summary: `rollout ${name}: ${affected.length} of ${members.length} VMs in ${waves.length} ${waves.length === 1 ? "wave" : "waves"} of ${waves.map(size).join(", ")}${check === undefined ? "" : ", each checked before the next"}`,
    detail: [
      ...waves.map((wave, index) => `wave ${index + 1}: ${wave.join(", ")}`),
      ...wayBack(draft, rollout, affected),
    ].join("; "),
    source: rollout.source,
  });
}

/** What becomes of VMs that fail the check, where the file asks for more than to stop. */
function wayBack(draft: Draft, { reverts }: Rollout, affected: readonly Address[]): string[] {
  if (reverts !== true) return [];
  const resized = affected.filter((member) => isResizedAlone(draft, member));
  const rest = affected.length - resized.length;
  const back = draft.context.can.revertsResize
    ? "a resize that fails its check goes back"
    : "this service has no way to take a resize back, and one that fails its check stays as it is";
  const stays = "what is rebuilt or made anew has no way back, and stays as it is when it fails";
  return [...(resized.length > 0 ? [back] : []), ...(rest > 0 ? [stays] : [])];
}

/** A resize that is reverted was checked before its confirmation. */
const isCheckedAlready = (draft: Draft, { reverts }: Rollout, member: Address): boolean =>
  reverts === true && isResizedAlone(draft, member);

/** A resize that an earlier run left undecided: it is confirmed, or goes back, before the first wave. */
const decisionsOf = (draft: Draft, member: Address): StepId[] =>
  draft.steps.flatMap(({ address, action, id }) =>
    address === member && action.operation === "vm.resize.confirm" ? [id] : [],
  );

/** Whether the VM is only resized: a resize is confirmed or reverted. */
const isResizedAlone = (draft: Draft, member: Address): boolean => {
  const operations = new Set(stepsOf(draft, member).map(({ action }) => action.operation));
  return operations.has("vm.resize.revert") && !operations.has("vm.rebuild") && !operations.has("vm.create");
};

/** What is done to the VM, and the commands that are run on it. */
const stepsOf = (draft: Draft, member: Address): Step[] =>
  draft.steps.filter(
    (step) =>
      step.address === member || step.downtimeOf === member || (isGuestStep(step) && guestOf(step, draft) === member),
  );

/** Commands that an earlier run left owed to a VM that is not changed any more. */
const commandsOn = (draft: Draft, member: Address): StepId[] =>
  draft.steps.flatMap((step) => (isGuestStep(step) && guestOf(step, draft) === member ? [step.id] : []));

const isAffected = (draft: Draft, member: Address): boolean =>
  draft.changeAt.get(member)?.action === "replace" || draft.steps.some((step) => step.downtimeOf === member);

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

function phaseOfMember(draft: Draft, member: Address): LiveVm["phase"] | undefined {
  const id = draft.state.resources.get(member)?.id;
  const sighting = id === undefined ? undefined : sight(draft.context.live, "vm", id);
  return sighting?.seen === "yes" ? sighting.value.phase : undefined;
}

function isMemberChanging(draft: Draft, member: Address): boolean {
  const phase = phaseOfMember(draft, member);
  return phase !== undefined && !restingPhases.has(phase);
}

const shortOf = (member: Address): string => `${componentOf(member)}${keyWithin(member)}`;

const addSettle = (draft: Draft, member: Address): StepId =>
  addStep(draft, {
    id: `${member}/rollout-settle`,
    address: member,
    action: { operation: "vm.settle", vm: { address: member } },
    title: `wait for VM ${shortOf(member)}, which an earlier run changed`,
    holds: [vmHold(draft, { address: member })],
    record: { building: undefined },
  });

const addCheck = (
  draft: Draft,
  check: HealthCheck,
  { timeoutMs }: Rollout,
  member: Address,
  after: readonly StepId[],
): StepId =>
  addStep(draft, {
    id: `${member}/rollout-check`,
    address: member,
    action: { operation: "vm.check", vm: { address: member }, check, timeoutMs },
    title: `check VM ${shortOf(member)} before the next wave`,
    needs: after.map((step) => need(step)),
  });

function addGate(draft: Draft, { name, members, check }: Rollout, wave: number, after: readonly StepId[]): StepId {
  return addStep(draft, {
    id: `rollout ${name}/wave-${wave}`,
    address: members[0] ?? "",
    action: { operation: "record", changes: [] },
    title:
      wave === 0
        ? `rollout ${name}: after ${check === undefined ? "what an earlier run began is done" : "the running VMs passed their check"}`
        : `rollout ${name}: wave ${wave} is done`,
    needs: after.map((step) => need(step)),
  });
}

/**
 * A step for which the gate waits cannot wait for the gate: a disk that moves from one wave to an earlier one goes
 * first.
 */
function holdWave(draft: Draft, wave: readonly Address[], gate: StepId): void {
  const before = closureOf(draft, gate);
  const ids = new Set(wave.flatMap((member) => stepsOf(draft, member).map(({ id }) => id)));
  draft.steps.forEach((step, index) => {
    if (ids.has(step.id) && !before.has(step.id))
      draft.steps[index] = { ...step, needs: onceEach([...step.needs, need(gate)]) };
  });
}

function closureOf(draft: Draft, gate: StepId): ReadonlySet<string> {
  const needs = new Map(draft.steps.map((step) => [step.id, step.needs]));
  const seen = new Set<string>();
  const open = [gate];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const { step } of needs.get(next) ?? [])
      if (!seen.has(step)) {
        seen.add(step);
        open.push(step);
      }
  return seen;
}
