import { relative } from "node:path";
import { withoutUsers } from "../../core/text/outside-policy";
import type { FileChange } from "./change";

/** A source with more than this is refused: no stack is so large. */
export const mostBytes = 256 * 1024 * 1024;

/** The files of a stack, as a folder of this machine. */
export interface Checkout {
  readonly folder: string;
  /** A commit, or a digest of the files. */
  readonly revision: string;
  /** Changes when the files in the folder change; a commit elsewhere in the repository does not change it. */
  readonly content: string;
  /** The root of the repository, for files that are read from outside of the folder. */
  readonly root: string;
  /** The folder is this worker's copy, whose path means nothing to anybody else. */
  readonly copied?: true;
  /** What leads to these files from those of another revision; absent: the source tells of no changes. */
  readonly changeSince?: (revision: string | null, files: readonly string[]) => Promise<FileChange>;
}

/**
 * Names files of the checkout by their path in the repository: people know them by it, and it is the same on every
 * worker and at every commit.
 */
export function asInRepository({ root }: Pick<Checkout, "root">): <T>(value: T) => T {
  const names = [root, relative(process.cwd(), root)].filter((name) => name !== "").map(escapedPattern);
  const pattern = new RegExp(`(?<![\\w./-])(?:${names.join("|")})(?:/|(?![\\w.-]))`, "g");
  return (value) => JSON.parse(JSON.stringify(value).replace(pattern, (found) => (found.endsWith("/") ? "" : ".")));
}

const escapedPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The files of a stack could not be fetched; the message says what was tried and what came back. */
export class SourceFailed extends Error {
  override readonly name = "SourceFailed";
  /** `isSilent`: whoever was asked did not answer. */
  constructor(
    message: string,
    readonly isSilent = false,
  ) {
    // A name in an address may be a token.
    super(withoutUsers(message));
  }
}

/** The files were asked for and are not there, for every worker. */
export class NotInSource extends SourceFailed {}
