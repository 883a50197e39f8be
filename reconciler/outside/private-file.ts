/**
 * Files that a command writes for its user: a saved plan, a report, pulled YAML. They name what exists and who owns it,
 * so only their owner can read them. They appear whole or not at all, and no symbolic link that somebody else put there
 * decides where they go.
 */

import { randomUUID } from "node:crypto";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  linkSync,
  lstatSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { makeFolder, whyNoFolder } from "../../emulator/make-folder";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { newerVersion, WrittenByNewer } from "../core/state/newer";
import { errorCode, errorMessage, ifPossible } from "../core/text/errors";
import { fieldsOfJson } from "../core/text/objects";
import { isProcessGone } from "../store/process-gone";
import { mostOfGiven, readPlainFile } from "./files";

class FileNotWritten extends Error {
  override readonly name = "FileNotWritten";
  readonly code = "cli/file-unwritable" satisfies DiagnosticCode;
}

/**
 * `isNew`: an existing file is left as it is, and is an error. `overFiles`: it may be one of the user's own. `mode`: of
 * what names nothing that exists, and may be read by others.
 */
export function writePrivately(
  path: string,
  text: string | Uint8Array,
  { isNew = false, overFiles = false, mode = 0o600 } = {},
): void {
  refuseTarget(path, overFiles);
  const temporary = temporaryOf(path);
  try {
    const output = ownStreamAt(path);
    if (output !== undefined) {
      output.write(text);
      return;
    }
    if (isStream(path)) {
      writeFileSync(path, text);
      return;
    }
    writeFileSync(temporary, text, { flag: "wx", mode, flush: true });
    if (isNew) nameAsNew(temporary, path);
    else renameSync(temporary, path);
  } catch (error) {
    throw new FileNotWritten(`${path} cannot be written: ${whyNotWritten(path, error)}`);
  } finally {
    removeTemporary(temporary);
  }
}

/**
 * Puts a text in the place of a file of the user's own, whole or not at all. The file keeps its owner and its rights, and
 * a link to it stays one.
 */
export function replaceOwnFile(path: string, text: string | Uint8Array): void {
  const target = realpathSync(path);
  const { mode, uid, gid } = statSync(target);
  const temporary = temporaryOf(target);
  try {
    try {
      writeFileSync(temporary, text, { flag: "wx", mode: 0o600, flush: true });
      // Who does not own the file may write it and give it to nobody.
      ifPossible(() => chownSync(temporary, uid, gid));
      chmodSync(temporary, mode);
      renameSync(temporary, target);
    } catch (error) {
      // In a folder of somebody else's, or mounted by itself as in a container, the file can only be written where it is.
      if (!["EACCES", "EPERM", "EROFS", "EBUSY"].includes(errorCode(error) ?? "")) throw error;
      writeFileSync(target, text);
    }
  } catch (error) {
    throw new FileNotWritten(`${path} cannot be written: ${whyNotWritten(path, error)}`);
  } finally {
    removeTemporary(temporary);
  }
}

/** A folder of a user's own to write in, and those above it. `mode`: of those that are made. */
export function makeOwnFolder(path: string, mode?: number): void {
  try {
    makeFolder(path, mode);
  } catch (error) {
    throw new FileNotWritten(`${path} cannot be made: ${whyNoFolder(error) ?? errorMessage(error)}`);
  }
}

/** What no file is written at: for who writes it after something that cannot be done a second time. */
export function refuseTarget(path: string, overFiles = false): void {
  if (isStream(path)) return;
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw new FileNotWritten(`${path} cannot be written: ${whyNotWritten(path, error)}`);
  }
  if (isFolder(path)) throw new FileNotWritten(`${path} cannot be written: it is a folder`);
  refuseLink(path);
  refuseKept(path, overFiles);
}

const wordsOfSystem: Readonly<Record<string, string>> = {
  EACCES: "EACCES: you have no right to write there",
  EPERM: "EPERM: you have no right to write there",
  EROFS: "EROFS: the file system can only be read",
  ENOSPC: "ENOSPC: there is no space left",
  EDQUOT: "EDQUOT: your quota is used up",
  ENOTDIR: "ENOTDIR: a part of its path is no folder",
  EISDIR: "it is a folder",
};

const isFolder = (path: string): boolean => ifPossible(() => statSync(path))?.isDirectory() === true;

/** The system's message names the temporary file, of which nobody knows. */
export function whyNotWritten(path: string, error: unknown): string {
  const code = errorCode(error);
  if (error instanceof FileNotWritten || code === undefined) return errorMessage(error);
  if (code === "ENOENT") return `there is no folder ${dirname(path)}`;
  return wordsOfSystem[code] ?? code;
}

/** The same for a file of the program's own: others go on while the disk takes it. */
export async function writeBeside(path: string, text: string, { isNew = false } = {}): Promise<void> {
  refuseLink(path);
  const temporary = temporaryOf(path);
  try {
    await writeFile(temporary, text, { flag: "wx", mode: 0o600, flush: true });
    if (isNew) nameAsNew(temporary, path);
    else await rename(temporary, path);
  } finally {
    removeTemporary(temporary);
  }
}

/** Where it cannot be removed, as in a folder that others may not enter, the write itself tells why. */
function removeTemporary(path: string): void {
  // What is left is found by its name.
  ifPossible(() => rmSync(path, { force: true }));
}

export const temporaryOf = (path: string): string => `${path}.${process.pid}.${randomUUID()}.tmp`;

/** What writes that were cut off have left beside a file. */
export const temporariesOf = (path: string): string[] =>
  readdirSync(dirname(path)).flatMap((name) =>
    name.startsWith(`${basename(path)}.`) && name.endsWith(".tmp") ? [join(dirname(path), name)] : [],
  );

const temporaryName = /^(.+)\.(\d+)\.[0-9a-f-]{36}\.tmp$/;

/** What writes in a folder have left that were cut off, and whose process is gone; `of`: the file it was to become. */
export const temporariesLeft = (folder: string): { readonly path: string; readonly of: string }[] =>
  readdirSync(folder).flatMap((name) => {
    const [, of, pid] = temporaryName.exec(name) ?? [];
    return of !== undefined && isProcessGone(Number(pid)) ? [{ path: join(folder, name), of: join(folder, of) }] : [];
  });

function refuseLink(path: string): void {
  if (ifPossible(() => lstatSync(path))?.isSymbolicLink() !== true) return;
  throw new FileNotWritten(`${path} is a symbolic link, and nothing is written through one: name the file it leads to`);
}

/**
 * What a state knows is nowhere else, and its name is offered where any file may stand. A file of the desired state, its
 * dialect and its policy are somebody's own work, and stand on the same command line or beside it. `overFiles`: the caller may write over the latter.
 */
export function refuseKept(path: string, overFiles = false): void {
  refuseBesideState(path);
  const text = textThere(path);
  if (text === undefined) return;
  refuseNewerPlan(path, text);
  const kept = keptIn(text);
  if (kept === undefined || (kept !== "a state" && overFiles)) return;
  throw new FileNotWritten(`${path} holds ${kept}, and nothing is written over it`);
}

function textThere(path: string): string | undefined {
  if (ifPossible(() => statSync(path))?.isFile() !== true) return undefined;
  const read = readPlainFile(path, mostOfGiven);
  return "text" in read ? read.text : undefined;
}

/** A state's journal and its lock lie beside it under its name, and are read whoever wrote them. */
function refuseBesideState(path: string): void {
  const state = /^(.+)\.(?:journal(?:\.end)?|lock(?:\.mark)?)$/.exec(path)?.[1];
  if (state === undefined || !(state.endsWith(".state.json") || keptIn(textThere(state) ?? "") === "a state")) return;
  throw new FileNotWritten(`${path} is a file of the state ${state}, and nothing else is written there`);
}

/** It may hold what this version does not know. */
function refuseNewerPlan(path: string, text: string): void {
  if (!/"format":\s*"reconcile-cloud\/(?:plan|sealed)"/.test(text)) return;
  const { format, version, purpose } = fieldsOfJson(text);
  const isPlan = format === "reconcile-cloud/plan" || (format === "reconcile-cloud/sealed" && purpose === "plan");
  const newer = isPlan ? newerVersion(version) : undefined;
  if (newer !== undefined) throw new WrittenByNewer(`the plan ${path}`, `its version is ${newer}`);
}

/** What a text is by the keys at its top. */
const keptByKeys = [
  ["a fleet", /^(["']?)(?:stacks|tenants)\1[ \t]*:/m],
  ["tests", /^(["']?)tests\1[ \t]*:/m],
  [
    "a desired state",
    /^(["']?)(?:version|component|project|service|environments|vars|defaults|components|vms|volumes|groups|reads|lookups|outputs|imports|moved|removed|reachability|checks|policy|rollout)\1[ \t]*:/m,
  ],
  ["a dialect", /^(["']?)(?:operations|answers|records|states|pagination|authorization|errors|limits)\1[ \t]*:/m],
  ["prices", /^(["']?)currency\1[ \t]*:/m],
] as const;

type Kept = "a state" | "a program" | (typeof keptByKeys)[number][0];

function keptIn(text: string): Kept | undefined {
  if (/^\s*\{\s*"format":\s*"reconcile-cloud\/(?:state"|sealed",[^{}]*"purpose":\s*"state")/.test(text))
    return "a state";
  // The journal beside the snapshot of a file, in the clear or not.
  if (/^(?:[0-9a-f]{16} \{"n":|sealed1 )/.test(text)) return "a state";
  // Saved plans, reports and pictures begin otherwise.
  if (/^\s*[{<]/.test(text)) return undefined;
  if (text.startsWith("#!")) return "a program";
  return keptByKeys.find(([, keys]) => keys.test(text))?.[0];
}

function nameAsNew(temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
  } catch (error) {
    // The file system has no links.
    if (errorCode(error) === "EEXIST" || ifPossible(() => lstatSync(path)) !== undefined) throw error;
    renameSync(temporary, path);
  }
}

/**
 * An output of this process, which is written behind what it has already: as a file it would be begun anew, as a pipe it
 * takes no more than its reader has room for, and as a socket it cannot be opened.
 */
export function ownStreamAt(path: string): NodeJS.WriteStream | undefined {
  if (/^\/dev\/(?:stdout|fd\/1)$/.test(path)) return process.stdout;
  return /^\/dev\/(?:stderr|fd\/2)$/.test(path) ? process.stderr : undefined;
}

/**
 * /dev/stdout, a named pipe, a terminal: the text goes to its reader, and there is no file to replace. Others below /dev
 * are files as any other, such as those in /dev/shm.
 */
export function isStream(path: string): boolean {
  const there = ifPossible(() => statSync(path));
  const isOpenFile = /^\/(dev\/(fd\/|std(in|out|err)$)|proc\/)/.test(path);
  return isOpenFile || (there !== undefined && !there.isFile() && !there.isDirectory());
}
