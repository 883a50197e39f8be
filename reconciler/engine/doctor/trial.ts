/**
 * `doctor --trial`: makes two groups, a volume and a VM, walks them through their life, and takes them away again. It
 * learns what reading alone cannot show: the words for each state, what takes its time, what lingers after it was
 * deleted, how refusals sound, and which operations there are to confirm, to revert and to delete with. Everything is
 * written down before it is asked for, and nothing else is ever touched.
 */
import type { NewVm } from "../../core/model/desired";
import type { LiveVm, LiveVolume } from "../../core/model/live";
import { operations } from "../../core/model/operation";
import { type Condition, isGone, type Outcome } from "../../core/model/outcome";
import type { Dialect, ErrorRule, Place, Route } from "../../dialect/dialect";
import { leavesOf } from "../../dialect/learn/values";
import { compilePointers, findText } from "../../dialect/pointers";
import { fillRoute, type Ids } from "../../dialect/requests";
import type { ServiceClient } from "../../service/client";
import { diagnoseService } from "./diagnose";
import { withWords } from "./fit";
import type { DoctorPorts, DoctorRequest } from "./look";
import type { DoctorReport, OperationFinding, TrialFindings, TriedOperation } from "./report";
import { type Made, type Notebook, Notes, trialName } from "./trial-notes";
import { tellApart } from "./trial-states";
import { type Whereabouts, whereaboutsOf, writesFor } from "./trial-writes";

type VmPhase = "running" | "stopped" | "verify_resize";

export interface TrialPorts {
  readonly doctor: DoctorPorts;
  clientIn(dialect: Dialect): ServiceClient;
  readonly notebook: Notebook;
  readonly clock: { now(): number; sleep(ms: number): Promise<void> };
  readonly timing: TrialTiming;
  say(line: string): void;
  /** Once aborted nothing more is tried, and what was made is taken away. */
  readonly signal: AbortSignal;
}

export interface TrialTiming {
  readonly pollMs: number;
  /** How long a word has to stand before it counts as one of rest. */
  readonly quietMs: number;
  /** The same while a VM is being made. */
  readonly quietCreateMs: number;
  readonly mostMs: number;
  /** How long what was asked for is looked for, when no answer said that it was taken. */
  readonly discoveryMs: number;
}

/** What the VM is made from, and which other flavor it is resized to. */
export interface TrialWish {
  readonly vm?: Omit<NewVm, "name">;
  readonly otherFlavor?: string;
}

interface Look {
  readonly word: string | undefined;
  readonly live: LiveVm | LiveVolume;
}

interface Watched {
  /** Each word that was seen, in turn. */
  readonly words: readonly string[];
  /** `undefined`: it is not there any more. */
  readonly last: Look | undefined;
  readonly ms: number;
}

class Stopped extends Error {}

export async function tryOut(
  ports: TrialPorts,
  before: DoctorReport,
  wish: TrialWish,
): Promise<{
  readonly report: DoctorReport;
  readonly findings: TrialFindings;
}> {
  const trial = new Trial(ports, before);
  await trial.takeAway();
  try {
    await trial.walk(wish);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    trial.open.push("the trial was stopped before its end");
  }
  await trial.takeAway();
  return { report: trial.report, findings: trial.findings() };
}

class Trial {
  readonly #notes: Notes;
  readonly #seen: string[] = [];
  readonly #vmWords: Record<string, Set<string>> = {};
  readonly #volumeWords: Record<string, Set<string>> = {};
  readonly #routes: Partial<Record<TriedOperation, Route>> = {};
  readonly #inVain: Partial<Record<TriedOperation, OperationFinding["tried"]>> = {};
  readonly #errors: ErrorRule[] = [];
  readonly #left: string[] = [];
  /** Records of the VM as it ran, stopped and waited. */
  readonly #records = new Map<VmPhase, unknown>();
  readonly open: string[] = [];
  #client: ServiceClient;

  constructor(
    private readonly ports: TrialPorts,
    public report: DoctorReport,
  ) {
    this.#notes = new Notes(ports.notebook, ports.doctor.baseUrl ?? "");
    this.#client = this.#watcher();
  }

  findings(): TrialFindings {
    const lists = (words: Readonly<Record<string, Set<string>>>): Record<string, readonly string[]> =>
      Object.fromEntries(Object.entries(words).map(([phase, all]) => [phase, [...all]]));
    return {
      seen: this.#seen,
      states: { vm: lists(this.#vmWords), volume: lists(this.#volumeWords) },
      routes: this.#routes,
      inVain: this.#inVain,
      errors: this.#errors,
      left: [...new Set(this.#left)],
      open: this.open,
    };
  }

  #say(line: string): void {
    this.#seen.push(line);
    this.ports.say(line);
  }

  /** Looks at everything again, now that there is something to look at. */
  async #lookAgain(): Promise<void> {
    const { dialect } = this.report;
    const notAgain = new Set(
      this.report.operations.flatMap(({ operation, verdict, tried }) =>
        verdict === "found" || tried.length === 0 ? [] : [operation],
      ),
    );
    const idOf = (kind: Made["kind"]) => this.#notes.made.find((one) => one.kind === kind && one.id !== undefined)?.id;
    const [volume, group] = [idOf("volume"), idOf("group")];
    const known = { ...(volume !== undefined && { volume }), ...(group !== undefined && { group }) };
    const again = await diagnoseService(this.ports.doctor, dialect, { notAgain, known });
    if (again.operations.length === 0) return;
    // What was looked for before stays as it was found then.
    const operations = again.operations.map((finding) => {
      const earlier = this.report.operations.find(({ operation }) => operation === finding.operation);
      return finding.verdict === "found" || earlier === undefined || earlier.tried.length === 0 ? finding : earlier;
    });
    this.report = {
      ...again,
      operations,
      given: this.report.given,
      ...(this.report.authorization !== undefined && { authorization: this.report.authorization }),
      ...(this.report.refusal !== undefined && { refusal: this.report.refusal }),
      records: again.records.map((record) => {
        const earlier = this.report.records.find((one) => one.record === record.record);
        // Learnt once already, it is said by the dialect now, and learnt all the same.
        return {
          ...record,
          fields: record.fields.map((field) =>
            earlier?.fields.some((one) => one.field === field.field && one.learnt === true)
              ? { ...field, learnt: true as const }
              : field,
          ),
        };
      }),
    };
    this.#client = this.#watcher();
  }

  async walk({ vm, otherFlavor }: TrialWish): Promise<void> {
    const name = trialName();
    const [first, second] = [await this.#makeGroup(`${name}-a`), await this.#makeGroup(`${name}-b`)];
    const canDelete = await this.#canDeleteVolumes(`${name}-p`);
    const volume = canDelete ? await this.#makeVolume(`${name}-v`) : undefined;
    if (!canDelete && vm !== undefined)
      this.open.push("no VM was made: the data volume that comes with it could not be deleted again");
    if (vm !== undefined && !this.#canList("vm"))
      this.open.push("no VM was made: no answer to a create tells its id, and no list does");
    const machine =
      vm !== undefined && canDelete && this.#canList("vm")
        ? await this.#makeVm({ ...vm, image: this.#imageCalled(vm.image), name })
        : undefined;
    await this.#find();
    if (machine !== undefined)
      await this.#live(name, volume === undefined ? undefined : `${name}-v`, vm?.flavor, otherFlavor);
    if (volume !== undefined) await this.#growVolume(`${name}-v`);
    if (first !== undefined && second !== undefined) await this.#rules(`${name}-a`, `${name}-b`);
  }

  // Making

  async #make(thing: Made, send: () => Promise<Outcome<unknown>>): Promise<Made | undefined> {
    this.#goOn();
    this.#notes.add(thing);
    const outcome = await send();
    if (outcome.status === "rejected" || outcome.status === "unavailable") {
      this.#notes.drop(thing);
      this.open.push(`a ${nounOf(thing.kind)} could not be made: ${wordsOf(outcome)}`);
      return undefined;
    }
    const isTaken = outcome.status === "accepted" || outcome.accepted === true;
    if (!isTaken) return thing;
    const id = outcome.status === "accepted" && hasId(outcome.value) ? outcome.value.id : undefined;
    return this.#notes.note(thing, { isTaken: true, ...(id !== undefined && { id }) });
  }

  #makeGroup(name: string): Promise<Made | undefined> {
    return this.#make({ kind: "group", name, askedAt: this.ports.clock.now() }, () =>
      this.#client.createGroup({ name, description: "made by reconcile doctor --trial", rules: [] }),
    );
  }

  #makeVolume(name: string): Promise<Made | undefined> {
    return this.#make({ kind: "volume", name, askedAt: this.ports.clock.now() }, () =>
      this.#client.createVolume(name, 1),
    );
  }

  /** One volume of 1 GB tells whether any more can be made: what cannot be deleted is paid for until someone does. */
  async #canDeleteVolumes(name: string): Promise<boolean> {
    if ((await this.#makeVolume(name)) === undefined) return false;
    await this.#find();
    const thing = this.#thing(name);
    if (thing?.id === undefined) return false;
    await this.#takeAwayOne(thing);
    return this.#thing(name) === undefined;
  }

  #makeVm(vm: NewVm): Promise<Made | undefined> {
    return this.#make({ kind: "vm", name: vm.name, askedAt: this.ports.clock.now() }, () => this.#client.createVm(vm));
  }

  /** Images are asked for by their ids: a name that the list shows is looked up. */
  #imageCalled(image: string): string {
    const places = compilePointers(this.report.dialect.records.image.id);
    const named = this.report.samples
      .get("image")
      ?.find((record) => leavesOf(record).some(({ value }) => value === image));
    return findText(named, places) ?? image;
  }

  #thing(name: string): Made | undefined {
    return this.#notes.made.find((thing) => thing.name === name);
  }

  /** The ids of what was asked for, by the names that nothing else has. */
  async #find(): Promise<void> {
    const { clock, timing } = this.ports;
    for (;;) {
      await this.#lookAgain();
      const wanted = this.#notes.made.filter(({ id }) => id === undefined);
      for (const thing of wanted) {
        const [id] = this.#idsNamed(thing);
        if (id !== undefined) this.#notes.note(thing, { id });
      }
      const missing = this.#notes.made.filter(({ id, kind }) => id === undefined && this.#canList(kind));
      const isLate = missing.every(({ askedAt }) => clock.now() - askedAt > timing.discoveryMs);
      if (missing.length === 0 || isLate) return;
      await this.#wait();
    }
  }

  #canList(kind: Made["kind"]): boolean {
    return this.report.operations.some((one) => one.operation === `${kind}.list` && one.verdict === "found");
  }

  #idsNamed({ kind, name }: Made): readonly string[] {
    const places = compilePointers(this.report.dialect.records[kind].id);
    return (this.report.samples.get(kind) ?? []).flatMap((record) =>
      name !== undefined && leavesOf(record).some(({ value }) => value === name)
        ? (findText(record, places) ?? [])
        : [],
    );
  }

  // Watching

  #goOn(): void {
    if (this.ports.signal.aborted) throw new Stopped();
  }

  async #wait(): Promise<void> {
    await this.ports.clock.sleep(this.ports.timing.pollMs);
  }

  /** `undefined`: it is shown that it is not there. Throws when nothing can be told. */
  async #look(kind: "vm" | "volume", id: string): Promise<Look | undefined> {
    const byItself = kind === "volume" || this.#client.can.readsOneVm;
    const outcome: Outcome<LiveVm | LiveVolume> = byItself
      ? kind === "vm"
        ? await this.#client.getVm(id)
        : await this.#client.getVolume(id)
      : await this.#inList(id);
    if (outcome.status === "accepted") return { word: outcome.value.status, live: outcome.value };
    if (isGone(outcome)) return undefined;
    if (byItself && outcome.status === "rejected") {
      const listed = await this.#isListed(kind, id);
      if (listed === false) return undefined;
    }
    throw new TrialProblem(`the ${nounOf(kind)} of the trial cannot be read: ${wordsOf(outcome)}`);
  }

  async #inList(id: string): Promise<Outcome<LiveVm>> {
    const listed = await this.#client.listVms();
    if (listed.status !== "accepted") return listed;
    const found = listed.value.find((one) => one.id === id);
    return found === undefined
      ? { status: "rejected", condition: "not_found", message: "it is in no list" }
      : { status: "accepted", value: found };
  }

  /** Until it rests: at a word that means rest, or at one that does not change any more. */
  async #settle(
    kind: "vm" | "volume",
    id: string,
    isRest: (look: Look) => boolean,
    quietMs = this.ports.timing.quietMs,
  ): Promise<Watched> {
    const { clock, timing } = this.ports;
    const start = clock.now();
    const words: string[] = [];
    let since = start;
    for (;;) {
      const look = await this.#look(kind, id);
      const now = clock.now();
      if (look?.word !== undefined && look.word !== words.at(-1)) {
        words.push(look.word);
        since = now;
      }
      const isOver = look === undefined || isRest(look) || now - since >= quietMs || now - start >= timing.mostMs;
      if (isOver) return { words, last: look, ms: now - start };
      await this.#wait();
    }
  }

  #mean(words: Record<string, Set<string>>, phase: string, word: string | undefined): void {
    if (word !== undefined) words[phase] = new Set([...(words[phase] ?? []), word]);
  }

  #onTheWay(words: Record<string, Set<string>>, seen: readonly string[], rest: readonly (string | undefined)[]): void {
    for (const word of seen) if (!rest.includes(word)) this.#mean(words, "changing", word);
  }

  // The life of a VM

  async #live(
    name: string,
    volumeName: string | undefined,
    flavor: string | undefined,
    otherFlavor: string | undefined,
  ): Promise<void> {
    const thing = this.#thing(name);
    if (thing?.id === undefined) {
      this.open.push("the VM was asked for and did not appear in the list");
      return;
    }
    const { id } = thing;
    const made = await this.#settle("vm", id, isSettledVm, this.ports.timing.quietCreateMs);
    this.#noteDisks(made.last?.live);
    if (isLiveVm(made.last?.live) && made.last.live.phase === "failed") {
      this.open.push(`the VM was made and failed (${made.last.word ?? "no word"})`);
      return;
    }
    await this.#keep("running", id);
    const running = made.last?.word;
    this.#say(`A VM was there after ${secondsOf(made.ms)}, by way of ${listed(made.words)}.`);
    const stop = await this.#client.stopVm(id);
    const stopped = await this.#settle(
      "vm",
      id,
      ({ live, word }) => isLiveVm(live) && live.phase === "stopped" && word !== running,
    );
    const rest = [running, stopped.last?.word];
    this.#onTheWay(this.#vmWords, [...made.words, ...stopped.words], rest);
    if (stop.status === "accepted" && (await this.#keep("stopped", id))) {
      const blocks = stopped.words.length < 2 ? "blocks until it has stopped" : "answers before it has stopped";
      this.#say(`Stopped it shows ${this.#wordFor("stopped")}; the call ${blocks}.`);
      await this.#client.startVm(id);
      const started = await this.#settle("vm", id, ({ word }) => word === this.#wordFor("running"));
      this.#onTheWay(this.#vmWords, started.words, [...rest, this.#wordFor("running"), this.#wordFor("stopped")]);
    } else
      this.open.push(
        `states.vm: stopped could not be told from ${running ?? "what it showed before"} (${wordsOf(stop)})`,
      );
    await this.#refused("invalid_state", { operation: "vm.start", method: "POST", path: pathOf("vm.start", id) });
    if (volumeName !== undefined) await this.#attach(id, volumeName);
    if (otherFlavor !== undefined && flavor !== undefined)
      await this.#resize(id, this.#wordFor("running") ?? running, flavor, otherFlavor);
  }

  // Telling states apart

  #wordFor(phase: VmPhase): string | undefined {
    return [...(this.#vmWords[phase] ?? [])].at(-1);
  }

  /** Keeps how the VM shows itself, and whether that tells its states apart: if not, a neighbour's value may. */
  async #keep(phase: VmPhase, id: string): Promise<boolean> {
    await this.#lookAgain();
    const places = compilePointers(this.report.dialect.records.vm.id);
    const record = this.report.samples.get("vm")?.find((one) => findText(one, places) === id);
    if (record === undefined) return false;
    this.#records.set(phase, record);
    const told = tellApart([...this.#records.values()], this.report.dialect.records.vm.status);
    if (told === undefined) return false;
    if (told.place !== undefined) this.#lookForStatusAt(told.place);
    [...this.#records.keys()].forEach((known, index) => {
      const word = told.words[index];
      if (word === undefined) return;
      if (told.place !== undefined) delete this.#vmWords[known];
      this.#mean(this.#vmWords, known, word);
      // One word has one meaning.
      this.#vmWords["changing"]?.delete(word);
    });
    this.#client = this.#watcher();
    return true;
  }

  #lookForStatusAt(place: Place): void {
    const { report } = this;
    const { records } = report.dialect;
    delete this.#vmWords["changing"];
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
    const words = Object.fromEntries(Object.entries(this.#vmWords).map(([phase, all]) => [phase, [...all]]));
    return this.ports.clientIn({
      ...dialect,
      states: { ...dialect.states, vm: { ...withWords(vm, words), gone: [] }, volume: { ...volume, gone: [] } },
    });
  }

  /** The disks that came with the VM and outlive it. */
  #noteDisks(live: LiveVm | LiveVolume | undefined): void {
    if (live === undefined || !isLiveVm(live)) return;
    for (const { id, root } of live.volumes ?? [])
      if (root !== true && !this.#notes.made.some((one) => one.id === id))
        this.#notes.add({ kind: "volume", id, askedAt: this.ports.clock.now(), isTaken: true });
  }

  async #attach(vmId: string, volumeName: string): Promise<void> {
    const id = this.#thing(volumeName)?.id;
    if (id === undefined) return;
    this.#goOn();
    const free = await this.#settle("volume", id, isReadyVolume);
    const attach = await this.#client.attachVolume(id, vmId);
    if (attach.status === "rejected") {
      this.open.push(`the volume could not be attached: ${attach.message}`);
      return;
    }
    const used = await this.#settle(
      "volume",
      id,
      ({ live, word }) => isReadyVolume({ live, word }) && word !== free.last?.word,
    );
    await this.#lookAgain();
    const shown = await this.#look("volume", id);
    const isShown = shown !== undefined && !isLiveVm(shown.live) && shown.live.attachedTo === vmId;
    this.#say(`Attached, a volume shows ${used.last?.word ?? "no word"}${isShown ? " and the VM it hangs on" : ""}.`);
    await this.#refused("volume_attached", {
      operation: "volume.resize",
      method: "POST",
      path: pathOf("volume.resize", id),
      body: { size: "2" },
    });
    await this.#refused("flush_not_confirmed", {
      operation: "volume.detach",
      method: "POST",
      path: operations["volume.detach"].path,
      body: { vm_id: vmId, volume_id: id, flush_confirmed: false },
    });
    // Nobody has mounted it: there is nothing to flush.
    await this.#client.detachVolume(id, vmId, true);
    const freed = await this.#settle(
      "volume",
      id,
      ({ word, live }) => word === free.last?.word && isReadyVolume({ word, live }),
    );
    const rest = [free.last?.word, used.last?.word, freed.last?.word];
    for (const word of rest) this.#mean(this.#volumeWords, "ready", word);
    this.#onTheWay(this.#volumeWords, [...free.words, ...used.words, ...freed.words], rest);
  }

  async #resize(id: string, running: string | undefined, flavor: string, other: string): Promise<void> {
    for (const operation of ["vm.resize.revert", "vm.resize.confirm"] as const) {
      this.#goOn();
      const resize = await this.#client.resizeVm(id, other);
      if (resize.status === "rejected") {
        this.open.push(`${operation}: a resize to ${other} was refused: ${resize.message}`);
        return;
      }
      const waiting = await this.#settle(
        "vm",
        id,
        ({ live, word }) => isLiveVm(live) && live.phase === "verify_resize" && word !== running,
      );
      if (waiting.last === undefined || waiting.last.word === running) {
        this.#say(`A resize is not waited with: the VM shows ${running ?? "no word"} again by itself.`);
        return;
      }
      if (!(await this.#keep("verify_resize", id)))
        this.open.push("states.vm: a resize that waits could not be told from what it showed before");
      const verify = this.#wordFor("verify_resize") ?? waiting.last.word;
      this.#onTheWay(this.#vmWords, waiting.words, [running, verify, waiting.last.word]);
      const route = await this.#tryWrites(operation, "vm", { id }, async () => {
        const after = await this.#settle("vm", id, ({ word }) => word === this.#wordFor("running"));
        return after.last?.word === this.#wordFor("running");
      });
      if (route === undefined) return;
      const { live } = (await this.#look("vm", id)) ?? {};
      if (live !== undefined && isLiveVm(live) && live.flavor !== undefined)
        this.#say(
          `After ${operation} the VM shows the flavor ${live.flavor}${live.flavor === flavor ? ", as before" : ""}.`,
        );
    }
  }

  // A volume by itself, and groups

  async #growVolume(name: string): Promise<void> {
    const id = this.#thing(name)?.id;
    if (id === undefined) return;
    this.#goOn();
    const before = await this.#settle("volume", id, isReadyVolume);
    const grow = await this.#client.resizeVolume(id, 2);
    const after = await this.#settle("volume", id, isReadyVolume);
    this.#mean(this.#volumeWords, "ready", after.last?.word);
    this.#onTheWay(this.#volumeWords, [...before.words, ...after.words], [before.last?.word, after.last?.word]);
    const live = after.last?.live;
    if (grow.status === "accepted" && live !== undefined && !isLiveVm(live))
      this.#say(
        `A volume that was grown to 2 GB shows ${live.sizeGb === undefined ? "no size" : `${live.sizeGb} GB`}.`,
      );
  }

  async #rules(first: string, second: string): Promise<void> {
    const [a, b] = [this.#thing(first)?.id, this.#thing(second)?.id];
    if (a === undefined || b === undefined) return;
    this.#goOn();
    const rule = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", dst_port: "22", remote_group: a } as const;
    const create: DoctorRequest = {
      operation: "group.rule.create",
      method: "POST",
      path: pathOf("group.rule.create", b),
      body: rule,
    };
    const { outcome } = await this.ports.doctor.probe(create);
    if (outcome.status !== "accepted") {
      this.open.push(`a rule could not be made: ${wordsOf(outcome)}`);
      return;
    }
    await this.#refused("rule_exists", create);
    await this.#refusedName(first);
    const before = await this.#ruleIds(b);
    const listed = await this.#client.listRules(b);
    const own =
      listed.status === "accepted" ? listed.value.find(({ remoteGroupId }) => remoteGroupId === a) : undefined;
    if (own === undefined) return;
    await this.#tryWrites("group.rule.delete", "group", { id: b, rule_id: own.id }, async () => {
      const left = await this.#ruleIds(b);
      return before !== undefined && left !== undefined && !left.includes(own.id);
    });
  }

  async #ruleIds(group: string): Promise<readonly string[] | undefined> {
    const listed = await this.#client.listRules(group);
    return listed.status === "accepted" ? listed.value.map(({ id }) => id) : undefined;
  }

  /** A name twice: what is made by it after all is written down first, like anything else. */
  async #refusedName(name: string): Promise<void> {
    const again: Made = { kind: "group", name, askedAt: this.ports.clock.now() };
    this.#notes.add(again);
    const isRefused = await this.#refused("name_taken", {
      operation: "group.create",
      method: "POST",
      path: operations["group.create"].path,
      body: { name },
    });
    if (isRefused) this.#notes.drop(again);
    else await this.#find();
  }

  // What refuses, and what deletes

  /** Whether it was refused. What the service says then gets its meaning, where the dialect gives it none. */
  async #refused(is: Condition, request: DoctorRequest): Promise<boolean> {
    this.#goOn();
    const { outcome } = await this.ports.doctor.probe(request);
    if (outcome.status === "accepted") {
      this.#say(`${request.operation} is not refused where ${is} was to be expected.`);
      return false;
    }
    if (outcome.status !== "rejected") return false;
    const isMeant = outcome.condition === is || (is === "name_taken" && outcome.condition === "conflict");
    const message = telling(outcome.message);
    if (!isMeant && message !== undefined && !this.#errors.some((rule) => rule.is === is))
      this.#errors.push({
        is,
        ...(outcome.httpStatus !== undefined && { status: outcome.httpStatus }),
        message,
      });
    return true;
  }

  /** The first of the usual ways that has the effect; each is tried on what the trial made alone. */
  async #tryWrites(
    operation: TriedOperation,
    kind: "vm" | "volume" | "group",
    ids: Ids,
    isDone: () => Promise<boolean>,
  ): Promise<Route | undefined> {
    const tried: { path: string; answer: string }[] = [];
    const { dialect } = this.report;
    for (const route of writesFor(
      operation,
      { ...dialect, operations: { ...dialect.operations, ...this.#routes } },
      this.#whereabouts(kind),
    )) {
      const filled = fillRoute(route, ids, dialect);
      if (filled === undefined) continue;
      const { outcome } = await this.ports.doctor.probe({ operation, method: route.method, ...filled });
      const isRefused = outcome.status === "rejected" || outcome.status === "unavailable";
      if (isRefused || !(await isDone())) {
        tried.push({
          path: `${route.method} ${route.path}`,
          answer: isRefused ? wordsOf(outcome) : "it was accepted, and nothing changed",
        });
        continue;
      }
      if (this.#routes[operation] === undefined) this.#say(`${operation} is ${route.method} ${route.path}.`);
      this.#routes[operation] = route;
      return route;
    }
    this.#inVain[operation] = tried;
    return undefined;
  }

  #whereabouts(kind: "vm" | "volume" | "group"): Whereabouts {
    return whereaboutsOf(this.report.dialect, kind);
  }

  // Taking away

  /** Everything that the notes name, and nothing else. */
  async takeAway(): Promise<void> {
    if (this.#notes.made.length === 0) return;
    await this.#find();
    for (const kind of ["vm", "volume", "group"] as const)
      for (const thing of this.#notes.made.filter((one) => one.kind === kind).reverse()) await this.#takeAwayOne(thing);
  }

  async #takeAwayOne(thing: Made): Promise<void> {
    // A name may be there twice, if the service lets one be.
    const ids = thing.id === undefined ? this.#idsNamed(thing) : [thing.id];
    if (ids.length === 0 && (thing.isTaken === true || !this.#canList(thing.kind))) {
      this.#left.push(
        `${nounOf(thing.kind)} ${thing.name}: it ${thing.isTaken === true ? "was taken" : "may have been made"}, and no list shows it; look for it by its name`,
      );
      return;
    }
    for (const id of ids) {
      const problem = await this.#deleteOne(thing.kind, id);
      if (problem === undefined) continue;
      this.#left.push(`${nounOf(thing.kind)} ${id}${thing.name === undefined ? "" : ` (${thing.name})`}: ${problem}`);
      return;
    }
    this.#notes.drop(thing);
  }

  /** Why it is there still. */
  async #deleteOne(kind: Made["kind"], id: string): Promise<string | undefined> {
    if (kind === "group") {
      const outcome = await this.#client.deleteGroup(id);
      return outcome.status === "accepted" || isGone(outcome) || (await this.#isListed("group", id)) === false
        ? undefined
        : wordsOf(outcome);
    }
    if (kind === "volume") return this.#deleteVolume(id);
    const before = await this.#look("vm", id);
    if (before === undefined) return undefined;
    this.#noteDisks(before.live);
    const outcome = await this.#client.deleteVm(id, true);
    if (outcome.status === "accepted")
      for (const volume of outcome.value.preservedVolumes ?? [])
        if (!this.#notes.made.some((one) => one.id === volume))
          this.#notes.add({ kind: "volume", id: volume, askedAt: this.ports.clock.now(), isTaken: true });
    return this.#departure("vm", id, before.word, outcome);
  }

  async #deleteVolume(id: string): Promise<string | undefined> {
    const before = await this.#look("volume", id);
    if (before === undefined) return undefined;
    const vm = isLiveVm(before.live) ? undefined : before.live.attachedTo;
    // What names no VM that is there, such as 0, is no attachment.
    if (vm !== undefined && vm !== null && (await this.#isListed("vm", vm)) !== false) {
      // Of a VM that is not the trial's it is not taken off: somebody wants it there.
      if (!this.#notes.made.some((one) => one.id === vm)) return `it hangs on ${vm}, which the trial did not make`;
      await this.#client.detachVolume(id, vm, true);
    }
    let problem: string | undefined = "no way to delete a volume is known";
    await this.#tryWrites("volume.delete", "volume", { id }, async () => {
      problem = await this.#departure("volume", id, before.word, undefined);
      return problem === undefined;
    });
    return problem;
  }

  /** How it goes: at once, or shown for a while, or shown for good under a word that means that it is gone. */
  async #departure(
    kind: "vm" | "volume",
    id: string,
    word: string | undefined,
    asked: Outcome<unknown> | undefined,
  ): Promise<string | undefined> {
    const went = await this.#settle(kind, id, () => false);
    const words = kind === "vm" ? this.#vmWords : this.#volumeWords;
    const last = went.last?.word;
    if (went.last === undefined) {
      for (const one of went.words) if (one !== word) this.#mean(words, "changing", one);
      if (went.words.length > 0)
        this.#say(`A deleted ${nounOf(kind)} is shown for ${secondsOf(went.ms)} more, as ${listed(went.words)}.`);
      return undefined;
    }
    if (last !== undefined && last !== word && (asked === undefined || asked.status === "accepted")) {
      this.#mean(words, "gone", last);
      this.#say(`A deleted ${nounOf(kind)} stays in the list, as ${last}.`);
      return undefined;
    }
    return asked === undefined ? "it is there still" : `it is there still (${wordsOf(asked)})`;
  }

  /** `undefined`: no list can tell. */
  async #isListed(kind: Made["kind"], id: string): Promise<boolean | undefined> {
    const { can } = this.#client;
    if (!can.canFindCreated(kind)) return undefined;
    const listed: Outcome<readonly { readonly id: string }[]> =
      kind === "vm"
        ? await this.#client.listVms()
        : kind === "volume"
          ? await this.#client.listVolumes()
          : await this.#client.listGroups();
    return listed.status === "accepted" ? listed.value.some((one) => one.id === id) : undefined;
  }
}

/** The trial cannot go on; what was made stays written down. */
export class TrialProblem extends Error {}

const isLiveVm = (live: LiveVm | LiveVolume | undefined): live is LiveVm => live?.kind === "vm";
const isSettledVm = ({ live }: Look): boolean =>
  isLiveVm(live) && (live.phase === "running" || live.phase === "failed");
const isReadyVolume = ({ live }: Look): boolean => !isLiveVm(live) && live.changing !== true;

const pathOf = (operation: "vm.start" | "volume.resize" | "group.rule.create", id: string): string =>
  operations[operation].path.replace("{id}", () => encodeURIComponent(id));

const nounOf = (kind: Made["kind"]): string => (kind === "vm" ? "VM" : kind);

const wordsOf = (outcome: Outcome<unknown>): string =>
  outcome.status === "accepted" ? "it was accepted" : outcome.status === "rejected" ? outcome.message : outcome.reason;

const hasId = (value: unknown): value is { readonly id: string } =>
  typeof value === "object" && value !== null && "id" in value && typeof value.id === "string";

const secondsOf = (ms: number): string => (ms < 1000 ? "less than a second" : `${Math.round(ms / 1000)} s`);

const listed = (words: readonly string[]): string => (words.length === 0 ? "no word for its state" : words.join(", "));

/** A message without what is only this once: ids, names, numbers and quotes. */
function telling(message: string): string | undefined {
  const pattern = message
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|trial-[0-9a-f]{6}(-\w+)?|\b(?=\w*\d)[\w-]{6,}\b|\b\d+\b/gi, "*")
    .replaceAll(/(\*[\s,;:]*)+\*/g, "*")
    .trim();
  return pattern.replaceAll(/[*\s]/g, "").length < 6 ? undefined : pattern.slice(0, 200);
}
