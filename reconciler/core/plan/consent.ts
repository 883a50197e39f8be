/**
 * What a plan needs from the user before anything is sent, and whether the flags given grant it. Each consent names
 * the exact flag or field that gives it.
 */
import type { Change } from "../diff/changes";
import { type Address, kindOf } from "../model/address";
import type { DesiredResource } from "../model/desired";
import type { Step } from "./step";

export type ConsentKind = "data_loss" | "flush" | "prevent_destroy" | "empty";

export interface Consent {
  readonly kind: ConsentKind;
  readonly address?: Address;
  /** What would happen. */
  readonly detail: string;
  /** The flag or field that gives it. */
  readonly grant: string;
}

export interface Grants {
  readonly allowDataLoss: boolean;
  readonly allowEmpty: boolean;
  /** Addresses, or `all`. */
  readonly confirmFlush: readonly string[];
}

type RecordedOf = (address: Address) => { readonly preventDestroy: boolean } | undefined;

export function consentsFor(
  changes: readonly Change[],
  steps: readonly Step[],
  desiredOf: (address: Address) => DesiredResource | undefined,
  recordedOf: RecordedOf,
): Consent[] {
  const consents: Consent[] = [];
  for (const change of changes) {
    const destroys = change.action === "replace" || isAbandoned(change);
    if (destroys && isProtected(change.address, desiredOf, recordedOf))
      consents.push({
        kind: "prevent_destroy",
        address: change.address,
        detail: `${change.address} (${change.name}) has prevent_destroy, and this plan would ${change.action} it`,
        grant: `set lifecycle.prevent_destroy: false on ${change.address} and apply that first`,
      });
    for (const loss of change.losses)
      consents.push({ kind: "data_loss", address: change.address, detail: loss, grant: "--allow-data-loss" });
  }
  for (const step of steps)
    if (step.action.operation === "volume.detach" && step.action.flush === "ask")
      consents.push({
        kind: "flush",
        address: step.address,
        detail: `${step.title}: unmount or sync it inside the guest first`,
        grant: `--confirm-flush ${step.address}${kindOf(step.address) === "volume" ? " (or flush.via: command or stop)" : ""}`,
      });
  return consents;
}

/** The file decides where it still speaks of the resource; where it does not, the state remembers. */
function isProtected(
  address: Address,
  desiredOf: (address: Address) => DesiredResource | undefined,
  recordedOf: RecordedOf,
): boolean {
  const recorded = recordedOf(address)?.preventDestroy === true;
  const desired = desiredOf(address);
  return desired === undefined ? recorded : desired.lifecycle.preventDestroy;
}

/** Everything the file no longer declares at once: more often a lost file than a wish. */
export const emptyConsent = (abandoned: number): Consent => ({
  kind: "empty",
  detail: `the desired state is empty, and ${abandoned} ${abandoned === 1 ? "resource" : "resources"} would be deleted or left behind`,
  grant: "--allow-empty",
});

/** Deleted, or left as an orphan where the service cannot delete; what a removed entry lets go was meant. */
export const isAbandoned = (change: Change): boolean =>
  change.action === "delete" || (change.action === "forget" && change.reason !== "gone" && change.reason !== "let_go");

export function missingConsents(consents: readonly Consent[], grants: Grants): Consent[] {
  const flushes = new Set(grants.confirmFlush);
  return consents.filter((consent) => {
    switch (consent.kind) {
      case "prevent_destroy":
        return true;
      case "data_loss":
        return !grants.allowDataLoss;
      case "empty":
        return !grants.allowEmpty;
      case "flush":
        return !flushes.has("all") && !flushes.has(consent.address ?? "");
      default:
        return consent.kind satisfies never;
    }
  });
}
