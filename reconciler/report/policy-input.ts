/** The input of a policy program: the plan, the findings so far, and what the file asks for, as one JSON value. */
import type { Finding } from "../core/findings/finding";
import type { Desired } from "../core/model/desired";
import { countChanges, type Plan } from "../core/plan/plan";
import { costForPrograms } from "./cost-text";
import { changeEvents, findingEntry, plannedStepEvents } from "./json-lines";

export const policyInput = (
  plan: Plan,
  { resources, project, region, environment }: Desired,
  findings: readonly Finding[],
  service: string,
): object => ({
  format: "reconcile-cloud/policy-input",
  version: 1,
  service,
  project: project ?? null,
  environment: environment ?? null,
  region: region ?? null,
  destroys: plan.options.destroy === true,
  counts: countChanges(plan.changes),
  changes: changeEvents(plan),
  steps: [...plannedStepEvents(plan.steps)],
  estimate: { duration_ms: plan.estimate.durationMs, downtime_ms: plan.estimate.downtimeMs },
  cost: plan.cost === undefined ? undefined : costForPrograms(plan.cost),
  findings: findings.map(findingEntry),
  resources,
});
