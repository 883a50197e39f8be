/** The files of a stack, as a folder of this machine. */
export interface Checkout {
  readonly folder: string;
  /** A commit, or a digest of the files. */
  readonly revision: string;
  /** Changes when the files in the folder do: a commit elsewhere in the repository is not of this stack. */
  readonly content: string;
  /** Where the repository begins, for what the files read beside their folder. */
  readonly root: string;
}

/** The files of a stack could not be had; the message says what was tried and what came back. */
export class SourceFailed extends Error {
  override readonly name = "SourceFailed";
}
