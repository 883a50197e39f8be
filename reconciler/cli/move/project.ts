/**
 * The two projects of a move, as they are and as they would be: their files, their states and their plans, for each
 * environment. Nothing is written here, and nothing is sent: plans are made from the states alone.
 */

import { existsSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { blockOf } from "../../config/move/divide";
import type { Rebase } from "../../config/move/project";
import { type ConfigSource, type OpenFile, type ReadResult, readDesired } from "../../config/read/desired";
import type { Change } from "../../core/diff/changes";
import { type Closed, type Desired, nothingDesired } from "../../core/model/desired";
import { type Diagnostic, errorsAmong } from "../../core/model/diagnostic";
import type { ExternalValues } from "../../core/model/external";
import type { Outputs } from "../../core/model/output";
import type { StateChange } from "../../core/model/recorded";
import type { PlannedOutput } from "../../core/plan/outputs";
import { outputsNow } from "../../core/plan/outputs";
import { applyChange, continued, type FoldedState, headOf } from "../../core/state/fold";
import { type Asked, changesOfGiving, decideHandover } from "../../core/state/handover";
import { writeSnapshot } from "../../core/state/text";
import { ifPossible } from "../../core/text/errors";
import { onlyDefined } from "../../core/text/objects";
import { isUrl } from "../../core/text/outside-policy";
import { closeDesired } from "../../engine/externals";
import { assertWhole } from "../../engine/half-moved";
import { preparePlan } from "../../engine/plan";
import { type Trust, trustFrom } from "../../outside/trust";
import { createMemoryStore } from "../../store/memory";
import { locationBeside, openProtectedStore } from "../../store/open";
import type { StateStore } from "../../store/store";
import type { Invocation } from "../command";
import { newLineage, type Service, stateIn, stateLocation, systemClock } from "../compose";
import { CommandFailed } from "../crash";
import { folderBeside, openMoving } from "../other-state";
import { declaredIn, expandFolder, nothingHere, readOptions, readSourceFile, type Workspace } from "../workspace";
import { handoverDiagnostic } from "./states";

/** The files of a project, by their whole paths. */
export interface ProjectFiles {
  readonly folder: string;
  readonly sources: readonly ConfigSource[];
  /** The file of a project that does not exist yet. */
  readonly newFile: string;
}

const isYaml = (path: string): boolean => /\.ya?ml$/i.test(path);

export function filesOf(paths: readonly string[], trust: Trust): ProjectFiles {
  const files = paths.flatMap(expandFolder).map((path) => resolve(path));
  const sources = files.map((path) => readSourceFile(path, trust));
  const first = files[0] ?? resolve("reconcile.yaml");
  return { folder: dirname(first), sources, newFile: first };
}

/** The project that takes over: a folder, a file, or one that is to be made. */
export function targetFiles(to: string, trust: Trust): ProjectFiles {
  const path = resolve(to);
  if (existsSync(path) && (!statSync(path).isDirectory() || hasFiles(path))) return filesOf([path], trust);
  const newFile = isYaml(path) ? path : join(path, "reconcile.yaml");
  return { folder: dirname(newFile), sources: [], newFile };
}

const hasFiles = (folder: string): boolean => ifPossible(() => expandFolder(folder).length > 0) ?? false;

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
  return { ...options, open: opening, env: environment };
};

/** What the texts say for an environment, with the values from elsewhere still open. */
export function readMovedTexts(sources: readonly ConfigSource[], reading: MoveReading): Desired {
  if (sources.length === 0) return nothingDesired;
  return desiredOf(readDesired(sources, { ...planOptionsFor(reading), external: "later" }), reading);
}

export const environmentsIn = (sources: readonly ConfigSource[], invocation: Invocation): readonly string[] =>
  declaredIn(readDesired(sources, { ...planOptionsFor({ invocation, environment: undefined }), external: "later" }));

/** What is wrong in texts that are not written yet is mended in the files that they are made of. */
const notYetWritten =
  "This is the file as it would be after the move, and nothing was written: correct the one that it comes from.";

function desiredOf<D extends Desired>({ desired, diagnostics }: ReadResult<D>, { pending }: MoveReading): D {
  if (desired !== undefined) return desired;
  const errors = errorsAmong(diagnostics);
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
  // Found in the copy that is planned on, a move half done would be finished between the other state and the copy.
  assertWhole(state, store.location);
  return { location, store, state, sources: files.sources, folder: files.folder };
}

const memoryStoreOf = (state: FoldedState): StateStore =>
  createMemoryStore({ snapshot: writeSnapshot({ ...state, journalled: 0 }), journal: [] }, state.epoch);

function withChanges(state: FoldedState, changes: readonly StateChange[]): FoldedState {
  const mutable = continued(state);
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
  readonly into: string;
  /** The files that are beside those of both projects, as they will be. */
  readonly beside: readonly ConfigSource[];
}

const movedInto = (addresses: Record<string, string>, into: string): Record<string, string> =>
  Object.fromEntries(Object.entries(addresses).map(([from, to]) => [from, into + to]));

export interface BothSides<T> {
  readonly giving: T;
  readonly taking: T;
}

const sides = ["giving", "taking"] as const;

const both = <T>(of: (side: (typeof sides)[number]) => T): BothSides<T> => ({
  giving: of("giving"),
  taking: of("taking"),
});

/** One side after the other. */
async function bothInTurn<T>(of: (side: (typeof sides)[number]) => Promise<T>): Promise<BothSides<T>> {
  const giving = await of("giving");
  return { giving, taking: await of("taking") };
}

/** Both plans as they are and as they would be, for one environment. */
export async function lookAhead(
  before: BothSides<ProjectState>,
  after: BothSides<readonly ConfigSource[]>,
  moved: ReadonlySet<string> | "all",
  reading: MoveReading,
  { service, areFilesMoved, into, beside }: LookedFor,
): Promise<LookedMove> {
  const then = both((side) => readMovedTexts(before[side].sources, reading));
  const later: MoveReading = { ...reading, pending: new Map(beside.map(({ file, text }) => [resolve(file), text])) };
  const now = both((side) => readMovedTexts(after[side], later));
  const { environment } = reading;
  const base: Asked = {
    addresses: movedInto(addressesOf(before.giving.state, then.giving, moved), into),
    ...onlyDefined({ whole: moved === "all" ? true : undefined, environment }),
  };
  const decided = decideHandover(before.giving.state, before.taking.state, base);
  if (decided.problems !== undefined)
    return { asked: base, refused: decided.problems.map((one) => handoverDiagnostic(one, before)), resources: 0 };
  const { addresses, orphans, taken } = decided.handover;
  const note = { side: "giving" as const, other: "", at: "", by: "", addresses, orphans };
  const states: BothSides<FoldedState> = {
    giving: withChanges(before.giving.state, changesOfGiving(before.giving.state, "", note)),
    taking: withChanges(before.taking.state, taken),
  };
  const outputs = (desired: BothSides<Desired>, declared: BothSides<Desired> | undefined) =>
    both((side) => outputsAfter(states[side].outputs ?? {}, declared?.[side], desired[side], states[side]));
  const opener =
    (folder: string, of: BothSides<FoldedState> | undefined) =>
    (named: string): StateStore => {
      const location = locationBeside(folder, named);
      const side = sides.find(
        (one) => before[one].location === location || (!isUrl(location) && resolve(before[one].location) === location),
      );
      if (of !== undefined && side !== undefined) return memoryStoreOf(of[side]);
      return openProtectedStore(location, {
        environment: process.env,
        insecureHttp: reading.invocation.flags["insecure-http"] === true,
      });
    };
  const close = (texts: BothSides<readonly ConfigSource[]>, of?: BothSides<FoldedState>, as = later) =>
    bothInTurn((side) => closeTexts(texts[side], as, service, opener(before[side].folder, of)));
  const withOutputs = (given: BothSides<Outputs>): BothSides<FoldedState> => ({
    giving: { ...states.giving, ...headOf({ ...states.giving, outputs: given.giving }), outputs: given.giving },
    taking: { ...states.taking, outputs: given.taking },
  });
  const files = both((side) => before[side].sources);
  const read = areFilesMoved ? undefined : await close(files, undefined, reading);
  // What one side hands out may come from what it reads of the other one, so the outputs are worked out twice.
  const first = outputs(now, areFilesMoved ? undefined : then);
  const last = outputs(await close(after, withOutputs(first)), read);
  const future = withOutputs(last);
  const desired = await close(after, future);
  // Files that were moved before read what only this move brings.
  const closed = read ?? (await close(files, future, reading));
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
    return { changes: made.changes, outputs: made.outputs ?? [], errors: errorsAmong(made.diagnostics) };
  };
  const planned = {
    before: await bothInTurn((side) =>
      plan(closed[side], before[side].state, side === "giving" || files[side].length > 0),
    ),
    now: await bothInTurn((side) => plan(desired[side], future[side], after[side].length > 0)),
  };
  return {
    asked: { ...base, outputs: last },
    refused: whatDiffers(planned.before, planned.now, addresses),
    resources: Object.keys(addresses).length,
  };
}

/** Changes that nobody had planned before. */
function whatDiffers(
  before: BothSides<PlannedSide>,
  after: BothSides<PlannedSide>,
  renamed: Asked["addresses"],
): Diagnostic[] {
  const then = [before.giving, before.taking];
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
  const projects = { giving: "the project that gives it away", taking: "the project that takes it over" };
  return sides.flatMap((side): Diagnostic[] => {
    const { changes, outputs, errors } = after[side];
    return [
      ...changes
        .filter((change) => !known.has(changeKey(change)))
        .map(
          (change): Diagnostic => ({
            severity: "error",
            code: "move/would-change",
            summary: `${projects[side]} would then ${change.action} ${change.address}${changedFieldsText(change)}`,
            fix: "make the two projects agree first, or write the value into the block; a move changes nothing in the service",
            address: change.address,
            source: change.source,
          }),
        ),
      ...outputs
        .filter(({ name, changes }) => changes && !knownOutputs.has(name))
        .map(
          ({ name }): Diagnostic => ({
            severity: "error",
            code: "move/would-change",
            summary: `${projects[side]} would then change its output ${name}, or does not know its value yet`,
            fix: "apply both projects first, so that every value is known",
          }),
        ),
      ...errors.filter(({ code, address }) => !knownErrors.has(`${code} ${address ?? ""}`)),
    ];
  });
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
    const isPath =
      /^\.\.?\//.test(text) ||
      (field === "vars_file" && !isAbsolute(text)) ||
      (fieldsOfFiles.has(field) && isFileIn(from, text));
    return isPath && from !== folder ? beside(folder, resolve(from, text)) : text;
  };

function isFileIn(folder: string, text: string): boolean {
  const path = join(folder, text);
  return /[./]/.test(text) && !isAbsolute(text) && existsSync(path) && statSync(path).isFile();
}
