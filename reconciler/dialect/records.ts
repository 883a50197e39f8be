/**
 * Reads the service's answers into the model through the dialect's pointers. Tolerant of what does not matter (numbers
 * as text, extra fields, a null list), strict about what identity hangs on: an answer without it is rejected as
 * `unreadable`, with the dialect line that would fix it. Never throws, whatever the answer.
 */

import { observedVmFields } from "../core/model/fields";
import { definitionOf, isKind, type Kind } from "../core/model/kinds";
import type {
  CatalogueEntry,
  LiveGroup,
  LiveImage,
  LiveOf,
  LiveVm,
  LiveVmVolume,
  LiveVolume,
  VmPhase,
} from "../core/model/live";
import { accepted } from "../core/model/outcome";
import { hostOf } from "../core/model/relations";
import { asLive } from "../core/model/usual";
import { canonicalText } from "../core/text/canonical-text";
import { deepEqual } from "../core/text/deep-equal";
import { itemAt } from "../core/text/invariant";
import { onlyDefined, tableOf } from "../core/text/objects";
import { type AnswerReaders, createAnswerReaders } from "./answers";
import { builtInDialect, mayMeanGone } from "./built-in";
import type { CatalogueRecord, Dialect } from "./dialect";
import {
  compilePointers,
  findAddress,
  findArray,
  findBoolean,
  findId,
  findSeveral,
  findSize,
  findText,
  findWord,
} from "./pointers";
import { compileAll, findName, type Reading, type ReadRecord, readAll, readId, texts } from "./reading";
import { directionsOf, isContractRule, readLiveRule } from "./rule-record";
import { unreadable, unusableId } from "./unreadable";

/** Which volume hangs on which VM. */
export interface Attachment {
  readonly id: string;
  readonly volume: string;
  /** `undefined`: on none. */
  readonly vm: string | undefined;
}

export interface RecordReaders extends AnswerReaders {
  vm: ReadRecord<LiveVm>;
  volume: ReadRecord<LiveVolume>;
  group: ReadRecord<LiveGroup>;
  /** Of a kind without a reader of its own: by the pointers that its definition names. */
  ofKind(kind: string): ReadRecord<LiveOf[Kind]>;
  /** An item of the list of attachments; `ofVm`: the VM whose list it is, where each has its own. */
  attachment(record: unknown, ofVm?: string): Reading<Attachment>;
  flavor: ReadRecord<CatalogueEntry>;
  image: ReadRecord<LiveImage>;
  region: ReadRecord<CatalogueEntry>;
  /** The id of the image that a snapshot made, where the payload shows it. */
  snapshotImage(payload: unknown): string | undefined;
  /** The word of the record with which, by the dialect, the service says that the resource does not exist any more. */
  goneWord(live: LiveVm | LiveVolume): string | undefined;
}

export const createRecordReaders = (dialect: Dialect): RecordReaders => ({
  ...createResourceReaders(dialect),
  ...createAnswerReaders(dialect),
});

/** The records of single resources. */
function createResourceReaders(dialect: Dialect): Omit<RecordReaders, keyof AnswerReaders> {
  const { records, states } = dialect;
  const snapshot = compilePointers(records.snapshot.image);
  const gone = { vm: inAnyCase(states.vm.gone), volume: inAnyCase(states.volume.gone) };
  return {
    vm: vmReader(dialect),
    volume: volumeReader(dialect),
    group: groupReader(dialect),
    ofKind: usualReader,
    attachment: attachmentReader(dialect),
    flavor: catalogueReader("a flavor", "flavor", records.flavor),
    image: imageReader(dialect),
    region: catalogueReader("a region", "region", records.region),
    snapshotImage: (payload) => {
      const found = findId(payload, snapshot);
      return found !== undefined && "id" in found ? found.id : undefined;
    },
    goneWord: ({ kind, status }) => (status !== undefined && gone[kind].has(status) ? status : undefined),
  };
}

/** Services write one state as Running here and as RUNNING there. */
function inAnyCase(words: readonly string[]): { readonly size: number; has(word: string): boolean } {
  const known = new Set(words.map((word) => word.toLowerCase()));
  return { size: known.size, has: (word) => known.has(word.toLowerCase()) };
}

/** The dialect gives this word no meaning, and it may be the service's for "deleted". */
const unsaid = (status: string | undefined, said: (word: string) => boolean): { readonly unsaid?: true } =>
  status !== undefined && mayMeanGone.has(status.toLowerCase()) && !said(status) ? { unsaid: true } : {};

function vmReader({ records, states }: Dialect): ReadRecord<LiveVm> {
  const phases = new Map<string, VmPhase>();
  for (const word of states.vm.ready) phases.set(word.toLowerCase(), "running");
  for (const phase of ["changing", "failed", "verify_resize", "stopped", "running"] as const)
    for (const word of states.vm[phase]) phases.set(word.toLowerCase(), phase);
  const gone = inAnyCase(states.vm.gone);
  const isSaid = (word: string): boolean => phases.has(word.toLowerCase()) || gone.has(word);
  const vm = compileAll(records.vm);
  const entry = compileAll(records.vm.volume_entry);
  return (record: unknown): Reading<LiveVm> => {
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
      name: canonicalText(name ?? ""),
      phase: (status !== undefined ? phases.get(status.toLowerCase()) : undefined) ?? "changing",
      ...unsaid(status, isSaid),
      ...texts({ status, floatingIp: floating.address, privateIp: private_.address }),
      // Of the table's fields those that are texts: others need a reader here.
      ...texts(tableOf(observedVmFields, (key) => findText(record, vm[key]))),
      ...onlyDefined({
        notAddresses: notAddresses.length > 0 ? notAddresses : undefined,
        volumes: listed === undefined ? undefined : volumes,
      }),
    });
  };
}

function volumeReader({ records, states }: Dialect): ReadRecord<LiveVolume> {
  const failed = inAnyCase(states.volume.failed);
  const changing = inAnyCase(states.volume.changing);
  const ready = inAnyCase(states.volume.ready);
  const all = [ready, failed, inAnyCase(states.volume.gone), changing];
  const isSaid = (word: string): boolean => all.some((words) => words.has(word));
  const isChanging = (status: string): boolean =>
    changing.has(status) || (ready.size > 0 && !isSaid(status) && !mayMeanGone.has(status.toLowerCase()));
  const volume = compileAll(records.volume);
  return (record: unknown): Reading<LiveVolume> => {
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
      failed: status !== undefined && failed.has(status),
      ...unsaid(status, isSaid),
      ...onlyDefined({ changing: status !== undefined && isChanging(status) ? (true as const) : undefined }),
      ...texts({ name: findName(record, volume.name), status }),
      ...onlyDefined({ sizeGb, attachedTo }),
    });
  };
}

function attachmentReader({ attachments }: Dialect): RecordReaders["attachment"] {
  const { vm = [], volume = [] } = attachments ?? {};
  const places = compileAll({ vm, volume });
  return (record, ofVm) => {
    const of = readId("an attachment", "operations.attachments.volume", volume, places.volume, record);
    if (of.status !== "accepted") return of;
    // One that is reserved, or over, hangs on nothing.
    const isOfNone = ofVm === undefined && findText(record, places.vm) === null;
    const on =
      ofVm !== undefined || isOfNone
        ? accepted(ofVm)
        : readId("an attachment", "operations.attachments.vm", vm, places.vm, record);
    if (on.status !== "accepted") return on;
    return accepted({ id: `${of.value} ${on.value ?? ""}`, volume: of.value, vm: on.value });
  };
}

function groupReader(dialect: Dialect): ReadRecord<LiveGroup> {
  const { records } = dialect;
  const group = compileAll(records.group);
  const { hasDirections, rulesByDirection } = directionsOf(dialect);
  // What nobody has said to be the rules may be something else; the rules of one group are read by themselves.
  const isSaid = !deepEqual(records.group.rules, builtInDialect.records.group.rules);
  return (record: unknown): Reading<LiveGroup> => {
    const id = readId("the record of a group", "records.group.id", records.group.id, group.id, record);
    if (id.status !== "accepted") return id;
    const name = findName(record, group.name);
    // A null description is an empty one: the record shows the field.
    const description = findText(record, group.description);
    const listed = hasDirections ? rulesByDirection(record) : findArray(record, group.rules);
    const isOfRules = isSaid || listed?.every(isContractRule) === true;
    const rules = listed === undefined || !isOfRules ? undefined : readAll(listed, readLiveRule);
    if (rules !== undefined && rules.status !== "accepted") return rules;
    return accepted({
      kind: "group",
      id: id.value,
      name,
      description: description === undefined ? undefined : canonicalText(description ?? ""),
      rules: rules === undefined ? undefined : rules.value,
    });
  };
}

function catalogueReader(what: string, key: "flavor" | "image" | "region", pointers: CatalogueRecord) {
  const paths = compileAll(pointers);
  return (record: unknown): Reading<CatalogueEntry> => {
    const id = readId(`the record of ${what}`, `records.${key}.id`, pointers.id, paths.id, record);
    if (id.status !== "accepted") return id;
    return accepted({ id: id.value, ...texts({ name: findText(record, paths.name) }) });
  };
}

function imageReader({ records, states }: Dialect): ReadRecord<LiveImage> {
  const ready = inAnyCase(states.image.ready);
  const failed = inAnyCase(states.image.failed);
  const readEntry = catalogueReader("an image", "image", records.image);
  const place = compilePointers(records.image.status);
  return (record) => {
    const entry = readEntry(record);
    const status = entry.status === "accepted" ? findWord(record, place) : undefined;
    if (entry.status !== "accepted" || status === undefined) return entry;
    const phase = failed.has(status) ? "failed" : ready.has(status) ? "ready" : "changing";
    return accepted({ ...entry.value, status, phase });
  };
}

function usualReader(kind: string): ReadRecord<LiveOf[Kind]> {
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
