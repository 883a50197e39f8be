/**
 * Whether somebody else bears a name that this plan gives: a stranger, or a resource that the targets leave out or that
 * is let go. The service would refuse the name, and after a replacement has deleted the old resource that is too late;
 * or it would make a twin. The diff looks at new addresses, and offers to take the other resource over.
 */

import type { DiffContext } from "../diff/context";
import { fixForOrphan } from "../diff/findings";
import type { Pair } from "../diff/pair";
import type { Address, Kind } from "../model/address";
import type { Diagnostic } from "../model/diagnostic";
import { valueSeen } from "../model/evidence";
import { told } from "../model/fix";
import { identity } from "../model/identity";
import { allOfKind, type ByKind, kindRows, lazilyByKind } from "../model/kinds";
import { groupByName, type Sighting } from "../model/live";
import { orphanKey } from "../model/recorded";
import { isNamed } from "../model/relations";
import { inShell } from "../text/in-shell";
import { mustGet } from "../text/invariant";
import { type Draft, nameKey } from "./draft";
import { excludedBy } from "./select";
import { nameGiven } from "./step";

interface Bearer {
  readonly id: string;
}

/** Asked before swaps get their passing names, which are taken for a moment only. */
export function namesTaken(draft: Draft, pairs: readonly Pair[], targeted: readonly Pair[]): Diagnostic[] {
  const given = draft.steps.flatMap((step) => {
    const name = nameGiven(step);
    return name === undefined ? [] : [{ step, ...name }];
  });
  if (given.length === 0) return [];
  const { addressOf, keeperOf } = draft.context;
  const { orphans } = draft.state;
  const lookUp = bearerLookup(draft);
  const freers = freersOf(draft);
  const pairOf = new Map(pairs.map((pair) => [pair.address, pair]));
  const diagnostics: Diagnostic[] = [];
  for (const { step, kind, name } of given) {
    const pair = pairOf.get(step.address);
    const isOther = ({ id }: Bearer): boolean => {
      const address = addressOf(identity(kind, id));
      if (address === step.address) return false;
      // A create whose answer was lost: who bore the name before was looked at when the create was planned.
      if (pair?.intent?.idsBefore.includes(id) === true) return false;
      // Where two may have one name, only one that nobody manages may be the missing one.
      if (!isNamed[kind])
        return (address ?? keeperOf(identity(kind, id))) === undefined && !orphans.has(orphanKey({ kind, id }));
      return address === undefined || freers.get(nameKey(kind, name)) !== address;
    };
    const other = lookUp(kind, name.toLowerCase()).find(isOther);
    if (other === undefined) continue;
    const address = addressOf(identity(kind, other.id));
    const orphan = draft.context.orphanOf(identity(kind, other.id));
    diagnostics.push({
      severity: "error",
      code: "plan/name-taken",
      summary: `${step.address} cannot have the name ${name}: ${kindRows[kind].fullNoun} ${other.id} has it, ${address !== undefined ? `which is ${address}` : orphan === undefined ? "and no address manages that" : `which is an orphan of this state: ${orphan.reason}`}`,
      detail:
        "The name alone proves nothing: it may be somebody else's. It is neither taken over nor made a second time.",
      ...told(
        orphan === undefined
          ? fixForTakenName(address, pairs, targeted, draft.context)
          : fixForOrphan(orphan, pair?.recorded?.id === undefined ? step.address : "ADDR"),
      ),
      address: step.address,
      source: pair?.desired?.source,
    });
  }
  return diagnostics;
}

/** The address that frees a name in this plan. */
function freersOf(draft: Draft): Map<string, Address> {
  const freed = draft.namesFreed();
  if (freed.length === 0) return new Map();
  const addressOf = new Map(draft.steps.map(({ id, address }) => [id, address]));
  return new Map(freed.map(([key, step]) => [key, mustGet(addressOf, step)]));
}

/** All resources of a kind by name: as listed, or where there is no list, as recorded and seen one by one. */
function bearerLookup(draft: Draft): ByKind<Bearer> {
  const { live, byName } = draft.context;
  const known = (kind: Kind, sightings: ReadonlyMap<string, Sighting<Bearer & { readonly name?: string }>>) =>
    groupByName(
      allOfKind(draft.state.resources.values(), kind).flatMap(({ id, name }) => {
        const sighting = id === undefined ? undefined : sightings.get(id);
        return id === undefined || sighting?.seen === "gone" ? [] : [{ id, name: valueSeen(sighting)?.name ?? name }];
      }),
    );
  return lazilyByKind<Bearer>((kind) => (live.of[kind].listed ? byName[kind] : known(kind, live.of[kind].byId)));
}

function fixForTakenName(
  bearer: Address | undefined,
  pairs: readonly Pair[],
  targeted: readonly Pair[],
  { options }: DiffContext,
): string {
  if (bearer === undefined) return "another name, or rename or delete that one first";
  if (targeted.some((pair) => pair.address === bearer)) return "another name";
  const flags = excludedBy(pairs, options)(bearer);
  return `${flags === undefined ? `--target ${inShell(bearer)} as well` : `leave out ${flags}`}, or another name`;
}
