/** Reads the fleet's files from disk, and finds the stacks that its generators stand for. */

import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type FollowedFleet, readFollowed } from "../../fleet/follow";
import { allStacks as stacksOf } from "../../fleet/generate";
import type { Fleet, Follow, StackSpec } from "../../fleet/model";
import { readFleet } from "../../fleet/read-fleet";
import { SourceFailed } from "../../fleet/sources/checkout";
import { scheduleProblem } from "../../fleet/windows";
import { shownPath } from "../../outside/files";
import { fail } from "../compose";
import { CommandFailed } from "../crash";
import { readGiven } from "../workspace";

export function readFleetFiles(paths: readonly string[]): Fleet {
  const files = (paths.length === 0 ? ["fleet.yaml"] : paths).flatMap(expand);
  const sources = files.map((path) => ({
    file: shownPath(path),
    text: fleetText(path),
  }));
  const { fleet, diagnostics } = readFleet(sources, {
    resolvePath: (file, path) => resolve(dirname(file), path),
    scheduleProblem,
  });
  if (fleet === undefined) throw new CommandFailed(diagnostics);
  return fleet;
}

function expand(path: string): string[] {
  if (!existsSync(path) || !statSync(path).isDirectory()) return [path];
  const files = readdirSync(path)
    .filter((name) => /^[^.].*\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(path, name));
  if (files.length === 0) throw fail("cli/no-files", `the folder ${path} has no .yaml file`, "name a fleet's file");
  return files;
}

const fleetText = (path: string): string => readGiven(path, "reconcile fleet sync FILE; docs/fleet.md shows one");

/** The declared stacks and those of generators. */
export async function allStacksOf(fleet: Fleet, cache: string): Promise<readonly StackSpec[]> {
  return fromSources(() => stacksOf(fleet, cache));
}

/** The fleet as its own file in its repository says. */
export const followedFleet = (follow: Follow, cache: string): Promise<FollowedFleet> =>
  fromSources(() => readFollowed(follow, cache, { now: true }));

async function fromSources<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof SourceFailed)) throw error;
    throw fail("fleet/source", error.message, "try it by hand from here, and correct the source");
  }
}
