/**
 * An error that a user can cause becomes diagnostics. Any other is a bug, and is reported as one, with a stack trace
 * only when asked for.
 */

import { type Diagnostic, diagnosticsIn } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { errorCode, errorMessage } from "../core/text/errors";
import { fieldsIn } from "../core/text/objects";
import { withoutUsers } from "../core/text/outside-policy";
import { printable } from "../core/text/printable";
import { isExplained } from "../report/explanations";
import { StateLocked, StateSealed } from "../store/store";

const fixesOfCrash: Record<string, string> = {
  "cli/file-unwritable": "name another file, or correct the rights",
  "state/lease-lost": "run the same command again",
  "state/moved-on": "run the same command again: it plans anew",
  "state/unreadable":
    "restore it from a copy: reconcile state push COPY --force; reconcile state pull --force prints what is left of one that lost lines",
  "state/key-missing":
    "RECONCILE_STATE_KEY: 32 bytes in base64 (openssl rand -base64 32), or the passphrase it was made with",
  "state/key-bad":
    "RECONCILE_STATE_ENCRYPTION: set it to required or optional, or leave it out; RECONCILE_STATE_KEY: 32 bytes in base64, or a passphrase",
  "state/not-encrypted": "make it anew with the key set, or unset the key to use it as it is",
  "state/damaged": "restore it from a copy",
  "state/store-failed": "check the path or address of the state, its rights and its space",
};

/** `undefined` when the error is a bug. */
export function asDiagnostics(error: unknown): readonly Diagnostic[] | undefined {
  const carried = diagnosticsIn(error);
  if (carried !== undefined) return carried;
  const code = errorCode(error);
  const message = withoutUsers(errorMessage(error));
  const ownFix =
    error instanceof StateLocked ? fixOfLocked(error) : error instanceof StateSealed ? error.fix : undefined;
  const fix = ownFix ?? fixesOfCrash[code ?? ""];
  if (isExplained(code)) return [{ severity: "error", code, summary: message, fix }];
  if (typeof code !== "string" || !/^E[A-Z]+$/.test(code)) return undefined;
  const isFolderGone = fieldsIn(error)["syscall"] === "uv_cwd";
  return [
    {
      severity: "error",
      code: "cli/system",
      summary: isFolderGone ? "the working folder is not there any more" : message,
      fix: isFolderGone ? "change to a folder that exists" : "look at the path, the rights and the space",
    },
  ];
}

/** A lock without a lease is taken with --force alone: nothing shows whether its holder lives. */
const fixOfLocked = ({ leases }: StateLocked): string =>
  `wait for it (--lock-timeout 5m), or if that process is gone: reconcile state unlock${leases ? "" : " --force"}`;

export function reportCrash(error: unknown, argv: readonly string[]): void {
  const text = errorMessage(error);
  process.stderr.write(
    `reconcile ${printable(argv[0] ?? "")} stopped on a bug of its own: ${printable(text)}\nNothing that was recorded is lost; run the same command again. Please report this with RECONCILE_DEBUG=1 set.\n`,
  );
  if (process.env["RECONCILE_DEBUG"] === "1" && error instanceof Error) process.stderr.write(`${error.stack}\n`);
}

/** Carries diagnostics out of deep calls to the command's end. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map((diagnostic) => diagnostic.summary).join("; "));
  }
}

/** What was given in the place of a file or a name may be an address with a password. */
export const fail = (code: DiagnosticCode, summary: string, fix?: string): CommandFailed =>
  new CommandFailed([{ severity: "error", code, summary: withoutUsers(summary), fix: fix && withoutUsers(fix) }]);
