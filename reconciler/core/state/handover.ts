/**
 * What two states write when records go from one to the other. The order is the engine's (engine/transfer.ts): the giving
 * state notes what it is about to give, the taking one writes the records with where they come from, the giving one lets
 * them go, and the notes are taken back. Between any two of these at least one state has each record.
 */
import type { Address } from "../model/address";
import { compareScopes } from "../model/evidence";
import { addressesByIdentity, identityKeyOf } from "../model/identity";
import type { Outputs } from "../model/output";
import {
  addressOfOrphan,
  type LastSeen,
  movedIntent,
  movedOrphan,
  type Scope,
  type State,
  type StateChange,
  type Transfer,
} from "../model/recorded";
import { groupedBy, onlyDefined } from "../text/objects";
import { type Addresses, runsGiving, runsTaking } from "./history";

export interface Asked {
  /** The addresses in the giving state, and what each becomes. One without a record and without an intent is left out. */
  readonly addresses: Addresses;
  /** Everything goes: the orphans that were never of one of these addresses too. */
  readonly whole?: boolean;
  /** All outputs of each state afterwards. Absent: they stay as they are. */
  readonly outputs?: { readonly giving: Outputs; readonly taking: Outputs };
  /** The environment of the taking state's file, for a state that remembers none yet. */
  readonly environment?: string;
}

export interface Handover {
  readonly addresses: Addresses;
  readonly orphans: readonly string[];
  /** What the taking state writes, but for its note. */
  readonly taken: readonly StateChange[];
}

export type HandoverProblem =
  | { readonly is: "occupied" | "damaged"; readonly address: Address }
  | { readonly is: "twice"; readonly address: Address; readonly id: string; readonly as: Address }
  | { readonly is: "elsewhere"; readonly why: string };

export type HandoverAnswer =
  | { readonly handover: Handover; readonly problems?: undefined }
  | { readonly problems: readonly HandoverProblem[] };

export function decideHandover(giving: State, taking: State, asked: Asked): HandoverAnswer {
  const addresses = Object.fromEntries(
    Object.entries(asked.addresses).filter(([from]) => giving.resources.has(from) || giving.intents.has(from)),
  );
  const problems = [...handoverProblems(giving, taking, addresses), ...damagedIn(giving, taking, asked.addresses)];
  if (problems.length > 0) return { problems };
  const runs = runsTaking(taking.runs ?? [], giving, addresses);
  // Orphans of one of these addresses; where everything goes, all.
  const orphans = [...giving.orphans].flatMap(([key, orphan]): Extract<StateChange, { type: "orphan" }>[] => {
    const address = addressAfter(addressOfOrphan(orphan), asked.addresses);
    if (address !== undefined) return [{ type: "orphan", key, orphan: movedOrphan(orphan, address) }];
    return asked.whole === true ? [{ type: "orphan", key, orphan }] : [];
  });
  return {
    handover: {
      addresses,
      orphans: orphans.map(({ key }) => key),
      taken: [
        ...Object.entries(addresses).flatMap(([from, to]) => changesOfRecord(giving, from, to)),
        ...orphans,
        ...scopeTaken(giving.scope, taking.scope, asked.environment),
        ...seenAlong(giving.seen, taking.seen, addresses),
        // Also where no run comes along: the records that come are no change of the last run here.
        ...(runs.length === 0 ? [] : [{ type: "runs" as const, runs }]),
        ...(asked.outputs === undefined ? [] : [{ type: "outputs" as const, outputs: asked.outputs.taking }]),
      ],
    },
  };
}

/** What the giving state writes when the taking one has the records. */
export function changesOfGiving(giving: State, id: string, note: Transfer): StateChange[] {
  const addresses = Object.keys(note.addresses);
  const { runs } = giving;
  return [
    ...addresses.flatMap((address): StateChange[] => [
      ...(giving.resources.has(address) ? [{ type: "resource" as const, address, record: null }] : []),
      ...(giving.intents.has(address) ? [{ type: "intent" as const, address, intent: null }] : []),
    ]),
    ...(note.orphans ?? []).map((key): StateChange => ({ type: "orphan", key, orphan: null })),
    ...(runs === undefined ? [] : [{ type: "runs" as const, runs: runsGiving(giving, note.addresses) }]),
    ...(note.outputs === undefined ? [] : [{ type: "outputs" as const, outputs: note.outputs }]),
    { type: "transfer", id, transfer: { ...note, side: "gave" } },
  ];
}

const changesOfRecord = (giving: State, from: Address, to: Address): StateChange[] => {
  const record = giving.resources.get(from);
  const intent = giving.intents.get(from);
  return [
    ...(record === undefined ? [] : [{ type: "resource" as const, address: to, record: { ...record, address: to } }]),
    // After the record: a record with an id that is new to the state ends the create that is open there.
    ...(intent === undefined ? [] : [{ type: "intent" as const, address: to, intent: movedIntent(intent, to) }]),
  ];
};

function handoverProblems(giving: State, taking: State, addresses: Addresses): HandoverProblem[] {
  const known = addressesByIdentity(taking.resources.values());
  const doubt = giving.scope === undefined ? undefined : compareScopes(taking.scope, withoutEnvironment(giving.scope));
  return [
    ...(doubt === undefined ? [] : [{ is: "elsewhere" as const, why: doubt.reason }]),
    ...Object.entries(addresses).flatMap(([from, to]): HandoverProblem[] => {
      if (taking.resources.has(to) || taking.intents.has(to)) return [{ is: "occupied", address: to }];
      const record = giving.resources.get(from);
      const as = known.get(identityKeyOf(record) ?? "");
      return record?.id === undefined || as === undefined ? [] : [{ is: "twice", address: from, id: record.id, as }];
    }),
  ];
}

const damagedIn = (giving: State, taking: State, addresses: Addresses): HandoverProblem[] =>
  Object.entries(addresses).flatMap(([from, to]): HandoverProblem[] => [
    ...(giving.quarantined.some(({ address }) => address === from) ? [{ is: "damaged" as const, address: from }] : []),
    ...(taking.quarantined.some(({ address }) => address === to) ? [{ is: "damaged" as const, address: to }] : []),
  ]);

const withoutEnvironment = ({ environment: _, ...scope }: Scope): Scope => scope;

const addressAfter = (address: Address | undefined, addresses: Addresses): Address | undefined =>
  address !== undefined && Object.hasOwn(addresses, address) ? addresses[address] : undefined;

function scopeTaken(given: Scope | undefined, own: Scope | undefined, environment: string | undefined): StateChange[] {
  if (given === undefined || own !== undefined) return [];
  const scope = { ...withoutEnvironment(given), ...onlyDefined({ environment }) };
  return [{ type: "scope", scope }];
}

/** The sightings of what goes along; a state that remembers none begins with them. */
function seenAlong(given: LastSeen | undefined, own: LastSeen | undefined, addresses: Addresses): StateChange[] {
  if (given === undefined) return [];
  const times = Object.entries(addresses).flatMap(([from, to]): [Address, string][] => {
    const at = given.each?.[from] ?? given.all;
    return at === undefined || at === own?.all ? [] : [[to, at]];
  });
  const byTime = groupedBy(times, ([, at]) => at);
  if (own === undefined && byTime.size === 1 && given.all !== undefined) return [{ type: "seen", at: given.all }];
  return [...byTime].map(([at, seen]) => ({ type: "seen", at, addresses: seen.map(([address]) => address) }));
}
