/**
 * What differs about one VM. Before is what the service shows, or what was recorded where it shows nothing; a field
 * known from neither is not compared. Deciding the order of requests is left to core/plan/vm-steps.ts.
 */
import type { DesiredVm } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { vmFields } from "../model/fields";
import { type LiveVm, type Sighting, sightVm, sightVolume } from "../model/live";
import { rootDiskLoss } from "../model/loss";
import type { Intent, Orphan, RecordedVm } from "../model/recorded";
import {
  type Action,
  type Change,
  type Difference,
  type FieldChange,
  fieldChange,
  movedField,
  type Reason,
} from "./changes";
import { type DiffContext, mayBe } from "./context";
import { judgeMade } from "./evidence";
import { explain } from "./explain";
import { unclearCreate, type Vanished } from "./find";
import { goneNote, importManaged, letGo, nameTaken, neverMade, noLongerExists, severalNamed } from "./findings";
import type { Pair } from "./pair";
import { type Departure, farewell } from "./vm-departure";
import { compareVm, findDataVolume } from "./vm-fields";
import { checkCatalogue, checkSize, failedNote, idWillBeUnknown, importUnseen, vmImportGone } from "./vm-findings";

export interface VmDifference extends Difference<DesiredVm, RecordedVm, LiveVm> {
  readonly kind: "vm";
  /** Created by an interrupted run or taken over; its id is known now. */
  readonly adopts?: boolean;
  /** What the interrupted create that made it had asked for. */
  readonly made?: RecordedVm;
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
  /** It vanished, and its data volume outlived it. */
  readonly strands?: Orphan;
  /** For one that goes: what it takes along and leaves. */
  readonly departure?: Departure;
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
      return recorded !== undefined && pair.forget
        ? { ...base, change: forget(recorded, "let_go", letGo), diagnostics: [] }
        : { ...base, idUnknown: true, diagnostics: [] };
    case "absent":
      if (desired !== undefined)
        return {
          ...base,
          recorded: undefined,
          ...createVm(desired, recorded, found.gone, pair, context),
          ...strandedBy(recorded, context),
        };
      return recorded === undefined
        ? { ...base, diagnostics: [] }
        : {
            ...base,
            change: pair.forget
              ? forget(recorded, "let_go", letGo)
              : forget(recorded, "gone", found.gone === undefined ? neverMade : noLongerExists("VM", found.gone)),
            diagnostics: [],
            ...strandedBy(recorded, context),
          };
    case "known": {
      const made =
        found.adopted === "interrupted"
          ? ({ ...(openCreate(pair) === undefined ? recorded : createdBy(pair, found)), id: found.id } as RecordedVm)
          : undefined;
      // Made in the place of one that was gone, whose record is still there.
      const own = made !== undefined && recorded?.id !== undefined ? undefined : recorded;
      // The file may say something else by now, also where no record of the service shows it.
      if (desired !== undefined)
        return { ...base, recorded: own, made, ...updateVm(pair, desired, made ?? recorded, found, context) };
      // Its block is gone, and it was created all the same: the intent says what it was to be.
      if (made !== undefined)
        return { ...base, recorded: made, adopts: true, ...removeVm(pair, made, found.live, context) };
      return { ...base, ...removeVm(pair, recorded!, found.live, context) };
    }
  }
}

type Found =
  | { readonly how: "error"; readonly diagnostic: Diagnostic }
  | { readonly how: "id-unknown" }
  | { readonly how: "absent"; readonly gone?: Vanished }
  | { readonly how: "known"; readonly id: string; readonly live?: LiveVm; readonly adopted?: Reason };

export function findVm(pair: Pair, context: DiffContext): Found {
  const recorded = pair.recorded as RecordedVm | undefined;
  const desired = pair.desired as DesiredVm | undefined;
  const interrupted = openCreate(pair);
  if (recorded?.id !== undefined && interrupted === undefined) return findKnown(pair, recorded.id, context);
  if (recorded?.id === undefined && pair.import?.id !== undefined) {
    const sighting = sightVm(context.live, pair.import.id);
    const manager = context.addressOfId.get(pair.import.id);
    if (manager !== undefined && manager !== pair.address)
      return { how: "error", diagnostic: importManaged(pair, "VM", pair.import.id, manager) };
    if (sighting.seen === "gone") return { how: "error", diagnostic: vmImportGone(pair, pair.import.id) };
    return {
      how: "known",
      id: pair.import.id,
      adopted: "imported",
      ...(sighting.seen === "yes" ? { live: sighting.value } : {}),
    };
  }
  const name = interrupted?.name ?? recorded?.name ?? pair.import?.name ?? desired?.name;
  if (name === undefined) return { how: "absent" };
  if (context.live.vms === undefined) {
    if (interrupted !== undefined || recorded !== undefined) return { how: "id-unknown" };
    // Not "absent": the VM to be taken over would get a twin.
    return pair.import?.name === undefined
      ? { how: "absent" }
      : { how: "error", diagnostic: importUnseen(pair, pair.import.name, context.has("vm.list")) };
  }
  const before = new Set([...(interrupted?.idsBefore ?? []), recorded?.id]);
  const candidates = strangersNamed(name, pair, context).filter((vm) => !before.has(vm.id));
  if (interrupted !== undefined) return findInterrupted(pair, interrupted, candidates, context);
  // Accepted when there was no list yet: who bore its name before that is not known.
  if (recorded !== undefined) return findInterrupted(pair, acceptedUnlisted(recorded), candidates, context);
  if (candidates.length > 1) return { how: "error", diagnostic: severalNamed(pair, "VM", name, candidates) };
  const only = candidates[0];
  if (only === undefined) {
    if (pair.import?.name === undefined) return { how: "absent" };
    const managed = context.vmsByName.get(name.toLowerCase())?.[0];
    return {
      how: "error",
      diagnostic:
        managed === undefined
          ? vmImportGone(pair, pair.import.name)
          : importManaged(pair, "VM", managed.id, context.addressOfId.get(managed.id)!),
    };
  }
  if (pair.import?.name !== undefined) return { how: "known", id: only.id, live: only, adopted: "imported" };
  if (context.options.adopt === true) return { how: "known", id: only.id, live: only, adopted: "adopted" };
  return { how: "error", diagnostic: nameTaken(pair, "VM", only) };
}

const acceptedUnlisted = ({ address, name, createdAt, ...record }: RecordedVm): Intent => ({
  step: `${address}/create`,
  address,
  operation: "vm.create",
  name,
  sentAt: createdAt ?? "a time that was not written down",
  idsBefore: [],
  record: { ...record, address, name },
  accepted: true,
});

/** What an open create made: what bears its name, was not there before, and is what was sent. */
function findInterrupted(pair: Pair, intent: Intent, candidates: readonly LiveVm[], context: DiffContext): Found {
  // Beside a record without an id, what bore the name before the create is not known, so the name alone is not enough.
  const isNameEnough = pair.intent !== undefined && intent.accepted === true;
  const judged = judgeMade({ ...intent, accepted: isNameEnough || undefined }, candidates, context, pair.desired);
  const unclear = unclearCreate(pair, intent, "VM", judged);
  if (unclear !== undefined) return { how: "error", diagnostic: unclear };
  const only = judged.ours[0];
  if (only !== undefined) return { how: "known", id: only.id, live: only, adopted: "interrupted" };
  const inItsPlace = judged.strangers.find(({ live }) => live.name.toLowerCase() === pair.desired?.name);
  if (inItsPlace !== undefined)
    return { how: "error", diagnostic: nameTaken(pair, "VM", inItsPlace.live, judged.strangers) };
  const former = pair.recorded?.id;
  return former === undefined ? { how: "absent" } : findKnown(pair, former, context);
}

/** By the id in its record; what stands in its place by now, when it is gone, is somebody else's. */
function findKnown(pair: Pair, id: string, context: DiffContext): Found {
  const found = fromSighting(id, sightVm(context.live, id));
  if (found.how !== "absent" || pair.desired === undefined) return found;
  const { name } = pair.desired;
  const inItsPlace = strangersNamed(name, pair, context);
  if (inItsPlace.length > 1) return { how: "error", diagnostic: severalNamed(pair, "VM", name, inItsPlace) };
  return inItsPlace[0] === undefined ? found : { how: "error", diagnostic: nameTaken(pair, "VM", inItsPlace[0]) };
}

const openCreate = ({ intent }: Pair): Intent | undefined => (intent?.operation === "vm.create" ? intent : undefined);

const strangersNamed = (name: string, pair: Pair, context: DiffContext): readonly LiveVm[] =>
  (context.vmsByName.get(name.toLowerCase()) ?? []).filter((vm) => mayBe(pair.address, vm.id, context));

const createdBy = (pair: Pair, found: Extract<Found, { how: "known" }>): Omit<RecordedVm, "id"> => ({
  kind: "vm",
  name: found.live?.name ?? pair.intent?.name ?? found.id,
  preventDestroy: false,
  onDelete: { snapshot: false, preservedVolumes: "retain" },
  ...(pair.intent?.record as Omit<RecordedVm, "id"> | undefined),
  address: pair.address,
});

/** Deleting a VM never deletes its volumes, whoever deleted it and whether or not the answer arrived. */
function strandedBy(recorded: RecordedVm | undefined, context: DiffContext): Pick<VmDifference, "strands"> {
  const id = recorded?.dataVolumeId;
  if (recorded?.id === undefined || id === undefined || context.addressOfId.has(id)) return {};
  const sighting = sightVolume(context.live, id);
  if (sighting.seen === "gone" || (sighting.seen === "yes" && sighting.value.attachedTo)) return {};
  return {
    strands: {
      kind: "volume",
      id,
      name: (sighting.seen === "yes" ? sighting.value.name : undefined) ?? id,
      reason: `outlived VM ${recorded.name}`,
      ...(recorded.sizeGb === undefined ? {} : { sizeGb: recorded.sizeGb }),
    },
  };
}

const fromSighting = (id: string, sighting: Sighting<LiveVm>): Found =>
  sighting.seen === "gone"
    ? { how: "absent", gone: { id, because: sighting.because } }
    : { how: "known", id, ...(sighting.seen === "yes" ? { live: sighting.value } : {}) };

function createVm(
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  gone: Vanished | undefined,
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
    gone !== undefined
      ? noLongerExists("VM", gone)
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
): Pick<VmDifference, "change" | "departure" | "diagnostics" | "live"> {
  if (pair.forget)
    return { live, change: forget(recorded, "let_go", "a removed entry says to let it go"), diagnostics: [] };
  const destroy = context.options.destroy === true;
  const name = live?.name ?? recorded.name;
  const said = farewell(
    {
      ...{ id: recorded.id, name, live, recorded, desired: undefined },
      dataVolumeId: findDataVolume(recorded, live, context),
      young: isYoung(live, recorded.building === true || pair.intent?.operation === "vm.create"),
    },
    pair,
    context,
  );
  return {
    live,
    change: {
      address: pair.address,
      kind: "vm",
      action: "delete",
      name,
      id: recorded.id,
      fields: [],
      reason: destroy ? "destroy" : "removed",
      because: destroy ? "everything in the state is to be destroyed" : "it is no longer declared",
      losses: said.losses,
      ...(said.leaves === undefined ? {} : { leaves: said.leaves }),
    },
    departure: said.departure,
    diagnostics: said.notes,
  };
}

/** Half-built it does not show its disks yet, and nothing was ever in use on it. */
const isYoung = (live: LiveVm | undefined, building: boolean): boolean =>
  building && live?.phase === "changing" && (live.volumes ?? []).length === 0;

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
  const requested = context.replace.has(desired.address);
  const forced = fields.some((field) => field.forces === "replace");
  const replaces = forced || requested || neverSettled;
  const dataVolumeOff =
    recorded?.dataVolumeDetached === true &&
    dataVolumeId !== undefined &&
    live?.volumes?.some((disk) => disk.id === dataVolumeId) !== true;
  // Whether it runs is compared when it has arrived; that it is not known to be as wanted is reason enough to wait. One
  // that is to be stopped may have been started by a rebuild that nobody saw the end of.
  const powerOpen =
    desired.power !== undefined &&
    (recorded?.power !== desired.power || desired.power === "stopped") &&
    !ignored.has("power");
  const unsettled =
    live?.phase === "changing" &&
    live.status !== undefined &&
    (recorded?.building === true ||
      adopted === "interrupted" ||
      fields.length > 0 ||
      powerOpen ||
      comparison.verify !== undefined);
  if (!replaces) checkSize(fields, desired, dataVolumeId, live, diagnostics);
  const sends = (field: string): boolean => replaces || fields.some((one) => one.field === field);
  if (replaces || fields.length > 0) diagnostics.push(...checkCatalogue(desired, context, sends).diagnostics);

  const name = live?.name ?? recorded?.name ?? desired.name;
  const young = isYoung(live, recorded?.building === true || adopted === "interrupted");
  const said = replaces
    ? farewell({ id, name, live, recorded, desired, dataVolumeId, young }, pair, context)
    : undefined;
  if (said !== undefined) diagnostics.push(...said.notes);
  const lost =
    said !== undefined
      ? { losses: said.losses, ...(said.leaves === undefined ? {} : { leaves: said.leaves }) }
      : {
          losses: fields.some((field) => field.verb === "rebuild")
            ? [rootDiskLoss({ id, name, sizeGb: recorded?.rootSizeGb }, "is wiped by the rebuild")]
            : [],
        };
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
  const moved = movedField(pair);
  return {
    live,
    imageId: comparison.imageId,
    dataVolumeId,
    ...(dataVolumeOff ? { dataVolumeOff } : {}),
    ...(adopted === undefined ? {} : { adopts: true }),
    ...(said === undefined ? {} : { departure: said.departure }),
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
            // A new VM has the new values from the start, whatever the service could have changed in place.
            fields: [...moved, ...(replaces ? fields.map((field) => ({ ...field, verb: "replace" })) : fields)],
            reason,
            because: why(reason, name, fields, live, comparison.verify),
            ...lost,
            movedFrom: pair.movedFrom,
            source: desired.source,
          },
    diagnostics,
  };
}

function why(
  reason: Reason,
  name: string,
  fields: readonly FieldChange[],
  live: LiveVm | undefined,
  verify: "confirm" | "revert" | undefined,
): string {
  if (reason === "failed") return `VM ${name} never finished building (${live?.status ?? "failed"})`;
  if (reason === "adopted") return `--adopt takes over the VM named ${name}`;
  if (reason === "interrupted" && verify !== undefined) return `its resize waits in VERIFY_RESIZE to be ${verify}ed`;
  return explain(reason, fields);
}
