/**
 * The two projects of a move, as they are and as they would be: their files, their states and their plans, for each
 * environment. Nothing is written here, and nothing is sent: plans are made from the states alone.
 */

import { existsSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { blockOf } from "../config/move/divide";
import type { Rebase } from "../config/move/project";
import { type ConfigSource, type OpenFile, type ReadResult, readDesired } from "../config/read-desired";
import type { Change } from "../core/diff/changes";
import { type Closed, type Desired, nothingDesired } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import type { ExternalValues } from "../core/model/external";
import type { Outputs } from "../core/model/output";
import type { StateChange } from "../core/model/recorded";
import type { PlannedOutput } from "../core/plan/outputs";
import { outputsNow } from "../core/plan/outputs";
import { applyChange, type FoldedState, headOf, type MutableState, ownHeadOf } from "../core/state/fold";
import { type Asked, changesOfGiving, decideHandover } from "../core/state/handover";
import { writeSnapshot } from "../core/state/text";
import { onlyDefined } from "../core/text/objects";
import { closeDesired } from "../engine/externals";
import { preparePlan } from "../engine/plan";
import { trustFrom } from "../outside/trust";
import { createMemoryStore } from "../store/memory";
import { isUrl, openProtectedStore } from "../store/open";
import type { StateStore } from "../store/store";
import type { Invocation } from "./command";
import { newLineage, type Service, stateIn, stateLocation, systemClock } from "./compose";
import { CommandFailed } from "./crash";
import { handoverDiagnostic } from "./move-states";
import { folderBeside, openMoving } from "./other-state";
import { expandFolder, nothingHere, readOptions, readSourceFile, type Workspace } from "./workspace";

/** The files of a project, by their whole paths. */
export interface ProjectFiles {
  readonly folder: string;
  readonly sources: readonly ConfigSource[];
  /** The file of a project that does not exist yet. */
  readonly newFile: string;
}

const isYaml = (path: string): boolean => /\.ya?ml$/i.test(path);

export function filesOf(paths: readonly string[]): ProjectFiles {
  const files = paths.flatMap(expandFolder).map((path) => resolve(path));
  const sources = files.map((path) => readSourceFile(path));
  const first = files[0] ?? resolve("reconcile.yaml");
  return { folder: dirname(first), sources, newFile: first };
}

/** The project that takes over: a folder, a file, or one that is to be made. */
export function targetFiles(to: string): ProjectFiles {
  const path = resolve(to);
  if (existsSync(path) && (!statSync(path).isDirectory() || hasFiles(path))) return filesOf([path]);
  const newFile = isYaml(path) ? path : join(path, "reconcile.yaml");
  return { folder: dirname(newFile), sources: [], newFile };
}

function hasFiles(folder: string): boolean {
  try {
    return expandFolder(folder).length > 0;
  } catch {
    return false;
  }
}

/** What others call a project: its folder, or its one file where that has a name of its own. */
export function projectName({ folder, newFile, sources }: ProjectFiles): string {
  const first = sources[0] === undefined ? newFile : resolve(sources[0].file);
  const stem = basename(first).replace(/\.ya?ml$/i, "");
  const isUsual = stem === "reconcile" || stem === "main" || sources.length > 1;
  const name = isUsual ? basename(folder) : stem;
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, "_");
}

interface MoveReading {
  readonly invocation: Invocation;
  readonly environment: string | undefined;
  /** The texts of components as they will be, by their whole paths. */
  readonly pending?: ReadonlyMap<string, string>;
}

const planOptionsFor = ({ invocation: { flags }, environment, pending }: MoveReading) => {
  const { env: _, open, ...options } = readOptions(flags, trustFrom(flags["no-programs"]));
  const opening: OpenFile = (path, besideFile) => {
    const whole = resolve(dirname(resolve(besideFile)), path);
    const text = pending?.get(whole);
    return text === undefined ? open(path, besideFile) : { source: { file: relative(process.cwd(), whole), text } };
  };
  return { ...options, open: opening, ...onlyDefined({ env: environment }) };
};

/** What the texts say for an environment, with the values from elsewhere still open. */
export function readMovedTexts(sources: readonly ConfigSource[], reading: MoveReading): Desired {
  if (sources.length === 0) return nothingDesired;
  return desiredOf(readDesired(sources, { ...planOptionsFor(reading), external: "later" }), reading);
}

export function environmentsIn(sources: readonly ConfigSource[], invocation: Invocation): readonly string[] {
  return (
    readDesired(sources, { ...planOptionsFor({ invocation, environment: undefined }), external: "later" })
      .environments ?? []
  );
}

/** What is wrong in texts that are not written yet is mended in the files that they are made of. */
const notYetWritten =
  "This is the file as it would be after the move, and nothing was written: correct the one that it comes from.";

function desiredOf<D extends Desired>({ desired, diagnostics }: ReadResult<D>, { pending }: MoveReading): D {
  if (desired !== undefined) return desired;
  const errors = diagnostics.filter(isErrorOf);
  throw new CommandFailed(
    pending === undefined
      ? errors
      : errors.map((one) => ({
          ...one,
          detail: `${one.detail === undefined ? "" : `${one.detail} `}${notYetWritten}`,
        })),
  );
}

async function closeTexts(
  sources: readonly ConfigSource[],
  reading: MoveReading,
  service: Service,
  open: (location: string) => StateStore,
): Promise<Closed> {
  const readAgain = (external: ExternalValues): Closed =>
    desiredOf(readDesired(sources, { ...planOptionsFor(reading), external }), reading);
  const files = { desired: readMovedTexts(sources, reading), readAgain };
  const closed = await closeDesired(files, { client: service.client, open });
  if ("problems" in closed) throw new CommandFailed(closed.problems);
  return closed.desired;
}

const isErrorOf = ({ severity }: Diagnostic): boolean => severity === "error";

export const workspaceOf = (desired: Desired, { folder, sources }: ProjectFiles): Workspace => ({
  ...nothingHere,
  desired,
  sources,
  given: sources,
  folder,
});

/** One side in one environment. */
export interface ProjectState {
  readonly location: string;
  readonly store: StateStore;
  readonly state: FoldedState;
  readonly sources: readonly ConfigSource[];
  readonly folder: string;
}

export async function projectStateOf(
  files: ProjectFiles,
  reading: MoveReading,
  { own, location: given }: { readonly own: boolean; readonly location?: string },
): Promise<ProjectState> {
  const { flags } = reading.invocation;
  const desired = readMovedTexts(files.sources, reading);
  const location = given ?? stateLocation(workspaceOf(desired, files), flags, own);
  const store = openMoving(location, { folder: folderBeside(location, files.folder), flags, own });
  const state = await stateIn(store);
  return { location, store, state, sources: files.sources, folder: files.folder };
}

const memoryStoreOf = (state: FoldedState): StateStore =>
  createMemoryStore({ snapshot: writeSnapshot({ ...state, journalled: 0 }), journal: [] }, state.epoch);

function withChanges(state: FoldedState, changes: readonly StateChange[]): FoldedState {
  const mutable: MutableState = {
    resources: new Map(state.resources),
    intents: new Map(state.intents),
    orphans: new Map(state.orphans),
    ...ownHeadOf(state),
  };
  for (const change of changes) if (change.type !== "transfer") applyChange(mutable, change);
  return { ...state, ...mutable, ...headOf(mutable) };
}

/** The addresses that go, with those under which a state may still have them. */
function addressesOf(state: FoldedState, desired: Desired, moved: ReadonlySet<string> | "all"): Record<string, string> {
  const known = [
    ...state.resources.keys(),
    ...state.intents.keys(),
    ...[...state.orphans.values()].flatMap(({ record }) => (record === undefined ? [] : [record.address])),
  ];
  const led = new Set(
    desired.moved.flatMap(({ from, to }) => (moved !== "all" && moved.has(blockOf(to)) ? [from] : [])),
  );
  const goes = (address: string): boolean =>
    moved === "all" ||
    moved.has(blockOf(address)) ||
    led.has(address) ||
    led.has(address.replace(/\[[^\]]*\]$/, "")) ||
    [...led].some((from) => from.endsWith("/") && address.startsWith(from));
  return Object.fromEntries(known.filter(goes).map((address) => [address, address]));
}

/** What is declared from now on has its value, what is no longer declared has none, and all else stays as it is. */
function outputsAfter(recorded: Outputs, before: Desired | undefined, after: Desired, state: FoldedState): Outputs {
  const names = (desired: Desired): Set<string> => new Set((desired.outputs ?? []).map(({ name }) => name));
  // Where the files were moved before, for another environment, the state says what this one had.
  const [then, now] = [before === undefined ? new Set(Object.keys(recorded)) : names(before), names(after)];
  const kept = Object.entries(recorded).filter(([name]) => !then.has(name) || now.has(name));
  const made = outputsNow(
    (after.outputs ?? []).filter(({ name }) => !then.has(name)),
    state.resources,
  );
  return { ...Object.fromEntries(kept), ...made };
}

interface PlannedSide {
  readonly changes: readonly Change[];
  readonly outputs: readonly PlannedOutput[];
  readonly errors: readonly Diagnostic[];
}

export interface LookedMove {
  readonly asked: Asked;
  /** Nothing, or why the move may not be made. */
  readonly refused: readonly Diagnostic[];
  readonly resources: number;
}

interface LookedFor {
  readonly service: Service;
  /** The files were moved before, for another environment. */
  readonly areFilesMoved: boolean;
  /** The component into which the parts go. */
  readonly into?: string;
  readonly beside?: readonly ConfigSource[];
}

const movedInto = (addresses: Record<string, string>, into: string): Record<string, string> =>
  Object.fromEntries(Object.entries(addresses).map(([from, to]) => [from, into + to]));

export interface BothSides<T> {
  readonly giving: T;
  readonly taking: T;
}

/** Both plans as they are and as they would be, for one environment. */
export async function lookAhead(
  before: BothSides<ProjectState>,
  after: BothSides<readonly ConfigSource[]>,
  moved: ReadonlySet<string> | "all",
  reading: MoveReading,
  { service, areFilesMoved, into = "", beside = [] }: LookedFor,
): Promise<LookedMove> {
  const { giving, taking } = before;
  const [givingThen, takingThen] = [readMovedTexts(giving.sources, reading), readMovedTexts(taking.sources, reading)];
  const pending = new Map(beside.map(({ file, text }) => [resolve(file), text]));
  const later: MoveReading = { ...reading, pending };
  const [givingNow, takingNow] = [readMovedTexts(after.giving, later), readMovedTexts(after.taking, later)];
  const { environment } = reading;
  const base: Asked = {
    addresses: movedInto(addressesOf(giving.state, givingThen, moved), into),
    ...onlyDefined({ whole: moved === "all" ? true : undefined, environment }),
  };
  const decided = decideHandover(giving.state, taking.state, base);
  if (decided.problems !== undefined)
    return { asked: base, refused: decided.problems.map((problem) => handoverProblem(problem, before)), resources: 0 };
  const { handover } = decided;
  const note = {
    side: "giving" as const,
    other: "",
    at: "",
    by: "",
    addresses: handover.addresses,
    orphans: handover.orphans,
  };
  const states: BothSides<FoldedState> = {
    giving: withChanges(giving.state, changesOfGiving(giving.state, "", note)),
    taking: withChanges(taking.state, handover.taken),
  };
  const outputs = (desired: BothSides<Desired>) => ({
    giving: outputsAfter(
      states.giving.outputs ?? {},
      areFilesMoved ? undefined : givingThen,
      desired.giving,
      states.giving,
    ),
    taking: outputsAfter(
      states.taking.outputs ?? {},
      areFilesMoved ? undefined : takingThen,
      desired.taking,
      states.taking,
    ),
  });
  const readers =
    (of: BothSides<FoldedState> | undefined) =>
    (folder: string) =>
    (named: string): StateStore => {
      const location = isUrl(named) || isAbsolute(named) ? named : resolve(folder, named);
      const same = (one: ProjectState): boolean =>
        one.location === location || (!isUrl(location) && resolve(one.location) === location);
      if (of !== undefined && same(giving)) return memoryStoreOf(of.giving);
      if (of !== undefined && same(taking)) return memoryStoreOf(of.taking);
      return openProtectedStore(location, {
        environment: process.env,
        insecureHttp: reading.invocation.flags["insecure-http"] === true,
      });
    };
  const close = (sources: readonly ConfigSource[], folder: string, of?: BothSides<FoldedState>, as = later) =>
    closeTexts(sources, as, service, readers(of)(folder));
  const withOutputs = (given: BothSides<Outputs>): BothSides<FoldedState> => ({
    giving: { ...states.giving, ...headOf({ ...states.giving, outputs: given.giving }), outputs: given.giving },
    taking: { ...states.taking, outputs: given.taking },
  });
  // What one side hands out may come from what it reads of the other one, so the outputs are worked out twice.
  const first = withOutputs(outputs({ giving: givingNow, taking: takingNow }));
  const closedFirst = {
    giving: await close(after.giving, giving.folder, first),
    taking: await close(after.taking, taking.folder, first),
  };
  const last = outputs(closedFirst);
  const future = withOutputs(last);
  const desired = {
    giving: await close(after.giving, giving.folder, future),
    taking: await close(after.taking, taking.folder, future),
  };
  // Files that were moved before read what only this move brings.
  const seen = areFilesMoved ? future : undefined;
  const then = {
    giving: await close(giving.sources, giving.folder, seen, reading),
    taking: await close(taking.sources, taking.folder, seen, reading),
  };
  const plan = async (wanted: Closed, state: FoldedState, isThere: boolean): Promise<PlannedSide> => {
    if (!isThere && state.resources.size === 0 && state.intents.size === 0)
      return { changes: [], outputs: [], errors: [] };
    const { plan: made } = await preparePlan({
      desired: wanted,
      store: memoryStoreOf(state),
      client: service.client,
      options: {},
      clock: systemClock,
      lineage: newLineage(),
      observe: false,
    });
    return {
      changes: made.changes,
      outputs: made.outputs ?? [],
      errors: made.diagnostics.filter(isErrorOf),
    };
  };
  const planned = {
    before: [
      await plan(then.giving, giving.state, true),
      await plan(then.taking, taking.state, taking.sources.length > 0),
    ],
    now: [
      await plan(desired.giving, future.giving, after.giving.length > 0),
      await plan(desired.taking, future.taking, after.taking.length > 0),
    ],
  };
  const asked: Asked = { ...base, outputs: last };
  return {
    asked,
    refused: whatDiffers(planned.before, planned.now, base.addresses),
    resources: Object.keys(handover.addresses).length,
  };
}

function handoverProblem(
  problem: Parameters<typeof handoverDiagnostic>[0],
  { giving, taking }: BothSides<ProjectState>,
): Diagnostic {
  return handoverDiagnostic(problem, {
    sides: { giving: { store: giving.store, shown: "" }, taking: { store: taking.store, shown: "" } },
  });
}

/** Changes that nobody had planned before. */
function whatDiffers(
  then: readonly PlannedSide[],
  now: readonly PlannedSide[],
  renamed: Asked["addresses"],
): Diagnostic[] {
  const changeKey = ({ address, action, fields }: Change): string => JSON.stringify([address, action, fields]);
  const asNow = (change: Change): Change => ({ ...change, address: renamed[change.address] ?? change.address });
  const known = new Set(
    then.flatMap(({ changes }) => changes.flatMap((one) => [changeKey(one), changeKey(asNow(one))])),
  );
  const knownOutputs = new Set(
    then.flatMap(({ outputs }) => outputs.flatMap(({ name, changes }) => (changes ? [name] : []))),
  );
  const knownErrors = new Set(
    then.flatMap(({ errors }) => errors.map(({ code, address }) => `${code} ${address ?? ""}`)),
  );
  const sides = ["the project that gives it away", "the project that takes it over"];
  return now.flatMap(({ changes, outputs, errors }, side): Diagnostic[] => [
    ...changes
      .filter((change) => !known.has(changeKey(change)))
      .map(
        (change): Diagnostic => ({
          severity: "error",
          code: "move/would-change",
          summary: `${sides[side]} would then ${change.action} ${change.address}${changedFieldsText(change)}`,
          fix: "make the two projects agree first, or write the value into the block; a move changes nothing in the service",
          address: change.address,
          ...onlyDefined({ source: change.source }),
        }),
      ),
    ...outputs
      .filter(({ name, changes }) => changes && !knownOutputs.has(name))
      .map(
        ({ name }): Diagnostic => ({
          severity: "error",
          code: "move/would-change",
          summary: `${sides[side]} would then change its output ${name}, or does not know its value yet`,
          fix: "apply both projects first, so that every value is known",
        }),
      ),
    ...errors.filter(({ code, address }) => !knownErrors.has(`${code} ${address ?? ""}`)),
  ]);
}

const changedFieldsText = ({ fields }: Change): string =>
  fields.length === 0
    ? ""
    : `: ${fields
        .slice(0, 3)
        .map(({ field, before, after }) => `${field} ${JSON.stringify(before)} -> ${JSON.stringify(after)}`)
        .join(", ")}${fields.length > 3 ? ", …" : ""}`;

/** A path as it is written in a file of the other folder. */
export const beside = (folder: string, path: string): string => {
  const from = relative(folder, path);
  return from.startsWith(".") ? from : `./${from}`;
};

const fieldsOfFiles = new Set(["command", "dialect", "identity_file", "prices", "state"]);

/**
 * What begins with a dot is a path wherever it stands. Where a field takes the name of a file, or a program its
 * arguments, so is what looks like one and is one.
 */
export const pathsFor =
  (folder: string, settings: string): Rebase =>
  (text, { field, file }) => {
    const from = file === undefined ? settings : dirname(resolve(file));
    const isPath = /^\.\.?\//.test(text) || (fieldsOfFiles.has(field) && isFileIn(from, text));
    return isPath && from !== folder ? beside(folder, resolve(from, text)) : text;
  };

function isFileIn(folder: string, text: string): boolean {
  const path = join(folder, text);
  return /[./]/.test(text) && !isAbsolute(text) && existsSync(path) && statSync(path).isFile();
}
