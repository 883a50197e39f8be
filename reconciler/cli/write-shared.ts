/**
 * A file that a command writes again and again, and that may hold more than it wrote: /etc/hosts, a configuration of
 * ssh. Its own lines stand between two marks, and nothing beside them is touched.
 */
import { readFileSync } from "node:fs";
import { errorCode } from "../core/text/errors";
import { isObject, parsedJson } from "../core/text/objects";
import { printable } from "../core/text/printable";
import { isStream, refuseKept, replaceOwnFile, writePrivately } from "../outside/private-file";
import { fail } from "./compose";

export const blockName = (project: string | undefined, environment: string | undefined): string =>
  printable([project ?? "project", ...(environment === undefined ? [] : [environment])].join("/"));

/** A text as its bytes, a letter each: what somebody else wrote into the file may be in any encoding, and stays as it is. */
const asBytes = (text: string): string => Buffer.from(text).toString("latin1");

/** `isWhole`: the form has no comments, so that the file is the command's alone. */
export function writeShared(path: string, text: string, name: string, isWhole: boolean): void {
  const there = readThere(path);
  const next = isWhole ? wholeText(path, asBytes(text), there) : withBlock(path, asBytes(text), name, there);
  if (next === there) return;
  const bytes = Buffer.from(next, "latin1");
  if (there === undefined) writePrivately(path, bytes);
  else {
    refuseKept(path, true);
    replaceOwnFile(path, bytes);
  }
}

function readThere(path: string): string | undefined {
  // Nothing of this command stands in a pipe, and reading one waits for whoever writes into it: for this command.
  if (isStream(path)) return undefined;
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    // Of a folder, the writer says what is wrong.
    if (errorCode(error) === "ENOENT" || errorCode(error) === "EISDIR") return undefined;
    throw error;
  }
}

function wholeText(path: string, text: string, there: string | undefined): string {
  if (there === undefined || there.trim() === "" || isOfOneForm(parsedJson(there), parsedJson(text))) return text;
  throw fail("cli/file-exists", `${path} holds something else`, "name another file, or move it away");
}

/** Whether one may have been written as the other was: they share a key at their top, or in the items of a list. */
function isOfOneForm(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    const [first, second] = [one[0], other[0]];
    return first === undefined || second === undefined || isOfOneForm(first, second);
  }
  return isObject(one) && isObject(other) && Object.keys(one).some((key) => key in other);
}

function withBlock(path: string, text: string, name: string, there: string | undefined): string {
  const marks = [`# BEGIN reconcile ${name}`, `# END reconcile ${name}`];
  const [begin = "", end = ""] = marks.map(asBytes);
  const block = `${begin} (written by reconcile output; what is between these two lines is replaced)\n${text}${end}\n`;
  if (there === undefined || there.trim() === "") return block;
  const lines = there.split("\n");
  const plain = lines.map((line) => line.replace(/\r$/, ""));
  const begins = plain.flatMap((line, at) => (line === begin || line.startsWith(`${begin} (`) ? [at] : []));
  const ends = plain.flatMap((line, at) => (line === end ? [at] : []));
  const [from, to] = [begins[0], ends[0]];
  if (from !== undefined && to !== undefined && begins.length === 1 && ends.length === 1 && from < to) {
    // The block has the line ends of its marks, which an editor gave them.
    const own = lines[from]?.endsWith("\r") === true ? block.replaceAll("\n", "\r\n") : block;
    return [...lines.slice(0, from).map((line) => `${line}\n`), own, lines.slice(to + 1).join("\n")].join("");
  }
  throw fail(
    "cli/file-exists",
    begins.length + ends.length === 0
      ? `${path} holds other lines, and none of this project`
      : `${path} has the marks of this project not once, in their order`,
    `name a file of its own; or mark the place in this one with two lines: ${marks.join(" and ")}`,
  );
}
