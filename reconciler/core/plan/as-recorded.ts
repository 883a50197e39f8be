/**
 * The state read as a desired state: what differs from it in the service is drift, and the diff that plans finds it. A
 * field that the record does not know is not compared.
 */
import { type Closed, closedWith, nothingDesired } from "../model/desired";
import { recordAsDesired } from "../model/facts";
import type { State } from "../model/recorded";

export const desiredAsRecorded = (state: State): Closed =>
  closedWith(nothingDesired, { resources: [...state.resources.values()].map(recordAsDesired) });
