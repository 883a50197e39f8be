/**
 * A block whose key was renamed in the file looks like one that goes and another that comes, and its data would be lost
 * for that. Where exactly one of each is alike, the hint names the `moved` entry that keeps it.
 */
import { describeRule } from "../canonical/rules";
import type { Change } from "../diff/changes";
import { type Address, quoted } from "../model/address";
import type { DesiredResource } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { type FieldRow, fieldsOf } from "../model/fields";
import { perKind } from "../model/kinds";
import type { RecordedResource } from "../model/recorded";

export function renamedKeys(
  changes: readonly Change[],
  desired: ReadonlyMap<Address, DesiredResource>,
  recorded: ReadonlyMap<Address, RecordedResource>,
): Diagnostic[] {
  const gone = changes.filter(({ action, reason }) => action === "delete" && reason === "removed");
  const come = changes.filter(({ action, reason }) => action === "create" && reason === "declared");
  if (gone.length === 0 || come.length === 0) return [];
  const pairs: { readonly from: Address; readonly to: Address; readonly source?: Change["source"] }[] = [];
  const comeBy = groupBy(come, ({ address }) => markOf(desired.get(address)));
  const goneBy = groupBy(gone, ({ address }) => markOf(recorded.get(address)));
  for (const [mark, [to, ...others]] of comeBy) {
    const [from, ...more] = goneBy.get(mark) ?? [];
    if (mark === "" || to === undefined || from === undefined || others.length > 0 || more.length > 0) continue;
    pairs.push({ from: from.address, to: to.address, ...(to.source === undefined ? {} : { source: to.source }) });
  }
  return byBlock(pairs).map(({ from, to, source }) => ({
    severity: "warning",
    code: "plan/renamed-key",
    summary: `${from} would be deleted and ${to}, which is alike, created: was the key renamed?`,
    fix: `moved: [ { from: ${quoted(from)}, to: ${quoted(to)} } ]   keeps it under its new key`,
    address: to,
    ...(source === undefined ? {} : { source }),
  }));
}

/** The instances of one block that become those of another are one `moved` entry. */
function byBlock<P extends { readonly from: Address; readonly to: Address }>(pairs: readonly P[]): P[] {
  const blocks = new Map<string, P>();
  for (const pair of pairs) {
    const [from, fromKey] = split(pair.from);
    const [to, toKey] = split(pair.to);
    const whole = fromKey !== undefined && fromKey === toKey;
    const entry = whole ? { ...pair, from, to } : pair;
    blocks.set(`${entry.from} ${entry.to}`, entry);
  }
  return [...blocks.values()];
}

const split = (address: Address): readonly [block: string, key?: string] => {
  const at = address.endsWith("]") ? address.lastIndexOf("[") : -1;
  return at < 0 ? [address] : [address.slice(0, at), address.slice(at)];
};

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * A text that says what a VM, volume or group is, without its name where the name may follow the key. Empty where too
 * little is known.
 */
function markOf(resource: DesiredResource | RecordedResource | undefined): string {
  if (resource === undefined) return "";
  const parts = marks[resource.kind].map((key) => worthOf(resource, key));
  return parts.some((part) => part === undefined) ? "" : JSON.stringify([resource.kind, ...parts]);
}

const marks = perKind((kind) =>
  Object.entries<FieldRow>(fieldsOf[kind]).flatMap(([key, { absent, compare }]) =>
    key !== "name" && absent !== "unset" && compare !== "never" ? [key] : [],
  ),
);

function worthOf(resource: DesiredResource | RecordedResource, key: string): unknown {
  if (key !== "rules") return Object.entries(resource).find(([name]) => name === key)?.[1];
  if (resource.kind !== "group" || resource.rules.length === 0) return undefined;
  // The group that a rule names is an address in the file and an id in the state.
  return resource.rules.map((rule) => describeRule(rule, () => "a group")).sort();
}
