/**
 * The lines of `--json` in a file, while a person reads text: each is written as it comes, so that another program can
 * follow.
 */

import { closeSync, constants, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";
import type { Diagnostic } from "../core/model/diagnostic";
import { errorCode } from "../core/text/errors";
import { withoutUsers } from "../core/text/outside-policy";
import { ownStreamAt, refuseKept, whyNotWritten } from "../outside/private-file";
import { fail } from "./crash";
import { tellOutputLost } from "./output-lost";

export interface JsonFile {
  write(line: string): void;
  close(): void;
  /** Why lines are missing in it. A reader that closed the pipe has seen enough. */
  readonly lost: Diagnostic | undefined;
}

/** Opens the file without following a symbolic link that somebody else may have put there. */
export function openJsonFile(path: string): JsonFile {
  const output = ownStreamAt(path);
  if (output !== undefined)
    return { write: (line) => void output.write(line), close: () => undefined, lost: undefined };
  let file: number;
  try {
    refuseKept(path);
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
    const flags = O_WRONLY | O_CREAT | O_TRUNC | (/^\/(dev|proc)\//.test(path) ? 0 : O_NOFOLLOW);
    file = openSync(path, flags, 0o600);
    if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
  } catch (error) {
    throw fail(
      "cli/file-unwritable",
      `--json-into ${withoutUsers(path)} cannot be written: ${withoutUsers(whyNotWritten(path, error))}`,
      "name a file that can be written",
    );
  }
  let isLost = false;
  let lost: Diagnostic | undefined;
  const attempt = (write: () => void): void => {
    try {
      if (!isLost) write();
    } catch (error) {
      isLost = true;
      if (errorCode(error) !== "EPIPE") lost = tellOutputLost(`--json-into ${path}`, error);
    }
  };
  return {
    // `writeSync` may write less than it was given, above all on a full disk.
    write: (line) => attempt(() => writeFileSync(file, line)),
    close: () => attempt(() => closeSync(file)),
    get lost() {
      return lost;
    },
  };
}
