/**
 * The files of a round, from where its stack has them: how new they have to be, and what is noted of a server that gave
 * them or did not.
 */
import { errorMessage } from "../../core/text/errors";
import type { Records } from "../database/records";
import type { Source } from "../model";
import type { Cause } from "../queue";
import type { WorkerSetting } from "../shared";
import type { Ear } from "../silence";
import type { Troubles } from "../troubles";
import { NotInSource, SourceFailed } from "./checkout";
import type { Freshness } from "./git";
import { checkOut } from "./source";

export const takeFiles = (
  { records, cache }: WorkerSetting,
  troubles: Troubles,
  origin: Ear,
  {
    cause,
    source,
    signal,
  }: { readonly cause: Cause; readonly source: Source; readonly signal: AbortSignal | undefined },
) =>
  tellEar(origin, async () => {
    const freshness = await freshnessOf(records, cause, source);
    const files = await noteTroubles(troubles, source, signal, () => checkOut(source, cache, { signal, ...freshness }));
    if (freshness.now === true && source.kind === "git") await records.repositoryAnswered(source.url, source.ref);
    return files;
  });

/**
 * What was approved or asked for is compared with the newest files. After a push these are the files of the commit that
 * was seen, however many stacks it touches.
 */
async function freshnessOf(records: Records, cause: Cause, source: Source): Promise<Omit<Freshness, "signal">> {
  if (cause === "approval" || cause === "person") return { now: true };
  if (source.kind !== "git") return {};
  const { revision, failures, why } = await records.repositorySeen(source.url, source.ref);
  if (cause === "push") return { seen: revision };
  // One worker looks at a repository that fails, and wakes its stacks when it answers again (pushes.ts).
  if (failures >= restsAfter && why !== undefined)
    throw new SourceFailed(`${why}; the repository failed ${failures} times and is asked again by itself`, true);
  return {};
}

/** After so many looks in a row that failed, rounds do not ask the repository themselves. */
const restsAfter = 2;

/** The server that the files come from; absent: there is none. */
export function originOf(source: Source): string | undefined {
  if (source.kind === "folder") return undefined;
  return source.kind === "git" ? source.url : new URL(source.url).host;
}

/** Whether this worker got the files of an answering source. */
async function noteTroubles<T>(
  troubles: Troubles,
  source: Source,
  signal: AbortSignal | undefined,
  get: () => Promise<T>,
): Promise<T> {
  const origin = originOf(source);
  if (origin === undefined) return get();
  try {
    const files = await get();
    troubles.worked(origin);
    return files;
  } catch (error) {
    if (error instanceof NotInSource) troubles.worked(origin);
    else if (signal?.aborted !== true && !(error instanceof SourceFailed && error.isSilent))
      troubles.failed(origin, errorMessage(error));
    throw error;
  }
}

/** Tells the ear of one question that has an answer or none. */
export async function tellEar<T>(ear: Ear, ask: () => Promise<T>): Promise<T> {
  ear.asked();
  try {
    const found = await ask();
    ear.heard();
    ear.end(true);
    return found;
  } catch (error) {
    ear.end(!(error instanceof SourceFailed && error.isSilent));
    throw error;
  }
}
