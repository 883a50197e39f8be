/**
 * What a trial has made and what it has seen of it: looks until a thing rests, keeps the words it goes through, and finds
 * the way to a write that nobody has told. What is done with the things is for trial.ts and trial-away.ts.
 */
import { kindRows } from "../../core/model/kinds";
import type { LiveVm, LiveVolume } from "../../core/model/live";
import { type Operation, operations, rowOf } from "../../core/model/operation";
import { isGone, type Outcome, type Rejection } from "../../core/model/outcome";
import { deepEqual } from "../../core/text/deep-equal";
import { onlyDefined } from "../../core/text/objects";
import type { Dialect, ErrorRule, RecordPlace, Route } from "../../dialect/dialect";
import { leavesOf } from "../../dialect/learn/values";
import { compilePointers, findText } from "../../dialect/pointers";
import { fillRoute, type Ids } from "../../dialect/requests";
import type { ServiceClient } from "../../service/client";
import { listOfKind } from "../observe";
import type { ShownAnswer } from "./answers";
import { diagnoseService } from "./diagnose";
import { absentIsNoList, isNothing } from "./find-list";
import { withWords } from "./fit";
import { type DoctorPorts, look } from "./look";
import type { DoctorReport, OperationFinding, TrialFindings, TriedOperation } from "./report";
import { type Notebook, Notes, type TrialThing } from "./trial-notes";
import { placeThatDiffers } from "./trial-states";
import { type TrialWhereabouts, whereaboutsOf, writesFor } from "./trial-writes";

export type TrialPhase = "running" | "stopped" | "verify_resize";

export interface TrialPorts {
  readonly doctor: DoctorPorts;
  clientIn(dialect: Dialect): ServiceClient;
  readonly notebook: Notebook;
  readonly clock: { now(): number; sleep(ms: number): Promise<void> };
  readonly timing: TrialTiming;
  say(line: string): void;
  /** Once aborted, the trial tries nothing more and deletes what it made. */
  readonly signal: AbortSignal;
}

export interface TrialTiming {
  readonly pollMs: number;
  /** How long a word has to stay unchanged before it counts as a settled state. */
  readonly quietMs: number;
  /** The same while a VM is being made. */
  readonly quietCreateMs: number;
  readonly mostMs: number;
  /** How long a resource is looked for when no answer said that the create was accepted. */
  readonly discoveryMs: number;
}

export interface TrialLook {
  readonly word: string | undefined;
  readonly live: LiveVm | LiveVolume;
}

export interface Watched {
  /** Each word that was seen, in turn. */
  readonly words: readonly string[];
  /** `undefined`: the resource does not exist any more. */
  readonly last: TrialLook | undefined;
  readonly ms: number;
}

export class Stopped extends Error {}

export class Trial {
  readonly notes: Notes;
  readonly #seen: string[] = [];
  readonly vmWords: Record<string, Set<string>> = {};
  readonly volumeWords: Record<string, Set<string>> = {};
  readonly #routes: Partial<Record<TriedOperation, Route>> = {};
  readonly #inVain: Partial<Record<TriedOperation, OperationFinding["tried"]>> = {};
  readonly errors: ErrorRule[] = [];
  /** Volumes that nothing can delete may stay. */
  mayStay = false;
  rules: TrialFindings["rules"] = {};
  limits: TrialFindings["limits"] = {};
  /** What the creates were answered. */
  readonly answers = new Map<Operation, ShownAnswer>();
  /** What is known of its own volumes, by which more can be told. */
  readonly made = { sizes: new Map<string, number>(), data: new Set<string>(), root: new Set<string>() };
  /** What was deleted, or whose delete was accepted, by its kind and id: kinds may share their ids. */
  readonly #deleted = new Set<string>();
  readonly left: string[] = [];
  /** Records of the VM as it ran, stopped and waited. */
  readonly #records = new Map<TrialPhase, unknown>();
  readonly open: string[] = [];
  client: ServiceClient;

  constructor(
    readonly ports: TrialPorts,
    public report: DoctorReport,
  ) {
    this.notes = new Notes(ports.notebook, ports.doctor.baseUrl ?? "");
    this.client = this.#watcher();
  }

  findings(): TrialFindings {
    const lists = (words: Readonly<Record<string, Set<string>>>): Record<string, readonly string[]> =>
      Object.fromEntries(Object.entries(words).map(([phase, all]) => [phase, [...all]]));
    return {
      seen: this.#seen,
      states: { vm: lists(this.vmWords), volume: lists(this.volumeWords) },
      routes: this.#routes,
      inVain: this.#inVain,
      errors: this.errors,
      rules: this.rules,
      limits: this.limits,
      made: this.notes.fates,
      left: [...new Set(this.left)],
      open: this.open,
    };
  }

  say(line: string): void {
    this.#seen.push(line);
    this.ports.say(line);
  }

  /** Looks at everything again, now that there is something to look at. */
  async lookAgain(): Promise<void> {
    const { dialect } = this.report;
    const notAgain = new Set(
      this.report.operations.flatMap(({ operation, verdict, tried }) =>
        verdict === "found" || tried.length === 0 ? [] : [operation],
      ),
    );
    const idsOf = (kind: TrialThing["kind"]): readonly string[] =>
      this.notes.made.flatMap((one) => (one.kind === kind && one.id !== undefined ? [one.id] : []));
    const volumes = idsOf("volume");
    const [[volume], [group]] = [volumes, idsOf("group")];
    const known = { volume, volumes, group };
    const again = await diagnoseService(this.ports.doctor, dialect, {
      none: new Set(this.report.operations.flatMap(({ operation, isSaid }) => (isSaid === true ? [operation] : []))),
      notAgain,
      known,
      answers: this.answers,
      base: this.report.base,
      emptied: this.report.emptied,
      made: this.made,
    });
    if (again.operations.length === 0) return;
    // Operations that were found or missing before keep their verdict.
    const operations = again.operations.map((finding) => {
      const earlier = this.report.operations.find(({ operation }) => operation === finding.operation);
      return finding.verdict === "found" || earlier === undefined || earlier.tried.length === 0 ? finding : earlier;
    });
    this.report = {
      ...again,
      operations,
      given: this.report.given,
      ...onlyDefined({ authorization: this.report.authorization, refusal: this.report.refusal }),
      records: again.records.map((record) => {
        const earlier = this.report.records.find((one) => one.record === record.record);
        // Learnt by an earlier look, so the dialect says it now; it counts as learnt all the same.
        return {
          ...record,
          fields: record.fields.map((field) => {
            const known = earlier?.fields.find((one) => one.field === field.field && one.learnt === true);
            return known === undefined ? field : { ...known, ...field, learnt: true as const };
          }),
        };
      }),
    };
    this.client = this.#watcher();
  }

  /** The id that the answer to a create of the trial's own shows: the text in it at which the resource is found. */
  async idIn(kind: "volume" | "group", body: unknown, name: string, askedAt: number): Promise<string | undefined> {
    const { dialect } = this.report;
    const said = findText(body, compilePointers(dialect.records[kind].id));
    const leaves = leavesOf(body).flatMap(({ value, names: [key = ""] }) => {
      const text = typeof value === "number" ? String(value) : value;
      return typeof text === "string" && text !== name && /^[^\s]{1,255}$/.test(text) ? [{ text, key }] : [];
    });
    const isNamedSo = ({ key }: { readonly key: string }): boolean => /(id|uuid|uid|ref|key|urn|self|href)$/.test(key);
    const texts = [...leaves.filter(isNamedSo), ...leaves.filter((leaf) => !isNamedSo(leaf))].map(({ text }) => text);
    const candidates = [...new Set([...(said == null ? [] : [said]), ...texts])].slice(0, 12);
    for (;;) {
      for (const id of candidates) if (await this.#isFound(kind, id, name)) return id;
      // A resource may be shown a moment after it was accepted.
      if (candidates.length === 0 || this.ports.clock.now() - askedAt > this.ports.timing.discoveryMs) return undefined;
      await this.#wait();
    }
  }

  /** Whether what was just made has this id, by the operation of the contract that reads it. */
  async #isFound(kind: "volume" | "group", id: string, name: string): Promise<boolean> {
    const operation = readOfMade[kind];
    const path = operations[operation].path.replace("{id}", () => encodeURIComponent(id));
    const { outcome, answer } = await this.ports.doctor.probe({ operation, method: "GET", path });
    return outcome.status === "accepted" && (operation === "group.rule.list" || answer?.text.includes(name) === true);
  }

  isDeleted(kind: TrialThing["kind"], id: string): boolean {
    return this.#deleted.has(`${kind} ${id}`);
  }

  markDeleted(kind: TrialThing["kind"], id: string): void {
    this.#deleted.add(`${kind} ${id}`);
  }

  /** Whether one of the notes is about it. */
  isNoted(kind: TrialThing["kind"], id: string): boolean {
    return this.notes.made.some((one) => one.kind === kind && one.id === id);
  }

  thing(name: string): TrialThing | undefined {
    return this.notes.made.find((thing) => thing.name === name);
  }

  /** The ids of what was asked for, by the names that nothing else has. */
  async find(): Promise<void> {
    const { clock, timing } = this.ports;
    for (;;) {
      await this.lookAgain();
      const wanted = this.notes.made.filter(({ id }) => id === undefined);
      for (const thing of wanted) {
        // A name may be there twice, and each of the notes is about one of them.
        const id = this.idsNamed(thing).find(
          (one) => !this.isNoted(thing.kind, one) && !this.isDeleted(thing.kind, one),
        );
        if (id !== undefined) this.notes.note(thing, { id });
      }
      const missing = this.notes.made.filter(({ id, kind }) => id === undefined && this.canList(kind));
      const isLate = missing.every(({ askedAt }) => clock.now() - askedAt > timing.discoveryMs);
      if (missing.length === 0 || isLate) return;
      await this.#wait();
    }
  }

  canList(kind: TrialThing["kind"]): boolean {
    const operation = `${kind}.list` as const;
    return (
      this.report.emptied.has(operation) ||
      this.report.operations.some((one) => one.operation === operation && one.verdict === "found")
    );
  }

  idsNamed({ kind, name }: TrialThing): readonly string[] {
    const places = compilePointers(this.report.dialect.records[kind].id);
    return (this.report.samples.get(kind) ?? []).flatMap((record) =>
      name !== undefined && leavesOf(record).some(({ value }) => value === name)
        ? (findText(record, places) ?? [])
        : [],
    );
  }

  goOn(): void {
    if (this.ports.signal.aborted) throw new Stopped();
  }

  async #wait(times = 1): Promise<void> {
    await this.ports.clock.sleep(this.ports.timing.pollMs * times);
  }

  /** `undefined`: the service shows that it does not exist. Throws when nothing can be told. */
  async look(kind: "vm" | "volume", id: string): Promise<TrialLook | undefined> {
    const byItself = kind === "volume" || this.client.can.readsOneVm;
    const ask = (): Promise<Outcome<LiveVm | LiveVolume>> =>
      byItself ? (kind === "vm" ? this.client.getVm(id) : this.client.getVolume(id)) : this.#inList(id);
    let outcome = await ask();
    // A read that breaks off, or that the service has no time for, says nothing; it is asked again for a while.
    for (let again = 0; again < 6 && !isDecided(outcome); again++) {
      await this.#wait(2 ** again);
      outcome = await ask();
    }
    if (outcome.status === "accepted") return { word: outcome.value.status, live: outcome.value };
    if (isGone(outcome)) return undefined;
    if (byItself && outcome.status === "rejected") {
      const listed = await this.isListed(kind, id);
      const isAway = listed === false || (listed === undefined && this.isDeleted(kind, id) && isAbsent(outcome));
      if (isAway && isAbsent(outcome)) this.#goneAs(outcome);
      if (isAway) return undefined;
    }
    throw new TrialProblem(`the ${nounOf(kind)} of the trial cannot be read: ${wordsOf(outcome)}`);
  }

  /** What a read answers about the trial's own, once it is gone, means "not found". */
  #goneAs({ httpStatus: status }: Rejection): void {
    if (status === undefined || this.errors.some((rule) => rule.is === "not_found" && rule.status === status)) return;
    this.errors.push({ is: "not_found", status });
    this.say(`What is gone is answered with ${status}.`);
  }

  /** Sends what a resource that was just made may refuse for a moment, or what may not have arrived. */
  async persist<T>(send: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    let outcome = await send();
    for (let again = 0; again < 4 && isBusy(outcome); again++) {
      await this.#wait(2 ** again);
      outcome = await send();
    }
    return outcome;
  }

  /** Looks until it is so, for as long as a word has to stay unchanged. */
  async until(isSo: () => Promise<boolean>): Promise<boolean> {
    const { clock, timing } = this.ports;
    for (const start = clock.now(); ; await this.#wait()) {
      if (await isSo()) return true;
      if (clock.now() - start > timing.quietMs) return false;
    }
  }

  async #inList(id: string): Promise<Outcome<LiveVm>> {
    const listed = await this.#orNothing("vm.list", () => this.client.listVms());
    if (listed.status !== "accepted") return listed;
    const found = listed.value.find((one) => one.id === id);
    return found === undefined
      ? { status: "rejected", condition: "not_found", message: "it is in no list" }
      : { status: "accepted", value: found };
  }

  /** Waits until the resource has settled: at a word that means so, or at a word that does not change any more. */
  async settle(
    kind: "vm" | "volume",
    id: string,
    isRest: (look: TrialLook) => boolean,
    quietMs = this.ports.timing.quietMs,
  ): Promise<Watched> {
    const { clock, timing } = this.ports;
    const start = clock.now();
    const words: string[] = [];
    let since = start;
    for (;;) {
      const look = await this.look(kind, id);
      const now = clock.now();
      if (look?.word !== undefined && look.word !== words.at(-1)) {
        words.push(look.word);
        since = now;
      }
      // A word that speaks of something under way is given longer to change.
      const patience = look?.word !== undefined && isOfProgress(look) ? quietMs * 12 : quietMs;
      const isOver = look === undefined || isRest(look) || now - since >= patience || now - start >= timing.mostMs;
      if (isOver) return { words, last: look, ms: now - start };
      await this.#wait();
    }
  }

  /** A volume that is not on its way: by a word that is known, since any other may be one of progress. */
  isReady({ live, word }: TrialLook): boolean {
    if (isLiveVm(live) || live.changing === true) return false;
    const ready = [...(this.volumeWords["ready"] ?? []), ...this.report.dialect.states.volume.ready];
    return word === undefined || restful.test(word) || ready.some((one) => one.toLowerCase() === word.toLowerCase());
  }

  /** Each word has one meaning: one at which something rested is none of progress. */
  mean(words: Record<string, Set<string>>, phase: string, word: string | undefined): void {
    if (word === undefined || (phase === "changing" && words["ready"]?.has(word) === true)) return;
    if (phase === "ready") words["changing"]?.delete(word);
    words[phase] = new Set([...(words[phase] ?? []), word]);
  }

  onTheWay(words: Record<string, Set<string>>, seen: readonly string[], rest: readonly (string | undefined)[]): void {
    for (const word of seen) if (!rest.includes(word)) this.mean(words, "changing", word);
  }

  wordFor(phase: TrialPhase): string | undefined {
    return [...(this.vmWords[phase] ?? [])].at(-1);
  }

  /** Keeps how the VM shows itself, and whether that tells its states apart: if not, a neighbour's value may. */
  async keep(phase: TrialPhase, id: string): Promise<boolean> {
    await this.lookAgain();
    const places = compilePointers(this.report.dialect.records.vm.id);
    const record = this.report.samples.get("vm")?.find((one) => findText(one, places) === id);
    if (record === undefined) return false;
    this.#records.set(phase, record);
    const told = placeThatDiffers([...this.#records.values()], this.report.dialect.records.vm.status);
    if (told === undefined) return false;
    if (told.place !== undefined) this.#lookForStatusAt(told.place);
    [...this.#records.keys()].forEach((known, index) => {
      const word = told.words[index];
      if (word === undefined) return;
      if (told.place !== undefined) delete this.vmWords[known];
      this.mean(this.vmWords, known, word);
      // Each word has one meaning.
      this.vmWords["changing"]?.delete(word);
    });
    this.client = this.#watcher();
    return true;
  }

  #lookForStatusAt(place: RecordPlace): void {
    const { report } = this;
    const { records } = report.dialect;
    delete this.vmWords["changing"];
    this.report = {
      ...report,
      dialect: { ...report.dialect, records: { ...records, vm: { ...records.vm, status: [place] } } },
      records: report.records.map((finding) =>
        finding.record !== "vm"
          ? finding
          : {
              ...finding,
              fields: finding.fields.map((field) =>
                field.field === "status" ? { field: "status", place, learnt: true as const } : field,
              ),
            },
      ),
    };
  }

  /** A client that knows the words learnt so far, and looks at what is gone as well: how it goes is to be learnt. */
  #watcher(): ServiceClient {
    const { dialect } = this.report;
    const { vm, volume } = dialect.states;
    const words = Object.fromEntries(Object.entries(this.vmWords).map(([phase, all]) => [phase, [...all]]));
    return this.ports.clientIn({
      ...dialect,
      states: { ...dialect.states, vm: { ...withWords(vm, words), gone: [] }, volume: { ...volume, gone: [] } },
    });
  }

  /** The disks that came with the VM and outlive it: those that it shows, and those that say that they hang on it. */
  async noteDisks(live: LiveVm | LiveVolume | undefined): Promise<void> {
    if (live === undefined || !isLiveVm(live)) return;
    const listed = this.client.can.canFindCreated("volume")
      ? await this.#orNothing("volume.list", () => this.client.listVolumes())
      : undefined;
    const hanging =
      listed?.status === "accepted" ? listed.value.filter(({ attachedTo }) => attachedTo === live.id) : [];
    const shown = (live.volumes ?? []).flatMap(({ id, root }) => (root === true ? [] : [id]));
    for (const id of new Set([...shown, ...hanging.map((volume) => volume.id)]))
      if (!this.made.root.has(id) && !this.isNoted("volume", id))
        this.notes.add({ kind: "volume", id, askedAt: this.ports.clock.now(), isTaken: true });
  }

  /** Tells the disks of its VM apart by their sizes: data was asked for with 1 GB, which is no size of a root disk. */
  async tellDisks(live: LiveVm | LiveVolume | undefined): Promise<void> {
    if (live === undefined || !isLiveVm(live)) return;
    for (const { id } of live.volumes ?? []) {
      const shown = await this.client.getVolume(id);
      if (shown.status !== "accepted" || shown.value.sizeGb === undefined) continue;
      (shown.value.sizeGb <= 1 ? this.made.data : this.made.root).add(id);
    }
  }

  /** `undefined`: there is no list that could tell. */
  async isListed(kind: TrialThing["kind"], id: string): Promise<boolean | undefined> {
    return (await this.listed(kind))?.some((one) => one.id === id);
  }

  /** `undefined`: there is no such list, or it cannot be read. */
  async listed(
    kind: TrialThing["kind"],
  ): Promise<readonly { readonly id: string; readonly name?: string }[] | undefined> {
    if (!this.client.can.canFindCreated(kind)) return undefined;
    const listed = await this.#orNothing<{ readonly id: string; readonly name?: string }>(`${kind}.list`, () =>
      listOfKind(kind, this.client),
    );
    return listed.status === "accepted" ? listed.value : undefined;
  }

  /** A list whose key is left out once there is nothing to show: from then on the dialect says so. */
  async #orNothing<T>(
    operation: `${TrialThing["kind"]}.list`,
    read: () => Promise<Outcome<readonly T[]>>,
  ): Promise<Outcome<readonly T[]>> {
    const listed = await read();
    const { dialect, emptied } = this.report;
    const route = dialect.operations[operation];
    if (listed.status !== "rejected" || listed.condition !== "unreadable" || route === null) return listed;
    const filled = fillRoute(route, {}, dialect);
    if (filled === undefined) return listed;
    if (!isNothing(await look(this.ports.doctor, { operation, method: route.method, ...filled }))) return listed;
    // Where no list was seen yet, its place is still to be learnt.
    const isLearnt = !deepEqual(route.items, rowOf(operation).items);
    const found = isLearnt ? { ...route, items: route.items.map(absentIsNoList) } : route;
    this.report = {
      ...this.report,
      emptied: new Set([...emptied, operation]),
      dialect: { ...dialect, operations: { ...dialect.operations, [operation]: found } },
      operations: this.report.operations.map((one) =>
        one.operation === operation && one.verdict === "found" ? { ...one, route: found } : one,
      ),
    };
    this.client = this.#watcher();
    return { status: "accepted", value: [] };
  }

  /** Finds the first of the usual requests that has the effect. Each is tried only on what the trial made. */
  async tryWrites(
    operation: TriedOperation,
    kind: "vm" | "volume" | "group",
    ids: Ids,
    isDone: () => Promise<boolean>,
  ): Promise<Route | undefined> {
    const tried: { path: string; answer: string }[] = [];
    const { dialect } = this.report;
    // By a person's word there is none.
    if (this.report.operations.some((one) => one.operation === operation && one.isSaid === true)) return undefined;
    for (const route of writesFor(
      operation,
      { ...dialect, operations: { ...dialect.operations, ...this.#routes } },
      this.#whereabouts(kind),
    )) {
      const filled = fillRoute(route, ids, dialect);
      if (filled === undefined) continue;
      const isOwn = route === dialect.operations[operation] || route === this.#routes[operation];
      const send = async (): Promise<Outcome<unknown>> =>
        (await this.ports.doctor.probe({ operation, method: route.method, ...filled })).outcome;
      const outcome = isOwn ? await this.persist(send) : await send();
      if (outcome.status === "accepted" && operation === "volume.delete" && ids.id !== undefined)
        this.markDeleted(kind, ids.id);
      const isRefused = outcome.status === "rejected" || outcome.status === "unavailable";
      if (isRefused || !(await isDone())) {
        tried.push({
          path: `${route.method} ${route.path}`,
          answer: isRefused ? wordsOf(outcome) : "it was accepted, and nothing changed",
        });
        continue;
      }
      if (this.#routes[operation] === undefined) this.say(`${operation} is ${route.method} ${route.path}.`);
      this.#routes[operation] = route;
      return route;
    }
    this.#inVain[operation] = tried;
    return undefined;
  }

  #whereabouts(kind: "vm" | "volume" | "group"): TrialWhereabouts {
    return whereaboutsOf(this.report.dialect, kind);
  }
}

/** The contract's own reads of what a trial makes. */
const readOfMade = { volume: "volume.get", group: "group.rule.list" } as const;

const isDecided = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "accepted" || outcome.status === "rejected";

/** Words with which volumes are at rest. */
const restful =
  /^(available|in[-_ ]?use|ready|online|attached|detached|unattached|free|used|active|idle|enabled|ok|normal|done)$/i;
/** Words that speak of something under way, where nothing is known of them. */
const progress =
  /^(?!running|existing)\w*ing$|^(new|build|queued|busy|maintenance|init|in[-_ ]?progress|locked|transition)$/i;
const isOfProgress = ({ live, word = "" }: TrialLook): boolean =>
  progress.test(word) && (!isLiveVm(live) || live.phase === "changing");

const isAbsent = ({ httpStatus }: Rejection): boolean => httpStatus === 404 || httpStatus === 410;

/** Refused for now, or lost: sent again, nothing is done twice that the trial would notice. */
const isBusy = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "unavailable" ||
  outcome.status === "unknown" ||
  (outcome.status === "rejected" &&
    (busyConditions.has(outcome.condition) || [400, 409, 412, 423, 425].includes(outcome.httpStatus ?? 0)));

const busyConditions: ReadonlySet<string> = new Set([
  "conflict",
  "invalid_state",
  "volume_attached",
  "group_attached",
  "refused",
]);

/** Ends the trial. What it made stays written down. */
export class TrialProblem extends Error {}

export const isLiveVm = (live: LiveVm | LiveVolume | undefined): live is LiveVm => live?.kind === "vm";

export const nounOf = (kind: TrialThing["kind"]): string => kindRows[kind].noun;

export const wordsOf = (outcome: Outcome<unknown>): string =>
  outcome.status === "accepted" ? "it was accepted" : outcome.status === "rejected" ? outcome.message : outcome.reason;

export const secondsOf = (ms: number): string => (ms < 1000 ? "less than a second" : `${Math.round(ms / 1000)} s`);

export const stateWords = (words: readonly string[]): string =>
  words.length === 0 ? "no word for its state" : words.join(", ");
