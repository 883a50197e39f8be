/**
 * Keeps the fleet as its own file in a repository says, and makes stacks of folders that a push adds. What is added and
 * changed is carried out; what would leave the fleet waits for a person, for a push may take a folder away by mistake,
 * and so does what looks like another name of it, for that would make everything a second time.
 */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, posix, relative, sep } from "node:path";
import { deepEqual } from "../core/text/deep-equal";
import { errorMessage } from "../core/text/errors";
import { withoutUsers } from "../core/text/outside-policy";
import { carryOutChanges, carryOutSync, plannedSync, withRenamed } from "./actions";
import { changesOf } from "./changes";
import type { Records } from "./database/records";
import type { Followed } from "./database/workers";
import { allStacks } from "./generate";
import { refuseSharedStates } from "./may-read";
import type { Fleet, FleetSettings, Follow, Source, StackSpec } from "./model";
import { lookEveryS, type PushPorts, sameRepository } from "./pushes";
import { readFleet } from "./read-fleet";
import { sentences } from "./round";
import { SourceFailed } from "./sources/checkout";
import { checkOutGit, type Freshness, fetchCommit } from "./sources/git";
import { scheduleProblem } from "./windows";

const task = "follow";

export interface FollowPorts extends PushPorts {
  readonly say: (text: string) => void;
}

/** A path of the followed file that is relative to it; no worker has a file there. */
const followPrefix = "follow:";

export interface FollowedFleet {
  readonly fleet: Fleet;
  readonly stacks: readonly StackSpec[];
  readonly commit: string;
}

/** Throws with the errors of the file. */
export async function readFollowed(follow: Follow, cache: string, freshness: Freshness = {}): Promise<FollowedFleet> {
  const root = await checkOutGit({ ...follow, path: "" }, cache, freshness);
  const place = join(root.folder, follow.path);
  if (!existsSync(place)) throw new SourceFailed(`${follow.url} has no ${follow.path} at ${follow.ref}`);
  const files = statSync(place).isDirectory()
    ? readdirSync(place)
        .filter((name) => /^[^.].*\.ya?ml$/.test(name))
        .sort()
        .map((name) => join(place, name))
    : [place];
  const sources = files.map((path) => {
    const file = relative(root.folder, path);
    // A link may lead to a device, which has no end, or to what is none of the repository's.
    const real = realpathSync(path);
    if (!real.startsWith(realpathSync(root.folder) + sep) || !statSync(real).isFile())
      throw new SourceFailed(`${file} of ${follow.url} is no file of that repository`);
    return { file, text: readFileSync(real, "utf8") };
  });
  const { fleet, diagnostics } = readFleet(sources, {
    resolvePath: (file, path) => (isAbsolute(path) ? path : `${followPrefix}${posix.join(dirname(file), path)}`),
    scheduleProblem,
  });
  if (fleet === undefined) throw new SourceFailed(sentences(diagnostics));
  const lost = [
    ...[...fleet.stacks, ...fleet.generators].map(({ source }) => placeOf(source)),
    ...fleet.stacks.map(({ state }) => state),
    ...fleet.generators.map(({ template }) => template.state),
  ].find((text) => text.startsWith(followPrefix));
  if (lost !== undefined)
    throw new SourceFailed(
      `${lost.slice(followPrefix.length)} is relative to a fleet's file that is in a repository, where no worker finds it: write a repository, a whole path or the address of a state`,
    );
  const services = fleet.services.map(({ dialect, ...service }) =>
    dialect?.startsWith(followPrefix) === true
      ? { ...service, dialectIn: { url: follow.url, commit: root.revision, path: dialect.slice(followPrefix.length) } }
      : { ...service, dialect },
  );
  const stacks = await allStacks(fleet, cache, freshness);
  return { fleet: { ...fleet, services }, stacks, commit: root.revision };
}

const placeOf = (source: Source): string => (source.kind === "folder" ? source.folder : source.url);

/** One of the workers looks. */
export async function followFleet(ports: FollowPorts, settings: FleetSettings, signal: AbortSignal): Promise<void> {
  const { records, say } = ports;
  const { follow, generators = [] } = settings;
  if ((follow === undefined && generators.length === 0) || !(await records.claimTask(task, lookEveryS))) return;
  let seen = "";
  try {
    seen = await commitsOf(ports, settings, signal);
    const before = await records.followed();
    if (before?.seen === seen && before.why === undefined) return;
    const waiting =
      follow === undefined
        ? await addGenerated(ports, settings, signal)
        : await carryOutFollowed(ports, { ...settings, follow }, signal);
    if (waiting === undefined) return;
    await records.saveFollowed({ seen, at: new Date().toISOString(), ...waiting });
  } catch (error) {
    if (signal.aborted) return;
    const why = errorMessage(error);
    say(`the fleet's file in its repository: ${why}`);
    const { leaving = [], anew } = (await records.followed()) ?? {};
    await records.saveFollowed({ seen, at: new Date().toISOString(), leaving, anew, why });
  }
}

async function commitsOf({ cache }: FollowPorts, { follow, generators = [] }: FleetSettings, signal: AbortSignal) {
  const commit = async (place: { readonly url: string; readonly ref: string }): Promise<string> =>
    `${place.url} ${await fetchCommit(place, cache, { now: true, signal })}`;
  const found = await Promise.all([
    ...(follow === undefined ? [] : [commit(follow)]),
    ...generators.map(({ source }) => (source.kind === "git" ? commit(source) : placeOf(source))),
  ]);
  return [...new Set(found)].sort().join("\n");
}

type WaitingStacks = Pick<Followed, "leaving" | "anew">;

/** Repositories are read for a while, in which a person may have written another fleet: that is looked at next. */
async function isStillSo({ records }: FollowPorts, { follow, generators }: FleetSettings): Promise<boolean> {
  const now = await records.settings();
  return deepEqual([now.follow, now.generators], [follow, generators]);
}

/** Carries out what is added and changed, and gives the names of what waits for a person; absent: see `isStillSo`. */
async function carryOutFollowed(
  ports: FollowPorts,
  settings: FleetSettings & { readonly follow: Follow },
  signal: AbortSignal,
): Promise<WaitingStacks | undefined> {
  const desk = { ...ports, who: "fleet" };
  const { follow } = settings;
  const { fleet, stacks, commit } = await readFollowed(follow, ports.cache, { signal });
  const changes = await plannedSync(desk, stacks, ports.cache);
  const go = changes.filter(({ action }) => action === "release" || action === "destroy");
  const anew = changes.filter(({ insteadOf }) => insteadOf !== undefined);
  const stay = changes.filter((change) => !go.includes(change) && !anew.includes(change));
  refuseSharedStates(
    stacks,
    go.map(({ spec }) => spec),
    "let the other one go first: reconcile fleet sync",
  );
  if (!(await isStillSo(ports, settings))) return undefined;
  await carryOutSync(desk, fleet, stay);
  if (stay.length > 0)
    await ports.records.note({
      who: "fleet",
      what: "follow",
      detail: `${withoutUsers(follow.url)} ${commit.slice(0, 12)}: ${stay.length} stacks`,
    });
  return { leaving: go.map(({ name }) => name), anew: anew.map(({ name }) => name) };
}

/** Without a file to follow only new folders are known to be meant. */
async function addGenerated(
  ports: FollowPorts,
  settings: FleetSettings,
  signal: AbortSignal,
): Promise<WaitingStacks | undefined> {
  const { records, cache } = ports;
  const stacks = await allStacks({ stacks: [], generators: settings.generators ?? [] }, cache, { signal });
  const known = await records.stacksNamed(stacks.map(({ name }) => name));
  const added = stacks.filter(({ name }) => !known.has(name));
  if (added.length > 0)
    refuseSharedStates(
      added,
      (await records.stacks()).map(({ spec }) => spec),
    );
  const names = new Set(stacks.map(({ name }) => name));
  const others = added.length === 0 ? [] : (await records.stacks()).filter(({ name }) => !names.has(name));
  const named = (specs: readonly StackSpec[]) => new Map(specs.map((spec) => [spec.name, spec]));
  const all = changesOf(named(others.map(({ spec }) => spec)), named(added));
  const changes = await withRenamed(
    all.filter(({ action }) => action === "add"),
    others,
    cache,
  );
  if (!(await isStillSo(ports, settings))) return undefined;
  await carryOutChanges(
    { ...ports, who: "fleet" },
    changes.filter(({ insteadOf }) => insteadOf === undefined),
  );
  return { leaving: [], anew: changes.flatMap(({ name, insteadOf }) => (insteadOf === undefined ? [] : [name])) };
}

/** A push to a repository that the fleet's stacks or its file come from: the next look is now. */
export async function followMoved(records: Records, url: string): Promise<boolean> {
  const { follow, generators = [] } = await records.settings();
  const urls = [
    ...(follow === undefined ? [] : [follow.url]),
    ...generators.flatMap(({ source }) => (source.kind === "git" ? [source.url] : [])),
  ];
  const isMine = urls.some((one) => sameRepository(one, url));
  if (isMine) await records.releaseTask(task);
  return isMine;
}
