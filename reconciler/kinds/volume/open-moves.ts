/**
 * What an interrupted run left of a move. An attach or a detach whose answer was lost, or was that it is so already: what the service shows of it, and
 * the question to a person where it shows nothing. A VM that was stopped for it: whether it may still be.
 */

import type { DiffContext } from "../../core/diff/context";
import { type Pair, recordedAt } from "../../core/diff/pair";
import type { Diagnostic } from "../../core/model/diagnostic";
import { valueSeen } from "../../core/model/evidence";
import { type Advice, told, toRun } from "../../core/model/fix";
import { type Live, type LiveVolume, sight } from "../../core/model/live";
import type { RecordedVolume } from "../../core/model/recorded";

/** Whether the volume hangs on the VM, by its own record or by the VM's; `undefined`: neither tells. */
export function isCarriedBy(
  vm: string,
  volume: string,
  live: LiveVolume | undefined,
  context: Pick<DiffContext, "live">,
): boolean | undefined {
  if (live?.attachedTo !== undefined) return live.attachedTo === vm;
  const sighting = sight(context.live, "vm", vm);
  return sighting.seen === "gone" ? false : valueSeen(sighting)?.volumes?.some((disk) => disk.id === volume);
}

/** The question, for a volume that has an address. */
export function openMoves(
  pair: Pair,
  recorded: RecordedVolume | undefined,
  live: LiveVolume | undefined,
  context: DiffContext,
): Diagnostic[] {
  if (recorded === undefined) return [];
  const { id, attaching, detaching } = recorded;
  const isOpen = (vm: string | undefined): vm is string =>
    vm !== undefined && isCarriedBy(vm, id, live, context) === undefined;
  return [
    ...(isOpen(attaching) ? [moveUnknown(pair, `volume ${id}`, "attached to", attaching)] : []),
    ...(isOpen(detaching) ? [moveUnknown(pair, `volume ${id}`, "detached from", detaching)] : []),
  ];
}

export const moveUnknown = (
  pair: Pair,
  what: string,
  how: "attached to" | "detached from",
  vm: string,
): Diagnostic => ({
  severity: "error",
  code: "plan/outcome-unknown",
  summary: `outcome unknown: ${what} (${pair.address}) was to be ${how} VM ${vm}, and nothing shows what became of that`,
  detail: "This service does not show what a volume hangs on. Look in the service's console.",
  ...told(openMoveFix(recordedAt(pair))),
  address: pair.address,
  source: pair.desired?.source,
});

/** The two commands with which a person settles an attach or a detach of which nothing tells the outcome. */
export const openMoveFix = (address: string): Advice => [
  toRun(["state resolve", address, "--attached"], "it hangs there"),
  toRun(["state resolve", address, "--detached"], "it does not"),
];

/** A VM of which nobody sees whether it runs may still be stopped, and so may one that is under way. */
export function mayBeStopped(id: string, live: Live): boolean {
  const sighting = sight(live, "vm", id);
  const phase = valueSeen(sighting)?.phase;
  return !(sighting.seen === "gone" || phase === "running" || phase === "failed" || phase === "verify_resize");
}
