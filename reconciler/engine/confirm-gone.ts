/**
 * "Not found" as the answer to a delete may mean four things: the resource is gone, the credential may not see it any
 * more, the answer is wrong, or it is a proxy's. The resource counts as gone when a look says so too; otherwise it
 * would be forgotten while it exists. A delete whose answers were lost is done when two looks say that it is gone.
 */
import { acceptService } from "../core/model/evidence";
import type { Kind } from "../core/model/kinds";
import { sight } from "../core/model/live";
import { accepted, type Failure, isGone, type Outcome } from "../core/model/outcome";
import type { Run } from "./run";

/** Why neither answer proves that it is gone, from doubtOf. */
interface Doubt {
  readonly because: string;
  readonly hint: string;
}

/** `look`: a read of this resource. Where there is none, or it tells nothing, the service's answer has to do. */
export async function confirmGone<T>(
  outcome: Outcome<T>,
  look: (() => Promise<Outcome<unknown> | undefined>) | undefined,
  doubt?: Doubt,
): Promise<Outcome<T | undefined>> {
  if (outcome.status === "unknown") {
    const isSeenGone = async (): Promise<boolean> => {
      const seen = await look?.();
      return seen !== undefined && isGone(seen);
    };
    return doubt === undefined && (await isSeenGone()) && (await isSeenGone()) ? accepted(undefined) : outcome;
  }
  if (outcome.status !== "rejected" || !mayBeGone(outcome)) return outcome;
  if (doubt !== undefined) return { ...outcome, message: `${outcome.message}, and ${doubt.because}`, hint: doubt.hint };
  const seen = await look?.();
  if (seen === undefined ? isGone(outcome) : isGone(seen)) return accepted(undefined);
  if (seen === undefined) return outcome;
  const yet = seen.status === "accepted" ? "and yet the service shows it" : "and looking could not confirm it";
  return { ...outcome, message: `${outcome.message}, ${yet}` };
}

/** The service, or whatever answered in its place, said that nothing is at that address. */
const mayBeGone = (failure: Failure): boolean =>
  isGone(failure) ||
  (failure.status === "rejected" &&
    (failure.condition === "not_proven" || failure.condition === "unsupported") &&
    (failure.httpStatus === 404 || failure.httpStatus === 410));

/** Nothing of its kind shows, or its id in other letters. `sentBefore`: an earlier run has sent the delete already, so it was meant to go. */
export function doubtOf({ live }: Pick<Run, "live">, kind: Kind, id: string, sentBefore: boolean): Doubt | undefined {
  const sighting = sight(live, kind, id);
  if (sighting.seen !== "unobserved" || sentBefore) return undefined;
  const { vanished, contradicted } = sighting;
  if (contradicted !== undefined) return contradicted;
  return vanished === undefined
    ? undefined
    : {
        because: vanished.doubt,
        hint: `use a credential that is shown it; if all of its kind is really gone: ${acceptService}`,
      };
}
