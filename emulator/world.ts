/**
 * The world: tables of entities with the indexes that keep a get, a list page and a duplicate check independent of how
 * much there is. Transitions (vm.ts, volume.ts, group.ts, ...) only read it and answer with changes; `applyChanges` is
 * the one place that alters it, both for a request and for the replay of a journal.
 */
import type { Entities, EntityKind, RuleEntity, Vm, WorldChange } from "./entities";
import { entityKinds } from "./entities";

export interface World {
  readonly tables: { readonly [K in EntityKind]: Map<string, Entities[K]> };
  /** Ids by key, for example `vm/name/<project>/web`; see `worldKeysOf`. */
  readonly index: Map<string, Set<string>>;
  /** Per kind and project, in the order of creation. */
  readonly order: Map<string, OrderedIds>;
  nextSeq: number;
}

/** Two arrays in step, ascending by seq, so that a page cursor is found by bisection. */
export interface OrderedIds {
  readonly seqs: number[];
  readonly ids: string[];
}

export type WorldDump = { readonly version: 1 } & { readonly [K in EntityKind as `${K}s`]: readonly Entities[K][] };

export function createWorld(): World {
  return {
    // One table for each kind.
    tables: Object.fromEntries(entityKinds.map((kind): readonly unknown[] => [kind, new Map()])),
    index: new Map(),
    order: new Map(),
    nextSeq: 1,
  };
}

/** Puts and drops whole entities. Doing the same changes twice in a row ends in the same world, which replay relies on. */
export function applyChanges(world: World, changes: readonly WorldChange[]): void {
  for (const change of changes) {
    if ("put" in change) putEntity(world, change.put, change.value);
    else dropEntity(world, change.drop, change.id);
  }
}

function putEntity<K extends EntityKind>(world: World, kind: K, value: Entities[K]): void {
  const table = world.tables[kind];
  const before = table.get(value.id);
  table.set(value.id, value);
  const keys = worldKeysOf(kind, value);
  if (before !== undefined)
    for (const key of worldKeysOf(kind, before)) if (!keys.includes(key)) removeFromIndex(world, key, value.id);
  for (const key of keys) addToIndex(world, key, value.id);
  const place = orderedPlaceOf(kind, value);
  const placeBefore = before === undefined ? undefined : orderedPlaceOf(kind, before);
  if (placeBefore !== undefined && placeBefore.list !== place?.list) removeFromOrder(world, placeBefore);
  if (place !== undefined) {
    addToOrder(world, place, value.id);
    world.nextSeq = Math.max(world.nextSeq, place.seq + 1);
  }
}

function dropEntity(world: World, kind: EntityKind, id: string): void {
  const before = world.tables[kind].get(id);
  if (before === undefined) return;
  world.tables[kind].delete(id);
  for (const key of worldKeysOf(kind, before)) removeFromIndex(world, key, id);
  const place = orderedPlaceOf(kind, before);
  if (place !== undefined) removeFromOrder(world, place);
}

const underName = (kind: EntityKind) => (value: { readonly name: string }) => [`${kind}/name/${value.name}`];
const noOrder = (): readonly string[] => [];

/** Every key besides the id under which an entity is found. */
const keysByKind: { readonly [K in EntityKind]: (value: Entities[K]) => readonly string[] } = {
  vm: (vm) => [`vm/name/${vm.project_id}/${vm.name}`, ...vm.groups.map((group) => `vm/group/${group}`)],
  volume: ({ attached_to }) => (attached_to === null ? [] : [`volume/vm/${attached_to}`]),
  group: (group) => [`group/name/${group.project_id}/${group.name}`],
  rule: (rule) => [
    `rule/group/${rule.security_group_id}`,
    `rule/same/${rule.security_group_id}/${ruleIdentity(rule)}`,
    ...(rule.remote_group_id === null ? [] : [`rule/remote/${rule.remote_group_id}`]),
  ],
  user: (user) => [
    `user/called/${user.email.toLowerCase()}`,
    `user/called/${user.username.toLowerCase()}`,
    ...(user.token === undefined ? [] : [`user/token/${user.token}`]),
  ],
  flavor: underName("flavor"),
  image: underName("image"),
  region: underName("region"),
  project: underName("project"),
  floating_ip: ({ vm_id }) => (vm_id === null ? [] : [`floating_ip/vm/${vm_id}`]),
  setting: noOrder,
};

const worldKeysOf = <K extends EntityKind>(kind: K, value: Entities[K]): readonly string[] =>
  (keysByKind[kind] ?? noOrder)(value);

/**
 * What makes two rules of one group identical: what they admit. The description does not count, a host address inside
 * a network means the network, and "from anywhere" is the same written out or left out.
 */
export function ruleIdentity(rule: RuleEntity): string {
  const everywhere = rule.normalized_cidr === "0.0.0.0/0" || rule.normalized_cidr === "::/0";
  const remote = rule.remote_group_id ?? (everywhere ? "" : (rule.normalized_cidr ?? ""));
  return [rule.direction, rule.ether_type, rule.protocol, rule.port_range_min, rule.port_range_max, remote].join(" ");
}

interface OrderedPlace {
  readonly list: string;
  readonly seq: number;
}

const orderedPlaceOf = (kind: EntityKind, value: Entities[EntityKind]): OrderedPlace | undefined =>
  "seq" in value ? { list: `${kind}/${value.project_id}`, seq: value.seq } : undefined;

function addToIndex(world: World, key: string, id: string): void {
  const ids = world.index.get(key);
  if (ids === undefined) world.index.set(key, new Set([id]));
  else ids.add(id);
}

function removeFromIndex(world: World, key: string, id: string): void {
  const ids = world.index.get(key);
  if (ids?.delete(id) && ids.size === 0) world.index.delete(key);
}

function addToOrder(world: World, place: OrderedPlace, id: string): void {
  let list = world.order.get(place.list);
  if (list === undefined) {
    list = { seqs: [], ids: [] };
    world.order.set(place.list, list);
  }
  const at = firstAtOrAfter(list, place.seq);
  if (list.seqs[at] === place.seq) return;
  list.seqs.splice(at, 0, place.seq);
  list.ids.splice(at, 0, id);
}

function removeFromOrder(world: World, place: OrderedPlace): void {
  const list = world.order.get(place.list);
  if (list === undefined) return;
  const at = firstAtOrAfter(list, place.seq);
  if (list.seqs[at] !== place.seq) return;
  list.seqs.splice(at, 1);
  list.ids.splice(at, 1);
}

const itsSeq = ({ seqs }: OrderedIds, at: number): number => seqs[at] ?? Number.POSITIVE_INFINITY;

/** The position of the first entry whose seq is not below the one given. */
export function firstAtOrAfter(list: OrderedIds, seq: number): number {
  const last = list.seqs.length - 1;
  if (last < 0 || itsSeq(list, last) < seq) return last + 1;
  let low = 0;
  let high = last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (itsSeq(list, middle) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

const none: ReadonlySet<string> = new Set();

export const idsUnder = (world: World, key: string): ReadonlySet<string> => world.index.get(key) ?? none;

export function firstUnder(world: World, key: string): string | undefined {
  for (const id of idsUnder(world, key)) return id;
  return undefined;
}

/** The VM as it is at this moment: a pending transition whose time has come is over. */
export function settleVmEntity(vm: Vm, now: number): Vm {
  let current = vm;
  while (current.pending !== null && current.pending.until <= now) {
    current = { ...current, pending: null, ...current.pending.becomes };
  }
  return current;
}

export function vmInWorld(world: World, projectId: string, id: string, now: number): Vm | undefined {
  const vm = world.tables.vm.get(id);
  return vm === undefined || vm.project_id !== projectId ? undefined : settleVmEntity(vm, now);
}

export const rulesInGroup = (world: World, groupId: string): RuleEntity[] =>
  [...idsUnder(world, `rule/group/${groupId}`)].flatMap((id) => world.tables.rule.get(id) ?? []);

/** How far the clock of this world was moved ahead, in milliseconds. */
export const clockOffset = (world: World): number => world.tables.setting.get("clock_offset_ms")?.value ?? 0;

/** The whole world, with VMs as they are at this moment. Loading it again gives the same world. */
export function dumpWorld(world: World, now: number): WorldDump {
  const dump: Record<string, unknown> = { version: 1 };
  for (const kind of entityKinds) dump[`${kind}s`] = [...world.tables[kind].values()];
  dump["vms"] = [...world.tables.vm.values()].map((vm) => settleVmEntity(vm, now));
  // `version` and one list for each kind are all the fields of a dump.
  return dump as WorldDump;
}

/** The changes that make a new world of a dump. */
export function changesOfDump(dump: WorldDump): WorldChange[] {
  // The list of a kind holds values of that kind.
  return entityKinds.flatMap((kind) => dump[`${kind}s`].map((value) => ({ put: kind, value }) as WorldChange));
}
