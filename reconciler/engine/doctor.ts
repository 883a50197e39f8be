/**
 * Learns what a deployment of the service really has: whether it is there and takes the credential, where the reads
 * beyond the contract are, how their lists go on, where their records show what, and how it says no. Sends GET requests
 * and nothing else. What it did not see it does not claim: found, not found where it looked, and not tried are three
 * things. The report is a value; report/doctor-text.ts prints it.
 */
import type { Diagnostic } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import {
  type AssumedOperation,
  assumedOperations,
  type Fallback,
  type ListOperation,
  type Method,
  type Operation,
  operations,
  rowOf,
} from "../core/model/operation";
import type { Outcome } from "../core/model/outcome";
import type { Answer } from "../dialect/conditions";
import type { AssumedRoutes, Dialect, ErrorRule, ListRoute, Place, Route } from "../dialect/dialect";
import { parseJsonText } from "../dialect/json-text";
import { type LearntEnvelope, learnRefusal } from "../dialect/learn/envelope";
import { findListIn, findRecordIn } from "../dialect/learn/items";
import { isSameWay, signsOf, translated, type Way, waysOn } from "../dialect/learn/pages";
import { type Evidence, learnRecord, type RecordFinding } from "../dialect/learn/records";
import { placeOfText } from "../dialect/learn/values";
import { candidates, type Learnt, nouns, placesOfOne, type Style, styleOf } from "../dialect/learn/where";
import { mostPages, nextPage, type PageRequest } from "../dialect/next-page";
import { nextLink } from "../dialect/page-signs";
import { findAtPath } from "../dialect/places";
import { compilePointers, findArray, findText, findWord } from "../dialect/pointers";
import { payloadOf } from "../dialect/records";
import { type FilledRequest, fillRoute } from "../dialect/requests";

export interface DoctorRequest {
  readonly operation: Operation;
  /** GET, unless the dialect itself reads a list in another way. */
  readonly method: Method;
  /** Below the base URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface DoctorPorts {
  /** Sends one request and ends with the answer, and with what it means by the dialect so far. */
  probe(request: DoctorRequest): Promise<{ readonly outcome: Outcome<unknown>; readonly answer: Answer | undefined }>;
  /** The same with the credential sent in another way, where there is one to be sent so. */
  readonly withAuthorization?: (name: string, header: string) => DoctorPorts;
  /** Left out: links to another host are not told from others. */
  readonly baseUrl?: string;
  /** Paths that a description of the service names, by operation. */
  readonly told?: Readonly<Partial<Record<AssumedOperation, readonly string[]>>>;
}

/** Ids that are known already, for operations that read one resource when no list gives an id. */
export interface KnownIds {
  readonly vm?: string;
  readonly volume?: string;
  readonly group?: string;
}

export interface OperationFinding {
  readonly operation: AssumedOperation;
  /**
   * `found` and `missing` (not found where it looked) were tried; `unclear`: it was tried and the answer decides nothing
   * (refused, out of order, several lists, no id to try it with); `not_tried`: only a change would show it.
   */
  readonly verdict: "found" | "missing" | "unclear" | "not_tried";
  /** Where it was found; for the others what the dialect has. */
  readonly route: Route | ListRoute | null;
  readonly tried: readonly { readonly path: string; readonly answer: string }[];
  /** How many items were read. */
  readonly items?: number;
  /** For what is missing, and for what the dialect does without. */
  readonly fallback?: Fallback;
}

export interface DoctorReport {
  readonly reachable: boolean;
  readonly credential: "accepted" | "refused" | "unknown";
  /** How the credential was sent when it was taken, where the dialect says it otherwise. */
  readonly authorization?: { readonly name: string; readonly header: string };
  readonly operations: readonly OperationFinding[];
  readonly records: readonly RecordFinding[];
  /** Words for a VM's state that the dialect gives no meaning to. */
  readonly unknownVmStates: readonly string[];
  /** What a word probably means, by the word alone. */
  readonly likelyStates: Readonly<Partial<Record<keyof Dialect["states"]["vm"], readonly string[]>>>;
  readonly refusal?: LearntEnvelope;
  readonly given: Dialect;
  /** The dialect given, with what was found. */
  readonly dialect: Dialect;
  /** What a person has to find out. */
  readonly todo: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** No resource has it, and every deployment can say so. */
const nobody = "00000000-0000-0000-0000-000000000000";

const volumePath = (id: string): string => operations["volume.get"].path.replace("{id}", () => encodeURIComponent(id));

interface Seen {
  readonly outcome: Outcome<unknown>;
  readonly status: number | undefined;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

async function look(ports: DoctorPorts, request: Omit<DoctorRequest, "method"> & { method?: Method }): Promise<Seen> {
  const { outcome, answer } = await ports.probe({ method: "GET", ...request });
  let body: unknown;
  try {
    body = answer === undefined || answer.text === "" ? undefined : parseJsonText(answer.text);
  } catch {
    body = undefined;
  }
  return { outcome, status: answer?.status, body, headers: answer?.paging ?? {} };
}

const isSuccess = ({ outcome, status, body }: Seen): boolean =>
  outcome.status === "accepted" && (status === undefined || (status >= 200 && status < 300)) && body !== undefined;

export async function diagnoseService(
  given: DoctorPorts,
  dialect: Dialect,
  known: KnownIds = {},
): Promise<DoctorReport> {
  const { ports, seen, authorization } = await enter(given);
  const first = judgeFirst(seen.outcome);
  const nothing = {
    operations: [],
    records: [],
    unknownVmStates: [],
    likelyStates: {},
    todo: [],
    dialect,
    given: dialect,
  };
  if (!first.reachable || first.credential === "refused") return { ...first, ...nothing };
  return new Examination(ports, dialect, known, first, seen, authorization).run();
}

const otherWays: readonly (readonly [name: string, header: string])[] = [
  ["X-Auth-Token", "{token}"],
  ["Authorization", "Token {token}"],
  ["Authorization", "{token}"],
  ["X-Api-Key", "{token}"],
];

/** A service that refuses the credential may want it in another header. It goes to the same service alone. */
async function enter(given: DoctorPorts) {
  const ask = (ports: DoctorPorts): Promise<Seen> => look(ports, { operation: "volume.get", path: volumePath(nobody) });
  const seen = await ask(given);
  const isRefused = ({ outcome }: Seen): boolean =>
    outcome.status === "rejected" && outcome.condition === "unauthenticated";
  if (!isRefused(seen)) return { ports: given, seen, authorization: undefined };
  for (const [name, header] of otherWays) {
    const ports = given.withAuthorization?.(name, header);
    if (ports === undefined) break;
    const again = await ask(ports);
    if (!isRefused(again) && again.outcome.status !== "unavailable")
      return {
        ports: { ...ports, ...(given.told !== undefined && { told: given.told }) },
        seen: again,
        authorization: { name, header },
      };
  }
  return { ports: given, seen, authorization: undefined };
}

interface FoundList {
  readonly route: ListRoute;
  readonly items: readonly unknown[];
  readonly bodies: readonly unknown[];
  readonly key: string;
  readonly way?: Way;
}

class Examination {
  readonly #lists = new Map<ListOperation, FoundList>();
  readonly #findings = new Map<AssumedOperation, OperationFinding>();
  readonly #records = new Map<Learnt, RecordFinding>();
  readonly #samples = new Map<Learnt, readonly unknown[]>();
  readonly #styles: Style[] = [];
  readonly #todo: string[] = [];
  #volumeItem: string | undefined;
  #rulesItem: string | undefined;
  /** Where a record that is read by itself shows its id, if not where the list does. */
  #idAlone: Place | undefined;
  #refusal: LearntEnvelope | undefined;

  constructor(
    private readonly ports: DoctorPorts,
    private readonly given: Dialect,
    private readonly known: KnownIds,
    private readonly first: First,
    private readonly missing: Seen,
    private readonly authorization: DoctorReport["authorization"],
  ) {}

  get #base(): { readonly origin: string; readonly basePath: string } {
    const { origin, pathname } = new URL(this.ports.baseUrl ?? "http://service.invalid");
    return { origin, basePath: pathname.replace(/\/+$/, "") };
  }

  async run(): Promise<DoctorReport> {
    // What others refer to comes first: a VM's flavor is told by the list of flavors.
    for (const operation of [
      "flavor.list",
      "image.list",
      "region.list",
      "vm.list",
      "volume.list",
      "group.list",
    ] as const) {
      await this.#findList(operation);
      const kind = operation.split(".")[0] as Learnt;
      this.#learn(kind);
    }
    for (const operation of ["vm.get", "group.get"] as const) await this.#findOne(operation);
    await this.#readVolume();
    await this.#readRules();
    // Once volumes are known, a VM's list of them can be told; and once VMs are, what a volume hangs on.
    for (const kind of ["vm", "volume", "group"] as const) this.#learn(kind);
    for (const operation of assumedOperations)
      if (rowOf(operation).kind !== "read") this.#findings.set(operation, notTried(this.given, operation));
    this.#learnRefusal();
    return this.#report();
  }

  #learn(kind: Learnt): void {
    const records = this.#samples.get(kind) ?? [];
    if (records.length === 0) return;
    const finding = learnRecord(kind, this.given, records, this.#evidence());
    const also = kind === "vm" || kind === "volume" || kind === "group" ? this.#idAlone : undefined;
    this.#records.set(kind, also === undefined ? finding : withIdAlone(finding, also));
  }

  /** Where a field of a record is, as learnt so far. */
  #placeOf(kind: Learnt, field: string): Place | undefined {
    return this.#records.get(kind)?.fields.find((one) => one.field === field)?.place;
  }

  #texts(kind: Learnt, field: string): readonly string[] {
    const place = this.#placeOf(kind, field);
    if (place === undefined) return [];
    const paths = compilePointers([place]);
    return (this.#samples.get(kind) ?? []).flatMap((record) => findText(record, paths) ?? []);
  }

  #evidence(): Evidence {
    const set = (kind: Learnt, ...fields: string[]): ReadonlySet<string> =>
      new Set(fields.flatMap((field) => this.#texts(kind, field)));
    const hosts = new Set(this.#texts("vm", "id"));
    const volumes = new Set(this.#texts("volume", "id"));
    return { vms: hosts, volumes, flavors: set("flavor", "id", "name"), images: set("image", "id", "name") };
  }

  async #findList(operation: ListOperation): Promise<void> {
    const route = this.given.operations[operation];
    const own = nouns[operation.split(".")[0] as Learnt];
    const tried: { path: string; answer: string }[] = [];
    let unclear = false;
    for (const path of candidates(operation, route, this.#styles, this.ports.told?.[operation] ?? [])) {
      const isSaid = route !== null && route.path === path;
      const filled = isSaid ? fillRoute(route, {}, this.given) : { path };
      if (filled === undefined) continue;
      const seen = await look(this.ports, {
        operation,
        path: filled.path,
        ...(isSaid && { method: route.method }),
        ...("headers" in filled && filled.headers !== undefined && { headers: filled.headers }),
        ...("body" in filled && filled.body !== undefined && { body: filled.body }),
      });
      unclear ||= decidesNothing(seen.outcome);
      if (!isSuccess(seen)) {
        tried.push({ path, answer: describe(seen.outcome) });
        continue;
      }
      const usual = route?.items ?? rowOf(operation).items ?? [];
      const payload = payloadOf(seen.body);
      const where = placeOfItems(payload, usual) ?? findListIn(payload, own);
      if (where === undefined) {
        tried.push({ path, answer: "an answer without a list" });
        continue;
      }
      if ("several" in where) {
        unclear = true;
        tried.push({ path, answer: `${where.several.length} lists, of which none is named for it` });
        this.#todo.push(
          `operations.${operation}.items: which of ${where.several.map((place) => JSON.stringify(place)).join(", ")} is the list at ${path}`,
        );
        continue;
      }
      const style = styleOf(path);
      if (style !== undefined) this.#styles.unshift(style);
      const isUsual = usual.includes(where.place as string);
      const found: ListRoute = {
        method: isSaid ? route.method : "GET",
        path,
        ...(isSaid && route.body !== undefined && { body: route.body }),
        ...(isSaid && route.query !== undefined && { query: route.query }),
        ...(isSaid && route.headers !== undefined && { headers: route.headers }),
        items: isUsual ? usual : [where.place],
      };
      const whole = await this.#readWhole(operation, found, filled, seen, where.items);
      tried.push({ path, answer: `a list of ${whole.items.length}` });
      this.#lists.set(operation, whole);
      this.#samples.set(operation.split(".")[0] as Learnt, whole.items);
      this.#findings.set(operation, {
        operation,
        verdict: "found",
        route: whole.route,
        tried,
        items: whole.items.length,
      });
      return;
    }
    this.#findings.set(operation, notFound(operation, route, tried, unclear));
  }

  /** Learns how the list goes on, by going on once, and reads it to its end. */
  async #readWhole(
    operation: ListOperation,
    route: ListRoute,
    request: FilledRequest,
    first: Seen,
    items: readonly unknown[],
  ): Promise<FoundList> {
    const { body, headers } = first;
    const place = route.items.find((one) => findItems(payloadOf(body), one) !== undefined) ?? "";
    const inBody = (typeof place === "string" ? place : (place.in ?? "")) || "";
    const at = payloadOf(body) === body ? inBody : `/data${inBody}`;
    const key = at.split("/").at(-1) ?? "";
    const single: FoundList = { route, items, bodies: [body], key };
    const kind = operation.split(".")[0] as Learnt;
    const id = learnRecord(kind, this.given, items, {
      vms: new Set(),
      volumes: new Set(),
      flavors: new Set(),
      images: new Set(),
    }).fields.find(({ field }) => field === "id")?.place;
    const { origin } = this.#base;
    const said = { ...this.given.pagination, ...route.pagination };
    const ways = waysOn({ body, headers, items, at, id, origin });
    if (ways === undefined) return single;
    const proven = [...this.#lists.values()].flatMap((list) =>
      list.way === undefined ? [] : [translated(list.way, list.key, key)],
    );
    for (const way of [{}, ...proven, ...ways] as readonly Way[]) {
      const read = await this.#follow(
        { operation, method: route.method, ...request },
        { ...said, ...way },
        first,
        items,
        place,
        id,
      );
      if (read === undefined) continue;
      const isSaidAlready = Object.keys(way).length === 0;
      return {
        ...single,
        items: read.items,
        bodies: read.bodies,
        ...(!isSaidAlready && { way, route: { ...route, pagination: way } }),
      };
    }
    this.#todo.push(
      `operations.${operation}.pagination: the list at ${route.path} goes on (${describeSigns(signsOf({ body, headers, items, at }))}), and none of the ways that were tried leads to its next page`,
    );
    return single;
  }

  /** `undefined`: this way does not lead on. */
  async #follow(
    request: DoctorRequest,
    paging: Dialect["pagination"],
    first: Seen,
    items: readonly unknown[],
    place: Place,
    id: Place | undefined,
  ): Promise<{ readonly items: readonly unknown[]; readonly bodies: readonly unknown[] } | undefined> {
    const { origin, basePath } = this.#base;
    const [next, marker, idPath] = [
      compilePointers(paging.next),
      compilePointers(paging.marker ?? []),
      compilePointers(id === undefined ? [] : [id]),
    ];
    const idsOf = (list: readonly unknown[]): string[] =>
      list.map((item) => findText(item, idPath) ?? JSON.stringify(item));
    const all = [...items];
    const bodies = [first.body];
    let seen = first;
    let shown: readonly unknown[] = items;
    const start: PageRequest = {
      path: basePath + request.path,
      ...(request.body !== undefined && { body: request.body }),
    };
    let current = start;
    for (let pages = 1; pages < Math.min(mostPages, 50); pages++) {
      const header = paging.next_header === null ? undefined : seen.headers[paging.next_header.toLowerCase()];
      const told = next
        .map((one) => findAtPath(seen.body, one))
        .find((one) => one !== undefined && one !== null && one !== "" && one !== false);
      const to = nextPage(
        {
          next:
            told !== undefined
              ? String(told)
              : header === undefined || header === ""
                ? undefined
                : paging.next_header?.toLowerCase() === "link"
                  ? nextLink(header)
                  : header,
          marker: findText(shown.at(-1), marker) ?? undefined,
          shown: shown.length,
          signs: signsOf({ body: seen.body, headers: seen.headers, items: shown, at: "" }),
        },
        {
          origin,
          basePath,
          first: start,
          current,
          paging,
          pages,
          items: all.length,
          distinct: new Set(idsOf(all)).size,
        },
      );
      if ("end" in to) return pages === 1 ? undefined : { items: all, bodies };
      if ("problem" in to) return undefined;
      const below = to.request.path.startsWith(basePath) ? to.request.path.slice(basePath.length) : to.request.path;
      const again = await look(this.ports, {
        ...request,
        path: below,
        ...(to.request.body !== undefined && { body: to.request.body }),
      });
      const found = isSuccess(again) ? findItems(payloadOf(again.body), place) : undefined;
      if (found === undefined) return undefined;
      const before = new Set(idsOf(all));
      const fresh = idsOf(found).filter((one) => !before.has(one));
      if (found.length > 0 && fresh.length < found.length) return undefined;
      if (found.length === 0 && pages === 1) return undefined;
      all.push(...found);
      bodies.push(again.body);
      [seen, shown, current] = [again, found, to.request];
      if (found.length === 0) return { items: all, bodies };
    }
    return { items: all, bodies };
  }

  async #findOne(operation: "vm.get" | "group.get"): Promise<void> {
    const kind = operation === "vm.get" ? "vm" : "group";
    const route = this.given.operations[operation];
    const id = this.known[kind] ?? this.#texts(kind, "id")[0];
    if (id === undefined) {
      this.#findings.set(operation, notFound(operation, route, [], true));
      return;
    }
    const tried: { path: string; answer: string }[] = [];
    let unclear = false;
    const list = this.#lists.get(`${kind}.list`)?.route.path;
    for (const path of placesOfOne(operation, route, list, this.ports.told?.[operation] ?? [])) {
      const [before = path, query] =
        path.split("?id={id}").length > 1 ? [path.split("?")[0], { id: "{id}" }] : [path, undefined];
      const candidate: Route = { method: "GET", path: before, ...(query !== undefined && { query }) };
      const filled = fillRoute(candidate, { id }, this.given);
      if (filled === undefined) continue;
      const seen = await look(this.ports, { operation, path: filled.path });
      unclear ||= decidesNothing(seen.outcome);
      if (!isSuccess(seen)) {
        tried.push({ path, answer: describe(seen.outcome) });
        continue;
      }
      const payload = payloadOf(seen.body);
      const own = findRecordIn(payload, id);
      const idPlaces = this.given.records[kind].id;
      const isPlain = findText(payload, compilePointers(idPlaces)) === id;
      if (own === undefined && !isPlain) {
        tried.push({ path, answer: "an answer that is not the record" });
        continue;
      }
      const item = isPlain && (own === undefined || own.item === "") ? "" : (own?.item ?? "");
      const record = item === "" ? payload : own?.record;
      const found: Route = { ...candidate, ...(item !== "" && { item: [item] }) };
      tried.push({ path, answer: "the record" });
      this.#findings.set(operation, { operation, verdict: "found", route: found, tried });
      if (!this.#samples.has(kind)) {
        this.#samples.set(kind, [record]);
        this.#learn(kind);
      }
      return;
    }
    this.#findings.set(operation, notFound(operation, route, tried, unclear));
  }

  /** Volumes can always be read by id: it tells how a record is wrapped, and what it shows where no list does. */
  async #readVolume(): Promise<void> {
    const volumes = compilePointers(
      [this.#placeOf("vm", "volumes"), ...this.given.records.vm.volumes].filter((one) => one !== undefined),
    );
    const entryId = compilePointers(
      [this.#placeOf("vm", "volume_entry.id"), ...this.given.records.vm.volume_entry.id].filter(
        (one) => one !== undefined,
      ),
    );
    const onVms = (this.#samples.get("vm") ?? [])
      .flatMap((vm) => findArray(vm, volumes) ?? [])
      .map((entry) => findText(entry, entryId));
    const listed = this.#texts("volume", "id");
    const id = this.known.volume ?? listed[0] ?? onVms.find((one) => one);
    if (!id) return;
    const seen = await look(this.ports, { operation: "volume.get", path: volumePath(id) });
    if (!isSuccess(seen)) return;
    const payload = payloadOf(seen.body);
    const own = findRecordIn(payload, id);
    if (own !== undefined && own.item !== "") this.#volumeItem = own.item;
    const record = own?.record ?? payload;
    if (listed.length === 0) this.#samples.set("volume", [record]);
    const idPlace = this.#placeOf("volume", "id");
    const isThere =
      findText(record, compilePointers(idPlace === undefined ? this.given.records.volume.id : [idPlace])) === id;
    if (!isThere) this.#idAlone = placeOfText(record, id);
  }

  /** The rules of a group are documented; what they are wrapped in is seen here. */
  async #readRules(): Promise<void> {
    const id = this.known.group ?? this.#texts("group", "id")[0];
    if (id === undefined) return;
    const path = operations["group.rule.list"].path.replace("{id}", () => encodeURIComponent(id));
    const seen = await look(this.ports, { operation: "group.rule.list", path });
    if (!isSuccess(seen)) return;
    const payload = payloadOf(seen.body);
    const where = Array.isArray(payload) ? undefined : findListIn(payload, ["rule", "rules"]);
    if (where !== undefined && !("several" in where) && typeof where.place === "string" && where.place !== "")
      this.#rulesItem = where.place;
  }

  #learnRefusal(): void {
    const { status, body } = this.missing;
    const successes = [...this.#lists.values()].flatMap(({ bodies }) => bodies);
    if (status !== undefined) this.#refusal = learnRefusal({ status, body }, successes);
  }

  #report(): DoctorReport {
    const findings = assumedOperations.map(
      (operation) => this.#findings.get(operation) ?? notTried(this.given, operation),
    );
    const isFound = findings.some(({ verdict }) => verdict === "found");
    const isProven = this.first.credential === "accepted" || isFound || this.#refusal !== undefined;
    const states = this.#states();
    const dialect = this.#dialect(findings, states.likely);
    const diagnostics = isProven
      ? this.first.diagnostics.filter(({ code }) => code !== "service/not_proven" || this.#refusal === undefined)
      : [notThisService(this.missing.outcome)];
    const report = {
      ...this.first,
      reachable: isProven,
      credential: isFound ? ("accepted" as const) : this.first.credential,
      ...(this.authorization !== undefined && { authorization: this.authorization }),
      operations: isProven ? findings : [],
      records: [...this.#records.values()].sort(
        (one, other) => order.indexOf(one.record) - order.indexOf(other.record),
      ),
      unknownVmStates: states.unknown,
      likelyStates: states.likely,
      ...(this.#refusal !== undefined && { refusal: this.#refusal }),
      given: this.given,
      dialect,
      diagnostics,
    };
    return { ...report, todo: isProven ? [...this.#todo, ...leftToDo(report, this.#samples)] : [] };
  }

  #states() {
    const place = this.#placeOf("vm", "status");
    const paths = compilePointers(place === undefined ? this.given.records.vm.status : [place]);
    const seen = new Set((this.#samples.get("vm") ?? []).flatMap((vm) => findWord(vm, paths) ?? []));
    const known = new Set(Object.values(this.given.states.vm).flat());
    const unknown = [...seen].filter((word) => !known.has(word)).sort();
    const likely: Partial<Record<keyof Dialect["states"]["vm"], readonly string[]>> = {};
    for (const [phase, pattern] of likelyWords) {
      const words = unknown.filter((word) => pattern.test(word));
      if (words.length > 0) likely[phase] = words;
    }
    const taken = new Set(Object.values(likely).flat());
    return { unknown: unknown.filter((word) => !taken.has(word)), likely };
  }

  #dialect(findings: readonly OperationFinding[], likely: DoctorReport["likelyStates"]): Dialect {
    const { given } = this;
    const records: Record<string, object> = { ...given.records };
    for (const { record, fields } of this.#records.values()) {
      const before = given.records[record] as unknown as Record<string, unknown>;
      const learnt = fields.filter(({ learnt, field }) => learnt === true && !field.includes("."));
      const entry = fields.filter(({ field, place }) => field.startsWith("volume_entry.") && place !== undefined);
      records[record] = {
        ...before,
        ...Object.fromEntries(
          learnt.map(({ field, place, also }) => [field, also === undefined ? [place] : [place, also]]),
        ),
        ...(entry.length > 0 && {
          volume_entry: {
            ...given.records.vm.volume_entry,
            ...Object.fromEntries(entry.map(({ field, place }) => [field.slice("volume_entry.".length), [place]])),
          },
        }),
      };
    }
    const [item, rules] = [this.#volumeItem, this.#rulesItem];
    const group = this.#findings.get("group.get")?.route?.item;
    return {
      ...given,
      operations: fittingRoutes(given, findings),
      records: records as unknown as Dialect["records"],
      states: {
        ...given.states,
        vm: Object.fromEntries(
          Object.entries(given.states.vm).map(([phase, words]) => [
            phase,
            [...words, ...(likely[phase as keyof typeof likely] ?? [])],
          ]),
        ) as unknown as Dialect["states"]["vm"],
      },
      answers: {
        ...given.answers,
        ...(item !== undefined && { "volume.get": { item: [item] }, "volume.create": { item: [item] } }),
        ...(rules !== undefined && { "group.rule.list": { item: [rules] } }),
        // What holds two kinds of answers alike holds the others as well; where it does not, nothing is lost by looking.
        ...(rules !== undefined &&
          rules === item && {
            "group.create": { item: [rules] },
            "group.rule.create": { item: [rules] },
            "vm.delete": { item: [rules] },
            "vm.snapshot": { item: [rules] },
          }),
        ...(group !== undefined && { "group.create": { item: group } }),
      },
      ...(this.#refusal !== undefined && {
        envelope: { ...given.envelope, ...this.#refusal.envelope },
        errors: [...given.errors, ...this.#refusal.errors] satisfies ErrorRule[],
      }),
      ...(this.authorization !== undefined && { authorization: { ...given.authorization, ...this.authorization } }),
    };
  }
}

/** What holds for volumes is taken to hold for the others: a place that finds nothing costs nothing. */
const withIdAlone = (finding: RecordFinding, also: Place): RecordFinding => ({
  ...finding,
  fields: finding.fields.map((one) =>
    one.field === "id" && one.place !== undefined ? { ...one, also, learnt: true } : one,
  ),
});

const order: readonly string[] = ["vm", "volume", "group", "flavor", "image", "region"];

/** Words that say it themselves; a number or a word of the house stays a question. */
const likelyWords: readonly (readonly [phase: keyof Dialect["states"]["vm"], word: RegExp])[] = [
  ["running", /^(active|running|run|started|online|up|on|poweredon|powered_on|powered-on)$/i],
  ["stopped", /^(shutoff|stopped|off|down|halted|poweredoff|powered_off|powered-off|deallocated)$/i],
  ["verify_resize", /^(verify[-_ ]?resize|resize[-_ ]?(verification|verify|confirm(ation)?|pending))$/i],
  ["failed", /^(error|errored|failed|failure|faulted|broken|crashed)$/i],
  ["gone", /^(deleted|terminated|destroyed|gone)$/i],
];

function leftToDo(
  report: Pick<DoctorReport, "operations" | "records" | "unknownVmStates">,
  samples: ReadonlyMap<Learnt, readonly unknown[]>,
): string[] {
  const todo: string[] = [];
  const untried = report.operations.filter(({ verdict, route }) => verdict === "not_tried" && route !== null);
  if (untried.length > 0)
    todo.push(
      `${untried.map(({ operation }) => operation).join(", ")}: taken as written, since trying would change something`,
    );
  const without = report.operations.filter(({ verdict, route }) => verdict === "not_tried" && route === null);
  if (without.length > 0)
    todo.push(
      `${without.map(({ operation }) => operation).join(", ")}: not tried; give a route if this service has one`,
    );
  for (const { operation, verdict, tried } of report.operations)
    if (verdict === "unclear" && tried.length > 0)
      todo.push(`${operation}: it was tried, and the answers decide nothing`);
  for (const kind of ["vm", "volume", "group"] as const)
    if ((samples.get(kind)?.length ?? 0) === 0)
      todo.push(
        `records.${kind}: no ${kind === "vm" ? "VM" : kind} was seen, so its fields are as built in; look again when there is one`,
      );
  for (const word of report.unknownVmStates)
    todo.push(`states.vm: what does ${JSON.stringify(word)} mean (running, stopped, failed, …)?`);
  const needed: Readonly<Record<string, readonly string[]>> = {
    vm: ["id", "name", "status", "flavor", "image", "volumes", "volume_entry.root"],
    volume: ["id", "size", "attached_to"],
    group: ["id", "name"],
  };
  for (const { record, fields } of report.records)
    for (const { field, place } of fields)
      if (place === undefined && needed[record]?.includes(field) === true)
        todo.push(`records.${record}.${field}: not found in the records that were looked at`);
  return todo;
}

const findItems = (payload: unknown, place: Place): readonly unknown[] | undefined => {
  const listed = findArray(payload, compilePointers([place]));
  return listed;
};

function placeOfItems(
  payload: unknown,
  usual: readonly Place[],
): { place: Place; items: readonly unknown[] } | undefined {
  for (const place of usual) {
    const items = findItems(payload, place);
    // `[{ item: … }]` is no list of records yet.
    if (items === undefined || items.some((item) => typeof item !== "object" || item === null)) {
      if (items?.every((item) => typeof item === "string")) return { place, items };
      continue;
    }
    const keys = new Set(items.flatMap((item) => Object.keys(item as object)));
    const [only] = keys;
    if (
      keys.size === 1 &&
      only !== undefined &&
      items.every((item) => isObject((item as Record<string, unknown>)[only]))
    )
      continue;
    return { place, items };
  }
  return undefined;
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

const describeSigns = (signs: ReturnType<typeof signsOf>): string =>
  signs.map(({ kind, at, count }) => (count > 0 ? `${at} says ${count}` : `${at}: ${kind}`)).join(", ") ||
  "nothing more is known";

type First = Pick<DoctorReport, "reachable" | "credential" | "diagnostics">;

const problem = (code: DiagnosticCode, summary: string, detail: string, fix: string): Diagnostic => ({
  severity: "error",
  code,
  summary,
  detail,
  fix,
});

const notThisService = (outcome: Outcome<unknown>): Diagnostic =>
  problem(
    "service/not-this-service",
    "Something answers, but it does not seem to be the service",
    outcome.status === "accepted"
      ? "it has an answer for a volume that nobody has, and no list anywhere"
      : describe(outcome),
    "Check service.base_url: all paths (/api/v1/…) are put behind it.",
  );

/** A volume that nobody has: a service that is there and takes the credential says that it is not there. */
function judgeFirst(outcome: Outcome<unknown>): First {
  switch (outcome.status) {
    case "accepted":
      // An answer for what nobody has proves nothing; what it has will.
      return { reachable: true, credential: "unknown", diagnostics: [] };
    case "unavailable":
    case "unknown":
      return {
        reachable: false,
        credential: "unknown",
        diagnostics: [
          problem(
            "service/unreachable",
            "The service cannot be reached",
            outcome.reason,
            (outcome.status === "unavailable" ? outcome.fix : undefined) ??
              "Check service.base_url (or --base-url), and that this machine can reach it.",
          ),
        ],
      };
    case "rejected":
      break;
    default:
      return outcome satisfies never;
  }
  if (outcome.condition === "unauthenticated" || outcome.condition === "forbidden")
    return {
      reachable: true,
      credential: "refused",
      diagnostics: [
        problem(
          "service/credential-refused",
          "The service refuses the credential",
          outcome.message,
          "Check RECONCILE_TOKEN or RECONCILE_AUTHORIZATION, and authorization in the dialect.",
        ),
      ],
    };
  if (outcome.condition === "refused" || outcome.condition === "unsupported")
    return { reachable: false, credential: "unknown", diagnostics: [notThisService(outcome)] };
  if (outcome.condition === "not_proven")
    return {
      reachable: true,
      credential: "unknown",
      diagnostics: [
        {
          severity: "warning",
          code: "service/not_proven",
          summary: "A volume that nobody has is not answered in the service's own words",
          detail: outcome.message,
          fix: outcome.hint ?? "Check service.base_url: all paths (/api/v1/…) are put behind it.",
        },
      ],
    };
  return { reachable: true, credential: "accepted", diagnostics: [] };
}

/** In the words of the table alone. */
function fallbackOf(operation: AssumedOperation): Fallback {
  const { cost, instead } = operations[operation].assumed;
  return { cost, instead };
}

const notTried = (dialect: Dialect, operation: AssumedOperation): OperationFinding => {
  const route = dialect.operations[operation];
  return {
    operation,
    verdict: "not_tried",
    route,
    tried: [],
    ...(route === null && { fallback: fallbackOf(operation) }),
  };
};

function notFound(
  operation: AssumedOperation,
  route: Route | null,
  tried: OperationFinding["tried"],
  unclear: boolean,
): OperationFinding {
  return unclear
    ? { operation, verdict: "unclear", route, tried, ...(route === null && { fallback: fallbackOf(operation) }) }
    : { operation, verdict: "missing", route: null, tried, fallback: fallbackOf(operation) };
}

const decidesNothing = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "unavailable" ||
  outcome.status === "unknown" ||
  (outcome.status === "rejected" && (outcome.condition === "forbidden" || outcome.condition === "unauthenticated"));

function describe(outcome: Outcome<unknown>): string {
  if (outcome.status === "accepted") return "an empty answer";
  return outcome.status === "rejected" ? `${outcome.condition}: ${outcome.message}` : outcome.reason;
}

/** What was tried and is not there is switched off; what is unclear stays as the dialect has it. */
function fittingRoutes(dialect: Dialect, findings: readonly OperationFinding[]): AssumedRoutes {
  const routes: Record<string, Route | null> = { ...dialect.operations };
  for (const { operation, verdict, route } of findings)
    if (verdict === "found" || verdict === "missing") routes[operation] = route;
  return routes as unknown as AssumedRoutes;
}

/** The way that most of its lists go on, to be written once. */
export function commonWay(report: Pick<DoctorReport, "dialect">): Way | undefined {
  const ways = Object.values(report.dialect.operations).flatMap((route) =>
    route !== null && "pagination" in route && route.pagination !== undefined ? [route.pagination] : [],
  );
  const [first] = ways;
  return first !== undefined && ways.every((way) => isSameWay(way, first)) ? first : undefined;
}
