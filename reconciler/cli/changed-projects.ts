/**
 * `--changed-since REF DIR…`: which of the projects of a repository a change touches. A project is touched by a file in
 * its folder, and by a file elsewhere that it names: its dialect, components, the program of its policy with what that is
 * given, and files of variables and prices.
 */
import { existsSync, readdirSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { type OpenFile, readDesired } from "../config/read/desired";
import { nearestText } from "../core/text/nearest";
import { realPath } from "../outside/commit";
import { changedSince, isBelow } from "../outside/git";
import { trustFrom } from "../outside/trust";
import type { Invocation } from "./command";
import { fail } from "./compose";
import { CommandFailed } from "./crash";
import { expandFolder, filesOfFlags, readOptions, readSourceFile } from "./workspace";

export interface ChangedProjects {
  readonly touched: readonly string[];
  /** Folders whose files were deleted by the change. The resources that they declared still exist. */
  readonly removed: readonly string[];
}

export function changedProjects(invocation: Invocation, reference: string): ChangedProjects {
  const folders = invocation.args;
  if (folders.length === 0 || invocation.flags.file !== undefined)
    throw fail(
      "cli/bad-flag",
      "--changed-since chooses among projects, each a folder",
      "reconcile plan --changed-since origin/main projects/*",
    );
  const changed = changedSince(reference, process.cwd());
  if ("problem" in changed)
    throw fail(
      "cli/bad-flag",
      `--changed-since ${reference}: git says: ${changed.problem}`,
      changed.mayLack
        ? "git fetch origin BRANCH first; in a pipeline, check out with its history (fetch-depth: 0, or GIT_DEPTH: 0)"
        : "run it where git status works: in a checkout that is yours, with no GIT_DIR that leads elsewhere",
    );
  const files = new Set(changed.files.map(realPath));
  const isIn = (folder: string) => [...files].some((file) => isBelow(file, realPath(resolve(folder))));
  const names = [...new Set(folders.map((folder) => relative(process.cwd(), resolve(folder)) || "."))];
  const nowhere = names.filter((folder) => !existsSync(folder) && !isIn(folder));
  if (nowhere.length > 0) throw nowhereToBeFound(nowhere, reference);
  return {
    touched: names.filter(
      (folder) =>
        existsSync(folder) && (isAmong(realPath(resolve(folder)), files) || namesOneOf(invocation, folder, files)),
    ),
    removed: names.filter((folder) => !existsSync(folder) && isIn(folder)),
  };
}

/** Whether a path, or something below it, is among the files that changed. Of a submodule git names the folder alone. */
const isAmong = (path: string, files: ReadonlySet<string>): boolean =>
  files.has(path) || [...files].some((file) => isBelow(file, path) || isBelow(path, file));

/** A folder that is misspelt is no project that the change leaves alone. */
function nowhereToBeFound(names: readonly string[], reference: string): Error {
  const [first = "."] = names;
  const beside = dirname(first);
  const there = existsSync(beside)
    ? readdirSync(beside).map((name) => (beside === "." ? name : `${beside}/${name}`))
    : [];
  return fail(
    "cli/file-unreadable",
    `there is no folder ${names.join(", ")}, neither here nor among what was removed since ${reference}`,
    nearestText(first, there, (near) => `did you mean ${near}?`) ??
      "name the folders of projects as they are called now",
  );
}

/** Also of a project that cannot be read: what broke it may be the file elsewhere. */
function namesOneOf({ flags }: Invocation, folder: string, files: ReadonlySet<string>): boolean {
  const named = [...filesOfFlags(flags)];
  try {
    const trust = trustFrom(flags["no-programs"]);
    const given = readOptions(flags, trust);
    const open: OpenFile = (path, beside) => {
      const opened = given.open(path, beside);
      named.push("source" in opened ? opened.source.file : resolve(dirname(beside), path));
      return opened;
    };
    const sources = expandFolder(folder).map((path) => readSourceFile(path, trust));
    named.push(...sources.map(({ file }) => file));
    const read = (env: string | undefined) => readDesired(sources, { ...given, open, env, external: "later" });
    const first = read(given.env);
    const isOne = given.env !== undefined && given.env !== "all";
    for (const { desired } of [first, ...(isOne ? [] : (first.environments ?? []).map(read))]) {
      const { policy, service } = desired ?? {};
      const dialect = service?.dialect;
      if (dialect !== undefined && "path" in dialect) named.push(resolve(dirname(dialect.source.file), dialect.path));
      // A policy with other lines judges the same plan otherwise. Its rules may be a folder.
      for (const word of policy?.command ?? [])
        named.push(resolve(dirname(policy?.source.file ?? ""), word.replace(/^--?[\w-]+=/, "")));
    }
  } catch (error) {
    // Errors in the files of a project are reported by the plan of that project; here its folder and flags are enough.
    if (!(error instanceof CommandFailed)) throw error;
  }
  return named.some((file) => isAmong(realPath(resolve(file)), files));
}
