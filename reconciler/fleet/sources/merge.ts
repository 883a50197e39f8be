/** What a repository would be once a pull request is merged, as a commit of the mirror that every worker makes alike. */
import { createHash } from "node:crypto";
import { SourceFailed } from "./checkout";
import { changedFiles, type Freshness, fetchCommit, type GitSource, hasCommit, mirrorOf } from "./git";
import { runGit } from "./run-git";
import { inTurn } from "./turn";

export interface MergedBranch {
  /** The branch that it is merged into. */
  readonly base: string;
  /** The merge. */
  readonly commit: string;
  /** What the merge changes, from the root. */
  readonly files: readonly string[];
}

/** The pull request changes what the branch has changed as well. */
export class MergeConflict extends SourceFailed {
  /** `base`: the commit of the branch. */
  constructor(readonly base: string) {
    super("it conflicts with the branch that it is to be merged into");
  }
}

/** Where hosts keep the commit of a pull request, its own repository or not. */
const headRef = { github: "pull", gitlab: "merge-requests" } as const;

/** The same merge is the same commit, whoever makes it and when. */
const somebody = {
  GIT_AUTHOR_NAME: "reconcile",
  GIT_AUTHOR_EMAIL: "reconcile@invalid",
  GIT_AUTHOR_DATE: "2000-01-01T00:00:00Z",
  GIT_COMMITTER_NAME: "reconcile",
  GIT_COMMITTER_EMAIL: "reconcile@invalid",
  GIT_COMMITTER_DATE: "2000-01-01T00:00:00Z",
};

/** `base`: the commit of the branch to merge into; absent: the newest. */
export async function mergedCommit(
  source: GitSource,
  cache: string,
  { kind, number, head, base: wanted }: { kind: keyof typeof headRef; number: number; head: string; base?: string },
  { signal }: Pick<Freshness, "signal"> = {},
): Promise<MergedBranch> {
  const base = await fetchCommit(wanted === undefined ? source : { ...source, ref: wanted }, cache, {
    now: wanted === undefined,
    signal,
  });
  const mirror = mirrorOf(source, cache);
  const call = { cwd: mirror, signal };
  const kept = `refs/reconcile/${number}`;
  const from = `+refs/${headRef[kind]}/${number}/head:${kept}/head`;
  if (!(await hasCommit(mirror, head, signal))) {
    await inTurn(`${mirror}.turn`, signal, async () => {
      await runGit(["-c", "gc.auto=0", "fetch", "--progress", "--force", "--", source.url, from], call);
    });
    if (!(await hasCommit(mirror, head, signal)))
      throw new SourceFailed(`the commit ${head.slice(0, 12)} of the pull request ${number} is not there`);
  }
  const tree = await mergedTree(base, head, call);
  const commit = (
    await runGit(["commit-tree", "--no-gpg-sign", tree, "-p", base, "-p", head, "-m", "merged"], {
      ...call,
      extra: somebody,
    })
  ).trim();
  await runGit(["update-ref", `${kept}/merged`, commit], call);
  const files = (await changedFiles(source, cache, base, commit)) ?? [];
  return { base, commit, files };
}

async function mergedTree(base: string, head: string, call: Parameters<typeof runGit>[1]): Promise<string> {
  try {
    const told = await runGit(["merge-tree", "--write-tree", "--no-messages", base, head], call);
    return told.split("\n")[0]?.trim() ?? "";
  } catch (error) {
    if (!(error instanceof SourceFailed) || error.isSilent || call.signal?.aborted === true) throw error;
    if (/it ended with 1$/.test(error.message)) throw new MergeConflict(base);
    throw new SourceFailed(`${error.message} (pull requests need git 2.38 or newer on the workers)`);
  }
}

/** Names what is in a folder, and in files outside of it, at a commit; absent: the folder is not there. */
export async function contentAt(
  source: GitSource,
  cache: string,
  commit: string,
  { files, signal }: { readonly files: readonly string[]; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const call = { cwd: mirrorOf(source, cache), signal };
  const folder = await runGit(
    ["rev-parse", "--verify", "--quiet", "--end-of-options", `${commit}:${source.path}`],
    call,
  ).then(
    (text) => text.trim(),
    () => undefined,
  );
  if (folder === undefined || files.length === 0) return folder;
  const meant = files.map((file) => `:(top,literal)${file}`);
  const beside = await runGit(["ls-tree", "-z", commit, "--", ...meant], call);
  return createHash("sha256").update(`${folder} ${beside}`).digest("hex");
}
