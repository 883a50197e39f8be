/**
 * One call of the `git` program. It gets no secret of the fleet, asks nobody, speaks only with places that a stack may
 * name, and ends: a call that says nothing for half a minute is cut off, with everything that it started.
 */

import { spawn } from "node:child_process";
import { ifPossible } from "../../core/text/errors";
import { withoutUsers } from "../../core/text/outside-policy";
import { SourceFailed } from "./checkout";

export interface GitCall {
  /** The mirror. */
  readonly cwd: string;
  readonly signal?: AbortSignal | undefined;
  readonly extra?: Readonly<Record<string, string>>;
  readonly silentMs?: number | undefined;
}

/** Fetches tell their progress, so that only a call that waits for nothing is silent for so long. */
const gitSilentMs = 30_000;
const longestMs = 10 * 60_000;
const gitGraceMs = 2000;
const mostOutput = 64 * 1024 * 1024;
const keptErrors = 16_000;

/** A fetch that gets a few bytes now and then is ended by git itself; one that gets nothing was ended before. */
const gitSettings = [
  "safe.directory=*",
  "core.hooksPath=/dev/null",
  "http.lowSpeedLimit=1000",
  "http.lowSpeedTime=40",
  "protocol.allow=never",
  ...["https", "http", "ssh", "file"].map((name) => `protocol.${name}.allow=always`),
];

export function runGit(args: readonly string[], call: GitCall): Promise<string> {
  const { cwd, signal, extra = {}, silentMs: limitMs = gitSilentMs } = call;
  return new Promise((resolve, reject) => {
    const word = args.find((each) => /^[a-z]+(-[a-z]+)*$/.test(each));
    const fail = (why: string, isSilent = false): void => reject(new SourceFailed(`git ${word}: ${why}`, isSilent));
    if (signal?.aborted === true) return fail("it was stopped");
    const child = spawn("git", [...gitSettings.flatMap((each) => ["-c", each]), ...args], {
      cwd,
      env: { ...environment(), ...extra, GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "", LC_ALL: "C" },
      stdio: ["ignore", "pipe", "pipe"],
      // In a group of its own, so that the helpers that git starts end with it.
      detached: process.platform !== "win32",
    });
    const out: Buffer[] = [];
    let [size, errors] = [0, ""];
    const cutOff = (why: string, isSilent = false): void => {
      endGitGroup(child.pid, "SIGTERM");
      setTimeout(() => endGitGroup(child.pid, "SIGKILL"), gitGraceMs).unref();
      // Whoever still holds the output open is not waited for.
      child.stdout.destroy();
      child.stderr.destroy();
      settle(() => fail(why, isSilent));
    };
    const silence = setTimeout(() => cutOff(`no answer for ${limitMs / 1000} s`, true), limitMs);
    const total = setTimeout(() => cutOff(`it did not end within ${longestMs / 60_000} min`), longestMs);
    const stop = (): void => cutOff("it was stopped");
    signal?.addEventListener("abort", stop, { once: true });
    let isSettled = false;
    function settle(end: () => void): void {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(silence);
      clearTimeout(total);
      signal?.removeEventListener("abort", stop);
      end();
    }
    child.stdout.on("data", (chunk: Buffer) => {
      silence.refresh();
      size += chunk.length;
      if (size > mostOutput) cutOff("it printed more than 64 MB");
      else out.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      silence.refresh();
      errors = (errors + chunk.toString("utf8")).slice(-keptErrors);
    });
    child.on("error", (error: NodeJS.ErrnoException) =>
      settle(() => fail(error.code === "ENOENT" ? gitMissing(cwd) : error.message)),
    );
    child.on("close", (code) =>
      settle(() => {
        if (code === 0) return resolve(Buffer.concat(out).toString("utf8"));
        const words = wordsOf(errors, code);
        fail(words, /too slow|timed out/i.test(words));
      }),
    );
  });
}

/** Starting a program fails in the same way where its folder is missing. */
const gitMissing = (cwd: string): string => `the program git is not installed on this worker (or ${cwd} is gone)`;

function endGitGroup(pid: number | undefined, signal: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  // It may have ended.
  ifPossible(() => process.kill(process.platform === "win32" ? pid : -pid, signal));
}

/**
 * Git gets no credential of the service or the state. Large files are left as git itself has them: a mirror has no
 * remote from which git-lfs could get them, and a file of the repository may name any address for it.
 */
const environment = (): NodeJS.ProcessEnv => ({
  GIT_LFS_SKIP_SMUDGE: "1",
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(RECONCILE_|PG|AWS_|GIT_DIR$|GIT_WORK_TREE$|GIT_INDEX_FILE$)/.test(name),
    ),
  ),
});

/** What git said last, without its progress. */
function wordsOf(errors: string, code: number | null): string {
  const lines = errors
    .split("\n")
    .map((line) => (line.split("\r").at(-1) ?? "").trim())
    .filter((line) => line !== "" && !/^(remote: )?[A-Z][a-z]+ing (objects|deltas)\b/.test(line));
  const telling = lines.filter((line) => /^(fatal|error|remote: )/.test(line));
  const said = (telling.length > 0 ? telling : lines).slice(-3).join("; ");
  // A helper may have put a credential into an address.
  return withoutUsers(said === "" ? `it ended with ${code}` : said).slice(0, 500);
}
