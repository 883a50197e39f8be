/**
 * `doctor --trial`: makes two groups, a volume and a VM, walks them through their life, and takes them away again. It
 * learns what reading alone cannot show: the words for each state, what takes its time, what lingers after it was
 * deleted, how refusals sound, and which operations there are to confirm, to revert and to delete with. Everything is
 * written down before it is asked for, and nothing else is ever touched.
 */

import type { NewVm } from "../../core/model/desired";
import { operations } from "../../core/model/operation";
import type { Outcome } from "../../core/model/outcome";
import { onlyDefined } from "../../core/text/objects";
import type { ErrorRule } from "../../dialect/dialect";
import { leavesOf } from "../../dialect/learn/values";
import { compilePointers, findText } from "../../dialect/pointers";
import { type DoctorRequest, look } from "./look";
import type { DoctorReport, TrialFindings } from "./report";
import { takeAway, takeAwayOne } from "./trial-away";
import { type TrialThing, trialName } from "./trial-notes";
import {
  isLiveVm,
  nounOf,
  Stopped,
  secondsOf,
  stateWords,
  Trial,
  type TrialLook,
  type TrialPorts,
  wordsOf,
} from "./trial-watch";

/** What the VM is made from, and which other flavor it is resized to. */
export interface TrialWish {
  readonly vm?: Omit<NewVm, "name">;
  readonly otherFlavor?: string;
  /** Volumes may stay, where no way to delete one is found. */
  readonly keepVolume?: true | undefined;
}

export async function tryOut(
  ports: TrialPorts,
  before: DoctorReport,
  wish: TrialWish,
): Promise<{
  readonly report: DoctorReport;
  readonly findings: TrialFindings;
}> {
  const trial = new Trial(ports, before);
  await takeAway(trial);
  if (trial.left.length > 0) {
    trial.open.push("nothing new was made, since what an earlier trial made is there still");
    return { report: trial.report, findings: trial.findings() };
  }
  const walk = new Walk(trial);
  try {
    await walk.walk(wish);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    trial.open.push("the trial was stopped before its end");
  }
  if (wish.keepVolume === true) trial.mayStay = true;
  await takeAway(trial, walk.name);
  return { report: trial.report, findings: trial.findings() };
}

class Walk {
  /** What every name of this trial begins with; nothing else has it. */
  readonly name = trialName();

  constructor(private readonly trial: Trial) {}

  async walk({ vm, otherFlavor, keepVolume }: TrialWish): Promise<void> {
    const { name } = this;
    const [first, second] = [await this.#makeGroup(`${name}-a`), await this.#makeGroup(`${name}-b`)];
    const isKnown = this.trial.report.dialect.operations["volume.delete"] !== null;
    if (!isKnown && keepVolume !== true)
      this.trial.open.push(
        "no volume was made: no way to delete one is known (--allow-trial …,keep-volume permits one that stays)",
      );
    const canDelete =
      isKnown || keepVolume === true ? (await this.#canDeleteVolumes(`${name}-p`)) || keepVolume === true : false;
    const volume = canDelete ? await this.#makeVolume(`${name}-v`) : undefined;
    if (!canDelete && vm !== undefined)
      this.trial.open.push("no VM was made: the data volume that comes with it could not be deleted again");
    if (vm !== undefined && !this.trial.canList("vm"))
      this.trial.open.push("no VM was made: no answer to a create tells its id, and no list does");
    const machine =
      vm !== undefined && canDelete && this.trial.canList("vm")
        ? await this.#makeVm({ ...vm, image: this.#imageCalled(vm.image), name })
        : undefined;
    await this.trial.find();
    if (machine !== undefined)
      await this.#live(name, volume === undefined ? undefined : `${name}-v`, vm?.flavor, otherFlavor);
    if (volume !== undefined) await this.#growVolume(`${name}-v`);
    if (first !== undefined && second !== undefined) await this.#rules(`${name}-a`, `${name}-b`);
  }

  /** Asks for a volume or a group, and learns its id and its record from the answer. */
  async #ask(kind: "volume" | "group", name: string, body: object): Promise<TrialThing | undefined> {
    const operation = `${kind}.create` as const;
    const askedAt = this.trial.ports.clock.now();
    let shown: unknown;
    const made = await this.#make({ kind, name, askedAt }, async () => {
      const { path } = operations[operation];
      const { outcome, body: said } = await look(this.trial.ports.doctor, { operation, method: "POST", path, body });
      if (outcome.status === "accepted") shown = said;
      return outcome;
    });
    if (made === undefined || made.id !== undefined || shown === undefined) return made;
    const id = await this.trial.idIn(kind, shown, name, askedAt);
    if (id === undefined) return made;
    this.trial.answers.set(operation, { body: shown, id });
    if (operation === "volume.create") this.trial.made.sizes.set(id, 1);
    return this.trial.notes.note(made, { id });
  }

  async #make(thing: TrialThing, send: () => Promise<Outcome<unknown>>): Promise<TrialThing | undefined> {
    this.trial.goOn();
    this.trial.notes.add(thing);
    const outcome = await send();
    if (outcome.status === "rejected" || outcome.status === "unavailable") {
      this.trial.notes.drop(thing, "was refused");
      this.trial.open.push(`a ${nounOf(thing.kind)} could not be made: ${wordsOf(outcome)}`);
      return undefined;
    }
    const isTaken = outcome.status === "accepted" || outcome.accepted === true;
    if (!isTaken) return thing;
    const id = outcome.status === "accepted" && hasId(outcome.value) ? outcome.value.id : undefined;
    return this.trial.notes.note(thing, { isTaken: true, ...onlyDefined({ id }) });
  }

  #makeGroup(name: string): Promise<TrialThing | undefined> {
    return this.#ask("group", name, { name, description: "made by reconcile doctor --trial", rules: [] });
  }

  #makeVolume(name: string): Promise<TrialThing | undefined> {
    return this.#ask("volume", name, { name, size: "1" });
  }

  /**
   * The trial first makes one volume of 1 GB: if it cannot be deleted, the trial makes no more, because somebody pays
   * for them.
   */
  async #canDeleteVolumes(name: string): Promise<boolean> {
    if ((await this.#makeVolume(name)) === undefined) return false;
    await this.trial.find();
    const thing = this.trial.thing(name);
    if (thing?.id === undefined) return false;
    await takeAwayOne(this.trial, thing);
    return this.trial.thing(name) === undefined;
  }

  #makeVm(vm: NewVm): Promise<TrialThing | undefined> {
    return this.#make({ kind: "vm", name: vm.name, askedAt: this.trial.ports.clock.now() }, () =>
      this.trial.client.createVm(vm),
    );
  }

  /** Images are asked for by their ids: a name that the list shows is looked up. */
  #imageCalled(image: string): string {
    const places = compilePointers(this.trial.report.dialect.records.image.id);
    const named = this.trial.report.samples
      .get("image")
      ?.find((record) => leavesOf(record).some(({ value }) => value === image));
    return findText(named, places) ?? image;
  }

  async #live(
    name: string,
    volumeName: string | undefined,
    flavor: string | undefined,
    otherFlavor: string | undefined,
  ): Promise<void> {
    const thing = this.trial.thing(name);
    if (thing?.id === undefined) {
      this.trial.open.push("the VM was asked for and did not appear in the list");
      return;
    }
    const { id } = thing;
    const made = await this.trial.settle("vm", id, isSettledVm, this.trial.ports.timing.quietCreateMs);
    await this.trial.lookAgain();
    const shown = await this.trial.look("vm", id);
    await this.trial.tellDisks(shown?.live);
    await this.trial.noteDisks(shown?.live);
    if (isLiveVm(made.last?.live) && made.last.live.phase === "failed") {
      this.trial.open.push(`the VM was made and failed (${made.last.word ?? "no word"})`);
      return;
    }
    await this.trial.keep("running", id);
    const running = made.last?.word;
    this.trial.say(`A VM was there after ${secondsOf(made.ms)}, by way of ${stateWords(made.words)}.`);
    const stop = await this.trial.persist(() => this.trial.client.stopVm(id));
    const stopped = await this.trial.settle(
      "vm",
      id,
      ({ live, word }) => isLiveVm(live) && live.phase === "stopped" && word !== running,
    );
    const rest = [running, stopped.last?.word];
    this.trial.onTheWay(this.trial.vmWords, [...made.words, ...stopped.words], rest);
    if (stop.status === "accepted" && (await this.trial.keep("stopped", id))) {
      const blocks = stopped.words.length < 2 ? "blocks until it has stopped" : "answers before it has stopped";
      this.trial.say(`Stopped it shows ${this.trial.wordFor("stopped")}; the call ${blocks}.`);
      await this.trial.persist(() => this.trial.client.startVm(id));
      const started = await this.trial.settle("vm", id, ({ word }) => word === this.trial.wordFor("running"));
      this.trial.onTheWay(this.trial.vmWords, started.words, [
        ...rest,
        this.trial.wordFor("running"),
        this.trial.wordFor("stopped"),
      ]);
    } else
      this.trial.open.push(
        `states.vm: stopped could not be told from ${running ?? "what it showed before"} (${wordsOf(stop)})`,
      );
    await this.#refused("invalid_state", { operation: "vm.start", method: "POST", path: pathOf("vm.start", id) });
    if (volumeName !== undefined) await this.#attach(id, volumeName);
    if (otherFlavor !== undefined && flavor !== undefined)
      await this.#resize(id, this.trial.wordFor("running") ?? running, flavor, otherFlavor);
  }

  async #attach(vmId: string, volumeName: string): Promise<void> {
    const id = this.trial.thing(volumeName)?.id;
    if (id === undefined) return;
    this.trial.goOn();
    const free = await this.trial.settle("volume", id, (look) => this.trial.isReady(look));
    const attach = await this.trial.persist(() => this.trial.client.attachVolume(id, vmId));
    if (attach.status === "rejected") {
      this.trial.open.push(`the volume could not be attached: ${attach.message}`);
      return;
    }
    const used = await this.trial.settle(
      "volume",
      id,
      ({ live, word }) => this.trial.isReady({ live, word }) && word !== free.last?.word,
    );
    await this.trial.lookAgain();
    const shown = await this.trial.look("volume", id);
    const isShown = shown !== undefined && !isLiveVm(shown.live) && shown.live.attachedTo === vmId;
    this.trial.say(
      `Attached, a volume shows ${used.last?.word ?? "no word"}${isShown ? " and the VM it hangs on" : ""}.`,
    );
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
    if (used.last?.word !== undefined) this.trial.mean(this.trial.volumeWords, "ready", used.last.word);
    // Nobody has mounted the volume, so there is nothing to flush.
    await this.trial.persist(() => this.trial.client.detachVolume(id, vmId, true));
    const freed = await this.trial.settle(
      "volume",
      id,
      ({ word, live }) => word === free.last?.word && this.trial.isReady({ word, live }),
    );
    const rest = [free.last?.word, used.last?.word, freed.last?.word];
    for (const word of rest) this.trial.mean(this.trial.volumeWords, "ready", word);
    this.trial.onTheWay(this.trial.volumeWords, [...free.words, ...used.words, ...freed.words], rest);
  }

  async #resize(id: string, running: string | undefined, flavor: string, other: string): Promise<void> {
    let isWaiting = false;
    for (const operation of ["vm.resize.revert", "vm.resize.confirm"] as const) {
      this.trial.goOn();
      // Where the first was not found, the resize waits still, and the other one is tried on it.
      const resize = isWaiting
        ? ({ status: "accepted", value: undefined } as const)
        : await this.trial.persist(() => this.trial.client.resizeVm(id, other));
      if (resize.status === "rejected") {
        this.trial.open.push(`${operation}: a resize to ${other} was refused: ${resize.message}`);
        return;
      }
      const waiting = await this.trial.settle(
        "vm",
        id,
        ({ live, word }) => isLiveVm(live) && live.phase === "verify_resize" && word !== running,
      );
      if (waiting.last === undefined || waiting.last.word === running) {
        this.trial.say(`A resize is not waited with: the VM shows ${running ?? "no word"} again by itself.`);
        return;
      }
      if (!(await this.trial.keep("verify_resize", id)))
        this.trial.open.push("states.vm: a resize that waits could not be told from what it showed before");
      const verify = this.trial.wordFor("verify_resize") ?? waiting.last.word;
      this.trial.onTheWay(this.trial.vmWords, waiting.words, [running, verify, waiting.last.word]);
      const route = await this.trial.tryWrites(operation, "vm", { id }, async () => {
        const after = await this.trial.settle("vm", id, ({ word }) => word === this.trial.wordFor("running"));
        return after.last?.word === this.trial.wordFor("running");
      });
      isWaiting = route === undefined;
      if (isWaiting) continue;
      const { live } = (await this.trial.look("vm", id)) ?? {};
      if (live !== undefined && isLiveVm(live) && live.flavor !== undefined)
        this.trial.say(
          `After ${operation} the VM shows the flavor ${live.flavor}${live.flavor === flavor ? ", as before" : ""}.`,
        );
    }
  }

  async #growVolume(name: string): Promise<void> {
    const id = this.trial.thing(name)?.id;
    if (id === undefined) return;
    this.trial.goOn();
    const before = await this.trial.settle("volume", id, (look) => this.trial.isReady(look));
    const grow = await this.trial.persist(() => this.trial.client.resizeVolume(id, 2));
    const rest = new Set([before.last?.word]);
    const after = await this.trial.settle(
      "volume",
      id,
      ({ live, word }) =>
        this.trial.isReady({ live, word }) && rest.has(word) && !isLiveVm(live) && (live.sizeGb ?? 2) >= 2,
    );
    this.trial.mean(this.trial.volumeWords, "ready", after.last?.word);
    this.trial.onTheWay(
      this.trial.volumeWords,
      [...before.words, ...after.words],
      [before.last?.word, after.last?.word],
    );
    const live = after.last?.live;
    if (grow.status === "accepted" && live !== undefined && !isLiveVm(live))
      this.trial.say(
        `A volume that was grown to 2 GB shows ${live.sizeGb === undefined ? "no size" : `${live.sizeGb} GB`}.`,
      );
  }

  async #rules(first: string, second: string): Promise<void> {
    const [a, b] = [this.trial.thing(first)?.id, this.trial.thing(second)?.id];
    if (a === undefined || b === undefined) return;
    this.trial.goOn();
    const rule = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", dst_port: "22", remote_group: a } as const;
    const create: DoctorRequest = {
      operation: "group.rule.create",
      method: "POST",
      path: pathOf("group.rule.create", b),
      body: rule,
    };
    const { outcome } = await this.trial.ports.doctor.probe(create);
    if (outcome.status !== "accepted") {
      this.trial.open.push(`a rule could not be made: ${wordsOf(outcome)}`);
      return;
    }
    await this.#refused("rule_exists", create);
    await this.#refusedName(first);
    const before = await this.#ruleIds(b);
    const listed = await this.trial.client.listRules(b);
    const own =
      listed.status === "accepted" ? listed.value.find(({ remoteGroupId }) => remoteGroupId === a) : undefined;
    if (own === undefined) return;
    await this.trial.tryWrites("group.rule.delete", "group", { id: b, rule_id: own.id }, () =>
      this.trial.until(async () => {
        const left = await this.#ruleIds(b);
        return before !== undefined && left !== undefined && !left.includes(own.id);
      }),
    );
    await this.#portRange(b);
    await this.#namedGroup(first, a, create);
  }

  /** Sends a range of ports in the usual forms, until one is shown as it was meant. */
  async #portRange(group: string): Promise<void> {
    for (const form of this.trial.report.dialect.rules.port_range === null ? ["{min}-{max}", "{min}:{max}"] : []) {
      this.trial.goOn();
      const dst_port = form.replace("{min}", "8000").replace("{max}", "8010");
      const { outcome } = await this.trial.ports.doctor.probe({
        operation: "group.rule.create",
        method: "POST",
        path: pathOf("group.rule.create", group),
        body: { direction: "ingress", ethertype: "IPv4", protocol: "tcp", dst_port, remote_ip: "192.0.2.0/24" },
      });
      if (outcome.status !== "accepted") continue;
      const isShown = await this.trial.until(async () => {
        const listed = await this.trial.client.listRules(group);
        return (
          listed.status === "accepted" &&
          listed.value.some(({ portMin, portMax }) => portMin === 8000 && portMax === 8010)
        );
      });
      if (!isShown) continue;
      this.trial.rules = { port_range: form };
      this.trial.say(`A range of ports is written ${form}.`);
      return;
    }
  }

  /** Deletes a group that a rule of the other one names. */
  async #namedGroup(name: string, id: string, naming: DoctorRequest): Promise<void> {
    const thing = this.trial.thing(name);
    const { outcome: named } = await this.trial.ports.doctor.probe(naming);
    if (thing === undefined || named.status !== "accepted") return;
    const outcome = await this.trial.client.deleteGroup(id);
    if (outcome.status === "accepted") this.trial.markDeleted("group", id);
    const isThere = outcome.status === "accepted" ? await this.trial.isListed("group", id) : undefined;
    const kept = outcome.status === "rejected" ? "refused" : isThere === true ? "kept" : undefined;
    if (kept === undefined) return;
    this.trial.limits = { ...this.trial.limits, named_groups: kept };
    this.trial.say(
      kept === "refused"
        ? "A group that a rule of another one names is not deleted: the delete is refused."
        : "A group that a rule of another one names is not deleted: it stays.",
    );
  }

  async #ruleIds(group: string): Promise<readonly string[] | undefined> {
    const listed = await this.trial.client.listRules(group);
    return listed.status === "accepted" ? listed.value.map(({ id }) => id) : undefined;
  }

  /** Tries to create a name twice. It is written down first, in case the service makes a second one. */
  async #refusedName(name: string): Promise<void> {
    const again: TrialThing = { kind: "group", name, askedAt: this.trial.ports.clock.now() };
    this.trial.notes.add(again);
    const isRefused = await this.#refused("name_taken", {
      operation: "group.create",
      method: "POST",
      path: operations["group.create"].path,
      body: { name },
    });
    if (isRefused) this.trial.notes.drop(again, "was refused, as it was to be");
    else {
      this.trial.limits = { ...this.trial.limits, unique: [] };
      await this.trial.find();
    }
  }

  /** Whether the request was refused. The words of the refusal get a meaning, where the dialect gives them none. */
  async #refused(is: ErrorRule["is"], request: DoctorRequest): Promise<boolean> {
    this.trial.goOn();
    const { outcome } = await this.trial.ports.doctor.probe(request);
    if (outcome.status === "accepted") {
      this.trial.say(`${request.operation} is not refused where ${is} was to be expected.`);
      return false;
    }
    if (outcome.status !== "rejected") return false;
    const isMeant = outcome.condition === is || (is === "name_taken" && outcome.condition === "conflict");
    const message = telling(outcome.message);
    if (!isMeant && message !== undefined && !this.trial.errors.some((rule) => rule.is === is))
      this.trial.errors.push({
        is,
        status: outcome.httpStatus,
        message,
      });
    return true;
  }
}

const isSettledVm = ({ live }: TrialLook): boolean =>
  isLiveVm(live) && (live.phase === "running" || live.phase === "failed");

const pathOf = (operation: "vm.start" | "volume.resize" | "group.rule.create", id: string): string =>
  operations[operation].path.replace("{id}", () => encodeURIComponent(id));

const hasId = (value: unknown): value is { readonly id: string } =>
  typeof value === "object" && value !== null && "id" in value && typeof value.id === "string";

/** A message without the parts that differ each time: ids, names, numbers and quotes. */
function telling(message: string): string | undefined {
  const pattern = message
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|trial-[0-9a-f]{6}(-\w+)?|\b(?=\w*\d)[\w-]{6,}\b|\b\d+\b/gi, "*")
    .replaceAll(/(\*[\s,;:]*)+\*/g, "*")
    .trim();
  return pattern.replaceAll(/[*\s]/g, "").length < 6 ? undefined : pattern.slice(0, 200);
}
