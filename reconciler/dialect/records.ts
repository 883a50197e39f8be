/**
 * Reads the service's answers into the model through the dialect's pointers. Tolerant of what does not matter (numbers
 * as text, extra fields, a null list), strict about what identity hangs on: an answer without it is rejected as
 * `unreadable`, with the dialect line that would fix it. Never throws, whatever the answer.
 */

import { type ObservedFields, observedVmFields, type vmFields } from "../core/model/fields";
import { definitionOf, isKind, type Kind } from "../core/model/kinds";
import type {
  CatalogueEntry,
  LiveGroup,
  LiveImage,
  LiveOf,
  LiveRule,
  LiveVm,
  LiveVmVolume,
  LiveVolume,
  VmPhase,
} from "../core/model/live";
import { isAssumed, type ListOperation, listOperations, type Operation, operationNames } from "../core/model/operation";
import type { Accepted, Rejection } from "../core/model/outcome";
import { accepted } from "../core/model/outcome";
import { hostOf } from "../core/model/relations";
import { asLive } from "../core/model/usual";
import { itemAt } from "../core/text/invariant";
import { isObject, onlyDefined } from "../core/text/objects";
import { mayMeanGone } from "./built-in";
import type { CatalogueRecord, Dialect, Paging, Pointers } from "./dialect";
import { pointerTo } from "./likely-key";
import { own } from "./messages";
import { nextLink, type Page, type PageHolder, pageSigns, type Sign } from "./page-signs";
import { findAtPath } from "./places";
import {
  compilePointers,
  findAddress,
  findArray,
  findArrayAt,
  findAt,
  findBoolean,
  findId,
  findLink,
  findSeveral,
  findSize,
  findText,
  findWord,
  numberInUnit,
  type PointerPath,
} from "./pointers";
import { unreadable, unusableId } from "./unreadable";
import { isIgnored } from "./whole-list";

export type Reading<T> = Accepted<T> | Rejection;
type ReadRecord<T> = (record: unknown) => Reading<T>;

export interface RecordReaders {
  vm: ReadRecord<LiveVm>;
  volume: ReadRecord<LiveVolume>;
  group: ReadRecord<LiveGroup>;
  /** Of a kind without a reader of its own: by the pointers that its definition names. */
  ofKind(kind: string): ReadRecord<LiveOf[Kind]>;
  flavor: ReadRecord<CatalogueEntry>;
  image: ReadRecord<LiveImage>;
  region: ReadRecord<CatalogueEntry>;
  /** The id of the image that a snapshot made, where the payload shows it. */
  snapshotImage(payload: unknown): string | undefined;
  /** The word of the record with which, by the dialect, the service says that the resource does not exist any more. */
  goneWord(live: LiveVm | LiveVolume): string | undefined;
  /** The payload of a body: what the envelope holds, and in it the record of this operation. */
  payload(operation: Operation, body: unknown): unknown;
  /** The array of a list, from the whole body, with what that says about the pages of the list. */
  page(operation: PagedOperation, body: unknown, headers: Page["headers"]): Reading<SignedPage>;
  /** The link or token to the next page, from the whole body or a header. */
  nextPage(operation: PagedOperation, body: unknown, headers?: Page["headers"]): string | undefined;
  /** The value of a page's last item with which the next page is asked for. */
  marker(operation: PagedOperation, item: unknown): string | undefined;
  /** How this list goes on. */
  paging(operation: PagedOperation): Paging;
}

export type PagedOperation = ListOperation | "group.rule.list";

export interface SignedPage {
  readonly items: readonly unknown[];
  readonly signs: readonly Sign[];
}

/** The body, or its `data` when the body is the envelope. */
export function payloadOf(body: unknown): unknown {
  const payload = own(body, "data");
  return payload !== undefined && own(body, "id") === undefined ? payload : body;
}

export const createRecordReaders = (dialect: Dialect): RecordReaders => ({
  ...createResourceReaders(dialect),
  ...createAnswerReaders(dialect),
});

type AnswerReaders = Pick<RecordReaders, "payload" | "page" | "paging" | "marker" | "nextPage">;

/** What an answer holds, and the pages of a list. */
function createAnswerReaders(dialect: Dialect): AnswerReaders {
  const pagings = new Map<PagedOperation, CompiledPaging>();
  function pagingOf(operation: PagedOperation): CompiledPaging {
    const known = pagings.get(operation);
    if (known !== undefined) return known;
    const { marker: _, number: __, offset: ___, size: ____, ...linked } = dialect.pagination;
    // The contract gives the list of rules no parameter that could ask for a page; a link is followed all the same.
    const paging: Paging =
      operation === "group.rule.list"
        ? linked
        : { ...dialect.pagination, ...dialect.operations[operation]?.pagination };
    const compiled = { paging, next: compilePointers(paging.next), marker: compilePointers(paging.marker ?? []) };
    pagings.set(operation, compiled);
    return compiled;
  }
  const data = compilePointers(dialect.envelope.data);
  const itemPlaces = new Map<Operation, readonly PointerPath[]>();
  for (const operation of operationNames) {
    const item = isAssumed(operation) ? dialect.operations[operation]?.item : dialect.answers[operation]?.item;
    if (item !== undefined) itemPlaces.set(operation, compilePointers(item));
  }
  const enveloped = (body: unknown): unknown =>
    data.length === 0 ? payloadOf(body) : (firstShown(body, data) ?? body);
  function payload(operation: Operation, body: unknown): unknown {
    const held = enveloped(body);
    const places = itemPlaces.get(operation);
    return places === undefined ? held : (firstShown(held, places) ?? held);
  }

  const itemPaths = compileAll(
    Object.fromEntries(listOperations.map((operation) => [operation, dialect.operations[operation]?.items ?? []])),
  );
  function findItems(operation: ListOperation, payload: unknown) {
    const found = findArrayAt(payload, itemPaths[operation] ?? []);
    const tried = dialect.operations[operation]?.items ?? [];
    // Where a list may be left out, an answer that has nothing but something to say is none.
    const isLeftOut = found !== undefined && found.items.length === 0 && findAt(payload, found.tokens) === undefined;
    if (found !== undefined && !(isLeftOut && onlySpeaks(payload))) return accepted(found);
    const wrong = unreadable(`the answer to ${operation}`, "list", `operations.${operation}.items`, tried, payload);
    const place = tried.find((one) => typeof one === "string" && one !== "");
    return place === undefined || holdsList(payload)
      ? wrong
      : {
          ...wrong,
          hint: `${wrong.hint}; where the list is left out when there is nothing: operations.${operation}.items: { in: ${place}, absent: none }`,
        };
  }

  const { hasDirections, rulesByDirection } = directionsOf(dialect);
  const inOne = (held: unknown): unknown =>
    hasDirections && !Array.isArray(held) ? (rulesByDirection(held) ?? held) : held;

  function page(operation: PagedOperation, body: unknown, headers: Page["headers"]): Reading<SignedPage> {
    const held = operation === "group.rule.list" ? payload(operation, body) : enveloped(body);
    const found = operation === "group.rule.list" ? ruleItems(inOne(held)) : findItems(operation, held);
    if (found.status !== "accepted") return found;
    const { items, tokens } = found.value;
    const signs = pageSigns({ holders: holdersOf(body, held, tokens), items, headers });
    const { ignore } = pagingOf(operation).paging;
    return accepted({ items, signs: signs.filter((sign) => !isIgnored(sign, ignore)) });
  }

  return {
    payload,
    page,
    paging: (operation) => pagingOf(operation).paging,
    marker: (operation, item) => findText(item, pagingOf(operation).marker) ?? undefined,
    nextPage: (operation, body, headers = {}) => {
      const { next, paging } = pagingOf(operation);
      return (findLink(body, next) || nextInHeader(paging.next_header, headers)) ?? undefined;
    },
  };
}

/** Services write one state as Running here and as RUNNING there. */
function inAnyCase(words: readonly string[]): { readonly size: number; has(word: string): boolean } {
  const known = new Set(words.map((word) => word.toLowerCase()));
  return { size: known.size, has: (word) => known.has(word.toLowerCase()) };
}

/** The records of single resources. */
function createResourceReaders(dialect: Dialect): Omit<RecordReaders, keyof AnswerReaders> {
  const { records, states } = dialect;
  const phases = new Map<string, VmPhase>();
  for (const word of states.vm.ready) phases.set(word.toLowerCase(), "running");
  for (const phase of ["changing", "failed", "verify_resize", "stopped", "running"] as const)
    for (const word of states.vm[phase]) phases.set(word.toLowerCase(), phase);
  const failedVolume = inAnyCase(states.volume.failed);
  const goneVm = inAnyCase(states.vm.gone);
  const goneVolume = inAnyCase(states.volume.gone);
  const gone = { vm: goneVm, volume: goneVolume };
  const changingVolume = inAnyCase(states.volume.changing);
  const readyVolume = inAnyCase(states.volume.ready);
  /** The dialect gives this word no meaning, and it may be the service's for "deleted". */
  const unsaid = (status: string | undefined, said: (word: string) => boolean): { readonly unsaid?: true } =>
    status !== undefined && mayMeanGone.has(status.toLowerCase()) && !said(status) ? { unsaid: true } : {};
  const saidOfVm = (word: string): boolean => phases.has(word.toLowerCase()) || goneVm.has(word);
  const saidOfVolume = (word: string): boolean =>
    [readyVolume, failedVolume, goneVolume, changingVolume].some((words) => words.has(word));
  const isChanging = (status: string): boolean =>
    changingVolume.has(status) ||
    (readyVolume.size > 0 && !saidOfVolume(status) && !mayMeanGone.has(status.toLowerCase()));
  const readyImage = inAnyCase(states.image.ready);
  const failedImage = inAnyCase(states.image.failed);
  const vm = compileAll(records.vm);
  const entry = compileAll(records.vm.volume_entry);
  const volume = compileAll(records.volume);
  const group = compileAll(records.group);
  const snapshot = compilePointers(records.snapshot.image);
  const { hasDirections, rulesByDirection } = directionsOf(dialect);
  function readVm(record: unknown): Reading<LiveVm> {
    const id = readId("the record of a VM", "records.vm.id", records.vm.id, vm.id, record);
    if (id.status !== "accepted") return id;
    const name = findText(record, vm.name);
    if (name === undefined) return unreadable("the record of a VM", "name", "records.vm.name", records.vm.name, record);
    const status = findWord(record, vm.status);
    const listed = findSeveral(record, vm.volumes);
    const volumes: LiveVmVolume[] = [];
    for (const item of listed ?? []) {
      const { volume_entry } = records.vm;
      const volumeId = readId("a volume of a VM", "records.vm.volume_entry.id", volume_entry.id, entry.id, item);
      if (volumeId.status !== "accepted") return volumeId;
      const root = findBoolean(item, entry.root);
      volumes.push({ id: volumeId.value, root });
    }
    const floating = findAddress(record, vm.floating_ip);
    const private_ = findAddress(record, vm.private_ip);
    const notAddresses = [floating, private_].flatMap(({ other }, index) =>
      other === undefined ? [] : [{ field: itemAt(["floating_ip", "private_ip"] as const, index), found: other }],
    );
    return accepted({
      kind: "vm",
      id: id.value,
      name: name === null || isBlank(name) ? "" : name,
      phase: (status !== undefined ? phases.get(status.toLowerCase()) : undefined) ?? "changing",
      ...unsaid(status, saidOfVm),
      ...texts({
        status,
        floatingIp: floating.address,
        privateIp: private_.address,
      }),
      ...observedIn(record, vm),
      ...onlyDefined({
        notAddresses: notAddresses.length > 0 ? notAddresses : undefined,
        volumes: listed === undefined ? undefined : volumes,
      }),
    });
  }

  function readVolume(record: unknown): Reading<LiveVolume> {
    const id = readId("the record of a volume", "records.volume.id", records.volume.id, volume.id, record);
    if (id.status !== "accepted") return id;
    const sizeGb = findSize(record, volume.size);
    if (sizeGb === undefined && findText(record, volume.size))
      return unreadable("the record of a volume", "size in GB", "records.volume.size", records.volume.size, record);
    const status = findWord(record, volume.status);
    const attached = findId(record, volume.attached_to);
    if (attached !== undefined && "problem" in attached)
      return unusableId("the VM that a volume hangs on", attached.problem, "records.volume.attached_to");
    // The place is empty, or says that there is nothing.
    const attachedTo = attached?.id ?? findText(record, volume.attached_to);
    return accepted({
      kind: "volume",
      id: id.value,
      failed: status !== undefined && failedVolume.has(status),
      ...unsaid(status, saidOfVolume),
      ...onlyDefined({ changing: status !== undefined && isChanging(status) ? (true as const) : undefined }),
      ...texts({ name: findName(record, volume.name), status }),
      ...onlyDefined({ sizeGb, attachedTo }),
    });
  }

  function readGroup(record: unknown): Reading<LiveGroup> {
    const id = readId("the record of a group", "records.group.id", records.group.id, group.id, record);
    if (id.status !== "accepted") return id;
    const name = findName(record, group.name);
    // A null description is an empty one: the record shows the field.
    const description = findText(record, group.description);
    const listed = hasDirections ? rulesByDirection(record) : findArray(record, group.rules);
    const rules = listed === undefined ? undefined : readAll(listed, readLiveRule);
    if (rules !== undefined && rules.status !== "accepted") return rules;
    return accepted({
      kind: "group",
      id: id.value,
      name,
      description: description === undefined ? undefined : (description ?? ""),
      rules: rules === undefined ? undefined : rules.value,
    });
  }

  const readCatalogue = (what: string, key: "flavor" | "image" | "region", pointers: CatalogueRecord) => {
    const paths = compileAll(pointers);
    return (record: unknown): Reading<CatalogueEntry> => {
      const id = readId(`the record of ${what}`, `records.${key}.id`, pointers.id, paths.id, record);
      if (id.status !== "accepted") return id;
      return accepted({ id: id.value, ...texts({ name: findText(record, paths.name) }) });
    };
  };

  function ofKind(kind: string): ReadRecord<LiveOf[Kind]> {
    const pointers = isKind(kind) ? (definitionOf(kind).record ?? {}) : {};
    const paths = compileAll(pointers);
    const host = isKind(kind) ? hostOf[kind]?.recorded : undefined;
    return (record) => {
      const what = `the record of a ${kind}`;
      const id = readId(what, `records.${kind}.id`, pointers["id"] ?? [], paths["id"] ?? [], record);
      if (id.status !== "accepted") return id;
      const found: Record<string, unknown> = { kind, id: id.value };
      for (const [key, places] of Object.entries(paths)) {
        const value = key === "id" ? undefined : key === "name" ? findName(record, places) : findText(record, places);
        // The place says that there is nothing: it hangs on nothing, or is an empty text.
        if (value !== undefined) found[key] = value ?? (key === host ? null : "");
      }
      // The keys of its definition, under which the kind is compared and recorded.
      return accepted(asLive(found));
    };
  }

  const readImageEntry = readCatalogue("an image", "image", records.image);
  const imageStatus = compilePointers(records.image.status);
  function readImage(record: unknown): Reading<LiveImage> {
    const entry = readImageEntry(record);
    const status = entry.status === "accepted" ? findWord(record, imageStatus) : undefined;
    if (entry.status !== "accepted" || status === undefined) return entry;
    const phase = failedImage.has(status) ? "failed" : readyImage.has(status) ? "ready" : "changing";
    return accepted({ ...entry.value, status, phase });
  }

  return {
    vm: readVm,
    volume: readVolume,
    group: readGroup,
    ofKind,
    flavor: readCatalogue("a flavor", "flavor", records.flavor),
    image: readImage,
    region: readCatalogue("a region", "region", records.region),
    snapshotImage: (payload) => {
      const found = findId(payload, snapshot);
      return found !== undefined && "id" in found ? found.id : undefined;
    },
    goneWord: ({ kind, status }) => (status !== undefined && gone[kind].has(status) ? status : undefined),
  };
}

/** The rules that stand under several keys, each with the direction of its key. */
function directionsOf({ records }: Dialect) {
  const places = records.group.rules.map((place) => ({
    // A bare pointer tells a key that is not there from an empty list.
    paths: compilePointers([typeof place === "object" && place.in === undefined ? (place.value ?? "") : place]),
    direction: typeof place === "object" ? place.direction : undefined,
  }));
  return {
    hasDirections: places.some(({ direction }) => direction !== undefined),
    /** `undefined`: none of the keys is there. */
    rulesByDirection(record: unknown): readonly unknown[] | undefined {
      const found = places.flatMap(({ paths, direction }) => {
        const items = findArray(record, paths);
        if (items === undefined) return [];
        return [items.map((item) => (isObject(item) && direction !== undefined ? { direction, ...item } : item))];
      });
      return found.length === 0 ? undefined : found.flat();
    },
  };
}

/** A rule as the contract describes it ("Security group rule as returned"); nothing of it is left to the dialect. */
export function readLiveRule(record: unknown): Reading<LiveRule> {
  const text = (key: string): string | undefined => {
    const found = own(record, key);
    return typeof found === "string" && found !== "" ? found : typeof found === "number" ? String(found) : undefined;
  };
  const id = readId("a rule", undefined, ["/id"], ruleId, record);
  if (id.status !== "accepted") return id;
  const remoteGroup = findId(record, ruleRemoteGroup);
  if (remoteGroup !== undefined && "problem" in remoteGroup)
    return unusableId("the group that a rule names", remoteGroup.problem, undefined);
  const direction = text("direction");
  if (direction === undefined) return unreadable("a rule", "direction", undefined, ["/direction"], record);
  const portMin = numberInUnit(own(record, "port_range_min"));
  const portMax = numberInUnit(own(record, "port_range_max"));
  const platform = own(record, "belongs_to_default_sg");
  return accepted({
    id: id.value,
    direction,
    ...texts({
      ethertype: text("ether_type") ?? text("ethertype"),
      protocol: text("protocol"),
      remoteIp: text("remote_ip_prefix") ?? text("normalized_cidr"),
      remoteGroupId: remoteGroup?.id,
      remoteAddressGroupId: text("remote_address_group_id"),
      description: text("description"),
    }),
    ...onlyDefined({ portMin, portMax, platform: typeof platform === "boolean" ? platform : undefined }),
  });
}

const ruleId = compilePointers(["/id"]);
const ruleRemoteGroup = compilePointers(["/remote_group_id"]);

/** `setting`: the dialect's key for these pointers; `undefined` where the contract fixes them. */
function readId(
  what: string,
  setting: string | undefined,
  pointers: Pointers,
  paths: readonly PointerPath[],
  record: unknown,
): Reading<string> {
  const found = findId(record, paths);
  if (found === undefined) return unreadable(what, "id", setting, pointers, record);
  return "id" in found ? accepted(found.id) : unusableId(what, found.problem, setting);
}

function ruleItems(payload: unknown): Reading<{ items: readonly unknown[]; tokens: readonly string[] }> {
  const found = findArrayAt(payload, itself);
  return found === undefined
    ? unreadable("the answer to group.rule.list", "list", undefined, [""], payload)
    : accepted(found);
}

const itself = compilePointers([""]);

function nextInHeader(name: string | null, headers: Page["headers"]): string | undefined {
  const value = name === null ? undefined : headers[name.toLowerCase()];
  if (value === undefined || value.trim() === "") return undefined;
  return name?.toLowerCase() === "link" ? nextLink(value) : value.trim();
}

/** The objects from the body down to the array. */
function holdersOf(body: unknown, payload: unknown, tokens: readonly string[]): PageHolder[] {
  const holders: PageHolder[] = [];
  const hold = (value: unknown, at: string): void => {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) holders.push({ value, at });
  };
  hold(body, "");
  let at = "";
  if (payload !== body) {
    at = placeIn(body, payload);
    hold(payload, at);
  }
  for (let depth = 1; depth < tokens.length; depth++)
    hold(findAt(payload, tokens.slice(0, depth)), at + tokens.slice(0, depth).map(pointerTo).join(""));
  return holders;
}

/** Where the payload is held: `/data`, unless the dialect's envelope has another place for it. */
function placeIn(body: unknown, payload: unknown): string {
  if (typeof body !== "object" || body === null) return "";
  const key = Object.keys(body).find((name) => own(body, name) === payload);
  if (key !== undefined) return pointerTo(key);
  for (const [outer, inner] of Object.entries(body).slice(0, 50)) {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) continue;
    const deeper = Object.keys(inner).find((name) => own(inner, name) === payload);
    if (deeper !== undefined) return pointerTo(outer) + pointerTo(deeper);
  }
  return "";
}

/** Reads every record, or ends with the first that cannot be read: leaving one out would look like a smaller world. */
export function readAll<T>(records: readonly unknown[], read: ReadRecord<T>): Reading<readonly T[]> {
  const values: T[] = [];
  for (const record of records) {
    const reading = read(record);
    if (reading.status !== "accepted") return reading;
    values.push(reading.value);
  }
  return accepted(values);
}

interface CompiledPaging {
  readonly paging: Paging;
  readonly next: readonly PointerPath[];
  readonly marker: readonly PointerPath[];
}

/** The first place that shows anything. */
function firstShown(value: unknown, places: readonly PointerPath[]): unknown {
  for (const place of places) {
    const found = findAtPath(value, place);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

function compileAll<T extends object>(record: T): { readonly [K in keyof T]: readonly PointerPath[] } {
  const compiled: [string, readonly PointerPath[]][] = [];
  // A list in a record of the dialect is a list of pointers.
  for (const [key, pointers] of Object.entries(record))
    if (Array.isArray(pointers)) compiled.push([key, compilePointers(pointers as Pointers)]);
  // One entry for each list of the record; what is no list is not asked for.
  return Object.fromEntries(compiled) as { readonly [K in keyof T]: readonly PointerPath[] };
}

const onlySpeaks = (payload: unknown): boolean =>
  ["message", "msg", "error", "errors", "detail"].some((key) => own(payload, key) !== undefined);

/** Anywhere in it. */
const holdsList = (payload: unknown): boolean =>
  typeof payload === "object" &&
  payload !== null &&
  (Array.isArray(payload) || Object.values(payload).some((value) => holdsList(value)));

/** Leaves out fields that were not found: absent means unobserved, which is never the same as empty. */
/** The fields of the table that a record shows, where they are texts: others need a reader here. */
function observedIn(
  record: unknown,
  pointers: Readonly<Record<(typeof observedVmFields)[number], Parameters<typeof findText>[1]>>,
): { -readonly [K in keyof ObservedFields<typeof vmFields>]: string } {
  const found: { -readonly [K in keyof ObservedFields<typeof vmFields>]: string } = {};
  for (const key of observedVmFields) {
    const value = findText(record, pointers[key]);
    if (value != null) found[key] = value;
  }
  return found;
}

/** A name of nothing but spaces says no more than none. */
const isBlank = (name: string): boolean => name.trim() === "";

function findName(record: unknown, paths: readonly PointerPath[]): string | undefined {
  const name = findText(record, paths) ?? "";
  return isBlank(name) ? undefined : name;
}

function texts<K extends string>(fields: Record<K, string | null | undefined>): { [key in K]?: string } {
  const found: { [key in K]?: string } = {};
  for (const key in fields) {
    const value = fields[key];
    if (typeof value === "string") found[key] = value;
  }
  return found;
}
