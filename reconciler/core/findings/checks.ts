/** The built-in checks of a file, against what it declares and what a plan would do. */

import type { Desired, DesiredResource, DesiredVm } from "../model/desired";
import type { DiagnosticCode } from "../model/diagnostic-code";
import { ofKind, runsGuest } from "../model/kinds";
import type { Amount, Checks, Hours } from "../model/policy";
import { limitOf } from "../model/policy";
import { isAbandoned } from "../plan/consent";
import type { Plan } from "../plan/plan";
import { compareDecimals, type Decimal, decimalText, knownDecimal, minus, zeroDecimal } from "../text/decimal";
import { listed } from "../text/list-text";
import type { Finding } from "./finding";

type CheckRow = readonly [code: Extract<DiagnosticCode, `check/${string}`>, summary: string, fix: string];

/** Findings about the file alone. */
export function checkDeclared({ resources, checks }: Pick<Desired, "resources" | "checks">): Finding[] {
  if (checks === undefined) return [];
  return resources.flatMap((resource) =>
    rowsFor(resource, checks).map((row) => ({
      ...checkRefused(checks, row),
      address: resource.address,
      source: resource.source,
    })),
  );
}

export interface PlanToCheck {
  readonly desired: Desired;
  readonly plan: Plan;
  /** How many resources the state has. */
  readonly recorded: number;
  /** Absent: in a test of the file, which says what a plan would do whenever it is made. */
  readonly now?: Date;
}

/**
 * For a plan: a breach by a resource that the plan creates or changes is an error, and one that exists already is a
 * warning.
 */
export function checkPlan({ desired, plan, recorded, now }: PlanToCheck): Finding[] {
  const { checks } = desired;
  if (checks === undefined) return [];
  const changed = stayingOf(plan);
  const declared = plan.options.destroy === true ? [] : checkDeclared(desired);
  const findings = declared.map((finding): Finding => {
    if (changed.has(finding.address ?? "")) return finding;
    const { refused: _, ...kept } = finding;
    return { ...kept, severity: "warning" };
  });
  const refuse = (...row: CheckRow): void => void findings.push(checkRefused(checks, row));
  const { atMost, hours } = checks;
  const removed = plan.changes.filter(isAbandoned).length;
  const stopped = Object.keys(plan.estimate.downtimeMs).length;
  if (atMost?.remove !== undefined && removed > limitOf(atMost.remove, recorded))
    refuse(
      "check/removals",
      `the plan removes ${removed}, and at most ${amountText(atMost.remove)} may go at once`,
      "remove them in parts (--target), or raise checks.at_most.remove",
    );
  const vms = desired.resources.filter(({ kind }) => runsGuest(kind)).length;
  if (atMost?.stop !== undefined && stopped > limitOf(atMost.stop, vms))
    refuse(
      "check/stops",
      `the plan takes ${stopped} VMs down, and at most ${amountText(atMost.stop)} may be down in one plan`,
      "change them in parts (--target), or raise checks.at_most.stop",
    );
  refuseCosts(plan, checks, refuse);
  if (hours !== undefined && now !== undefined && plan.steps.length > 0 && !isWithinHours(hours, now))
    refuse(
      "check/hours",
      `plans are carried out within ${hours.text} (UTC), and it is ${now.toISOString().slice(0, 16).replace("T", " ")}`,
      "wait until then, or change checks.hours",
    );
  return findings;
}

/** A limit holds for what the plan adds: a plan that saves is carried out, however much is left. */
function refuseCosts(plan: Plan, { atMost = {} }: Checks, refuse: (...row: CheckRow) => void): void {
  const { monthlyCost, monthlyIncrease } = atMost;
  if (monthlyCost === undefined && monthlyIncrease === undefined) return;
  const { cost } = plan;
  const growing = stayingOf(plan);
  if (cost === undefined) {
    const fix = "prices: ./prices.yaml in the file, --prices FILE, or RECONCILE_PRICES";
    if (growing.size > 0) refuse("check/cost-unknown", "what the plan costs is not known: there is no price list", fix);
    return;
  }
  const { currency, unknown } = cost;
  const after = knownDecimal(cost.after);
  const increase = minus(after, knownDecimal(cost.before));
  const money = (amount: Decimal): string => `${decimalText(amount)} ${currency}`;
  const limit = monthlyCost === undefined ? undefined : knownDecimal(monthlyCost);
  if (limit !== undefined && isMore(increase, zeroDecimal) && isMore(after, limit))
    refuse(
      "check/monthly-cost",
      `a month would cost ${money(after)} after this plan, and at most ${money(limit)} is allowed`,
      "ask for less, or raise checks.at_most.monthly_cost",
    );
  const step = monthlyIncrease === undefined ? undefined : knownDecimal(monthlyIncrease);
  if (step !== undefined && isMore(increase, step))
    refuse(
      "check/monthly-increase",
      `the plan adds ${money(increase)} to a month, and at most ${money(step)} may be added at once`,
      "do it in parts (--target), or raise checks.at_most.monthly_increase",
    );
  const open = unknown.filter((address) => growing.has(address));
  if (open.length > 0)
    refuse(
      "check/cost-unknown",
      `the cost of ${listed(open, 5)} is not known: not everything has a price`,
      "add the price to the list; 0 where there is nothing to pay",
    );
}

const isMore = (a: Decimal, b: Decimal): boolean => compareDecimals(a, b) > 0;

/** What the plan changes and the project goes on having. */
const stayingOf = ({ changes }: Plan): ReadonlySet<string> =>
  new Set(changes.flatMap(({ address, action }) => (action === "delete" || action === "forget" ? [] : [address])));

const checkRefused = ({ source }: Checks, [code, summary, fix]: CheckRow): Finding => ({
  severity: "error",
  code,
  summary,
  fix,
  source,
  refused: `refused by checks (${source.file}:${source.line})`,
});

function rowsFor(resource: DesiredResource, checks: Checks): CheckRow[] {
  const { address, kind, name } = resource;
  const pattern = checks.names?.[kind];
  const rows: CheckRow[] = [];
  if (pattern !== undefined && !new RegExp(`^(?:${pattern})$`, "u").test(name))
    rows.push([
      "check/name",
      `${address}: the name ${name} does not fit ${pattern}`,
      `a name that fits checks.names.${kind}`,
    ]);
  if (checks.preventDestroy?.includes(kind) === true && !resource.lifecycle.preventDestroy)
    rows.push(["check/lifecycle", `${address} has no prevent_destroy`, "lifecycle: { prevent_destroy: true }"]);
  const vm = ofKind(resource, "vm");
  return vm === undefined ? rows : [...rows, ...vmCheckRows(vm, checks)];
}

function vmCheckRows({ address, flavor, image, region, lifecycle }: DesiredVm, checks: Checks): CheckRow[] {
  const rows: CheckRow[] = [];
  const allowed = (
    code: CheckRow[0],
    what: string,
    value: string | undefined,
    list: readonly string[] | undefined,
  ): void => {
    if (list !== undefined && value !== undefined && !list.includes(value))
      rows.push([code, `${address}: the ${what} ${value} is not allowed`, `one of ${list.join(", ")}`]);
  };
  allowed("check/flavor", "flavor", flavor, checks.flavors);
  allowed("check/image", "image", image, checks.images);
  allowed("check/region", "region", region, checks.regions);
  const missing = (checks.snapshotBefore ?? []).filter((reason) => !lifecycle.snapshotBefore.includes(reason));
  if (missing.length > 0)
    rows.push([
      "check/lifecycle",
      `${address} takes no snapshot before ${missing.join(" and ")}`,
      `lifecycle: { snapshot_before: [${[...lifecycle.snapshotBefore, ...missing].join(", ")}] }`,
    ]);
  return rows;
}

const amountText = (amount: Amount): string => ("count" in amount ? String(amount.count) : `${amount.percent}%`);

/** From 22:00 to 04:00 is over midnight. */
function isWithinHours({ days, from, to }: Hours, now: Date): boolean {
  const minutes = now.getUTCHours() * 60 + now.getUTCMinutes();
  const overnight = to <= from;
  const inTime = overnight ? minutes >= from || minutes < to : minutes >= from && minutes < to;
  // A window that began yesterday evening belongs to yesterday's weekday.
  const day = overnight && minutes < to ? (now.getUTCDay() + 6) % 7 : now.getUTCDay();
  return inTime && (days.length === 0 || days.includes(day));
}
