/**
 * What a plan needs from the user before anything is sent, and whether what was given grants it. Each consent names
 * what it permits, and the exact flag or field that gives it.
 */
import type { DiagnosticCode } from "../../core/model/diagnostic-code";
import type { Change } from "../diff/changes";
import type { Address } from "../model/address";
import type { DesiredResource, Protection } from "../model/desired";
import type { Diagnostic, SourcePosition } from "../model/diagnostic";
import { definitionOf } from "../model/kinds";
import type { Loss } from "../model/loss";
import type { RecordedResource } from "../model/recorded";
import { inShell } from "../text/in-shell";
import { fieldsIn } from "../text/objects";
import type { Step } from "./step";

export type ConsentKind = "data_loss" | "flush" | "prevent_destroy" | "empty" | "removal" | "recreate";

export interface Consent {
  readonly kind: ConsentKind;
  readonly address?: Address;
  /** What would happen. */
  readonly detail: string;
  /** The flag or field that gives it. */
  readonly grant: string;
  /** For data_loss: the one thing that is lost. */
  readonly loss?: Omit<Loss, "detail">;
  /** For removal: how many resources go. */
  readonly count?: number;
  /**
   * No standing permission covers it. For recreate: nothing of its kind proves that the resource is gone. For flush: the
   * volume hangs on a VM that nobody named when the permission was given. For data_loss: the service accepted the same
   * before and did not show it, so that what is lost may be what has come about since; or the id may be another
   * resource's by now.
   */
  readonly unproven?: true;
  /** For prevent_destroy: the line that protects it. Absent: only the state does. */
  readonly source?: SourcePosition;
}

export interface Grants {
  /** Every loss that the plan lists. */
  readonly allowDataLoss: boolean;
  /** The losses of these resources. */
  readonly allowLoss: readonly Address[];
  readonly allowEmpty: boolean;
  /** Addresses, or `all`. */
  readonly confirmFlush: readonly string[];
  /** Addresses of resources that vanished from the service and may be created again. */
  readonly recreate: readonly Address[] | "all";
  /** They were given long before this plan, and cover nothing that is `unproven`. */
  readonly standing?: true;
  /** How many resources may go at once. */
  readonly allowRemoval: number | "all";
  /** The state may be of another service, project or credential scope. */
  readonly acceptService: boolean;
  /**
   * Addresses whose prevent_destroy does not hold for this one run. A person who typed the environment's name gives it,
   * or whoever applies a plan that was reviewed; no standing permission does.
   */
  readonly unprotect?: readonly Address[];
  /** Consents that somebody saw listed and approved, as in a saved plan: exactly these. */
  readonly approved?: readonly Consent[];
}

export const noGrants: Grants = {
  allowDataLoss: false,
  allowLoss: [],
  allowEmpty: false,
  confirmFlush: [],
  recreate: [],
  allowRemoval: 0,
  acceptService: false,
};

/** Every grant that a flag can give. */
export const everyGrant: Grants = {
  allowDataLoss: true,
  allowLoss: [],
  allowEmpty: true,
  confirmFlush: ["all"],
  recreate: "all",
  allowRemoval: "all",
  acceptService: true,
};

export interface ConsentInput {
  readonly changes: readonly Change[];
  readonly steps: readonly Step[];
  readonly desiredOf: (address: Address) => DesiredResource | undefined;
  readonly recordedOf: (
    address: Address,
  ) => Pick<RecordedResource, "preventDestroy" | "deleting" | "unseen"> | undefined;
  /** How many resources the state holds. */
  readonly managed: number;
  readonly isUnproven?: (address: Address) => boolean;
  readonly environment?: Protection | undefined;
  /** Why the id may be another resource's by now. */
  readonly otherAt?: (address: Address) => string | undefined;
}

export function consentsFor(input: ConsentInput): Consent[] {
  const { changes, steps, desiredOf, recordedOf } = input;
  return [
    ...changes.flatMap((change) => [...protection(change, input), ...lossesOf(change, input)]),
    ...recreations(input),
    ...steps.flatMap(unprovenSnapshot),
    ...steps.flatMap(deleteUnflushed),
    ...steps.flatMap((step) => detachUnflushed(step, desiredOf(step.address) ?? recordedOf(step.address))),
  ];
}

function protection(change: Change, { desiredOf, recordedOf, environment }: ConsentInput): Consent[] {
  const { address, name } = change;
  const harm = harmOf(change);
  const desired = desiredOf(address);
  if (harm === undefined || !isProtected(change, desired, recordedOf)) return [];
  if (isConsentPermitted(change, desired, environment)) return [];
  // Of a block that is no longer there only the record is left, which does not say what protected it.
  const isByEnvironment = environment !== undefined && (desired === undefined || guardOf(desired) === "environment");
  const source = isByEnvironment ? environment.source : desired?.protectedAt;
  const by = isByEnvironment ? "is protected by its environment" : "has prevent_destroy";
  const place = source === undefined ? "" : ` (${source.file}:${source.line})`;
  return [
    {
      kind: "prevent_destroy",
      address,
      detail: `${address} (${name}) ${by}${place}, and this plan would ${harm.says}`,
      grant: `--unprotect ${inShell(address)}, this once, at a terminal without -y or with a saved plan; ${lastingGrant(address, desired, isByEnvironment ? harm.word : undefined)}`,
      source,
    },
  ];
}

/** The line of the file that would permit it for good. `word`: the environment could permit it. */
function lastingGrant(address: Address, desired: DesiredResource | undefined, word: string | undefined): string {
  if (word !== undefined && word !== "delete") return `or protect: { allow: [${word}] } for the whole environment`;
  return desired?.lifecycle.preventDestroy === false
    ? `the file sets lifecycle.prevent_destroy: false on ${address} already: or apply that alone first`
    : `or set lifecycle.prevent_destroy: false on ${address} and apply that first`;
}

/** What protects a declared resource: its own line, or that of the environment. */
const guardOf = (desired: DesiredResource | undefined): "block" | "environment" | undefined =>
  desired?.lifecycle.preventDestroy !== true ? undefined : desired.protectedAt === undefined ? "environment" : "block";

/** `protect: { allow: […] }` permits it: for what the environment protects, and not for what a block does. */
function isConsentPermitted(change: Change, desired: DesiredResource | undefined, environment?: Protection): boolean {
  const word = harmOf(change)?.word;
  return (
    guardOf(desired) === "environment" &&
    word !== undefined &&
    word !== "delete" &&
    environment?.allow.includes(word) === true
  );
}

/** Resources with prevent_destroy that this plan may change all the same, as the environment says. */
export const permittedChanges = (
  changes: readonly Change[],
  desiredOf: (address: Address) => DesiredResource | undefined,
  environment: Protection | undefined,
): Address[] =>
  changes.flatMap((change) =>
    isConsentPermitted(change, desiredOf(change.address), environment) ? [change.address] : [],
  );

const lossGrant = (address: Address): string =>
  `--allow-loss ${inShell(address)} (or --allow-data-loss for everything that is listed)`;

function lossesOf({ address, losses, fields }: Change, { recordedOf, otherAt }: ConsentInput): Consent[] {
  const other = otherAt?.(address);
  const unseen = new Set(recordedOf(address)?.unseen?.map(({ field }): string => field));
  const again = fields.some(({ field, verb }) => verb === "rebuild" && unseen.has(field));
  return losses.map(({ detail, ...loss }): Consent => {
    const said = other === undefined ? detail : `${detail}; ${other}`;
    const consent: Consent = { kind: "data_loss", address, detail: said, grant: lossGrant(address), loss };
    return again || other !== undefined ? { ...consent, unproven: true } : consent;
  });
}

function unprovenSnapshot({ address, action }: Step): Consent[] {
  if (action.operation !== "vm.snapshot" || action.unproven !== true) return [];
  const detail = `whether the snapshot ${action.name} is there before what it is to save is touched cannot be proved: this service has no list of images (operations.image.list)`;
  return [{ kind: "data_loss", address, detail, grant: lossGrant(address) }];
}

function deleteUnflushed({ address, action, title }: Step): Consent[] {
  if (action.operation !== "vm.delete" || action.flush !== "ask") return [];
  const detail = `${title}, which cannot be stopped before: volumes outlive it, and what was not written to them is gone`;
  return [{ kind: "flush", address, detail, grant: `--confirm-flush ${inShell(address)}` }];
}

function detachUnflushed({ address, action, title }: Step, stated: object | undefined): Consent[] {
  if (action.operation !== "volume.detach" || action.flush !== "ask") return [];
  const asked = `${title}: unmount or sync it inside the guest first`;
  const confirm = `--confirm-flush ${inShell(address)}`;
  if (action.elsewhere === true) {
    const detail = `${asked}; neither the file nor the state names that VM for it`;
    return [{ kind: "flush", address, detail, grant: confirm, unproven: true }];
  }
  // What is stated already does not serve here: the VM cannot be stopped.
  const { via } = fieldsIn(fieldsIn(stated)["flush"]);
  const instead = ["command", "stop"].filter((other) => other !== via).join(" or ");
  return [{ kind: "flush", address, detail: asked, grant: `${confirm} (or flush.via: ${instead})` }];
}

/** When more resources than this are gone at once, the reason is another service or credential. */
const fewGone = 3;

/**
 * A resource that vanished is never created again without a word: a credential that lost the right to see it is shown
 * just what a deletion looks like. One whose delete a run had sent was meant to go.
 */
function recreations({ changes, desiredOf, recordedOf, managed, isUnproven }: ConsentInput): Consent[] {
  const gone = changes.filter(
    ({ action, reason, address }) => action === "create" && reason === "gone" && recordedOf(address)?.deleting !== true,
  );
  const many = gone.length > fewGone || (gone.length > 1 && gone.length * 2 > managed);
  return gone.map((change): Consent => {
    const { address, kind, because } = change;
    const unproven = isUnproven?.(address) === true;
    const why =
      definitionOf(kind).words.whenMadeAnew ??
      (isProtected(change, desiredOf(address), recordedOf)
        ? "it has prevent_destroy"
        : many
          ? `${gone.length} of the ${managed} resources in the state are gone at once`
          : unproven
            ? "nothing proves that it is gone"
            : "a credential that may not see it any more is shown just that");
    return {
      kind: "recreate",
      address,
      detail: `${address} would be made anew: ${because}; ${why}`,
      grant: `--recreate ${inShell(address)} (or all)`,
      unproven: unproven ? true : undefined,
    };
  });
}

/** What a change does that prevent_destroy forbids. */
function harmOf(
  change: Change,
): { readonly word: "replace" | "delete" | "rebuild"; readonly says: string } | undefined {
  if (change.action === "replace") return { word: "replace", says: "replace it" };
  if (isAbandoned(change)) return { word: "delete", says: `${change.action} it` };
  // What is gone may still owe the delete of its volume, which was consented to when that began.
  return (change.action === "update" || change.action === "import") && change.losses.length > 0
    ? { word: "rebuild", says: "wipe its root disk" }
    : undefined;
}

/**
 * Protection counts in the file and in the state: removing the field from the file does not lift it, and `false` counts
 * once an apply has recorded it.
 */
const isProtected = (
  { address, movedFrom }: Change,
  desired: DesiredResource | undefined,
  recordedOf: ConsentInput["recordedOf"],
): boolean =>
  desired?.lifecycle.preventDestroy === true ||
  (recordedOf(address) ?? recordedOf(movedFrom ?? address))?.preventDestroy === true;

/** What it takes to delete or leave behind unusually much at once. `isEmpty`: the file declares nothing. */
export function massRemoval(changes: readonly Change[], isEmpty: boolean, managed: number): Consent[] {
  const abandoned = changes.filter(isAbandoned).length;
  if (abandoned === 0) return [];
  // The file declares nothing any more, which is more often a lost file than a wish.
  if (isEmpty) {
    const detail = `the desired state is empty, and ${abandoned} ${abandoned === 1 ? "resource" : "resources"} would be deleted or left behind`;
    return [{ kind: "empty", detail, grant: "--allow-empty" }];
  }
  // Half a file is more often a mistake than a wish. Nothing is asked when no more goes than is usual.
  if (abandoned < fewRemovals || abandoned * 2 <= managed) return [];
  const detail = `${abandoned} of the ${managed} resources in the state are no longer declared and would be deleted or left behind`;
  return [{ kind: "removal", detail, grant: `--allow-removal ${abandoned} (or all)`, count: abandoned }];
}

/** So few resources may always go, whatever their share. */
const fewRemovals = 5;

/**
 * Whether a resource is deleted, or left as an orphan where the service cannot delete. A resource that a `removed`
 * entry lets go was meant to go.
 */
export const isAbandoned = (change: Change): boolean =>
  change.action === "delete" || (change.action === "forget" && change.reason !== "gone" && change.reason !== "let_go");

export function missingConsents(consents: readonly Consent[], grants: Grants): Consent[] {
  const flushes = new Set(grants.confirmFlush);
  const losses = new Set(grants.allowLoss);
  // Of a text that a program gives in the place of a list, a part is no address.
  const recreated = new Set(grants.recreate);
  const unprotected = new Set(grants.unprotect ?? []);
  const approved = new Set((grants.approved ?? []).map(consentName));
  const isApproved = (consent: Consent): boolean => approved.has(consentName(consent));
  const mayStand = ({ unproven }: Consent): boolean => !(grants.standing === true && unproven === true);
  const isGiven: Readonly<Record<ConsentKind, (consent: Consent) => boolean>> = {
    prevent_destroy: ({ address = "" }) => unprotected.has(address),
    data_loss: (consent) =>
      (mayStand(consent) && (grants.allowDataLoss || losses.has(consent.address ?? ""))) || isApproved(consent),
    empty: (consent) => grants.allowEmpty || isApproved(consent),
    removal: (consent) =>
      grants.allowRemoval === "all" || (consent.count ?? 0) <= grants.allowRemoval || isApproved(consent),
    recreate: (consent) =>
      (mayStand(consent) && (grants.recreate === "all" || recreated.has(consent.address ?? ""))) || isApproved(consent),
    // The approval of a saved plan is no answer here: nobody knew then what the guest has not written yet when the plan
    // is applied.
    flush: (consent) => mayStand(consent) && (flushes.has("all") || flushes.has(consent.address ?? "")),
  };
  return consents.filter((consent) => !isGiven[consent.kind](consent));
}

/** The code of the diagnostic when a consent is missing. */
export const consentCodes = {
  approval: "consent/approval",
  data_loss: "consent/data-loss",
  empty: "consent/empty",
  flush: "consent/flush",
  prevent_destroy: "consent/prevent-destroy",
  recreate: "consent/recreate",
  removal: "consent/removal",
} as const satisfies Record<ConsentKind | "approval", DiagnosticCode>;

/** A missing consent as a diagnostic. */
export const missingConsent = ({ kind, address, detail, grant, source }: Consent): Diagnostic => ({
  severity: "error",
  code: consentCodes[kind],
  summary: detail,
  fix: grant,
  address,
  source,
});

/** What a consent is about, down to the id and the size: two consents of the same name permit the same. */
const consentName = ({ kind, address, loss, count }: Consent): string =>
  JSON.stringify([kind, address, loss?.disk, loss?.id, loss?.sizeGb, count]);
