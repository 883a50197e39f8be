/**
 * "Not found" as the answer to a delete: it is gone, or the right to see it is lost, or the answer is wrong. It counts as
 * gone when a look says so too; otherwise it would be forgotten while it exists.
 */
import { isGone, type Outcome } from "../core/model/outcome";
import type { ServiceClient } from "../service/client";

/** `look`: a read of the very thing; left out where the service has none, and its word has to do. */
export async function confirmGone<T>(
  outcome: Outcome<T>,
  look: (() => Promise<Outcome<unknown>>) | undefined,
): Promise<Outcome<T | undefined>> {
  if (outcome.status !== "rejected" || !isGone(outcome)) return outcome;
  const seen = await look?.();
  if (seen === undefined || isGone(seen)) return { status: "accepted", value: undefined };
  const doubt = seen.status === "accepted" ? "and yet the service shows it" : "and looking could not confirm it";
  return { ...outcome, message: `${outcome.message}, ${doubt}` };
}

export const confirmVolumeGone = (outcome: Outcome<void>, id: string, client: ServiceClient): Promise<Outcome<void>> =>
  confirmGone(outcome, client.has("volume.get") ? () => client.getVolume(id) : undefined);
