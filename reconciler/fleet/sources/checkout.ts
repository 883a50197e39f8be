import { relative } from "node:path";

/** The files of a stack, as a folder of this machine. */
export interface Checkout {
  readonly folder: string;
  /** A commit, or a digest of the files. */
  readonly revision: string;
  /** Changes when the files in the folder do: a commit elsewhere in the repository is not of this stack. */
  readonly content: string;
  /** Where the repository begins, for what the files read beside their folder. */
  readonly root: string;
  /** The folder is a copy of this worker, which nobody but it knows by its place. */
  readonly copied?: true;
}

/**
 * Where a value names files of the checkout, they are called by their place in the repository: that is how people know
 * them, and it is the same on every worker and at every commit.
 */
export function asInRepository({ root }: Pick<Checkout, "root">): <T>(value: T) => T {
  const names = [root, relative(process.cwd(), root)].filter((name) => name !== "").map(escaped);
  const pattern = new RegExp(`(?<![\\w./-])(?:${names.join("|")})(?:/|(?![\\w.-]))`, "g");
  return (value) => JSON.parse(JSON.stringify(value).replace(pattern, (found) => (found.endsWith("/") ? "" : ".")));
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The files of a stack could not be had; the message says what was tried and what came back. */
export class SourceFailed extends Error {
  override readonly name = "SourceFailed";
}
