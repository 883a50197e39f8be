/**
 * Git through the `git` program: one bare mirror a repository, one fetch for everybody who asks at the same time, a work
 * tree for each commit. Credentials are git's own affair (its helpers, an agent); it is never asked at a terminal.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type Checkout, SourceFailed } from "./checkout";

export interface GitSource {
  readonly url: string;
  readonly ref: string;
  readonly path: string;
}

/** What was fetched so lately is not fetched again. */
const freshMs = 2000;
const unusedMs = 86_400_000;

const fetches = new Map<string, { readonly at: number; readonly done: Promise<void> }>();

export async function checkOutGit(
  source: GitSource,
  cache: string,
  { signal, now = false }: { readonly signal?: AbortSignal | undefined; readonly now?: boolean } = {},
): Promise<Checkout> {
  const commit = await fetchCommit(source, cache, { signal, now });
  const mirror = mirrorOf(source, cache);
  const root = join(cache, "trees", `${nameOf(source.url)}-${commit}`);
  await once(`tree ${root}`, async () => {
    if (!existsSync(join(root, ".git"))) {
      await rm(root, { recursive: true, force: true });
      await mkdir(join(cache, "trees"), { recursive: true });
      await git(["worktree", "prune"], mirror, signal);
      await git(["worktree", "add", "--force", "--detach", root, commit], mirror, signal);
    }
  });
  const used = new Date();
  await utimes(root, used, used).catch(() => undefined);
  const folder = source.path === "" ? root : join(root, source.path);
  if (!existsSync(folder))
    throw new SourceFailed(`${source.url} has no folder ${source.path} at ${source.ref} (${commit.slice(0, 12)})`);
  const content = (await git(["rev-parse", `${commit}:${source.path}`], mirror, signal)).trim();
  return { folder, root, revision: commit, content };
}

/** The commit that the reference names now. */
export async function fetchCommit(
  source: Pick<GitSource, "url" | "ref">,
  cache: string,
  { signal, now = false }: { readonly signal?: AbortSignal | undefined; readonly now?: boolean } = {},
): Promise<string> {
  const mirror = mirrorOf(source, cache);
  const known = fetches.get(mirror);
  if (known === undefined || (now && Date.now() - known.at > 0) || Date.now() - known.at > freshMs) {
    const done = fetchMirror(source.url, mirror, signal);
    fetches.set(mirror, { at: Date.now(), done });
    done.catch(() => fetches.delete(mirror));
  }
  await fetches.get(mirror)?.done;
  for (const name of [`refs/heads/${source.ref}`, `refs/tags/${source.ref}`, source.ref])
    try {
      return (await git(["rev-parse", "--verify", "--quiet", `${name}^{commit}`], mirror, signal)).trim();
    } catch {
      // It is one of the other two.
    }
  throw new SourceFailed(`${source.url} has no branch, tag or commit ${source.ref}`);
}

/** The files that differ between two commits, from the root; `undefined` when the first is not there any more. */
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

/** Work trees that nobody used for a day. */
export async function tidyTrees(cache: string): Promise<void> {
  const folder = join(cache, "trees");
  for (const name of await readdir(folder).catch(() => [])) {
    const { mtimeMs } = await stat(join(folder, name));
    if (Date.now() - mtimeMs > unusedMs) await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function fetchMirror(url: string, mirror: string, signal?: AbortSignal): Promise<void> {
  if (!existsSync(join(mirror, "HEAD"))) {
    await mkdir(mirror, { recursive: true });
    await git(["init", "--quiet", "--bare"], mirror, signal);
  }
  const everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  await git(["fetch", "--quiet", "--prune", "--force", url, ...everything], mirror, signal);
}

const nameOf = (url: string): string => createHash("sha256").update(url).digest("hex").slice(0, 16);
const mirrorOf = ({ url }: Pick<GitSource, "url">, cache: string): string => join(cache, "mirrors", nameOf(url));

const running = new Map<string, Promise<void>>();
/** Whoever wants the same thing at the same time waits for the first. */
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

/** Git needs no credential of the service or the state. */
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
