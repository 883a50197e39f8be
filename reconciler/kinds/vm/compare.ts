/**
 * Field by field, what differs about one VM: names of the catalogue against ids, drift against intent, a resize that
 * waits for its decision. What follows from a difference is left to diff.ts.
 */

import { catalogueId, isEntry, isUuid, resolveEntry, resolveShown } from "../../core/canonical/catalogue";
import { isEmail, sameOwner } from "../../core/canonical/names";
import { type FieldChange, type FieldValue, fieldChange } from "../../core/diff/changes";
import type { DiffContext } from "../../core/diff/context";
import { type DesiredVm, powerDeclared } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import { tellDisks } from "../../core/model/disks";
import { type KeysWith, keysWith, vmFields } from "../../core/model/fields";
import { identity } from "../../core/model/identity";
import { findSeen, type LiveVm, powerShown } from "../../core/model/live";
import type { RecordedVm } from "../../core/model/recorded";

/** What is to be decided of a resize in VERIFY_RESIZE. `wait`: nothing shows whether it leads to the flavor declared, so a person decides. */
export type VerifyDecision = "confirm" | "revert" | "wait";

export interface VmComparison {
  readonly fields: readonly FieldChange[];
  /** Of these, what the file or the service brought about, and not a run that was cut off. */
  readonly reasons: readonly FieldChange[];
  readonly imageId?: string;
  /** The file did not change; the service did. */
  readonly drifted: boolean;
  readonly verify?: VerifyDecision;
}

/** The verb of a flavor that others began to change: the revert of their resize brings the former one back. */
export const revertVerb = "revert the resize";

/** Fields that are compared by the value that the service shows, or else by the one that was applied last. */
const plainFields = keysWith(vmFields, { compare: "plain" });

export function compareVm(
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  live: LiveVm | undefined,
  context: DiffContext,
  diagnostics: Diagnostic[],
): VmComparison {
  const fields: FieldChange[] = [];
  let intended = false;
  const ignored = new Set(desired.lifecycle.ignoreChanges);
  const differ = (field: FieldChange, recordedAgrees: boolean): void => {
    // The start of a VM that was stopped for a flush goes back on that stop, also where its power is left to others.
    if (field.field !== "power" && ignored.has(field.field)) return;
    fields.push(field);
    if (!recordedAgrees) intended = true;
  };

  const verify = decideVerify(desired, recorded, live, context);
  const image = compareImage(desired, recorded, live, context, diagnostics);

  // In the order in which a plan shows them. A row with a comparison of its own does not compile until it is here.
  const comparisons: Record<KeysWith<typeof vmFields, { compare: "own" }> | "plain", () => void> = {
    name() {
      const name = live?.name ?? recorded?.name;
      if (name !== undefined && name.toLowerCase() !== desired.name)
        differ(fieldChange(vmFields.name, name, desired.name), recorded?.name.toLowerCase() === desired.name);
    },
    flavor() {
      // A resize that is reverted leads back to the former flavor, so the former flavor is compared. Of one that others
      // began, that is the recorded one.
      const former = recorded?.resizing === undefined ? recorded?.flavor : recorded.resizing.from;
      const from = verify === "revert" ? former : undefined;
      const liveFlavor = verify === undefined ? live?.flavor : from;
      const flavor = liveFlavor ?? (verify === undefined ? recorded?.flavor : undefined);
      if (flavor !== undefined && !sameFlavor(desired.flavor, liveFlavor, recorded, context))
        differ(
          fieldChange(vmFields.flavor, nameLike(desired.flavor, flavor, context.flavors), desired.flavor),
          verify === undefined && recorded?.flavor === desired.flavor,
        );
      else if (verify === "revert" && recorded?.resizing === undefined && live?.flavor !== undefined)
        fields.push(
          fieldChange(
            vmFields.flavor,
            nameLike(desired.flavor, live.flavor, context.flavors),
            desired.flavor,
            revertVerb,
          ),
        );
    },
    image() {
      if (image.change !== undefined) differ(image.change, recorded?.image === desired.image);
    },
    owner() {
      const owner = live?.owner ?? recorded?.owner;
      if (owner === undefined) return;
      // A username and an e-mail tell nothing of each other; then it counts whether the file has said another one before.
      const isTold = isEmail(owner) === isEmail(desired.owner);
      if (!(sameOwner(owner, desired.owner) && (isTold || sameOwner(recorded?.owner ?? owner, desired.owner))))
        differ(fieldChange(vmFields.owner, owner, desired.owner), recorded?.owner === desired.owner);
    },
    plain() {
      const shown: Partial<Record<keyof typeof vmFields, FieldValue>> = live ?? {};
      for (const key of plainFields) {
        const before = shown[key] ?? recorded?.[key];
        if (desired[key] !== undefined && before !== undefined && before !== desired[key])
          differ(fieldChange(vmFields[key], before, desired[key]), recorded?.[key] === desired[key]);
      }
    },
    sizeGb() {
      const size = sizeNow(recorded, live, context);
      if (size !== undefined && size !== desired.sizeGb)
        differ(fieldChange(vmFields.sizeGb, size, desired.sizeGb), recorded?.sizeGb === desired.sizeGb);
    },
    power() {
      comparePower(desired, recorded, live, differ, diagnostics);
    },
  };
  for (const compare of Object.values(comparisons)) compare();

  const isOurs = ({ verb }: FieldChange): boolean =>
    verb === revertVerb || (verb === "start" && recorded?.stoppedForFlush === true);
  const reasons = fields.filter((field) => !isOurs(field));
  return { fields, reasons, imageId: image.wanted, drifted: !intended, verify };
}

function comparePower(
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  live: LiveVm | undefined,
  differ: (field: FieldChange, recordedAgrees: boolean) => void,
  diagnostics: Diagnostic[],
): void {
  // Where the service shows no power state, the last start or stop of this tool stands in. Without one the VM counts as
  // not as desired.
  const isUnseen = live === undefined || live.status === undefined;
  const power = isUnseen ? recorded?.power : powerShown(live);
  const wantedPower = powerWanted(desired, recorded);
  if (wantedPower !== undefined && power !== wantedPower && (power !== undefined || isUnseen))
    differ(
      fieldChange(vmFields.power, power, wantedPower, wantedPower === "running" ? "start" : "stop"),
      recorded?.power === desired.power,
    );
  if (powerDeclared(desired) !== undefined && isUnseen && power === undefined)
    diagnostics.push(powerUnobserved(desired));
}

/** A VM that an interrupted run stopped for a flush is started again, also where its power is left to others. */
export const powerWanted = (desired: DesiredVm, recorded: RecordedVm | undefined): DesiredVm["power"] =>
  powerDeclared(desired) ?? (recorded?.stoppedForFlush === true ? "running" : undefined);

function powerUnobserved({ power, address, source }: DesiredVm): Diagnostic {
  const [verb, done] = power === "stopped" ? ["stop", "stopped"] : ["start", "started"];
  return {
    severity: "note",
    code: "plan/power-unobserved",
    summary: `whether ${address} runs cannot be seen: the service does not show it, and no run has ${done} it yet`,
    detail: `The ${verb} is sent, and the service's answer to it is all that will be known.`,
    fix: "write lifecycle.ignore_changes: [power] to leave it as it is",
    address,
    source,
  };
}

/** The other flavor or image in the way the file writes them: by its name where the file uses names. */
function nameLike(wanted: string, other: string, catalogue: DiffContext["flavors"]): string {
  const entry = resolveEntry(other, catalogue);
  return entry.found === "one" && entry.entry.name !== undefined && !isUuid(wanted) ? entry.entry.name : other;
}

/** A word that the list does not have says nothing of the flavor: comparing it would resize the VM with every run. */
const toldFlavor = (shown: string | undefined, { flavors }: DiffContext): string | undefined =>
  shown === undefined || isUuid(shown) || resolveShown(shown, flavors).found !== "none" ? shown : undefined;

/** A resize that was decided outside has led to another id than before, where nothing else tells what the ids mean. */
const isConfirmed = (resizing: RecordedVm["resizing"], shown: string | undefined): boolean =>
  resizing?.from !== undefined &&
  shown !== undefined &&
  isUuid(resizing.from) &&
  isUuid(shown) &&
  resizing.from !== shown;

/** Equal ids are equal; without a list, only the text that was applied last can be compared. */
function sameFlavor(
  wanted: string,
  shown: string | undefined,
  record: RecordedVm | undefined,
  context: DiffContext,
): boolean {
  if (shown === wanted) return true;
  const live = toldFlavor(shown, context);
  const wantedEntry = resolveEntry(wanted, context.flavors);
  if (live !== undefined && wantedEntry.found === "one") {
    const liveId = catalogueId(live, context.flavors);
    return liveId === wantedEntry.entry.id;
  }
  const recorded = isConfirmed(record?.resizing, shown) ? record?.resizing?.to : record?.flavor;
  // No flavor was recorded, and a name cannot be told from an id: that is no reason to take the VM down.
  if (recorded === undefined || recorded === wanted) return true;
  // The VM was not seen, and its record has an id (after an import) where the file has a name, or the other way round.
  return (
    live === undefined && wantedEntry.found === "one" && catalogueId(recorded, context.flavors) === wantedEntry.entry.id
  );
}

function decideVerify(
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  live: LiveVm | undefined,
  context: DiffContext,
): VerifyDecision | undefined {
  // A VM that is still on its way to VERIFY_RESIZE is waited for first.
  const waits =
    live?.phase === "verify_resize" ||
    (recorded?.resizing !== undefined && (live === undefined || live.phase === "changing"));
  // A resize that others began, where the flavor is left to them, is theirs to decide.
  const isOthers = recorded?.resizing === undefined && desired.lifecycle.ignoreChanges.includes("flavor_id");
  if (!waits || isOthers) return undefined;
  const target = recorded?.resizing?.to ?? live?.flavor;
  if (target === undefined) return "wait";
  const isWanted = isEntry(target, catalogueId(desired.flavor, context.flavors), context.flavors);
  if (isWanted === undefined) return "wait";
  return isWanted ? "confirm" : "revert";
}

/** Which image the file means, told from what its text meant when it was applied. */
interface WantedImage {
  /** The id, where the text can be turned into one. */
  readonly id: string;
  /** The text has not changed since it was applied. */
  readonly sameText: boolean;
  /** The id that the text meant when it was applied, where the text means another id by now. */
  readonly appliedAs?: string;
  /**
   * Nothing to compare with: no list resolved the name when it was applied, or no image was recorded and no list
   * resolves it now.
   */
  readonly isUnknown: boolean;
}

function wantedImage(
  { image }: DesiredVm,
  recorded: RecordedVm | undefined,
  live: LiveVm | undefined,
  { images }: DiffContext,
): WantedImage {
  const resolved = resolveEntry(image, images);
  const id = resolved.found === "one" ? resolved.entry.id : image;
  const sameText = recorded?.image === image;
  if (isUuid(image)) return { id, sameText, isUnknown: false };
  const appliedAs = sameText ? recorded.imageId : undefined;
  if (appliedAs === image) return { id, sameText, isUnknown: true };
  const isUnknown = resolved.found !== "one" && recorded?.image === undefined && isUuid(live?.image ?? "");
  return { id, sameText, isUnknown, appliedAs: appliedAs === undefined || appliedAs === id ? undefined : appliedAs };
}

/**
 * The image that the service shows, where it can be compared. A name in the VM's record that no list resolves proves
 * nothing about the image: comparing it would rebuild the VM with every run.
 */
function comparableImage(live: LiveVm | undefined, wanted: string, images: DiffContext["images"]): string | undefined {
  const image = live?.image;
  return image !== undefined && isEntry(image, wanted, images) !== undefined ? image : undefined;
}

/** The fields that the service shows as the file says them, be it in another form: a name for an id, a state for a wish. */
export const shownAlike = (
  { flavor, image, power }: DesiredVm,
  live: LiveVm | undefined,
  { flavors, images }: DiffContext,
): readonly string[] => [
  ...(live?.flavor !== undefined && catalogueId(live.flavor, flavors) === catalogueId(flavor, flavors)
    ? [vmFields.flavor.field]
    : []),
  ...(live?.image !== undefined && catalogueId(live.image, images) === catalogueId(image, images)
    ? [vmFields.image.field]
    : []),
  ...(power !== undefined && live?.phase === power ? [vmFields.power.field] : []),
];

/** The image as the file spelled it when it was applied, where it is still that image. */
const spelledAsApplied = (recorded: RecordedVm | undefined, id: string): string =>
  recorded?.image !== undefined && recorded.imageId === id ? recorded.image : id;

function compareImage(
  desired: DesiredVm,
  recorded: RecordedVm | undefined,
  live: LiveVm | undefined,
  context: DiffContext,
  diagnostics: Diagnostic[],
): { readonly wanted?: string; readonly change?: FieldChange } {
  const { images } = context;
  const { id, sameText, appliedAs, isUnknown } = wantedImage(desired, recorded, live, context);
  if (isUnknown) return { wanted: live?.image ?? id };
  const meant = images?.byName.get(desired.image)?.map((entry) => entry.id) ?? [];
  if (appliedAs !== undefined && meant.length > 0 && !meant.includes(appliedAs))
    diagnostics.push(imageNameMoved(desired, appliedAs, meant));
  const wanted = appliedAs ?? id;
  const shown = comparableImage(live, wanted, images);
  const before = shown === undefined ? (recorded?.imageId ?? recorded?.image) : catalogueId(shown, images);
  if (before === undefined || before === wanted || (sameText && shown === undefined)) return { wanted };
  const policy = desired.lifecycle.onImageChange;
  if (policy === "ignore") return { wanted };
  const after = appliedAs ?? desired.image;
  const was = spelledAsApplied(recorded, before);
  return { wanted, change: fieldChange(vmFields.image, nameLike(after, was, images), after, policy) };
}

const imageNameMoved = ({ image, address, source }: DesiredVm, from: string, to: readonly string[]): Diagnostic => ({
  severity: "note",
  code: "plan/image-name-moved",
  summary: `the image name ${image} now means another image`,
  detail: `${address} was built from ${from}; the name means ${to.join(" or ")} today. A running VM is never rebuilt for that.`,
  fix: "write the new id as image_id to rebuild from it",
  address,
  source,
});

/** The data volume's own record where it was read, else what was applied. */
function sizeNow(recorded: RecordedVm | undefined, live: LiveVm | undefined, context: DiffContext): number | undefined {
  const id = findDataVolume(recorded, live, context);
  return findSeen(context.live, "volume", id)?.sizeGb ?? recorded?.sizeGb;
}

/** The one disk that is neither the root disk nor a volume with an address of its own. */
export function findDataVolume(
  recorded: RecordedVm | undefined,
  live: LiveVm | undefined,
  context: DiffContext,
): string | undefined {
  if (recorded?.dataVolumeId !== undefined) return recorded.dataVolumeId;
  return tellDisks(live?.volumes ?? [], (id) => context.addressOf(identity("volume", id)) !== undefined).dataVolumeId;
}
