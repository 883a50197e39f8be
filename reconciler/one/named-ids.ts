/**
 * The ids of other things that a program's resource names. A preview refuses one that the service shows not to exist:
 * the create would fail with it, after others were made.
 */

import { type Kind, kindRows } from "../core/model/kinds";
import { isGone } from "../core/model/outcome";
import { isObject } from "../core/text/objects";
import { listOfKind, readAtAll } from "../engine/observe";
import type { ServiceReader } from "../service/client";
import { notFound } from "./guards";
import { type HandlerService, isPending, isUnknown, type Props } from "./handler";

export interface NamedId {
  readonly kind: Kind;
  readonly id: string;
}

/** An id that stands for a create whose outcome is open is refused by that create's own update. */
export async function refuseUnknownIds(service: HandlerService, named: readonly NamedId[]): Promise<void> {
  const client = service.looks?.recent ?? service.client;
  const known = named.filter(({ id }) => !isPending(id));
  const unknown = await Promise.all(
    known.map(async ({ kind, id }) =>
      (await isUnknownTo(client, kind, id)) ? [`${kindRows[kind].fullNoun} ${id}`] : [],
    ),
  );
  const all = new Set(unknown.flat());
  if (all.size > 0) throw notFound(...all);
}

/** A list may be behind, so that a read of the id has the last word where there is one. */
async function isUnknownTo(client: ServiceReader, kind: Kind, id: string): Promise<boolean> {
  if (client.can.canFindCreated(kind)) {
    const listed = await listOfKind(kind, client);
    if (listed.status !== "accepted" || listed.value.some((one) => one.id === id)) return false;
  }
  const read = await readAtAll(kind, client, id);
  if (read === undefined) return client.can.canFindCreated(kind);
  return isGone(read);
}

const groupIn = (rule: unknown): readonly NamedId[] => {
  const id = isObject(rule) ? rule["remoteGroup"] : undefined;
  return typeof id === "string" && id !== "self" && !isUnknown(id) ? [{ kind: "group", id }] : [];
};

/** The groups that rules admit, by their ids. */
export const groupsIn = (inputs: Props): readonly NamedId[] => {
  const { rules } = inputs;
  return Array.isArray(rules) ? rules.flatMap(groupIn) : groupIn(inputs);
};
