/**
 * What an earlier run created, or may have created, may still be about to show in the list: it is looked for until its
 * discovery window is over, so that the plan made next neither misses it nor makes it twice. What no list shows is not
 * waited for; the plan says what to do about it.
 */
import type { Operation } from "../core/model/operation";
import type { Outcome } from "../core/model/outcome";
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
  const intents = [...state.intents.values()];
  const created = (operation: Intent["operation"]): Awaited[] =>
    intents
      .filter((intent) => intent.operation === operation)
      .map((intent) => ({ since: intent.sentAt, isIt: (one) => isNew(one, intent) }));
  const vms = created("vm.create");
  for (const record of state.resources.values())
    if (record.kind === "vm" && record.createdAt !== undefined)
      vms.push({ since: record.createdAt, isIt: (one) => one.id === record.id });
  const options = { signal };
  const lists: readonly [Operation, readonly Awaited[], () => Promise<Outcome<readonly Listed[]>>][] = [
    ["vm.list", vms, () => client.listVms(options)],
    ["volume.list", created("volume.create"), () => client.listVolumes(options)],
    ["group.list", created("group.create"), () => client.listGroups(options)],
  ];
  await Promise.all(
    lists.map(([operation, open, list]) =>
      client.has(operation) ? awaitListed(open, list, ports, signal) : undefined,
    ),
  );
}

interface Awaited {
  /** ISO time from which its window runs. */
  readonly since: string;
  readonly isIt: (one: Listed) => boolean;
}

/** One list for all that are waited for, until each has shown or its window is over. */
async function awaitListed(
  open: readonly Awaited[],
  list: () => Promise<Outcome<readonly Listed[]>>,
  { clock, timing }: Pick<Ports, "timing"> & { clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const { discoveryWindowMs, pollIntervalMs } = timing;
  // A clock that was set back must not make the wait longer than the window.
  const started = clock.now();
  const ends = ({ since }: Awaited): number => Math.min(Date.parse(since), started) + discoveryWindowMs;
  let left = open.filter((one) => ends(one) > started);
  while (left.length > 0 && !signal.aborted) {
    const listed = await list();
    const now = clock.now();
    const shown = listed.status === "accepted" ? listed.value : [];
    left = left.filter((one) => ends(one) > now && !shown.some(one.isIt));
    if (left.length > 0) await clock.sleep(pollIntervalMs, signal);
  }
}

const isNew = (one: Listed, intent: Intent): boolean =>
  one.name?.toLowerCase() === intent.name.toLowerCase() && !intent.idsBefore.includes(one.id);
