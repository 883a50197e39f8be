/**
 * Git through the `git` program: one bare mirror for each repository, one fetch for everybody who asks at the same
 * time, one work tree for each commit. Git finds credentials itself (helpers, an agent) and never asks for them at a
 * terminal.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errorMessage } from "../../core/text/errors";
import { type Checkout, SourceFailed } from "./checkout";

export interface GitSource {
  readonly url: string;
  readonly ref: string;
  readonly path: string;
}

/** A mirror that was fetched this lately is not fetched again. */
const freshMs = 2000;
const unusedMs = 86_400_000;

const fetches = new Map<string, { readonly at: number; readonly done: Promise<void> }>();

export interface Freshness {
  readonly signal?: AbortSignal | undefined;
  /** A fetch from before this call is too old. */
  readonly now?: boolean;
  /**
   * The commit that somebody saw in the repository: a mirror that has it as the newest needs no fetch, and any other
   * mirror does.
   */
  readonly seen?: string | undefined;
}

export async function checkOutGit(source: GitSource, cache: string, freshness: Freshness = {}): Promise<Checkout> {
  const { signal } = freshness;
  const commit = await fetchCommit(source, cache, freshness);
  const mirror = mirrorOf(source, cache);
  const root = join(cache, "trees", `${nameOf(source.url)}-${commit}`);
  await once(`tree ${root}`, async () => {
    if (!existsSync(root)) await makeTree(mirror, commit, root, signal);
  });
  const used = new Date();
  await utimes(root, used, used).catch(() => undefined);
  const folder = source.path === "" ? root : join(root, source.path);
  if (!existsSync(folder))
    throw new SourceFailed(`${source.url} has no folder ${source.path} at ${source.ref} (${commit.slice(0, 12)})`);
  const content = (await git(["rev-parse", `${commit}:${source.path}`], mirror, signal)).trim();
  return { folder, root, revision: commit, content, copied: true };
}

/**
 * The tree appears whole or not at all: a worker may die while git writes it, another worker of this machine may write
 * the same tree, and missing files would be read as resources that are not wanted any more.
 */
async function makeTree(mirror: string, commit: string, root: string, signal?: AbortSignal): Promise<void> {
  const work = `${root}.${process.pid}-${++trees}`;
  await mkdir(dirname(root), { recursive: true });
  try {
    await git(["worktree", "prune", "--expire", "1.hour.ago"], mirror, signal);
    await git(["worktree", "add", "--force", "--detach", work, commit], mirror, signal);
    await rename(work, root);
    // Lets git find the mirror from the tree; the files do not need it.
    await git(["worktree", "repair", root], mirror, signal).catch(() => undefined);
  } catch (error) {
    // Another worker of this machine made the tree first.
    if (!existsSync(root)) throw error;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

let trees = 0;

/** The commit that the reference names now. */
export async function fetchCommit(
  source: Pick<GitSource, "url" | "ref">,
  cache: string,
  { signal, now = false, seen }: Freshness = {},
): Promise<string> {
  const mirror = mirrorOf(source, cache);
  const known = fetches.get(mirror);
  const isSeen =
    seen !== undefined && existsSync(join(mirror, "HEAD")) && (await commitOf(source, mirror, signal)) === seen;
  if (isSeen) return seen;
  const isStale = known === undefined || Date.now() - known.at > freshMs;
  if (isStale || ((now || seen !== undefined) && Date.now() - known.at > 0)) {
    const done = fetchMirror(source.url, mirror, signal);
    fetches.set(mirror, { at: Date.now(), done });
    done.catch(() => fetches.delete(mirror));
  }
  await fetches.get(mirror)?.done;
  const commit = await commitOf(source, mirror, signal);
  if (commit === undefined) throw new SourceFailed(`${source.url} has no branch, tag or commit ${source.ref}`);
  return commit;
}

async function commitOf(
  { ref }: Pick<GitSource, "ref">,
  mirror: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  for (const name of [`refs/heads/${ref}`, `refs/tags/${ref}`, ref])
    try {
      return (await git(["rev-parse", "--verify", "--quiet", `${name}^{commit}`], mirror, signal)).trim();
    } catch {
      // The reference is not of this form; the next form is tried.
    }
  return undefined;
}

/** The files that differ between two commits, from the root; `undefined` when the first commit no longer exists. */
export async function changedFiles(
  source: Pick<GitSource, "url" | "ref">,
  cache: string,
  from: string,
  to: string,
): Promise<readonly string[] | undefined> {
  if (from === to) return [];
  try {
    const out = await git(["diff", "--name-only", "--no-renames", "-z", from, to], mirrorOf(source, cache));
    return out.split("\0").filter((file) => file !== "");
  } catch {
    return undefined;
  }
}

/**
 * Deletes work trees that nobody used for a day. Other workers of this machine tidy as well: a tree that one of them
 * took is no error.
 */
export async function tidyTrees(cache: string): Promise<void> {
  const folder = join(cache, "trees");
  for (const name of await readdir(folder).catch(() => [])) await tidyTree(join(folder, name)).catch(() => undefined);
}

async function tidyTree(tree: string): Promise<void> {
  const { mtimeMs } = await stat(tree);
  if (Date.now() - mtimeMs <= unusedMs) return;
  // The tree is renamed first: if the worker dies now, nobody takes the rest for a tree.
  const away = `${tree}.away`;
  await rename(tree, away);
  await rm(away, { recursive: true, force: true });
}

/**
 * Other workers of this machine fetch into the same mirror: when git could not get its lock, the fetch is tried again.
 */
async function fetchMirror(url: string, mirror: string, signal?: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      if (!existsSync(join(mirror, "HEAD"))) {
        await mkdir(mirror, { recursive: true });
        await git(["init", "--quiet", "--bare"], mirror, signal);
      }
      const everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
      return void (await git(["fetch", "--quiet", "--prune", "--force", url, ...everything], mirror, signal));
    } catch (error) {
      if (tries === 10 || !/\block(ed)?\b|\.lock\b/.test(errorMessage(error))) throw error;
      await pause(100 * tries);
    }
}

const nameOf = (url: string): string => createHash("sha256").update(url).digest("hex").slice(0, 16);
const mirrorOf = ({ url }: Pick<GitSource, "url">, cache: string): string => join(cache, "mirrors", nameOf(url));

const running = new Map<string, Promise<void>>();
/** Calls for the same key at the same time wait for the first one. */
async function once(key: string, act: () => Promise<void>): Promise<void> {
  const mine = running.get(key) ?? act().finally(() => running.delete(key));
  running.set(key, mine);
  await mine;
}

const longestMs = 10 * 60_000;

function git(args: readonly string[], cwd: string, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      "git",
      ["-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", ...args],
      {
        cwd,
        timeout: longestMs,
        maxBuffer: 64 * 1024 * 1024,
        ...(signal === undefined ? {} : { signal }),
        env: { ...environment(), GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "", LC_ALL: "C" },
      },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new SourceFailed(`git ${args[0]}: ${messageOf(error, stderr)}`));
      },
    );
  });
}

/** Git gets no credential of the service or the state. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(RECONCILE_|PG|AWS_|GIT_DIR$|GIT_WORK_TREE$|GIT_INDEX_FILE$)/.test(name),
    ),
  );
}

function messageOf(error: Error & { code?: unknown }, stderr: string): string {
  if (error.code === "ENOENT") return "the program git is not installed on this worker";
  const said = stderr.trim().split("\n").slice(-3).join("; ") || error.message;
  // A helper may have put a credential into an address.
  return said.replace(/\/\/[^/@\s]+@/g, "//***@").slice(0, 500);
}
