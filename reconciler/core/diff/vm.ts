/**
 * What differs about one VM. Before is what the service shows, or what was recorded where it shows nothing; a field
 * known from neither is not compared. Deciding the order of requests is left to core/plan/vm-steps.ts.
 */
import { catalogueId, isUuid, resolveEntry } from "../canonical/catalogue";
import { sameOwner } from "../canonical/names";
import type { DesiredVm } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { vmFields } from "../model/fields";
import type { LiveVm, Sighting } from "../model/live";
import type { RecordedVm } from "../model/recorded";
import { type Action, type Change, type Difference, type FieldChange, fieldChange, type Reason } from "./changes";
import { type DiffContext, sightVm } from "./context";
import { goneNote, nameTaken, severalNamed } from "./findings";
import type { Pair } from "./pair";

export interface VmDifference extends Difference<DesiredVm, RecordedVm, LiveVm> {
  readonly kind: "vm";
  /** Created by an interrupted run or taken over; its id is known now. */
  readonly adopts?: boolean;
  /** Nobody can tell its id; `import` has to. */
  readonly idUnknown?: boolean;
  /** Still being built or otherwise in transition: wait before touching it. */
  readonly unsettled?: boolean;
  /** The image id wanted, once resolved. */
  readonly imageId?: string;
  /** The volume that grows when `size` does. */
  readonly dataVolumeId?: string;
  /** It was taken off to be grown, and an interrupted run did not put it back. */
  readonly dataVolumeOff?: boolean;
  /** It waits in VERIFY_RESIZE for a decision. */
  readonly verify?: "confirm" | "revert";
}

export function diffVm(pair: Pair, context: DiffContext): VmDifference {
  const desired = pair.desired as DesiredVm | undefined;
  const recorded = pair.recorded as RecordedVm | undefined;
  const base = { kind: "vm" as const, address: pair.address, desired, recorded };
  const found = findVm(pair, context);
  switch (found.how) {
    case "error":
      return { ...base, diagnostics: [found.diagnostic] };
    case "id-unknown":
      return desired === undefined && recorded === undefined
        ? { ...base, diagnostics: [] }
        : { ...base, idUnknown: true, diagnostics: [] };
    case "absent":
      if (desired !== undefined)
        return { ...base, recorded: undefined, ...createVm(desired, recorded, found.gone, pair, context) };
      return recorded === undefined
        ? { ...base, diagnostics: [] }
        : { ...base, change: forget(recorded, "gone", "it no longer exists in the service"), diagnostics: [] };
    case "known":
      return desired === undefined
        ? { ...base, ...removeVm(pair, recorded!, found.live, context) }
        : { ...base, ...updateVm(pair, desired, recorded, found, context) };
  }
}

type Found =
  | { readonly how: "error"; readonly diagnostic: Diagnostic }
  | { readonly how: "id-unknown" }
  | { readonly how: "absent"; readonly gone?: string }
  | { readonly how: "known"; readonly id: string; readonly live?: LiveVm; readonly adopted?: Reason };

function findVm(pair: Pair, context: DiffContext): Found {
  const recorded = pair.recorded as RecordedVm | undefined;
  if (recorded?.id !== undefined) return fromSighting(recorded.id, sightVm(context, recorded.id));
  const desired = pair.desired as DesiredVm | undefined;
  if (pair.import?.id !== undefined) {
    const sighting = sightVm(context, pair.import.id);
    if (sighting.seen === "gone") return { how: "error", diagnostic: importGone(pair, pair.import.id) };
    return {
      how: "known",
      id: pair.import.id,
      adopted: "imported",
      ...(sighting.seen === "yes" ? { live: sighting.value } : {}),
    };
  }
  const interrupted = pair.intent?.operation === "vm.create" ? pair.intent : undefined;
  const name = interrupted?.name ?? recorded?.name ?? pair.import?.name ?? desired?.name;
  if (name === undefined) return { how: "absent" };
  if (context.live.vms === undefined)
    return interrupted !== undefined || recorded !== undefined ? { how: "id-unknown" } : { how: "absent" };
  const before = new Set(interrupted?.idsBefore ?? []);
  const named = (context.vmsByName.get(name.toLowerCase()) ?? []).filter((vm) => !context.addressOfId.has(vm.id));
  const candidates = named.filter((vm) => !before.has(vm.id));
  if (candidates.length > 1) return { how: "error", diagnostic: severalNamed(pair, "VM", name, candidates) };
  const only = candidates[0];
  if (interrupted !== undefined || recorded !== undefined)
    return only === undefined ? { how: "absent" } : { how: "known", id: only.id, live: only, adopted: "interrupted" };
  if (only === undefined)
    return pair.import?.name === undefined
      ? { how: "absent" }
      : { how: "error", diagnostic: importGone(pair, pair.import.name) };
  if (pair.import?.name !== undefined) return { how: "known", id: only.id, live: only, adopted: "imported" };
  if (context.options.adopt === true) return { how: "known", id: only.id, live: only, adopted: "adopted" };
  return { how: "error", diagnostic: nameTaken(pair, "VM", only) };
}

const fromSighting = (id: string, sighting: Sighting<LiveVm>): Found =>
  sighting.seen === "gone"
    ? { how: "absent", gone: id }
    : { how: "known", id, ...(sighting.seen === "yes" ? { live: sighting.value } : {}) };

function createVm(
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  gone: string | undefined,
  pair: Pair,
  context: DiffContext,
): Pick<VmDifference, "change" | "diagnostics" | "imageId"> {
  const { imageId, diagnostics } = checkCatalogue(desired, context);
  if (gone !== undefined && recorded !== undefined)
    diagnostics.push(goneNote(pair, "VM", gone, "it will be created again"));
  if (context.live.vms === undefined && pair.intent === undefined && !context.has("vm.list"))
    diagnostics.push(idWillBeUnknown(pair));
  const fields = (Object.keys(vmFields) as (keyof typeof vmFields)[])
    .filter((key) => desired[key] !== undefined)
    .map((key) => fieldChange({ ...vmFields[key], effect: "in_place" }, undefined, desired[key], "create"));
  const reason: Reason = gone !== undefined ? "gone" : pair.intent !== undefined ? "interrupted" : "declared";
  const because =
    reason === "gone"
      ? `VM ${gone} no longer exists in the service`
      : reason === "interrupted"
        ? "an interrupted run did not get to create it"
        : "it is declared and does not exist yet";
  return {
    change: {
      address: desired.address,
      kind: "vm",
      action: "create",
      name: desired.name,
      fields,
      reason,
      because,
      losses: [],
      source: desired.source,
    },
    imageId,
    diagnostics,
  };
}

function removeVm(
  pair: Pair,
  recorded: RecordedVm,
  live: LiveVm | undefined,
  context: DiffContext,
): Pick<VmDifference, "change" | "diagnostics" | "live"> {
  if (pair.forget)
    return { live, change: forget(recorded, "removed", "a removed entry says to let it go"), diagnostics: [] };
  const destroy = context.options.destroy === true;
  return {
    live,
    change: {
      address: pair.address,
      kind: "vm",
      action: "delete",
      name: live?.name ?? recorded.name,
      id: recorded.id,
      fields: [],
      reason: destroy ? "destroy" : "removed",
      because: destroy ? "everything in the state is to be destroyed" : "it is no longer declared",
      losses: [`the root disk of VM ${live?.name ?? recorded.name} is deleted with it`],
    },
    diagnostics: [],
  };
}

const forget = (recorded: RecordedVm, reason: Reason, because: string): Change => ({
  address: recorded.address,
  kind: "vm",
  action: "forget",
  name: recorded.name,
  id: recorded.id,
  fields: [],
  reason,
  because,
  losses: [],
});

function updateVm(
  pair: Pair,
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  found: Extract<Found, { how: "known" }>,
  context: DiffContext,
): Omit<VmDifference, "kind" | "address" | "desired" | "recorded"> {
  const { live, id, adopted } = found;
  const diagnostics: Diagnostic[] = [];
  const comparison = compareVm(desired, recorded, live, context, diagnostics);
  const ignored = new Set(desired.lifecycle.ignoreChanges);
  const fields = comparison.fields.filter((field) => !ignored.has(field.field));
  const dataVolumeId = findDataVolume(recorded, live, context);
  const failed = live?.phase === "failed";
  const neverSettled = failed && (recorded?.building === true || adopted === "interrupted");
  if (failed && !neverSettled && !context.replace.has(desired.address)) diagnostics.push(failedNote(pair, live));
  checkSize(fields, desired, dataVolumeId, diagnostics);

  const requested = context.replace.has(desired.address);
  const forced = fields.some((field) => field.forces === "replace");
  const replaces = forced || requested || neverSettled;
  const dataVolumeOff =
    recorded?.dataVolumeDetached === true &&
    dataVolumeId !== undefined &&
    live?.volumes?.some((disk) => disk.id === dataVolumeId) !== true;
  const unsettled =
    live?.phase === "changing" && (recorded?.building === true || adopted === "interrupted" || fields.length > 0);
  if (replaces) diagnostics.push(...checkCatalogue(desired, context).diagnostics);
  else if (fields.some((field) => field.field === "flavor_id"))
    diagnostics.push(...checkCatalogue(desired, context).diagnostics.filter((d) => d.code.startsWith("plan/flavor")));

  const name = live?.name ?? recorded?.name ?? desired.name;
  const losses: string[] = [];
  if (replaces) losses.push(`the root disk of VM ${name} is deleted with it`);
  else if (fields.some((field) => field.verb === "rebuild"))
    losses.push(`the root disk of VM ${name} is wiped by the rebuild`);
  const action: Action | undefined = replaces
    ? "replace"
    : adopted !== undefined
      ? "import"
      : fields.length > 0 ||
          unsettled ||
          dataVolumeOff ||
          comparison.verify !== undefined ||
          pair.movedFrom !== undefined
        ? "update"
        : undefined;
  const reason: Reason = requested
    ? "requested"
    : neverSettled
      ? "failed"
      : (adopted ??
        (fields.length > 0
          ? comparison.drifted
            ? "drifted"
            : "changed"
          : pair.movedFrom !== undefined
            ? "moved"
            : "interrupted"));
  const moved: FieldChange[] =
    pair.movedFrom === undefined
      ? []
      : [{ field: "address", before: pair.movedFrom, after: pair.address, verb: "move" }];
  return {
    live,
    imageId: comparison.imageId,
    dataVolumeId,
    ...(dataVolumeOff ? { dataVolumeOff } : {}),
    ...(adopted === undefined ? {} : { adopts: true }),
    ...(unsettled ? { unsettled: true } : {}),
    ...(comparison.verify === undefined ? {} : { verify: comparison.verify }),
    change:
      action === undefined
        ? undefined
        : {
            address: desired.address,
            kind: "vm",
            action,
            name,
            id,
            fields: [...moved, ...fields],
            reason,
            because: explain(reason, name, fields, live),
            losses,
            movedFrom: pair.movedFrom,
            source: desired.source,
          },
    diagnostics,
  };
}

interface Comparison {
  readonly fields: readonly FieldChange[];
  readonly imageId?: string;
  /** The file did not change; the service did. */
  readonly drifted: boolean;
  readonly verify?: "confirm" | "revert";
}

function compareVm(
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  live: LiveVm | undefined,
  context: DiffContext,
  diagnostics: Diagnostic[],
): Comparison {
  const fields: FieldChange[] = [];
  let intended = false;
  const differ = (field: FieldChange, recordedAgrees: boolean): void => {
    fields.push(field);
    if (!recordedAgrees) intended = true;
  };

  const name = live?.name ?? recorded?.name;
  if (name !== undefined && name.toLowerCase() !== desired.name)
    differ(fieldChange(vmFields.name, name, desired.name), recorded?.name.toLowerCase() === desired.name);

  const verify = decideVerify(desired, recorded, live, context);
  if (verify === undefined) {
    const before = live?.flavor ?? recorded?.flavor;
    if (before !== undefined && !sameFlavor(desired.flavor, live?.flavor, recorded?.flavor, context))
      differ(fieldChange(vmFields.flavor, before, desired.flavor), recorded?.flavor === desired.flavor);
  }

  const image = compareImage(desired, recorded, live, context, diagnostics);
  if (image.change !== undefined) differ(image.change, recorded?.image === desired.image);

  const owner = live?.owner ?? recorded?.owner;
  if (owner !== undefined && !(sameOwner(owner, desired.owner) && sameOwner(recorded?.owner ?? owner, desired.owner)))
    differ(fieldChange(vmFields.owner, owner, desired.owner), recorded?.owner === desired.owner);

  for (const key of ["userId", "project", "region", "rootSizeGb", "skipFloatingIp"] as const) {
    const before = recorded?.[key];
    if (before !== undefined && before !== desired[key])
      differ(fieldChange(vmFields[key], before, desired[key]), false);
  }

  const size = recorded?.sizeGb;
  if (size !== undefined && size !== desired.sizeGb) differ(fieldChange(vmFields.sizeGb, size, desired.sizeGb), false);

  const power =
    live === undefined
      ? recorded?.power
      : live.phase === "running" || live.phase === "stopped"
        ? live.phase
        : undefined;
  if (desired.power !== undefined && power !== undefined && power !== desired.power)
    differ(
      fieldChange(vmFields.power, power, desired.power, desired.power === "running" ? "start" : "stop"),
      recorded?.power === desired.power,
    );

  return { fields, imageId: image.wanted, drifted: !intended, ...(verify === undefined ? {} : { verify }) };
}

/** Equal ids are equal; without a list, only the text that was applied last can be compared. */
function sameFlavor(
  wanted: string,
  live: string | undefined,
  recorded: string | undefined,
  context: DiffContext,
): boolean {
  if (live === wanted) return true;
  const wantedEntry = resolveEntry(wanted, context.flavors);
  if (live !== undefined && wantedEntry.found === "one") {
    const liveId = catalogueId(live, context.flavors);
    return liveId === wantedEntry.entry.id;
  }
  if (recorded !== undefined) return recorded === wanted;
  return live === undefined;
}

function decideVerify(
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  live: LiveVm | undefined,
  context: DiffContext,
): "confirm" | "revert" | undefined {
  const waits = live === undefined ? recorded?.resizing !== undefined : live.phase === "verify_resize";
  if (!waits) return undefined;
  const target = recorded?.resizing?.to ?? live?.flavor;
  if (target === undefined) return "confirm";
  return catalogueId(target, context.flavors) === catalogueId(desired.flavor, context.flavors) ? "confirm" : "revert";
}

function compareImage(
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  live: LiveVm | undefined,
  context: DiffContext,
  diagnostics: Diagnostic[],
): { readonly wanted?: string; readonly change?: FieldChange } {
  const policy = desired.lifecycle.onImageChange;
  const resolved = resolveEntry(desired.image, context.images);
  const meansNow = resolved.found === "one" ? resolved.entry.id : desired.image;
  const sameText = recorded?.image === desired.image;
  const nameMoved =
    sameText && recorded?.imageId !== undefined && recorded.imageId !== meansNow && !isUuid(desired.image);
  if (nameMoved && resolved.found === "one") {
    diagnostics.push({
      severity: "note",
      code: "plan/image-name-moved",
      summary: `the image name ${desired.image} now means another image`,
      detail: `${desired.address} was built from ${recorded?.imageId}; the name means ${meansNow} today. A running VM is never rebuilt for that.`,
      fix: `write the new id as image_id to rebuild from it`,
      address: desired.address,
      source: desired.source,
    });
  }
  const wanted = nameMoved ? recorded!.imageId! : meansNow;
  const before =
    live?.image !== undefined ? catalogueId(live.image, context.images) : (recorded?.imageId ?? recorded?.image);
  if (policy === "ignore" || before === undefined || before === wanted || (sameText && live?.image === undefined))
    return { wanted };
  const verb = policy === "replace" ? "replace" : "rebuild";
  return { wanted, change: fieldChange(vmFields.image, before, wanted, verb) };
}

/** The one disk that is neither the root disk nor a volume managed by itself. */
function findDataVolume(
  recorded: RecordedVm | undefined,
  live: LiveVm | undefined,
  context: DiffContext,
): string | undefined {
  if (recorded?.dataVolumeId !== undefined) return recorded.dataVolumeId;
  const disks = live?.volumes;
  if (disks === undefined || disks.every((disk) => disk.root === undefined)) return undefined;
  const data = disks.filter((disk) => disk.root !== true && !context.addressOfId.has(disk.id));
  return data.length === 1 ? data[0]!.id : undefined;
}

function checkSize(
  fields: readonly FieldChange[],
  desired: DesiredVm,
  dataVolumeId: string | undefined,
  diagnostics: Diagnostic[],
): void {
  const size = fields.find((field) => field.field === "size");
  if (size === undefined) return;
  if (Number(size.before) > desired.sizeGb)
    diagnostics.push({
      severity: "error",
      code: "plan/shrink",
      summary: `${desired.address} cannot shrink from ${size.before} to ${desired.sizeGb} GB`,
      detail: "The service only grows volumes.",
      fix: `set size back to ${size.before} or more`,
      address: desired.address,
      source: desired.source,
    });
  else if (dataVolumeId === undefined)
    diagnostics.push({
      severity: "error",
      code: "plan/data-volume-unknown",
      summary: `the data volume of ${desired.address} cannot be grown: the service's records do not show which volume it is`,
      detail: "A VM's size grows through the data volume that was created with it, and its id is not known.",
      fix: "describe the VM record's volumes in the dialect (records.vm.volumes), or declare a volume of its own and attach it",
      address: desired.address,
      source: desired.source,
    });
}

/** A flavor or region that no list has is an error before anything is sent; an image id may be private and is only noted. */
function checkCatalogue(desired: DesiredVm, context: DiffContext): { imageId: string; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const complain = (
    what: "flavor" | "image" | "region",
    field: string,
    text: string,
    entries: readonly { id: string; name?: string }[],
    several: boolean,
  ): void => {
    const shown = entries
      .slice(0, 12)
      .map((entry) => (entry.name === undefined ? entry.id : several ? `${entry.name} (${entry.id})` : entry.name));
    diagnostics.push({
      severity: "error",
      code: `plan/${what}-${several ? "ambiguous" : "unknown"}`,
      summary: several ? `${field} ${text} means several ${what}s` : `${field} ${text} is no ${what} of this service`,
      detail: `${several ? "Candidates" : "It has"}: ${shown.join(", ")}${entries.length > 12 ? `, and ${entries.length - 12} more` : ""}`,
      fix: several ? `write one of the ids as ${field}` : `use one of these as ${field}`,
      address: desired.address,
      source: desired.source,
    });
  };
  const flavor = resolveEntry(desired.flavor, context.flavors);
  if (flavor.found === "several") complain("flavor", "flavor_id", desired.flavor, flavor.entries, true);
  if (flavor.found === "none")
    complain("flavor", "flavor_id", desired.flavor, [...context.flavors!.byId.values()], false);
  const region = resolveEntry(desired.region, context.regions);
  if (region.found === "none" && context.regions!.byId.size > 0)
    complain("region", "region", desired.region, [...context.regions!.byId.values()], false);
  const image = resolveEntry(desired.image, context.images);
  if (image.found === "several") complain("image", "image_id", desired.image, image.entries, true);
  if (image.found === "none" && !isUuid(desired.image))
    complain("image", "image_id", desired.image, [...context.images!.byId.values()], false);
  if (image.found === "none" && isUuid(desired.image))
    diagnostics.push({
      severity: "note",
      code: "plan/image-unlisted",
      summary: `image ${desired.image} is not in the service's list of images`,
      detail: "It is sent as it is; a private image or a snapshot may not be listed.",
      address: desired.address,
      source: desired.source,
    });
  return { imageId: image.found === "one" ? image.entry.id : desired.image, diagnostics };
}

function explain(reason: Reason, name: string, fields: readonly FieldChange[], live: LiveVm | undefined): string {
  const names = [...new Set(fields.map((field) => field.field))].join(", ");
  switch (reason) {
    case "requested":
      return "--replace asks for it";
    case "failed":
      return `VM ${name} never finished building (${live?.status ?? "failed"})`;
    case "drifted":
      return `the service no longer has what was applied: ${names}`;
    case "changed":
      return `the file changed: ${names}`;
    case "imported":
      return "an imports entry takes it over";
    case "adopted":
      return `--adopt takes over the VM named ${name}`;
    case "moved":
      return "a moved entry renames its address";
    default:
      return "an interrupted run left it unfinished";
  }
}

const failedNote = (pair: Pair, live: LiveVm): Diagnostic => ({
  severity: "warning",
  code: "plan/vm-failed",
  summary: `VM ${live.name} is in the failed state ${live.status ?? ""}`.trimEnd(),
  detail: "It is left as it is: replacing it would delete its root disk.",
  fix: `--replace ${pair.address}`,
  address: pair.address,
  source: pair.desired?.source,
});

const importGone = (pair: Pair, wanted: string): Diagnostic => ({
  severity: "error",
  code: "plan/import-not-found",
  summary: `${pair.address} cannot be imported: the service shows no such VM as ${wanted}`,
  fix: "correct the id or name in the imports entry, or remove the entry to create a new VM",
  address: pair.address,
  source: pair.import?.source,
});

const idWillBeUnknown = (pair: Pair): Diagnostic => ({
  severity: "warning",
  code: "plan/id-unknown",
  summary: `the id of ${pair.address} cannot be learnt: this service has no list of VMs`,
  detail: "The VM will be created once, and the run will end waiting (exit code 4) until its id is given.",
  fix: `after the run: reconcile import ${pair.address} ID`,
  address: pair.address,
  source: pair.desired?.source,
});
