/**
 * A file that somebody is writing may be cut at the end of a line, and then reads as a whole file that declares less.
 * A folder that a checkout is written into may lack a file for a moment in the same way. So files are acted on only when
 * all of them stayed the same for a moment.
 */
import { fail } from "./crash";

interface SourcesRead {
  readonly sources: readonly { readonly file: string; readonly text: string }[];
}

export interface FileLooks {
  /** The files that the command line names; those of a folder may become more while a checkout is written. */
  readonly named: () => readonly string[];
  /** `undefined` when the file is not there or cannot be read. */
  readonly textOf: (file: string) => string | undefined;
  /** Waits as long as a writer may take from one write to the next. */
  readonly pause: () => Promise<void>;
}

const mostReadings = 20;

export async function readWhenStill<T extends SourcesRead>(
  read: () => T,
  { named, textOf, pause }: FileLooks,
): Promise<T> {
  for (let tried = 0; tried < mostReadings; tried++) {
    const before = new Map(named().map((file) => [file, textOf(file)]));
    const found = read();
    await pause();
    const after = named();
    if (
      after.length === before.size &&
      after.every((file) => before.has(file) && textOf(file) === before.get(file)) &&
      found.sources.every(({ file, text }) => textOf(file) === text)
    )
      return found;
  }
  throw fail(
    "watch/files-changing",
    `the files changed each of the ${mostReadings} times that they were read`,
    "put a whole new file in place of the old one (write it beside it, then rename it)",
  );
}
