/**
 * A create whose answer an earlier run did not get may still be about to show in the list: it is looked for until its
 * discovery window is over, so that the plan made next neither misses it nor makes it twice. What no list shows is not
 * waited for; the plan says what to do about it.
 */
import type { Intent } from "../core/model/recorded";
import type { ServiceClient } from "../service/client";
import type { StateStore } from "../store/store";
import { openState } from "./plan";
import type { Clock, Ports } from "./ports";

interface Listed {
  readonly id: string;
  readonly name?: string;
}

export async function awaitInterrupted(
  store: StateStore,
  client: ServiceClient,
  ports: Pick<Ports, "timing" | "emit"> & { clock: Clock },
  lineage: string,
  signal: AbortSignal,
): Promise<void> {
  const { state } = openState(await store.read(), store.location, lineage);
  const waitsFor = (operation: Intent["operation"], list: () => Promise<readonly Listed[] | undefined>) =>
    awaitListed(
      [...state.intents.values()].filter((intent) => intent.operation === operation),
      list,
      ports,
      signal,
    );
  const options = { signal };
  await Promise.all([
    client.has("vm.list") && waitsFor("vm.create", async () => acceptedValue(await client.listVms(options))),
    client.has("volume.list") &&
      waitsFor("volume.create", async () => acceptedValue(await client.listVolumes(options))),
    client.has("group.list") && waitsFor("group.create", async () => acceptedValue(await client.listGroups(options))),
  ]);
}

/** One list for all that are waited for, until each has shown or its window is over. */
async function awaitListed(
  open: readonly Intent[],
  list: () => Promise<readonly Listed[] | undefined>,
  { clock, timing }: Pick<Ports, "timing"> & { clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const { discoveryWindowMs, pollIntervalMs } = timing;
  // A clock that was set back must not make the wait longer than the window.
  const started = clock.now();
  const ends = (intent: Intent): number =>
    Math.min(Date.parse(intent.sentAt) + discoveryWindowMs, started + discoveryWindowMs);
  let left = open.filter((intent) => ends(intent) > started);
  while (left.length > 0 && !signal.aborted) {
    const listed = await list();
    const now = clock.now();
    left = left.filter((intent) => ends(intent) > now && listed?.some((one) => isNew(one, intent)) !== true);
    if (left.length > 0) await clock.sleep(pollIntervalMs, signal);
  }
}

const acceptedValue = <T>(
  outcome: { readonly status: "accepted"; readonly value: T } | { readonly status: string },
): T | undefined => ("value" in outcome ? outcome.value : undefined);

const isNew = (one: Listed, intent: Intent): boolean =>
  one.name?.toLowerCase() === intent.name.toLowerCase() && !intent.idsBefore.includes(one.id);
