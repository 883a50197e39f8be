/** A delete that finds nothing: what a look must say before it counts as done. */
import { describe, expect, it } from "vitest";
import { accepted, type Condition, type Outcome, type Rejection } from "../../reconciler/core/model/outcome";
import { confirmGone } from "../../reconciler/engine/confirm-gone";

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
    ["an unsupported delete of what is there", unsupported, accepted({}), "rejected"],
    ["an id that is none, and the look too", refused("invalid_id", 400), refused("invalid_id", 400), "rejected"],
  ] as const)("%s", async (_, answer, look, status) => {
    const seen: (() => Promise<Outcome<unknown>>) | undefined = look === undefined ? undefined : async () => look;
    expect((await confirmGone(answer, seen)).status).toBe(status);
  });
});
