/**
 * A plan as a file. `apply` plans again from what the file holds and compares: the reviewed plan is carried out, or
 * refused with what changed. The file brings its desired state, its dialect and the names of its service and its state,
 * so that another checkout on another machine does the same. It holds no credential.
 */

import { dirname, relative, resolve } from "node:path";
import type { ConfigSource } from "./config/read/desired";
import type { Address } from "./core/model/address";
import type { Desired } from "./core/model/desired";
import type { Diagnostic, SourcePosition } from "./core/model/diagnostic";
import type { Plan } from "./core/plan/plan";
import { knownVersion, newerVersion, WrittenByNewer } from "./core/state/newer";
import { canonicalJson } from "./core/text/canonical-json";
import { fewParts } from "./core/text/list-text";
import { ifAny, onlyDefined, parsedJson } from "./core/text/objects";
import type { Dialect } from "./dialect/dialect";
import { isNameOfHandedOver } from "./outside/files";
import { sha256 } from "./outside/sha256";
import { unreadablePart } from "./plan-shape";
import { type Refused, refuse } from "./refused";
import { createMasking } from "./service/masking";
import { version } from "./version";

export const planFormat = "reconcile-cloud/plan";

/** Absent in a plan of an older version: `owed`, and `attached`, which is absent where nothing could be seen as well. */
export interface SavedPlan extends ReturnType<typeof essenceOf> {
  readonly format: typeof planFormat;
  readonly version: 1;
  readonly id: string;
  readonly created_by: string;
  readonly desired: Desired;
  /** The folder that paths in the desired state are relative to, as seen from this file. */
  readonly folder: string;
  /** The same folder as seen from where the plan was made, for a plan file that was carried to another folder. */
  readonly folder_from_working_folder: string;
  readonly base_url: string;
  /** The place of the state: a path below the folder, an absolute path, or the address of a remote state. */
  readonly state: string;
  readonly dialect: Dialect;
  /**
   * The contents of the files that the plan was made from, by paths as seen from the folder. Absent in a plan of an
   * older version.
   */
  readonly files?: readonly FileMark[];
  /** What its reviewer was told. Absent in a plan of an older version. */
  readonly findings?: readonly Diagnostic[];
  /** The sensitive values that stand in it, which whoever shows it leaves out. Only a sealed plan has any. */
  readonly sensitive?: readonly string[];
}

export interface FileMark {
  readonly file: string;
  readonly sha256: string;
}

export interface PlanOrigin {
  readonly folder: string;
  readonly sources: readonly ConfigSource[];
  readonly planFile: string;
  readonly baseUrl: string;
  readonly state: string;
  readonly dialect: Dialect;
  readonly findings?: readonly Diagnostic[];
  readonly sensitive?: ReadonlySet<string>;
}

export function savePlan(plan: Plan, desired: Desired, origin: PlanOrigin): SavedPlan {
  const { folder } = origin;
  const body = {
    created_by: `reconcile ${version}`,
    ...essenceOf(plan),
    desired,
    folder: relative(dirname(resolve(origin.planFile)), folder) || ".",
    folder_from_working_folder: relative(process.cwd(), folder) || ".",
    base_url: origin.baseUrl,
    state: origin.state,
    dialect: origin.dialect,
    ...onlyDefined({ findings: origin.findings?.map(withoutFixParts) }),
    files: origin.sources
      .filter(({ file }) => !isNameOfHandedOver(file))
      .map(({ file, text }) => ({ file: relative(folder, resolve(file)), sha256: sha256(text) })),
  };
  const text = canonicalJson(body);
  const sensitive = [...(origin.sensitive ?? [])].filter((one) => createMasking(new Set([one])).text(text) !== text);
  const whole = { ...body, ...onlyDefined({ sensitive: ifAny(sensitive.sort()) }) };
  return { format: planFormat, version: 1, id: planId(whole), ...whole };
}

const essenceOf = (plan: Plan) => ({
  ...partsOf(plan),
  // A state that does not exist yet would get another lineage at each plan, and the same inputs give the same bytes.
  lineage: plan.serial === 0 ? "" : plan.lineage,
  diagnostics: plan.diagnostics.map(withoutFixParts),
});

/** The text of a fix is made of its parts. */
const withoutFixParts = <T extends Diagnostic>({ fixParts: _parts, ...told }: T): Omit<T, "fixParts"> => told;

/** What the file holds of a plan. */
function partsOf(plan: Omit<Plan, "orphans" | "unguarded" | "fromMemory">) {
  const { changes, steps, bookkeeping, consents, diagnostics, estimate, unchanged, options, lineage, serial } = plan;
  const { attached, outputs, cost, owed } = plan;
  return {
    ...{ lineage, serial, options, changes, steps, bookkeeping, consents, diagnostics, estimate, unchanged },
    ...{ attached, outputs, cost, owed },
  };
}

/** The id under which the state records a run without a saved plan. */
export const idOfUnsaved = (plan: Plan): string => planId(essenceOf(plan));

const planId = (body: object): string => sha256(canonicalJson(body));

/** Throws Refused for what is no plan, or none of this version, or was changed. `what`: where it is, for messages. */
export function readSaved(what: string, text: string): SavedPlan {
  const parsed = parsedJson(text);
  if (parsed === undefined) throw planUnreadable(`${what} is not JSON`);
  // Its format and version are asked next, and then the schema of a saved plan.
  const saved = parsed as SavedPlan;
  if (typeof parsed !== "object" || parsed === null || saved.format !== planFormat)
    throw planUnreadable(`${what} is no plan of this tool`);
  const newer = newerVersion(saved.version);
  if (newer !== undefined)
    throw new WrittenByNewer(
      what,
      `its version is ${newer}, and this reconcile reads version ${knownVersion}`,
      // A plan says which version made it.
      /^reconcile (\d[\w.-]*)$/.exec(String(saved.created_by))?.[1],
    );
  if (saved.version !== 1)
    throw planUnreadable(
      `${what} is a plan of ${saved.version === undefined ? "no version" : `version ${JSON.stringify(saved.version)}`}; this reconcile reads version 1`,
    );
  const { format: _format, version: _version, id, ...body } = saved;
  if (planId(body) !== id) throw refuse("plan/tampered", `${what} was changed after it was made`, planAgainFix);
  const part = unreadablePart(saved);
  if (part !== undefined) throw planUnreadable(`${what} is no plan of this version: ${part}`);
  return saved;
}

const planAgainFix = "plan again with --out";
const planUnreadable = (summary: string): Refused => refuse("plan/unreadable", summary, planAgainFix);

/** The plan in the file. The list of orphans of that time is not in it. */
export const planOfSaved = (saved: SavedPlan): Plan => ({ ...partsOf(saved), orphans: [] });

/**
 * The desired state of a plan, with the files that name its programs as seen from here. `folder`: where its files are
 * now.
 */
export function desiredHere({ desired, folder_from_working_folder: from }: SavedPlan, folder: string): Desired {
  const here = (file: string): string =>
    relative(process.cwd(), resolve(folder, relative(resolve(from), resolve(file))));
  const hereIn = <T extends { readonly source: SourcePosition }>(one: T): T => ({
    ...one,
    source: { ...one.source, file: here(one.source.file) },
  });
  return {
    ...desired,
    resources: desired.resources.map((resource) => {
      if (!("commandFile" in resource || "commandFiles" in resource)) return resource;
      const { commandFile, commandFiles = {} } = resource;
      const files = Object.entries(commandFiles).map(([command, file]) => [command, here(file)]);
      return {
        ...resource,
        ...onlyDefined({ commandFile: commandFile === undefined ? undefined : here(commandFile) }),
        commandFiles: Object.fromEntries(files),
      };
    }),
    ...onlyDefined({
      rollouts: desired.rollouts?.map(hereIn),
      policy: desired.policy === undefined ? undefined : hereIn(desired.policy),
    }),
  };
}

/** What has changed since the plan was made, in words; empty when the plan still holds. */
export function whatChanged(saved: SavedPlan, now: Plan): string[] {
  if (saved.lineage !== now.lineage && saved.serial !== 0)
    return [`the state is another one (lineage ${now.lineage}, the plan was made from ${saved.lineage})`];
  const differences: string[] = [];
  if (saved.serial !== now.serial)
    differences.push(`the state has moved on (serial ${saved.serial} then, ${now.serial} now)`);
  differences.push(...otherChanges(saved.changes, now.changes));
  if (saved.attached !== undefined) {
    // A VM that one of the plans leaves alone is told above, and that plan does not say what hangs on it.
    const { attached, changes } = saved;
    const inBoth = now.changes.filter(({ address }) => changes.some((change) => change.address === address));
    for (const { address } of inBoth)
      differences.push(...otherAttachments(address, attached[address], now.attached?.[address]));
  }
  if (differences.length === 0 && canonicalJson(saved.outputs ?? []) !== canonicalJson(now.outputs ?? []))
    differences.push("the outputs would be others now");
  if (differences.length === 0 && canonicalJson(saved.steps) !== canonicalJson(now.steps))
    differences.push("the steps would be others now");
  return differences;
}

/** Without the words for people, which a plan back to before a run has in other form. */
const whatItDoes = (change: Plan["changes"][number]) => ({ ...change, because: undefined, source: undefined });

function otherChanges(then: Plan["changes"], now: Plan["changes"]): string[] {
  const before = new Map(then.map((change) => [change.address, canonicalJson(whatItDoes(change))]));
  const after = new Map(now.map((change) => [change.address, canonicalJson(whatItDoes(change))]));
  const others = [...after].filter(([address, change]) => before.get(address) !== change);
  const over = [...before.keys()].filter((address) => !after.has(address));
  return [
    ...others.map(([address]) =>
      before.has(address)
        ? `${address} would change in another way now`
        : `${address} would change now, and did not then`,
    ),
    ...over.map((address) => `${address} needs no change any more`),
  ];
}

const otherAttachments = (address: Address, then: readonly string[] = [], now: readonly string[] = []): string[] => [
  ...now.filter((id) => !then.includes(id)).map((id) => `volume ${id} hangs on ${address} now, and did not then`),
  ...then.filter((id) => !now.includes(id)).map((id) => `volume ${id} does not hang on ${address} any more`),
];

export const stale = (differences: readonly string[]): Refused =>
  refuse(
    "plan/stale",
    `this plan is stale: ${fewParts(differences, 10)}`,
    // apply looks at the service, also where the plan did not.
    "plan again (without --no-refresh), review it, and apply the new one",
  );
