/** One record read by itself: where it is found, and what wraps it. */
import { kindRows } from "../../core/model/kinds";
import { fieldsIn, keysOf, onlyDefined } from "../../core/text/objects";
import type { RecordPlace, Route } from "../../dialect/dialect";
import {
  type FoundRecord,
  findListIn,
  findRecordIn,
  isOfOne,
  oneOrMany,
  recordWithin,
} from "../../dialect/learn/items";
import { placeOfText } from "../../dialect/learn/values";
import { placesOfOne } from "../../dialect/learn/where";
import { pointerTo } from "../../dialect/likely-key";
import { findAt, firstFound, tokensOf } from "../../dialect/places";
import { compilePointers, findArray, findText } from "../../dialect/pointers";
import { fillRoute } from "../../dialect/requests";
import { contractRead, nobody, saidOf } from "./enter";
import { collectionsTold } from "./find-list";
import type { Learnings } from "./learnings";
import { isSuccess, look, lookAtNamed, outcomeInWords, type SeenAnswer } from "./look";
import { operationNotFound } from "./report";

export async function findOne(
  learnings: Learnings,
  operation: "vm.get" | "group.get",
  isLookedFor: boolean,
): Promise<void> {
  const { ports, given, known, samples, findings } = learnings;
  const kind = operation === "vm.get" ? "vm" : "group";
  const route = given.operations[operation];
  const ids = [known[kind] ?? [], learnings.texts(kind, "id")].flat();
  if (ids.length === 0) {
    findings.set(operation, operationNotFound(operation, route, [], true));
    return;
  }
  const tried: { path: string; answer: string }[] = [];
  let unclear = false;
  const guesses = isLookedFor ? readsGuessed(learnings, operation, kind) : [];
  for (const candidate of [...(route === null ? [] : [route]), ...guesses]) {
    const read = await firstOwn(ids, async (one) => {
      const filled = fillRoute(candidate, { id: one }, given);
      if (filled === undefined) return undefined;
      return (candidate === route ? lookAtNamed : look)(ports, { operation, method: candidate.method, ...filled });
    });
    if (read === undefined) continue;
    const { id, seen } = read;
    const { path } = candidate;
    unclear ||= learnings.isUndecided(
      path.replace("{id}", () => encodeURIComponent(id)),
      seen,
    );
    if (!isSuccess(seen)) {
      tried.push({ path, answer: outcomeInWords(seen.outcome) });
      continue;
    }
    // A list that is asked for an id and shows all the same is no read of one.
    const asSaid = saidOf(path, seen);
    const bodies = learnings.lists.get(`${kind}.list`)?.bodies ?? [];
    const isList = bodies.some((body) => saidOf(path, { status: seen.status, body }) === asSaid);
    const own = isList ? undefined : recordAnswered(learnings, kind, candidate, seen.body, id);
    if (own === undefined || (await isShownToAll(learnings, kind, operation, candidate, id))) {
      tried.push({ path, answer: "an answer that is not the record" });
      continue;
    }
    const alone = idAloneIn(learnings, kind, own.record, id);
    if (alone !== undefined) learnings.idAlone.set(kind, alone);
    tried.push({ path, answer: "the record" });
    const { item: _, ...bare } = candidate;
    findings.set(operation, {
      operation,
      verdict: "found",
      route: own.isAsGiven
        ? candidate
        : { ...bare, ...onlyDefined({ item: own.item !== "" ? [own.item] : undefined }) },
      tried,
    });
    if (!samples.has(kind)) {
      samples.set(kind, [own.record]);
      learnings.learn(kind);
    }
    return;
  }
  findings.set(operation, operationNotFound(operation, route, tried, unclear));
}

/** Where one may be read by its id, beside the place that the dialect names. */
function readsGuessed(learnings: Learnings, operation: "vm.get" | "group.get", kind: "vm" | "group"): readonly Route[] {
  const route = learnings.given.operations[operation];
  const listed = learnings.lists.get(`${kind}.list`)?.route;
  // Below the folder of a region it would take the region to read one.
  const list = listed?.path.includes("{region}") === true ? undefined : listed?.path;
  const told = collectionsTold(learnings, kind).map((collection) => `${collection}/{id}`);
  const paths = placesOfOne(operation, route, list, [...(learnings.ports.told?.paths?.[operation] ?? []), ...told]);
  return [
    ...paths.filter((path) => path !== route?.path || route.method !== "GET").map(routeOf),
    // What the list has to be asked with, the record may have to be as well: a version of the service, a project.
    ...(listed?.query === undefined || listed.method !== "GET"
      ? []
      : paths.map(routeOf).map((one): Route => ({ ...one, query: { ...listed.query, ...one.query } }))),
  ];
}

/** What is shown as well where it is asked for with the id of nobody is not looked for by its id: a list that changed. */
async function isShownToAll(
  learnings: Learnings,
  kind: "vm" | "group",
  operation: "vm.get" | "group.get",
  candidate: Route,
  id: string,
): Promise<boolean> {
  const { ports, given } = learnings;
  const filled = fillRoute(candidate, { id: nobody }, given);
  if (filled === undefined) return false;
  const seen = await look(ports, { operation, method: candidate.method, ...filled });
  return isSuccess(seen) && recordAnswered(learnings, kind, candidate, seen.body, id) !== undefined;
}

/** One of these is read. A list may show what belongs to others, which this credential may not read. */
async function firstOwn(
  ids: readonly string[],
  ask: (id: string) => Promise<SeenAnswer | undefined>,
): Promise<{ readonly id: string; readonly seen: SeenAnswer } | undefined> {
  let last: { readonly id: string; readonly seen: SeenAnswer } | undefined;
  for (const id of [...new Set(ids)].slice(0, 4)) {
    const seen = await ask(id);
    if (seen === undefined) return undefined;
    last = { id, seen };
    if (seen.outcome.status !== "rejected" || seen.outcome.condition !== "forbidden") break;
  }
  return last;
}

/** The record of this id in an answer: where the route says that it is, the whole payload, or within what wraps it. */
function recordAnswered(
  learnings: Learnings,
  kind: "vm" | "group",
  { item }: Route,
  body: unknown,
  id: string,
): (FoundRecord & { readonly isAsGiven?: true }) | undefined {
  const payload = learnings.payload(body);
  // Where the list shows the id, so that what a record is wrapped in is not taken for the record.
  const listed = learnings.placeOf(kind, "id");
  const idAt = compilePointers(listed === undefined ? learnings.given.records[kind].id : [listed]);
  const held = item === undefined ? undefined : firstFound(payload, compilePointers(item));
  if (held !== undefined && findText(held, idAt) === id) return { item: "", record: held, isAsGiven: true };
  return findText(payload, idAt) === id ? { item: "", record: payload } : recordOf(learnings, kind, payload, id);
}

/** Where a record that is read by itself shows its id, if not where the list does. */
function idAloneIn(
  { records, given }: Learnings,
  kind: "vm" | "volume" | "group",
  record: unknown,
  id: string,
): RecordPlace | undefined {
  const listed = records.get(kind)?.fields.find(({ field }) => field === "id");
  // Places that hold are kept all together; one that was learnt stands alone.
  const idAt = listed?.learnt === true && listed.place !== undefined ? [listed.place] : given.records[kind].id;
  return findText(record, compilePointers(idAt)) === id ? undefined : placeOfText(record, id);
}

function routeOf(path: string): Route {
  const [before = path, query] = path.split("?id=");
  return { method: "GET", path: before, ...onlyDefined({ query: query === undefined ? undefined : { id: query } }) };
}

/**
 * An id that looks like a link mostly is what the link ends with. Where a read of the contract finds a volume or a group
 * by the whole of it alone, the whole is the id, of every kind.
 */
export async function readIdsThatArePaths(learnings: Learnings): Promise<void> {
  for (const kind of ["volume", "group"] as const) {
    const place = learnings.placeOf(kind, "id");
    const [record] = learnings.samples.get(kind) ?? [];
    if (typeof place !== "object" || place.cut === undefined || record === undefined) continue;
    const { cut: _, ...uncut } = place;
    const isRead = async (at: RecordPlace): Promise<boolean> => {
      const id = findText(record, compilePointers([at]));
      return isSuccess(await look(learnings.ports, contractRead(kind, id ?? "")));
    };
    if ((await isRead(place)) || !(await isRead(uncut))) continue;
    learnings.hasPaths = true;
    for (const one of keysOf(kindRows)) learnings.learn(one);
    return;
  }
}

/** Volumes can always be read by id: it tells how a record is wrapped, and what it shows where no list does. */
export async function tryVolumeRead(learnings: Learnings): Promise<void> {
  const { ports, given, known, samples } = learnings;
  const { vm } = given.records;
  const volumes = compilePointers(learnings.placesOf("vm", "volumes", vm.volumes));
  const entryId = compilePointers(learnings.placesOf("vm", "volume_entry.id", vm.volume_entry.id));
  const onVms = (samples.get("vm") ?? [])
    .flatMap((record) => findArray(record, volumes) ?? [])
    .map((entry) => findText(entry, entryId));
  const listed = learnings.texts("volume", "id");
  const read = await firstOwn(
    [known.volume, ...listed, ...onVms].flatMap((one) => one || []),
    (id) => look(ports, contractRead("volume", id)),
  );
  if (read === undefined || !isSuccess(read.seen)) return;
  const { id, seen } = read;
  const payload = learnings.payload(seen.body);
  const own = recordOf(learnings, "volume", payload, id);
  if (own !== undefined && own.item !== "") learnings.volumeItem = own.item;
  const record = own?.record ?? payload;
  if (listed.length === 0) samples.set("volume", [record, ...(await othersLike(learnings, id, own?.item ?? ""))]);
  const alone = idAloneIn(learnings, "volume", record, id);
  // What was learnt of volumes is taken for the other kinds too: a place that finds nothing costs nothing.
  if (alone !== undefined) for (const kind of keysOf(kindRows)) learnings.idAlone.set(kind, alone);
}

/** The other volumes that are known, for what differs between them. */
async function othersLike({ ports, known, payload }: Learnings, id: string, item: string): Promise<readonly unknown[]> {
  const records: unknown[] = [];
  for (const other of known.volumes ?? []) {
    if (other === id) continue;
    const seen = await look(ports, contractRead("volume", other));
    const found = isSuccess(seen) ? findAt(payload(seen.body), tokensOf(item)) : undefined;
    if (found !== undefined) records.push(found);
  }
  return records;
}

/** The record of an id within what may wrap it: the whole of it, where the id stands deeper in the record. */
export function recordOf(
  { placeOf, samples }: Pick<Learnings, "placeOf" | "samples">,
  kind: "vm" | "volume" | "group",
  payload: unknown,
  id: string,
): FoundRecord | undefined {
  const found = findRecordIn(payload, id);
  const place = placeOf(kind, "id");
  if (place === undefined) return found;
  const idAt = compilePointers([place]);
  if (found === undefined) return recordWithin(payload, (record) => findText(record, idAt) === id);
  const tokens = tokensOf(found.item);
  for (let depth = 0; depth < tokens.length; depth++) {
    const record = findAt(payload, tokens.slice(0, depth));
    if (findText(record, idAt) === id) return { item: tokens.slice(0, depth).map(pointerTo).join(""), record };
  }
  // The key of a map may be the id in its list: then the record is what shows most of what one that is listed shows.
  const listed = Object.keys(fieldsIn(samples.get(kind)?.find((record) => findText(record, idAt) === id)));
  const shared = (record: unknown): number => listed.filter((key) => key in fieldsIn(record)).length;
  return tokens.reduce((best, _, depth) => {
    const record = findAt(payload, tokens.slice(0, depth));
    const isBetter = shared(record) > shared(best.record);
    return isBetter ? { item: tokens.slice(0, depth).map(pointerTo).join(""), record } : best;
  }, found);
}

/** The rules of a group are documented; what they are wrapped in is seen here. */
export async function readRules(learnings: Learnings): Promise<void> {
  const { groups = [] } = learnings.known;
  for (const id of [...new Set([...groups, ...learnings.texts("group", "id")])].slice(0, 6)) {
    const seen = await look(learnings.ports, contractRead("group", id));
    const payload = isSuccess(seen) ? learnings.payload(seen.body) : undefined;
    learnRules(learnings, payload);
    // A group without rules may tell nothing of where they are, and one with several nothing of one alone.
    if (Array.isArray(payload) || (learnings.rulesItem !== undefined && isOfOne(learnings.rulesItem))) return;
  }
}

export function learnRules(learnings: Learnings, payload: unknown): void {
  const where = Array.isArray(payload) ? undefined : findListIn(payload, ["rule", "rules"]);
  const place = where === undefined || "several" in where ? "" : oneOrMany(where.place);
  if (place !== "" && (typeof place === "string" || isOfOne(place))) learnings.rulesItem = place;
}
