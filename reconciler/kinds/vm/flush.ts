/**
 * Why a volume that comes off a VM is flushed, and what is done for it before. A VM that goes, or is stopped by the same
 * plan, flushes all its volumes by its stop: only of a VM that goes on running is somebody asked, or a command run.
 */

import type { Address } from "../../core/model/address";
import { wordsOfCommand } from "../../core/model/computed";
import type { FlushCommand, FlushPolicy } from "../../core/model/desired";
import { findSeen } from "../../core/model/live";
import { type Draft, planStep, vmHold } from "../../core/plan/draft";
import { type FlushReason, type Need, need, type StepId } from "../../core/plan/step";
import { onlyDefined } from "../../core/text/objects";
import { stopForFlush } from "./flush-stop";

interface ComesOff {
  readonly address: Address;
  readonly label: string;
  readonly policy: FlushPolicy;
  readonly vm: { readonly id: string };
  readonly needs: readonly Need[];
  readonly draft: Draft;
  /** The end of the name of its step, where several volumes of one address come off. */
  readonly which?: string;
}

interface Flushed {
  readonly reason: FlushReason;
  /** What the detach waits for. */
  readonly before: readonly Need[];
  /** Tells which step is the detach. */
  follow(detach: StepId): void;
}

export const flushWords: Readonly<Record<FlushReason, string>> = {
  ask: "needs a flush",
  command: "flushed by its command",
  stop: "while it is stopped",
};

export function planFlush(comesOff: ComesOff): Flushed {
  const { policy, vm, draft } = comesOff;
  const phase = findSeen(draft.context.live, "vm", vm.id)?.phase;
  // Nobody can stop a failed VM, so a person has to say whether its volumes are flushed.
  const asked: FlushPolicy = policy.via === "stop" && phase === "failed" ? { via: "ask" } : policy;
  // No command reaches a guest that is stopped.
  const isStopped = isStoppedAnyway(vm, draft) || (policy.via === "command" && phase === "stopped");
  const { via: reason, ...command } = isStopped ? ({ via: "stop" } as const) : asked;
  if (reason === "stop") {
    const { stop, users } = stopForFlush(vm, draft);
    return { reason, before: stop === undefined ? [] : [need(stop)], follow: (detach) => void users.push(detach) };
  }
  return { reason, before: "argv" in command ? [need(flushBy(command, comesOff))] : [], follow: () => undefined };
}

/** The plan stops the VM, because the file wants it stopped or because the VM is deleted. */
const isStoppedAnyway = ({ id }: { readonly id: string }, draft: Draft): boolean =>
  draft.powerOf(id)?.operation === "vm.stop" ||
  (draft.deleteOfHost(id) !== undefined && draft.flushStopOf(id) !== undefined);

function flushBy(
  { argv, env, folder }: FlushCommand,
  { address, label, vm, needs, draft, which = "" }: ComesOff,
): StepId {
  return planStep(draft, address, `flush${which}`, {
    action: { operation: "flush", argv, ...onlyDefined({ env, folder }) },
    title: `flush volume ${label}: ${wordsOfCommand(argv)}`,
    needs,
    // One guest: as with the commands that are owed to it, one runs after the other.
    holds: [`volume:${address}`, vmHold(draft, vm)],
  });
}
