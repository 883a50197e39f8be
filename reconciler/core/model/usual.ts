/**
 * A kind that is its rows alone has no types of its own. What is made of its rows becomes here, and nowhere else, a value
 * of the types that all kinds share; whoever reads a field of it reads it by its row.
 */
import type { DesiredResource } from "./desired";
import type { Kind } from "./kinds";
import type { LiveOf } from "./live";
import type { RecordedResource } from "./recorded";

// The rows of its kind say what it has.
export const asDesired = (rows: object): DesiredResource => rows as DesiredResource;
// The rows that are recorded, and what every record has.
export const asRecord = (rows: object): RecordedResource => rows as RecordedResource;
// The rows that the service shows, and its id.
export const asLive = (rows: object): LiveOf[Kind] => rows as LiveOf[Kind];
