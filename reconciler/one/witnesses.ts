/**
 * What of a program this process knows by its id, and what of that the service has shown to it. A single record cannot
 * prove that the credential is of the right project, since another project's would be told "not found" just the same;
 * the other resources of the program can.
 */
import { type Kind, kinds } from "../core/model/kinds";
import type { Live } from "../core/model/live";
import type { RecordedResource, State } from "../core/model/recorded";
import type { Witnesses } from "../engine/seen-again";
import type { HandlerService } from "./handler";
import { perClient } from "./per-client";

interface WitnessedRecord {
  readonly record: RecordedResource;
  /** It would show to the right credential. */
  readonly isMade: boolean;
}

interface View {
  readonly records: Map<string, WitnessedRecord>;
  readonly seen: Set<string>;
}

const viewOf = perClient((): View => ({ records: new Map(), seen: new Set() }));

/**
 * What this program is deleting, or was when a run was cut off, is a witness where it shows, and its absence says
 * nothing: it is gone because it was meant to go. So is what no state of the program has: an id that it only names, as
 * that of the VM of an attachment that is to be made, may be a wrong one.
 */
export function witnessesOf(service: HandlerService): Witnesses {
  const { records, seen } = viewOf(service);
  const counting = [...records].filter(([key, { isMade }]) => isMade || seen.has(key));
  return { recorded: new Set(counting.map(([key]) => key)), seen };
}

/** The state of a resource that was made has a scope. */
export function noteRecorded(service: HandlerService, { resources, scope }: Pick<State, "resources" | "scope">): void {
  const { records } = viewOf(service);
  for (const record of resources.values()) {
    const key = `${record.kind}:${record.id}`;
    if (record.id === undefined || (scope === undefined && records.has(key))) continue;
    records.set(key, { record, isMade: scope !== undefined && record.deleting !== true });
  }
}

export function noteShown(service: HandlerService, live: Live): void {
  const { seen } = viewOf(service);
  for (const kind of kinds)
    for (const [id, sighting] of live.of[kind].byId) if (sighting.seen === "yes") seen.add(`${kind}:${id}`);
}

/**
 * Whether the service has shown anything of the program to this process; with kinds, of each of them: a credential may
 * not see one kind and see the others.
 */
export function isVouchedFor(service: HandlerService, of: ReadonlySet<Kind> = new Set()): boolean {
  const { records, seen } = viewOf(service);
  const shown = new Set<Kind>();
  for (const [key, { record }] of records) if (seen.has(key)) shown.add(record.kind);
  return of.size === 0 ? shown.size > 0 : [...of].every((kind) => shown.has(kind));
}

/** A few resources of the program that nobody has looked at, beside those of the state; of the given kinds first. */
export function someUnseen(
  service: HandlerService,
  { resources }: Pick<State, "resources">,
  first: ReadonlySet<Kind>,
): readonly RecordedResource[] {
  const { records, seen } = viewOf(service);
  const own = new Set([...resources.values()].map(({ kind, id }) => `${kind}:${id}`));
  const others = [...records].flatMap(([key, { record, isMade }]) =>
    isMade && !own.has(key) && !seen.has(key) ? [record] : [],
  );
  const isFirst = ({ kind }: RecordedResource): boolean => first.has(kind);
  return [...others.filter(isFirst), ...others.filter((one) => !isFirst(one))]
    .slice(0, few)
    .map((record, index) => ({ ...record, address: `${record.kind}.witness-${index}` }));
}

const few = 3;
