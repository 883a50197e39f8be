/**
 * The state read as a desired state: what differs from it in the service is drift, and the diff that plans finds it. A
 * field that the record does not know is not compared.
 */
import { type Closed, closedWith, type DesiredResource, nothingDesired } from "../model/desired";
import { recordAsDesired } from "../model/facts";
import { ofKind } from "../model/kinds";
import type { RecordedResource, State } from "../model/recorded";

export const desiredAsRecorded = (state: State): Closed =>
  closedWith(nothingDesired, { resources: [...state.resources.values()].map(recordAsDesired) });

/** The same, with what the last run saw and left where it is. */
export const desiredAsLastSeen = (state: State): Closed =>
  closedWith(nothingDesired, { resources: [...state.resources.values()].map(recordAsLastSeen) });

function recordAsLastSeen(record: RecordedResource): DesiredResource {
  const wish = recordAsDesired(record);
  const [group, left] = [ofKind(wish, "group"), ofKind(record, "group")?.left];
  return group === undefined || left === undefined ? wish : { ...group, rules: [...group.rules, ...left] };
}
