/** What has been learnt so far: lists and their records, from which the rest follows. */
import { kindRows } from "../../core/model/kinds";
import type { AssumedOperation, ListOperation, Operation } from "../../core/model/operation";
import { deepEqual } from "../../core/text/deep-equal";
import { payloadOf } from "../../dialect/answers";
import { builtInDialect } from "../../dialect/built-in";
import type { AttachmentRoute, Dialect, ListRoute, Pointers, RecordPlace, Route } from "../../dialect/dialect";
import { isOfOne, oneOrMany } from "../../dialect/learn/items";
import { isSameWay, translated, type Way } from "../../dialect/learn/pages";
import type { KnownThings, Made } from "../../dialect/learn/place";
import { learnRecord, type RecordFinding } from "../../dialect/learn/records";
import { leavesOf, samePlace } from "../../dialect/learn/values";
import { type Learnt, recordOfOperation, type Style } from "../../dialect/learn/where";
import { firstFound } from "../../dialect/places";
import { compilePointers, findText } from "../../dialect/pointers";
import { nobody, nowhere, saidOf } from "./enter";
import { type DoctorPorts, isOk, leavesUndecided, type SeenAnswer } from "./look";
import { type DialectBase, type KnownIds, type OperationFinding, saidAt } from "./report";

export interface FoundList {
  readonly route: ListRoute;
  readonly items: readonly unknown[];
  readonly bodies: readonly unknown[];
  /** Where the list is within the answer. */
  readonly at: string;
  readonly way?: Way;
}

export class Learnings {
  readonly lists = new Map<ListOperation, FoundList>();
  readonly findings = new Map<AssumedOperation, OperationFinding>();
  readonly records = new Map<Learnt, RecordFinding>();
  readonly samples = new Map<Learnt, readonly unknown[]>();
  readonly styles: Style[] = [];
  /** A list of what hangs on what. */
  attachments: AttachmentRoute | undefined;
  /** What is left to a person to find out. */
  readonly open: string[] = [];
  /** Lists that left out their key while there was nothing to show. */
  readonly emptied = new Set<ListOperation>();
  /** The header that says when a limit ends, and how. */
  waitHeader: { readonly header: string; readonly as: "epoch" | "seconds" } | undefined;
  /** An id that is a path was read as the whole of it, and not by its end. */
  hasPaths = false;
  /** A list was asked for one item, to see how it goes on. */
  isAskedByOnes = false;
  /** What the service says where nothing is. */
  nowhere: SeenAnswer | undefined;
  /** What it says of a volume that nobody has. */
  ofNobody: SeenAnswer | undefined;
  volumeItem: string | undefined;
  rulesItem: RecordPlace | undefined;
  /** What the record is wrapped in, in an answer that was shown. */
  readonly wrapped = new Map<Operation, string>();
  /** Where a record that is read by itself shows its id, if not where the list does. */
  readonly idAlone = new Map<Learnt, RecordPlace>();

  constructor(
    readonly ports: DoctorPorts,
    readonly given: Dialect,
    readonly known: KnownIds,
    readonly file?: DialectBase,
    readonly made?: Made,
  ) {}

  /** What an answer holds, by the envelope that the dialect names. */
  readonly payload = (body: unknown): unknown => {
    const places = compilePointers(this.given.envelope.data);
    return places.length === 0 ? payloadOf(body) : (firstFound(body, places) ?? body);
  };

  /**
   * Whether an answer does not tell that the operation is not there. A failure, or a page that is no answer, tells it
   * where it is said of everything.
   */
  isUndecided(asked: string, seen: SeenAnswer): boolean {
    const isOfAll = (seen.status === 500 || isOk(seen.status)) && this.isSaidNowhere(asked, seen);
    return leavesUndecided(seen) && !isOfAll;
  }

  /** Whether the answer is the one that this service has where nothing is. */
  isSaidNowhere(asked: string, seen: SeenAnswer): boolean {
    return this.nowhere?.status !== undefined && saidOf(asked, seen) === saidOf(nowhere, this.nowhere);
  }

  /** The same, or what it says to an id that nobody has: the end of the path was taken for one. */
  isSaidOfNobody(asked: string, seen: SeenAnswer): boolean {
    const end = asked.split("/").at(-1) ?? "";
    const { ofNobody } = this;
    return (
      this.isSaidNowhere(asked, seen) || (ofNobody !== undefined && saidOf(end, seen) === saidOf(nobody, ofNobody))
    );
  }

  get base(): { readonly origin: string; readonly basePath: string } {
    const { origin, pathname } = new URL(this.ports.baseUrl ?? "http://service.invalid");
    return { origin, basePath: pathname.replace(/\/+$/, "") };
  }

  listed(operation: ListOperation, list: FoundList): void {
    this.lists.set(operation, list);
    this.samples.set(recordOfOperation(operation), list.items);
  }

  learn(kind: Learnt): void {
    const records = this.samples.get(kind) ?? [];
    if (records.length === 0) return;
    const own = { id: this.#ownIds(kind), name: new Set(this.known.names?.[kind]) };
    const others = [...this.samples].flatMap(([other, all]) => (other in kindRows && other !== kind ? all : []));
    const referred = new Set(others.flatMap(textsIn));
    const alike = this.#idOfOthers(kind);
    const finding = learnRecord(kind, this.given, records, { ...this.#evidence(), own, referred, alike });
    const also = this.idAlone.get(kind);
    const isSaid = also !== undefined && (this.given.records[kind].id ?? []).some((place) => samePlace(place, also));
    this.records.set(kind, also === undefined || isSaid ? finding : withIdAlone(finding, also));
  }

  /** Where a field of a record is, as learnt so far. */
  readonly placeOf = (kind: Learnt, field: string): RecordPlace | undefined =>
    this.records.get(kind)?.fields.find((one) => one.field === field)?.place;

  /** First what was learnt, then what the dialect says. */
  readonly placesOf = (kind: Learnt, field: string, said: Pointers): Pointers => {
    const place = this.placeOf(kind, field);
    return place === undefined ? said : [place, ...said];
  };

  readonly texts = (kind: Learnt, field: string): readonly string[] => {
    const place = this.placeOf(kind, field);
    if (place === undefined) return [];
    const paths = compilePointers([place]);
    return (this.samples.get(kind) ?? []).flatMap((record) => findText(record, paths) ?? []);
  };

  /** A list of one page goes on as the other lists do, where all of them do alike. */
  goOnAlike(): void {
    const [first, ...rest] = [...this.lists.values()].filter(({ way }) => way !== undefined);
    if (first?.way === undefined) return;
    const { way, at } = first;
    if (rest.some((list) => !isSameWay(list.way, translated(way, at, list.at)))) return;
    for (const [operation, list] of this.lists) {
      const finding = this.findings.get(operation);
      if (list.way !== undefined || list.at === "" || finding === undefined) continue;
      const alike = translated(way, at, list.at);
      if (!isSameWay(alike, way))
        this.findings.set(operation, { ...finding, route: { ...list.route, pagination: alike } });
    }
  }

  /** Where one thing alone was seen in place of one list, the others may show the same. */
  oneOrManyAlike(): void {
    const all = [...this.lists.keys()].flatMap((operation) => this.findings.get(operation) ?? []);
    if (!all.some(({ route }) => route !== null && listPlaces(route).some(isOfOne))) return;
    for (const finding of all)
      if (finding.route !== null) {
        const route: ListRoute = { ...finding.route, items: listPlaces(finding.route).map(oneOrMany) };
        this.findings.set(finding.operation, { ...finding, route });
      }
  }

  #ownIds(kind: Learnt): ReadonlySet<string> {
    const { vm, volume, volumes = [], group, groups = [] } = this.known;
    const ids: Partial<Record<Learnt, readonly (string | undefined)[]>> = {
      vm: [vm],
      volume: [volume, ...volumes],
      group: [group, ...groups],
    };
    return new Set((ids[kind] ?? []).flatMap((id) => id ?? []));
  }

  /** Where volumes or groups that are known show their ids; `undefined`: a person said where those of this kind are. */
  #idOfOthers(kind: Learnt): RecordPlace | undefined {
    const known = (["volume", "group"] as const).find((one) => one !== kind && this.#ownIds(one).size > 0);
    if (known === undefined || saidAt(this.file, "records", kind) !== undefined) return undefined;
    const { id } = this.given.records[known];
    return deepEqual(id, builtInDialect.records[known].id) ? undefined : id[0];
  }

  /** Ids that were found to be paths show that those of the other kinds are as well. */
  #hasPaths(): boolean {
    const { volume = "", group = "" } = this.known;
    return this.hasPaths || volume.includes("/") || group.includes("/");
  }

  #evidence(): KnownThings {
    const set = (kind: Learnt, ...fields: string[]): ReadonlySet<string> =>
      new Set(fields.flatMap((field) => this.texts(kind, field)));
    const names = this.texts("vm", "name");
    return {
      vms: this.samples.has("vm") ? set("vm", "id") : undefined,
      vmNames: this.samples.has("vm")
        ? new Set(names.filter((name) => names.indexOf(name) === names.lastIndexOf(name)))
        : undefined,
      made: this.made,
      hasPaths: this.#hasPaths(),
      volumes: set("volume", "id"),
      volumeNames: set("volume", "name"),
      flavors: set("flavor", "id", "name"),
      images: set("image", "id", "name"),
    };
  }
}

const listPlaces = (route: Route | ListRoute): Pointers => ("items" in route ? route.items : []);

const textsIn = (record: unknown): readonly string[] => leavesOf(record).map(({ value }) => String(value));

const withIdAlone = (finding: RecordFinding, also: RecordPlace): RecordFinding => ({
  ...finding,
  fields: finding.fields.map((one) =>
    one.field === "id" && one.place !== undefined && !samePlace(one.place, also) ? { ...one, also, learnt: true } : one,
  ),
});
