/**
 * A move within a fleet. The workers go on with the files of before until the commit is merged, and would take the move
 * back in the service: every stack of the two projects is paused before the first state changes. Their states are where
 * the fleet's file says, and a project that is made gets stacks of its own in that file, made after those of the other.
 */

import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { parse } from "yaml";
import { setIn } from "../../config/edit-text";
import { plainOf } from "../../config/yaml/write";
import { fieldsIn, onlyDefined } from "../../core/text/objects";
import type { Fleet, StackSpec } from "../../fleet/model";
import { readFleet } from "../../fleet/read-fleet";
import { scheduleProblem } from "../../fleet/windows";
import { setting } from "../../outside/environment";
import { shownPath } from "../../outside/files";
import { sha256 } from "../../outside/sha256";
import { fail } from "../compose";
import { CommandFailed } from "../crash";
import { answerToPerson } from "../fleet/answered";
import type { Output } from "../output";
import { type FileEdit, textAt } from "./edits";
import type { ProjectFiles } from "./project";

const fleetName = "fleet.yaml";

export interface FleetOfMove {
  /** The whole path of the fleet's file. */
  readonly path: string;
  /** The fleet's file, where stacks are added. */
  readonly edit: FileEdit | undefined;
  /** Stacks that have rounds, and are to be paused. */
  readonly running: readonly string[];
  readonly added: readonly string[];
  /** Where a side's state of an environment is. */
  stateOf(side: "giving" | "taking", environment: string | undefined): string | undefined;
}

/** The fleet whose file lies in the folder of the project or above it, within its repository. */
function fleetAbove(folder: string): { readonly path: string; readonly root: string } | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, fleetName);
    const isRoot = existsSync(join(at, ".git")) || dirname(at) === at;
    if (existsSync(path)) return { path, root: repositoryOf(at) };
    if (isRoot) return undefined;
  }
}

function repositoryOf(folder: string): string {
  for (let at = folder; dirname(at) !== at; at = dirname(at)) if (existsSync(join(at, ".git"))) return at;
  return folder;
}

function readAt(path: string, text: string): Fleet {
  const { fleet, diagnostics } = readFleet([{ file: shownPath(path), text }], {
    resolvePath: (file, named) => resolve(dirname(file), named),
    scheduleProblem,
  });
  if (fleet === undefined) throw new CommandFailed(diagnostics);
  return fleet;
}

const folderOf = ({ source }: StackSpec, root: string): string | undefined =>
  source.kind === "folder" ? source.folder : source.kind === "git" ? resolve(root, source.path) : undefined;

export function fleetOfMove(source: ProjectFiles, target: ProjectFiles): FleetOfMove | undefined {
  const found = fleetAbove(source.folder);
  if (found === undefined) return undefined;
  const { path, root } = found;
  const before = textAt(path) ?? "";
  const stacksOf = ({ stacks }: Fleet, { folder }: ProjectFiles): readonly StackSpec[] =>
    stacks.filter((stack) => folderOf(stack, root) === folder);
  const fleet = readAt(path, before);
  const [giving, taking] = [stacksOf(fleet, source), stacksOf(fleet, target)];
  if (giving.length === 0) return undefined;
  const isNew = taking.length === 0;
  const after = isNew ? withStacksFor(target, source, { text: before, path, root, giving }) : before;
  const takes = isNew ? stacksOf(readAt(path, after), target) : taking;
  const sides = { giving, taking: takes };
  return {
    path,
    edit: after === before ? undefined : { path, before: sha256(before), text: before, after },
    running: [...giving, ...taking].filter(({ paused }) => !paused).map(({ name }) => name),
    added: isNew ? takes.map(({ name }) => name) : [],
    stateOf: (side, environment) => sides[side].find(({ env }) => env === environment)?.state,
  };
}

interface WrittenFleet {
  readonly text: string;
  readonly path: string;
  readonly root: string;
  readonly giving: readonly StackSpec[];
}

/** A stack for each that runs the other project, alike but for its name, its files and its state. */
function withStacksFor(target: ProjectFiles, source: ProjectFiles, { text, path, root, giving }: WrittenFleet): string {
  const [own, other] = [basename(target.folder), basename(source.folder)];
  const renamed = (name: string): string =>
    name.includes(other) ? name.replaceAll(other, own) : name.replace(/((?:\.state)?\.json)?$/, `-${own}$1`);
  return giving.reduce((written, { name, source: { kind } }) => {
    // What the new project waits for and takes from other stacks is said by whoever knows it.
    const { depends_on: _waits, inputs: _takes, ...block } = fieldsIn(fieldsIn(fieldsIn(parse(text))["stacks"])[name]);
    const given = block["state"];
    const state = typeof given !== "string" || given.includes("${stack}") ? given : renamed(given);
    const place =
      kind === "git" ? { path: relative(root, target.folder) } : { folder: relative(dirname(path), target.folder) };
    const stack = { ...block, source: { ...fieldsIn(block["source"]), ...place }, ...onlyDefined({ state }) };
    const edited = setIn(written, ["stacks", renamed(name)], plainOf(stack));
    if ("problem" in edited) throw cannot(path, `${renamed(name)} cannot be written there: ${edited.problem}`);
    return edited.text;
  }, text);
}

const cannot = (path: string, why: string) =>
  fail("move/cannot", `${relative(process.cwd(), path)}: ${why}`, "give the project its stacks there first");

/** A round on the files of before would plan to make anew what went, and to delete what came. */
export async function pauseStacks({ running }: FleetOfMove, output: Output): Promise<void> {
  if (running.length === 0) return;
  if (setting("RECONCILE_FLEET_SERVER") === undefined && setting("RECONCILE_FLEET_DATABASE") === undefined)
    throw fail(
      "move/fleet",
      `a fleet runs these projects (${running.join(", ")}), and would go on with the files of before`,
      "RECONCILE_FLEET_SERVER or RECONCILE_FLEET_DATABASE in the environment, so that the move pauses them; or paused: true in fleet.yaml",
    );
  for (const name of running) await answerToPerson("pause", { args: [name], flags: {}, output });
  for (const name of running)
    if (await isUnderWay(name, output))
      throw fail(
        "move/fleet",
        `a run of ${name} is under way, which goes on with the files of before; no other one begins`,
        `once it has ended (reconcile fleet show ${name}), the same command again`,
      );
}

async function isUnderWay(name: string, output: Output): Promise<boolean> {
  const said: object[] = [];
  const event = (one: object): void => void said.push(one);
  const quiet = { ...output, print: () => undefined, printLines: () => undefined, event };
  await answerToPerson("show", { args: [name], flags: {}, output: quiet });
  return said.some((one) => fieldsIn(fieldsIn(one)["last_run"])["ended_at"] === null);
}
