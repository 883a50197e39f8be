/**
 * What a trial has made, and what it knows of the service and of the words for its states. What its lists show, how it
 * looks at one thing and how it sends its writes stand beside this file; what is done with the things is for trial.ts and
 * away.ts.
 */
import { allOfKind } from "../../../core/model/kinds";
import { type AssumedOperation, isAssumed, type Operation, rowOf } from "../../../core/model/operation";
import { onlyDefined } from "../../../core/text/objects";
import { createAnswerReaders, payloadOf } from "../../../dialect/answers";
import type { Dialect, ErrorRule, RecordPlace, Route } from "../../../dialect/dialect";
import { findRecordIn, recordWithin } from "../../../dialect/learn/items";
import type { Made } from "../../../dialect/learn/place";
import { type Leaf, samePlace } from "../../../dialect/learn/values";
import { compilePointers, findArray, findText, findWord } from "../../../dialect/pointers";
import { fillRoute } from "../../../dialect/requests";
import type { ServiceClient } from "../../../service/client";
import type { ShownAnswer } from "../answers";
import { diagnoseService } from "../diagnose";
import { withMoreWords } from "../fit";
import { look, type SeenAnswer } from "../look";
import {
  type DoctorReport,
  type KnownIds,
  type OperationFinding,
  showsNoRecords,
  type TrialFindings,
  type TriedOperation,
} from "../report";
import { Notes, type TrialThing } from "./notes";
import type { TrialPorts } from "./ports";
import { Stopped } from "./say";
import { type DeletedFlag, placeThatChanged, placeThatDiffers, statesIn } from "./states";

export type TrialPhase = "running" | "stopped" | "verify_resize";

export class Trial {
  readonly notes: Notes;
  readonly #seen: string[] = [];
  /** The words that were seen, by what they mean. */
  readonly words: Readonly<Record<"vm" | "volume", Record<string, Set<string>>>> = { vm: {}, volume: {} };
  readonly #livelyWords = { vm: new Set<string>(), volume: new Set<string>() };
  readonly routes: Partial<Record<TriedOperation, Route>> = {};
  readonly inVain: Partial<Record<TriedOperation, OperationFinding["tried"]>> = {};
  readonly errors: ErrorRule[] = [];
  readonly jobless = new Set<string>();
  /** Volumes that nothing can delete may stay. */
  mayStay = false;
  /** A volume was seen at rest on a VM: only then are the words for volumes at rest known whole. */
  sawAttached = false;
  /** What is taken away stands in the notes of an earlier trial: what its ids name today may be another's. */
  isOfEarlier = false;
  rules: TrialFindings["rules"] = {};
  limits: TrialFindings["limits"] = {};
  /** What the creates were answered. */
  readonly answers = new Map<Operation, ShownAnswer>();
  /** What hangs on its VM just now, by which a list of that is told. */
  hangs: Made["hangs"];
  /** Its volume that was asked to hang on its VM, until that was seen to be over. */
  attached: string | undefined;
  /** What is known of its own volumes, by which more can be told. */
  readonly made = { sizes: new Map<string, number>(), data: new Set<string>(), root: new Set<string>() };
  /** What was deleted, or whose delete was accepted, by its kind and id: kinds may share their ids. */
  readonly #deleted = new Set<string>();
  /** What was listed before this trial made anything, by kind and id: none of it is its own, whatever a list seems to say. */
  readonly others = new Set<string>();
  /** Whose list was seen to leave one out that is there, and how that one was. */
  readonly hidden = new Map<TrialThing["kind"], string>();
  readonly left: string[] = [];
  readonly #readByOwn = new Set<AssumedOperation>();
  /** Records of the VM as it ran, stopped and waited. */
  readonly #records = new Map<TrialPhase, unknown>();
  /** The VM's records as something was under way, which may show the state of one that rests; and as it was built. */
  #busy: readonly unknown[] = [];
  #building: readonly unknown[] = [];
  /** What is left to ask, each once in the end. */
  readonly open: string[] = [];
  /** Why nothing of a kind was made, or lived. */
  readonly lacks = new Map<TrialThing["kind"], string>();
  client: ServiceClient;

  constructor(
    readonly ports: TrialPorts,
    public report: DoctorReport,
    /** Flavors and images as the files name them. */
    readonly wanted: KnownIds["names"] = {},
    readonly sent: NonNullable<Made["sent"]> = {},
  ) {
    this.notes = new Notes(ports.notebook);
    this.client = this.#watcher();
  }

  findings(unproven: TrialFindings["unproven"], isStopped = false): TrialFindings {
    const words = listsOf(this.words.volume);
    const { ready: _, ...others } = words;
    return {
      unproven,
      isStopped,
      seen: this.#seen,
      // Where some words of a rest are named, every other one is waited for: half of them are worse than none.
      states: { vm: listsOf(this.words.vm), volume: this.sawAttached ? words : others },
      routes: this.routes,
      inVain: this.inVain,
      errors: this.errors,
      rules: this.rules,
      limits: this.limits,
      made: this.notes.fates,
      left: [...new Set(this.left)],
      open: [...new Set(this.open)],
    };
  }

  say(line: string): void {
    this.#seen.push(line);
    this.ports.say(line);
  }

  /** Nothing of the kind could be made, or what was made did not live. */
  lack(kind: TrialThing["kind"], why: string): void {
    this.open.push(why);
    this.lacks.set(kind, this.lacks.get(kind) ?? why);
  }

  /** Looks at everything again, now that there is something to look at. */
  async lookAgain(): Promise<void> {
    const { dialect } = this.report;
    const idsOf = (kind: TrialThing["kind"]): readonly string[] =>
      this.notes.made.flatMap((one) => (one.kind === kind && one.id !== undefined ? [one.id] : []));
    const volumes = idsOf("volume");
    const groups = idsOf("group");
    const namesOf = (kind: TrialThing["kind"]): readonly string[] =>
      this.notes.made.flatMap((one) => (one.kind === kind ? (one.name ?? []) : []));
    const names = { ...this.wanted, vm: namesOf("vm"), volume: namesOf("volume"), group: namesOf("group") };
    const [vm] = idsOf("vm");
    const known = { ...onlyDefined({ vm }), volume: volumes[0], volumes, group: groups[0], groups, names };
    // How one is read by its id is looked for once more with an own id: another may be somebody else's.
    const reads = (["vm", "group"] as const)
      .filter((kind) => idsOf(kind).length > 0)
      .map((kind) => `${kind}.get` as const)
      .filter((operation) => !this.#readByOwn.has(operation));
    for (const operation of reads) this.#readByOwn.add(operation);
    const isOver = ({ operation, verdict, tried }: OperationFinding): boolean =>
      verdict !== "found" && tried.length > 0 && !reads.some((one) => one === operation);
    const notAgain = new Set(this.report.operations.filter(isOver).map(({ operation }) => operation));
    const again = await diagnoseService(this.ports.doctor, dialect, {
      none: new Set(this.report.operations.flatMap(({ operation, isSaid }) => (isSaid === true ? [operation] : []))),
      notAgain,
      known,
      answers: this.answers,
      base: this.report.base,
      emptied: this.report.emptied,
      made: { ...this.made, sent: this.sent, hangs: this.hangs, free: this.#free() },
    });
    if (again.operations.length === 0) return;
    // A list that was long once and could not be followed is a question, however short it is at the end.
    const open = again.open.filter((line) => {
      // With another length it is the same question.
      const [list] = /^operations\.[\w.]+\.pagination: the list at \S+/.exec(line) ?? [];
      if (list !== undefined && !this.open.some((one) => one.startsWith(list))) this.open.push(line);
      return list === undefined;
    });
    // Operations that were found or missing before keep their verdict.
    const operations = again.operations.map((finding) => {
      const earlier = this.report.operations.find(({ operation }) => operation === finding.operation);
      const isNew = earlier === undefined || earlier.tried.length === 0;
      // What was unclear before anything of it was known is told now.
      const isTold = earlier?.verdict === "unclear" && reads.some((one) => one === finding.operation);
      return finding.verdict === "found" || isNew || isTold || showsNoRecords(finding) ? finding : earlier;
    });
    this.report = {
      ...again,
      operations,
      open,
      given: this.report.given,
      ...onlyDefined({ authorization: this.report.authorization, refusal: this.report.refusal }),
      // What is not there any more was seen all the same.
      samples: new Map([...this.report.samples, ...again.samples]),
      records: mergedFindings(this.report.records, again.records),
    };
    this.client = this.#watcher();
  }

  /** The same while something hangs on the VM: a list that is apart may show it. */
  async lookAtHanging(vm: string, volume?: string): Promise<void> {
    this.hangs = { vm, ...onlyDefined({ volume }) };
    await this.lookAgain();
    this.hangs = undefined;
    const { attachments } = this.report.dialect;
    if (attachments !== undefined && volume !== undefined)
      this.say(`What hangs on what is listed at ${attachments.path}.`);
  }

  /** Volumes without a name came with the VM. */
  #free(): ReadonlySet<string> {
    return new Set(
      allOfKind(this.notes.made, "volume").flatMap(({ id, name }) =>
        id === undefined || name === undefined || id === this.attached ? [] : [id],
      ),
    );
  }

  isDeleted(kind: TrialThing["kind"], id: string): boolean {
    return this.#deleted.has(`${kind} ${id}`);
  }

  markDeleted(kind: TrialThing["kind"], id: string): void {
    this.#deleted.add(`${kind} ${id}`);
  }

  isOfOthers(kind: TrialThing["kind"], id: string): boolean {
    return this.others.has(`${kind} ${id}`);
  }

  /** Whether one of the notes is about it. */
  isNoted(kind: TrialThing["kind"], id: string): boolean {
    return this.notes.made.some((one) => one.kind === kind && one.id === id);
  }

  thing(name: string): TrialThing | undefined {
    return this.notes.made.find((thing) => thing.name === name);
  }

  goOn(): void {
    if (this.ports.signal.aborted) throw new Stopped();
  }

  async wait(times = 1): Promise<void> {
    await this.ports.clock.sleep(this.ports.timing.pollMs * times);
  }

  /** What is known of the service from now on. */
  learnt(report: DoctorReport): void {
    this.report = report;
    this.client = this.#watcher();
  }

  /** How the operation is carried out from now on. */
  learnRoute(operation: TriedOperation, route: Route): void {
    this.learn({ operations: { ...this.report.dialect.operations, [operation]: route } });
  }

  /** What the dialect says from now on. */
  learn(more: Partial<Pick<Dialect, "wait" | "fingerprint" | "operations" | "attachments">>): void {
    this.learnt({ ...this.report, dialect: { ...this.report.dialect, ...more } });
  }

  /**
   * Each word has one meaning, in whatever letters: one at which something rested is none of progress, and none for what
   * is gone.
   */
  mean(words: Record<string, Set<string>>, phase: string, word: string | undefined): void {
    if (word === undefined) return;
    const isSame = (one: string): boolean => one.toLowerCase() === word.toLowerCase();
    const isAmong = (all: ReadonlySet<string> = new Set()): boolean => [...all].some(isSame);
    const takeFrom = (other: string): void => {
      words[other] = new Set([...(words[other] ?? [])].filter((one) => !isSame(one)));
    };
    const isOfRest = Object.entries(words).some(([other, all]) => !passing.has(other) && isAmong(all));
    if ((phase === "gone" && isOfRest) || (phase === "changing" && (isOfRest || isAmong(words["gone"])))) return;
    if (phase !== "changing" && isAmong(words["changing"])) takeFrom("changing");
    if (!passing.has(phase) && isAmong(words["gone"])) takeFrom("gone");
    if (!isAmong(words[phase])) words[phase] = new Set([...(words[phase] ?? []), word]);
  }

  /** Words of one that lives, between one rest and the next: none of them says that another one is gone. */
  onTheWay(kind: "vm" | "volume", seen: readonly string[], rest: readonly (string | undefined)[]): void {
    for (const word of seen.filter((one) => !rest.includes(one))) {
      this.#livelyWords[kind].add(word);
      this.words[kind]["gone"]?.delete(word);
      this.mean(this.words[kind], "changing", word);
    }
  }

  /** Whether one that lives showed this word on its way. */
  isLively(kind: "vm" | "volume", word: string | undefined): boolean {
    return word !== undefined && this.#livelyWords[kind].has(word);
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
    const { status, flavor } = this.report.dialect.records.vm;
    const flavors = new Set(this.wanted?.flavor);
    const isFlavor = ({ place, value }: Leaf): boolean =>
      flavors.has(String(value)) || flavor.some((one) => samePlace(one, place));
    const kept = [...this.#records.values()];
    // The last record of one that is built is that of one that runs.
    const running = statesIn(this.#records.get("running"));
    const building = this.#building.filter((one) => statesIn(one) !== running);
    const told =
      placeThatDiffers(kept, status, [...building, ...this.#busy], isFlavor) ??
      placeThatDiffers(kept, status, this.#busy, isFlavor) ??
      placeThatDiffers(kept, status, [], isFlavor);
    // One that is told from nothing may be none that waits.
    if (told === undefined && phase === "verify_resize") this.#records.delete(phase);
    if (told === undefined) return false;
    if (told.place !== undefined) this.lookForAt("vm", "status", told.place);
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

  lookForAt(kind: "vm" | "volume", field: "status" | "flavor", place: RecordPlace): void {
    const { report } = this;
    const { records } = report.dialect;
    if (field === "status") delete this.words[kind]["changing"];
    const fieldsOf = ({ fields }: DoctorReport["records"][number]) =>
      fields.map((one) => (one.field === field ? { field, place, learnt: true as const } : one));
    this.learnt({
      ...report,
      dialect: { ...report.dialect, records: { ...records, [kind]: { ...records[kind], [field]: [place] } } },
      records: report.records.map((one) => (one.record === kind ? { ...one, fields: fieldsOf(one) } : one)),
    });
  }

  /** A state that does not change when one is deleted is read together with the field that does. */
  tellDeletedBy(kind: "vm" | "volume", { place, kept, deleted }: DeletedFlag, word: string, record: unknown): boolean {
    const places = this.report.dialect.records[kind].status;
    const status = places.find((one) => findWord(record, compilePointers([one])) === word);
    const words = this.words[kind];
    const at = typeof status === "string" ? [status] : status?.join;
    if (at === undefined || at.length > 4) return false;
    const before = Object.entries(words).map(([phase, all]) => [phase, [...all]] as const);
    this.lookForAt(kind, "status", { join: [...at, place] });
    const asKept = (one: string): string => (kept === undefined ? one : `${one}/${kept}`);
    for (const [phase, all] of before) words[phase] = new Set(all.map(asKept));
    // A VM at rest is said to run or to be stopped, and a volume to be ready.
    if (words === this.words.volume) this.mean(words, "ready", asKept(word));
    const atRest = before.flatMap(([phase, all]) => (phase === "changing" ? [] : all));
    for (const one of new Set([word, ...atRest])) this.mean(words, "gone", `${one}/${deleted}`);
    this.client = this.#watcher();
    return true;
  }

  /** Keeps how the VM shows itself right after something was asked of it. */
  async keepBusy(id: string): Promise<void> {
    this.#busy = [(await this.shownNow("vm", id)).record];
  }

  /** Whether the VM showed this word as it was built. */
  isPassing(word: string): boolean {
    const places = compilePointers(this.report.dialect.records.vm.status);
    return this.#building.some((record) => findWord(record, places) === word);
  }

  /** Keeps each way in which the VM shows itself while it is built. */
  keepBuilding(record: unknown): void {
    const [last] = this.#building.slice(-1);
    if (record === undefined || (last !== undefined && statesIn(last) === statesIn(record))) return;
    this.#building = [...this.#building, record].slice(-mostMoments);
  }

  /** The record of an own one as it is just now, by itself or in its list, and the headers of the answer. */
  async shownNow(
    kind: TrialThing["kind"],
    id: string,
  ): Promise<{ readonly record?: unknown; readonly headers: SeenAnswer["headers"]; readonly location?: string }> {
    const { dialect } = this.report;
    const single = `${kind}.get` as const;
    const byItself = isAssumed(single) ? dialect.operations[single] : rowOf(single);
    const route = byItself ?? dialect.operations[`${kind}.list`];
    const filled = route === null ? undefined : fillRoute(route, { id }, dialect);
    if (route === null || filled === undefined) return { headers: {} };
    const operation = byItself === null ? (`${kind}.list` as const) : single;
    const { body, ...seen } = await look(this.ports.doctor, { operation, method: route.method, ...filled });
    const { headers, location } = seen;
    const idAt = compilePointers(dialect.records[kind].id);
    // The whole of it, where the id stands deeper in the record.
    const held = createAnswerReaders(dialect).payload(single, body);
    const own = recordWithin(held, (one) => findText(one, idAt) === id) ?? findRecordIn(body, id);
    if (byItself !== null) return { record: own?.record, headers, ...onlyDefined({ location }) };
    const items = dialect.operations[`${kind}.list`]?.items ?? [];
    const listed = findArray(payloadOf(body), compilePointers(items));
    return { record: listed?.find((one) => findText(one, idAt) === id), headers };
  }

  /** What a resize alone has changed in the VM's record is its flavor, where no list of flavors told it. */
  tellFlavor(): void {
    const [before, after] = [this.#records.get("running"), this.#records.get("verify_resize")];
    const learnt = new Map(this.report.records.map(({ record, fields }) => [record, fields]));
    const isKnown = learnt.get("vm")?.some(({ field, place }) => field === "flavor" && place !== undefined) === true;
    const place = isKnown || before === undefined || after === undefined ? undefined : placeThatChanged(before, after);
    if (place !== undefined) this.lookForAt("vm", "flavor", place);
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
    // One that was given and cannot be read there is read from its list until a person says where it is.
    const isUnread = this.report.operations.some(
      ({ operation, verdict, tried }) => operation === "vm.get" && verdict === "missing" && tried.length > 0,
    );
    return this.ports.clientIn({
      ...dialect,
      operations: isUnread ? { ...dialect.operations, "vm.get": null } : dialect.operations,
      states: { ...dialect.states, vm: { ...withMoreWords(vm, words), gone: [] }, volume: { ...volume, gone: [] } },
    });
  }

  recordOf(kind: TrialThing["kind"], id: string | undefined): unknown {
    const places = compilePointers(this.report.dialect.records[kind].id);
    return this.report.samples.get(kind)?.find((record) => findText(record, places) === id);
  }
}

/** Of a build that takes long and says how far it is. */
const mostMoments = 12;

type Records = DoctorReport["records"];

/** What an earlier look learnt is said by the dialect now, and counts as learnt all the same. */
function mergedFindings(before: Records, now: Records): Records {
  const earlier = (record: string) => before.find((one) => one.record === record)?.fields ?? [];
  const merged = now.map(({ fields, ...one }) => ({
    ...one,
    fields: [
      ...fields.map((field) => {
        const known = earlier(one.record).find((other) => other.field === field.field && other.learnt === true);
        return known === undefined || field.nowhere === true ? field : { ...known, ...field, learnt: true as const };
      }),
      ...earlier(one.record).filter((other) => fields.every(({ field }) => field !== other.field)),
    ],
  }));
  return [...before.filter(({ record }) => now.every((one) => one.record !== record)), ...merged];
}

const listsOf = (words: Readonly<Record<string, Set<string>>>): Record<string, readonly string[]> =>
  Object.fromEntries(Object.entries(words).map(([phase, all]) => [phase, [...all]]));

/** Meanings that a word keeps only while nothing rests at it. */
const passing: ReadonlySet<string> = new Set(["changing", "gone"]);
