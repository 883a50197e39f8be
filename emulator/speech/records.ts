/** The service's own records in the words of a dialect. */
import { isBodyObject } from "../fields";
import { type Place, pointerTokens, type SpokenDialect, type SpokenScalar } from "./spoken";
import { bodyWithList, getAt, RecordDraft, setAt } from "./write";

export type OwnFields = Readonly<Record<string, unknown>>;
/** The name of a VM, for a deployment whose volumes say by name what they hang on. */
export type HostName = (vm: string) => string | undefined;
export type RecordKind = "vm" | "volume" | "group" | "flavor" | "image" | "region";

function plainIn(dialect: SpokenDialect, kind: RecordKind, own: OwnFields, hostName: HostName): unknown {
  switch (kind) {
    case "vm":
      return vmIn(dialect, own);
    case "volume":
      return volumeIn(dialect, own, hostName);
    case "group":
      return peerGroupIn(dialect, own);
    default: {
      const draft = new RecordDraft();
      const { id, name } = dialect.records[kind];
      // The name is written first: a record that consists of its id shows nothing else.
      draft.put(name[0], scalar(own["name"]));
      draft.put(id[0], scalar(own["id"]));
      const [ready] = dialect.states.image.ready;
      if (kind === "image" && ready !== undefined) draft.put(dialect.records.image.status[0], ready);
      return draft.value;
    }
  }
}

/**
 * A record, with what the requests of its kind take from it: where it shows nothing else, its region or its kind.
 * `marker`: where its list's pages go on after it, which is its id unless something else stands there.
 */
export function recordIn(
  dialect: SpokenDialect,
  kind: RecordKind,
  own: OwnFields,
  hostName: HostName,
  marker?: Place,
): unknown {
  const draft = new RecordDraft(plainIn(dialect, kind, own, hostName));
  if (kind === "vm" || kind === "volume" || kind === "group") draft.put(versionPlace(dialect), recordVersion(own));
  for (const pointer of fieldsWanted(dialect, kind))
    if (getAt(draft.value, pointerTokens(pointer)) === undefined)
      draft.set(pointer, scalar(own[pointerTokens(pointer).at(-1) ?? ""]) ?? scalar(own["region"]) ?? `of-a-${kind}`);
  if (typeof marker === "string" && getAt(draft.value, pointerTokens(marker)) === undefined)
    draft.set(marker, scalar(own["id"]));
  return draft.value;
}

const versionPlace = ({ fingerprint }: SpokenDialect): Place | undefined =>
  fingerprint === undefined || fingerprint.header !== undefined ? undefined : fingerprint.from[0];

/** Another text for each state of a record. */
export function recordVersion(own: OwnFields): string {
  const said = ["id", "name", "status", "flavor_id", "image_id", "size", "attached_to", "description"];
  let hash = 7;
  for (const letter of JSON.stringify(said.map((field) => own[field] ?? null)))
    hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 2_147_483_647;
  return `v${hash.toString(36)}`;
}

const fieldsWanted = ({ operations }: SpokenDialect, kind: RecordKind): readonly string[] =>
  Object.entries(operations).flatMap(([operation, route]) =>
    operation.startsWith(`${kind}.`) && operation !== "group.rule.delete"
      ? [...JSON.stringify(route).matchAll(/\{field:(\/[^{}"]*)\}/g)].map(([, pointer = ""]) => pointer)
      : [],
  );

/** Each of these fields at the first of its places. */
function putAll(
  draft: RecordDraft,
  places: Readonly<Record<string, readonly Place[] | undefined>>,
  own: OwnFields,
): void {
  for (const [field, [place] = []] of Object.entries(places)) draft.put(place, scalar(own[field]));
}

const scalar = (value: unknown): SpokenScalar | null =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;

function vmIn({ records, states }: SpokenDialect, own: OwnFields): unknown {
  const { id, name, status, flavor, image, owner, floating_ip, private_ip, volumes, volume_entry } = records.vm;
  const draft = new RecordDraft();
  putAll(draft, { id, name }, own);
  draft.put(status[0], vmWord(states.vm, String(own["status"])));
  putAll(draft, { flavor_id: flavor, image_id: image, owner, floating_ip, private_ip }, own);
  const disks = (Array.isArray(own["volumes"]) ? own["volumes"] : []).filter(isBodyObject);
  const entries = disks.flatMap((disk) => entryIn(volume_entry, disk));
  const [list] = volumes;
  return list === undefined ? draft.value : mergedRecords(draft.value, bodyWithList(list, entries));
}

/** Where an entry is its id alone, a root disk cannot be told from the others, and such a list does not show it. */
function entryIn({ id, root }: SpokenDialect["records"]["vm"]["volume_entry"], disk: OwnFields): readonly unknown[] {
  const place = id[0];
  const isBare = place === "" || (typeof place === "object" && (place.value ?? "") === "" && place.in === undefined);
  const draft = new RecordDraft();
  if (isBare && disk["root"] === true) return [];
  if (!isBare) draft.put(root[0], disk["root"] === true);
  draft.put(place, scalar(disk["id"]));
  return [draft.value];
}

/** The dialect's word for a state. A state in transition gets a word that means nothing else. */
function vmWord(words: SpokenDialect["states"]["vm"], status: string): string {
  const known: Readonly<Record<string, string | undefined>> = {
    ACTIVE: words.running[0] ?? words.ready[0],
    SHUTOFF: words.stopped[0],
    VERIFY_RESIZE: words.verify_resize[0],
    ERROR: words.failed[0],
  };
  if (status in known) return known[status] ?? status;
  const taken = Object.entries(words).flatMap(([phase, all]) => (phase === "changing" ? [] : all));
  const isTaken = taken.some((word) => word.toLowerCase() === status.toLowerCase());
  return words.changing[0] ?? (isTaken ? `${status}-on-its-way` : status);
}

/** What hangs on what, of one VM or of all. */
export const attachmentsIn = (
  { attachments }: SpokenDialect,
  volumes: readonly OwnFields[],
  vm: string | undefined,
  hostName: HostName,
): readonly unknown[] =>
  volumes
    .filter(({ attached_to: host }) => typeof host === "string" && (vm === undefined || host === vm))
    .map((own) => {
      const draft = new RecordDraft();
      draft.put(attachments?.volume[0], scalar(own["id"]));
      draft.put(attachments?.vm[0], hostIn(attachments?.vm[0], own, hostName));
      return draft.value;
    });

/** What a volume hangs on, where a place is to show it. */
function hostIn(place: Place | undefined, { attached_to: host }: OwnFields, hostName: HostName): SpokenScalar | null {
  const isNamed = typeof place === "object" && place.by === "name" && typeof host === "string";
  return scalar(isNamed ? hostName(host) : host);
}

function volumeIn({ records, states, attachments }: SpokenDialect, own: OwnFields, hostName: HostName): unknown {
  const draft = new RecordDraft();
  const { id, name, size, status, attached_to } = records.volume;
  const { ready, failed } = states.volume;
  const word =
    own["status"] === "error"
      ? (failed[0] ?? "error")
      : own["attached_to"] === null
        ? ready[0]
        : (ready[1] ?? ready[0]);
  putAll(draft, { id, name, size }, own);
  draft.put(status[0], word ?? scalar(own["status"]));
  // What a list of its own shows is in no record.
  if (attachments === undefined) draft.put(attached_to[0], hostIn(attached_to[0], own, hostName));
  return draft.value;
}

function peerGroupIn({ records }: SpokenDialect, own: OwnFields): unknown {
  const draft = new RecordDraft();
  const { id, name, description, rules } = records.group;
  putAll(draft, { id, name, description }, own);
  const all: readonly unknown[] = Array.isArray(own["rules"]) ? own["rules"] : [];
  const directed = rules.filter((one) => typeof one === "object" && one.direction !== undefined);
  const places = directed.length > 0 ? directed : rules.slice(0, 1);
  for (const place of Array.isArray(own["rules"]) ? places : []) {
    const direction = typeof place === "object" ? place.direction : undefined;
    const here = all.filter(
      (rule) => direction === undefined || (isBodyObject(rule) && rule["direction"] === direction),
    );
    draft.value = mergedRecords(draft.value, bodyWithList(wholePlace(place), here));
  }
  return draft.value;
}

/** A place that is nothing but a pointer and a direction. */
const wholePlace = (place: Place): Place =>
  typeof place === "object" && place.in === undefined && place.direction !== undefined ? (place.value ?? "") : place;

/** Both values in one: neither takes anything away from the other. */
export function mergedRecords(one: unknown, other: unknown): unknown {
  if (!isBodyObject(one) || !isBodyObject(other)) return other === undefined ? one : other;
  let all: unknown = one;
  for (const [key, value] of Object.entries(other)) all = setAt(all, [key], mergedRecords(one[key], value));
  return all;
}
