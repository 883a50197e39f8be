/** A delete that finds nothing: what a look must say before it counts as done. */
import { describe, expect, it } from "vitest";
import { type Live, notSeen, type Sighting } from "../../reconciler/core/model/live";
import { accepted, type Condition, type Outcome, type Rejection } from "../../reconciler/core/model/outcome";
import { confirmGone, doubtOf } from "../../reconciler/engine/confirm-gone";
import { gone as provenGone } from "../support/virtual-world";

const refused = (condition: Condition, httpStatus?: number): Rejection => ({
  status: "rejected",
  condition,
  message: "no",
  ...(httpStatus !== undefined && { httpStatus }),
});
const gone = refused("not_found", 404);
const bare = refused("not_proven", 404);
const unsupported = refused("unsupported", 404);
const lost: Outcome<never> = { status: "unavailable", reason: "x" };

describe("a delete that finds nothing", () => {
  it.each([
    ["the service's own not found, and the look too", gone, gone, "accepted"],
    ["the service's own not found, and nobody can look", gone, undefined, "accepted"],
    ["a bare 404, and the service says to a look that it is gone", bare, gone, "accepted"],
    ["a bare 404, and the look finds one as well", bare, bare, "rejected"],
    ["a bare 404, and nobody can look", bare, undefined, "rejected"],
    ["a bare 404, and it is there", bare, accepted({}), "rejected"],
    ["a bare 404, and the look ends without an answer", bare, lost, "rejected"],
    ["an unsupported delete of what is gone by now", unsupported, gone, "accepted"],
    ["a bare 410, and the service says to a look that it is gone", refused("not_proven", 410), gone, "accepted"],
    ["a delete that is not served, which says nothing of the id", refused("unsupported", 501), gone, "rejected"],
    ["an unsupported delete of what is there", unsupported, accepted({}), "rejected"],
    ["an id that is none, and the look too", refused("invalid_id", 400), refused("invalid_id", 400), "rejected"],
  ] as const)("%s", async (_, answer, look, status) => {
    const seen: (() => Promise<Outcome<unknown>>) | undefined = look === undefined ? undefined : async () => look;
    expect((await confirmGone(answer, seen)).status).toBe(status);
  });
});

describe("a delete whose answers were lost", () => {
  const unanswered: Outcome<never> = { status: "unknown", reason: "x" };
  it.each<readonly [what: string, looks: readonly (Outcome<unknown> | undefined)[], status: string, looked: number]>([
    ["two looks do not find it", [gone, gone], "accepted", 2],
    ["the second look finds it", [gone, accepted({})], "unknown", 2],
    ["a look finds it", [accepted({})], "unknown", 1],
    ["a look ends without an answer", [lost], "unknown", 1],
    ["a look gets a bare 404", [bare], "unknown", 1],
    ["a look tells nothing", [undefined], "unknown", 1],
  ])("%s", async (_, looks, status, looked) => {
    let asked = 0;
    expect((await confirmGone(unanswered, async () => looks[asked++])).status).toBe(status);
    expect(asked).toBe(looked);
  });
  it("nobody can look, or no look proves anything", async () => {
    expect((await confirmGone(unanswered, undefined)).status).toBe("unknown");
    const doubt = { because: "it shows V", hint: "case" };
    expect((await confirmGone(unanswered, async () => gone, doubt)).status).toBe("unknown");
  });
});

describe("whether nothing of its kind shows", () => {
  const vanished = { because: "not in the list", doubt: "nothing of it shows" };
  const contradicted = { because: "it shows V", hint: "case" };
  const there = { kind: "volume", id: "v", failed: false } as const;
  it.each<[string, Sighting<typeof there> | undefined, boolean, string | undefined]>([
    ["seen", { seen: "yes", value: there }, false, undefined],
    ["proven to be gone", provenGone, false, undefined],
    ["not looked at", undefined, false, undefined],
    ["unobserved", { seen: "unobserved", reason: "a proxy" }, false, undefined],
    ["vanished without a witness", { seen: "unobserved", reason: "x", vanished }, false, vanished.doubt],
    ["contradicted", { seen: "unobserved", reason: "x", contradicted }, false, contradicted.because],
    ["vanished, after its delete was sent", { seen: "unobserved", reason: "x", vanished }, true, undefined],
  ])("%s", (_, sighting, sentBefore, doubt) => {
    const volume = { ...notSeen.of.volume, byId: new Map(sighting === undefined ? [] : [["v", sighting]]) };
    const live: Live = { ...notSeen, of: { ...notSeen.of, volume } };
    expect(doubtOf({ live }, "volume", "v", sentBefore)?.because).toBe(doubt);
    expect(doubtOf({ live }, "vm", "v", sentBefore)).toBe(undefined);
  });
});
