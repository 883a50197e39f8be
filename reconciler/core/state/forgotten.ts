/**
 * What one state remembers and another one would not: resources that exist in the service and that nobody would look
 * after any more.
 */
import { idsKeptBy } from "../model/facts";
import { orphanKey, type RecordedResource, type State } from "../model/recorded";

/** In words, each with its id: records, creates under way, orphans and damaged pieces. */
export function forgottenBy(next: State, present: State): string[] {
  const known = new Set([...next.resources.values()].flatMap(recordedIds));
  for (const orphan of next.orphans.values()) known.add(orphanKey(orphan));
  return [
    ...records(next, present, known),
    ...creates(next, present),
    ...[...present.orphans.values()].flatMap((orphan) =>
      known.has(orphanKey(orphan)) ? [] : [`the orphan ${orphan.kind} ${orphan.name} (${orphan.id})`],
    ),
    ...damagedAnew(next, present),
  ];
}

const records = (next: State, present: State, known: ReadonlySet<string>): string[] =>
  [...present.resources.values()].flatMap((record) => {
    const { address } = record;
    const lost = recordedIds(record).filter((id) => !known.has(id));
    if (lost.length > 0) return [`${address} (${lost.map((id) => id.slice(id.indexOf(":") + 1)).join(", ")})`];
    const isNamed = record.id !== undefined || next.resources.has(address) || next.intents.has(address);
    return isNamed ? [] : [address];
  });

const creates = (next: State, present: State): string[] =>
  [...present.intents].flatMap(([address, { operation, name, sentAt }]) => {
    const isSettled = next.resources.get(address)?.id !== undefined;
    const same = next.intents.get(address);
    const isKnown = isSettled || (same?.name === name && same.sentAt === sentAt);
    return isKnown ? [] : [`the ${operation} of ${address} that was sent at ${sentAt}`];
  });

function damagedAnew(next: State, present: State): string[] {
  const aside = new Set(next.quarantined.map((piece) => piece.address));
  return present.quarantined.flatMap(({ address }) =>
    aside.has(address) || next.resources.has(address) ? [] : [`the damaged record of ${address}`],
  );
}

/** The ids that nothing but this record remembers, each in the form of an orphan's key. */
const recordedIds = (record: RecordedResource): string[] => [
  ...(record.id === undefined ? [] : [`${record.kind}:${record.id}`]),
  ...idsKeptBy(record),
];
