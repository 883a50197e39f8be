/** A service that stops, starts and renames VMs after it has answered, and whose answers are lost. */
import { describe, expect, it } from "vitest";
import type { LiveVm } from "../../reconciler/core/model/live";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { defaultTiming } from "../../reconciler/engine/ports";
import { desiredOf } from "../support/desired-file";
import { virtualWorld } from "../support/virtual-world";

const file = (power: string, name = "database") =>
  desiredOf(`vms: { database: { name: ${name}, image_id: ubuntu-24.04, power: ${power} } }\n`);

type Act = "stop" | "start" | "rename";

/** `silent`: the VM shows its old state until it is done. */
function slowVms({ takesMs, silent }: { readonly takesMs: number; readonly silent: boolean }) {
  const stage = virtualWorld({});
  const { client, clock } = stage;
  let due: { readonly act: Act; readonly at: number; readonly effect: () => Promise<unknown> } | undefined;
  let begins: Act | undefined;
  let arrives = true;
  const sent: string[] = [];
  const real = {
    list: client.listVms.bind(client),
    stop: client.stopVm.bind(client),
    start: client.startVm.bind(client),
    rename: client.renameVm.bind(client),
  };
  const act = async (which: Act, effect: () => Promise<Outcome<unknown>>): Promise<Outcome<void>> => {
    sent.push(which);
    const lost: Outcome<never> = { status: "unknown", reason: "the connection was closed before the answer" };
    if (due !== undefined)
      return { status: "rejected", condition: "invalid_state", message: "invalid state transition", httpStatus: 409 };
    if (begins !== which) {
      const outcome = await effect();
      return outcome.status === "accepted" ? accepted(undefined) : outcome;
    }
    begins = undefined;
    if (arrives) due = { act: which, at: clock.now() + takesMs, effect };
    return lost;
  };
  client.stopVm = (id, options) => act("stop", () => real.stop(id, options));
  client.startVm = (id, options) => act("start", () => real.start(id, options));
  client.renameVm = (id, name, options) => act("rename", () => real.rename(id, name, options));
  client.listVms = async (options) => {
    if (due !== undefined && clock.now() >= due.at) {
      const { effect } = due;
      due = undefined;
      await effect();
    }
    const listed = await real.list(options);
    if (listed.status !== "accepted" || due === undefined || silent) return listed;
    const inTransition = (vm: LiveVm): LiveVm => ({ ...vm, phase: "changing", status: "powering" });
    return accepted(listed.value.map(inTransition));
  };
  return {
    stage,
    sent,
    lose(which: Act, doesArrive = true) {
      begins = which;
      arrives = doesArrive;
    },
  };
}

const cases = (["stop", "start", "rename"] as const).flatMap((act) =>
  [80, 1500, 40_000].flatMap((takesMs) => [false, true].map((silent) => ({ act, takesMs, silent }))),
);

const files = {
  stop: [file("running"), file("stopped")],
  start: [file("stopped"), file("running")],
  rename: [file("running"), file("running", "other-name")],
} as const;

describe("an act on a VM whose answer was lost", () => {
  it.each(cases)("$act is not sent again while it takes $takesMs ms (silent: $silent)", async (given) => {
    const { stage, sent, lose } = slowVms(given);
    const [before, after] = files[given.act];
    await stage.apply(await stage.plan(before));
    sent.length = 0;
    lose(given.act);
    const report = await stage.apply(await stage.plan(after));
    expect((report?.steps ?? []).filter(({ result }) => result.end !== "done")).toEqual([]);
    expect(sent).toEqual([given.act]);
    expect(hasNothingToDo((await stage.plan(after)).plan)).toBe(true);
  });

  it("is sent again when the whole window has shown that it never arrived", async () => {
    const { stage, sent, lose } = slowVms({ takesMs: 0, silent: false });
    await stage.apply(await stage.plan(files.stop[0]));
    sent.length = 0;
    lose("stop", false);
    const began = stage.clock.now();
    const report = await stage.apply(await stage.plan(files.stop[1]));
    expect((report?.steps ?? []).filter(({ result }) => result.end !== "done")).toEqual([]);
    expect(sent).toEqual(["stop", "stop"]);
    expect(stage.clock.now() - began).toBeGreaterThan(defaultTiming.discoveryWindowMs);
  });
});
