/** The snapshot before a rebuild, a resize or a delete: when it is taken, when it is believed, and what is remembered of it. */
import { describe, expect, it } from "vitest";
import { told } from "../../reconciler/core/model/fix";
import type { LiveImage } from "../../reconciler/core/model/live";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import type { Intent } from "../../reconciler/core/model/recorded";
import { defaultTiming } from "../../reconciler/engine/ports";
import { fixInProgram } from "../../reconciler/one/handler";
import { virtualClock } from "../../reconciler/rehearse/virtual-clock";
import { address, lost, performed, type Row, refused, vm } from "../support/acts-on-vm";

const action = { operation: "vm.snapshot", vm: { id: "v" }, name: "before" } as const;
const image = (id: string, more: Partial<LiveImage> = {}): LiveImage => ({
  id,
  name: "before",
  phase: "ready",
  status: "active",
  ...more,
});
const list = (...images: readonly LiveImage[]): Outcome<readonly LiveImage[]> => accepted(images);
const named = (imageId: string) => accepted({ imageId });
/** The virtual clock begins here. */
const minutesAgo = (now: string, minutes: number) => new Date(Date.parse(now) - minutes * 60_000).toISOString();
const open = (more: Partial<Intent> = {}): Intent => ({
  ...{ step: `${address}/snapshot`, address, operation: "vm.snapshot", name: "before", idsBefore: [] },
  sentAt: "now",
  ...more,
});

interface Case extends Omit<Row, "intents" | "becomes"> {
  readonly earlier?: Intent;
  /** How long ago the earlier one was sent. */
  readonly minutes?: number;
  readonly becomes: string;
}

async function taken({ earlier, minutes = 1, ...row }: Case) {
  const now = String(virtualClock(() => undefined).instant());
  const intents = earlier === undefined ? [] : [{ ...earlier, sentAt: minutesAgo(now, minutes) }];
  const done = await performed({ answers: [accepted({})], ...row, intents }, action);
  const intent = done.recorder.state.intents.get(address);
  const memory =
    intent === undefined
      ? "nothing open"
      : `open${intent.accepted === true ? ", accepted" : ""}${intent.image === undefined ? "" : ` as ${intent.image}`}${intent.idsBefore.length === 0 ? "" : `, not ${intent.idsBefore.join(" or ")}`}`;
  return { ...done, told: `${done.told} | ${memory}` };
}

describe("a snapshot", () => {
  it.each([
    ["is never listed", [list()]],
    ["never becomes usable", [list(), list(image("i", { phase: "changing", status: "saving" }))]],
  ])("whose image %s is not looked for by a program, which is told so", async (_, images) => {
    const { result } = await taken({ images, becomes: "" });
    const advice = told("fix" in result ? result.fix : undefined);
    expect(advice.fix).toContain("run the same command again");
    expect(fixInProgram(advice)).toMatch(/^look in the service .* takes another snapshot/);
  });

  it.each<[what: string, row: Case]>([
    [
      "is believed when its image is listed",
      { images: [list(), list(image("i"))], becomes: "done | snapshot before | open, accepted" },
    ],
    [
      "is believed when its image shows no state",
      {
        images: [list(), list(image("i", { phase: undefined, status: undefined }))],
        becomes: "done | snapshot before | open, accepted",
      },
    ],
    [
      "is believed when its image has become usable",
      {
        images: [list(), list(image("i", { phase: "changing", status: "saving" })), list(image("i"))],
        becomes: "done | snapshot before | open, accepted",
      },
    ],
    [
      "is not believed when its image failed",
      {
        images: [list(), list(image("i", { phase: "failed", status: "killed" }))],
        becomes: "failed apply/snapshot-failed | snapshot before | open, accepted",
      },
    ],
    [
      "is not believed when its image never becomes usable",
      {
        images: [list(), list(image("i", { phase: "changing", status: "saving" }))],
        becomes: "failed apply/timeout | snapshot before | open, accepted",
      },
    ],
    [
      "is not believed when its image is never listed",
      { images: [list()], becomes: "failed apply/snapshot-missing | snapshot before | open, accepted" },
    ],
    [
      "is not believed for an image that had its name before",
      {
        images: [list(image("old"))],
        becomes: "failed apply/snapshot-missing | snapshot before | open, accepted, not old",
      },
    ],
    [
      "is believed by the id that the answer named, whatever its name is",
      {
        answers: [named("i")],
        images: [list(), list(image("i", { name: "other" }))],
        becomes: "done | snapshot before | open, accepted as i",
      },
    ],
    [
      "is not believed by an id that was listed before",
      {
        answers: [named("old")],
        images: [list(image("old", { name: "other" }))],
        becomes: "failed apply/snapshot-missing | snapshot before | open, accepted",
      },
    ],
    [
      "is believed for the new one of two with its name",
      {
        images: [list(image("old")), list(image("old"), image("i"))],
        becomes: "done | snapshot before | open, accepted, not old",
      },
    ],
    [
      "is not sent where the images cannot be listed",
      { images: [refused("forbidden")], becomes: "failed service/forbidden | nothing | nothing open" },
    ],
    [
      "is not believed where the images cannot be listed any more",
      {
        images: [list(), refused("forbidden")],
        becomes: "failed service/forbidden | snapshot before | open, accepted",
      },
    ],
    [
      "that is refused is not open",
      {
        answers: [refused("forbidden")],
        images: [list()],
        becomes: "failed service/forbidden | snapshot before | nothing open",
      },
    ],
    [
      "that was lost is believed when its image is listed",
      { answers: [lost], images: [list(), list(image("i"))], becomes: "done | snapshot before | open, accepted" },
    ],
    [
      "that was lost is sent again where its image is not listed for a window",
      {
        answers: [lost, refused("forbidden")],
        images: [list()],
        becomes: "failed service/forbidden | snapshot before, snapshot before | nothing open",
      },
    ],
    [
      "that was lost is not sent again where the images cannot be listed any more",
      {
        answers: [lost],
        images: [list(), refused("forbidden")],
        becomes: "unknown service/unknown | snapshot before | open",
      },
    ],
    [
      "is looked for by nobody where there is no list",
      { becomes: "done (the image of the snapshot before) | snapshot before | open, accepted" },
    ],
    [
      "that was lost is unknown where there is no list",
      { answers: [lost], becomes: "unknown apply/outcome-unknown | snapshot before | open" },
    ],
    [
      "that is refused where there is no list is not open",
      { answers: [refused("forbidden")], becomes: "failed service/forbidden | snapshot before | nothing open" },
    ],
    [
      "is waited for with its VM, which then fails",
      {
        images: [list(), list(image("i"))],
        shows: [vm({ phase: "failed", status: "ERROR" })],
        becomes: "failed apply/vm-failed | snapshot before | open, accepted",
      },
    ],
    [
      "is waited for with its VM, which then fails, where there is no list",
      {
        shows: [vm({ phase: "failed", status: "ERROR" })],
        becomes: "failed apply/vm-failed | snapshot before | open, accepted",
      },
    ],
  ])("%s", async (_, row) => expect((await taken(row)).told).toBe(row.becomes));

  it("says what is open, and how it is settled", async () => {
    const window = Math.round(defaultTiming.discoveryWindowMs / 1000);
    const build = Math.round(defaultTiming.vmCreateTimeoutMs / 1000);
    const message = async (row: Omit<Case, "becomes">) => (await taken({ ...row, becomes: "" })).result.message;
    expect(await message({ images: [list(), list(image("i"))] })).toBe("image i");
    expect(await message({ images: [list()] })).toBe(
      `the snapshot was accepted, and no image named before is listed after ${window} s; what the snapshot was to save is not touched`,
    );
    expect(await message({ images: [list(), list(image("i", { phase: "changing", status: "saving" }))] })).toBe(
      `the image i of the snapshot is still saving after ${build} s; what the snapshot was to save is not touched`,
    );
    expect(await message({ images: [list(), list(image("i", { phase: "changing", status: undefined }))] })).toBe(
      `the image i of the snapshot is still being made after ${build} s; what the snapshot was to save is not touched`,
    );
    expect(await message({ images: [list(), list(image("i", { phase: "failed", status: "killed" }))] })).toBe(
      "the image i of the snapshot is in the failed state killed; what the snapshot was to save is not touched",
    );
    expect(await message({ images: [refused("forbidden")] })).toBe(
      "the list of images could not be read, so nothing was sent: refused: no",
    );
    expect(await message({ images: [list(), refused("forbidden")] })).toBe(
      "the list of images could not be read, so what the snapshot was to save is not touched: refused: no",
    );
  });
  it("says which state its image is in, each word once", async () => {
    const saving = list(image("i", { phase: "changing", status: "saving" }));
    const { said } = await taken({ images: [list(), saving, saving, list(image("i"))], becomes: "" });
    expect(said).toEqual(["image i: saving"]);
  });
});

describe("a snapshot that an earlier run sent", () => {
  it.each<[what: string, row: Case]>([
    [
      "is believed when its image is listed, and none is taken",
      { earlier: open(), images: [list(image("i"))], becomes: "done | nothing | open" },
    ],
    [
      "is too old after an hour: another one is taken",
      {
        earlier: open(),
        minutes: 61,
        images: [list(image("i")), list(image("i")), list(image("i"), image("j"))],
        becomes: "done | snapshot before | open, accepted, not i",
      },
    ],
    [
      "is not too old within the hour",
      { earlier: open(), minutes: 59, images: [list(image("i"))], becomes: "done | nothing | open" },
    ],
    [
      "of a clock that is ahead tells no age: another one is taken",
      {
        earlier: open(),
        minutes: -10,
        images: [list(image("i")), list(image("i"), image("j"))],
        becomes: "done | snapshot before | open, accepted, not i",
      },
    ],
    [
      "was accepted and is not listed: none is taken",
      {
        earlier: open({ accepted: true }),
        images: [list()],
        becomes: "failed apply/snapshot-missing | nothing | open, accepted",
      },
    ],
    [
      "was accepted long ago and is not listed: none is taken",
      {
        earlier: open({ accepted: true }),
        minutes: 90,
        images: [list()],
        becomes: "failed apply/snapshot-missing | nothing | open, accepted",
      },
    ],
    [
      "was accepted and is listed late",
      {
        earlier: open({ accepted: true }),
        images: [list(), list(), list(image("i"))],
        becomes: "done | nothing | open, accepted",
      },
    ],
    [
      "was lost and is listed late",
      { earlier: open(), images: [list(), list(image("i"))], becomes: "done | nothing | open" },
    ],
    [
      "was lost and is never listed: another one is taken",
      {
        earlier: open(),
        answers: [refused("forbidden")],
        images: [list()],
        becomes: "failed service/forbidden | snapshot before | nothing open",
      },
    ],
    [
      "was lost long ago: nobody waits for it",
      {
        earlier: open(),
        minutes: 90,
        answers: [refused("forbidden")],
        images: [list()],
        becomes: "failed service/forbidden | snapshot before | nothing open",
      },
    ],
    [
      "was lost, and the images cannot be listed any more",
      { earlier: open(), images: [list(), refused("forbidden")], becomes: "failed service/forbidden | nothing | open" },
    ],
    [
      "was accepted, where there is no list: it counts",
      {
        earlier: open({ accepted: true }),
        becomes: "done (the image of the snapshot before) | nothing | open, accepted",
      },
    ],
    [
      "was lost, where there is no list: nobody knows",
      { earlier: open(), becomes: "unknown apply/outcome-unknown | nothing | open" },
    ],
    [
      "was lost long ago, where there is no list: another one is taken",
      {
        earlier: open(),
        minutes: 90,
        becomes: "done (the image of the snapshot before) | snapshot before | open, accepted",
      },
    ],
    [
      "under another name is over before another one is taken",
      {
        earlier: open({ name: "older" }),
        images: [list(image("o", { name: "older" })), list(image("o", { name: "older" })), list(image("i"))],
        becomes: "done | snapshot before | open, accepted",
      },
    ],
    [
      "under another name failed: none is taken",
      {
        earlier: open({ name: "older" }),
        images: [list(image("o", { name: "older", phase: "failed" }))],
        becomes: "failed apply/snapshot-failed | nothing | open",
      },
    ],
    [
      "of a create is none",
      {
        earlier: open({ operation: "vm.create" }),
        images: [list(), list(image("i"))],
        becomes: "done | snapshot before | open, accepted",
      },
    ],
  ])("%s", async (_, row) => expect((await taken(row)).told).toBe(row.becomes));
  it("under another name is said to have ended", async () => {
    const older = image("o", { name: "older" });
    const { said } = await taken({
      earlier: open({ name: "older" }),
      images: [list(older), list(older), list(image("i"))],
      becomes: "",
    });
    expect(said).toEqual(["the earlier snapshot older has ended"]);
  });
  it("under another name is told apart from the one that the step would take", async () => {
    const { result } = await taken({ earlier: open({ name: "older", accepted: true }), images: [list()], becomes: "" });
    expect(result.message).toContain("a snapshot that an earlier run took was accepted, and no image named older");
  });
});
