/**
 * Which writes a run has still to look for when its last step has ended. What a later step has overwritten, deleted or
 * seen is not looked for: nothing can show it any more, or it was shown.
 */

import { shownAmong } from "../../kinds/group/same-traffic";
import { canonicalLiveRule, describeRuleKey, ruleKey } from "../canonical/rules";
import { showsEffect } from "../diff/effect";
import { type EffectField, type Expected, type WhyUnseen, type Written, writeKey } from "../model/effect";
import type { Kind } from "../model/kinds";
import { type Live, type LiveOf, sight } from "../model/live";
import type { RecordedResource, State } from "../model/recorded";
import { canonicalText } from "../text/canonical-text";
import { mustGet } from "../text/invariant";
import { fieldsIn, groupedBy, onlyDefined } from "../text/objects";
import type { StepChange, UnseenChanges } from "./record-patch";
import type { Step, StepOperation } from "./step";

/** A step that is done. `writes`: what was accepted and not seen. */
export interface EndedStep {
  readonly step: Step;
  readonly writes: readonly Written<StepChange>[];
}

export interface OpenWrite extends Written<StepChange> {
  readonly step: Step;
}

/**
 * `deleted`: what the run deleted, as `group:ID`. `shown`: what a later step was shown of what the run had made, in the
 * same spelling; what it contradicts is looked for.
 */
export function toLookFor(
  ended: readonly EndedStep[],
  deleted: ReadonlySet<string>,
  shown: ReadonlyMap<string, LiveOf[Kind]> = new Map(),
): OpenWrite[] {
  const open = new Map<string, OpenWrite>();
  /** Which of them are of an address, for only a step of the same one overtakes them. */
  const keysOf = new Map<string, Set<string>>();
  for (const { step, writes } of ended) {
    const keys = keysOf.get(step.address) ?? new Set();
    for (const key of keys)
      if (isOvertaken(mustGet(open, key), step, writes.length === 0)) {
        open.delete(key);
        keys.delete(key);
      }
    for (const write of writes) {
      const key = `${write.kind}:${write.id} ${writeKey(write)}`;
      const earlier = open.get(key);
      if (earlier !== undefined) keysOf.get(earlier.step.address)?.delete(key);
      // The field is put back to what it was before the first of them.
      const ifNot = earlier?.ifNot ?? write.ifNot;
      open.set(key, { ...write, step, ...onlyDefined({ ifNot }) });
      keys.add(key);
    }
    if (keys.size > 0) keysOf.set(step.address, keys);
  }
  return [...open.values()].filter((write) => {
    const { kind, id, field, ofCreate, answered } = write;
    const live = shown.get(`${kind}:${id}`);
    if (live !== undefined && ofCreate === true && answered === true && showsEffect<Kind>(write, live) !== "not-shown")
      return false;
    return field === "absence" || !deleted.has(`${kind}:${id}`);
  });
}

/** Nothing hangs on a VM that the run has deleted, which no record of the volume need show. */
export const isOffByDelete = ({ field, value }: OpenWrite, deleted: ReadonlySet<string>): boolean =>
  field === "detached" && deleted.has(`vm:${value}`);

/** These are in a list of their own, and not in the record. */
const ofRules: ReadonlySet<EffectField> = new Set(["rule", "removed rule"]);

/**
 * What was shown before the run as it is recorded, of resources that are looked at anyway, and what no step was to
 * change: a service may take it back with the change of something else.
 */
export function besides(open: readonly OpenWrite[], { resources }: Pick<State, "resources">, live: Live): OpenWrite[] {
  const byId = groupedBy(open, (write) =>
    write.blind !== undefined || write.field === "absence" ? undefined : `${write.kind}:${write.id}`,
  );
  return [...byId.values()].flatMap((writes) => {
    const [first] = writes;
    const { kind, id, step } = first;
    const [before, record] = [sight(live, kind, id), resources.get(step.address)];
    if (before.seen !== "yes" || record?.id !== id) return [];
    const asked = new Set(writes.flatMap((write) => [writeKey(write), ...removedBy(write)]));
    const rules = "rules" in before.value ? before.value.rules : undefined;
    const rulesShown = shownAmong(rulesOf(record), rules?.map(canonicalLiveRule) ?? []);
    const readsRecord = writes.some(({ field }) => !ofRules.has(field));
    return recordedParts(record)
      .filter((part) => (readsRecord || ofRules.has(part.field)) && !asked.has(writeKey(part)))
      .filter((part) =>
        part.field === "rule" ? rulesShown.has(part.value) : showsEffect<Kind>(part, before.value) === "shown",
      )
      .map((part) => ({ ...part, kind, id, step, said: `${part.said}, which it showed before`, beside: true }));
  });
}

const removedBy = ({ ifShown = [] }: OpenWrite): string[] =>
  ifShown.flatMap((change) =>
    change.type === "patch" ? (change.rules?.removed ?? []).map((value) => writeKey({ field: "rule", value })) : [],
  );

type WrittenPart = Pick<Expected, "field" | "value" | "said">;

const rulesOf = (record: RecordedResource): string[] =>
  "rules" in record ? record.rules.map((rule) => ruleKey(rule)) : [];

function recordedParts(record: RecordedResource): WrittenPart[] {
  const part = (field: EffectField, value: unknown, said = String(value)): WrittenPart[] =>
    value === undefined ? [] : [{ field, value: String(value), said: `${field}: ${said}` }];
  const { name, description, sizeGb, attachedTo } = fieldsIn(record);
  return [
    ...part("name", typeof name === "string" ? canonicalText(name).toLowerCase() : undefined, String(name)),
    ...part("description", typeof description === "string" ? canonicalText(description) : undefined),
    ...part("size", sizeGb),
    ...part("attach_to", attachedTo),
    ...rulesOf(record).flatMap((key) => part("rule", key, describeRuleKey(key))),
  ];
}

/** After these nobody knows any more whether the VM is stopped. */
const startingOperations: ReadonlySet<StepOperation> = new Set([
  "vm.start",
  "vm.reboot",
  "vm.rebuild",
  "vm.resize",
  "vm.resize.confirm",
  "vm.resize.revert",
]);

/** By a later step of the same address. */
function isOvertaken({ field }: OpenWrite, { action }: Step, isSeen: boolean): boolean {
  if (field === "power") return startingOperations.has(action.operation);
  // A volume that was seen at its attach or its resize exists, and its size is the one that the resize was to bring.
  if (field === "size" && action.operation === "volume.resize") return true;
  return field === "existence" && isSeen && action.operation.startsWith("volume.");
}

/**
 * What the closing look writes down: what showed became true, what did not show is taken back and remembered, and what
 * nobody can look at is taken for true and remembered as well. A run that was stopped before it looked changes nothing:
 * the next plan looks anyway.
 */
export function closingChanges(
  open: readonly OpenWrite[],
  looked: ReadonlyMap<OpenWrite, WhyUnseen>,
  { resources }: Pick<State, "resources">,
  at: string,
): StepChange[] {
  return open.flatMap((write): StepChange[] => {
    const { id, step, ifShown = [], ifNot = [] } = write;
    const why = looked.get(write);
    if (why?.unseen === "not-looked") return [];
    const record = resources.get(step.address);
    const isIts = record?.id === id && !notRemembered.has(write.field);
    const mark = (unseen: UnseenChanges): StepChange[] =>
      isIts && write.beside !== true ? [{ type: "patch", address: step.address, of: id, unseen }] : [];
    if (why === undefined) {
      const isMarked = record?.unseen?.some((one) => writeKey(one) === writeKey(write)) === true;
      return [...ifShown, ...(isMarked ? mark({ settled: [writeKey(write)] }) : [])];
    }
    // It is there, and the next look shows its state by itself.
    if (why.unseen === "failed") return [...ifShown];
    const { field, value, said } = write;
    const looks = why.unseen === "not-shown" ? { looked: why.where } : {};
    const noted = mark({ added: [{ field, value, said, since: at, ...looks }] });
    return [...(why.unseen === "not-shown" ? ifNot : ifShown), ...noted];
  });
}

/** Acts that leave nothing to look at later. */
const notRemembered: ReadonlySet<EffectField> = new Set(["reboot", "snapshot"]);
