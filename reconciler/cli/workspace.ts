/**
 * The user's side of a command: which files there are, what they ask for, and where their state lies. All their errors
 * are reported at once.
 */

import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type ConfigSource, type ReadOptions, type ReadResult, readDesired } from "../config/read/desired";
import type { GivenVars } from "../config/vars";
import { parseAddress } from "../core/model/address";
import { type Closed, type Desired, nothingDesired } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import type { ExternalValues } from "../core/model/external";
import type { SshAccess, SshSettings } from "../core/model/ssh";
import { leftOutSign } from "../core/text/credential-mask";
import { inShell } from "../core/text/in-shell";
import { itemAt } from "../core/text/invariant";
import { isUrl, withoutPassword } from "../core/text/outside-policy";
import type { Dialect } from "../dialect/dialect";
import { openBesideIn } from "../outside/beside";
import { setting } from "../outside/environment";
import { mostOfGiven, readPlainFile, shownPath } from "../outside/files";
import { growSlowly } from "../outside/memory";
import { refusedLink, type Trust, trustFrom } from "../outside/trust";
import type { Invocation } from "./command";
import { CommandFailed, fail } from "./crash";
import { assertKnown } from "./denials";
import type { Flags } from "./flags";

export interface Workspace {
  readonly desired: Desired;
  /** Warnings and notes. Files with an error give no workspace. */
  readonly diagnostics: readonly Diagnostic[];
  /** The files that were given, and those that they name: components, variables. */
  readonly sources: readonly ConfigSource[];
  /** The files that were given. */
  readonly given: readonly ConfigSource[];
  /** The folder of the first file. The state, the embedded world and relative paths are based on it. */
  readonly folder: string;
  /** How far the writers of these files are trusted. Absent: as the flags and the environment say. */
  readonly trust?: Trust;
  /** The texts of sensitive values, as far as the files have been read. */
  readonly sensitive?: ReadonlySet<string>;
  /** The dialect that a saved plan brings along. */
  readonly dialect?: Dialect;
  /** How the VMs are reached by SSH, with whole paths. */
  readonly ssh?: SshAccess;
  /** Reads the files again with the values of `reads` and `lookups`; absent where the files have neither. */
  readonly readAgain?: (external: ExternalValues) => Closed;
  /**
   * Reads these texts in place of the given files, for each environment that they declare, with the flags of this
   * command. Absent where there are no files.
   */
  readonly readOthers?: (texts: readonly ConfigSource[]) => ReadonlyMap<string | undefined, Desired | undefined>;
}

export const defaultFile = "reconcile.yaml";

/** `needed: false`: without a file the command works on the state alone. */
export function readWorkspace(
  invocation: Pick<Invocation, "args" | "flags"> & Partial<Pick<Invocation, "output">>,
  wanted: { readonly args?: readonly string[]; readonly needed?: boolean; readonly trust?: Trust } = {},
): Workspace {
  const { args = invocation.args, trust = trustFrom(invocation.flags["no-programs"]) } = wanted;
  const named = { args, flags: invocation.flags };
  if (isUnnamed(named) && wanted.needed === false && !existsSync(defaultFile))
    return { ...nothingHere, desired: withoutFile(invocation.flags) };
  const sources = givenSources(named, trust);
  sayWhatTakesTime(sources, invocation);
  const options = readOptions(invocation.flags, trust);
  const hidden = new Set<string>();
  const readIn = <D extends Desired>(
    result: ReadResult<D>,
  ): Omit<ReadResult<D>, "desired"> & { readonly desired: D } => {
    const { desired, diagnostics, sensitive = [] } = result;
    for (const text of sensitive) hidden.add(text);
    invocation.output?.hide(sensitive);
    if (desired === undefined) throw new CommandFailed(diagnostics);
    if (desired.deny !== undefined) assertKnown(desired.deny);
    return { ...result, desired };
  };
  const { desired, diagnostics, opened = [], ssh } = readIn(readDesired(sources, { ...options, external: "later" }));
  return {
    desired,
    diagnostics,
    sources: [...sources, ...opened],
    given: sources,
    trust,
    sensitive: hidden,
    folder: dirname(resolve(itemAt(sources, 0).file)),
    ssh: ssh === undefined ? undefined : withWholePaths(ssh),
    readOthers: (texts) => readEachEnvironment(texts, { ...options, external: "later" }),
    readAgain:
      desired.external === undefined
        ? undefined
        : (external: ExternalValues) => readIn(readDesired(sources, { ...options, external })).desired,
  };
}

/**
 * For a command that works on the state alone. Where --state or RECONCILE_STATE says which, it does so beside files that
 * cannot be read as well.
 */
export function workspaceOfState(invocation: Pick<Invocation, "flags" | "output">): Workspace {
  const { flags, output } = invocation;
  try {
    return readWorkspace({ args: [], flags, output }, { needed: false });
  } catch (error) {
    if ((flags.state ?? setting("RECONCILE_STATE")) === undefined || !(error instanceof CommandFailed)) throw error;
    const named = flags.state === undefined ? "RECONCILE_STATE" : "--state";
    output.note(
      output.here(
        `The files cannot be read (reconcile validate says why), and ${named} alone says which state is meant.`,
      ),
    );
    return { ...nothingHere, folder: dirname(resolve(itemAt(pathsOf({ args: [], flags }), 0))) };
  }
}

/** A private key's path is relative to the file that names it. */
function withWholePaths({ all, each }: SshAccess): SshAccess {
  const whole = ({ beside, ...settings }: SshSettings): SshSettings =>
    beside === undefined || settings.identityFile === undefined
      ? settings
      : { ...settings, identityFile: resolve(dirname(beside), settings.identityFile) };
  return { all: whole(all), each: new Map([...each].map(([address, settings]) => [address, whole(settings)])) };
}

type FilesNamed = Pick<Invocation, "args" | "flags">;

const isUnnamed = ({ args, flags }: FilesNamed): boolean => args.length === 0 && (flags.file ?? []).length === 0;

/** The files of the arguments and flags, or the usual one. One that is given by itself and with its folder is one. */
export function pathsOf(named: FilesNamed): string[] {
  const given = isUnnamed(named) ? [defaultFile] : [...named.args, ...(named.flags.file ?? [])];
  return [...new Map(given.flatMap(expandFolder).map((path) => [resolve(path), path] as const)).values()];
}

export const givenSources = (
  named: FilesNamed,
  trust = trustFrom(named.flags["no-programs"]),
): readonly ConfigSource[] => pathsOf(named).map((path) => readSourceFile(path, trust));

/** What the files say for each environment that they declare; one that cannot be read is left out. */
export function readEnvironments(named: FilesNamed): ReadonlyMap<string, Desired> {
  const { env: _, ...options } = readOptions(named.flags, trustFrom(named.flags["no-programs"]));
  const found = readEachEnvironment(givenSources(named), { ...options, external: "later" });
  return new Map(
    [...found].flatMap(([name, desired]): [string, Desired][] =>
      name === undefined || desired === undefined ? [] : [[name, desired]],
    ),
  );
}

function readEachEnvironment(
  texts: readonly ConfigSource[],
  options: ReadOptions,
): ReadonlyMap<string | undefined, Desired | undefined> {
  const own = readDesired(texts, options);
  const { environments = [] } = own;
  if (environments.length === 0) return new Map([[undefined, own.desired]]);
  return new Map(
    environments.map((env) => [
      env,
      env === options.env ? own.desired : readDesired(texts, { ...options, env }).desired,
    ]),
  );
}

/** A workspace without files, or with none that can be read. */
export const nothingHere: Workspace = {
  desired: nothingDesired,
  diagnostics: [],
  sources: [],
  given: [],
  folder: process.cwd(),
};

/** A desired state for a command without a file; the environment still says which state is meant. */
function withoutFile(flags: Flags): Desired {
  const environment = chosenEnvironment(flags);
  return environment === undefined ? nothingDesired : { ...nothingDesired, environment };
}

export const chosenEnvironment = (flags: Flags): string | undefined => flags.env ?? setting("RECONCILE_ENV");

/** The environments that the files declare, even when the files have errors. */
export const environmentsOf = (named: FilesNamed): readonly string[] => declaredIn(readDesired(givenSources(named)));

/** Of a file that cannot be read nobody knows which environments it declares. */
export function declaredIn({ environments, diagnostics }: ReadResult<Desired>): readonly string[] {
  if (environments === undefined) throw new CommandFailed(diagnostics);
  return environments;
}

/** Reading a large file takes seconds, so a note is printed before. */
function sayWhatTakesTime(sources: readonly ConfigSource[], { output }: Partial<Pick<Invocation, "output">>): void {
  const size = sources.reduce((sum, { text }) => sum + text.length, 0);
  if (size < largeFile) return;
  const files = sources.length === 1 ? itemAt(sources, 0).file : `${sources.length} files`;
  output?.note(`Reading ${files} (${(size / 1e6).toFixed(1)} MB).`);
  if (size >= hugeFile) growSlowly();
}

const largeFile = 250_000;
/** Below this size a run is over before saving memory pays. */
const hugeFile = 4_000_000;

/**
 * In a folder, files of dialects, variables, prices and tests and dotfiles of other programs lie beside the desired state and
 * are not part of it.
 */
export const isNoDesiredFile = (name: string): boolean => /(^|\.)(dialect|vars|test|prices)\.ya?ml$/.test(name);

export const expandFolder = (path: string): string[] =>
  yamlFilesOf(path, (name) => !isNoDesiredFile(name), "reconcile init writes one");

/** A file by itself, or those of a folder that are meant. */
export function yamlFilesOf(path: string, isMeant: (name: string) => boolean, fix: string): string[] {
  if (!existsSync(path) || !statSync(path).isDirectory()) return [path];
  const files = readdirSync(path)
    .filter((name) => /^[^.].*\.ya?ml$/.test(name) && isMeant(name))
    .sort()
    .map((name) => join(path, name));
  if (files.length === 0) throw fail("cli/no-files", `the folder ${path} has no .yaml file`, fix);
  return files;
}

export function readSourceFile(
  path: string,
  trust: Trust = trustFrom(),
  fix: string = fixOfMissing(path),
): ConfigSource {
  const refused = refusedLink(trust, path);
  if (refused !== undefined) throw fail(refused.code, refused.problem, refused.fix);
  return { file: shownPath(path), text: readGiven(path, fix) };
}

/** A file that is given to a command. `fix`: what to do where there is none. */
export function readGiven(path: string, fix: string): string {
  const read = readPlainFile(path, mostOfGiven);
  if ("text" in read) return read.text;
  throw fail(
    "cli/file-unreadable",
    read.isMissing
      ? `there is no file ${isUrl(path) ? withoutPassword(path) : path}`
      : `${path} cannot be read: ${read.problem}`,
    read.isMissing ? fix : undefined,
  );
}

function fixOfMissing(path: string): string {
  if (path === "-") return "name standard input so: /dev/stdin";
  if (path.endsWith(".plan.json")) return `make it: reconcile plan --out ${inShell(path)}`;
  const isKey = /^(?:[a-z]+\.)?[\w-]+(?:\[[\w-]+\])?$/.test(path) && !/\.(?:ya?ml|json)$/.test(path);
  const usual = "name a file or folder, or write one with: reconcile init";
  if (!isKey) return usual;
  return parseAddress(path) === undefined
    ? `${usual}; an address has its kind before it, as vm.KEY`
    : `${usual}; an address stands behind a flag: --target ${inShell(path)} of a plan, --accept ${inShell(path)} of drift`;
}

/** What --var and --var-file say. */
export function givenVars(
  flags: Flags,
  trust: Trust = trustFrom(flags["no-programs"]),
): Required<Pick<GivenVars, "vars" | "varFiles">> {
  const problems: Diagnostic[] = [];
  const vars: Record<string, string> = Object.create(null);
  for (const assignment of flags.var ?? []) {
    const equals = assignment.indexOf("=");
    const [name, value] = [assignment.slice(0, equals), assignment.slice(equals + 1)];
    const told = { severity: "error", code: "cli/bad-var" } as const;
    if (equals <= 0) problems.push({ ...told, summary: `--var ${assignment} sets nothing`, fix: "--var NAME=VALUE" });
    else if (value === leftOutSign)
      problems.push({
        ...told,
        summary: `--var ${assignment} stands in a message for a value that may be a secret`,
        fix: `write the value of ${name} in place of ${leftOutSign}`,
      });
    else vars[name] = value;
  }
  if (problems.length > 0) throw new CommandFailed(problems);
  return { vars, varFiles: (flags["var-file"] ?? []).map((path) => readSourceFile(path, trust, "correct the path")) };
}

/** The files beside those of the desired state that the command line or the environment names. */
export const filesOfFlags = (flags: Flags): readonly string[] =>
  [
    flags.dialect ?? setting("RECONCILE_DIALECT"),
    flags.prices ?? setting("RECONCILE_PRICES"),
    ...(flags["var-file"] ?? []),
  ].filter((file) => file !== undefined);

export function readOptions(flags: Flags, trust: Trust) {
  const environment: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(process.env))
    if (name.startsWith("RECONCILE_VAR_") && value !== undefined)
      environment[name.slice("RECONCILE_VAR_".length)] = value;
  const env = chosenEnvironment(flags);
  const prices = flags.prices ?? setting("RECONCILE_PRICES");
  return {
    prices: prices === undefined ? undefined : readSourceFile(prices, trustFrom(), "correct the path"),
    ...givenVars(flags, trust),
    open: openBesideIn(trust),
    environment,
    env,
  };
}
