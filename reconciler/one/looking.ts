/** What the service shows of one resource: looked up by its id alone, or with everything that its record knows. */
import type { Kind } from "../core/model/address";
import { closedWith, nothingDesired } from "../core/model/desired";
import { findSeen, type LiveOf, sight } from "../core/model/live";
import { refresh } from "../engine/refresh";
import { type HandlerContext, type HandlerService, throwErrors } from "./handler";
import { addressOf } from "./one-desired";
import { type Asking, stateOf } from "./one-run";
import type { Of, Shape } from "./shape";

type HandlerClient = HandlerService["client"];

export async function sightById<K extends Kind>(shape: Shape<K>, { service, signal }: Asking, id: string) {
  const address = addressOf(shape.kind, undefined);
  const desired = closedWith(nothingDesired, { imports: [{ to: address, id }] });
  const { live, findings } = await refresh(service.client, desired, stateOf(address, {}), { signal });
  throwErrors(findings);
  return { address, live, sighting: sight(live, shape.kind, id) };
}

export async function recordById<K extends Kind>(shape: Shape<K>, of: Asking, id: string): Promise<Of<K> | undefined> {
  const { address, live, sighting } = await sightById(shape, of, id);
  return sighting.seen === "yes" ? shape.recordOfLive(address, sighting.value, live) : undefined;
}

export async function lookAtAll<K extends Kind>(
  shape: Shape<K>,
  client: HandlerClient,
  record: Of<K>,
  id: string,
  signal?: AbortSignal,
) {
  const { live } = await refresh(client, nothingDesired, stateOf(record.address, { record }), { signal });
  return findSeen(live, shape.kind, id);
}

/** What only the service knows (addresses). A failure to see it fails nothing. */
export async function lookAt<K extends Kind>(
  shape: Shape<K>,
  context: HandlerContext,
  record: Of<K>,
  id: string,
): Promise<LiveOf[K] | undefined> {
  if (Object.keys(shape.outputs).length === 0) return undefined;
  const service = await context.service();
  const look = (client: HandlerClient) => lookAtAll(shape, client, record, id);
  // The look at the end of the run may have shown this already.
  const known = service.looks === undefined ? undefined : await look(service.looks.forCreate);
  return known !== undefined && shape.isSettled?.(known) === true ? known : look(service.client);
}
