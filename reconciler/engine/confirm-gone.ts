/**
 * "Not found" as the answer to a delete may mean four things: the resource is gone, the credential may not see it any
 * more, the answer is wrong, or it is a proxy's. The resource counts as gone when a look says so too; otherwise it
 * would be forgotten while it exists.
 */
import { type Failure, isGone, type Outcome } from "../core/model/outcome";
import type { ServiceReader } from "../service/client";

/** `look`: a read of this resource. Left out where the service has no such read, and its answer has to do. */
export async function confirmGone<T>(
  outcome: Outcome<T>,
  look: (() => Promise<Outcome<unknown>>) | undefined,
): Promise<Outcome<T | undefined>> {
  if (outcome.status !== "rejected" || !mayBeGone(outcome)) return outcome;
  const seen = await look?.();
  if (seen === undefined ? isGone(outcome) : isGone(seen)) return { status: "accepted", value: undefined };
  if (seen === undefined) return outcome;
  const doubt = seen.status === "accepted" ? "and yet the service shows it" : "and looking could not confirm it";
  return { ...outcome, message: `${outcome.message}, ${doubt}` };
}

/** The service, or whatever answered in its place, said that nothing is at that address. */
const mayBeGone = (failure: Failure): boolean =>
  isGone(failure) ||
  (failure.status === "rejected" &&
    (failure.condition === "not_proven" || failure.condition === "unsupported") &&
    (failure.httpStatus === 404 || failure.httpStatus === 410));

export const confirmVolumeGone = (outcome: Outcome<void>, id: string, client: ServiceReader): Promise<Outcome<void>> =>
  confirmGone(outcome, () => client.getVolume(id));
