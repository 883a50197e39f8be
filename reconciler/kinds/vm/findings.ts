/** What a plan has to say about a VM, and which of its names the service's catalogue does not have. */

import { isUuid, resolveEntry } from "../../core/canonical/catalogue";
import type { FieldChange } from "../../core/diff/changes";
import type { DiffContext } from "../../core/diff/context";
import type { Pair } from "../../core/diff/pair";
import type { DesiredVm } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import { toAsk, told, toRun, toSay } from "../../core/model/fix";
import type { LiveVm, LiveVolume, Sighting } from "../../core/model/live";
import type { RecordedVm } from "../../core/model/recorded";
import { inShell } from "../../core/text/in-shell";
import { nearestName } from "../../core/text/nearest";
import { shrinkRefused } from "../volume/findings";

export function checkSize(
  fields: readonly FieldChange[],
  desired: DesiredVm,
  dataVolumeId: string | undefined,
  live: LiveVm | undefined,
  diagnostics: Diagnostic[],
): void {
  const size = fields.find((field) => field.field === "size");
  if (size === undefined) return;
  if (Number(size.before) > desired.sizeGb) diagnostics.push(shrinkRefused(desired, Number(size.before)));
  else if (dataVolumeId === undefined)
    diagnostics.push({
      severity: "error",
      code: "plan/data-volume-unknown",
      summary: `the data volume of ${desired.address} cannot be grown: the service's records do not show which volume it is`,
      detail: "A VM's size grows through the data volume that was created with it, and its id is not known.",
      fix:
        live?.phase === "changing" && live.volumes?.length === 0
          ? `run the same command again when VM ${live.name} is ready: it is ${live.status ?? "being built"} and may show its volumes then`
          : "describe the VM record's volumes in the dialect (records.vm.volumes), or declare a volume of its own and attach it",
      address: desired.address,
      source: desired.source,
    });
}

/**
 * The data volume hangs elsewhere, or is gone. Where it is to be grown or put back no step can end well; else it is left
 * where it is, and that is said.
 */
export function dataVolumeAway(
  { address, source }: DesiredVm,
  vm: string,
  volume: string,
  sighting: Sighting<LiveVolume>,
  becomes: "grown" | "attached to it again" | undefined,
): Diagnostic[] {
  const isGone = sighting.seen === "gone";
  const seen = sighting.seen === "yes" && sighting.value.changing !== true ? sighting.value.attachedTo : undefined;
  const host = seen === null && becomes !== undefined ? vm : seen;
  if (!isGone && (host === undefined || host === vm)) return [];
  const setBack = becomes === "grown" ? [toAsk("set size back")] : [];
  const moves = [
    ...(host === null ? [] : [`detach it from VM ${host}`]),
    ...(becomes === undefined ? [`attach it to VM ${vm}`] : []),
  ];
  return [
    {
      severity: becomes === undefined ? "note" : "error",
      code: "plan/data-volume-away",
      summary: `the data volume of ${address} (${volume}) ${isGone ? "is gone" : `hangs on ${host === null ? "no VM" : `VM ${host}`}`}`,
      detail: `It was created with VM ${vm}, and is ${becomes === undefined ? "left as it is" : `to be ${becomes}`}.`,
      ...told(
        isGone
          ? [...setBack, toRun(["apply", "--replace", address], "a new one comes with a new VM")]
          : [toAsk(`${moves.join(" and ")} in the service's console`), ...setBack],
      ),
      address,
      source,
    },
  ];
}

const entriesOf = (index: DiffContext["flavors"]) => [...(index?.byId.values() ?? [])];

/** A run began the resize, and no other one will decide it. */
export const undecidedWhenLetGo = ({ address }: Pick<Pair, "address">, name: string, to: string): Diagnostic => ({
  severity: "warning",
  code: "apply/resize-waits",
  summary: `VM ${name} is let go while its resize to ${to} waits to be confirmed or reverted, and no run decides that any more`,
  fix: "confirm or revert it in the service's console",
  address,
});

/** A flavor or region that no list has is an error before anything is sent; an image id may be private and is only noted. */
export function checkCatalogue(
  desired: DesiredVm,
  context: DiffContext,
  isSent: (field: string) => boolean = () => true,
): { imageId: string; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const complain = (
    what: "flavor" | "image" | "region",
    field: string,
    text: string,
    entries: readonly { id: string; name?: string }[],
    several: boolean,
  ): void => {
    if (!isSent(field)) return;
    const shown = entries
      .slice(0, 12)
      .map((entry) => (entry.name === undefined ? entry.id : several ? `${entry.name} (${entry.id})` : entry.name));
    const near = several
      ? undefined
      : nearestName(
          text,
          entries.map((entry) => entry.name ?? entry.id),
        );
    diagnostics.push({
      severity: "error",
      code: `plan/${what}-${several ? "ambiguous" : "unknown"}`,
      summary: several ? `${field} ${text} means several ${what}s` : `${field} ${text} is no ${what} of this service`,
      detail: `${several ? "Candidates" : "It has"}: ${shown.join(", ")}${entries.length > 12 ? `, and ${entries.length - 12} more` : ""}`,
      fix: several
        ? `write the id of the one that is meant as ${field}: ${entries
            .slice(0, 3)
            .map(({ id }) => id)
            .join(" or ")}`
        : near === undefined
          ? `use one of these as ${field}`
          : `write ${near}`,
      address: desired.address,
      source: desired.source,
    });
  };
  const image = resolveEntry(desired.image, context.images);
  const named = [
    ["flavor", "flavor_id", desired.flavor, context.flavors],
    ["region", "region", desired.region, context.regions],
    ["image", "image_id", desired.image, context.images],
  ] as const;
  for (const [what, field, text, index] of named) {
    const resolved = resolveEntry(text, index);
    if (resolved.found === "several") complain(what, field, text, resolved.entries, true);
    const isOpen = what === "image" ? isUuid(text) : what === "region" && entriesOf(index).length === 0;
    if (resolved.found === "none" && !isOpen) complain(what, field, text, entriesOf(index), false);
  }
  if (isSent("image_id")) diagnostics.push(...imageNotes(desired, image.found, context.can.listsImages));
  return { imageId: image.found === "one" ? image.entry.id : desired.image, diagnostics };
}

function imageNotes(
  { image, address, source }: DesiredVm,
  found: ReturnType<typeof resolveEntry>["found"],
  isListed: boolean,
): Diagnostic[] {
  if (found === "unlisted" && !isUuid(image))
    return [
      {
        severity: "warning",
        code: "plan/image-unresolved",
        summary: `image_id ${image} is a name, and ${isListed ? "the list of images was not read" : "this service has no list of images to look it up in"}`,
        detail: "It is sent as it is; a create takes the image's UUID.",
        fix: `write the image's UUID as image_id, or ${isListed ? "let the plan read the list: without --no-refresh, from a service that answers it" : "name the list in the dialect: operations: { image.list: … }"}`,
        address,
        source,
      },
    ];
  if (found === "none" && isUuid(image))
    return [
      {
        severity: "note",
        code: "plan/image-unlisted",
        summary: `image ${image} is not in the service's list of images`,
        detail: "It is sent as it is; a private image or a snapshot may not be listed.",
        address,
        source,
      },
    ];
  return [];
}

export const failedNote = (pair: Pair, live: LiveVm): Diagnostic => ({
  severity: "warning",
  code: "plan/vm-failed",
  summary: `VM ${live.name} is in the failed state ${live.status ?? ""}`.trimEnd(),
  detail: "It is left as it is: replacing it would delete its root disk.",
  fix: `--replace ${inShell(pair.address)}`,
  address: pair.address,
  source: pair.desired?.source,
});

/** A VM to be taken over by its name, where nobody can say which one that is. */
export const importUnseen = (pair: Pair, name: string, isListed: boolean): Diagnostic => ({
  severity: "error",
  code: "plan/import-by-name",
  summary: `${pair.address} cannot be imported by the name ${name}: ${isListed ? "this plan does not look at the service" : "this service has no list of VMs"}`,
  detail: "A name is looked up in the list of VMs; without it the VM could only be created a second time.",
  fix: isListed ? "plan without --no-refresh, or give its id: instead" : "give its id: instead of its name",
  address: pair.address,
  source: pair.import?.source,
});

export const volumesUnseenNote = ({ address, desired }: Pair, { name, id, sizeGb }: RecordedVm): Diagnostic => ({
  severity: "warning",
  code: "plan/attachments-unseen",
  summary: `VM ${name} (${id}) is gone, and no record has shown which volume of ${sizeGb} GB it left behind`,
  ...told([
    toSay(
      [
        "look in the service's console for a volume that hangs on no VM; to manage it: ",
        ["import", "volume.NAME", "ID"],
      ],
      'look in the service\'s console for a volume that hangs on no VM; to manage it: a Volume with adopt: "<its id>"',
    ),
  ]),
  address,
  source: desired?.source,
});

export const idWillBeUnknown = (pair: Pair): Diagnostic => ({
  severity: "warning",
  code: "plan/id-unknown",
  summary: `the id of ${pair.address} cannot be learnt: this service has no list of VMs`,
  detail: "The VM will be created once, and the run will end waiting (exit code 4) until its id is given.",
  ...told([toSay(["after the run: ", ["import", pair.address, "ID"]], 'after the run: adopt: "<its id>"')]),
  address: pair.address,
  source: pair.desired?.source,
});
