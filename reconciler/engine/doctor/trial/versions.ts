/** Versions that a write has to send: told by a refusal that asks for one, and by what records and answers show. */
import type { Outcome } from "../../../core/model/outcome";
import type { Dialect } from "../../../dialect/dialect";
import { leavesOf } from "../../../dialect/learn/values";
import type { DoctorReport } from "../report";

type Version = NonNullable<Dialect["fingerprint"]>;

export const asksForVersion = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "rejected" &&
  (outcome.httpStatus === 412 ||
    outcome.httpStatus === 428 ||
    /if-match|\betag\b|fingerprint|precondition|version (is )?(required|missing)/i.test(outcome.message));

const versionKey =
  /^(etag|fingerprint|version|versionid|revision|rev|revisionnumber|resourceversion|lockversion|generation)$/;

/** Where records show their versions, and how each may be sent; last, that of the answer itself. */
export function versionsIn({ samples }: Pick<DoctorReport, "samples">): readonly Version[] {
  const places = (["group", "volume", "vm"] as const).flatMap((kind) =>
    (samples.get(kind) ?? []).flatMap((record) =>
      leavesOf(record).flatMap(({ place, names: [name = ""] }) =>
        typeof place === "string" && versionKey.test(name) ? [place] : [],
      ),
    ),
  );
  const inRecords = [...new Set(places)].flatMap((place) =>
    ["If-Match", `/${place.split("/").at(-1) ?? ""}`].map((send) => ({ from: [place], send })),
  );
  return [...inRecords, { from: [], header: "ETag", send: "If-Match" }];
}
