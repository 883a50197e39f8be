/** What a handler refuses, and the wishes it makes of others, worded once for all kinds. */
import type { Desired } from "../core/model/desired";
import { deepEqual } from "../core/text/deep-equal";
import { HandlerFailure, type Property, type Props } from "./handler";
import { changeOf, type PlannedOne, type Remembered } from "./one-run";

export const nothingPlanned = (planned: PlannedOne): PlannedOne => ({
  ...planned,
  plan: { ...planned.plan, changes: [], steps: [], bookkeeping: [], consents: [], diagnostics: [] },
});

export const sameBehaviour = (property: Property, before: unknown, after: unknown): boolean =>
  deepEqual(before ?? property.default, after ?? property.default);

export function refuseLosses(planned: PlannedOne, why: string): void {
  const change = changeOf(planned);
  if (change === undefined || (change.losses.length === 0 && change.action !== "replace")) return;
  throw new HandlerFailure([
    {
      severity: "error",
      code: "plan/unseen-loss",
      summary: `${change.name}: ${why}`,
      detail: [
        ...change.losses.map(({ detail }) => detail),
        ...change.fields.map((field) => `${field.field} is ${field.before}, and ${field.after} is asked for`),
      ].join("; "),
      fix: "make the program say what is there first",
    },
  ]);
}

export const keepingRules = (desired: Desired): Desired => ({
  ...desired,
  resources: desired.resources.map((one) => (one.kind === "group" ? { ...one, rulesMode: "additive" as const } : one)),
});

export const stillPending = (inputs: Props, { intent }: Remembered, id?: string): HandlerFailure =>
  new HandlerFailure([
    {
      severity: "error",
      code: "plan/outcome-unknown",
      summary: `the outcome of creating ${String(inputs["name"] ?? id)} is not known${intent === undefined ? "" : ` (sent at ${intent.sentAt})`}`,
    },
  ]);
