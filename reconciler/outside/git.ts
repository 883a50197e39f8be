/**
 * Asks git which files of a checkout differ from the commit where its branch left another one. Nothing that the settings
 * of the checkout name is started for it.
 */

import { spawnSync } from "node:child_process";
import { basename, dirname, join, resolve, sep } from "node:path";
import { checkoutOf, realPath } from "./commit";

export type ChangedFiles =
  | { readonly files: readonly string[] }
  /** `mayLack`: the commit asked for may be one that this checkout does not have. */
  | { readonly problem: string; readonly mayLack: boolean };

/**
 * In the folder that has `.git`, which no commit can contain. Further down a commit can bring a folder that git takes
 * for a repository of its own, with settings that name programs.
 */
function askGit(words: readonly string[], root: string) {
  const settings = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
  return spawnSync("git", [...settings, ...words], { cwd: root, encoding: "utf8", maxBuffer: 256 * 1024 * 1024 });
}

/**
 * Which of these files are not as they were committed, as they were given. A folder that git does not know has none, and
 * neither has a file that lies outside of the checkout, which no commit of it can have.
 */
export function uncommitted(files: readonly string[], folder: string): readonly string[] {
  const root = checkoutOf(realPath(folder));
  if (root === undefined) return [];
  const asked = [...new Set(files)].map((file) => ({
    file,
    places: whereItLies(file).filter((at) => isBelow(at, root)),
  }));
  // Of a submodule git answers as a whole, and refuses a question for one of its files.
  const paths = asked.flatMap(({ places }) => places.map((at) => outermost(at, root)));
  if (paths.length === 0) return [];
  const shown = ["--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"];
  const ran = askGit(["--literal-pathspecs", "status", ...shown, "--", ...paths], root);
  if (ran.error !== undefined || ran.status !== 0 || ran.stdout === "") return [];
  const changed = ran.stdout
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => resolve(root, entry.slice(3)));
  return asked.flatMap(({ file, places }) =>
    places.some((at) => changed.some((one) => at === one || isBelow(at, one))) ? [file] : [],
  );
}

/** Where a file lies, and where a link that has its name lies: a commit has both. */
function whereItLies(file: string): readonly string[] {
  const whole = resolve(file);
  return [...new Set([realPath(whole), join(realPath(dirname(whole)), basename(whole))])];
}

/** The folder below `root` that is a checkout of its own and has this file, or the file. */
function outermost(file: string, root: string): string {
  const own = checkoutOf(dirname(file));
  return own === undefined || own === root ? file : outermost(own, root);
}

export const isBelow = (path: string, folder: string): boolean => path.startsWith(folder + sep);

/** Committed, staged, unstaged and new files since the checkout left `reference`, as absolute paths. */
export function changedSince(reference: string, folder: string): ChangedFiles {
  const root = checkoutOf(realPath(folder));
  if (root === undefined) return { problem: `${folder} is not in a git repository`, mayLack: false };
  const git = (...words: string[]): { readonly out: string } | Extract<ChangedFiles, { readonly problem: string }> => {
    const ran = askGit(words, root);
    const problem = ran.error?.message ?? (ran.status === 0 ? undefined : ran.stderr.trim().split("\n")[0]);
    return problem === undefined ? { out: ran.stdout } : { problem, mayLack: !/ownership|not a git/i.test(problem) };
  };
  const base = git("merge-base", "--end-of-options", reference, "HEAD");
  if ("problem" in base) return { ...base, problem: base.problem || `${reference} and HEAD have nothing in common` };
  // A file that went to another project is a change of both.
  const changed = git("diff", "--name-only", "--no-renames", "-z", base.out.trim());
  if ("problem" in changed) return changed;
  const added = git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", ":/");
  if ("problem" in added) return added;
  const names = `${changed.out}${added.out}`.split("\0").filter((name) => name !== "");
  return { files: [...new Set(names)].map((name) => resolve(root, name)) };
}
