/** Asks git which files of a checkout differ from the commit where its branch left another one. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

export type ChangedFiles = { readonly files: readonly string[] } | { readonly problem: string };

/** Committed, staged, unstaged and new files since the checkout left `reference`, as absolute paths. */
export function changedSince(reference: string, folder: string): ChangedFiles {
  const git = (...words: string[]): { readonly out: string } | { readonly problem: string } => {
    const ran = spawnSync("git", words, { cwd: folder, encoding: "utf8", maxBuffer: 256 * 1024 * 1024 });
    const problem = ran.error?.message ?? (ran.status === 0 ? undefined : ran.stderr.trim().split("\n")[0]);
    return problem === undefined ? { out: ran.stdout } : { problem };
  };
  const root = git("rev-parse", "--show-toplevel");
  if ("problem" in root) return root;
  const base = git("merge-base", "--end-of-options", reference, "HEAD");
  if ("problem" in base)
    return { problem: base.problem === "" ? `${reference} and HEAD have nothing in common` : base.problem };
  const changed = git("diff", "--name-only", "-z", base.out.trim());
  if ("problem" in changed) return changed;
  const added = git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", ":/");
  if ("problem" in added) return added;
  const names = `${changed.out}${added.out}`.split("\0").filter((name) => name !== "");
  return { files: [...new Set(names)].map((name) => resolve(root.out.trim(), name)) };
}
