/**
 * The service in the words of a deployment: a dialect says how requests are understood and answers are written; the
 * decisions in between are the service's own. The contract's operations stay where the contract has them.
 */

import type { Reply } from "../decision";
import { refuseWith } from "../decision";
import { isBodyObject } from "../fields";
import { createJobs } from "./jobs";
import { pageIn, pagingOf } from "./pages";
import {
  attachmentsIn,
  type HostName,
  mergedRecords,
  type OwnFields,
  type RecordKind,
  recordIn,
  recordVersion,
} from "./records";
import { refusalIn } from "./refusals";
import { firstOf, pointerOf, pointerTokens, type SpokenDialect, type SpokenNameRule } from "./spoken";
import { type Heard, hasHeaders, type Meaning, meaningOf } from "./understand";
import { bodyWithList, getAt, RecordDraft, setAt } from "./write";

export type { SpokenDialect } from "./spoken";
export type { Heard } from "./understand";

export interface SpokenAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

export type Speech = ReturnType<typeof createSpeech>;

const recordKinds: Readonly<Record<string, RecordKind>> = {
  "vm.get": "vm",
  "volume.get": "volume",
  "volume.create": "volume",
  "group.get": "group",
  "group.create": "group",
  "group.update": "group",
};

export function createSpeech(dialect: SpokenDialect, pageSize: number, hostName: HostName) {
  const jobs = createJobs(dialect);
  return {
    /** The answer to a request for the job of a write. */
    job: (heard: Heard) => jobs.answer(heard),
    /** The operation that a request means, where it is one beyond the contract. */
    understand: (heard: Heard) => meaningOf(dialect, heard),
    /** Whether a header is missing that every request needs beside the credential. */
    misses: (heard: Heard) => !hasHeaders(dialect, heard),
    /** The credential in the form in which the service takes it. */
    authorization({ headers }: Heard): string | undefined {
      const given = headers[dialect.authorization.name.toLowerCase()];
      const [before = "", after = ""] = dialect.authorization.header.split("{token}");
      if (typeof given !== "string" || !given.startsWith(before) || !given.endsWith(after)) return undefined;
      return `Bearer ${given.slice(before.length, given.length - after.length)}`;
    },
    /** The refusal of a name that this deployment does not take. */
    refuseName(operation: string, body: unknown): Reply | undefined {
      const [kind, verb] = operation.split(".");
      const rule = verb === "create" || verb === "rename" || verb === "update" ? nameRuleFor(dialect, kind) : undefined;
      const name = isBodyObject(body) ? body["name"] : undefined;
      return rule === undefined || typeof name !== "string" || fitsRule(name, rule)
        ? undefined
        : refuseWith(400, `name does not fit: ${rule.says ?? "it is too short, too long, or holds what it may not"}`);
    },
    /** The refusal of a write that does not send the version of what it changes, as `own` shows it. */
    refuseVersion(
      { headers, body }: Heard,
      own: (kind: string, id: string) => unknown,
      { operation, params }: Meaning,
    ): Reply | undefined {
      const { fingerprint } = dialect;
      const [kind = "", verb = ""] = operation.split(".");
      if (fingerprint === undefined || /^(list|get|create|import)$/.test(verb) || operation === "group.rule.list")
        return undefined;
      const id = params["id"] ?? (isBodyObject(body) ? body["volume_id"] : undefined);
      const record = typeof id === "string" ? own(kind, id) : undefined;
      if (!isBodyObject(record)) return undefined;
      const { send } = fingerprint;
      const sent = send.startsWith("/") ? getAt(body, pointerTokens(send)) : headers[send.toLowerCase()];
      return sent === recordVersion(record) ? undefined : refuseWith(412, "the fingerprint is not that of the record");
    },
    /** A refusal that a fault asks for, with the seconds to wait where the fault names them. */
    refuse(status: number, message: string, retryAfter: number | undefined): SpokenAnswer {
      const said = refusalIn(dialect, refuseWith(status, message));
      if (retryAfter === undefined) return { ...said, headers: {} };
      const place = dialect.retry_after ?? "Retry-After";
      if (typeof place === "object") return { ...said, headers: { [place.header]: waitAs(place.as, retryAfter) } };
      if (!place.startsWith("/")) return { ...said, headers: { [place]: String(retryAfter) } };
      return { ...said, body: setAt(said.body, pointerTokens(place), retryAfter), headers: {} };
    },
    say(operation: string, decision: Pick<Reply, "status" | "body">, heard: Heard, base: string): SpokenAnswer {
      if (decision.status >= 400) return { ...refusalIn(dialect, decision), headers: {} };
      const said = spokenAnswer({ dialect, pageSize, heard, base, hostName }, operation, decision.body);
      return { status: decision.status, ...said, body: jobs.name(operation, said.body) };
    },
  };
}

/** A wait of so many seconds as the header has it. */
function waitAs(as: "seconds" | "date" | "epoch" | undefined, seconds: number): string {
  if (as === "epoch") return String(Math.ceil(Date.now() / 1000) + seconds);
  return as === "date" ? new Date(Date.now() + seconds * 1000).toUTCString() : String(seconds);
}

const nameRuleFor = ({ names }: SpokenDialect, kind: string | undefined): SpokenNameRule | undefined =>
  kind === "vm" || kind === "volume" || kind === "group" ? names[kind] : undefined;

const fitsRule = (
  name: string,
  { shortest = 0, longest = Number.POSITIVE_INFINITY, pattern }: SpokenNameRule,
): boolean =>
  name.length >= shortest &&
  name.length <= longest &&
  (pattern === undefined || new RegExp(`^(?:${pattern})$`).test(name));

/** A request, and what its answer is made with. */
interface Asked {
  readonly dialect: SpokenDialect;
  readonly pageSize: number;
  readonly heard: Heard;
  readonly base: string;
  readonly hostName: HostName;
}

function spokenAnswer(asked: Asked, operation: string, own: unknown): Omit<SpokenAnswer, "status"> {
  const { dialect, hostName } = asked;
  const payload = holdsData(own) ? own["data"] : own;
  if (operation.endsWith(".list") && operation !== "group.rule.list" && Array.isArray(payload))
    return spokenList(asked, operation, payload.filter(isBodyObject));
  const kind = recordKinds[operation];
  const record =
    kind !== undefined && isBodyObject(payload)
      ? recordIn(dialect, kind, payload, hostName)
      : snapshotIn(dialect, operation, payload);
  const item = (dialect.operations[operation]?.item ?? dialect.answers[operation]?.item)?.[0];
  const held = item === undefined ? record : setAt(undefined, pointerTokens(pointerOf(item)), record);
  // Bare strings of the contract, and values that can be read as they are.
  const isBare = !holdsData(own) || kind !== undefined;
  const header = operation.endsWith(".get") ? dialect.fingerprint?.header : undefined;
  const headers = header !== undefined && isBodyObject(payload) ? { [header]: recordVersion(payload) } : {};
  return { body: enveloped(dialect, held, isBare && !holdsData(held)), headers };
}

/** One page of a list. */
function spokenList(
  { dialect, pageSize, heard, base, hostName }: Asked,
  operation: string,
  payload: readonly OwnFields[],
): Omit<SpokenAnswer, "status"> {
  // Every list but the one of rules is of a kind that has records.
  const kind = operation.slice(0, -5) as RecordKind;
  const meant = meaningOf(dialect, heard);
  const isOfAttachments = operation === "volume.list" && meant?.operation === "attachments";
  const route = isOfAttachments ? dialect.attachments : dialect.operations[operation];
  // What has no region is shown for each.
  const region = route?.for_each === undefined ? undefined : meant?.params["region"];
  const there = payload.filter((one) => region === undefined || (one["region"] ?? region) === region);
  const paging = pagingOf(dialect.pagination, route?.pagination);
  const records = isOfAttachments
    ? attachmentsIn(dialect, there, meant.params["id"], hostName)
    : there.map((one) => recordIn(dialect, kind, one, hostName, paging.marker?.[0]));
  const page = pageIn(paging, records, pageSize, heard, base);
  const place = route?.items?.[0] ?? "";
  const list = bodyWithList(place, page.records);
  // What leads on beside the list may stand in the envelope, and then the list does; so does one whose items are all
  // that the payload holds.
  const isWhole = Array.isArray(list) || (typeof place === "object" && /^(\/\*)?$/.test(place.in ?? ""));
  const isBare = !isWhole && !holdsData(list) && !holdsData(page.beside.value);
  return { body: mergedRecords(enveloped(dialect, list, isBare), page.beside.value), headers: page.headers };
}

/** A map that looks like the contract's envelope. */
const holdsData = (value: unknown): value is OwnFields => isBodyObject(value) && "data" in value;

function snapshotIn({ records }: SpokenDialect, operation: string, payload: unknown): unknown {
  if (operation !== "vm.snapshot" || !isBodyObject(payload)) return payload;
  const draft = new RecordDraft();
  draft.put(records.snapshot.image[0], String(payload["image_id"]));
  return draft.value;
}

function enveloped({ envelope }: SpokenDialect, payload: unknown, isBare: boolean): unknown {
  const { data, success } = envelope;
  const place = data[0];
  if (place === undefined && success === undefined) return isBare ? payload : { data: payload };
  const draft = new RecordDraft();
  if (place !== undefined) draft.set(typeof place === "string" ? place : (place.value ?? ""), payload);
  else if (isBare && isBodyObject(payload)) draft.value = payload;
  else draft.set("/data", payload);
  if (success !== undefined) draft.set(success.value, firstOf(success.is));
  return draft.value;
}
