/**
 * A plan in the order in which people read it: one block for each resource, with its consequence, its steps and its
 * downtime; and the words of the summary. Text, Markdown and the graph are made from this outline; it has no layout.
 */

import type { Change, FieldChange } from "../core/diff/changes";
import { type Address, componentOf, inAddressOrder } from "../core/model/address";
import { errorsAmong } from "../core/model/diagnostic";
import { kindRows } from "../core/model/kinds";
import type { Consent, ConsentKind } from "../core/plan/consent";
import { isFallback } from "../core/plan/estimate";
import { countChangesAndForgotten, isEmpty, type Plan } from "../core/plan/plan";
import { isGate, type Step } from "../core/plan/step";
import { itemAt } from "../core/text/invariant";
import { groupedBy } from "../core/text/objects";
import { printable } from "../core/text/printable";
import type { EngineEvent } from "../engine/events";
import type { RunReport } from "../engine/run-plan";
import { countOf, durationText, listText, numberText } from "./style";

export interface PlanBlock {
  readonly change: Change;
  /** What happens, named by its consequence: `rebuild (wipes the root disk)`. */
  readonly verb: string;
  readonly loses: boolean;
  /** Every request for this resource, in order. */
  readonly steps: readonly Step[];
  /** Whether the order of the steps tells the reader something; it does not for a plain create or delete. */
  readonly orderMatters: boolean;
  readonly downtimeMs?: number;
}

/**
 * Steps at a resource that itself does not change: a VM that is stopped for a neighbour's flush, read again, or waited
 * for.
 */
export interface Touched {
  readonly address: Address;
  readonly steps: readonly Step[];
  readonly downtimeMs?: number;
}

export function outlinePlan(plan: Plan) {
  const stepsOf = groupedBy(plan.steps, (step) => (isGate(step) ? undefined : step.address));
  const downtime = (address: Address) => {
    const ms = plan.estimate.downtimeMs[address];
    return ms === undefined ? {} : { downtimeMs: ms };
  };
  const blocks = inAddressOrder(plan.changes).map((change): PlanBlock => {
    const steps = stepsOf.get(change.address) ?? [];
    stepsOf.delete(change.address);
    const plain = change.action === "create" || steps.every(({ action }) => action.operation === "record");
    return {
      change,
      verb: verbOfChange(change, steps),
      loses: change.losses.length > 0,
      steps,
      orderMatters: steps.length > 1 && !plain,
      ...downtime(change.address),
    };
  });
  const touched = [...stepsOf].map(([address, steps]): Touched => ({ address, steps, ...downtime(address) }));
  return { blocks, touched };
}

/** The numbers of changes in each component; empty when the plan has no component. */
export function countsByComponent(blocks: readonly PlanBlock[]): ReadonlyMap<string, string> {
  const all = blocks.map(({ change }) => change);
  const changes = groupedBy(all, ({ address }) => componentOf(address) || undefined);
  return new Map([...changes].map(([component, its]) => [component, changeWords(its).join(", ")]));
}

/** Instances of one for_each block to which the same happens; a single block where no other is like it. */
export type Alike = readonly [PlanBlock, ...PlanBlock[]];

/**
 * `atLeast`: from this many on, alike instances become one entry; fewer stay apart. In the order of the first of each.
 */
export function foldAlike(blocks: readonly PlanBlock[], atLeast: number): readonly Alike[] {
  const byLikeness = groupedBy(blocks, likenessOf);
  return [...byLikeness.values()].flatMap((alike): Alike[] =>
    alike.length >= atLeast ? [alike] : alike.map((block): Alike => [block]),
  );
}

/** What has to be equal for two changes to be alike. Values may differ from one instance to the next, as names do. */
function likenessOf({ change, verb, loses }: PlanBlock): string {
  const block = change.address.endsWith("]") ? change.address.slice(0, change.address.lastIndexOf("[")) : undefined;
  if (block === undefined) return change.address;
  const fields = change.fields.map(({ field, before, after, verb: of }) =>
    field === "rules" ? [field, before, after] : [field, of],
  );
  return JSON.stringify([block, verb, loses, change.action, change.reason, fields]);
}

/** The fields of all instances; a value that differs is shown for the first and the last. */
export const fieldsOfAlike = ([first, ...others]: Alike): readonly FieldChange[] =>
  first.change.fields.map((field, index) => {
    const all = [field, ...others.flatMap(({ change }) => change.fields[index] ?? [])];
    return {
      ...field,
      before: rangeOfValues(all.map(({ before }) => before)),
      after: rangeOfValues(all.map(({ after }) => after)),
    };
  });

function rangeOfValues(values: readonly FieldChange["after"][]): FieldChange["after"] {
  const different = new Set(values);
  if (different.size <= 1) return values[0] ?? null;
  return `${values[0]} … ${values.at(-1)} (${numberText(different.size)} values)`;
}

function verbOfChange(change: Change, steps: readonly Step[]): string {
  const remarks = stepRemarks(steps);
  switch (change.action) {
    case "create":
      return withRemarks(change.reason === "gone" ? "create again" : "create", remarks);
    case "import":
      return change.fields.length === 0
        ? withRemarks("import", remarks)
        : `import, then ${withRemarks(fieldVerbs(change.fields), [...fieldRemarks(change), ...remarks])}`;
    case "update":
      return change.fields.length === 0
        ? withRemarks("finish what was begun", remarks)
        : withRemarks(fieldVerbs(change.fields), [...fieldRemarks(change), ...remarks]);
    case "replace":
      return withRemarks("replace", [...kindRows[change.kind].whenReplaced, ...remarks]);
    case "delete":
      return withRemarks("delete", [...kindRows[change.kind].whenDeleted, ...remarks]);
    case "forget":
      return steps.some((step) => leavesOrphan(step, change))
        ? withRemarks("retain as an orphan", ["it stays alive, unmanaged", ...remarks])
        : withRemarks("forget", [change.reason === "gone" ? "it is gone" : "it stays alive, unmanaged"]);
  }
}

/** Whether the deleted resource itself is left behind, rather than something that was attached to it. */
const leavesOrphan = ({ action }: Step, { kind, id }: Change): boolean =>
  action.operation === "record" &&
  action.changes.some((change) => change.type === "orphan" && change.key === `${kind}:${id}`);

const withRemarks = (verb: string, remarks: readonly string[]): string =>
  remarks.length === 0 ? verb : `${verb} (${[...new Set(remarks)].join(", ")})`;

function fieldVerbs(fields: readonly FieldChange[]): string {
  const counts = new Map<string, number>();
  for (const field of fields) {
    const verb = field.field === "address" ? "move to this address" : field.verb;
    counts.set(verb, (counts.get(verb) ?? 0) + 1);
  }
  return listText(
    [...counts].map(([verb, count]) =>
      verb.endsWith(" rule") ? `${verb.slice(0, -" rule".length)} ${countOf(count, "rule")}` : verb,
    ),
  );
}

const fieldRemarks = (change: Change): string[] =>
  change.fields.some((field) => field.verb === "rebuild") ? ["wipes the root disk"] : [];

/** What a step means for people beyond its verb. */
function stepRemarks(steps: readonly Step[]): string[] {
  const remarks: string[] = [];
  for (const { action } of steps) {
    switch (action.operation) {
      case "vm.delete":
        remarks.push(
          action.deletesVolume === undefined
            ? "volumes on it that are not declared become orphans"
            : `its data volume ${action.deletesVolume.id} of ${action.deletesVolume.sizeGb} GB is deleted too`,
        );
        break;
      case "volume.detach":
        remarks.push(
          action.flush === "ask"
            ? "needs a flush"
            : action.flush === "stop"
              ? "its VM is stopped for the flush"
              : "flushed by its command",
        );
        break;
      case "vm.resize.confirm":
        if (action.manual) remarks.push("waits for you to confirm it");
        break;
      case "outside":
        remarks.push("waits for an outside act");
    }
  }
  return remarks;
}

/** What a list calls each step: its number, or its sentence when it only orders others. */
export function stepNames(steps: readonly Step[]): Map<string, string> {
  const names = new Map<string, string>();
  let number = 0;
  for (const step of steps)
    if (!isFallback(step)) names.set(step.id, isGate(step) ? printable(step.title) : String(++number));
  return names;
}

/** The title of each step by its id; ids are for programs. */
export const stepTitles = (steps: readonly Step[]): ReadonlyMap<string, string> =>
  new Map(steps.map((step) => [step.id, printable(step.title)]));

export interface ConsentBlock {
  readonly kind: ConsentKind;
  readonly title: string;
  readonly consents: readonly Consent[];
  /** One flag that gives all of these consents, where there is such a flag. */
  readonly grant?: string;
}

export function consentBlocks(consents: readonly Consent[]): ConsentBlock[] {
  const byKind = groupedBy(consents, (consent) => consent.kind);
  // The gravest last, because the last line is the one that is read.
  return (["flush", "prevent_destroy", "recreate", "removal", "empty", "data_loss"] as const).flatMap((kind) => {
    const list = byKind.get(kind);
    return list === undefined ? [] : [consentBlock(kind, list)];
  });
}

function consentBlock(kind: ConsentKind, consents: readonly Consent[]): ConsentBlock {
  const count = consents.length;
  switch (kind) {
    case "flush":
      return {
        kind,
        title: `NEEDS A FLUSH: ${countOf(count, "volume comes off its VM", "volumes come off their VMs")}`,
        consents,
        grant: count > 1 ? "--confirm-flush all, once every one of them is flushed" : undefined,
      };
    case "prevent_destroy":
      return { kind, title: `PROTECTED: prevent_destroy forbids ${countOf(count, "change")} of this plan`, consents };
    case "empty":
      return { kind, title: "EMPTY FILE: everything would be deleted", consents };
    case "recreate":
      return {
        kind,
        title: `GONE: ${countOf(count, "thing")} of the state would be made anew`,
        consents,
        grant: count > 1 ? "--recreate with the address of each, or all" : undefined,
      };
    case "removal":
      return { kind, title: "MUCH WOULD GO: more than half of what the state has", consents };
    case "data_loss":
      return {
        kind,
        title: `DATA LOSS: ${countOf(count, "thing is", "things are")} lost for good`,
        consents,
        grant: count > 1 ? "--allow-data-loss, or --allow-loss with the address of each" : itemAt(consents, 0).grant,
      };
  }
}

/** Codes of findings that a resource was looked for and not seen. */
const codesOfNotSeen: ReadonlySet<string> = new Set(["plan/not-listed-yet", "plan/forbidden"]);

/** What was looked for and not seen, a line for each: the record stands for it, and nobody knows whether it is as wished. */
export const notSeenLines = ({ diagnostics }: Pick<Plan, "diagnostics">): string[] =>
  diagnostics.flatMap(({ code, summary }) => (codesOfNotSeen.has(code) ? [summary] : []));

/** Whether an earlier run's write is one that nobody can see: then nobody can say that the service matches. */
const isPartlyBlind = ({ diagnostics }: Plan): boolean =>
  diagnostics.some(({ code }) => code === "plan/not-shown" || code === "apply/not-seen");

/** What of the service may be said to match, as far as the plan has seen it. */
export function whatMatches(plan: Plan): string {
  if (memoryText(plan) !== undefined) return "what was looked at";
  return isPartlyBlind(plan) || notSeenLines(plan).length > 0 ? "what the service shows" : "the service";
}

/** The plan in one line. */
export function summaryText(plan: Plan): string {
  const errors = errorsAmong(plan.diagnostics).length;
  if (isEmpty(plan) && errors === 0) return emptyText(plan);
  const words = changeWords(plan.changes);
  const changes = words.length === 0 ? "no changes" : words.join(", ");
  if (errors === 0) return `${[`Plan: ${changes}`, ...figuresOf(plan)].join("; ")}${scopeText(plan)}.`;
  const failed = `No plan, because of ${countOf(errors, "error")}.`;
  return words.length === 0
    ? failed
    : `${failed} Without ${errors === 1 ? "it" : "them"}: ${changes}${scopeText(plan)}.`;
}

/** Which addresses the plan was made for, if not for all. */
export function scopeText({ options: { targets, excludes } }: Plan): string {
  const only = targets === undefined ? "" : ", targets only";
  if (excludes === undefined) return only;
  const many = excludes.length > 3;
  return `${only}, without ${many ? countOf(excludes.length, "excluded address", "excluded addresses") : listText(excludes)}`;
}

/** That nothing is to be done, and how much of that was seen. */
function emptyText(plan: Plan): string {
  if (plan.options.destroy === true)
    return `Nothing to do: the state holds nothing that could be destroyed${scopeText(plan)}.`;
  const known = `${countOf(plan.unchanged, "resource")}${scopeText(plan)}`;
  const unseen = notSeenLines(plan).length;
  if (unseen > 0)
    return `Nothing to do as far as could be seen: what the service shows matches the file (${known}, ${numberText(unseen)} of them not seen).`;
  const memory = memoryText(plan);
  if (memory !== undefined)
    return `Nothing to do as far as was looked at: what the service shows matches the file (${known}, ${memory}).`;
  if (plan.diagnostics.some(({ code }) => code === "apply/not-seen"))
    return `Nothing to do, and not all that the service has accepted shows (${known}).`;
  if (isPartlyBlind(plan))
    return `Nothing to do as far as this service can be looked at: what it shows matches the file (${known}).`;
  const outputs = plan.outputs?.filter(({ changes }) => changes).length ?? 0;
  if (outputs > 0)
    return `Nothing to do in the service, which matches the file (${known}); ${countOf(outputs, "output changes", "outputs change")}.`;
  if (plan.bookkeeping.length === 0) return `Nothing to do: the service matches the file (${known}).`;
  return `Nothing to do in the service, which matches the file (${known}); ${countOf(plan.bookkeeping.length, "record")} to update in the state.`;
}

function figuresOf(plan: Plan): string[] {
  const losing = plan.changes.filter((change) => change.losses.length > 0).length;
  const steps = plan.steps.filter((step) => !isGate(step) && !isFallback(step)).length;
  const memory = memoryText(plan);
  const { durationMs } = plan.estimate;
  return [
    ...(losing > 0 ? [`${losing} ${losing === 1 ? "loses" : "lose"} data`] : []),
    ...(plan.unchanged > 0 ? [`${numberText(plan.unchanged)} unchanged`] : []),
    ...(memory === undefined ? [] : [memory]),
    ...(plan.steps.length > 0 ? [countOf(steps, "step")] : []),
    ...(durationMs > 0 ? [`${durationMs < 1000 ? "" : "about "}${durationText(durationMs)}`] : []),
  ];
}

/** Which resources were not looked at, and when they were seen last. */
function memoryText({ fromMemory = [] }: Plan): string | undefined {
  if (fromMemory.length === 0) return undefined;
  const times = fromMemory.flatMap(({ seenAt }) => seenAt ?? []).sort();
  const since =
    times.length < fromMemory.length || times[0] === undefined ? "" : `, at ${times[0].slice(0, 16)}Z or later`;
  return `${numberText(fromMemory.length)} from memory, as seen last${since}`;
}

const changeWords = (changes: readonly Change[]): string[] =>
  Object.entries(countChangesAndForgotten(changes)).flatMap(([action, count]) =>
    count === 0 ? [] : [`${numberText(count)} to ${action}`],
  );

/** For what breaks a title, cuts it or writes it in signs of its own: no mask would find a sensitive value in it then. */
export const withMaskedTitles = (plan: Plan, masked: (text: string) => string): Plan => ({
  ...plan,
  steps: plan.steps.map((step) => ({ ...step, title: masked(step.title) })),
});

export const withMaskedWords = (event: EngineEvent, masked: (text: string) => string): EngineEvent =>
  event.type !== "step"
    ? event
    : {
        ...event,
        title: masked(event.title),
        ...(event.message === undefined ? {} : { message: masked(event.message) }),
      };

/** The report with what its steps are called and how they ended in words. */
export const withMaskedSteps = (report: RunReport, masked: (text: string) => string): RunReport => ({
  ...report,
  steps: report.steps.map(({ step, result, ...rest }) => ({
    ...rest,
    step: { ...step, title: masked(step.title) },
    result: result.message === undefined ? result : { ...result, message: masked(result.message) },
  })),
});
