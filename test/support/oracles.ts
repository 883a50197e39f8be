/**
 * What must hold of the true world and of the state, whatever the service said: written on what is there and on what the
 * undisturbed run leads to, and on nothing that the engine believes.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { WorldDump } from "../../emulator";
import type { State } from "../../reconciler/core/model/recorded";
import { misbehaviour } from "./captured-command";
import { makeFolder } from "./folder";
import type { Moment } from "./mortal";
import { type Asked, type Exchange, isWrite, nothing } from "./other-services/other-service";
import { strangerId } from "./other-services/world";
import { canary, type Finding, type Ran, type Theatre } from "./theatre";

import { type Dump, differences, type Shape, shapeOf, unnamed, withoutOrphans } from "./world-shape";

/** What the edit does when nothing goes wrong, and all that it may do when something does. */
export interface Undisturbed {
  /** Of the first run. */
  readonly heard: readonly Exchange[];
  readonly first: { readonly exitCode: number; readonly shape: Shape };
  readonly last: { readonly exitCode: number; readonly codes: string; readonly shape: Shape };
  /** Ids that were there before and are not any more. */
  readonly lost: ReadonlySet<string>;
  readonly wipes: ReadonlyMap<string, number>;
  /** What came off a running VM, or was left by one that was deleted while it ran. */
  readonly unplugged: ReadonlySet<string>;
  readonly made: Readonly<Record<Made, number>>;
  /** The state knows something that the service shows, by which the credential can be told. */
  readonly isVouched: boolean;
  /** What nobody names before it all begins. */
  readonly unnamed: ReadonlySet<string>;
}

type Made = "vm" | "volume" | "group" | "image";
const kinds = ["vm", "volume", "group", "image"] as const satisfies readonly Made[];

export async function undisturbedRun(theatre: Theatre): Promise<Undisturbed> {
  await theatre.reset();
  const known = await theatre.state();
  const before = unnamedNow(theatre, known);
  const ran = await theatre.run();
  const first = { exitCode: ran.exitCode, shape: await theatre.shape() };
  let last = ran;
  // What waits for the outside goes on as far as it can.
  for (let more = 0; more < 3; more++) {
    const wrote = last.heard.some(({ asked }) => isWrite(asked));
    const answered = await answerQuestions(theatre, last.diagnostics);
    if (more > 0 && !wrote && !answered) break;
    last = await theatre.again();
  }
  const now = theatre.door.truth.dump();
  return {
    heard: ran.heard,
    first,
    last: { exitCode: last.exitCode, codes: codesOf(last.diagnostics), shape: await theatre.shape() },
    lost: new Set(lostOf(theatre.start, now)),
    wipes: wipesOf(now),
    unplugged: new Set(unpluggedOf(theatre.door.heard)),
    made: madeOf(theatre.start, now),
    isVouched:
      known.intents.size === 0 || known.resources.size + known.orphans.size + (known.scope?.sees ?? []).length > 0,
    unnamed: new Set(before),
  };
}

const codesOf = (findings: readonly Finding[]): string =>
  [...new Set(findings.filter(({ severity }) => severity === "error").map(({ code }) => code))].sort().join(" ");

/** What a user may have made, in the project that it is all about. */
function everythingOf({ projects, vms, volumes, groups, images }: WorldDump) {
  const own = projects[0]?.id;
  return {
    vm: vms.filter(({ project_id }) => project_id === own),
    volume: volumes.filter(({ root, project_id }) => !root && project_id === own),
    group: groups.filter(({ platform, project_id }) => !platform && project_id === own),
    image: images.filter(({ project_id }) => project_id === own),
  };
}

function lostOf(start: WorldDump, now: WorldDump): string[] {
  const [before, after] = [everythingOf(start), everythingOf(now)];
  return kinds.flatMap((kind) => {
    const there = new Set(after[kind].map(({ id }) => id));
    return before[kind].flatMap(({ id }) => (there.has(id) ? [] : [id]));
  });
}

const wipesOf = (now: WorldDump): Map<string, number> => new Map(now.vms.map(({ id, root_wipes }) => [id, root_wipes]));

function madeOf(start: WorldDump, now: WorldDump): Record<Made, number> {
  const [before, after] = [everythingOf(start), everythingOf(now)];
  const made = (kind: Made): number => {
    const known = new Set<string>([strangerId, ...before[kind].map(({ id }) => id)]);
    return after[kind].filter(({ id }) => !known.has(id)).length;
  };
  return { vm: made("vm"), volume: made("volume"), group: made("group"), image: made("image") };
}

const stopped: readonly string[] = ["SHUTOFF", "STOPPED"];

function unpluggedOf(heard: readonly Exchange[]): string[] {
  return heard.flatMap(({ asked, world, arrived, status }) => {
    if (!arrived || world === undefined || status >= 300) return [];
    const detach = asked.operation === "volume.detach";
    if (!detach && asked.operation !== "vm.delete") return [];
    const id = detach ? asked.body["vm_id"] : asked.id;
    const vm = world.vms.find((row) => row.id === id);
    if (vm === undefined || stopped.includes(vm.status)) return [];
    if (detach) return [String(asked.body["volume_id"])];
    return world.volumes.flatMap((volume) => (volume.attached_to === vm.id && !volume.root ? [volume.id] : []));
  });
}

const showsDisks = ({ operation, id }: Exchange["asked"], vm: string): boolean =>
  operation === "vm.list" || operation === "volume.list" || (operation === "vm.get" && id === vm);

function unnamedNow(theatre: Theatre, state: Parameters<typeof unnamed>[1]): string[] {
  const strangers = [...theatre.door.added.keys()];
  return unnamed(theatre.dump(), state, theatre.letsGo).filter((text) => !strangers.some((id) => text.includes(id)));
}

/** What is wrong after a run, whatever the service said during it. */
export async function wrongAfter(theatre: Theatre, ran: Ran, undisturbed: Undisturbed): Promise<string[]> {
  const problems = misbehaviour(ran).map((problem) => `${problem}`);
  const now = theatre.door.truth.dump();
  const name = namesIn(theatre.start);
  for (const id of lostOf(theatre.start, now))
    if (!undisturbed.lost.has(id)) problems.push(`lost: ${name.get(id) ?? id}`);
  for (const [id, wipes] of wipesOf(now)) {
    const before = theatre.start.vms.find((vm) => vm.id === id);
    if (before !== undefined && wipes > (undisturbed.wipes.get(id) ?? before.root_wipes))
      problems.push(`wiped: ${name.get(id) ?? id}`);
  }
  const made = madeOf(theatre.start, now);
  for (const kind of kinds)
    if (made[kind] > undisturbed.made[kind])
      problems.push(`made ${made[kind]} of ${kind} where ${undisturbed.made[kind]} would do`);
  // What the edit itself has put there may come off again to be grown, under the flush that the scene confirms.
  const hung = new Set(theatre.start.volumes.flatMap(({ id, attached_to }) => (attached_to === null ? [] : [id])));
  for (const id of unpluggedOf(ran.heard))
    if (!undisturbed.unplugged.has(id) && name.has(id) && hung.has(id))
      problems.push(`taken off a running VM: ${name.get(id)}`);
  const state = await theatre.state();
  const there = new Set([...now.vms, ...now.volumes, ...now.groups].map(({ id }) => id));
  for (const [id, nth] of theatre.door.added) {
    if (!there.has(id)) problems.push("lost: what somebody else has made");
    const taken = ran.heard.find(
      ({ asked, world, status }) =>
        asked.operation === "vm.delete" &&
        status < 300 &&
        world?.volumes.some((volume) => volume.id === id && volume.attached_to === asked.id),
    );
    if (taken === undefined || taken.asked.nth === nth) continue;
    if (![...state.orphans.values()].some((orphan) => orphan.id === id))
      problems.push("its VM is deleted under somebody else's volume, which no orphan names");
    const firstWrite = ran.heard.find(({ asked }) => isWrite(asked))?.asked.nth ?? nth;
    // The look before the delete may have been answered just before it was attached, and another one be under way.
    const isLookedAt = ran.heard
      .slice(0, taken.asked.answered)
      .some(({ asked }) => asked.nth > nth && showsDisks(asked, taken.asked.id));
    if (nth > firstWrite && isLookedAt) problems.push("its VM is deleted under a volume that the plan did not know");
  }
  for (const text of unnamedNow(theatre, state))
    if (!undisturbed.unnamed.has(text)) problems.push(`named nowhere: ${text}`);
  for (const [address, { id }] of state.resources) if (id === strangerId) problems.push(`${address} is a stranger's`);
  if (ran.text.includes(canary) || filesOf(theatre.folder).some((path) => readFileSync(path, "utf8").includes(canary)))
    problems.push("the credential is shown");
  return problems;
}

function namesIn(world: WorldDump): Map<string, string> {
  const all = everythingOf(world);
  return new Map(kinds.flatMap((kind) => all[kind].map(({ id, name }) => [id, `${kind} ${name}`] as const)));
}

const filesOf = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder).flatMap((name) => {
        const path = join(folder, name);
        return statSync(path).isDirectory() ? filesOf(path) : [path];
      })
    : [];

/** A run that called itself done, and the world is not. */
export async function doneInWordsOnly(theatre: Theatre, ran: Ran, undisturbed: Undisturbed): Promise<string[]> {
  if (ran.exitCode !== 0 || undisturbed.first.exitCode !== 0) return [];
  const warned = ran.diagnostics.some(({ severity }) => severity !== "note");
  if (theatre.looks && warned) return [];
  return differences(await theatre.shape(), undisturbed.first.shape).map((text) => `it said that it was done: ${text}`);
}

export interface Ending {
  /** What stands there by then is in the way of where the undisturbed run leads. */
  readonly otherwise?: boolean;
  /** What was believed to be gone, and shows again, is an orphan by then: named, and for its user to end. */
  readonly orphaned?: boolean;
}

/** Runs on the service as it is, as its user would, until nothing more is written; and whether that is where it should. */
export async function endsWell(theatre: Theatre, undisturbed: Undisturbed, ending: Ending = {}): Promise<string[]> {
  const problems: string[] = [];
  let last: Ran | undefined;
  let replace: readonly string[] = [];
  for (let run = 0; run < 6; run++) {
    last = await theatre.again(undefined, replace);
    problems.push(...(await wrongAfter(theatre, last, undisturbed)));
    if (problems.length > 0) return problems.map((problem) => `next run: ${problem}`);
    // A VM that was built once and has failed is made anew when its user says so, as the plan offers.
    const failed = replace.length === 0 ? last.diagnostics.filter(({ code }) => code === "plan/vm-failed") : [];
    replace = failed.flatMap(({ address }) => (address === undefined ? [] : ["--replace", address]));
    if (replace.length > 0) continue;
    if (await answerQuestions(theatre, last.diagnostics)) continue;
    if (!last.heard.some(({ asked }) => isWrite(asked))) break;
    if (run === 5 && undisturbed.last.exitCode === 0 && ending.otherwise !== true)
      problems.push("it finds something to do again and again");
  }
  if (ending.otherwise === true || theatre.once || last === undefined) return problems;
  if (last.exitCode !== undisturbed.last.exitCode)
    problems.push(`it ends with ${last.exitCode} (${saidOf(last)}), not ${undisturbed.last.exitCode}`);
  const now = theatre.dump();
  const state = await theatre.state();
  const left =
    ending.orphaned === true ? { ...now, vm: now.vm.filter(({ id }) => !state.orphans.has(`vm:${id}`)) } : now;
  problems.push(...differences(shapeOf(withoutOrphans(left, state)), undisturbed.last.shape));
  return problems;
}

export const saidOf = (ran: Ran): string =>
  ran.diagnostics
    .filter(({ severity }) => severity !== "note")
    .map(({ code, summary }) => `${code}: ${summary}`)
    .join("; ");

const questions: readonly string[] = ["plan/outcome-unknown", "apply/outcome-unknown", "apply/snapshot-missing"];
const kindMadeBy = {
  "vm.create": "vm",
  "volume.create": "volume",
  "group.create": "group",
  "vm.snapshot": "image",
} as const;

/** What a person would do about what nobody can look up: one of the commands that the message gives, as it is true. */
async function answerQuestions(theatre: Theatre, diagnostics: readonly Finding[]): Promise<boolean> {
  let answered = false;
  for (const { code, address = "" } of diagnostics) {
    const state = await theatre.state();
    const args = code === undefined ? undefined : answerTo(code, address, state, theatre.dump());
    if (args !== undefined) answered = (await theatre.command(args)).exitCode === 0 || answered;
  }
  return answered;
}

function answerTo(code: string, address: string, state: State, dump: Dump): readonly string[] | undefined {
  const managed = new Set([...state.resources.values()].map(({ id }) => id));
  const isMade = (row: { readonly id: string; readonly name: string }, name: string): boolean =>
    row.name === name && !managed.has(row.id) && row.id !== strangerId;
  const settle = (made: { readonly id: string } | undefined): readonly string[] =>
    made === undefined ? ["state", "resolve", address, "--not-created"] : ["import", address, made.id];
  const intent = state.intents.get(address);
  const record = state.resources.get(address);
  if (record?.kind === "vm" && record.id === undefined && code === "apply/waiting")
    return settle(dump.vm.find((row) => isMade(row, record.name)));
  if (!questions.includes(code)) return undefined;
  if (intent !== undefined) {
    const kind = kindMadeBy[intent.operation];
    const made = dump[kind].find((row) => isMade(row, intent.name) && !intent.idsBefore.includes(row.id));
    // An image that is there will be listed.
    return kind === "image" && made !== undefined ? undefined : settle(made);
  }
  const moved = record?.kind === "vm" ? record.dataVolumeId : record?.id;
  const host =
    record?.kind === "vm" ? record.id : record?.kind === "volume" ? (record.attaching ?? record.detaching) : undefined;
  if (host === undefined) return undefined;
  const isOn = dump.volume.some((row) => row.id === moved && row.attached_to === host);
  return ["state", "resolve", address, isOn ? "--attached" : "--detached"];
}

/*
 * A change that dies at a moment, and the runs after it: in this process, from the moment on without a sign of life, or
 * as a process of its own that is killed.
 */

type Counts = Readonly<Record<Moment["of"], number>>;

/** `undefined`: steps that happened to be done at once have shared their writes, and there was no such write. */
export async function diesAt(
  theatre: Theatre,
  moment: Moment,
  undisturbed: Undisturbed,
): Promise<string[] | undefined> {
  await theatre.reset();
  const { ended, counts } = await theatre.mortal(moment);
  if (ended !== undefined && moment.of === "write" && counts.write < moment.nth) return undefined;
  if (ended !== undefined) return [`it did not die: exit ${ended.exitCode}: ${ended.text}`];
  return endsWellUnlocked(theatre, undisturbed);
}

/** Whoever finds the lock of a dead process takes it away. */
export async function endsWellUnlocked(theatre: Theatre, undisturbed: Undisturbed): Promise<string[]> {
  theatre.door.become({});
  await theatre.command(["state", "unlock", "--force"]);
  return endsWell(theatre, undisturbed);
}

const hook = resolve(__dirname, "kill-at-write.cjs");

/** How many requests and forced writes of the disk a process of its own takes, when nobody kills it. */
export async function countInProcess(theatre: Theatre, args?: readonly string[]): Promise<Counts> {
  const counted = join(makeFolder(), "writes");
  const from = theatre.door.heard.length;
  const env = { NODE_OPTIONS: `--require ${hook}`, COUNT_WRITES: counted };
  await theatre.launch({ env, ...(args === undefined ? {} : { args }) }).finished;
  const requests = theatre.door.heard.slice(from).filter(({ asked }) => isWrite(asked)).length;
  return { request: requests, write: Number(readFileSync(counted, "utf8")) };
}

/** The edit, or another command, killed at the moment; what it did instead, if it went on or said something bad. */
export async function killAt(theatre: Theatre, moment: Moment, args?: readonly string[]): Promise<string[]> {
  const { of, nth, when } = moment;
  const env: Record<string, string> =
    of === "write" ? { NODE_OPTIONS: `--require ${hook}`, KILL_AT_WRITE: `${nth}:${when}` } : {};
  const running = theatre.launch({ env, ...(args === undefined ? {} : { args }) });
  const kill = (): typeof nothing => {
    running.child.kill("SIGKILL");
    return nothing;
  };
  let seen = 0;
  let struck: Asked | undefined;
  theatre.door.open({
    hear(asked) {
      if (of === "request" && isWrite(asked) && ++seen === nth) struck = asked;
      return asked === struck && when === "before" ? kill() : undefined;
    },
    tell: (asked) => (asked === struck && when === "after" ? kill() : undefined),
  });
  const { exitCode, stderr } = await running.finished;
  theatre.door.become({});
  if (running.child.signalCode === "SIGKILL") return [];
  // Writes of steps that happened to be done at once are shared, and then there is one less.
  return of === "write" && exitCode === 0 ? [] : [`it was not killed: exit ${exitCode}: ${stderr}`];
}
