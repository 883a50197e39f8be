/** `reconcile state …`: state surgery. None of it asks the service anything. */

import { readFileSync } from "node:fs";
import { kindOf, parseAddress } from "../../core/model/address";
import { movedIntent, type State, type StateChange } from "../../core/model/recorded";
import { emptyState, type FoldedState } from "../../core/state/fold";
import { forgottenBy } from "../../core/state/forgotten";
import { readState, writeSnapshot } from "../../core/state/text";
import { nearestName } from "../../core/text/nearest";
import { printable } from "../../core/text/printable";
import { openState } from "../../engine/plan";
import { patchRecord } from "../../engine/recorder";
import { recordText } from "../../report/record-text";
import { stateListText } from "../../report/state-text";
import { openStoredText } from "../../store/encrypted";
import { describeHolder, type StateStore } from "../../store/store";
import { fail, holderOf, newLineage, openStore } from "../compose";
import type { Invocation } from "../invocation";
import { readWorkspace } from "../workspace";
import { changeState } from "../writing";

export async function run(invocation: Invocation): Promise<number> {
  const workspace = readWorkspace(invocation, { args: [], needed: false });
  const store = openStore(workspace, invocation.flags);
  switch (invocation.spec.name) {
    case "state list":
      return list(invocation, await read(store));
    case "state show":
      return show(invocation, await read(store));
    case "state pull":
      return pull(invocation, invocation.flags.force === true ? await readWhatIsLeft(store) : await read(store));
    case "state rm":
      return remove(invocation, store);
    case "state mv":
      return move(invocation, store);
    case "state push":
      return push(invocation, store);
    case "state resolve":
      return resolve(invocation, store);
    default:
      return unlock(invocation, store);
  }
}

const read = async (store: StateStore): Promise<FoldedState> =>
  openState(await store.read(), store.location, newLineage()).state;

/** Of a journal that lost lines; for a person who compares it with what exists. */
async function readWhatIsLeft(store: StateStore): Promise<FoldedState> {
  const stored = await store.read();
  const left = readState(stored, newLineage(), true);
  return left.ok ? left.state : openState(stored, store.location, newLineage()).state;
}

function list({ output }: Invocation, state: FoldedState): number {
  for (const record of state.resources.values())
    output.event({ type: "resource", address: record.address, id: record.id ?? null, name: record.name ?? null });
  output.print(stateListText(state));
  return output.finish({ exitCode: 0, orphans: [...state.orphans.values()] });
}

function show({ args, output }: Invocation, state: FoldedState): number {
  const address = args[0]!;
  const record = state.resources.get(address);
  const intent = state.intents.get(address);
  if (record === undefined && intent === undefined) throw unknownAddress(address, state);
  output.event({ type: "resource", address, record: record ?? null, ...(intent === undefined ? {} : { intent }) });
  const addressOf = new Map([...state.resources.values()].map((known) => [known.id, known.address]));
  output.print(recordText(address, record, intent, { width: output.width, nameOfId: (id) => addressOf.get(id) }));
  return output.finish({ exitCode: 0 });
}

/** The whole state as one document, on standard output with and without --json. */
function pull({ output }: Invocation, state: FoldedState): number {
  // What a terminal would act on is written by its number, which is the same JSON.
  process.stdout.write(writeSnapshot(state).split("\n").map(printable).join("\n"));
  return output.json ? 0 : output.finish({ exitCode: 0 });
}

async function remove(invocation: Invocation, store: StateStore): Promise<number> {
  await changeState(invocation, store, (state) =>
    invocation.args.flatMap((address): StateChange[] => {
      const quarantined = state.quarantined.some((piece) => piece.address === address);
      if (!state.resources.has(address) && !state.intents.has(address) && !quarantined)
        throw unknownAddress(address, state);
      return [
        ...(state.resources.has(address) ? [{ type: "resource" as const, address, record: null }] : []),
        ...(state.intents.has(address) ? [{ type: "intent" as const, address, intent: null }] : []),
        ...(quarantined ? [{ type: "release" as const, address }] : []),
      ];
    }),
  );
  invocation.output.print(`Forgot ${invocation.args.join(", ")}. Nothing was deleted in the service.`);
  return invocation.output.finish({ exitCode: 0 });
}

async function move(invocation: Invocation, store: StateStore): Promise<number> {
  const [from, to] = invocation.args as [string, string];
  if (parseAddress(to) === undefined)
    throw fail(
      "state/bad-address",
      `${to} is no address`,
      "an address is vm.KEY, volume.KEY or group.KEY, with [EACH] for for_each",
    );
  await changeState(invocation, store, (state) => {
    const record = state.resources.get(from);
    const intent = state.intents.get(from);
    if (record === undefined && intent === undefined) throw unknownAddress(from, state);
    if (kindOf(from) !== kindOf(to))
      throw fail("state/bad-address", `${from} is a ${kindOf(from)} and cannot become ${to}`);
    if (state.resources.has(to) || state.intents.has(to))
      throw fail("state/occupied", `the state already has a ${to}`, `reconcile state rm ${to}`);
    return [
      ...(record === undefined
        ? []
        : [
            { type: "resource" as const, address: from, record: null },
            { type: "resource" as const, address: to, record: { ...record, address: to } },
          ]),
      ...(intent === undefined
        ? []
        : [
            { type: "intent" as const, address: from, intent: null },
            { type: "intent" as const, address: to, intent: movedIntent(intent, to) },
          ]),
    ];
  });
  invocation.output.print(`${from} is ${to} now.`);
  return invocation.output.finish({ exitCode: 0 });
}

async function push(invocation: Invocation, store: StateStore): Promise<number> {
  const path = invocation.args[0]!;
  const what = path === "-" ? "standard input" : path;
  const text = readFileSync(path === "-" ? 0 : path, "utf8");
  // An empty text is what a command before the pipe leaves when it fails, and never a state.
  const pushed =
    text.trim() === ""
      ? { ok: false as const, problem: "it is empty" }
      : readState(openStoredText(text, what, process.env), newLineage());
  if (!pushed.ok)
    throw fail("state/unreadable", `${what} is no state: ${pushed.problem}`, "push what state pull printed");
  const session = await store.lock(holderOf(invocation.spec.name));
  try {
    const stored = await session.read();
    const isForced = invocation.flags.force === true;
    const read = readState(stored, pushed.state.lineage);
    // A state that cannot be read any more is what a push is to replace, once that was said.
    const left = read.ok ? read : readState(stored, pushed.state.lineage, true);
    const present = left.ok
      ? left.state
      : isForced
        ? emptyState(pushed.state.lineage)
        : openState(stored, store.location, pushed.state.lineage).state;
    if (!isForced && !read.ok) openState(stored, store.location, pushed.state.lineage);
    const isNew = stored.snapshot === undefined && stored.journal.length === 0;
    if (!isNew && !isForced) refusePush(present, pushed.state);
    await session.replace(
      writeSnapshot({
        ...pushed.state,
        serial: Math.max(pushed.state.serial, present.serial + 1),
        epoch: session.epoch,
      }),
    );
  } finally {
    await session.release();
  }
  invocation.output.print(`${store.location} now holds ${pushed.state.resources.size} resources.`);
  return invocation.output.finish({ exitCode: 0 });
}

/** A push is for repairs; what looks like an accident needs to be said twice. */
function refusePush(present: State, pushed: State): void {
  if (present.lineage !== pushed.lineage)
    throw fail(
      "state/other-lineage",
      `the pushed state is of another lineage (${pushed.lineage}, not ${present.lineage})`,
      "--force, if it shall really take its place",
    );
  if (pushed.serial < present.serial)
    throw fail(
      "state/older",
      `the pushed state is older (serial ${pushed.serial}, not ${present.serial})`,
      "--force, if it shall really take its place",
    );
  const lost = forgottenBy(pushed, present);
  if (lost.length > 0)
    throw fail(
      "state/shrinks",
      `the pushed state forgets ${lost.length} ${lost.length === 1 ? "resource" : "resources"}: ${lost.slice(0, 5).join(", ")}${lost.length > 5 ? ", …" : ""}`,
      "--force, or forget them one by one with state rm",
    );
}

const answers = ["not-created", "confirmed", "reverted", "attached", "detached"] as const;
type Answer = (typeof answers)[number];

/** A person looked where this tool cannot: the answer has to fit what is open. */
async function resolve(invocation: Invocation, store: StateStore): Promise<number> {
  const address = invocation.args[0]!;
  const [answer, ...more] = answers.filter((one) => invocation.flags[one] === true);
  if (answer === undefined || more.length > 0)
    throw fail(
      "state/resolve-how",
      answer === undefined ? "say how it ended" : `--${answer} and --${more.join(", --")} cannot both be true`,
      `reconcile state resolve ${address} with one of ${answers.map((one) => `--${one}`).join(", ")}, or reconcile import ${address} ID for a create that was done`,
    );
  await changeState(invocation, store, (state) => settledBy(answer, address, state));
  const { output } = invocation;
  output.print(
    answer === "not-created"
      ? `${address} counts as not created; the next apply creates it.`
      : `${address} counts as ${answer}; the next plan goes on from there.`,
  );
  return output.finish({ exitCode: 0 });
}

function settledBy(answer: Answer, address: string, state: State): StateChange[] {
  const record = state.resources.get(address);
  const nothingOpen = (what: string) =>
    fail("state/nothing-open", `no ${what} of ${address} is open`, `reconcile state show ${address} shows what is`);
  const patched = (patch: object): StateChange[] =>
    record === undefined ? [] : [{ type: "resource", address, record: patchRecord(record, patch) }];
  switch (answer) {
    case "not-created": {
      const intent = state.intents.get(address);
      const isOpen = intent !== undefined;
      const isWithoutId = record !== undefined && record.id === undefined;
      if (!isOpen && !isWithoutId) throw nothingOpen("create");
      return [
        ...(isOpen ? [{ type: "intent" as const, address, intent: null }] : []),
        ...(isWithoutId ? [{ type: "resource" as const, address, record: null }] : []),
      ];
    }
    case "confirmed":
    case "reverted": {
      if (record?.kind !== "vm" || record.resizing === undefined) throw nothingOpen("resize");
      const { from, to } = record.resizing;
      return patched({ resizing: undefined, flavor: answer === "confirmed" ? to : (from ?? record.flavor) });
    }
    case "attached":
    case "detached": {
      if (record?.kind !== "volume" || record.attaching === undefined) throw nothingOpen("attach");
      const { attaching, attachedTo } = record;
      return patched({
        attaching: undefined,
        attachedTo: answer === "attached" ? attaching : attachedTo === attaching ? undefined : attachedTo,
      });
    }
    default:
      return answer satisfies never;
  }
}

async function unlock(invocation: Invocation, store: StateStore): Promise<number> {
  const holder = await store.holder();
  if (holder !== undefined && invocation.flags.force !== true)
    throw fail(
      "state/still-held",
      `the lock is held by ${describeHolder(holder)}, and its lease is alive`,
      "reconcile state unlock --force, if that process is really gone",
    );
  if (!store.leases && invocation.flags.force !== true)
    throw fail(
      "state/still-held",
      `${store.location} has no leases: nothing shows whether a lock's holder is alive`,
      "reconcile state unlock --force, if that process is really gone",
    );
  const broken = await store.breakLock();
  invocation.output.print(
    broken === undefined ? "The state was not locked." : `Took the lock from ${describeHolder(broken)}.`,
  );
  return invocation.output.finish({ exitCode: 0 });
}

function unknownAddress(address: string, state: State) {
  const known = [...state.resources.keys(), ...state.intents.keys()];
  const near = nearestName(address, known);
  return fail(
    "state/unknown-address",
    `the state has no ${address}`,
    near === undefined ? "reconcile state list shows what it has" : `did you mean ${near}?`,
  );
}
