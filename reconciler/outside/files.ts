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

/**
 * A path as a person who works in this folder writes it. What a shell hands over lies in no folder: it gets a name, and
 * what it says of paths is relative to the working folder.
 */
export const shownPath = (path: string): string =>
  isHandedOver(path)
    ? `<${path.replace(/^\/(?:dev|proc\/self)\//, "").replace("/", "-")}>`
    : relative(process.cwd(), path) || path;

/** Whether this is what `shownPath` calls something that a shell handed over, which no later command finds again. */
export const isNameOfHandedOver = (name: string): boolean => /^<[^>]*>$/.test(name);

export type FileText =
  | { readonly text: string }
  | { readonly problem: string; readonly isMissing: boolean; readonly fix: string };

export function readPlainFile(path: string, most: number): FileText {
  const before = textsHandedOver.get(path);
  if (before !== undefined) return before;
  const read = readOnce(path, most);
  if (isHandedOver(path)) textsHandedOver.set(path, read);
  return read;
}

/** What a shell handed over: a pipe can be read once, and some commands read their files for each environment. */
const textsHandedOver = new Map<string, FileText>();

function readOnce(path: string, most: number): FileText {
  let file: number | undefined;
  try {
    // Without waiting: opening a pipe that nobody writes to would not come back. The program behind a pipe that a shell
    // hands over may take its time.
    const waits = isHandedOver(path);
    file = openSync(path, constants.O_RDONLY | (waits ? 0 : (constants.O_NONBLOCK ?? 0)));
    const there = fstatSync(file);
    if (!there.isFile() && !waits)
      return refused(
        there.isDirectory()
          ? "it is a folder"
          : "it is no plain file, but a device, a pipe or a socket, which may have no end",
      );
    return there.size > most ? fileTooLarge(most) : readUpTo(file, most);
  } catch (error) {
    const isMissing = errorCode(error) === "ENOENT";
    return {
      problem: isMissing ? "there is no such file" : asError(error).message,
      isMissing,
      fix: "name a file, and check its rights",
    };
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

const refused = (problem: string, fix = "name a plain file"): FileText => ({ problem, isMissing: false, fix });
const fileTooLarge = (most: number): FileText =>
  refused(
    `it is larger than ${most / (1 << 20)} MiB`,
    "check whether it is the file that is meant; if it is, divide it or take out what nothing needs",
  );
