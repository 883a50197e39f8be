/**
 * Git through the `git` program: one bare mirror for each repository, one fetch for everybody who asks at the same
 * time, one tree for each commit. Git finds credentials itself (helpers, an agent) and never asks for them at a
 * terminal. The mirror is a cache: one that is not what it should be is made anew.
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { steadyNow } from "../steady";
import { commitsIn, type FileChange, logFormat, shortened, writersOf } from "./change";
import { type Checkout, NotInSource, SourceFailed } from "./checkout";
import { type GitCall, runGit } from "./run-git";
import { inTurn } from "./turn";

export interface GitSource {
  readonly url: string;
  readonly ref: string;
  readonly path: string;
}

/** A mirror that was fetched this lately is not fetched again. */
const fetchFreshMs = 2000;
const unusedMs = 86_400_000;

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
  const mirror = mirrorOf(source, cache);
  let commit = await fetchCommit(source, cache, freshness);
  try {
    return await treeOf(source, mirror, commit, cache, signal);
  } catch (error) {
    if (signal?.aborted === true || error instanceof NotInSource) throw error;
    // What a mirror names, it has to have.
    await remake(source.url, mirror, signal);
    commit = (await commitOf(source, mirror, signal)) ?? commit;
    return treeOf(source, mirror, commit, cache, signal);
  }
}

async function treeOf(
  source: GitSource,
  mirror: string,
  commit: string,
  cache: string,
  signal: AbortSignal | undefined,
): Promise<Checkout> {
  const root = join(cache, "trees", `${nameOf(source.url)}-${commit}`);
  await once(`tree ${root}`, async () => {
    if (!existsSync(root)) await makeTree(mirror, commit, root, signal);
  });
  const used = new Date();
  await utimes(root, used, used).catch(() => undefined);
  const folder = source.path === "" ? root : join(root, source.path);
  if (!existsSync(folder) || (folder !== root && (await isEmpty(folder)))) {
    const submodule = await submoduleOn(source.path, root);
    const where = submodule === undefined ? "" : `: ${submodule} is a submodule; name the repository that it is of`;
    throw new NotInSource(
      `${source.url} has no folder ${source.path} at ${source.ref} (${commit.slice(0, 12)})${where}`,
    );
  }
  const content = await contentOf(`${commit}:${source.path}`, mirror, signal);
  return {
    folder,
    root,
    revision: commit,
    content,
    copied: true,
    changeSince: (revision, files) => changeBetween(source, mirror, revision, commit, files, signal),
  };
}

/** Git keeps no empty folder, but the place of a submodule. */
const isEmpty = (folder: string): Promise<boolean> =>
  readdir(folder).then(
    (files) => files.length === 0,
    () => false,
  );

/** The submodule that is on the way. */
async function submoduleOn(path: string, root: string): Promise<string | undefined> {
  const parts = path.split("/");
  for (let most = 1; most <= parts.length; most++) {
    const place = parts.slice(0, most).join("/");
    if (await isEmpty(join(root, place))) return place;
  }
  return undefined;
}

/** What a commit holds never changes, and every round of every stack asks for it. */
const contents = new Map<string, string>();
const mostContents = 10_000;

async function contentOf(place: string, mirror: string, signal: AbortSignal | undefined): Promise<string> {
  const name = `${mirror} ${place}`;
  const known = contents.get(name);
  if (known !== undefined) return known;
  const content = (await runGit(["rev-parse", place], { cwd: mirror, signal })).trim();
  if (contents.size >= mostContents) contents.clear();
  contents.set(name, content);
  return content;
}

/** So many commits are listed. */
const mostCommits = 20;

/**
 * Where the revision is not in the commit's history (the mirror has it no more, or the branch was rewritten), nothing
 * tells which commits of the files were carried out: all of them count, and at least the newest is listed.
 */
async function changeBetween(
  { url, path }: GitSource,
  mirror: string,
  since: string | null,
  commit: string,
  files: readonly string[],
  signal: AbortSignal | undefined,
): Promise<FileChange> {
  const call = { cwd: mirror, signal };
  // Each name counts as it is, whatever signs are in it.
  const meant = path === "" ? [] : [path, ...files].map((file) => `:(top,literal)${file}`);
  const log = async (...range: readonly string[]) =>
    commitsIn(await runGit(["log", `--format=${logFormat}`, ...range, "--", ...meant], call), url);
  if (since === commit) return { commits: [], more: 0 };
  const known = since !== null && isCommit(since) && (await hasCommit(mirror, since, signal)) ? since : undefined;
  const ahead = known === undefined ? [] : await log(`${known}..${commit}`);
  const all =
    known !== undefined && (await agrees(["merge-base", "--is-ancestor", known, commit], call))
      ? ahead
      : await log(commit);
  const commits = ahead.length > 0 ? ahead.slice(0, mostCommits) : all.slice(0, 1);
  const listed = new Set(commits.map(({ id }) => id));
  const difference =
    known === undefined ? "" : await yamlBetween([known, commit], path === "" ? [] : [path, ...files], call);
  return {
    commits,
    more: Math.max(0, ahead.length - mostCommits),
    alsoBy: writersOf(all.filter(({ id }) => !listed.has(id))),
    difference: difference === "" ? undefined : shortened(difference),
  };
}

/** The difference of the YAML in a folder, and in files outside of it; no folder: in all of the repository. */
function yamlBetween(
  commits: readonly [string, string],
  [folder, ...files]: readonly string[],
  call: GitCall,
): Promise<string> {
  // Only the star is a pattern: a folder may have signs in its name that mean something to git.
  const below = folder === undefined ? "*" : `:(top)${folder.replace(/[\\*?[]/g, "\\$&")}/*`;
  const yaml = [`${below}.yaml`, `${below}.yml`, ...files.map((file) => `:(top,literal)${file}`)];
  const plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--unified=2"];
  return runGit(["diff", ...plain, ...commits, "--", ...yaml], call);
}

/** Whether git says yes. */
const agrees = (args: readonly string[], call: GitCall): Promise<boolean> =>
  runGit(args, call).then(
    () => true,
    () => false,
  );

export const hasCommit = (mirror: string, commit: string, signal: AbortSignal | undefined): Promise<boolean> =>
  agrees(["cat-file", "-e", `${commit}^{commit}`], { cwd: mirror, signal });

/**
 * The tree appears whole or not at all: a worker may die while git writes it, another worker of this machine may write
 * the same tree, and missing files would be read as resources that are not wanted any more. Nothing of it is left in the
 * mirror, whenever git dies.
 */
async function makeTree(mirror: string, commit: string, root: string, signal?: AbortSignal): Promise<void> {
  const work = `${root}.${randomUUID()}`;
  const index = `${work}.index`;
  const call: GitCall = { cwd: mirror, signal, extra: { GIT_INDEX_FILE: index } };
  await mkdir(work, { recursive: true });
  try {
    await runGit(["read-tree", commit], call);
    await runGit([`--work-tree=${work}`, "checkout-index", "--all", "--force", "--quiet"], call);
    await rename(work, root);
  } catch (error) {
    // Another worker of this machine made the tree first.
    if (!existsSync(root)) throw error;
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
    await rm(work, { recursive: true, force: true });
  }
}

interface Fetch {
  readonly at: number;
  readonly done: Promise<void>;
  isOver: boolean;
  /** Who waits for it; when the last one goes before its end, it is cut off. */
  waiting: number;
  readonly stop: AbortController;
}

const fetches = new Map<string, Fetch>();

/** What a commit is stays so, however old the mirror is that has it. */
const isCommit = (text: string): boolean => /^[0-9a-f]{40}([0-9a-f]{24})?$/i.test(text);

/** The commit that the reference names now. */
export async function fetchCommit(
  source: Pick<GitSource, "url" | "ref">,
  cache: string,
  { signal, now = false, seen = isCommit(source.ref) ? source.ref.toLowerCase() : undefined }: Freshness = {},
): Promise<string> {
  const mirror = mirrorOf(source, cache);
  const isSeen =
    seen !== undefined && existsSync(join(mirror, "HEAD")) && (await commitOf(source, mirror, signal)) === seen;
  if (isSeen) return seen;
  const known = fetches.get(mirror);
  const isStale = known === undefined || known.stop.signal.aborted || performance.now() - known.at > fetchFreshMs;
  const isWanted = isStale || ((now || seen !== undefined) && performance.now() > known.at);
  await sharedBy(isWanted ? begin(source.url, mirror) : known, signal);
  const commit = await commitOf(source, mirror, signal);
  if (commit === undefined) throw new NotInSource(`${source.url} has no branch, tag or commit ${source.ref}`);
  return commit;
}

function begin(url: string, mirror: string): Fetch {
  const stop = new AbortController();
  const done = fetchMirror(url, mirror, stop.signal);
  const fetch: Fetch = { at: performance.now(), done, isOver: false, waiting: 0, stop };
  fetches.set(mirror, fetch);
  const over = (): void => {
    fetch.isOver = true;
  };
  done.then(over, () => {
    over();
    if (fetches.get(mirror) === fetch) fetches.delete(mirror);
  });
  return fetch;
}

/** Waits for a fetch that others may wait for as well. */
async function sharedBy(fetch: Fetch, signal: AbortSignal | undefined): Promise<void> {
  fetch.waiting += 1;
  let leave: (() => void) | undefined;
  try {
    if (signal === undefined) return await fetch.done;
    signal.throwIfAborted();
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(new SourceFailed("git fetch: it was stopped"));
      signal.addEventListener("abort", leave, { once: true });
    });
    await Promise.race([fetch.done, left]);
  } finally {
    if (leave !== undefined) signal?.removeEventListener("abort", leave);
    fetch.waiting -= 1;
    if (fetch.waiting === 0 && !fetch.isOver) fetch.stop.abort();
  }
}

async function commitOf(
  { ref }: Pick<GitSource, "ref">,
  mirror: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  // Whoever may push may give a branch the name of a commit that somebody meant.
  for (const name of isCommit(ref) ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`, ref])
    try {
      const call = { cwd: mirror, signal };
      return (await runGit(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`], call)).trim();
    } catch {
      // The reference is not of this form; the next form is tried.
      signal?.throwIfAborted();
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
    const cwd = mirrorOf(source, cache);
    const out = await runGit(["diff", "--name-only", "--no-renames", "-z", "--end-of-options", from, to], { cwd });
    return out.split("\0").filter((file) => file !== "");
  } catch {
    return undefined;
  }
}

/** The folders that the YAML files of a folder are in by now, where git finds them renamed since a commit. */
export async function renamedFolders(source: GitSource, cache: string, since: string): Promise<readonly string[]> {
  const mirror = mirrorOf(source, cache);
  try {
    const commit = await commitOf(source, mirror);
    if (commit === undefined || commit === since) return [];
    const out = await runGit(
      ["diff", "--name-status", "--find-renames", "--diff-filter=R", "-z", "--end-of-options", since, commit],
      { cwd: mirror },
    );
    // Of each renamed file its mark, its former name and its name.
    return [...out.matchAll(/R\d+\0([^\0]+)\0([^\0]+)\0/g)].flatMap(([, before = "", after = ""]) => {
      const file = before.slice(source.path.length);
      const isOwn = before.startsWith(`${source.path}/`) && /^\/[^/]+\.ya?ml$/.test(file);
      return isOwn && after.endsWith(file) ? [after.slice(0, -file.length)] : [];
    });
  } catch {
    return [];
  }
}

/**
 * Deletes trees and artifacts that nobody used for a day, and packs mirrors that have grown. Other workers of this machine tidy as
 * well: a tree that one of them took is no error.
 */
export async function tidyTrees(cache: string, signal?: AbortSignal): Promise<void> {
  for (const trees of [join(cache, "trees"), join(cache, "artifacts")])
    for (const name of await madeIn(trees)) await tidyTree(join(trees, name)).catch(() => undefined);
  const mirrors = join(cache, "mirrors");
  for (const name of await madeIn(mirrors)) {
    const mirror = join(mirrors, name);
    if (/^[0-9a-f]{16}$/.test(name)) await inTurn(turnFile(mirror), signal, () => pack(mirror)).catch(() => undefined);
    else await removeUnused(mirror).catch(() => undefined);
  }
}

/** What workers have made in a folder: the cache may be in one that has others' files under the same names. */
const madeIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(() => [])).filter((name) => /^\.?[0-9a-f]{16}/.test(name));

const packMs = 5 * 60_000;
const pack = (mirror: string): Promise<string> =>
  runGit(["-c", "gc.autoDetach=false", "gc", "--auto", "--quiet"], { cwd: mirror, silentMs: packMs });

/** Since when this process has seen that nobody uses it. */
const seenUnused = new Map<string, { readonly mtimeMs: number; readonly at: number }>();
const watchedMs = 30 * 60_000;

/** By the machine's clock nobody used it for a day, and by what this process saw, should that clock have been set forward. */
async function isUnused(path: string): Promise<boolean> {
  const { mtimeMs } = await stat(path);
  const seen = seenUnused.get(path);
  const isOld = Date.now() - mtimeMs > unusedMs;
  if (isOld && seen?.mtimeMs === mtimeMs) return steadyNow() - seen.at > watchedMs;
  if (isOld) seenUnused.set(path, { mtimeMs, at: steadyNow() });
  else seenUnused.delete(path);
  return false;
}

async function tidyTree(tree: string): Promise<void> {
  if (!(await isUnused(tree))) return;
  seenUnused.delete(tree);
  // The tree is renamed first: if the worker dies now, nobody takes the rest for a tree.
  const away = `${tree}.away`;
  await rename(tree, away);
  await rm(away, { recursive: true, force: true });
}

/** What a worker that died while it made a mirror anew has left. */
async function removeUnused(path: string): Promise<void> {
  if (await isUnused(path)) await rm(path, { recursive: true, force: true });
}

/**
 * One process of this machine fetches into a mirror at a time. Where the fetch fails and the repository answers, the
 * fault is the mirror's: a worker died in it (a lock, half of a reference, a work tree of an earlier version).
 */
async function fetchMirror(url: string, mirror: string, signal: AbortSignal): Promise<void> {
  await inTurn(turnFile(mirror), signal, async () => {
    const isNew = !existsSync(join(mirror, "HEAD"));
    try {
      await fetchInto(url, mirror, signal);
    } catch (error) {
      // Asked from beside the mirror, which may have a configuration that git cannot read.
      const asked = ["ls-remote", "--quiet", "--heads", "--", url];
      if (isNew || signal.aborted || !(await agrees(asked, { cwd: dirname(mirror), signal }))) throw error;
      await makeAnew(url, mirror, signal);
    }
  });
}

/** Makes a mirror anew, whatever is in it. */
const remake = (url: string, mirror: string, signal: AbortSignal | undefined): Promise<void> =>
  once(`mirror ${mirror}`, () => inTurn(turnFile(mirror), signal, () => makeAnew(url, mirror, signal)));

/** The new mirror is whole before it takes the place of the old one. */
async function makeAnew(url: string, mirror: string, signal: AbortSignal | undefined): Promise<void> {
  const [fresh, away] = ["new", "away"].map((word) => `${mirror}.${randomUUID()}.${word}`) as [string, string];
  try {
    await fetchInto(url, fresh, signal);
    await rename(mirror, away).catch(() => undefined);
    await rename(fresh, mirror);
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(away, { recursive: true, force: true });
  }
}

async function fetchInto(url: string, mirror: string, signal: AbortSignal | undefined): Promise<void> {
  const call = { cwd: mirror, signal };
  if (!existsSync(join(mirror, "HEAD"))) {
    await mkdir(mirror, { recursive: true });
    await runGit(["init", "--quiet", "--bare"], call);
  }
  const everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  const plain = ["-c", "gc.auto=0", "-c", "maintenance.auto=false"];
  await runGit([...plain, "fetch", "--progress", "--prune", "--force", "--", url, ...everything], call);
}

const nameOf = (url: string): string => createHash("sha256").update(url).digest("hex").slice(0, 16);
export const mirrorOf = ({ url }: Pick<GitSource, "url">, cache: string): string => join(cache, "mirrors", nameOf(url));
const turnFile = (mirror: string): string => `${mirror}.turn`;

const running = new Map<string, Promise<void>>();
/** Calls for the same key at the same time wait for the first one. */
async function once(key: string, act: () => Promise<void>): Promise<void> {
  const mine = running.get(key) ?? act().finally(() => running.delete(key));
  running.set(key, mine);
  await mine;
}
