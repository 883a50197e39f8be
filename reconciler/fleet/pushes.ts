/**
 * A push to a repository: one fetch, and a round now for the stacks whose files it touched; the others keep their time.
 * Told by a webhook, or found by looking once a repository, whoever of the workers looks first.
 */
import type { Records } from "./database/records";
import type { StackRecord } from "./database/stacks";
import type { Queue } from "./queue";
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

/** Repositories are looked at so often where nobody tells. */
export const lookEveryS = 60;

export async function repositoryPushed(ports: PushPorts, url: string, ref: string): Promise<Pushed> {
  const { records, queue, cache } = ports;
  const urls = (await records.repositories()).flatMap((one) =>
    one.ref === ref && sameRepository(one.url, url) ? [one.url] : [],
  );
  const stacks = (await records.stacksFrom(urls, ref)).filter(({ paused }) => !paused);
  if (stacks.length === 0) return { fetched: false, woken: [] };
  // The address that the stacks use: the one of the push may need another credential.
  const [first] = stacks;
  const place = { url: first?.spec.source.kind === "git" ? first.spec.source.url : url, ref };
  const commit = await fetchCommit(place, cache, { now: true });
  const before = await records.sawCommit(place.url, ref, commit);
  if (before === commit) return { fetched: true, woken: [] };
  const files = before === undefined ? undefined : await changedFiles(place, cache, before, commit);
  const touched = stacks.filter((stack) => files === undefined || isTouched(stack, files));
  for (const { name, spec } of touched) await queue.hasten({ stack: name, tenant: spec.tenant, cause: "push" });
  return { fetched: true, woken: touched.map(({ name }) => name) };
}

/** Those that nobody looked at for a while, each by one worker. */
export async function lookForPushes(ports: PushPorts, say: (text: string) => void): Promise<void> {
  for (const { url, ref } of await ports.records.repositories()) {
    if (!(await ports.records.claimRepository(url, ref, lookEveryS))) continue;
    await repositoryPushed(ports, url, ref).catch((error: Error) => say(`${url}: ${error.message}`));
  }
}

/** With and without .git, a user, or a slash at the end it is the same one. */
export function sameRepository(a: string, b: string): boolean {
  const plain = (url: string): string =>
    url
      .replace(/^(https?|ssh|git):\/\/([^@/]+@)?/, "")
      .replace(/^[^@/:]+@([^:/]+):/, "$1/")
      .replace(/\.git\/?$|\/+$/g, "")
      .toLowerCase();
  return plain(a) === plain(b);
}

/** A file in its folder, or one outside that its files read. */
export function isTouched(
  { spec, files: read }: Pick<StackRecord, "spec" | "files">,
  changed: readonly string[],
): boolean {
  const path = spec.source.kind === "git" ? spec.source.path : "";
  const outside = new Set(read);
  return changed.some((file) => path === "" || file.startsWith(`${path}/`) || outside.has(file));
}
