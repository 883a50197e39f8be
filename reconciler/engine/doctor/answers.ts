/** What an answer teaches that was not asked for here: a sample, or what a trial was answered to its own create. */
import type { Kind } from "../../core/model/kinds";
import type { Operation } from "../../core/model/operation";
import { isObject } from "../../core/text/objects";
import type { RecordPlace } from "../../dialect/dialect";
import type { FoundRecord } from "../../dialect/learn/items";
import { knownReferenceIn, leavesOf, withCut } from "../../dialect/learn/values";
import { pointerTo } from "../../dialect/likely-key";
import { learnRules, recordOf } from "./find-one";
import type { Learnings } from "./learnings";
import { jobNamed, lineFor } from "./trial/jobs";

const kindOf: Partial<Readonly<Record<Operation, Kind>>> = {
  "vm.get": "vm",
  "volume.get": "volume",
  "volume.create": "volume",
  "group.get": "group",
  "group.create": "group",
};

export interface ShownAnswer {
  readonly body: unknown;
  /** The id of the resource that it is about, where that is known. */
  readonly id?: string;
}

export function learnFromAnswer(learnings: Learnings, operation: Operation, { body, id }: ShownAnswer): void {
  const payload = learnings.payload(body);
  const job = learnings.given.wait === undefined ? jobNamed(body, learnings.ports.told?.job) : undefined;
  if (job !== undefined) learnings.open.push(lineFor(job));
  if (operation === "group.rule.list" || operation === "group.rule.create") {
    learnRules(learnings, payload);
    return;
  }
  const kind = kindOf[operation];
  if (kind === undefined) {
    learnings.open.push(`${operation}: the sample teaches nothing; the doctor learns from lists, reads and creates`);
    return;
  }
  const own = id === undefined ? undefined : recordOf(learnings, kind, payload, id);
  // An answer that only links to what was made has no record.
  const link = own !== undefined || id === undefined ? undefined : linkedPlace(payload, id);
  if (link !== undefined) {
    learnings.idAlone.set(kind, link);
    return;
  }
  const { item, record } = own ?? unwrapped(payload);
  if (item !== "") learnings.wrapped.set(operation, item);
  if (learnings.samples.has(kind) || !isObject(record)) return;
  learnings.samples.set(kind, [record]);
  learnings.learn(kind);
}

function linkedPlace(payload: unknown, id: string): RecordPlace | undefined {
  for (const { place, value } of leavesOf(payload)) {
    const found = typeof value === "string" ? knownReferenceIn(value, new Set([id])) : undefined;
    if (found?.cut !== undefined) return withCut(place, found.cut);
  }
  return undefined;
}

/** What a record is wrapped in: maps with one member each, which is a map. */
function unwrapped(payload: unknown): FoundRecord {
  let [item, record] = ["", payload];
  for (;;) {
    if (!isObject(record)) return { item, record };
    const [only, ...others] = Object.entries(record);
    if (only === undefined || others.length > 0 || !isObject(only[1])) return { item, record };
    item += pointerTo(only[0]);
    record = only[1];
  }
}
