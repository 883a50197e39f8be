/**
 * A push to a repository: one fetch, and a round now for the stacks whose files changed; the other stacks keep their
 * time. A webhook tells of pushes, or the workers look at each repository in turn.
 */
import { inParallel } from "../core/text/in-parallel";
import type { Records } from "./database/records";
import type { StackRecord } from "./database/stacks";
import { type Queue, triggerOf } from "./queue";
import { changedFiles, fetchCommit } from "./sources/git";

export interface Pushed {
  readonly fetched: boolean;
  readonly woken: readonly string[];
}

export interface PushPorts {
  readonly records: Records;
  readonly queue: Queue;
  readonly cache: string;
}

/** How often repositories without a webhook are looked at. */
export const lookEveryS = 60;

/** Each address under which stacks name the repository is fetched by itself: it may need another credential. */
export async function repositoryPushed(ports: PushPorts, url: string, ref: string): Promise<Pushed> {
  const woken: string[] = [];
  let fetched = false;
  let failure: unknown;
  for (const one of await ports.records.repositories())
    if (one.ref === ref && sameRepository(one.url, url))
      try {
        const pushed = await placePushed(ports, one);
        woken.push(...pushed.woken);
        fetched ||= pushed.fetched;
      } catch (error) {
        failure = error;
      }
  if (failure !== undefined && !fetched) throw failure;
  return { fetched, woken };
}

async function placePushed(
  { records, queue, cache }: PushPorts,
  place: { readonly url: string; readonly ref: string },
  signal?: AbortSignal,
): Promise<Pushed> {
  const { url, ref } = place;
  const all = await records.stacksFrom(url, ref);
  const stacks = all.filter(({ paused }) => !paused);
  // Pull requests are planned on what the branch is now, also those of stacks that are paused.
  const hasPulls = all.some(({ spec: { source } }) => source.kind === "git" && source.pulls !== undefined);
  if (stacks.length === 0 && !hasPulls) return { fetched: false, woken: [] };
  const commit = await fetchCommit(place, cache, { now: true, signal }).catch(async (error: Error) => {
    if (signal?.aborted !== true) await records.repositoryFailed(url, ref, error.message);
    throw error;
  });
  const { revision: before, failures } = await records.sawCommit(url, ref, commit);
  const files = before === undefined ? undefined : await changedFiles(place, cache, before, commit);
  const touched = stacks.filter(
    (stack) =>
      files === undefined ||
      isTouched(stack, files) ||
      // It failed while the repository did: it need not wait for its own time.
      (failures > 0 && stack.status.failures > 0),
  );
  await queue.hastenAll(touched.map((stack) => triggerOf(stack, "push")));
  if (before !== commit) await records.wokeFor(url, ref, commit);
  return { fetched: true, woken: touched.map(({ name }) => name) };
}

const looksAtOnce = 4;

/** One that is silent keeps one of the looks busy, and the others go on. */
export async function lookAtEach<Place>(
  places: readonly Place[],
  signal: AbortSignal | undefined,
  look: (place: Place) => Promise<void>,
): Promise<void> {
  await inParallel(places, looksAtOnce, async (place) => {
    if (signal?.aborted !== true) await look(place);
  });
}

/** Looks at repositories that nobody looked at for a while, each by one worker. */
export async function lookForPushes(
  ports: PushPorts,
  say: (text: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  await lookAtEach(await ports.records.repositories(), signal, async (place) => {
    const { url, ref } = place;
    if (!(await ports.records.claimRepository(url, ref, lookEveryS))) return;
    await placePushed(ports, place, signal).catch((error: Error) => {
      if (signal?.aborted !== true) say(`${url}: ${error.message}`);
    });
  });
}

/** Whether two addresses are of one repository: with or without .git, a user, or a slash at the end. */
export function sameRepository(a: string, b: string): boolean {
  const plain = (url: string): string =>
    url
      .replace(/^(https?|ssh|git):\/\/([^@/]+@)?/, "")
      .replace(/^[^@/:]+@([^:/]+):/, "$1/")
      .replace(/\.git\/?$|\/+$/g, "")
      .toLowerCase();
  return plain(a) === plain(b);
}

/**
 * Whether a changed file is in the stack's folder or a link on the way to it, or is one outside that the stack's files
 * read.
 */
export function isTouched(
  { spec, files: read }: Pick<StackRecord, "spec" | "files">,
  changed: readonly string[],
): boolean {
  const path = spec.source.kind === "git" ? spec.source.path : "";
  const outside = new Set(read);
  return changed.some(
    (file) => path === "" || file.startsWith(`${path}/`) || `${path}/`.startsWith(`${file}/`) || outside.has(file),
  );
}
