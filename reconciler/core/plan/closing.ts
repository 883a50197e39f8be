/**
 * Which writes a run has still to look for when its last step has ended. What a later step has overwritten, deleted or
 * seen is not looked for: nothing can show it any more, or it was shown.
 */
import { showsEffect } from "../diff/effect";
import { type EffectField, type WhyUnseen, type Written, writeKey } from "../model/effect";
import type { Kind } from "../model/kinds";
import type { LiveOf } from "../model/live";
import type { State } from "../model/recorded";
import { onlyDefined } from "../text/objects";
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
  for (const { step, writes } of ended) {
    for (const [key, write] of open) if (isOvertaken(write, step, writes.length === 0)) open.delete(key);
    for (const write of writes) {
      const key = `${write.kind}:${write.id} ${writeKey(write)}`;
      const earlier = open.get(key);
      // The field is put back to what it was before the first of them.
      const ifNot = earlier?.ifNot ?? write.ifNot;
      open.set(key, { ...write, step, ...onlyDefined({ ifNot }) });
    }
  }
  return [...open.values()].filter((write) => {
    const { kind, id, field, ofCreate, answered } = write;
    const live = shown.get(`${kind}:${id}`);
    if (live !== undefined && ofCreate === true && answered === true && showsEffect<Kind>(write, live) !== "not-shown")
      return false;
    return field === "absence" || !deleted.has(`${kind}:${id}`);
  });
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

function isOvertaken({ field, step: earlier }: OpenWrite, { address, action }: Step, isSeen: boolean): boolean {
  if (earlier.address !== address) return false;
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
      isIts ? [{ type: "patch", address: step.address, of: id, unseen }] : [];
    if (why === undefined) {
      const isMarked = record?.unseen?.some((one) => writeKey(one) === writeKey(write)) === true;
      return [...ifShown, ...(isMarked ? mark({ settled: [writeKey(write)] }) : [])];
    }
    const { field, value, said } = write;
    const looks = why.unseen === "not-shown" ? { looked: why.where } : {};
    const noted = mark({ added: [{ field, value, said, since: at, ...looks }] });
    return [...(why.unseen === "not-shown" ? ifNot : ifShown), ...noted];
  });
}

/** Acts that leave nothing to look at later. */
const notRemembered: ReadonlySet<EffectField> = new Set(["reboot", "snapshot"]);
