/**
 * What a trial has made and what it has seen of it: looks until a thing rests, keeps the words it goes through, and finds
 * the way to a write that nobody has told. What is done with the things is for trial.ts and trial-away.ts.
 */
import { kindRows, ofKind } from "../../core/model/kinds";
import type { LiveVm, LiveVolume } from "../../core/model/live";
import { isAssumed, type Operation, rowOf } from "../../core/model/operation";
import { isGone, type Outcome, type Rejection } from "../../core/model/outcome";
import { deepEqual } from "../../core/text/deep-equal";
import { onlyDefined } from "../../core/text/objects";
import { conditionOfJob } from "../../dialect/conditions";
import type { Dialect, ErrorRule, RecordPlace, Route } from "../../dialect/dialect";
import { leavesOf } from "../../dialect/learn/values";
import { showPlace } from "../../dialect/places";
import { compilePointers, findText } from "../../dialect/pointers";
import { fillRoute, versionShown, withVersion } from "../../dialect/requests";
import type { ServiceClient } from "../../service/client";
import { listOfKind, readOfKind } from "../observe";
import type { ShownAnswer } from "./answers";
import { diagnoseService } from "./diagnose";
import { absentIsNoList, isNothing } from "./find-list";
import { withWords } from "./fit";
import { type DoctorRequest, look } from "./look";
import type { DoctorReport, OperationFinding, TrialFindings, TriedOperation } from "./report";
import { failureOfJob } from "./trial-jobs";
import { Notes, type TrialThing } from "./trial-notes";
import type { TrialPorts } from "./trial-ports";
import { placeThatDiffers } from "./trial-states";
import { asksForVersion, versionsIn } from "./trial-versions";

export type TrialPhase = "running" | "stopped" | "verify_resize";

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

/** What a write is about. */
interface WriteTarget {
  readonly kind: TrialThing["kind"];
  readonly id: string;
}

export class Stopped extends Error {}

export class Trial {
  readonly notes: Notes;
  readonly #seen: string[] = [];
  /** The words that were seen, by what they mean. */
  readonly words: Readonly<Record<"vm" | "volume", Record<string, Set<string>>>> = { vm: {}, volume: {} };
  readonly routes: Partial<Record<TriedOperation, Route>> = {};
  readonly inVain: Partial<Record<TriedOperation, OperationFinding["tried"]>> = {};
  readonly errors: ErrorRule[] = [];
  isJobless = false;
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
    return {
      seen: this.#seen,
      states: { vm: listsOf(this.words.vm), volume: listsOf(this.words.volume) },
      routes: this.routes,
      inVain: this.inVain,
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
    const groups = idsOf("group");
    const namesOf = (kind: TrialThing["kind"]): readonly string[] =>
      this.notes.made.flatMap((one) => (one.kind === kind ? (one.name ?? []) : []));
    const names = { vm: namesOf("vm"), volume: namesOf("volume"), group: namesOf("group") };
    const known = { volume: volumes[0], volumes, group: groups[0], groups, names };
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
    // A list that was long once and could not be followed is a question, however short it is at the end.
    for (const line of again.todo)
      if (/\.pagination: the list at/.test(line) && !this.open.includes(line)) this.open.push(line);
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
      // What is not there any more was seen all the same.
      samples: new Map([...this.report.samples, ...again.samples]),
      records: [...this.report.records, ...again.records].flatMap((record) => {
        if (!again.records.includes(record))
          return again.records.some((one) => one.record === record.record) ? [] : [record];
        const earlier = this.report.records.find((one) => one.record === record.record);
        // Learnt by an earlier look, so the dialect says it now; it counts as learnt all the same.
        return [
          {
            ...record,
            fields: [
              ...record.fields.map((field) => {
                const known = earlier?.fields.find((one) => one.field === field.field && one.learnt === true);
                return known === undefined ? field : { ...known, ...field, learnt: true as const };
              }),
              ...(earlier?.fields ?? []).filter((one) => record.fields.every(({ field }) => field !== one.field)),
            ],
          },
        ];
      }),
    };
    this.client = this.#watcher();
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
      await this.wait();
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

  async wait(times = 1): Promise<void> {
    await this.ports.clock.sleep(this.ports.timing.pollMs * times);
  }

  /** `undefined`: the service shows that it does not exist. Throws when nothing can be told. */
  async look(kind: "vm" | "volume", id: string): Promise<TrialLook | undefined> {
    const byItself = this.client.can.readsOne(kind);
    const ask = (): Promise<Outcome<LiveVm | LiveVolume>> =>
      byItself ? readOfKind(kind, this.client, id) : this.#inList(id);
    let outcome = await ask();
    // A read that breaks off, or that the service has no time for, says nothing; it is asked again for a while.
    for (let again = 0; again < 6 && !isDecided(outcome); again++) {
      await this.wait(2 ** again);
      outcome = await ask();
    }
    if (outcome.status === "accepted") return { word: outcome.value.status, live: outcome.value };
    // What is not found by an id that a list shows is there, and the id is read in a wrong way.
    if (isGone(outcome)) return byItself ? this.#listedAs(kind, id) : undefined;
    if (byItself && outcome.status === "rejected") {
      const listed = await this.isListed(kind, id);
      const isKnown = this.errors.some((rule) => rule.is === "not_found" && rule.status === outcome.httpStatus);
      const wasDeleted = this.isDeleted(kind, id) || this.notes.wasToGo(kind, id);
      const isAway = listed === false || (listed === undefined && (isKnown || wasDeleted) && isAbsent(outcome));
      if (isAway && isAbsent(outcome)) this.#goneAs(outcome);
      if (isAway) return undefined;
    }
    throw new TrialProblem(`the ${nounOf(kind)} of the trial cannot be read: ${wordsOf(outcome)}`);
  }

  async #listedAs(kind: "vm" | "volume", id: string): Promise<TrialLook | undefined> {
    if (!this.client.can.canFindCreated(kind)) return undefined;
    const listed = await this.orNothing<LiveVm | LiveVolume>(`${kind}.list`, () => listOfKind(kind, this.client));
    const live = listed.status === "accepted" ? listed.value.find((one) => one.id === id) : undefined;
    return live === undefined ? undefined : { word: live.status, live };
  }

  /** What a read answers about the trial's own, once it is gone, means "not found". */
  #goneAs({ httpStatus: status }: Rejection): void {
    if (status === undefined || this.errors.some((rule) => rule.is === "not_found" && rule.status === status)) return;
    this.errors.push({ is: "not_found", status });
    this.say(`What is gone is answered with ${status}.`);
  }

  /** What the dialect says from now on. */
  learn(more: Partial<Pick<Dialect, "wait" | "fingerprint" | "operations">>): void {
    this.report = { ...this.report, dialect: { ...this.report.dialect, ...more } };
    this.client = this.#watcher();
  }

  /** Sends a write by itself, with the version that it needs, and waits for its job; ends with the body of the answer. */
  async write(request: DoctorRequest, of?: WriteTarget): Promise<Outcome<unknown>> {
    return this.versioned(async () => {
      const { outcome, body } = await look(this.ports.doctor, await this.#withVersion(request, of));
      const failure = outcome.status === "accepted" ? await failureOfJob(this, body) : undefined;
      if (failure === undefined) return outcome.status === "accepted" ? { ...outcome, value: body } : outcome;
      const condition = conditionOfJob(request.operation, failure, this.report.dialect.errors);
      return { status: "rejected", condition, message: failure };
    });
  }

  /** Where a refusal asks for a version: with each that the records show, until one is taken. */
  async versioned<T>(send: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const first = await send();
    if (!asksForVersion(first) || this.report.dialect.fingerprint !== undefined) return first;
    for (const fingerprint of versionsIn(this.report)) {
      this.learn({ fingerprint });
      const outcome = await send();
      if (asksForVersion(outcome)) continue;
      this.say(
        `A write has to send the version that ${fingerprint.header ?? showPlace(fingerprint.from[0] ?? "")} shows, as ${fingerprint.send}.`,
      );
      return outcome;
    }
    const { fingerprint: _, ...dialect } = this.report.dialect;
    this.report = { ...this.report, dialect };
    this.client = this.#watcher();
    return first;
  }

  async #withVersion(request: DoctorRequest, of: WriteTarget | undefined): Promise<DoctorRequest> {
    const { dialect } = this.report;
    const { fingerprint } = dialect;
    const read = of === undefined ? undefined : (`${of.kind}.get` as const);
    const route = read === undefined ? null : isAssumed(read) ? dialect.operations[read] : rowOf(read);
    const filled = of === undefined || route === null ? undefined : fillRoute(route, { id: of.id }, dialect);
    if (fingerprint === undefined || of === undefined || route === null || filled === undefined) return request;
    const { body, headers } = await look(this.ports.doctor, { operation: `${of.kind}.get`, ...filled });
    const inRecord = leavesOf(body).find(({ place }) =>
      fingerprint.from.some((from) => typeof place === "string" && typeof from === "string" && place.endsWith(from)),
    )?.value;
    const version = inRecord ?? versionShown(fingerprint, body, headers);
    return version === undefined ? request : { ...request, ...withVersion(request, fingerprint.send, String(version)) };
  }

  /** Sends what a resource that was just made may refuse for a moment, or what may not have arrived. */
  async persist<T>(once: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const send = () => this.versioned(once);
    let outcome = await send();
    for (let again = 0; again < 4 && isBusy(outcome); again++) {
      await this.wait(2 ** again);
      outcome = await send();
    }
    return outcome;
  }

  /** Looks until it is so, for as long as a word has to stay unchanged. */
  async until(isSo: () => Promise<boolean>): Promise<boolean> {
    const { clock, timing } = this.ports;
    for (const start = clock.now(); ; await this.wait()) {
      if (await isSo()) return true;
      if (clock.now() - start > timing.quietMs) return false;
    }
  }

  async #inList(id: string): Promise<Outcome<LiveVm>> {
    const listed = await this.orNothing("vm.list", () => this.client.listVms());
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
      await this.wait();
    }
  }

  /** A volume that is not on its way: by a word that is known, since any other may be one of progress. */
  isReady({ live, word }: TrialLook): boolean {
    if (isLiveVm(live) || live.changing === true) return false;
    const ready = [...(this.words.volume["ready"] ?? []), ...this.report.dialect.states.volume.ready];
    return word === undefined || restful.test(word) || ready.some((one) => one.toLowerCase() === word.toLowerCase());
  }

  /** Each word has one meaning: one at which something rested is none of progress, and none for what is gone. */
  mean(words: Record<string, Set<string>>, phase: string, word: string | undefined): void {
    if (word === undefined) return;
    const isOfRest = Object.entries(words).some(([other, all]) => !passing.has(other) && all.has(word));
    const isGone = words["gone"]?.has(word) === true;
    if ((phase === "gone" && isOfRest) || (phase === "changing" && (isOfRest || isGone))) return;
    if (phase !== "changing") words["changing"]?.delete(word);
    if (!passing.has(phase)) words["gone"]?.delete(word);
    words[phase] = new Set([...(words[phase] ?? []), word]);
  }

  onTheWay(words: Record<string, Set<string>>, seen: readonly string[], rest: readonly (string | undefined)[]): void {
    for (const word of seen) if (!rest.includes(word)) this.mean(words, "changing", word);
  }

  wordFor(phase: TrialPhase): string | undefined {
    return [...(this.words.vm[phase] ?? [])].at(-1);
  }

  /** Keeps how the VM shows itself, and whether that tells its states apart: if not, a neighbour's value may. */
  async keep(phase: TrialPhase, id: string): Promise<boolean> {
    await this.lookAgain();
    const record = this.recordOf("vm", id);
    if (record === undefined) return false;
    this.#records.set(phase, record);
    const told = placeThatDiffers([...this.#records.values()], this.report.dialect.records.vm.status);
    if (told === undefined) return false;
    if (told.place !== undefined) this.#lookForStatusAt("vm", told.place);
    [...this.#records.keys()].forEach((known, index) => {
      const word = told.words[index];
      if (word === undefined) return;
      if (told.place !== undefined) delete this.words.vm[known];
      this.mean(this.words.vm, known, word);
      // Each word has one meaning.
      this.words.vm["changing"]?.delete(word);
    });
    this.client = this.#watcher();
    return true;
  }

  #lookForStatusAt(kind: "vm", place: RecordPlace): void {
    const { report } = this;
    const { records } = report.dialect;
    delete this.words[kind]["changing"];
    const fieldsOf = ({ fields }: DoctorReport["records"][number]) =>
      fields.map((one) => (one.field === "status" ? { field: "status", place, learnt: true as const } : one));
    this.report = {
      ...report,
      dialect: { ...report.dialect, records: { ...records, [kind]: { ...records[kind], status: [place] } } },
      records: report.records.map((one) => (one.record === kind ? { ...one, fields: fieldsOf(one) } : one)),
    };
  }

  /** A client in whose dialect the operation has this route. */
  clientWith(operation: TriedOperation, route: Route): ServiceClient {
    const { dialect } = this.report;
    return this.ports.clientIn({ ...dialect, operations: { ...dialect.operations, [operation]: route } });
  }

  /** A client that knows the words learnt so far, and looks at what is gone as well: how it goes is to be learnt. */
  #watcher(): ServiceClient {
    const { dialect } = this.report;
    const { vm, volume } = dialect.states;
    const words = listsOf(this.words.vm);
    return this.ports.clientIn({
      ...dialect,
      states: { ...dialect.states, vm: { ...withWords(vm, words), gone: [] }, volume: { ...volume, gone: [] } },
    });
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
    const listed = await this.orNothing<{ readonly id: string; readonly name?: string }>(`${kind}.list`, () =>
      listOfKind(kind, this.client),
    );
    return listed.status === "accepted" ? listed.value : undefined;
  }

  /** A list whose key is left out once there is nothing to show: from then on the dialect says so. */
  async orNothing<T>(
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

  recordOf(kind: TrialThing["kind"], id: string | undefined): unknown {
    const places = compilePointers(this.report.dialect.records[kind].id);
    return this.report.samples.get(kind)?.find((record) => findText(record, places) === id);
  }
}

const listsOf = (words: Readonly<Record<string, Set<string>>>): Record<string, readonly string[]> =>
  Object.fromEntries(Object.entries(words).map(([phase, all]) => [phase, [...all]]));

/** Meanings that a word keeps only while nothing rests at it. */
const passing: ReadonlySet<string> = new Set(["changing", "gone"]);

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

export const isLiveVm = (live: LiveVm | LiveVolume | undefined): live is LiveVm => ofKind(live, "vm") !== undefined;

export const nounOf = (kind: TrialThing["kind"]): string => kindRows[kind].noun;

export const wordsOf = (outcome: Outcome<unknown>): string =>
  outcome.status === "accepted" ? "it was accepted" : outcome.status === "rejected" ? outcome.message : outcome.reason;

export const secondsOf = (ms: number): string => (ms < 1000 ? "less than a second" : `${Math.round(ms / 1000)} s`);

export const stateWords = (words: readonly string[]): string =>
  words.length === 0 ? "no word for its state" : words.join(", ");
