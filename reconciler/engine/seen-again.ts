/**
 * What of the state shows again: the evidence that this credential is still shown what the state speaks of. Ids are
 * written as `vm:ID`.
 */

import { createOf, valueSeen } from "../core/model/evidence";
import { isNeverSeen } from "../core/model/facts";
import { allOfKind, type Kind, kinds, ofKind } from "../core/model/kinds";
import { isGone } from "../core/model/outcome";
import { orphanKey, type State } from "../core/model/recorded";
import type { Part } from "../core/plan/part";
import { addAll } from "../core/text/objects";
import type { ServiceReader } from "../service/client";
import type { LooksOf, SeenByKind } from "./look";
import type { LookOptions } from "./observe";

export interface Witnesses {
  readonly recorded: ReadonlySet<string>;
  readonly seen: ReadonlySet<string>;
}

/** Which ids of the state were seen again and which were not. An id at which nobody looked is in neither. */
export async function witnessesRead(
  client: ServiceReader,
  state: State,
  looks: LooksOf,
  creates: boolean,
  part: Part | undefined,
  options: LookOptions,
) {
  const seen = idsSeen(looks);
  const { recorded, absent, dataVolumes, left } = idsRemembered(state, looks, part, seen);
  const lost: string[] = [];
  // Volumes outlive their VMs: where nothing else is seen, or no other volume, one of them tells that the credential is
  // still the same, or still sees volumes.
  const shows = (some: readonly string[]): boolean => some.some((one) => seen.has(one));
  const lacksVolumes = absent.some(isVolume) && !shows(recorded.filter(isVolume));
  const isAlone = creates && !shows([...recorded, ...(state.scope?.sees ?? [])]);
  if (lacksVolumes || isAlone || (absent.length > 0 && !shows(recorded)))
    for (const id of [...dataVolumes, ...left].slice(0, mostWitnessesRead)) {
      const read = await client.getVolume(id, options);
      if (isGone(read)) lost.push(`volume:${id}`);
      if (read.status !== "accepted") continue;
      seen.add(`volume:${id}`);
      break;
    }
  return { recorded, absent, seen, lost };
}

/** Somebody else's resource, as `group:ID`, that a whole list lacks. */
export const isNotShown = (one: string, found: SeenByKind): boolean =>
  kinds.some((kind) => {
    const id = one.slice(kind.length + 1);
    return one === `${kind}:${id}` && (found[kind].looks.get(id) ?? found[kind].unlisted).seen === "absent";
  });

/** What this state does not know itself. */
export function alsoBy<E extends { readonly recorded: readonly string[]; readonly seen: ReadonlySet<string> }>(
  { recorded, seen }: Witnesses,
  { resources }: State,
  evidence: E,
): E {
  const own = new Set([...resources.values()].map(({ kind, id }) => `${kind}:${id}`));
  const others = [...recorded].filter((one) => !own.has(one));
  return {
    ...evidence,
    recorded: [...evidence.recorded, ...others],
    seen: new Set([...evidence.seen, ...others.filter((one) => seen.has(one))]),
  };
}

const isVolume = (one: string): boolean => one.startsWith("volume:");

function idsSeen(looks: LooksOf): Set<string> {
  const seen = new Set<string>();
  for (const kind of kinds) for (const [id, look] of looks[kind]) if (look.seen === "yes") seen.add(`${kind}:${id}`);
  for (const look of looks.vm.values()) for (const { id } of valueSeen(look)?.volumes ?? []) seen.add(`volume:${id}`);
  return seen;
}

/** The ids in the state that were looked at, and those of them that the service does not show. */
function idsRemembered(state: State, looks: LooksOf, part: Part | undefined, seen: ReadonlySet<string>) {
  const isLooked = (kind: Kind | "image", id: string): boolean =>
    part === undefined || (kind !== "image" && looks[kind].has(id));
  const absent: string[] = [];
  const recorded: string[] = [];
  const dataVolumes: string[] = [];
  for (const record of state.resources.values()) {
    if (record.id === undefined) continue;
    if (looks[record.kind].get(record.id)?.seen === "absent") absent.push(`${record.kind}:${record.id}`);
    // A run has sent the delete of this resource: its absence says nothing against the service or the credential.
    // What no look has ever shown vouches for nothing.
    if (record.deleting !== true && !isNeverSeen(record) && isLooked(record.kind, record.id))
      recorded.push(`${record.kind}:${record.id}`);
    const { dataVolumeId } = ofKind(record, "vm") ?? {};
    if (dataVolumeId === undefined || !isLooked(record.kind, record.id)) continue;
    if (record.deleting !== true || seen.has(`volume:${dataVolumeId}`)) dataVolumes.push(dataVolumeId);
  }
  // An open create that the service does not show counts as never sent, and is sent again.
  for (const { address } of state.intents.values())
    if (part === undefined || part.addresses.has(address)) absent.push(`${createOf}${address}`);
  addAll(
    recorded,
    dataVolumes.map((id) => `volume:${id}`),
  );
  const present = [...state.orphans.values()].filter(
    ({ missingSince, deleting }) => missingSince === undefined && deleting !== true,
  );
  addAll(recorded, present.filter(({ kind, id }) => isLooked(kind, id)).map(orphanKey));
  const left = allOfKind(present, "volume").map(({ id }) => id);
  return { recorded, absent, dataVolumes, left };
}

const mostWitnessesRead = 3;
