/** Makes a folder and those above it. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { codeOfError } from "./errors";

/** One after the other: where a file system makes none, such as /proc, Node 20 tries all of them again without end. */
export function makeFolder(dir: string, mode?: number): void {
  const path = resolve(dir);
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!existsSync(path) || !statSync(path).isDirectory()) throw error;
  }
}

/** Why a folder cannot be made; `undefined`: for what nobody foresaw, of which the system's own words tell. */
export const whyNoFolder = (error: unknown): string | undefined => reasons[codeOfError(error) ?? ""];

const reasons: Readonly<Record<string, string>> = {
  EEXIST: "there is a file in its place, and no folder",
  ENOTDIR: "a part of its path is a file, and no folder",
  ENOENT: "its file system makes no folder there",
  EACCES: "you have no right to make it",
  EPERM: "you have no right to make it",
  EROFS: "its file system can only be read",
  ENOSPC: "there is no space left",
};
