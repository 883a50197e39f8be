/** What an answer without a body says of what was made: the place that its Location header names (RFC 9110, 10.2.2). */
import type { Operation } from "../core/model/operation";
import { isObject } from "../core/text/objects";

/** The body as records are read from it: where there is none, a field `location` holds the header. */
export const withLocation = (operation: Operation, body: unknown, location: string | undefined): unknown =>
  location === undefined || isObject(body) || !operation.endsWith(".create") ? body : { location };
