/** The commands that a block names: how a volume is flushed, and what is owed to the guest afterwards. */

import type { CommandFiles, FlushPolicy } from "../../core/model/desired";
import { type Duty, type GuestCommand, usualTimeoutMs } from "../../core/model/guest";
import {
  fieldOf,
  readArgv,
  readDuration,
  readEnum,
  readMap,
  readVariables,
  requireKey,
  type Subject,
  subjectWithin,
  type Values,
  type ValuesOfRow,
} from "../fields";
import type { Flush, GuestCommand as GuestBlock } from "../rows/kinds";
import { positionOf } from "../yaml/file";

/** `undefined`: the block says nothing of it. */
export function readFlush(subject: Subject, values: Values): FlushPolicy | undefined {
  if (fieldOf(values, "flush") === undefined) return undefined;
  const flush: ValuesOfRow<Flush> = readMap(subject, values, "flush");
  const own = subjectWithin(subject, "flush");
  const via = readEnum(own, flush, "via", ["ask", "command", "stop"]) ?? "ask";
  // A command may stay in the file beside another `via`: it is checked, and not used.
  const argv = readArgv(own, flush, "command");
  const env = readVariables(own, flush);
  if (via !== "command") return { via };
  requireKey(own, flush, "command", "add command: [program, argument, …] beside via: command");
  return { via, argv: argv ?? [], ...env };
}

/** `undefined`: the block says nothing of it, or nothing that can be run. */
export function readGuestCommand(subject: Subject, values: Values, duty: Duty): GuestCommand | undefined {
  if (fieldOf(values, duty) === undefined) return undefined;
  const written: ValuesOfRow<GuestBlock> = readMap(subject, values, duty);
  const own = subjectWithin(subject, duty);
  const argv = readArgv(own, written, "command");
  const env = readVariables(own, written);
  const timeoutMs = readDuration(own, written, "timeout") ?? usualTimeoutMs[duty];
  const again = readEnum(own, written, "again", ["when_changed"]);
  requireKey(own, written, "command", "add command: [program, argument, …]");
  if (argv === undefined) return undefined;
  return { argv, ...env, timeoutMs, again };
}

/** Paths in a command are relative to the file that names it. */
export const commandFilesOf = (
  subject: Subject,
  commands: Readonly<Partial<Record<keyof CommandFiles, unknown>>>,
): CommandFiles | undefined => {
  const files = Object.entries(commands).flatMap(([field, command]) =>
    command === undefined ? [] : [[field, positionOf(subject.place([field, "command"])).file]],
  );
  return files.length === 0 ? undefined : Object.fromEntries(files);
};
