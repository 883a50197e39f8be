/** Carries out `reconcile move`: looks ahead for every environment, shows it, and writes files and states together. */

import { randomUUID } from "node:crypto";
import { existsSync, symlinkSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { chosen } from "../../config/move/cut";
import { type Divided, divide } from "../../config/move/divide";
import { intoComponent } from "../../config/move/into";
import { blocksIn, componentIn } from "../../config/move/project";
import type { ConfigSource } from "../../config/read/desired";
import { itemAt } from "../../core/text/invariant";
import { listText } from "../../core/text/list-text";
import { isUrl, withoutPassword } from "../../core/text/outside-policy";
import { printable } from "../../core/text/printable";
import { realPath } from "../../outside/commit";
import { setting } from "../../outside/environment";
import { shownPath } from "../../outside/files";
import { makeOwnFolder } from "../../outside/private-file";
import { sha256 } from "../../outside/sha256";
import { countOf } from "../../report/style";
import { originAt } from "../../service/origin-at";
import type { Invocation } from "../command";
import { commandHolder, fail, openWorkspaceService, stateFile, trustOf } from "../compose";
import { CommandFailed } from "../crash";
import type { FlagName } from "../flags";
import { chosenEnvironment, defaultFile } from "../workspace";
import {
  carryOutEdits,
  editedSince,
  type FileEdit,
  forgetEdits,
  type MoveEdits,
  type StatesOfMove,
  textAt,
  writeDown,
} from "./edits";
import { type FleetOfMove, fleetOfMove, pauseStacks } from "./fleet-file";
import { recallMove, rememberMove } from "./memory";
import {
  environmentsIn,
  filesOf,
  type LookedMove,
  lookAhead,
  type ProjectFiles,
  pathsFor,
  projectName,
  readMovedTexts,
  targetFiles,
  workspaceOf,
} from "./project";
import { type BothStates, stateAsRead, statesOfBoth, stemOfNew } from "./state-places";
import { carryOutMove, movesBetween } from "./states";

type MoveInvocation = Invocation<FlagName>;

type LookedAt = StatesOfMove & LookedMove & { readonly environment: string | undefined };

function givenTarget({ args, flags }: MoveInvocation): string {
  if (flags.to === undefined)
    throw fail("cli/usage", "move needs --to: the project that takes it over", "--to ../database");
  if ((args.length === 0) === (flags.all !== true))
    throw fail(
      "cli/usage",
      args.length === 0 ? "move needs what moves" : "--all moves everything, and addresses a part",
      "name addresses, or give --all",
    );
  if (isUrl(flags.to))
    throw fail("cli/usage", `--to ${withoutPassword(flags.to)} is an address, and no project`, "--to ../database");
  return flags.to;
}

const refusedIn = ({ environment, refused }: LookedAt) =>
  refused.map((one) => (environment === undefined ? one : { ...one, summary: `${environment}: ${one.summary}` }));

export async function moveParts(invocation: MoveInvocation): Promise<number> {
  const { args, flags, output } = invocation;
  const to = givenTarget(invocation);
  const trust = trustOf(flags);
  const source = filesOf(flags.file ?? [defaultFile], trust);
  const target = targetFiles(to, trust);
  refuseSameProject(source, target, to);
  const environments = chooseEnvironments(source, invocation);
  const wanted = flags.all === true ? ("all" as const) : args;
  // What a person names counts before the fleet's file.
  const fleet = flags.state === undefined ? fleetOfMove(source, target) : undefined;
  const before = await statesOfBoth(source, target, environments, fleet, invocation);
  const first = before[0];
  if (first === undefined) throw fail("cli/usage", "there is no environment to move", "give --env NAME");
  const [, { giving }] = first;
  if (before.some(([, one]) => one.giving.store.location === one.taking.store.location))
    throw fail(
      "cli/usage",
      `both projects have the state ${giving.location}`,
      "give one of them a state of its own first",
    );
  const divided = putInto(divideTexts({ source, target, environments, before, wanted, fleet }), target, flags.into);
  const edits = [...editsOfParts(source, target, divided), ...fleetEdit(fleet, source, target, divided)];
  const moved = flags.all === true ? ("all" as const) : divided.moved;
  const looked: LookedAt[] = [];
  let isEmbedded = false;
  for (const [environment, sides] of before) {
    // Each environment may be of a service of its own.
    const service = await openWorkspaceService(
      workspaceOf(readMovedTexts(source.sources, { invocation, environment }), source),
      invocation,
    );
    isEmbedded ||= service.baseUrl === "embedded";
    try {
      refuseOtherWorlds(service.baseUrl, source, target, invocation, environment);
      const setting = {
        service,
        areFilesMoved: edits.length === 0,
        into: flags.into ?? "",
        beside: divided.beside ?? [],
      };
      const texts = { giving: divided.source, taking: divided.target };
      const look = await lookAhead(sides, texts, moved, { invocation, environment }, setting);
      looked.push({ ...look, giving: sides.giving.location, taking: sides.taking.location, environment });
    } finally {
      await service.close();
    }
  }
  const refused = looked.flatMap(refusedIn);
  if (refused.length > 0) throw new CommandFailed(refused);
  // What moves the files moves them for every environment.
  const left =
    edits.length === 0 ? [] : environmentsIn(source.sources, invocation).filter((one) => !environments.includes(one));
  showMove(invocation, divided, edits, looked);
  if (left.length > 0)
    output.print(
      `- the files are those of ${listText(left)} too: until the same command has run with --env all, both projects plan there to delete what went out of their files and to make anew what came into them`,
    );
  if (flags.yes !== true) {
    output.print("\nNothing was written. --yes writes it; nothing is sent to the service either way.");
    return output.finish({ exitCode: 0 });
  }
  if (fleet !== undefined) await pauseStacks(fleet, output);
  if (isEmbedded) assertApartWorlds(source.folder, target.folder);
  await carryOutMoves(invocation, before, { edits, looked, folders: [...new Set([source.folder, target.folder])] });
  rememberMove([source.folder, target.folder], { moved: [...divided.moved].sort(), edits });
  output.print(
    `\nMoved. Nothing was sent to the service; both projects plan what they planned before${left.length === 0 ? "" : `, except in ${listText(left)}`}.`,
  );
  if (fleet !== undefined && fleet.running.length > 0) output.print(whatRemains(fleet));
  return output.finish({ exitCode: 0 });
}

/** What the person does for the fleet when both projects are committed. */
function whatRemains({ added, running }: FleetOfMove): string {
  const isAdded = added.length > 0;
  const commands = [
    ...(isAdded ? ["reconcile fleet sync"] : []),
    ...running.map((name) => `reconcile fleet resume ${name}`),
  ];
  return `Commit both projects${isAdded ? " and the fleet's file" : ""} together. When the commit is where the fleet reads it: ${commands.join(", ")}.`;
}

function refuseSameProject(source: ProjectFiles, target: ProjectFiles, to: string): void {
  const newFiles = new Set(target.sources.map(({ file }) => resolve(file)));
  if (source.sources.some(({ file }) => newFiles.has(resolve(file))))
    throw fail(
      "cli/usage",
      `--to ${to} is the project itself`,
      "name another project; within one, a moved entry in the file gives another address",
    );
}

function chooseEnvironments(source: ProjectFiles, invocation: MoveInvocation): readonly (string | undefined)[] {
  const declared = environmentsIn(source.sources, invocation);
  const chosenOne = chosenEnvironment(invocation.flags);
  if (chosenOne !== "all") {
    // Reading says what is wrong with the choice.
    readMovedTexts(source.sources, { invocation, environment: chosenOne });
    return [chosenOne];
  }
  if (declared.length === 0)
    throw fail(
      "config/environment",
      "--env all is for a file that declares environments, and this one declares none",
      "leave --env and RECONCILE_ENV out",
    );
  return declared;
}

interface Dividing {
  readonly source: ProjectFiles;
  readonly target: ProjectFiles;
  readonly environments: readonly (string | undefined)[];
  readonly before: BothStates;
  readonly wanted: readonly string[] | "all";
  /** Absent: no fleet runs the project. */
  readonly fleet: FleetOfMove | undefined;
}

function divideTexts({ source, target, before, wanted, fleet }: Dividing): Divided {
  const [environment, { giving, taking }] = itemAt(before, 0);
  const isNew = target.sources.length === 0;
  const usual = join(target.folder, stateFile("reconcile", environment));
  const other = (files: ProjectFiles, from: ProjectFiles, side: "giving" | "taking") => ({
    name: projectName(files),
    state: stateAsRead(before, side, from.folder),
    isIt: (state: string): boolean => {
      const named = state.replaceAll("${env}", environment ?? "");
      const location = side === "giving" ? giving.location : taking.location;
      return named === location || (!isUrl(named) && resolve(from.folder, named) === resolve(location));
    },
  });
  const result = divide({
    source: source.sources,
    target: target.sources,
    targetFile: shownPath(target.newFile),
    parts: wanted,
    others: { target: other(target, source, "taking"), source: other(source, target, "giving") },
    rebase: pathsFor(target.folder, source.folder),
    // A fleet's file says it for a fleet's project.
    newState:
      isNew && taking.location !== usual && fleet === undefined
        ? `./${stateFile(stemOfNew(target), environment === undefined ? undefined : "${env}")}`
        : undefined,
  });
  if (!("problems" in result)) return recalled(source, target, result);
  const already = alreadyMoved(source, target, wanted);
  if (already !== undefined) return already;
  throw new CommandFailed(result.problems.map((problem) => ({ severity: "error", code: "move/cannot", ...problem })));
}

/** `--into shop/`: the parts go into a component of the target, which is made where there is none. */
function putInto(divided: Divided, target: ProjectFiles, into: string | undefined): Divided {
  if (into === undefined) return divided;
  const key = /^([A-Za-z0-9_-]+)\/$/.exec(into)?.[1];
  if (key === undefined)
    throw fail("cli/bad-flag", `--into ${into} is no component`, "a component of the target by its key: --into shop/");
  const { from, problem } = componentIn(divided.target, key);
  if (problem !== undefined) throw fail("move/cannot", problem, "name a component that is used once, or another key");
  const path = resolve(target.folder, from ?? join("components", `${key}.yaml`));
  const text = textAt(path);
  const result = intoComponent({
    key,
    moved: divided.moved,
    target: divided.target,
    component: { file: shownPath(path), from: from ?? `./components/${key}.yaml`, text },
    rebase: pathsFor(dirname(path), target.folder),
  });
  if ("problems" in result)
    throw new CommandFailed(result.problems.map((one) => ({ severity: "error", code: "move/cannot", ...one })));
  return { ...divided, target: result.target, beside: [result.component] };
}

/** The files were moved for another environment before: now only the states of this one are left. */
function alreadyMoved(
  source: ProjectFiles,
  target: ProjectFiles,
  wanted: readonly string[] | "all",
): Divided | undefined {
  if (wanted === "all") return undefined;
  const [here, there] = [blocksIn(source.sources), blocksIn(target.sources)];
  const { moved, problems } = chosen(wanted, there);
  if (problems.length > 0 || here.some((block) => moved.has(block))) return undefined;
  return { source: source.sources, target: target.sources, moved, notes: ["the files were moved already"] };
}

const pathsBeforeAndAfter = (files: ProjectFiles, now: readonly ConfigSource[]): ReadonlySet<string> =>
  new Set([...files.sources, ...now].map(({ file }) => resolve(file)));

const recalledEdits = (source: ProjectFiles, target: ProjectFiles, divided: Divided): readonly FileEdit[] | undefined =>
  recallMove([source.folder, target.folder], [...divided.moved].sort(), [
    pathsBeforeAndAfter(source, divided.source),
    pathsBeforeAndAfter(target, divided.target),
  ]);

/** Back again: where nothing was changed since, both projects get the bytes that they had. */
function recalled(source: ProjectFiles, target: ProjectFiles, divided: Divided): Divided {
  const known = recalledEdits(source, target, divided);
  if (known === undefined) return divided;
  const texts = (files: ProjectFiles, now: readonly ConfigSource[]): readonly ConfigSource[] => {
    const own = new Map(known.map((edit) => [edit.path, edit]));
    return [...pathsBeforeAndAfter(files, now)].flatMap((path): ConfigSource[] => {
      const edit = own.get(path);
      if (edit === undefined) return files.sources.filter(({ file }) => resolve(file) === path);
      return edit.after === undefined ? [] : [{ file: shownPath(path), text: edit.after }];
    });
  };
  return {
    ...divided,
    source: texts(source, divided.source),
    target: texts(target, divided.target),
    notes: ["back: both projects get the bytes that they had before"],
  };
}

function editsOfParts(source: ProjectFiles, target: ProjectFiles, divided: Divided): readonly FileEdit[] {
  const now = new Map(
    [...divided.source, ...divided.target, ...(divided.beside ?? [])].map(({ file, text }) => [resolve(file), text]),
  );
  const paths = new Set([
    ...source.sources.map(({ file }) => resolve(file)),
    ...target.sources.map(({ file }) => resolve(file)),
    ...now.keys(),
  ]);
  return [...paths].flatMap((path): FileEdit[] => {
    const [before, after] = [textAt(path), now.get(path)];
    if (before === after) return [];
    return [{ path, before: before === undefined ? undefined : sha256(before), text: before, after }];
  });
}

/** The way back takes the stacks away again that the way there had made, as it does with what stood in the files. */
function fleetEdit(
  fleet: FleetOfMove | undefined,
  source: ProjectFiles,
  target: ProjectFiles,
  divided: Divided,
): readonly FileEdit[] {
  if (fleet === undefined) return [];
  const known = recalledEdits(source, target, divided)?.find(({ path }) => path === fleet.path);
  const text = textAt(fleet.path) ?? "";
  if (known?.after !== undefined && known.after !== text)
    return [{ path: fleet.path, before: sha256(text), text, after: known.after }];
  return fleet.edit === undefined ? [] : [fleet.edit];
}

function refuseOtherWorlds(
  baseUrl: string,
  source: ProjectFiles,
  target: ProjectFiles,
  invocation: MoveInvocation,
  environment: string | undefined,
): void {
  const there = readMovedTexts(target.sources, { invocation, environment }).service.baseUrl;
  const given = invocation.flags["base-url"] ?? setting("RECONCILE_BASE_URL");
  if (target.sources.length > 0 && given === undefined && there !== undefined && originAt(there) !== originAt(baseUrl))
    throw fail(
      "move/cannot",
      `the two projects are of different services${environment === undefined ? "" : ` in ${environment}`}: ${baseUrl} and ${there}`,
      "name a project of the same service",
    );
  if (baseUrl !== "embedded") return;
  const worlds = [source.folder, target.folder].map((folder) => join(folder, ".reconcile", "world"));
  const [own = "", other = ""] = worlds;
  if (existsSync(other) && realPath(own) !== realPath(other) && source.folder !== target.folder)
    throw fail(
      "move/cannot",
      `each of the two projects has an embedded service of its own: ${shownPath(own)} and ${shownPath(other)}`,
      "serve one world for both: reconcile emulator, and RECONCILE_BASE_URL with its address",
    );
}

/** The embedded service of a project that is made is the one that the resources are in. */
function assertApartWorlds(source: string, target: string): void {
  const [own, other] = [join(source, ".reconcile", "world"), join(target, ".reconcile", "world")];
  if (source === target || existsSync(other) || !existsSync(own)) return;
  makeOwnFolder(dirname(other), 0o700);
  symlinkSync(relative(dirname(other), own), other);
}

function showMove(
  { output }: MoveInvocation,
  divided: Divided,
  edits: readonly FileEdit[],
  looked: readonly LookedAt[],
): void {
  for (const { environment, giving, taking, asked, resources } of looked) {
    for (const [address, to] of Object.entries(asked.addresses))
      output.event({ type: "move", address, to, from_state: giving, to_state: taking, environment });
    const named = environment === undefined ? "" : ` of ${environment}`;
    const [from, to] = [giving, taking].map((state) => printable(isUrl(state) ? state : shownPath(state)));
    output.print(`${countOf(resources, "resource")}${named}: ${from} -> ${to}`);
    if (environment === looked[0]?.environment)
      for (const address of Object.keys(asked.addresses)) output.print(`  ${address}`);
  }
  for (const { path, before, after } of edits) {
    const what = before === undefined ? "is made" : after === undefined ? "is removed" : "is changed";
    output.print(`${printable(shownPath(path))} ${what}`);
  }
  for (const note of divided.notes) output.print(`- ${note}`);
}

interface WrittenMove {
  readonly edits: readonly FileEdit[];
  readonly looked: readonly StatesOfMove[];
  readonly folders: readonly string[];
}

async function carryOutMoves(
  invocation: MoveInvocation,
  before: BothStates,
  { edits, looked, folders }: WrittenMove,
): Promise<void> {
  const { who, host } = commandHolder(invocation.command);
  const move: MoveEdits = {
    id: randomUUID(),
    at: new Date().toISOString(),
    by: `${who} on ${host}`,
    states: looked.map(({ giving, taking, asked }) => ({ giving, taking, asked })),
    folders,
    edits: edits.map(({ path, before: hash, after }) => ({ path, before: hash, after })),
  };
  writeDown(move);
  const seen = new Map(before.map(([, sides]) => [sides.giving.store.location, sides]));
  let isBegun = false;
  try {
    await carryOutMove(
      movesBetween(move, invocation, "giving"),
      () => {
        isBegun = true;
        carryOutEdits(move);
      },
      (one, giving, taking) => {
        const sides = seen.get(one.sides.giving.store.location);
        // Whoever waited for a lock may have gone on with the files.
        return (
          sides !== undefined &&
          editedSince(move).length === 0 &&
          giving.serial === sides.giving.state.serial &&
          (taking.serial === sides.taking.state.serial || sides.taking.state.serial === 0)
        );
      },
    );
  } catch (error) {
    // Refused before anything was taken: nothing is left to go on with.
    if (error instanceof CommandFailed && !isBegun) forgetEdits(move);
    throw error;
  }
  forgetEdits(move);
}
