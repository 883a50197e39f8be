/** The files of an editor's project, as they stand in its windows and else on the disk, with everything to be said of them. */

import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { collectProblems } from "../../config/problems";
import { type ConfigSource, type OpenFile, readDesired } from "../../config/read/desired";
import type { YamlFile } from "../../config/yaml/file";
import { readYaml } from "../../config/yaml/reader";
import { findingAsDiagnostic } from "../../core/findings/finding";
import { sharedBetween } from "../../core/findings/shared-between";
import type { Desired } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import type { State } from "../../core/model/recorded";
import { ifPossible } from "../../core/text/errors";
import { onlyDefined } from "../../core/text/objects";
import type { StatesByEnvironment } from "../../editor/hover";
import { type EditedProject, type ProjectFile, projectFile } from "../../editor/project";
import { openBesideIn } from "../../outside/beside";
import { shownPath } from "../../outside/files";
import { trustFrom } from "../../outside/trust";
import { originAt } from "../../service/origin-at";
import { checkFiles } from "../check-files";
import { asDiagnostics } from "../crash";
import type { Flags } from "../flags";
import { stateOnThisMachine } from "../suggestions";
import { chosenEnvironment, isNoDesiredFile, readOptions, readSourceFile, type Workspace } from "../workspace";

/** The texts in the editor's windows, by their whole paths. */
export type Windows = ReadonlyMap<string, string>;

/** Files that are read together, by their whole paths. */
export interface GivenFiles {
  readonly paths: readonly string[];
  /** A component that no project here uses: only what is said of the file itself counts. */
  readonly component?: string;
}

export interface ProjectLook {
  /** Whole paths of all files, the components too. */
  readonly files: ReadonlySet<string>;
  /** By whole path; every file has its list, be it an empty one. */
  readonly problems: ReadonlyMap<string, readonly Diagnostic[]>;
  /** `loosely`: a file that is no YAML at the moment has the names that it had. */
  project(loosely?: boolean): EditedProject;
  states(): Promise<StatesByEnvironment>;
}

/** What is kept of the readings before, for a file that cannot be read while somebody types in it. */
export interface ProjectMemory {
  files: ReadonlySet<string>;
  readonly desired: Map<string | undefined, Desired>;
  /** The texts that could be read last. */
  readonly texts: Map<string, string>;
}
export const newMemory = (): ProjectMemory => ({ files: new Set(), desired: new Map(), texts: new Map() });

const sectionLine = /^(?:vms|volumes|groups|components|service|environments|defaults):/m;
const isComponent = (text: string): boolean => /^component:/m.test(text);
/** Other programs' files are YAML as well, and some begin with `version:`. */
const isDesired = (path: string, text: string): boolean =>
  !isNoDesiredFile(basename(path)) &&
  (/^reconcile\.ya?ml$/.test(basename(path)) || (/^version:/m.test(text) && sectionLine.test(text)));

/** Which files a file is read with; `undefined`: it is no file of a desired state. */
export function givenFor(path: string, text: string, windows: Windows): GivenFiles | undefined {
  if (isComponent(text)) return { paths: projectsAbove(path), component: path };
  if (!isDesired(path, text)) return undefined;
  const folder = dirname(path);
  // A file called reconcile.yaml is a project by itself, as it is for a command without arguments.
  if (/^reconcile\.ya?ml$/.test(basename(path))) return { paths: [path] };
  return { paths: [...new Set([...desiredIn(folder, windows), path])].sort() };
}

function desiredIn(folder: string, windows: Windows): string[] {
  return (ifPossible(() => readdirSync(folder)) ?? [])
    .filter((name) => /^[^.].*\.ya?ml$/.test(name) && !/^reconcile\.ya?ml$/.test(name))
    .map((name) => join(folder, name))
    .filter((path) => isDesired(path, windowText(path, windows)));
}

/** The projects that may use a component: reconcile.yaml of its folder and of every folder above it in the checkout. */
function projectsAbove(path: string): string[] {
  for (let at = dirname(path); ; at = dirname(at)) {
    const file = join(at, "reconcile.yaml");
    if (existsSync(file)) return [file];
    if (existsSync(join(at, ".git")) || dirname(at) === at) return [];
  }
}

/** A file's text as editors count its places: a mark of the byte order is no part of it. */
export function windowText(path: string, windows: Windows): string {
  const open = windows.get(path);
  if (open !== undefined) return open;
  return ifPossible(() => readSourceFile(path).text.replace(/^\ufeff/, "")) ?? "";
}

/** The texts of a project; a component that nobody uses is used by a file that is nowhere. */
function sourcesGiven({ paths, component }: GivenFiles, windows: Windows, problems: Diagnostic[]): ConfigSource[] {
  if (paths.length === 0 && component !== undefined)
    return [{ file: noFile, text: `version: 1\ncomponents: { it: { from: ${JSON.stringify(component)} } }\n` }];
  return paths.flatMap((path) => {
    const text = windows.get(path);
    if (text !== undefined) return [{ file: shownPath(path), text }];
    try {
      return [readSourceFile(path)];
    } catch (error) {
      problems.push(...(asDiagnostics(error) ?? []));
      return [];
    }
  });
}

const noFile = "(no file)";

interface ReadSources {
  readonly environment: string | undefined;
  readonly workspace: Workspace | undefined;
  readonly problems: readonly Diagnostic[];
}

function opener(windows: Windows, flags: Flags): OpenFile {
  const beside = openBesideIn(trustFrom(flags["no-programs"]));
  return (path, file) => {
    const found = beside(path, file);
    const text = "source" in found ? windows.get(resolve(found.source.file)) : undefined;
    return "source" in found && text !== undefined ? { source: { file: found.source.file, text } } : found;
  };
}

/** Reads the files for the chosen environment, or for each of them, as `validate --env all` does. */
function readAllEnvironments(
  sources: readonly ConfigSource[],
  open: OpenFile,
  flags: Flags,
  opened: Set<string>,
): ReadSources[] {
  const options = { ...readOptions(flags, trustFrom(flags["no-programs"])), open, external: "later" as const };
  const chosen = chosenEnvironment(flags);
  const read = (env: string | undefined): ReadSources[] => {
    const { env: _, ...rest } = options;
    const {
      desired,
      diagnostics,
      environments = [],
      opened: more = [],
    } = readDesired(sources, { ...rest, ...onlyDefined({ env }) });
    for (const { file } of more) opened.add(resolve(file));
    if (env === undefined && environments.length > 0) return environments.flatMap(read);
    if (desired === undefined) return [{ environment: env, workspace: undefined, problems: diagnostics }];
    const workspace: Workspace = {
      desired,
      diagnostics,
      sources: [...sources, ...more],
      given: sources,
      folder: dirname(resolve(sources[0]?.file ?? "")),
    };
    return [{ environment: env, workspace, problems: judged(workspace, flags) }];
  };
  return read(chosen === "all" ? undefined : chosen);
}

function judged(workspace: Workspace, flags: Flags): readonly Diagnostic[] {
  try {
    return checkFiles(workspace, flags).findings.map(findingAsDiagnostic);
  } catch (error) {
    const found = asDiagnostics(error);
    if (found === undefined) throw error;
    return found;
  }
}

export function lookAt(given: GivenFiles, windows: Windows, flags: Flags, memory: ProjectMemory): ProjectLook {
  const problems: Diagnostic[] = [];
  const opened = new Set<string>();
  let open: OpenFile = (path) => ({ problem: `${path} is not read`, fix: "correct the problem of the settings first" });
  let reads: readonly ReadSources[] = [];
  try {
    open = opener(windows, flags);
    const sources = sourcesGiven(given, windows, problems);
    if (sources.length > 0) reads = readAllEnvironments(sources, open, flags, opened);
  } catch (error) {
    // A flag or a variable, or a file that one of them names, and that may go away while somebody edits.
    const told = asDiagnostics(error);
    if (told === undefined) throw error;
    problems.push(...told);
  }
  problems.push(...reads.flatMap((one) => one.problems));
  const named = reads.flatMap(({ environment, workspace }): [string, Desired][] =>
    environment === undefined || workspace === undefined ? [] : [[environment, workspace.desired]],
  );
  problems.push(...sharedBetween(new Map(named), originAt));
  for (const { environment, workspace } of reads)
    if (workspace !== undefined) memory.desired.set(environment, workspace.desired);
  const isWhole = reads.length > 0 && reads.every(({ workspace }) => workspace !== undefined);
  const alone = given.paths.length === 0 && given.component !== undefined ? [given.component] : [];
  const files = new Set([...given.paths, ...alone, ...opened]);
  // While a file cannot be read, the components that it used are still its own.
  if (!isWhole) for (const file of memory.files) files.add(file);
  if (isWhole) for (const file of files) memory.texts.set(file, windowText(file, windows));
  memory.files = files;
  const known = new Map<string, ProjectFile>();
  const fileOf = (path: string, loosely: boolean): ProjectFile => {
    const key = `${loosely} ${path}`;
    const now =
      known.get(key) ?? projectFile(readYamlLoosely(path, windows, loosely ? memory.texts.get(path) : undefined));
    known.set(key, now);
    return now;
  };
  const main = alone.length > 0 ? alone : given.paths;
  return {
    files,
    problems: byFile(problems, files, main[0] ?? ""),
    project: (loosely = false) => ({
      main,
      files: new Map([...files].map((path): [string, ProjectFile] => [path, fileOf(path, loosely)])),
      desired: memory.desired,
      besides: (path, file) => {
        const found = open(path, file);
        return "source" in found ? resolve(found.source.file) : resolve(dirname(file), path);
      },
    }),
    states: async () => {
      const found: [string | undefined, State][] = [];
      for (const { environment, workspace } of reads) {
        const state = workspace === undefined ? undefined : await stateOnThisMachine(workspace, flags);
        if (state !== undefined) found.push([environment, state]);
      }
      return new Map(found);
    },
  };
}

/** Without its problems. `before`: the text to be read where the file is no YAML at the moment. */
function readYamlLoosely(path: string, windows: Windows, before: string | undefined): YamlFile {
  const now = readYaml({ file: path, text: windowText(path, windows) }, collectProblems());
  return now.root === undefined && before !== undefined
    ? readYaml({ file: path, text: before }, collectProblems())
    : now;
}

/** What has no place is told at the first line of the first file; what several environments say alike, once. */
function byFile(problems: readonly Diagnostic[], files: ReadonlySet<string>, first: string): ProjectLook["problems"] {
  const found = new Map<string, Map<string, Diagnostic>>([...files].map((file) => [file, new Map()]));
  for (const problem of problems) {
    if (problem.source?.file === noFile) continue;
    const file = problem.source === undefined ? first : resolve(problem.source.file);
    const { line, column } = problem.source ?? { line: 1 };
    const key = JSON.stringify([problem.code, problem.summary, line, column]);
    const known = found.get(file) ?? new Map<string, Diagnostic>();
    if (!known.has(key)) known.set(key, withoutNowhere(problem));
    found.set(file, known);
  }
  return new Map([...found].map(([file, known]) => [file, [...known.values()]]));
}

/** The file that uses a component only for this look is nobody's. */
function withoutNowhere({ detail, ...problem }: Diagnostic): Diagnostic {
  const rest = detail?.replace(/(?:; |^)(?:used as a component|in the component it, used) in \(no file\):\d+$/, "");
  return rest === undefined || rest === "" ? problem : { ...problem, detail: rest };
}
