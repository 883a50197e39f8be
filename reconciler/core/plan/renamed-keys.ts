/**
 * A block whose key was renamed in the file looks like one that goes and another that comes, and its data would be lost
 * for that. Where exactly one of each is alike, the hint names the `moved` entry that keeps it.
 */

import { describeRule } from "../canonical/rules";
import type { Change } from "../diff/changes";
import { type Address, compareAddresses, componentPath, isMeant, movedText, renamed } from "../model/address";
import type { DesiredResource } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { type FieldRow, fieldsOf } from "../model/fields";
import { type Kind, ofKind, perKind } from "../model/kinds";
import type { RecordedResource } from "../model/recorded";
import { listed } from "../text/list-text";
import { groupedBy } from "../text/objects";
import { isAbandoned } from "./consent";

interface RenamedKey {
  readonly from: Address;
  readonly to: Address;
  readonly going: WayOfGoing;
  readonly source?: Change["source"];
  /** Its name changes with the key, and it cannot be renamed. */
  readonly otherwiseNamed: boolean;
}

type WayOfGoing = "deleted" | "left behind" | "deleted or left behind";

/** Where a service cannot delete a kind, what is no longer declared stays there as an orphan. */
function goingOf(changes: readonly Change[]): WayOfGoing {
  const left = changes.filter(({ action }) => action === "forget").length;
  return left === 0 ? "deleted" : left === changes.length ? "left behind" : "deleted or left behind";
}

export function renamedKeys(
  changes: readonly Change[],
  desired: ReadonlyMap<Address, DesiredResource>,
  recorded: ReadonlyMap<Address, RecordedResource>,
): Diagnostic[] {
  const gone = changes.filter((change) => isAbandoned(change) && change.reason === "removed");
  const come = changes.filter(({ action, reason }) => action === "create" && reason === "declared");
  const emptied = changes.flatMap((change) => replacedForName(change));
  if (gone.length === 0 || come.length === 0) return emptied;
  const wholes = renamedComponents(wholeComponent, gone, come, desired, recorded);
  const isIn = (components: readonly RenamedComponent[], address: Address): boolean =>
    components.some(({ entries }) => entries.some(({ from, to }) => isMeant(address, from) || isMeant(address, to)));
  const others = (changes: readonly Change[]) => changes.filter(({ address }) => !isIn(wholes, address));
  const parts = renamedComponents(componentInstance, others(gone), others(come), desired, recorded);
  const components = [...wholes, ...parts];
  const pairs: RenamedKey[] = [];
  const declared = new Set([...desired.keys()].map((address) => split(address)[0]));
  const alike = (changes: readonly Change[], of: ReadonlyMap<Address, DesiredResource | RecordedResource>) =>
    groupedBy(changes, ({ address }) => (isIn(components, address) ? undefined : markOfResource(of.get(address))));
  const goneBy = alike(gone, recorded);
  const instances: Diagnostic[] = [];
  for (const [mark, after] of alike(come, desired)) {
    const before = goneBy.get(mark) ?? [];
    const [to, ...others] = after;
    const [from, ...more] = before;
    if (from === undefined) continue;
    if (others.length === 0 && more.length === 0) {
      const otherwiseNamed =
        !canBeRenamed(to.kind) && recorded.get(from.address)?.name !== desired.get(to.address)?.name;
      pairs.push({ from: from.address, to: to.address, going: goingOf(before), source: to.source, otherwiseNamed });
    } else instances.push(...renamedInstances(before, after, declared, recorded, desired));
  }
  const blocks = byBlock(pairs, declared).map(({ from, to, going, source, otherwiseNamed }) =>
    renamedKey({
      summary: `${from} would be ${going} and ${to}, which is alike, created: was the key renamed?`,
      fix: `${otherwiseNamed ? keepsNames([to]) : ""}${movedText({ from, to })}   keeps it under its new key`,
      address: to,
      source,
    }),
  );
  return [...components.map(renamedComponent), ...instances, ...blocks, ...emptied];
}

const renamedKey = (said: Omit<Diagnostic, "severity" | "code">): Diagnostic => ({
  severity: "warning",
  code: "plan/renamed-key",
  ...said,
});

/** What stands before a `moved` entry: with that alone, what cannot be renamed is replaced, and its data lost. */
const keepsNames = (addresses: readonly Address[]): string =>
  `lifecycle: { ignore_changes: [name] } on ${listed(addresses, 3)}, whose name in the service cannot change, and `;

/** The `moved` entry alone was written, of what has the key in its name. Whoever gives another name means it. */
function replacedForName({ action, kind, address, fields, source, movedFrom }: Change): Diagnostic[] {
  const forcing = fields.filter(({ forces }) => forces === "replace");
  if (action !== "replace" || movedFrom === undefined || canBeRenamed(kind) || forcing.length === 0) return [];
  if (forcing.some(({ field }) => field !== "name")) return [];
  const summary = `${address} would be replaced by an empty one for its name alone`;
  const fix = "lifecycle: { ignore_changes: [name] }   keeps it, under the name that it has";
  return [renamedKey({ summary, fix, address, source })];
}

/**
 * Instances that are all alike, as many as before: `for_each: 3` that became a list of names, or a block with for_each
 * whose key was renamed. Which of them is which nobody can know, so they are named in their order, for a person to read.
 */
function renamedInstances(
  before: readonly Change[],
  after: readonly Change[],
  declared: ReadonlySet<string>,
  recorded: ReadonlyMap<Address, RecordedResource>,
  desired: ReadonlyMap<Address, DesiredResource>,
): Diagnostic[] {
  const [from, to] = [before, after].map((changes) => [...new Set(changes.map(({ address }) => split(address)[0]))]);
  const [fromBlock, ...otherFrom] = from ?? [];
  const [toBlock, ...otherTo] = to ?? [];
  if (fromBlock === undefined || toBlock === undefined || otherFrom.length + otherTo.length > 0) return [];
  if (before.length !== after.length) return [];
  const inOrder = (changes: readonly Change[]): Address[] =>
    changes.map(({ address }) => address).sort(compareAddresses);
  const olds = inOrder(before);
  const pairs = inOrder(after).flatMap((address, index): { readonly from: Address; readonly to: Address }[] => {
    const old = olds[index];
    return old === undefined ? [] : [{ from: old, to: address }];
  });
  const keepsKeys = pairs.every((pair) => split(pair.from)[1] === split(pair.to)[1]);
  const entries = keepsKeys && !declared.has(fromBlock) ? [{ from: fromBlock, to: toBlock }] : pairs;
  const [first] = after;
  const isOtherwiseNamed = pairs.some(({ from: old, to: now }) => recorded.get(old)?.name !== desired.get(now)?.name);
  const names = first !== undefined && !canBeRenamed(first.kind) && isOtherwiseNamed ? keepsNames([toBlock]) : "";
  return [
    renamedKey({
      summary: `the ${before.length} of ${fromBlock} would be ${goingOf(before)} and ${after.length} of ${toBlock}, which are alike, created: ${fromBlock === toBlock ? "were the keys of its for_each renamed?" : "was the key renamed?"}`,
      fix: `${names}${movedText(...entries)}   keeps ${keepsKeys ? "them under their new key" : inThisOrder}`,
      address: first?.address,
      source: first?.source,
    }),
  ];
}

interface RenamedComponent {
  /** More than one: instances that are all alike, in the order of their keys. */
  readonly entries: readonly { readonly from: string; readonly to: string }[];
  readonly count: number;
  readonly going: WayOfGoing;
  /** Volumes whose names have the key in them: a volume cannot be renamed, and would be replaced by an empty one. */
  readonly otherwiseNamed: readonly Address[];
  readonly source?: Change["source"];
}

function renamedComponent({ entries, count, going, otherwiseNamed, source }: RenamedComponent): Diagnostic {
  const names = otherwiseNamed.length === 0 ? "" : keepsNames(otherwiseNamed);
  const few = (end: "from" | "to"): string =>
    listed(
      entries.map((entry) => entry[end]),
      3,
    );
  const [has, was, keeps] =
    entries.length === 1
      ? ["has", "was the component's key renamed?", "all of it under its new key"]
      : ["have", "were the keys of the component's for_each renamed?", inThisOrder];
  return renamedKey({
    summary: `all of ${few("from")} would be ${going} and ${few("to")}, which ${has} the same ${count} resources, created: ${was}`,
    fix: `${names}${movedText(...entries)}   keeps ${keeps}`,
    source,
  });
}

const inThisOrder = "them, in this order; change it if another is meant";

/** The outermost component of an address, as `moved` names it: one instance as `shop[a]/`, or `shop/` with all of them. */
const componentInstance = (address: Address): string | undefined => componentPath(address)[0];
const wholeComponent = (address: Address): string | undefined => {
  const instance = componentInstance(address);
  return instance === undefined ? undefined : allInstances(instance);
};
const allInstances = (component: string): string => `${split(component.slice(0, -1))[0]}/`;

/** Components of which all goes, and others with just the same addresses in them of which all comes. */
function renamedComponents(
  nameOf: (address: Address) => string | undefined,
  gone: readonly Change[],
  come: readonly Change[],
  desired: ReadonlyMap<Address, DesiredResource>,
  recorded: ReadonlyMap<Address, RecordedResource>,
): RenamedComponent[] {
  const whole = (changes: readonly Change[], all: Iterable<Address>): Map<string, readonly Change[]> => {
    const counts = new Map<string, number>();
    for (const address of all) {
      const key = nameOf(address);
      if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const groups = groupedBy(changes, ({ address }) => nameOf(address));
    return new Map([...groups].filter(([key, found]) => counts.get(key) === found.length));
  };
  const shapeOf = (key: string, changes: readonly Change[]): string =>
    JSON.stringify(changes.map(({ address }) => address.slice(key.length - 1)).sort());
  const inOrder = (found: Map<string, readonly Change[]>) =>
    groupedBy(
      [...found].sort(([one], [other]) => compareAddresses(one, other)),
      ([key, changes]) => shapeOf(key, changes),
    );
  const goneBy = inOrder(whole(gone, recorded.keys()));
  return [...inOrder(whole(come, desired.keys()))].flatMap(([shape, after]): RenamedComponent[] => {
    const before = goneBy.get(shape) ?? [];
    const blocks = new Set([...before, ...after].map(([key]) => allInstances(key)));
    if (before.length !== after.length || (after.length > 1 && blocks.size > 1)) return [];
    const entries = after.flatMap(([to], index) => before.slice(index, index + 1).map(([from]) => ({ from, to })));
    const changes = after.flatMap(([, found]) => found);
    const otherwiseNamed = changes.flatMap(({ address, kind }) => {
      const entry = entries.find(({ to }) => isMeant(address, to));
      const old = entry === undefined ? undefined : recorded.get(renamed(address, entry.to, entry.from));
      return !canBeRenamed(kind) && old !== undefined && old.name !== desired.get(address)?.name ? [address] : [];
    });
    const going = goingOf(before.flatMap(([, found]) => found));
    return [{ entries, count: changes.length, going, otherwiseNamed, source: changes[0]?.source }];
  });
}

/**
 * The instances of one block that become those of another are one `moved` entry. A block of which some stay, or go
 * elsewhere, cannot be moved as a whole. `declared`: the blocks of the files.
 */
function byBlock<P extends { readonly from: Address; readonly to: Address }>(
  pairs: readonly P[],
  declared: ReadonlySet<string>,
): P[] {
  const wholes = groupedBy(pairs, ({ from }) => split(from)[0]);
  const blocks = new Map<string, P>();
  for (const pair of pairs) {
    const [from, fromKey] = split(pair.from);
    const [to] = split(pair.to);
    const isWhole =
      fromKey !== undefined &&
      !declared.has(from) &&
      (wholes.get(from) ?? []).every((one) => one.to === to + (split(one.from)[1] ?? ""));
    const entry = isWhole ? { ...pair, from, to } : pair;
    blocks.set(`${entry.from} ${entry.to}`, entry);
  }
  return [...blocks.values()];
}

const split = (address: Address): readonly [block: string, key?: string] => {
  const at = address.endsWith("]") ? address.lastIndexOf("[") : -1;
  return at < 0 ? [address] : [address.slice(0, at), address.slice(at)];
};

/**
 * A text that says what a VM, volume or group is, without its name where the name may follow the key. `undefined` where
 * too little is known.
 */
function markOfResource(resource: DesiredResource | RecordedResource | undefined): string | undefined {
  if (resource === undefined) return undefined;
  const parts = markRows[resource.kind].map((key) => valueUnder(resource, key));
  return parts.some((part) => part === undefined) ? undefined : JSON.stringify([resource.kind, ...parts]);
}

const canBeRenamed = (kind: Kind): boolean => fieldsOf[kind].name.effect === "in_place";

const markRows = perKind((kind) =>
  Object.entries<FieldRow>(fieldsOf[kind]).flatMap(([key, { absent, compare }]) =>
    key !== "name" && absent !== "unset" && compare !== "never" ? [key] : [],
  ),
);

function valueUnder(resource: DesiredResource | RecordedResource, key: string): unknown {
  if (key !== "rules") return Object.entries(resource).find(([name]) => name === key)?.[1];
  const rules = ofKind<"group", DesiredResource | RecordedResource>(resource, "group")?.rules ?? [];
  // The group that a rule names is an address in the file and an id in the state.
  return rules.length === 0 ? undefined : rules.map((rule) => describeRule(rule, () => "a group")).sort();
}
