/** The service block: where the service is, its dialect (as written), and how long to wait. */

import type { ServiceSettings, Timing } from "../../core/model/desired";
import { keysOf } from "../../core/text/objects";
import { withoutPassword } from "../../core/text/outside-policy";
import {
  fieldOf,
  readDuration,
  readMap,
  readText,
  reportAt,
  reportValue,
  type Subject,
  subjectWithin,
  type ValuesOfRow,
} from "../fields";
import type { Service } from "../rows/desired";
import { isMap, positionOf } from "../yaml/file";
import { isHttpUrl } from "./lifecycle";

/** `raw` is the block before interpolation: a dialect has its own placeholders, and none of ours. */
export function readServiceSettings(
  subject: Subject,
  values: ValuesOfRow<Service>,
  raw: ValuesOfRow<Service>,
): ServiceSettings {
  return {
    baseUrl: readBaseUrl(subject, values),
    dialect: readServiceDialect(subject, values, raw),
    timing: readServiceTiming(subjectWithin(subject, "timing"), readMap(subject, values, "timing")),
  };
}

function readBaseUrl(subject: Subject, values: ValuesOfRow<Service>): string | undefined {
  const text = readText(subject, values, "base_url");
  if (text === undefined || text === "embedded") return text;
  const url = isHttpUrl(text) ? new URL(text) : undefined;
  const holdsCredential =
    url === undefined ? withoutPassword(text) !== text : url.username !== "" || url.password !== "";
  if (url === undefined && !holdsCredential)
    return reportValue(subject, ["base_url"], text, "embedded, or a URL that begins with http:// or https://", {
      fix: /^[\w-]+(?:\.[\w-]+)+(?::[0-9]+)?(?:\/|$)/.test(text) ? `write https://${text}` : undefined,
    });
  if (!holdsCredential) return text;
  return reportAt(subject, ["base_url"], {
    code: "config/invalid-value",
    summary: "base_url holds a credential",
    fix: "take it out of the URL and set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION",
    withoutExcerpt: true,
  });
}

function readServiceDialect(
  subject: Subject,
  values: ValuesOfRow<Service>,
  raw: ValuesOfRow<Service>,
): ServiceSettings["dialect"] {
  const value = fieldOf(values, "dialect");
  if (value === undefined) return undefined;
  const source = positionOf(subject.place(["dialect"], "key"));
  if (isMap(value)) return { inline: fieldOf(raw, "dialect"), source };
  const path = readText(subject, values, "dialect");
  return path === undefined ? undefined : { path, source };
}

const timingKeys = {
  poll_interval: "pollIntervalMs",
  vm_create_timeout: "vmCreateTimeoutMs",
  request_timeout: "requestTimeoutMs",
  discovery_window: "discoveryWindowMs",
} as const satisfies Record<string, keyof Timing>;

function readServiceTiming(subject: Subject, values: ValuesOfRow<NonNullable<Service>["timing"]>): Partial<Timing> {
  const timing: { -readonly [Key in keyof Timing]?: Timing[Key] } = {};
  for (const key of keysOf(timingKeys)) {
    const ms = readDuration(subject, values, key);
    if (ms !== undefined) timing[timingKeys[key]] = ms;
  }
  return timing;
}
