/**
 * A program's notes as files in the folder `.reconcile` beside it, so that each process that serves the program reads
 * what the others wrote. They hold only ids, times and the program's own names.
 *
 *   creates/<resource>.json       a create that was sent; with the id of what it made, once that is known
 *   creates/<resource>.left.json  a delete that was sent
 *   creates/<resource>.stopped.json  the VM that was stopped for its flush
 *   creates/made-<thing>.json     which of the first files has the id of this thing
 *   owners/<thing>.json           which resource has taken this thing over
 *   removed/<component>.json      what the files of a component take out of the program
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type RemovedRequest, removalFor } from "../core/model/desired";
import { errorCode, errorMessage } from "../core/text/errors";
import { parsedJson } from "../core/text/objects";
import { resourceOfPart } from "../one/parts";
import {
  type Claim,
  type ForeignCreate,
  NotedMeanwhile,
  type OpenCreate,
  type OpenDelete,
  type ProgramNotes,
} from "../one/program-notes";
import { isProcessGone } from "../store/process-gone";
import { temporariesLeft, temporariesOf, temporaryOf, writeBeside } from "./private-file";

/** A process by a name that no other one has, however often its number is given out again. */
export interface Writer {
  readonly name: string;
  readonly pid: number;
}

const thisProcess: Writer = { name: randomUUID(), pid: process.pid };

interface Note extends OpenCreate {
  readonly by: Writer;
  readonly urn?: string;
  /** Of the service, the type and the name of what is made; a name may be a secret. */
  readonly named?: string;
}

interface StopNote {
  readonly vm: string;
}

interface MadeFile {
  readonly file: string;
}

/** How often to look for a process that still works on the create, and how many times. */
const lookForNoteMs = 200;
const looks = 300;

export interface Neighbours {
  /**
   * Another engine is at work on the program: it may have read a state of before, and may write that over the one that
   * was seen.
   */
  areThere(): boolean;
  /** They were when this process first asked, or had begun before it. */
  wereThere(): boolean;
}

const alone: Neighbours = { areThere: () => false, wereThere: () => false };

/** `resource`: its URN, and the service that it is of. */
export function programNotes(
  folder: string,
  { urn, service }: { readonly urn: string; readonly service: string },
  writer: Writer = thisProcess,
  neighbours: Neighbours = alone,
): ProgramNotes {
  const creates = join(folder, "creates");
  const owners = join(folder, "owners");
  const file = `${noteName(`${service}\n${urn}`)}.json`;
  const path = join(creates, file);
  const leaving = join(creates, file.replace(/json$/, "left.json"));
  const stopped = join(creates, file.replace(/json$/, "stopped.json"));
  const madeAt = (thing: string): string => join(creates, `made-${noteName(thing)}.json`);
  const claimAt = (thing: string): string => join(owners, `${noteName(thing)}.json`);
  for (const one of [creates, owners]) sweepOnce(one, writer);
  let looked: Note | undefined;
  let isWritten = false;
  const nameOf = (name: string): string => noteName(`${service}\n${typeIn(urn)}\n${name}`);
  const foreign = (name: string) => foreignIn(folder, creates, file, urn, nameOf(name), writer);
  const write = async (at: string, value: OpenDelete | StopNote | Note | MadeFile | Claim): Promise<void> => {
    mkdirSync(join(at, ".."), { recursive: true, mode: 0o700 });
    await writeBeside(at, JSON.stringify(value));
  };
  const forgetMade = (thing: string): void => {
    const made = madeAt(thing);
    const pointer = existsSync(made) ? noteAt(made, isMadeFile) : undefined;
    if (pointer === undefined) return;
    const at = join(creates, pointer.file);
    if (isAbout(readNote(at), thing)) removeFile(at);
    removeFile(made);
  };
  return {
    async find(signal) {
      for (let look = 0; ; look++) {
        const note = readNote(path);
        looked = note;
        if (note === undefined || note.by.name === writer.name) return undefined;
        const isAtWork = note.id === undefined && note.by.pid !== writer.pid && !isProcessGone(note.by.pid);
        if (!isAtWork || look >= looks || signal.aborted) {
          if (note.id === undefined) finishNote(path, note.sentAt);
          looked = readNote(path);
          return looked;
        }
        await new Promise((resolve) => setTimeout(resolve, lookForNoteMs));
      }
    },
    async write(open, { name, thing } = {}) {
      const note: Note = { ...open, by: writer, urn, named: name === undefined ? undefined : nameOf(name) };
      // First where it is found by its id: a note with an id that nobody finds would never go.
      if (thing !== undefined) await write(madeAt(thing), { file });
      if (isWritten || readNote(path)?.by.name === writer.name) await write(path, note);
      else await writeFirst(path, looked, note);
      isWritten = true;
      removeFile(leaving);
    },
    async takeBackNone() {
      const { saidNone: _saidNone, ...note } = readNote(path) ?? {};
      if (isNote(note)) await write(path, note);
    },
    findForeign: (name) => foreign(name)?.open,
    settleForeign(name) {
      const found = foreign(name);
      if (found?.isOfNobodyElse === true) removeFile(found.path);
    },
    settled() {
      const note = existsSync(path) ? readNote(path) : undefined;
      if (note?.by.name === writer.name || isSame(note, looked)) removeFile(path);
    },
    async isInState(thing, sentAt) {
      if (existsSync(madeAt(thing)) && !neighbours.wereThere()) forgetMade(thing);
      const note = existsSync(path) ? readNote(path) : undefined;
      if (note === undefined) return;
      const isOfThis = note.id === undefined ? note.sentAt === sentAt : isAbout(note, thing);
      if (isOfThis && !neighbours.wereThere()) removeFile(path);
      else if (!isOfThis && note.id !== undefined && note.hasFormer !== true)
        await write(path, { ...note, hasFormer: true });
    },
    async formerGoes() {
      const { hasFormer, ...note } = readNote(path) ?? {};
      if (hasFormer !== true || !isNote(note) || note.by.name !== writer.name || neighbours.areThere()) return;
      await write(path, note);
    },
    isGone: forgetMade,
    writeLeaving: (open) => write(leaving, open),
    findLeft(id) {
      const note = noteAt(leaving, isLeaving);
      return note?.id === id ? note.disks : undefined;
    },
    forgetLeaving: () => removeFile(leaving),
    writeStopped: (vm) => write(stopped, { vm }),
    findStopped: () => noteAt(stopped, isStopNote)?.vm,
    forgetStopped: () => removeFile(stopped),
    staysAlive: () => isKeptAlive(folder, urn),
    claimOf: (thing) => noteAt(claimAt(thing), isClaim),
    claim: (thing, owner, by = urn) => write(claimAt(thing), { owner, by }),
    unclaim: (thing) => removeFile(claimAt(thing)),
    claimAt,
  };
}

interface RemovedNote {
  /** The stack of the component, and the types of it and of those around it. */
  readonly stack: string;
  readonly types: string;
  readonly removed: readonly Removal[];
}

export type Removal = Pick<RemovedRequest, "from" | "destroy">;

const removedIn = (folder: string): string => join(folder, "removed");

/** Written before the engine deletes what the component does not make any more. */
export async function noteRemoved(
  component: string,
  removed: readonly Removal[],
  folder = join(process.cwd(), ".reconcile"),
): Promise<void> {
  const path = join(removedIn(folder), `${noteName(component)}.json`);
  if (removed.length === 0) return removeFile(path);
  const note: RemovedNote = { stack: stackIn(component), types: typesIn(component), removed };
  const text = JSON.stringify(note);
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  await writeBeside(path, text);
}

function isKeptAlive(folder: string, urn: string): boolean {
  const within = removedIn(folder);
  // A component that got another parent in this update still has what it leaves out under the former one.
  const component = typesIn(urn).split("$").at(-2);
  const address = resourceOfPart(urn.split("::").slice(3).join("::"));
  return (existsSync(within) ? readdirSync(within) : [])
    .filter((name) => /^[0-9a-f]{32}\.json$/.test(name))
    .some((name) => {
      const note = noteAt(join(within, name), isRemovedNote);
      if (note === undefined || note.types.split("$").at(-1) !== component) return false;
      // A stack that was renamed may still have its resources under its former name.
      if (note.stack !== stackIn(urn) && isStackThere(folder, stackIn(urn))) return false;
      return removalFor(address, new Map(note.removed.map((one) => [one.from, one])))?.destroy === false;
    });
}

const isAbout = (note: Note | undefined, thing: string): boolean =>
  note?.id !== undefined && thing.endsWith(`:${note.id}`);

const isSame = (one: Note | undefined, other: Note | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/**
 * Another process may write the first note at the same time: one of them takes away what both have looked at, and one
 * gives its own the name.
 */
async function writeFirst(path: string, looked: Note | undefined, note: Note): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const there = readNote(path);
  if (!isSame(there, looked)) throw new NotedMeanwhile();
  const aside = temporaryOf(path);
  try {
    if (there !== undefined) renameSync(path, aside);
    await writeBeside(path, JSON.stringify(note), { isNew: true });
  } catch (error) {
    throw ["ENOENT", "EEXIST"].includes(errorCode(error) ?? "") ? new NotedMeanwhile() : error;
  } finally {
    removeFile(aside);
  }
}

interface NamedNote {
  readonly path: string;
  readonly by: string;
}

const namedBefore = new Map<string, ReadonlyMap<string, readonly NamedNote[]>>();

/** What was open when this process looked first, by what it is named. */
function namedNotes(creates: string, writer: Writer): ReadonlyMap<string, readonly NamedNote[]> {
  const key = `${writer.name} ${creates}`;
  let known = namedBefore.get(key);
  if (known !== undefined) return known;
  const found = new Map<string, NamedNote[]>();
  for (const file of existsSync(creates) ? readdirSync(creates) : []) {
    if (!/^[0-9a-f]{32}\.json$/.test(file)) continue;
    const path = join(creates, file);
    const note = parsedFile(path);
    if (!isNote(note) || note.urn === undefined || note.named === undefined || !isProcessGone(note.by.pid)) continue;
    found.set(note.named, [...(found.get(note.named) ?? []), { path, by: note.urn }]);
  }
  known = found;
  namedBefore.set(key, known);
  return known;
}

/** `isOfNobodyElse`: no other stack can be at it. */
function foreignIn(folder: string, creates: string, own: string, urn: string, named: string, writer: Writer) {
  for (const { path, by } of namedNotes(creates, writer).get(named) ?? []) {
    const note = path === join(creates, own) ? undefined : readNote(path);
    if (note === undefined || note.by.name === writer.name) continue;
    const isOfNobodyElse =
      stackIn(by) === stackIn(urn) || (!isStackThere(folder, stackIn(by)) && isStackThere(folder, stackIn(urn)));
    // Where no file tells which stacks there are, another one may have it by its id.
    if (!isOfNobodyElse && (isStackThere(folder, stackIn(by)) || note.id !== undefined)) continue;
    const { sentAt, id } = note;
    return { path, isOfNobodyElse, open: { sentAt, id, by } satisfies ForeignCreate };
  }
  return undefined;
}

/** urn:pulumi:stack::project::types::name, and the last type as package:module:Type */
export const stackIn = (urn: string): string => urn.split("::")[0]?.split(":").at(-1) ?? "";
const typesIn = (urn: string): string => urn.split("::")[2] ?? "";
const typeIn = (urn: string): string => typesIn(urn).split(":").at(-1) ?? "";

/** A stack that is renamed or removed takes its configuration along, which is beside the program. */
const isStackThere = (folder: string, stack: string): boolean =>
  ["yaml", "yml", "json"].some((end) => existsSync(join(dirname(folder), `Pulumi.${stack}.${end}`)));

/** A process that was killed may have written the id, and not yet given the file its name: that is done here. */
function finishNote(path: string, sentAt: string): void {
  for (const temporary of temporariesOf(path)) {
    const note = parsedFile(temporary);
    if (!isNote(note) || note.id === undefined || note.sentAt !== sentAt) continue;
    renameSync(temporary, path);
    return;
  }
}

const swept = new Set<string>();

/** Once in each process: what others were writing when they were killed is finished where it is whole, or else removed. */
function sweepOnce(folder: string, writer: Writer): void {
  const key = `${writer.name} ${folder}`;
  if (swept.has(key)) return;
  swept.add(key);
  try {
    for (const { path, of } of existsSync(folder) ? temporariesLeft(folder) : []) {
      const note = parsedFile(of);
      if (isNote(note) && note.id === undefined) finishNote(of, note.sentAt);
      removeFile(path);
    }
  } catch {
    // Another process does the same, or the folder is not to be written in. Nothing depends on it.
  }
}

/** `undefined`: it is not there, or not whole. */
const parsedFile = (path: string): unknown => (existsSync(path) ? parsedJson(readFileSync(path, "utf8")) : undefined);

const noteName = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

function removeFile(path: string): void {
  if (existsSync(path)) rmSync(path, { force: true });
}

/** A note that is there and cannot be read is not the same as none: going on without it could make something twice. */
function noteAt<T>(path: string, isOne: (value: unknown) => value is T): T | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw new UnreadableNote(path, errorMessage(error));
  }
  const value = parsedJson(text);
  if (isOne(value)) return value;
  throw new UnreadableNote(path, "it is no note of this version");
}

class UnreadableNote extends Error {
  override readonly name = "UnreadableNote";
  constructor(path: string, why: string) {
    super(
      `${path} cannot be read (${why}), and it may say that a create or a delete was cut off: restore it, or look in the service for what it was about, and remove that file`,
    );
  }
}

const hasKeys = <K extends string>(value: unknown, ...names: readonly K[]): value is Record<K, unknown> =>
  typeof value === "object" && value !== null && names.every((name) => name in value);

const isMadeFile = (note: unknown): note is MadeFile => hasKeys(note, "file") && typeof note.file === "string";

const isLeaving = (note: unknown): note is OpenDelete => hasKeys(note, "id", "disks") && Array.isArray(note.disks);

const isStopNote = (note: unknown): note is StopNote => hasKeys(note, "vm") && typeof note.vm === "string";

const isRemovedNote = (note: unknown): note is RemovedNote =>
  hasKeys(note, "stack", "types", "removed") && Array.isArray(note.removed);

const isClaim = (note: unknown): note is Claim =>
  hasKeys(note, "owner", "by") && typeof note.owner === "string" && typeof note.by === "string";

const isWriter = (value: unknown): value is Writer =>
  hasKeys(value, "name", "pid") && typeof value.name === "string" && typeof value.pid === "number";

const isOpenCreate = (note: unknown): note is OpenCreate =>
  hasKeys(note, "sentAt", "idsBefore") && typeof note.sentAt === "string" && Array.isArray(note.idsBefore);

const isNote = (note: unknown): note is Note => isOpenCreate(note) && hasKeys(note, "by") && isWriter(note.by);

/** Notes of earlier versions name their process by its number alone. */
const isEarlierNote = (note: unknown): note is OpenCreate & { readonly pid: number } =>
  isOpenCreate(note) && hasKeys(note, "pid") && typeof note.pid === "number";

function readNote(path: string): Note | undefined {
  const note = noteAt(
    path,
    (value): value is Note | (OpenCreate & { pid: number }) => isNote(value) || isEarlierNote(value),
  );
  if (note === undefined || "by" in note) return note;
  return { ...note, by: { name: "", pid: note.pid } };
}
