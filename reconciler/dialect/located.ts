/** What an answer to a write says in its Location header (RFC 9110, 10.2.2): where that is which was made, or its job. */
import { type Operation, rowOf } from "../core/model/operation";
import { isObject } from "../core/text/objects";

/** The body as records and jobs are read from it: a field `location` holds the header, where it has none of its own. */
export const withLocation = (operation: Operation, body: unknown, location: string | undefined): unknown =>
  location === undefined || rowOf(operation).kind === "read" ? body : { location, ...(isObject(body) ? body : {}) };
