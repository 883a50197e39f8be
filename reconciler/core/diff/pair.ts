/**
 * Brings the three inputs together: what is wanted, what is remembered and what the file says about moving, taking
 * over and letting go. One pair an address, in a stated order. Says nothing yet about what differs.
 */

import {
  type Address,
  blockOf,
  compareAddresses,
  isInstanceOf,
  type Kind,
  movedBy,
  movedText,
  parseAddress,
} from "../model/address";
import { type Desired, type DesiredResource, type ImportRequest, removalFor } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { guardedAsDeclared } from "../model/facts";
import { type Fix, toAsk, told, toRun } from "../model/fix";
import { kindRows, ofKind } from "../model/kinds";
import {
  type Intent,
  movedIntent,
  orphanKey,
  orphanKinds,
  type RecordedResource,
  type State,
  stillToSetAt,
} from "../model/recorded";
import { deepEqual } from "../text/deep-equal";
import { groupedBy } from "../text/objects";

export type DesiredOf<K extends Kind> = Extract<DesiredResource, { readonly kind: K }>;
export type RecordedOf<K extends Kind> = Extract<RecordedResource, { readonly kind: K }>;

export interface PairOf<K extends Kind> {
  readonly address: Address;
  readonly kind: K;
  readonly desired?: DesiredOf<K>;
  readonly recorded?: RecordedOf<K>;
  readonly intent?: Intent;
  readonly import?: ImportRequest;
  readonly movedFrom?: Address;
  /** A `removed` entry takes the resource out of the state without deleting it. */
  readonly forget: boolean;
  /** The record cannot be read: the resource is left as it is. */
  readonly quarantined: boolean;
}

export type Pair = { readonly [K in Kind]: PairOf<K> }[Kind];

/** Where the state has it: a plan that is refused moves nothing, so a command that is to settle it goes there. */
export const recordedAt = ({ address, movedFrom }: Pick<Pair, "address" | "movedFrom">): Address =>
  movedFrom ?? address;

export interface Pairs {
  readonly pairs: readonly Pair[];
  /** The state with its records under their new addresses. */
  readonly state: State;
  readonly diagnostics: readonly Diagnostic[];
}

export function pairResources(desired: Desired, state: State): Pairs {
  const diagnostics: Diagnostic[] = [];
  const wanted = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const { recorded, intents, movedFrom } = applyMoves(desired, wanted, state, diagnostics);
  const imports = new Map(desired.imports.map((request) => [request.to, request]));
  const removed = new Map(desired.removed.map((entry) => [entry.from, entry]));
  const quarantined = new Set(state.quarantined.map((piece) => piece.address));

  const addresses = new Set([...wanted.keys(), ...recorded.keys(), ...intents.keys(), ...quarantined]);
  const pairs: Pair[] = [];
  const pairOf = <K extends Kind>(kind: K, address: Address): PairOf<K> => ({
    address,
    kind,
    desired: untilItIsSet(ofKind(wanted.get(address), kind), address, { resources: recorded, intents }),
    recorded: ofKind(recorded.get(address), kind),
    intent: intents.get(address),
    import: imports.get(address),
    movedFrom: movedFrom.get(address),
    forget: removed.size > 0 && !wanted.has(address) && removalFor(address, removed)?.destroy === false,
    quarantined: quarantined.has(address),
  });
  for (const address of addresses) {
    const kind = wanted.get(address)?.kind ?? parseAddress(address)?.kind;
    // A pair is of one kind, whichever that is.
    if (kind !== undefined) pairs.push(pairOf(kind, address) as Pair);
  }
  diagnostics.push(...pairs.flatMap(importWithoutEffect));
  for (const { address, problem } of state.quarantined)
    diagnostics.push(unreadableRecord(address, problem, wanted.has(address)));
  pairs.sort((a, b) => compareAddresses(a.address, b.address));
  return { pairs, state: { ...state, resources: recorded, intents }, diagnostics };
}

/** An entry may stay for good after it took the resource over, also where that was replaced since. */
function importWithoutEffect({ address, kind, recorded, import: entry }: Pair): Diagnostic[] {
  if (entry?.id === undefined || recorded?.id === undefined || entry.id === recorded.id) return [];
  const { fullNoun } = kindRows[kind];
  return [
    {
      severity: "note",
      code: "plan/import-unused",
      summary: `${address} is ${fullNoun} ${recorded.id} in the state, so the imports entry with ${entry.id} has no effect`,
      address,
      source: entry.source,
      ...told([
        toAsk("remove the entry"),
        toRun(["state rm", address], `lets go of ${recorded.id}, and the entry takes ${entry.id} over`),
      ]),
    },
  ];
}

/**
 * `ignore_changes` counts from when what the create could not bring was set. Of rules only those are added then that are
 * missing (compare-rules.ts): what others have added stays.
 */
function untilItIsSet<R extends DesiredResource>(
  desired: R | undefined,
  address: Address,
  state: Pick<State, "resources" | "intents">,
): R | undefined {
  const open = stillToSetAt(address, state);
  if (desired === undefined || open === undefined || open === "rules") return desired;
  const ignoreChanges = desired.lifecycle.ignoreChanges.filter((field) => field !== open);
  return { ...desired, lifecycle: { ...desired.lifecycle, ignoreChanges } };
}

function applyMoves(
  desired: Desired,
  wanted: ReadonlyMap<Address, DesiredResource>,
  state: State,
  diagnostics: Diagnostic[],
) {
  const recorded = new Map(state.resources);
  const intents = new Map(state.intents);
  const movedFrom = new Map<Address, Address>();
  if (desired.moved.length === 0) return { recorded, intents, movedFrom };
  const endOf = followMoves(desired.moved, [...wanted.keys()]);
  for (const from of [...recorded.keys(), ...intents.keys()]) {
    const to = endOf(from);
    const first = movedFrom.get(to);
    // A record and the create that is open at its address move together.
    if (to === from || first === from) continue;
    const meant = wanted.has(to) ? undefined : otherForm(to, wanted);
    if (meant !== undefined) {
      diagnostics.push(formChanged(from, to, meant));
      continue;
    }
    if (recorded.has(to) || intents.has(to)) {
      const { source } =
        desired.moved.find((move) => movedBy(from, new Map([[move.from, move.to]])) !== undefined) ?? {};
      diagnostics.push({ ...occupied(from, to, first), source });
      continue;
    }
    const record = recorded.get(from);
    if (record !== undefined) {
      recorded.delete(from);
      recorded.set(to, { ...record, address: to });
    }
    const intent = intents.get(from);
    if (intent !== undefined) {
      intents.delete(from);
      intents.set(to, movedIntent(intent, to));
    }
    movedFrom.set(to, from);
  }
  return { recorded, intents, movedFrom };
}

/** `first`: another address whose record the moves have brought to the same end. */
const occupied = (from: Address, to: Address, first: Address | undefined): Diagnostic => ({
  severity: "error",
  code: "plan/move-occupied",
  summary: `${from} cannot be moved to ${to}: ${first === undefined ? `the state already has a ${to}` : `the moved entries lead ${first} there as well`}`,
  address: to,
  ...told(
    first === undefined
      ? [toAsk("remove the moved entry"), toRun(["state rm", to], "forgets it, leaves it alive")]
      : [toAsk("keep the moved entry of one of them")],
  ),
});

/**
 * Chains are followed to their end; the reader of the file has refused cycles. A whole for_each block moves with its keys.
 * The name of a block or component that is declared with for_each means what it was before that, and no instance of it.
 */
function followMoves(moved: Desired["moved"], declared: readonly Address[]): (address: Address) => Address {
  const moves = new Map(moved.map(({ from, to }) => [from, to]));
  const stay = [...moves.keys()].filter((name) => declared.some((one) => isInstanceOf(one, name)));
  const ofInstances = new Map([...moves].filter(([from]) => !stay.includes(from)));
  return (address) => {
    const open = stay.some((name) => isInstanceOf(address, name)) ? ofInstances : moves;
    let current = address;
    for (let hops = 0; hops <= open.size; hops++) {
      const next = movedBy(current, open);
      if (next === undefined || next === current) return current;
      current = next;
    }
    return current;
  };
}

/**
 * What else of the file protects what is recorded, by the addresses that the records still have: the blocks that this plan
 * leaves out, and for an instance that is not declared any more the others of its block, where all are protected alike.
 */
export function blocksBeside(
  { resources, intents }: State,
  { resources: meant, moved: meantMoves, leftOut = { resources: [], moved: meantMoves } }: Desired,
): ReadonlyMap<Address, DesiredResource> {
  const own = new Set(meant.map(({ address }) => address));
  const endOf = followMoves(leftOut.moved, [...own, ...leftOut.resources.map(({ address }) => address)]);
  const beside = [...resources.keys(), ...intents.keys()]
    .map((from) => ({ from, address: endOf(from) }))
    .filter(({ address }) => !own.has(address));
  if (beside.length === 0) return new Map();
  const others = new Map(leftOut.resources.map((resource) => [resource.address, resource]));
  const instances = groupedBy([...meant, ...leftOut.resources], ({ address }) => familyOf(address));
  return new Map(
    beside.flatMap(({ from, address }) => {
      const made = intents.get(from)?.record;
      const record = resources.get(from) ?? (made === undefined ? undefined : { ...made, id: from });
      const block = others.get(address) ?? alike(instances.get(familyOf(address) ?? ""), record);
      return block === undefined ? [] : [[from, block]];
    }),
  );
}

/** What one for_each declares, of a block or a component: the address without its keys. */
function familyOf(address: Address): string | undefined {
  const family = address.replaceAll(/\[[^\]]*\]/g, "[]");
  return family === address ? undefined : family;
}

/** One of the instances, where each of them would protect the record in the same way. */
function alike(
  [first, ...others]: readonly DesiredResource[] = [],
  record: RecordedResource | undefined,
): DesiredResource | undefined {
  if (first === undefined || record === undefined) return undefined;
  const protection = guardedAsDeclared(record, first);
  return others.every((other) => deepEqual(guardedAsDeclared(record, other), protection)) ? first : undefined;
}

/** The declared addresses near this one: an instance of its block, or the block itself where that has no for_each. */
function otherForm(address: Address, wanted: ReadonlyMap<Address, DesiredResource>): Address | undefined {
  const block = blockOf(address);
  if (block !== address) return wanted.has(block) ? block : undefined;
  for (const one of wanted.keys()) if (one.startsWith(`${block}[`)) return one;
  return undefined;
}

/**
 * The block has a for_each now, and no `moved` entry says which instance the old resource becomes. Without one it would
 * be deleted.
 */
const formChanged = (from: Address, to: Address, meant: Address): Diagnostic => ({
  severity: "error",
  code: "plan/move-needs-key",
  summary: `${from} cannot be moved to ${to}: ${blockOf(to)} ${to === blockOf(to) ? "has a for_each" : "has no for_each"}`,
  detail: "A moved entry for a whole block takes each instance to the same key of the other block.",
  address: from,
  fix: movedText({ from, to: meant }),
});

/** A damaged orphan or intent of something that no address manages does not hold the plan up. */
const isOrphanKey = (address: string): boolean =>
  orphanKinds.some((kind) => address.startsWith(orphanKey({ kind, id: "" })));

/**
 * What ends the wait for a readable record. What the file declares would be made a second time if its record were
 * forgotten while it exists; what it does not declare cannot be imported.
 */
export const fixForDamaged = (address: string, isDeclared: boolean): readonly Fix[] =>
  isDeclared
    ? [toRun(["import", address, "ID"], "it exists"), toRun(["state rm", address], "it does not")]
    : [toRun(["state rm", address], "to forget it")];

function unreadableRecord(address: string, problem: string, isDeclared: boolean): Diagnostic {
  const isOrphan = isOrphanKey(address);
  return {
    // A damaged piece without an address may be anything, a lost create included.
    severity: parseAddress(address) === undefined && !isOrphan ? "error" : "warning",
    code: "state/quarantined",
    summary: `the ${isOrphan ? "note" : "record"} of ${address} in the state is damaged and was set aside`,
    detail: isOrphan
      ? `${problem}. It may be alive in the service, and nothing manages it.`
      : `${problem}. Nothing is planned for ${address} until the record is replaced.`,
    ...told(fixForDamaged(address, isDeclared)),
    address,
  };
}
