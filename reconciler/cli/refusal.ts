/**
 * A plan that was not carried out because a consent is missing. Programs get it in full; people, who have just read the
 * plan, get it briefly, with the flag that gives the consent.
 */
import type { Diagnostic } from "../core/model/diagnostic";
import { type Consent, consentCodes } from "../core/plan/consent";
import { inShell } from "../core/text/in-shell";

export type MissingConsent = Omit<Consent, "kind"> & { readonly kind: Consent["kind"] | "approval" };

export const consentMissing = (consent: MissingConsent): Diagnostic => ({
  severity: "error",
  code: consentCodes[consent.kind],
  summary: consent.detail,
  fix: consent.grant,
  address: consent.address,
  source: consent.source,
});

const whyNothingSent: Partial<Record<MissingConsent["kind"], string>> = {
  data_loss: "nothing was sent: the plan loses data for good",
  flush: "nothing was sent: volumes come off their VMs, and nobody has confirmed that they are flushed",
  prevent_destroy: "nothing was sent: prevent_destroy forbids it",
  empty: "nothing was sent: the desired state is empty",
  recreate: "nothing was sent: resources that the service does not show any more would be created again",
  removal: "nothing was sent: more than half of the resources in the state would be deleted or left behind",
};

/** Consents of one kind say the same of each address, so they are shown together. */
export const refusalBriefly = (missing: readonly MissingConsent[]): Diagnostic[] =>
  missing.map((consent) => {
    const alike = missing.filter(({ kind }) => kind === consent.kind);
    return {
      ...consentMissing(consent),
      summary: whyOf(consent),
      fix: alike.length === 1 ? consent.grant : grantOfAll(consent, alike),
    };
  });

const whyOf = ({ kind, source, detail }: MissingConsent): string =>
  kind === "prevent_destroy" && source !== undefined
    ? `nothing was sent: ${source.file}:${source.line} protects it`
    : (whyNothingSent[kind] ?? detail);

/** With more flags than this, the message suggests one flag that gives all of them. */
const mostFlags = 4;

function grantOfAll({ kind, grant }: MissingConsent, alike: readonly MissingConsent[]): string {
  const addresses = [...new Set(alike.flatMap(({ address }) => address ?? []))];
  const eachWith = (flag: string): string => addresses.map((address) => `${flag} ${inShell(address)}`).join(" ");
  if (kind === "prevent_destroy") {
    const each = alike.length > mostFlags ? "--unprotect with the address of each" : eachWith("--unprotect");
    // What would permit it for good is the same for all that one line protects.
    return `${each}, this once, at a terminal without -y or with a saved plan; ${grant.slice(grant.indexOf("; ") + 2)}`;
  }
  if (kind === "data_loss")
    return addresses.length > mostFlags
      ? "--allow-data-loss"
      : `${eachWith("--allow-loss")} (or --allow-data-loss for everything listed)`;
  if (kind === "recreate") return alike.length > mostFlags ? "--recreate all" : eachWith("--recreate");
  if (kind !== "flush") return grant;
  const flags = alike.length > mostFlags ? "--confirm-flush all" : eachWith("--confirm-flush");
  return `${flags}, once every one of them is flushed`;
}
