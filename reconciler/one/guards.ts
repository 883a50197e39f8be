/** What a handler refuses or asks of the user, in one wording for all kinds. */
import type { Kind } from "../core/model/address";
import { acceptService, compareScopes, type Unobserved } from "../core/model/evidence";
import { deepEqual } from "../core/text/deep-equal";
import { failure, HandlerFailure, type HandlerService, type Property, type Props } from "./handler";
import { changeOf, type PlannedOne, type Remembered } from "./one-run";
import type { ForeignCreate } from "./program-notes";
import { adoptsNothing } from "./shared-properties";

export const nothingPlanned = (planned: PlannedOne): PlannedOne => ({
  ...planned,
  plan: { ...planned.plan, changes: [], steps: [], bookkeeping: [], consents: [], diagnostics: [] },
});

export const sameBehaviour = (property: Property, before: unknown, after: unknown): boolean =>
  deepEqual(before ?? property.default, after ?? property.default);

export const adoptsTooMuch = "taking it over would go further than a preview can show";

export function refuseLosses(planned: PlannedOne, why: string): void {
  const change = changeOf(planned);
  if (change === undefined || (change.losses.length === 0 && change.action !== "replace")) return;
  const differences = [
    ...change.losses.map(({ detail }) => detail),
    ...change.fields.map((field) => `${field.field} is ${field.before}, and ${field.after} is asked for`),
  ];
  const fix = "make the program say what is there first";
  throw failure("plan/unseen-loss", `${change.name}: ${why}`, fix, differences.join("; "));
}

export const stillPending = (inputs: Props, { intent }: Remembered, id?: string): HandlerFailure =>
  failure(
    "plan/outcome-unknown",
    `the outcome of creating ${String(inputs["name"] ?? id)} is not known${intent === undefined ? "" : ` (sent at ${intent.sentAt})`}`,
  );

/** The program's state knows nothing of this create; a process whose engine was killed has sent it. */
export const notedOpen = (inputs: Props, sentAt: string): HandlerFailure =>
  failure(
    "apply/id-unknown",
    `a run that was cut off sent the create of ${String(inputs["name"])} at ${sentAt}, and its outcome is not known`,
    undefined,
    adoptsNothing(inputs) ? saidBefore : undefined,
  );

/** Another resource of this program has sent it, and may be this one under its former name. */
export const notedForeign = (inputs: Props, { by, sentAt, id }: ForeignCreate): HandlerFailure =>
  failure(
    "apply/id-unknown",
    `a run that was cut off sent the create of ${String(inputs["name"])} at ${sentAt}${id === undefined ? "" : `, which made ${id}`}, and no state was seen to have it since`,
    undefined,
    `it was sent for ${by}. If that is this resource, which has another name by now (or its parent or its stack has), adopt: ${JSON.stringify(id ?? "ID")} takes over what was made. If it is another resource, adopt: "none" makes this one`,
  );

export const saidBefore =
  'adopt: "none" stood in the program already when it was sent, and so says nothing of it: take that out and update once';

export const notFound = (...whats: readonly string[]): HandlerFailure =>
  new HandlerFailure(
    whats.map((what) => ({
      severity: "error",
      code: "service/not_found",
      summary: `the service shows no ${what}`,
      fix: "check the id, and the credential's project and rights",
    })),
  );

/** Not shown is not gone: nothing shows that the credential is of the project that the resource is in. */
export const notProvenGone = (what: string, reason: string): HandlerFailure =>
  failure(
    "consent/accept-service",
    `${what} is kept, and nothing was sent: ${reason}`,
    "use the credential of the project that the program is of (RECONCILE_TOKEN); where it is the right one and the resource is really gone: pulumi state delete, with its URN",
  );

/** A refresh keeps what it has not seen. */
export const keptUnseen = (what: string, { reason, vanished, fix }: Unobserved): string =>
  `${what} was not seen, and is kept as it was: ${reason}${vanished === undefined && fix !== acceptService ? "" : "; where it is really gone: pulumi state delete, with its URN, and the next update makes it anew"}`;

/** `isField`: it is taken over by being declared, and has no `adopt`. */
export const cannotBeLookedAt = (what: string, { reason }: Unobserved, isField = false): HandlerFailure =>
  failure(
    "plan/unobserved",
    `${what} cannot be looked at: ${reason}`,
    isField
      ? "declare it without an import instead: what is there already is taken over"
      : 'declare it in full with adopt: "<its id>" instead',
  );

/** Somebody took it out of the state by hand. What is not remembered is not gone: it is not made anew. */
export const nothingRemembered = (what: string): HandlerFailure =>
  failure(
    "plan/unobserved",
    `Pulumi's state has no record of ${what}`,
    "run pulumi refresh, which looks it up by its id",
  );

/** What the delete of something unseen was answered with. */
export const noWitness =
  "the service answered that there is no such id, and has shown this program nothing else; a credential of another project is told just that";

/**
 * Another service that does not show a resource, or has another one under the same id, proves nothing about this one.
 */
export function assertSameService(service: HandlerService, { scope }: Remembered, name: string): void {
  const doubt = service.acceptService === true ? undefined : compareScopes(scope, { origin: service.client.origin });
  if (doubt === undefined || scope === undefined) return;
  throw failure(
    "consent/accept-service",
    `${name} is of the service ${scope.origin}, and this is ${service.client.origin}`,
    `set baseUrl to the service it is of; if that service has moved here: pulumi config set reconcile-cloud:acceptService true for one update, and pulumi config rm it after that`,
  );
}

/** What is said of a flush is said of the guest of the VM that an attachment of the program names. */
export const hangsElsewhere = (what: string, host: string): HandlerFailure =>
  failure(
    "plan/attached-elsewhere",
    `${what} is attached to ${host}, and no attachment of this program says so: flushConfirmed and flush are not said of that VM`,
    "remove that attachment first",
  );

/** Its attachment is gone from the program's state by now. */
export const stillShownOn = (what: string, host: string): HandlerFailure =>
  failure(
    "plan/attached-elsewhere",
    `${what} is kept: this run took it off ${host}, and the service still shows it there`,
    "run this again once the service shows it detached; where somebody has attached it again, detach it there first",
  );

export const keptAlive = (what: string): string =>
  `${what} stays in the service: the removed section of a file takes it out of the program and leaves it alive`;

export const replacesAdopted = (inputs: Props, id: string): HandlerFailure =>
  failure(
    "plan/unseen-loss",
    `${String(inputs["name"])} would have to be replaced, and adopt: ${JSON.stringify(id)} names the very one that would be deleted for it`,
    "leave adopt out (in a file, its line in imports), which is done with once it has been taken over; then the preview shows what is lost",
  );

/** Only a create takes something over. */
export const adoptsAnother = (what: string, adopted: string): HandlerFailure =>
  failure(
    "plan/import-managed",
    `${what} is what this resource has already, and adopt: ${JSON.stringify(adopted)} names another one, which is not taken over`,
    "leave adopt out, or declare another resource with it; to have that one in the place of this one, which stays in the service: pulumi state delete, with its URN, and the next update takes it over",
  );

/** A destroy gives up a create whose outcome nobody can find out; the create may have made something. */
export const whatMayBeLeft = (before: Props, kind: Kind, { intent }: Remembered): string =>
  `the outcome of creating ${kind} ${String(before["name"])}${intent === undefined ? "" : ` (sent at ${intent.sentAt})`} is not known, and it is given up: look in the service for a ${kind} of that name${typeof before["size"] === "number" ? ` with ${before["size"]} GB` : ""} that was made then, which nothing manages`;
