/** The table at the head of engine/send-and-look.ts: an answer, what looks show, and how often the request is sent. */
import { describe, expect, it } from "vitest";
import { accepted, type Outcome, type Rejection } from "../../reconciler/core/model/outcome";
import { type SeenAfterwards, sendAndLook } from "../../reconciler/engine/send-and-look";
import { isConflict } from "../../reconciler/kinds/vm/watch";
import { loneRun } from "../support/virtual-world";

const yes = accepted(undefined);
const lost: Outcome<undefined> = { status: "unknown", reason: "the connection broke" };
const refused = (message: string): Rejection => ({ status: "rejected", condition: "conflict", message });
const perhapsRefused: Outcome<undefined> = { status: "unknown", reason: "error inside", refusal: refused("no") };
const away: Outcome<undefined> = { status: "unavailable", reason: "503" };
/** The look that shows it is changing for as long as anybody looks. */
const always = "always changing";

describe("a request whose answer may be lost", () => {
  it.each<[string, readonly Outcome<undefined>[], readonly SeenAfterwards[] | typeof always, string]>([
    ["accepted", [yes], [], "accepted, sent 1"],
    ["lost, and the effect is there", [lost], ["done"], "accepted, sent 1"],
    ["lost, and it is not there over the window: sent again", [lost, yes], ["not-done"], "accepted, sent 2"],
    ["lost each time, and never there", [lost], ["not-done"], "unknown, sent 3"],
    ["lost, and nobody can tell: not sent again", [lost], ["cannot-tell"], "unknown, sent 1"],
    ["lost, and it changes for good: not sent again", [lost], always, "unknown, sent 1"],
    ["lost, changing, and then there", [lost], ["changing", "changing", "done"], "accepted, sent 1"],
    ["lost, and harmless: sent again", [lost, yes], ["harmless"], "accepted, sent 2"],
    ["words of a refusal, and no effect", [perhapsRefused], ["not-done"], "rejected, sent 1"],
    ["words of a refusal, and the effect", [perhapsRefused], ["done"], "accepted, sent 1"],
    ["already so, and a look agrees", [refused("already attached")], ["done"], "accepted, sent 1"],
    ["already so, and a look never agrees", [refused("already attached")], ["not-done"], "rejected, sent 1"],
    ["not ready yet: sent again, once", [refused("it is not ready")], ["not-done"], "rejected, sent 2"],
    ["not ready yet, and then it is", [refused("it is not ready"), yes], ["not-done"], "accepted, sent 2"],
    ["refused while it changed: sent again, once", [refused("no"), yes], ["changing", "not-done"], "accepted, sent 2"],
    ["refused while it changed to what is wanted", [refused("no")], ["changing", "done"], "accepted, sent 1"],
    ["refused otherwise", [refused("no")], ["not-done"], "rejected, sent 1"],
    ["refused, and nobody can tell", [refused("already attached")], ["cannot-tell"], "rejected, sent 1"],
    ["away", [away], [], "unavailable, sent 1"],
  ])("%s", async (_, answers, looks, ends) => {
    const { run } = await loneRun();
    let [sent, looked] = [0, 0];
    const outcome = await sendAndLook(
      async () => answers[Math.min(sent++, answers.length - 1)]!,
      async () => (looks === always ? "changing" : looks[Math.min(looked++, looks.length - 1)]!),
      run,
      (failure) => failure.status === "rejected",
    );
    expect(`${outcome.status}, sent ${sent}`).toBe(ends);
  });

  it("is not taken for not done by a look that was asked before the window was over and answered after it", async () => {
    const { run } = await loneRun();
    const { clock, timing } = run.ports;
    const from = clock.now();
    let sent = 0;
    const outcome = await sendAndLook(
      async () => (sent++ === 0 ? lost : yes),
      async () => {
        const askedAt = clock.now();
        await clock.sleep(0.35 * timing.discoveryWindowMs);
        return askedAt - from > 0.9 * timing.discoveryWindowMs ? "done" : "not-done";
      },
      run,
    );
    expect([outcome.status, sent]).toEqual(["accepted", 1]);
  });

  it("takes no refusal for the effect where the caller does not say that one may be", async () => {
    const { run } = await loneRun();
    const outcome = await sendAndLook<undefined>(
      async () => refused("already attached"),
      async () => "done",
      run,
    );
    expect(outcome.status).toBe("rejected");
  });
});

it("a refusal of a job has no better word, and may mean that it is so already as a conflict does", () => {
  const conditions = ["conflict", "refused", "forbidden", "not_found"] as const;
  const said = conditions.map((condition) =>
    isConflict({ status: "rejected", condition, message: "attached already" }),
  );
  expect(said).toEqual([true, true, false, false]);
});
