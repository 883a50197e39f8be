/** What a plan has to say about a volume. */

import type { DiffContext } from "../../core/diff/context";
import type { Known } from "../../core/diff/find";
import type { PairOf } from "../../core/diff/pair";
import type { DesiredResource } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import { findSeen, type LiveVolume } from "../../core/model/live";
import type { RecordedVolume } from "../../core/model/recorded";
import { saysNone } from "../../core/text/id-problem";
import { openMoves } from "./open-moves";

export type VolumePair = PairOf<"volume">;

export function volumeNotes(
  pair: VolumePair,
  recorded: RecordedVolume | undefined,
  { live, id }: Known<LiveVolume>,
  context: DiffContext,
): Diagnostic[] {
  const notes: Diagnostic[] = [...openMoves(pair, recorded, live, context), ...hostByName(pair, live, context)];
  if (live?.failed === true)
    notes.push({
      severity: "warning",
      code: "plan/volume-failed",
      summary: `volume ${live.name ?? id} is in the failed state ${live.status ?? ""}`.trimEnd(),
      detail: "It is left as it is: only you can say whether its data is still wanted.",
      address: pair.address,
      source: pair.desired?.source,
    });
  return notes;
}

/** What the volume's record says that it hangs on, where no VM has that id. */
const unknownHost = (live: LiveVolume | undefined, { live: seen }: Pick<DiffContext, "live">): string | undefined =>
  typeof live?.attachedTo === "string" && findSeen(seen, "vm", live.attachedTo) === undefined
    ? live.attachedTo
    : undefined;

const hostMisread = (
  pair: VolumePair,
  live: LiveVolume | undefined,
  says: string,
  told: Pick<Diagnostic, "detail" | "fix">,
): Diagnostic => ({
  severity: "error",
  code: "dialect/does-not-fit",
  summary: `volume ${live?.name ?? live?.id} says that it hangs on ${says}`,
  ...told,
  address: pair.address,
  source: pair.desired?.source,
});

/** Taken for an id, the name of a VM is the id of another one: each run would try to take the volume off that. */
export function hostByName(pair: VolumePair, live: LiveVolume | undefined, context: DiffContext): Diagnostic[] {
  const said = unknownHost(live, context);
  const [named, ...others] = (said === undefined ? undefined : context.byName.vm.get(said.toLowerCase())) ?? [];
  if (named === undefined || others.length > 0) return [];
  return [
    hostMisread(pair, live, `${said}, which is no id of a VM, and the name of ${named.id}`, {
      detail: "Taken for an id, it would be another VM, off which each run would try to take the volume.",
      fix: "write by: name in the dialect at records.volume.attached_to, such as { value: /vm, by: name }",
    }),
  ];
}

/** By a word for nothing, a volume would first be taken off a VM that nobody has. Only a dialect can say what it means. */
export function hostThatIsNone(
  pair: VolumePair,
  live: LiveVolume | undefined,
  context: Pick<DiffContext, "live">,
): Diagnostic[] {
  const said = unknownHost(live, context);
  if (said === undefined || !saysNone.test(said)) return [];
  const word = JSON.stringify(said);
  return [
    hostMisread(pair, live, `${said}, which seems to mean that it hangs on nothing`, {
      detail:
        "Taken for an id, it would be a VM off which the volume has to come first, and no service takes it off there.",
      fix: `write none: ${word} in the dialect at records.volume.attached_to, such as { value: /vm_id, none: ${word} }`,
    }),
  ];
}

/** No volume has a million terabytes. */
const inBytes =
  "if the service counts in bytes, in the dialect: records: { volume: { size: [{ value: /size, unit: B }] } }, with the place of its record";

/** Of a volume, or of the data volume of a VM: no write makes what the service shows smaller. */
export const shrinkRefused = (
  { address, source, sizeGb }: Extract<DesiredResource, { readonly sizeGb: number }>,
  shownGb: number,
  otherwise = "",
): Diagnostic => ({
  severity: "error",
  code: "plan/shrink",
  summary: `${address} cannot shrink from ${shownGb} to ${sizeGb} GB`,
  detail: "The service only grows volumes.",
  fix: shownGb >= 1_000_000_000 ? inBytes : `set size back to ${shownGb} or more${otherwise}`,
  address,
  source,
});
