/** What one state remembers and another one would not: what exists in the service and nobody would look after any more. */
import { orphanKey, type RecordedResource, type State } from "../model/recorded";

/** In words, each with its id: records, creates under way, orphans and damaged pieces. */
export function forgottenBy(next: State, present: State): string[] {
  const known = new Set<string>();
  for (const record of next.resources.values()) for (const id of idsOf(record)) known.add(id);
  for (const orphan of next.orphans.values()) known.add(orphanKey(orphan));
  const aside = new Set(next.quarantined.map((piece) => piece.address));
  const forgotten: string[] = [];
  for (const record of present.resources.values()) {
    const lost = idsOf(record).filter((id) => !known.has(id));
    const isWithoutId =
      record.id === undefined && !next.resources.has(record.address) && !next.intents.has(record.address);
    if (lost.length > 0)
      forgotten.push(`${record.address} (${lost.map((id) => id.slice(id.indexOf(":") + 1)).join(", ")})`);
    else if (isWithoutId) forgotten.push(record.address);
  }
  for (const [address, intent] of present.intents) {
    const isSettled = next.resources.get(address)?.id !== undefined;
    const same = next.intents.get(address);
    if (!isSettled && (same?.name !== intent.name || same.sentAt !== intent.sentAt))
      forgotten.push(`the ${intent.operation} of ${address} that was sent at ${intent.sentAt}`);
  }
  for (const orphan of present.orphans.values())
    if (!known.has(orphanKey(orphan))) forgotten.push(`the orphan ${orphan.kind} ${orphan.name} (${orphan.id})`);
  for (const { address } of present.quarantined)
    if (!aside.has(address) && !next.resources.has(address)) forgotten.push(`the damaged record of ${address}`);
  return forgotten;
}

const idOf = ({ id }: { readonly id: string }): string => id;

/** All that a record is the only one to remember, each as an orphan of it would be called. */
function idsOf(record: RecordedResource): string[] {
  const own = record.id === undefined ? [] : [`${record.kind}:${record.id}`];
  if (record.kind === "vm") {
    // While the VM is there, whoever looks at it sees them again.
    const { dataVolumeId, disks = [], deleting } = record;
    const left = [...(dataVolumeId === undefined ? [] : [dataVolumeId]), ...(deleting === true ? disks : []).map(idOf)];
    return [...own, ...left.map((id) => `volume:${id}`)];
  }
  if (record.kind === "group") return [...own, ...(record.retired ?? []).map(({ id }) => `group:${id}`)];
  return own;
}
