/**
 * The one reader of files that a person or another file names. Plain files only, read no further than a limit: a device
 * or a pipe would be read for ever, by a worker that other stacks wait for.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { relative } from "node:path";
import { asError, errorCode } from "../core/text/errors";

/** The largest file that another file may name: a component, variables, a dialect, prices. */
export const mostOfNamed = 1 << 20;
/** The largest file that a person names. */
export const mostOfGiven = 1 << 28;

/** A path as a person who works in this folder writes it. */
export const shownPath = (path: string): string => relative(process.cwd(), path) || path;

export type FileText = { readonly text: string } | { readonly problem: string; readonly isMissing: boolean };

export function readPlainFile(path: string, most: number): FileText {
  let file: number | undefined;
  try {
    // Without waiting: opening a pipe that nobody writes to would not come back.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const there = fstatSync(file);
    if (!there.isFile() && !isHandedOver(path))
      return refused(
        there.isDirectory()
          ? "it is a folder"
          : "it is no plain file, but a device, a pipe or a socket, which may have no end",
      );
    return there.size > most ? fileTooLarge(most) : readUpTo(file, most);
  } catch (error) {
    return { problem: asError(error).message, isMissing: errorCode(error) === "ENOENT" };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A shell hands a program's output over as a file: `-f <(program)`. */
const isHandedOver = (path: string): boolean => /^\/(?:dev|proc\/self)\/fd\/[0-9]+$|^\/dev\/stdin$/.test(path);

/** Files of the system say no size before they are read. */
function readUpTo(file: number, most: number): FileText {
  const parts: Buffer[] = [];
  for (let length = 0; length <= most; ) {
    const part = Buffer.allocUnsafe(64 * 1024);
    const read = readSync(file, part);
    if (read === 0) return { text: Buffer.concat(parts).toString("utf8") };
    parts.push(part.subarray(0, read));
    length += read;
  }
  return fileTooLarge(most);
}

const refused = (problem: string): FileText => ({ problem, isMissing: false });
const fileTooLarge = (most: number): FileText => refused(`it is larger than ${most / (1 << 20)} MiB`);
