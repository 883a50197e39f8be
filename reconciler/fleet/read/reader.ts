/** What each part of the reader of the fleet's file gets. */
import { parseAnyDuration } from "../../config/durations";
import type { Problem } from "../../config/problems";
import type { Path } from "../../config/yaml/file";
import { dayMs } from "../../core/model/time";
import { isUrl, withoutPassword } from "../../core/text/outside-policy";

/** What only the caller knows, so that reading stays a function of text. */
export interface FleetReading {
  /** Makes a path absolute that is relative to the file. */
  readonly resolvePath: (file: string, path: string) => string;
  /** What is wrong with a schedule; absent: nothing. */
  readonly scheduleProblem: (schedule: string, timeZone: string) => string | undefined;
}

export interface Reader {
  readonly file: string;
  readonly at: (path: Path) => Problem["at"];
  readonly problems: Problem[];
  readonly reading: FleetReading;
}

/** No date ends what is longer. */
const centuryMs = 36_525 * dayMs;

/** A duration that the schema has checked; less than a millisecond counts as one, and more than a century as one. */
export const duration = (text: string): number => Math.min(parseAnyDuration(text) ?? 1, centuryMs);

/** Whether a URL has a password in it, also one that cannot be read because of it, or where a database's driver reads it. */
export function holdsPassword(text: string): boolean {
  if (!URL.canParse(text)) return isUrl(text) && withoutPassword(text) !== text;
  const { password, protocol, searchParams } = new URL(text);
  return password !== "" || (/^postgres/.test(protocol) && searchParams.has("password"));
}

export const passwordIn = (what: string, at: Problem["at"], fix: string): Problem => ({
  code: "fleet/credential-in-url",
  summary: `${what} holds a password, which would be kept in the database`,
  fix,
  at,
  withoutExcerpt: true,
});
