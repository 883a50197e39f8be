/** Reads the fleet's files from disk, and finds the stacks that its generators stand for. */

import { dirname, resolve } from "node:path";
import { type FollowedFleet, readFollowed } from "../../fleet/follow";
import { allStacks as stacksOf } from "../../fleet/generate";
import type { Fleet, Follow, StackSpec } from "../../fleet/model";
import { readFleet } from "../../fleet/read-fleet";
import { SourceFailed } from "../../fleet/sources/checkout";
import { scheduleProblem } from "../../fleet/windows";
import { shownPath } from "../../outside/files";
import { fail } from "../compose";
import { CommandFailed } from "../crash";
import { readGiven, yamlFilesOf } from "../workspace";

export function readFleetFiles(paths: readonly string[]): Fleet {
  const files = (paths.length === 0 ? ["fleet.yaml"] : paths).flatMap((path) =>
    yamlFilesOf(path, () => true, "name a fleet's file"),
  );
  const sources = files.map((path) => ({ file: shownPath(path), text: fleetText(path) }));
  const { fleet, diagnostics } = readFleet(sources, {
    resolvePath: (file, path) => resolve(dirname(file), path),
    scheduleProblem,
  });
  if (fleet === undefined) throw new CommandFailed(diagnostics);
  return fleet;
}

const fleetText = (path: string): string => readGiven(path, "reconcile fleet sync FILE; docs/fleet.md shows one");

/** The declared stacks and those of generators. */
export const allStacksOf = async (fleet: Fleet, cache: string): Promise<readonly StackSpec[]> =>
  fromSources(() => stacksOf(fleet, cache));

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
