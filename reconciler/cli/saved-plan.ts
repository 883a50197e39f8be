/**
 * A plan as a file. Applying it plans again from what it holds and compares: what was reviewed is what is done, or it
 * is refused with what changed. It holds no credential.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { PlanOptions } from "../core/diff/context";
import type { Desired } from "../core/model/desired";
import type { Plan } from "../core/plan/plan";
import { canonicalJson } from "../core/text/canonical-json";
import { version } from "../version";
import { fail } from "./compose";
import { unreadablePart } from "./plan-shape";

export const planFormat = "reconcile-cloud/plan";

export interface SavedPlan {
  readonly format: typeof planFormat;
  readonly version: 1;
  readonly id: string;
  readonly created_by: string;
  readonly lineage: string;
  readonly serial: number;
  readonly options: PlanOptions;
  readonly desired: Desired;
  /** The folder that paths in the desired state are relative to, as seen from the plan's. */
  readonly folder: string;
  readonly changes: Plan["changes"];
  readonly steps: Plan["steps"];
  readonly bookkeeping: Plan["bookkeeping"];
  readonly consents: Plan["consents"];
  readonly diagnostics: Plan["diagnostics"];
  readonly estimate: Plan["estimate"];
  readonly unchanged: number;
}

export function savePlan(plan: Plan, desired: Desired, folder: string): SavedPlan {
  const { changes, steps, bookkeeping, consents, diagnostics, estimate, unchanged, options, lineage, serial } = plan;
  const body = {
    created_by: `reconcile ${version}`,
    lineage,
    serial,
    options,
    desired,
    folder,
    changes,
    steps,
    bookkeeping,
    consents,
    diagnostics,
    estimate,
    unchanged,
  };
  return { format: planFormat, version: 1, id: planId(body), ...body };
}

const planId = (body: object): string => createHash("sha256").update(canonicalJson(body)).digest("hex");

/** With a key for the state, the plan is under it too: it names the same things. */
export function writePlan(path: string, saved: SavedPlan): void {
  const { readKeys, sealFile } = require("../store/seal") as typeof import("../store/seal");
  writeFileSync(path, sealFile(readKeys(process.env), "plan", `${canonicalJson(saved, 1)}\n`), { mode: 0o600 });
}

/** `undefined`: the file is no plan, so it is a file of the desired state. */
export function readPlan(path: string): SavedPlan | undefined {
  if (!path.endsWith(".json")) return undefined;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
  const { readKeys, unsealFile } = require("../store/seal") as typeof import("../store/seal");
  text = unsealFile(readKeys(process.env), "plan", path, text);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw fail("plan/unreadable", `${path} is not JSON`, "plan again with --out");
  }
  const saved = parsed as SavedPlan;
  if (typeof parsed !== "object" || parsed === null || saved.format !== planFormat)
    throw fail("plan/unreadable", `${path} is no plan of this tool`, "plan again with --out");
  if (saved.version !== 1)
    throw fail(
      "plan/unreadable",
      `${path} is a plan of version ${JSON.stringify(saved.version)}; this reconcile reads version 1`,
      "plan again with --out",
    );
  const { format: _format, version: _version, id, ...body } = saved;
  if (planId(body) !== id)
    throw fail("plan/tampered", `${path} was changed after it was made`, "plan again with --out");
  const part = unreadablePart(saved);
  if (part !== undefined)
    throw fail(
      "plan/unreadable",
      `${path} is no plan of this version: its ${part} cannot be read`,
      "plan again with --out",
    );
  return saved;
}

/** What is not as it was when the plan was made, in words; empty when it still holds. */
export function whatChanged(saved: SavedPlan, now: Plan): string[] {
  if (saved.lineage !== now.lineage && saved.serial !== 0)
    return [`the state is another one (lineage ${now.lineage}, the plan was made from ${saved.lineage})`];
  const differences: string[] = [];
  if (saved.serial !== now.serial)
    differences.push(`the state has moved on (serial ${saved.serial} then, ${now.serial} now)`);
  const before = new Map(saved.changes.map((change) => [change.address, canonicalJson(change)]));
  const after = new Map(now.changes.map((change) => [change.address, canonicalJson(change)]));
  for (const [address, change] of after)
    if (before.get(address) !== change)
      differences.push(
        before.has(address)
          ? `${address} would change in another way now`
          : `${address} would change now, and did not then`,
      );
  for (const address of before.keys()) if (!after.has(address)) differences.push(`${address} needs no change any more`);
  if (differences.length === 0 && canonicalJson(saved.steps) !== canonicalJson(now.steps))
    differences.push("the steps would be others now");
  return differences;
}
