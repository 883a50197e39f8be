/**
 * Where each resource of a run stands when the run did not get to its end: done, in progress with what it waits for, or
 * untouched.
 */

import { type Address, compareAddresses } from "../core/model/address";
import type { Plan } from "../core/plan/plan";
import { isGate, type Step } from "../core/plan/step";
import { groupedBy } from "../core/text/objects";
import { notSeenIn, type RunReport, type StepReport } from "../engine/run-plan";
import { numberText } from "./style";

export interface ResourceStanding {
  readonly address: Address;
  readonly standing: "done" | "in_progress" | "untouched";
  /** For what is in progress: the state it is left in, and what is next. */
  readonly waitsFor?: string;
}

export const isUnfinished = ({ interrupted, broken, bug, counts, steps }: RunReport): boolean =>
  interrupted ||
  broken !== undefined ||
  bug !== undefined ||
  counts.failed > 0 ||
  counts.waiting > 0 ||
  notSeenIn({ steps }).length > 0;

/** Every resource that the plan changes or acts on, by address. */
export function resourceStandings(run: RunReport, plan: Pick<Plan, "changes">): ResourceStanding[] {
  const steps = groupedBy(run.steps, ({ step }) => (isGate(step) ? undefined : step.address));
  const unseen = new Set(notSeenIn(run).map(({ address }) => address));
  const addresses = new Set([...plan.changes.map(({ address }) => address), ...steps.keys()]);
  return [...addresses]
    .sort(compareAddresses)
    .map((address) => resourceStanding(address, steps.get(address) ?? [], unseen.has(address)));
}

function resourceStanding(address: Address, reports: readonly StepReport[], isUnseen: boolean): ResourceStanding {
  const open = reports.filter(({ result }) => result.end !== "done");
  if (open.length === 0 && isUnseen)
    return { address, standing: "in_progress", waitsFor: "accepted by the service, and its effect was not seen" };
  if (open.length === 0) return { address, standing: "done" };
  if (reports.every(({ result }) => result.end === "skipped")) return { address, standing: "untouched" };
  const [first] = open;
  return { address, standing: "in_progress", waitsFor: first === undefined ? undefined : whyWaiting(first, reports) };
}

/** The first step that is not done says what is next; what a resize leaves behind has a name of its own. */
function whyWaiting({ step, result }: StepReport, reports: readonly StepReport[]): string {
  const next = result.end === "skipped" ? `next: ${step.title}` : (result.message ?? step.title);
  return isUndecided(step, reports) ? `in VERIFY_RESIZE, neither confirmed nor reverted; ${next}` : next;
}

const deciding: ReadonlySet<Step["action"]["operation"]> = new Set([
  "vm.resize.confirm",
  "vm.resize.revert",
  "vm.check",
]);

function isUndecided(step: Step, reports: readonly StepReport[]): boolean {
  if (!deciding.has(step.action.operation)) return false;
  const isDone = (operation: Step["action"]["operation"]): boolean =>
    reports.some(({ step: other, result }) => other.action.operation === operation && result.end === "done");
  const resizes = reports.some(({ step: other }) => other.action.operation === "vm.resize");
  // Without a resize in this run, an earlier one sent it, and this run was to decide.
  const decides = reports.some(({ step: other }) => other.action.operation === "vm.resize.confirm");
  return decides && (!resizes || isDone("vm.resize")) && !isDone("vm.resize.confirm") && !isDone("vm.resize.revert");
}

/** `vm.web[1]: in VERIFY_RESIZE, …`, for a log and a message of one line. */
export const standingText = (standings: readonly ResourceStanding[]): string =>
  [
    standingCounts(standings),
    ...standings.flatMap(({ standing, address, waitsFor }) =>
      standing === "in_progress" ? [`${address}: ${waitsFor ?? "not finished"}`] : [],
    ),
  ].join("; ");

/** `3 done, 1 in progress, 2 untouched`. */
export const standingCounts = (standings: readonly ResourceStanding[]): string =>
  (["done", "in_progress", "untouched"] as const)
    .map((wanted) => {
      const count = standings.filter(({ standing }) => standing === wanted).length;
      return `${numberText(count)} ${wanted.replace("_", " ")}`;
    })
    .join(", ");
