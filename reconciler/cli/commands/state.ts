/** `reconcile state …`: reads and repairs the state. None of these commands asks the service anything. */

import { readFileSync } from "node:fs";
import { isMeant } from "../../core/model/address";
import { orphansAdded } from "../../core/model/disks";
import { leftWhenForgotten } from "../../core/model/facts";
import { debtsIn } from "../../core/model/guest";
import { addressesByIdentity, lookUpIn } from "../../core/model/identity";
import { ofKind } from "../../core/model/kinds";
import type { Intent, Orphan, RecordedResource, State, StateChange } from "../../core/model/recorded";
import type { StepChange } from "../../core/plan/record-patch";
import { emptyState, type FoldedState } from "../../core/state/fold";
import { forgottenBy } from "../../core/state/forgotten";
import { recordsAfter } from "../../core/state/history";
import { WrittenByNewer } from "../../core/state/newer";
import { readState, writeSnapshot } from "../../core/state/text";
import { inShell } from "../../core/text/in-shell";
import { nearestText } from "../../core/text/nearest";
import { printableLines } from "../../core/text/printable";
import { assertWhole } from "../../engine/half-moved";
import { openStoredState } from "../../engine/plan";
import { dataVolumeMoved, resizeEnded } from "../../kinds/vm/answers";
import { volumeMoved } from "../../kinds/volume/answers";
import { recordText } from "../../report/record-text";
import { stateListText } from "../../report/state-text";
import { countOf } from "../../report/style";
import { openStoredText } from "../../store/encrypted";
import { LessThanSeen } from "../../store/memory-of-states";
import { describeHolder, type StateStore, type StoredState } from "../../store/store";
import {
  type CompletionSources,
  command,
  type Invocation,
  maybeOne,
  noArguments,
  oneArgument,
  oneOrMore,
  type Suggestion,
} from "../command";
import { commandHolder, fail, newLineage, stateIn } from "../compose";
import { commonFlags, type FlagName } from "../flags";
import { openLocatedStore } from "../with-session";
import { readGiven, workspaceOfState } from "../workspace";
import { changeState, closedAfter, damagedRecord } from "../writing";
import { runNamed, tooLongAgo } from "./history";

export const stateListCommand = command({
  usage: "state list",
  summary: "what is managed: address, id, name",
  section: "The state",
  examples: [["reconcile state list", "address, id and name of everything managed"]],
  flags: ["file", ...commonFlags],
  positionals: noArguments,
  run: onStore(listState),
});

export const stateShowCommand = command({
  usage: "state show [ADDR] [--at RUN]",
  summary: "what the state knows of a resource, or of all of them",
  section: "The state",
  examples: [
    ["reconcile state show vm.db", "one record in full"],
    ["reconcile state show vm.db --at 3f9a12c4", "as it was when that run of reconcile history had ended"],
    ["reconcile state show --at last", "every record, as the last run left it"],
  ],
  flags: ["file", "at", ...commonFlags],
  positionals: maybeOne,
  complete: async (args, known) => (args.length === 0 ? known.recorded() : []),
  run: onStore(showResources),
});

export const stateRmCommand = command({
  usage: "state rm ADDR…",
  summary: "forgets a resource and leaves it alive",
  section: "The state",
  examples: [
    [
      "reconcile state rm volume.scratch",
      "nothing is deleted in the service; a removed entry in the file does the same",
    ],
  ],
  flags: ["file", "lock-timeout", ...commonFlags],
  positionals: oneOrMore("an address"),
  complete: unnamed,
  run: onStore(removeFromState),
});

export const statePullCommand = command({
  usage: "state pull [--force]",
  summary: "prints the state as JSON",
  section: "The state",
  examples: [
    ["reconcile state pull > copy.json", "a copy, for a look or for safe-keeping"],
    ["reconcile state pull --force > left.json", "what is left of a state that lost lines of its journal"],
  ],
  flags: ["file", "force", ...commonFlags],
  positionals: noArguments,
  run: onStore(pull),
});

export const statePushCommand = command({
  usage: "state push FILE|- [--force]",
  summary: "puts a state in place of the present one",
  section: "The state",
  examples: [
    ["reconcile state push copy.json", "refuses what is older, shorter or of another history without --force"],
  ],
  flags: ["file", "force", "lock-timeout", ...commonFlags],
  positionals: oneArgument("a file with a state, or - for standard input"),
  run: onStore(pushState),
});

export const stateUnlockCommand = command({
  usage: "state unlock [--force]",
  summary: "takes the lock from a holder that is gone",
  section: "The state",
  examples: [["reconcile state unlock", "refuses while the holder is alive"]],
  flags: ["file", "force", ...commonFlags],
  positionals: noArguments,
  run: onStore(unlock),
});

const resolveAnswers = ["not-created", "confirmed", "reverted", "attached", "detached", "paid"] as const;
type ResolveAnswer = (typeof resolveAnswers)[number];

export const stateResolveCommand = command({
  usage: "state resolve ADDR --not-created|--confirmed|--reverted|--attached|--detached|--paid",
  summary: "settles a request whose outcome nothing shows",
  section: "The state",
  examples: [
    ["reconcile state resolve volume.data --not-created", "you looked, and it is not there: the next run creates it"],
    ["reconcile state resolve vm.db --confirmed", "the resize was confirmed in the service's console"],
    ["reconcile state resolve volume.data --attached", "the lost attach was done: the volume hangs there"],
    ["reconcile state resolve volume.data --paid", "you did by hand what its after_attach would have done"],
  ],
  flags: ["file", ...resolveAnswers, "lock-timeout", ...commonFlags],
  positionals: oneArgument("an address"),
  complete: async (_, known) => [...((await known.state())?.intents.keys() ?? [])].map((word) => ({ word })),
  run: onStore(resolveOpen),
});

/** The files of the desired state only say here where the state lies; they are no arguments of these commands. */
export function onStore<I extends Invocation>(act: (invocation: I, store: StateStore) => Promise<number>) {
  return async (invocation: I): Promise<number> =>
    act(invocation, openLocatedStore(invocation, workspaceOfState(invocation)));
}

async function unnamed(args: readonly string[], known: CompletionSources): Promise<readonly Suggestion[]> {
  return (await known.recorded()).filter(({ word }) => !args.includes(word));
}

type ForOneAddress = Invocation<FlagName, readonly [string]>;

/** What can be read of a state whose journal lost lines, for a person who compares it with what exists. */
async function readWhatIsLeft(store: StateStore): Promise<FoldedState> {
  const stored = await store.read();
  const left = readState(stored, newLineage(), true);
  return left.ok ? left.state : openStoredState(stored, store.location, newLineage()).state;
}

async function listState({ output }: Invocation, store: StateStore): Promise<number> {
  const state = await stateIn(store);
  for (const record of state.resources.values())
    output.event({ type: "resource", address: record.address, id: record.id ?? null, name: record.name ?? null });
  output.print(stateListText(state));
  return output.finish({ exitCode: 0, orphans: [...state.orphans.values()] });
}

async function showResources(
  { args, flags, output }: Invocation<FlagName, readonly [] | readonly [string]>,
  store: StateStore,
): Promise<number> {
  const present = await stateIn(store);
  const state = flags.at === undefined ? present : asOf(present, flags.at);
  const [named] = args;
  const known = new Set([...state.resources.keys(), ...state.intents.keys()]);
  if (named !== undefined && !known.has(named)) throw addressUnknown(named, state);
  const addressOf = lookUpIn(addressesByIdentity(state.resources.values()));
  for (const address of named === undefined ? known : [named]) {
    const record = state.resources.get(address);
    const intent = state.intents.get(address);
    output.event({ type: "resource", address, record: record ?? null, intent });
    output.print(recordText(address, record, intent, { width: output.width, addressOf }));
  }
  return output.finish({ exitCode: 0 });
}

/** The state as it was after a run. Creates that were open then are over and are left out. */
function asOf(state: FoldedState, named: string): State {
  const run = runNamed(state, named);
  const resources = recordsAfter(state, run.id);
  if (resources === undefined) throw tooLongAgo(run);
  return { ...state, resources, intents: new Map() };
}

/** The whole state as one document, on standard output with and without --json. */
async function pull({ flags, output }: Invocation, store: StateStore): Promise<number> {
  const state = flags.force === true ? await readWhatIsLeft(store) : await stateIn(store);
  // Control characters are written as JSON escapes, so that a terminal does not act on them.
  process.stdout.write(printableLines(writeSnapshot(state)));
  return output.finish({ exitCode: 0, onDocument: true });
}

async function removeFromState(invocation: Invocation, store: StateStore): Promise<number> {
  const open: Intent[] = [];
  const still: string[] = [];
  const left: Orphan[] = [];
  const forgotten: string[] = [];
  const named = [...new Set(invocation.args)];
  await changeState(invocation, store, (state) =>
    [...new Set(named.flatMap((one) => meantBy(one, state)))].flatMap((address): StateChange[] => {
      const intent = state.intents.get(address);
      if (intent?.record !== undefined) open.push(intent);
      const record = state.resources.get(address);
      const orphans = record === undefined ? [] : leftWhenForgotten(record);
      left.push(...orphans);
      if (record?.id !== undefined) forgotten.push(`reconcile import ${inShell(address)} ${record.id}`);
      still.push(...lastDuties(record));
      const quarantined = state.quarantined.some((piece) => piece.address === address);
      if (record === undefined && !state.intents.has(address) && !quarantined) throw addressUnknown(address, state);
      return [
        ...orphansAdded(orphans),
        ...(record !== undefined ? [{ type: "resource" as const, address, record: null }] : []),
        ...(state.intents.has(address) ? [{ type: "intent" as const, address, intent: null }] : []),
        ...(quarantined ? [{ type: "release" as const, address }] : []),
      ];
    }),
  );
  invocation.output.print(`Forgot ${named.join(", ")}. Nothing was deleted in the service.`);
  if (forgotten.length > 0)
    invocation.output.note(
      `If a file still declares it, the next apply creates it a second time, or is refused where the name is taken. Remove it from the file, or import it again: ${invocation.output.here(forgotten.join(" && "))}`,
    );
  for (const { address, name, sentAt } of open)
    invocation.output.note(
      `What became of the create of ${name} (${address}), sent at ${sentAt}, is not known: if it made something, nothing manages that, and the next apply makes another one where the file declares it. Look in the service's console.`,
    );
  for (const { kind, id, reason } of left)
    invocation.output.note(`${kind} ${id}, which ${reason}, is an orphan now: reconcile orphans list`);
  for (const told of still) invocation.output.note(told);
  return invocation.output.finish({ exitCode: 0 });
}

/** What runs have begun and this record alone remembers, in words. */
function lastDuties(record: RecordedResource | undefined): readonly string[] {
  const own = ofKind(record, "vm");
  const volume = ofKind(record, "volume");
  const stopped = own?.stoppedForFlush === true ? own.id : volume?.stoppedVm;
  return [
    stopped !== undefined &&
      `VM ${stopped} was stopped for a flush, and nothing starts it again: start it in the service's console, unless it runs by now.`,
    volume?.goesBackTo !== undefined &&
      `Volume ${volume.name ?? volume.id} was taken off VM ${volume.goesBackTo} to be grown, and no run attaches it again: attach it in the service's console, unless it hangs there by now.`,
    own?.dataVolumeMoving === "detaching" &&
      `Data volume ${own.dataVolumeId} of VM ${own.name} was being taken off to be grown, and no run attaches it again: attach it in the service's console, unless it hangs there.`,
    own?.resizing !== undefined &&
      `The resize of VM ${own.name} to ${own.resizing.to} is not decided, and no run decides it any more: confirm or revert it in the service's console, where it waits for that.`,
  ].filter((said) => said !== false);
}

/** The address that is named, or all addresses of a component that is named. */
export function meantBy(named: string, state: State): string[] {
  if (!named.endsWith("/")) return [named];
  const known = new Set([
    ...state.resources.keys(),
    ...state.intents.keys(),
    ...state.quarantined.map(({ address }) => address),
  ]);
  const meant = [...known].filter((address) => isMeant(address, named));
  if (meant.length === 0) throw addressUnknown(named, state);
  return meant;
}

/** What lies there. One that cannot be read ends the push, and with --force what can be read of it is compared. */
function presentState(stored: StoredState, location: string, lineage: string, isForced: boolean): FoldedState {
  const read = readState(stored, lineage);
  if (read.ok) return read.state;
  // Not with --force either: what a newer version wrote may name resources that exist, and another program's is nobody's
  // to replace here.
  if (!isForced || read.newer !== undefined || read.foreign === true)
    return openStoredState(stored, location, lineage).state;
  const left = readState(stored, lineage, true);
  return left.ok ? left.state : emptyState(lineage);
}

async function pushState(invocation: ForOneAddress, store: StateStore): Promise<number> {
  const [path] = invocation.args;
  const what = path === "-" ? "standard input" : path;
  const text = path === "-" ? readFileSync(0, "utf8") : readGiven(path, "push what state pull printed");
  // A failed command before the pipe leaves an empty text, which is never a state.
  const pushed =
    text.trim() === ""
      ? { ok: false as const, problem: "it is empty" }
      : readState(openStoredText(text, what, process.env), newLineage());
  if (!pushed.ok && pushed.newer !== undefined) throw new WrittenByNewer(what, pushed.problem, pushed.newer.needs);
  if (!pushed.ok)
    throw fail("state/unreadable", `${what} is no state: ${pushed.problem}`, "push what state pull printed");
  const session = await store.lock(commandHolder(invocation.command));
  const push = async (): Promise<void> => {
    const stored = await session.read().catch((error: unknown) => restoredBy(pushed.state, error));
    const isForced = invocation.flags.force === true;
    const present = presentState(stored, store.location, pushed.state.lineage, isForced);
    if (!isForced) assertWhole(present, store.location);
    const isNew = stored.snapshot === undefined && stored.journal.length === 0;
    if (!isNew && !isForced) refusePush(present, pushed.state);
    await session.replace(
      writeSnapshot({
        ...pushed.state,
        serial: Math.max(pushed.state.serial, present.serial + 1),
        epoch: session.epoch,
      }),
    );
  };
  await closedAfter(push, () => session.release());
  invocation.output.print(`${store.location} now holds ${countOf(pushed.state.resources.size, "resource")}.`);
  return invocation.output.finish({ exitCode: 0 });
}

/** A state that is gone is put back by a copy that has all that was seen of it. */
function restoredBy(pushed: State, error: unknown): StoredState {
  const isCopy =
    error instanceof LessThanSeen &&
    error.code === "state/gone" &&
    error.seen.lineage === pushed.lineage &&
    error.seen.serial <= pushed.serial;
  if (!isCopy) throw error;
  return { journal: [] };
}

/** Refuses a push that looks like an accident: another lineage, an older serial, or resources that it would forget. */
function refusePush(present: State, pushed: State): void {
  const lost = forgottenBy(pushed, present);
  // What is forgotten goes on existing, and the next apply makes what is declared of it a second time.
  const fix =
    lost.length === 0
      ? "--force replaces the state all the same"
      : `the present one (reconcile state pull) has what this one would forget; push that with your changes. With --force ${lost.length === 1 ? "it is" : "they are"} forgotten, and what the file declares of ${lost.length === 1 ? "it" : "them"} is made a second time`;
  if (present.lineage !== pushed.lineage)
    throw fail(
      "state/other-lineage",
      `the pushed state is of another lineage (${pushed.lineage}, not ${present.lineage})`,
      fix,
    );
  if (pushed.serial < present.serial)
    throw fail("state/older", `the pushed state is older (serial ${pushed.serial}, not ${present.serial})`, fix);
  if (lost.length > 0)
    throw fail(
      "state/shrinks",
      `the pushed state forgets ${lost.length} ${lost.length === 1 ? "resource" : "resources"}: ${lost.slice(0, 5).join(", ")}${lost.length > 5 ? ", …" : ""}`,
      fix,
    );
}

/** Records what a person found out in the service; the answer has to fit what is open. */
async function resolveOpen(invocation: ForOneAddress, store: StateStore): Promise<number> {
  const [address] = invocation.args;
  const [answer, ...more] = resolveAnswers.filter((one) => invocation.flags[one] === true);
  if (answer === undefined || more.length > 0)
    throw fail(
      "state/resolve-how",
      answer === undefined ? "say how it ended" : `--${answer} and --${more.join(", --")} cannot both be true`,
      `reconcile state resolve ${inShell(address)} with one of ${resolveAnswers.map((one) => `--${one}`).join(", ")}, or reconcile import ${inShell(address)} ID for a create that was done`,
    );
  let said = "";
  await changeState(invocation, store, (state) => {
    said = settledWords(answer, address, state.intents.get(address));
    return settledBy(answer, address, state);
  });
  const { output } = invocation;
  output.print(said);
  return output.finish({ exitCode: 0 });
}

function settledWords(answer: ResolveAnswer, address: string, intent: Intent | undefined): string {
  if (answer === "paid") return `Nothing of ${address} is owed any more.`;
  if (answer !== "not-created")
    return `The state has ${address} as ${answer} now. Where the service shows otherwise, the next plan goes by the service.`;
  return intent?.operation === "vm.snapshot"
    ? `The snapshot ${intent.name} of ${address} counts as not taken; what needs it takes it anew.`
    : `${address} counts as not created; the next apply creates it where a file declares it.`;
}

function settledBy(answer: ResolveAnswer, address: string, state: State): (StateChange | StepChange)[] {
  const record = state.resources.get(address);
  const intent = state.intents.get(address);
  if (record === undefined && intent === undefined) throw addressUnknown(address, state);
  const nothingOpen = (what: string) =>
    fail(
      "state/nothing-open",
      `no ${what} of ${address} is open`,
      `reconcile state show ${inShell(address)} shows what is`,
    );
  if (answer === "not-created") {
    const changes = neverCreated(address, record, intent);
    if (changes.length === 0) throw nothingOpen("create");
    return changes;
  }
  if (answer === "paid") {
    const owes = debtsIn(record);
    if (owes.length === 0) throw nothingOpen("command");
    return [{ type: "patch", address, owes: { paid: owes.map(({ command }) => command) } }];
  }
  const isResize = answer === "confirmed" || answer === "reverted";
  const isOn = answer === "attached";
  const vm = ofKind(record, "vm") ?? {};
  const patch = isResize
    ? resizeEnded(vm, answer)
    : (dataVolumeMoved(vm, isOn) ?? volumeMoved(ofKind(record, "volume") ?? {}, isOn));
  if (record === undefined || patch === undefined) throw nothingOpen(isResize ? "resize" : "attach or detach");
  return [{ type: "patch", address, fields: patch }];
}

function neverCreated(
  address: string,
  record: RecordedResource | undefined,
  intent: Intent | undefined,
): StateChange[] {
  const isWithoutId = record !== undefined && record.id === undefined;
  return [
    ...(intent === undefined ? [] : [{ type: "intent" as const, address, intent: null }]),
    ...(isWithoutId ? [{ type: "resource" as const, address, record: null }] : []),
  ];
}

async function unlock(invocation: Invocation, store: StateStore): Promise<number> {
  const isForced = invocation.flags.force === true;
  const holder = await store.holder();
  if (!isForced && (holder !== undefined || !store.leases))
    throw fail(
      "state/still-held",
      holder === undefined
        ? `${store.location} has no leases: nothing shows whether a lock's holder is alive`
        : `the lock is held by ${describeHolder(holder)}, and its lease is alive`,
      "reconcile state unlock --force, if that process is really gone",
    );
  const broken = await store.breakLock(!isForced);
  invocation.output.print(
    broken === undefined ? "The state was not locked." : `Took the lock from ${describeHolder(broken)}.`,
  );
  return invocation.output.finish({ exitCode: 0 });
}

export function addressUnknown(address: string, state: State) {
  const known = [...state.resources.keys(), ...state.intents.keys()];
  return (
    damagedRecord(address, state) ??
    fail(
      "state/unknown-address",
      `the state has no ${address}`,
      nearestText(address, known, (near) => `did you mean ${near}?`) ?? "reconcile state list shows what it has",
    )
  );
}
