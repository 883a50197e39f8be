/** What a step does to a VM: what is sent, what is looked at, and what the record has then, a row each. */
import { describe, expect, it } from "vitest";
import { ofKind } from "../../reconciler/core/model/kinds";
import type { LiveVm } from "../../reconciler/core/model/live";
import type { RecordedVolume } from "../../reconciler/core/model/recorded";
import type { ActionOf, Step } from "../../reconciler/core/plan/step";
import { defaultTiming } from "../../reconciler/engine/ports";
import { vmPerformers } from "../../reconciler/kinds/vm/perform";
import { waitForVm } from "../../reconciler/kinds/vm/watch";
import {
  address,
  away,
  gone,
  lost,
  performed,
  type Row,
  refused,
  stageOf,
  vm,
  words,
  yes,
} from "../support/acts-on-vm";
import { volume } from "../support/sample-plans";
import { imageId, stepAt } from "../support/virtual-world";

const on = { vm: { id: "v" } } as const;
const stopped = vm({ phase: "stopped", status: "SHUTOFF" });
const changing = vm({ phase: "changing", status: "BUILD" });

describe("a rename", () => {
  const action = { operation: "vm.rename", ...on, name: "www" } as const;
  it.each<[what: string, row: Row]>([
    ["is written down, and looked for at the end", { becomes: 'done (name: www) | rename to www | name "www"' }],
    [
      "that is refused is not",
      { answers: [refused("name_taken")], becomes: "failed service/name_taken | rename to www" },
    ],
    [
      "that was lost is done where the VM has the name, in any letters",
      { answers: [lost], shows: [vm({ name: "WWW" })], becomes: 'done (name: www) | rename to www | name "www"' },
    ],
    [
      "that was lost is sent again where the VM has its old name",
      { answers: [lost, refused("forbidden")], becomes: "failed service/forbidden | rename to www, rename to www" },
    ],
    [
      "that was lost is unknown where nobody can look",
      { answers: [lost], shows: [], becomes: "unknown service/unknown | rename to www" },
    ],
  ])("%s", async (_, row) =>
    expect((await performed(row, action, { record: { name: "www" } })).told).toBe(row.becomes),
  );
  it("is blind where VMs cannot be seen", async () => {
    const blind = async (shows: Row["shows"]) => {
      const { result } = await performed({ becomes: "", ...(shows === undefined ? {} : { shows }) }, action);
      return result.end === "done" && !result.effect.seen ? result.effect.writes[0]?.blind : "seen";
    };
    expect(await blind(undefined)).toBeUndefined();
    expect(await blind([])).toBe("this service shows no VMs (operations.vm.list, operations.vm.get)");
  });
});

describe("a check", () => {
  const noAddress = "failed apply/check-failed | nothing";
  const port = { kind: "tcp", port: 22 } as const;
  const url = (text: string) => ({ kind: "http", url: text }) as const;
  const command = (word: string) => ({ kind: "command", argv: ["probe", word] }) as const;
  it.each<[what: string, check: ActionOf<"vm.check">["check"], shows: Partial<LiveVm>, told: string]>([
    ["of a port, at a public address", port, { floatingIp: "192.0.2.1" }, "done | check of tcp"],
    ["of a port, at a private one", port, { privateIp: "10.0.0.4" }, "done | check of tcp"],
    ["of a port, where no address shows", port, {}, noAddress],
    ["of a URL with the address in it, where none shows", url("http://{ip}/up"), {}, noAddress],
    ["of a URL without it", url("http://front.example/up"), {}, "done | check of http"],
    ["by a command with the address in it, where none shows", command("{ip}"), {}, noAddress],
    ["by a command without it", command("web"), {}, "done | check of command"],
  ])("%s", async (_, check, shows, told) => {
    const action = { operation: "vm.check", ...on, check, timeoutMs: 1000 } as const;
    expect((await performed({ shows: [vm(shows)], becomes: "" }, action)).told).toBe(told);
  });
  it.each<[what: string, row: Pick<Row, "shows">, told: string]>([
    [
      "that could not look at the VM has not failed, so nothing is reverted",
      { shows: [away] },
      "unknown service/unavailable",
    ],
    ["whose look was refused neither", { shows: [refused("forbidden")] }, "unknown service/forbidden"],
    ["of a VM that is gone has failed", { shows: [gone] }, "failed apply/check-failed"],
    ["of a VM that nobody can look at has failed", { shows: [] }, "failed apply/check-failed"],
  ])("%s", async (_, row, told) => {
    const action = { operation: "vm.check", ...on, check: port, timeoutMs: 1000 } as const;
    expect((await performed({ ...row, becomes: "" }, action)).told).toBe(`${told} | nothing`);
  });
  it("speaks of a resize where it decides one, and a rollout's does not", async () => {
    const toldOf = async (rollout: { readonly rollout?: string }) => {
      const action = { operation: "vm.check", ...on, check: port, timeoutMs: 1000, ...rollout } as const;
      return (await performed({ shows: [away], becomes: "" }, action)).result;
    };
    expect(await toldOf({})).toMatchObject({ message: expect.stringContaining("resize") });
    expect(await toldOf({ rollout: "web" })).toMatchObject({ message: expect.not.stringContaining("resize") });
  });
});

describe("a settling", () => {
  const action = { operation: "vm.settle", ...on } as const;
  it.each<[what: string, row: Row]>([
    ["is done when the VM runs", { shows: [changing, vm()], becomes: "done | nothing" }],
    [
      "of a create is not done when the VM waits for a decision",
      { shows: [vm({ phase: "verify_resize" })], becomes: "failed apply/timeout | nothing" },
    ],
    [
      "of a resize is done when the VM waits for a decision",
      {
        recorded: { resizing: { to: "large" } },
        shows: [changing, vm({ phase: "verify_resize" })],
        becomes: 'done | nothing | resizing {"to":"large"}',
      },
    ],
    [
      "shows the addresses and the disks of the VM",
      {
        shows: [
          vm({
            privateIp: "10.0.0.1",
            volumes: [
              { id: "r", root: true },
              { id: "d", root: false },
            ],
          }),
        ],
        becomes: 'done | nothing | privateIp "10.0.0.1", dataVolumeId "d"',
      },
    ],
    [
      "is failed with the VM",
      { shows: [vm({ phase: "failed", status: "ERROR" })], becomes: "failed apply/vm-failed | nothing" },
    ],
  ])("%s", async (_, row) => expect((await performed(row, action)).told).toBe(row.becomes));
});

describe("a rebuild", () => {
  const action = { operation: "vm.rebuild", ...on, image: "b" } as unknown as ActionOf<"vm.rebuild">;
  const other = { phase: "changing", status: "REBUILD" } as const;
  const noted =
    'unseen [{"field":"image_id","value":"b","said":"image_id: b","since":"2026-01-01T00:00:00.200Z","looked":"the records of VMs (vm.get)"}]';
  it.each<[what: string, row: Row]>([
    [
      "is done when the VM shows the new image",
      {
        shows: [vm({ image: "a" }), vm({ ...other, image: "a" }), vm({ image: "b" })],
        becomes: 'done | rebuild from b | image "b"',
      },
    ],
    [
      "is done when the VM shows the new image by its name",
      { shows: [vm({ image: "a" }), vm({ image: "image b" })], becomes: 'done | rebuild from b | image "b"' },
    ],
    [
      "is not done while the VM shows the old image, and was accepted",
      {
        shows: [vm({ image: "a" })],
        becomes:
          'failed apply/timeout | rebuild from b | unseen [{"field":"image_id","value":"b","said":"image_id: b","since":"2026-01-01T00:15:01.000Z","looked":"the records of VMs (vm.get)"}]',
      },
    ],
    [
      "that an earlier run sent is done when its image shows",
      {
        planned: { phase: "changing", status: "REBUILD" },
        shows: [vm({ image: "b" })],
        becomes: 'done | nothing | image "b"',
      },
    ],
    [
      "that an earlier run perhaps sent is sent where its image does not show",
      {
        planned: { phase: "changing", status: "REBUILD" },
        shows: [vm({ image: "a" }), vm({ image: "b" })],
        becomes: 'done | rebuild from b | image "b"',
      },
    ],
    [
      "is not sent where the look before it failed",
      { planned: other, shows: [away], becomes: "failed service/unavailable | nothing" },
    ],
    [
      "is sent where the look before it was refused",
      { shows: [refused("forbidden"), vm({ image: "b" })], becomes: 'done | rebuild from b | image "b"' },
    ],
    [
      "is sent where VMs cannot be looked at",
      { shows: [], becomes: 'done (its new image_id) | rebuild from b | image "b"' },
    ],
    [
      "of a VM that shows the image by now wipes nothing",
      { planned: {}, shows: [vm({ image: "b" })], becomes: 'done | nothing | image "b"' },
    ],
    [
      "that is refused is refused",
      { answers: [refused("forbidden")], becomes: "failed service/forbidden | rebuild from b" },
    ],
    [
      "that was lost is done when the VM is on its way, and then has the image",
      {
        answers: [lost],
        shows: [vm({ ...other, image: "a" }), vm({ ...other, image: "a" }), vm({ image: "b" })],
        becomes: 'done | rebuild from b | image "b"',
      },
    ],
    [
      "that was lost is sent again where the VM has the old image",
      {
        answers: [lost, refused("forbidden")],
        shows: [vm({ image: "a" })],
        becomes: "failed service/forbidden | rebuild from b, rebuild from b",
      },
    ],
    [
      "that was lost is not sent again where the VM shows no image",
      { answers: [lost], shows: [vm()], becomes: `unknown service/unknown | rebuild from b | ${noted}` },
    ],
    [
      "that was lost is not sent again where nothing tells which image the VM shows",
      {
        answers: [lost],
        shows: [vm({ image: imageId })],
        becomes: `unknown service/unknown | rebuild from b | ${noted}`,
      },
    ],
  ])("%s", async (_, row) => {
    const { told, sent, result } = await performed(row, action, { record: { image: "b" } });
    expect(told).toBe(row.becomes);
    // Its title says that it wipes the disk.
    if (result.end === "done" && sent.length === 0) expect(result.message).toMatch(/^nothing was sent/);
  });
});

describe("a resize", () => {
  const action = { operation: "vm.resize", ...on, flavor: "m1.large" } as unknown as ActionOf<"vm.resize">;
  const open = 'resizing {"from":"small","to":"large"}';
  const waits = vm({ phase: "verify_resize", status: "VERIFY_RESIZE", flavor: "large" });
  it.each<[what: string, row: Row]>([
    [
      "is done when the VM waits for the decision",
      { shows: [changing, waits], becomes: `done | resize to m1.large | ${open}` },
    ],
    [
      "is written down before it is sent, and taken back where it is refused",
      { answers: [refused("forbidden")], becomes: "failed service/forbidden | resize to m1.large" },
    ],
    [
      "that is refused leaves an earlier one open",
      {
        recorded: { resizing: { to: "x" } },
        answers: [refused("forbidden")],
        becomes: 'failed service/forbidden | resize to m1.large | resizing {"to":"x"}',
      },
    ],
    [
      "stays written down where its answer was lost and nobody can look",
      { answers: [lost], shows: [], becomes: `unknown service/unknown | resize to m1.large | ${open}` },
    ],
    [
      "that was lost is done when the VM waits",
      { answers: [lost], shows: [waits], becomes: `done | resize to m1.large | ${open}` },
    ],
    [
      "that was lost is done when the VM is on its way and then waits",
      { answers: [lost], shows: [changing, changing, waits], becomes: `done | resize to m1.large | ${open}` },
    ],
    [
      "that was lost is done when the VM shows the flavor",
      {
        answers: [lost],
        lacks: ["vm.resize.confirm"],
        shows: [vm({ flavor: "large" })],
        becomes: `done | resize to m1.large | ${open}`,
      },
    ],
    [
      "that was lost is sent again where the VM shows the old flavor",
      {
        answers: [lost, refused("forbidden")],
        shows: [vm({ flavor: "small" })],
        becomes: "failed service/forbidden | resize to m1.large, resize to m1.large",
      },
    ],
    [
      "that was lost is sent again where the VM shows no flavor",
      {
        answers: [lost, refused("forbidden")],
        shows: [vm()],
        becomes: "failed service/forbidden | resize to m1.large, resize to m1.large",
      },
    ],
    [
      "is done where another flavor than before shows that no list has",
      {
        planned: { flavor: "small" },
        lacks: ["vm.resize.confirm"],
        shows: [vm({ flavor: "in other words" })],
        becomes: `done | resize to m1.large | ${open}`,
      },
    ],
    [
      "is not done where the flavor of before shows that no list has",
      {
        planned: { flavor: "in other words" },
        lacks: ["vm.resize.confirm"],
        shows: [vm({ flavor: "in other words" })],
        becomes: `failed apply/timeout | resize to m1.large | ${open}`,
      },
    ],
    [
      "is not done where another flavor shows and nobody knows the one before",
      {
        lacks: ["vm.resize.confirm"],
        shows: [vm({ flavor: "in other words" })],
        becomes: `failed apply/timeout | resize to m1.large | ${open}`,
      },
    ],
    [
      "is not done where a third flavor of the list shows",
      {
        planned: { flavor: "large" },
        lacks: ["vm.resize.confirm"],
        shows: [vm({ flavor: "small" })],
        becomes: `failed apply/timeout | resize to m1.large | ${open}`,
      },
    ],
  ])("%s", async (_, row) =>
    expect((await performed(row, action, { record: { resizing: { from: "small", to: "large" } } })).told).toBe(
      row.becomes,
    ),
  );
});

describe("a revert of a resize", () => {
  const action = { operation: "vm.resize.revert", ...on } as unknown as ActionOf<"vm.resize.revert">;
  const first = { ...action, looksFirst: true } as ActionOf<"vm.resize.revert">;
  const waits = vm({ phase: "verify_resize", status: "VERIFY_RESIZE" });
  it.each<[what: string, action: ActionOf<"vm.resize.revert">, row: Row]>([
    ["is done when the VM runs", action, { shows: [waits, vm()], becomes: "done | revert" }],
    [
      "looks first where that was asked for, and goes on where the VM waits",
      first,
      { shows: [waits, vm()], becomes: "done | revert" },
    ],
    [
      "has nothing left to do where the VM runs, with the flavor that it shows",
      first,
      { shows: [vm({ flavor: "large" })], becomes: 'done | nothing | flavor "large"' },
    ],
    [
      "has nothing left to do where the VM is stopped, with the flavor of before",
      first,
      { shows: [stopped], becomes: "done | nothing" },
    ],
    ["does not look first otherwise", action, { shows: [vm()], becomes: "done | revert" }],
    [
      "is left to a person where the service has no such request",
      action,
      { lacks: ["vm.resize.revert"], becomes: "waiting apply/resize-waits | nothing" },
    ],
    [
      "that is refused is refused",
      action,
      { answers: [refused("forbidden")], becomes: "failed service/forbidden | revert" },
    ],
    [
      "that was lost is done where the VM does not wait any more",
      action,
      { answers: [lost], shows: [vm()], becomes: "done | revert" },
    ],
    [
      "that was lost is sent again where the VM waits",
      action,
      { answers: [lost, refused("forbidden")], shows: [waits], becomes: "failed service/forbidden | revert, revert" },
    ],
    ["is sent where the look at first shows no VM", first, { shows: [gone, vm()], becomes: "done | revert" }],
  ])("%s", async (_, how, row) => expect((await performed(row, how)).told).toBe(row.becomes));
});

it("a resize that the state does not know is decided outside, and no command about the state is advised", async () => {
  const action = { operation: "vm.resize.confirm", ...on, manual: true } as ActionOf<"vm.resize.confirm">;
  const { result } = await performed({ shows: [vm({ phase: "verify_resize" })], becomes: "" }, action);
  expect([result.message, result.fix]).toEqual([
    "it stays in VERIFY_RESIZE until the resize is decided outside",
    "decide it in the service's console, then run the same command again",
  ]);
});

describe("a stop", () => {
  const action = { operation: "vm.stop", ...on } as unknown as ActionOf<"vm.stop">;
  const first = { ...action, looksFirst: true } as ActionOf<"vm.stop">;
  const power = { record: { power: "stopped" } } as const;
  const flush = { record: { stoppedForFlush: true } } as const;
  it.each<[what: string, action: ActionOf<"vm.stop">, step: object, row: Row, isStopped: boolean]>([
    [
      "is written down, and looked for at the end",
      action,
      power,
      { becomes: 'done (power: stopped) | stop | power "stopped"' },
      true,
    ],
    [
      "looks first where that was asked for",
      first,
      power,
      { shows: [stopped], becomes: 'done | nothing | power "stopped"' },
      false,
    ],
    [
      "is sent where the first look shows that the VM runs",
      first,
      power,
      { becomes: 'done (power: stopped) | stop | power "stopped"' },
      true,
    ],
    [
      "is sent without a first look otherwise",
      action,
      power,
      { shows: [stopped], becomes: 'done (power: stopped) | stop | power "stopped"' },
      true,
    ],
    [
      "that is refused as being so is done where the VM is stopped",
      action,
      power,
      {
        answers: [refused("invalid_state")],
        shows: [stopped],
        becomes: 'done (power: stopped) | stop | power "stopped"',
      },
      false,
    ],
    [
      "for a flush is not this run's where it was so before",
      action,
      flush,
      { answers: [refused("invalid_state")], shows: [stopped], becomes: "done | stop" },
      false,
    ],
    [
      "for a flush that was lost and is refused then is this run's",
      action,
      flush,
      {
        answers: [lost, refused("invalid_state")],
        shows: [vm(), stopped],
        becomes: "done | stop | stoppedForFlush true",
      },
      true,
    ],
    [
      "for a flush leaves what the first look shows stopped",
      first,
      flush,
      { shows: [stopped], becomes: "done | nothing" },
      false,
    ],
    [
      "that is refused as being so is refused where the VM runs",
      action,
      power,
      { answers: [refused("invalid_state")], becomes: "failed service/invalid_state | stop" },
      false,
    ],
    [
      "that is refused otherwise is refused, whatever shows",
      action,
      power,
      { answers: [refused("forbidden")], shows: [stopped], becomes: "failed service/forbidden | stop" },
      false,
    ],
    [
      "of a VM on its way is sent once more when it has arrived",
      action,
      power,
      {
        answers: [refused("conflict"), yes],
        shows: [changing, vm()],
        becomes: 'done (power: stopped) | stop, stop | power "stopped"',
      },
      true,
    ],
    [
      "for a flush is written down first, and stays so",
      action,
      flush,
      { becomes: "done | stop | stoppedForFlush true" },
      true,
    ],
    [
      "for a flush that is refused is taken back",
      action,
      flush,
      { answers: [refused("forbidden")], becomes: "failed service/forbidden | stop" },
      false,
    ],
    [
      "for a flush whose answer was lost stays written down",
      action,
      flush,
      {
        answers: [lost],
        shows: [refused("forbidden")],
        becomes: "unknown service/unknown | stop | stoppedForFlush true",
      },
      false,
    ],
    [
      "for a flush that is refused is done where the user says that all is flushed and no record shows the power",
      action,
      flush,
      {
        answers: [refused("invalid_state")],
        shows: [vm({ status: undefined })],
        confirmed: true,
        becomes: "done | stop",
      },
      false,
    ],
    [
      "for a flush that is refused is not done where a record shows the power",
      action,
      flush,
      { answers: [refused("invalid_state")], confirmed: true, becomes: "failed service/invalid_state | stop" },
      false,
    ],
    [
      "for a flush that is refused is not done where nobody says that all is flushed",
      action,
      flush,
      { answers: [refused("invalid_state")], shows: [], becomes: "failed service/invalid_state | stop" },
      false,
    ],
    [
      "for a flush that was not sent is not done, whoever says what",
      action,
      flush,
      { answers: [away], shows: [], confirmed: true, becomes: "failed service/unavailable | stop" },
      false,
    ],
    [
      "that is refused is not done, though all is flushed, where it was not for that",
      action,
      power,
      {
        answers: [refused("invalid_state")],
        shows: [],
        confirmed: true,
        becomes: "failed service/invalid_state | stop",
      },
      false,
    ],
  ])("%s", async (_, how, more, row, isStopped) => {
    const { told, run } = await performed(row, how, more);
    expect(told).toBe(row.becomes);
    expect(run.stopped.has("v")).toBe(isStopped);
  });
  it("says how to go on where nothing tells whether it is stopped", async () => {
    const fix = async (shows: Row["shows"]) =>
      (await performed({ answers: [refused("invalid_state")], shows: shows ?? [], becomes: "" }, action, flush)).result
        .fix;
    expect(await fix([])).toBe("if its volumes are flushed: --confirm-flush vm.web");
    expect(await fix([vm()])).toBeUndefined();
  });
});

describe("a start", () => {
  const action = { operation: "vm.start", ...on } as unknown as ActionOf<"vm.start">;
  const first = { ...action, looksFirst: true } as ActionOf<"vm.start">;
  const again = { ...action, again: true } as ActionOf<"vm.start">;
  const power = { record: { power: "running" } } as const;
  it.each<[what: string, action: ActionOf<"vm.start">, row: Row]>([
    ["is done when the VM runs", action, { shows: [stopped, vm()], becomes: 'done | start | power "running"' }],
    ["looks first where that was asked for", first, { becomes: 'done | nothing | power "running"' }],
    [
      "is sent where the first look shows a VM that is stopped",
      first,
      { shows: [stopped, vm()], becomes: 'done | start | power "running"' },
    ],
    [
      "ends the note that the VM was stopped for a flush",
      first,
      { recorded: { stoppedForFlush: true }, becomes: 'done | nothing | power "running"' },
    ],
    [
      "that is sent ends that note too",
      action,
      { recorded: { stoppedForFlush: true }, becomes: 'done | start | power "running"' },
    ],
    [
      "that is refused as being so is done where the VM runs",
      action,
      { answers: [refused("invalid_state")], becomes: 'done | start | power "running"' },
    ],
    ["after a flush leaves what others have stopped", again, { shows: [stopped], becomes: "done | nothing" }],
    [
      "after a flush starts what an earlier run has stopped",
      again,
      { recorded: { stoppedForFlush: true }, shows: [stopped, vm()], becomes: 'done | start | power "running"' },
    ],
    [
      "that is refused is refused",
      action,
      { answers: [refused("forbidden")], becomes: "failed service/forbidden | start" },
    ],
    [
      "is seen by nobody where VMs cannot be looked at",
      action,
      { shows: [], becomes: 'done (power: running) | start | power "running"' },
    ],
  ])("%s", async (_, how, row) => {
    const { told } = await performed(row, how, power);
    expect(told).toBe(row.becomes);
  });
  it("forgets that this run has stopped the VM", async () => {
    const stage = await stageOf({ becomes: "" });
    stage.run.stopped.add("v");
    await vmPerformers["vm.start"]({ ...stepAt(address, "start"), action } as Step<"vm.start">, action, stage.run);
    expect(stage.run.stopped.has("v")).toBe(false);
  });
});

describe("a VM that no record manages", () => {
  const stop = { operation: "vm.stop", ...on, noted: "volume.data" } as unknown as ActionOf<"vm.stop">;
  const start = { operation: "vm.start", ...on, again: true, noted: "volume.data" } as unknown as ActionOf<"vm.start">;
  const down = "v";
  it.each<
    [what: string, action: ActionOf<"vm.stop" | "vm.start">, before: string | undefined, row: Row, after?: string]
  >([
    ["has its stop written down at the volume", stop, undefined, { becomes: "done | stop" }, down],
    [
      "has a stop whose answer was lost written down there",
      stop,
      undefined,
      { answers: [lost], shows: [refused("forbidden")], becomes: "unknown service/unknown | stop" },
      down,
    ],
    [
      "has a stop that is refused taken back",
      stop,
      undefined,
      { answers: [refused("forbidden")], becomes: "failed service/forbidden | stop" },
    ],
    [
      "has no note of a stop that others sent",
      stop,
      undefined,
      { answers: [refused("invalid_state")], shows: [stopped], becomes: "done | stop" },
    ],
    ["is started where the volume has the note", start, down, { shows: [stopped, vm()], becomes: "done | start" }],
    ["is left to others where it has none", start, undefined, { shows: [stopped], becomes: "done | nothing" }],
    [
      "keeps the note while its start is refused",
      start,
      down,
      { answers: [refused("forbidden")], becomes: "failed service/forbidden | start" },
      down,
    ],
    [
      "loses the note where its start is refused and nobody sees whether it runs",
      start,
      down,
      { answers: [refused("invalid_state")], shows: [], becomes: "failed service/invalid_state | start" },
    ],
  ])("%s", async (_, action, before, row, after) => {
    const data = { ...volume("data"), id: "d", flush: { via: "stop" }, stoppedVm: before } as unknown as RecordedVolume;
    const { result, sent, recorder } = await performed({ ...row, recorded: null, others: [data] }, action);
    const kept = ofKind(recorder.state.resources.get(data.address), "volume");
    expect([`${words(result)} | ${sent.join(", ") || "nothing"}`, kept?.stoppedVm]).toEqual([row.becomes, after]);
  });
});

describe("a reboot", () => {
  const action = { operation: "vm.reboot", ...on } as unknown as ActionOf<"vm.reboot">;
  it.each<[what: string, row: Row]>([
    ["is shown by nothing", { becomes: "done (the reboot) | reboot" }],
    [
      "that is refused is refused",
      { answers: [refused("invalid_state")], becomes: "failed service/invalid_state | reboot" },
    ],
    ["after which the VM does not run is not done", { shows: [stopped], becomes: "failed apply/timeout | reboot" }],
    [
      "whose answer was lost is not known where the VM runs, as it did before",
      { answers: [lost], becomes: "unknown service/unknown | reboot" },
    ],
    [
      "whose answer was lost is done where the VM was on its way",
      {
        answers: [lost],
        shows: [vm({ phase: "changing", status: "REBOOT" }), vm()],
        becomes: "done (the reboot) | reboot",
      },
    ],
  ])("%s", async (_, row) => expect((await performed(row, action)).told).toBe(row.becomes));
});

describe("waiting for a VM", () => {
  const waited = async (row: Partial<Row>, wait: Parameters<typeof waitForVm>[3]) => {
    const { run, said } = await stageOf({ becomes: "", ...row });
    const { vm: _, ...result } = await waitForVm(stepAt(address, "wait"), run, "v", wait);
    return { told: words(result), message: result.message, fix: result.fix, said };
  };
  const { vmCreateTimeoutMs } = defaultTiming;
  const late = (what: string, shown: string) =>
    `it is still not ${what} after ${Math.round(vmCreateTimeoutMs / 1000)} s${shown}`;
  it("says what it shows, each word once", async () => {
    const { said } = await waited(
      { shows: [changing, changing, vm({ phase: "changing", status: "NEARLY" }), vm()] },
      { for: "built" },
    );
    expect(said).toEqual(["BUILD", "NEARLY"]);
  });
  it.each<
    [what: string, row: Partial<Row>, wait: Parameters<typeof waitForVm>[3], told: string, message: string | undefined]
  >([
    ["that is at rest and stopped for a while", { shows: [stopped] }, { for: "built" }, "done", undefined],
    ["that starts after it was made", { shows: [stopped, vm()] }, { for: "built" }, "done", undefined],
    [
      "that never comes",
      { shows: [changing] },
      { for: "running" },
      "failed apply/timeout",
      late("running", " (BUILD)"),
    ],
    ["that never goes", { shows: [changing] }, { for: "gone" }, "failed apply/timeout", late("gone", " (BUILD)")],
    ["that is shown by nobody", { shows: [gone] }, { for: "built" }, "failed apply/timeout", late("built", "")],
    [
      "in a state that no dialect explains",
      { shows: [vm({ phase: "changing", status: "limbo", unsaid: true })] },
      { for: "running" },
      "failed apply/vm-failed",
      "it shows limbo, and the dialect does not say what that means",
    ],
    ["that is gone", { shows: [gone] }, { for: "gone" }, "done", undefined],
    [
      "that nobody may look at",
      { shows: [refused("forbidden")] },
      { for: "running" },
      "failed service/forbidden",
      "the service accepted it, and whether it did it (power: running) cannot be seen: refused: no",
    ],
    [
      "that no look reaches, and was begun all the same",
      { shows: [away] },
      { for: "rebuilt", isOther: () => false },
      "failed service/unavailable",
      "the service accepted it, and whether it did it (its new image_id) cannot be seen: 503",
    ],
    [
      "to be gone, that no look reaches",
      { shows: [away] },
      { for: "gone" },
      "failed service/unavailable",
      "the service accepted the delete of VM v, and whether it is gone cannot be seen: 503",
    ],
    [
      "that is on its way, where nothing was sent",
      { shows: [away] },
      { for: "arrived" },
      "failed service/unavailable",
      "whether VM v has settled cannot be seen: 503",
    ],
    [
      "that failed",
      { shows: [vm({ phase: "failed", status: "ERROR" })] },
      { for: "running" },
      "failed apply/vm-failed",
      "the VM ended in state ERROR",
    ],
    ["to be built, where nobody can look", { shows: [] }, { for: "built" }, "done (that it is built)", undefined],
    [
      "to run, whose record has no state",
      { shows: [vm({ status: undefined })] },
      { for: "running" },
      "done (power: running)",
      undefined,
    ],
    [
      "to be rebuilt, whose record has no image",
      { shows: [vm({ image: undefined })] },
      { for: "rebuilt", isOther: () => true },
      "done (its new image_id)",
      undefined,
    ],
    [
      "to be resized, whose record has no flavor",
      { shows: [vm({ flavor: undefined })] },
      { for: "resized", isTarget: () => true, isConfirmed: true },
      "done (its new flavor_id)",
      undefined,
    ],
    [
      "to be resized, whose record has a state for it",
      { shows: [vm({ flavor: undefined, phase: "verify_resize", status: "VERIFY_RESIZE" })] },
      { for: "resized", isTarget: () => true, isConfirmed: true },
      "done",
      undefined,
    ],
    ["to be gone, where nobody can look", { shows: [] }, { for: "gone" }, "done (that it is gone)", undefined],
    ["to be steady, where nobody can look", { shows: [] }, { for: "steady" }, "done", undefined],
  ])("%s", async (_, row, wait, told, message) => {
    const one = await waited(row, wait);
    expect([one.told, one.message]).toEqual([told, message]);
  });
  it.each<[what: string, Row["shows"], Parameters<typeof waitForVm>[3], RegExp]>([
    ["changes", [changing], { for: "rebuilt", isOther: () => true }, /again: it goes on waiting;/],
    ["is not listed yet", [gone], { for: "built" }, /again: it goes on waiting;/],
    ["is stopped", [stopped], { for: "running" }, /sends the request again where the VM still does not show it;/],
    [
      "shows its former image",
      [vm({ image: "a" })],
      { for: "rebuilt", isOther: () => true },
      /sends the request again .* wipes the root disk once more, so look .* on_image_change: ignore \};/,
    ],
  ])("says what the same command does about one that %s", async (_, shows, wait, says) => {
    expect((await waited({ shows: shows ?? [] }, wait)).fix).toMatch(says);
  });
  it("says which word may mean that it is gone", async () => {
    const fix = async (wait: "gone" | "running", shows: Row["shows"]) =>
      String((await waited({ shows: shows ?? [] }, { for: wait })).fix);
    expect(await fix("gone", [changing])).toMatch(/in the dialect: states: \{ vm: \{ gone: \[BUILD\] \} \}$/);
    expect(await fix("running", [changing])).toMatch(/vm_create_timeout allows more$/);
    expect(await fix("gone", [vm({ status: undefined })])).toMatch(/vm_create_timeout allows more$/);
  });
});
