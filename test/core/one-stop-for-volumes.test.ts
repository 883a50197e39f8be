/** The one stop of a VM for the volumes that come off it, as a table: who makes it, and what waits for it. */
import { describe, expect, it } from "vitest";
import type { FlushPolicy } from "../../reconciler/core/model/desired";
import { source } from "../../reconciler/core/model/kind-facts";
import type { LiveVm } from "../../reconciler/kinds/vm/live";
import type { LiveVolume } from "../../reconciler/kinds/volume/live";
import { idOf, planFor, vm, volume, type World, waitsFor } from "../support/sample-plans";

const web = vm("web");
const on = { attachTo: { address: "vm.web" }, flush: { via: "stop" } } as const;
const off = { flush: { via: "stop" } } as const;
const [data, logs] = [volume("data", on), volume("logs", on)];
const left = { ...web, lifecycle: { ...web.lifecycle, ignoreChanges: ["power"] } };
const stopped = { ...web, now: { phase: "stopped", status: "SHUTOFF" } } as const;
const volumeOff = {
  now: { volumes: [{ id: "root", root: true }] },
  memory: { dataVolumeId: "off", dataVolumeDetached: true },
} as const;
const unhooked: LiveVolume = { kind: "volume", id: "off", name: "off", attachedTo: null, failed: false };
const world = (applied: World["applied"], desired: World["desired"]): World => ({ applied, desired, missing: [] });

const stepsOf = (one: World): readonly string[] =>
  planFor(one).steps.map((step) => {
    const { id, action, downtimeOf, record } = step;
    return [
      id,
      ...(action.operation === "vm.stop" && action.looksFirst === true ? ["(looks first)"] : []),
      ...(downtimeOf === undefined ? [] : ["(down)"]),
      ...(record !== undefined && "stoppedForFlush" in record ? [`(noted: ${record.stoppedForFlush})`] : []),
      ...(record !== undefined && "stoppedVm" in record ? [`(notes ${record.stoppedVm})`] : []),
      ...("noted" in action && action.noted !== undefined ? [`(noted at ${action.noted})`] : []),
      ...waitsFor(step),
    ].join(" ");
  });
const stranger: LiveVm = { kind: "vm", id: "vm-7", name: "theirs", status: "ACTIVE", phase: "running", volumes: [] };

const onTheirs = { ...on, attachTo: { id: stranger.id } } as const;
const noted = { stoppedVm: stranger.id } as const;
const stoppedWeb = { stoppedVm: idOf("vm.web") } as const;

const theirs = {
  ...web,
  now: { phase: "verify_resize" },
  lifecycle: { ...web.lifecycle, ignoreChanges: ["flavor_id"] },
} as const;

const stop = "vm.web/flush-stop (down) (noted: true)";
const stopUnless = "vm.web/flush-stop (looks first) (down) (noted: true)";
const start = "vm.web/flush-start (down) < vm.web/flush-stop";
const detach = "volume.data/detach < vm.web/flush-stop";
const otherImage = "9f1b2c3d-0000-4000-8000-000000000001";

describe("a VM whose volumes come off", () => {
  it.each<[what: string, world: World, steps: readonly string[]]>([
    [
      "is stopped and started again, also where the volume does not come off",
      world([web, data], [web, volume("data", off)]),
      [stop, detach, `${start} volume.data/detach?`],
    ],
    [
      "runs again before it is let go",
      { ...world([web, data], [volume("data", off)]), removed: [{ from: "vm.web", destroy: false, source }] },
      [stop, detach, `${start} volume.data/detach?`, "vm.web/forget < vm.web/flush-start"],
    ],
    [
      "is stopped once for all of them",
      world([web, data, logs], [web, volume("data", off), volume("logs", off)]),
      [stop, detach, "volume.logs/detach < vm.web/flush-stop", `${start} volume.data/detach? volume.logs/detach?`],
    ],
    [
      "starts when the volume that grew is back",
      world([web, data], [web, { ...data, sizeGb: 200 }]),
      [
        stop,
        detach,
        "volume.data/resize < volume.data/detach",
        "volume.data/attach < volume.data/detach volume.data/resize?",
        `${start} volume.data/detach? volume.data/attach?`,
      ],
    ],
    [
      "is stopped after its resize was decided, however that ended",
      world([{ ...web, now: { phase: "verify_resize" } }, data], [web, volume("data", off)]),
      ["vm.web/confirm", `${stopUnless} < vm.web/confirm?`, detach, `${start} volume.data/detach?`],
    ],
    [
      "is stopped after others decided the resize that the file leaves to them",
      world([theirs, data], [theirs, volume("data", off)]),
      ["vm.web/decided", `${stopUnless} < vm.web/decided?`, detach, `${start} volume.data/detach?`],
    ],
    [
      "is rebuilt after that too, and stopped after both",
      world([theirs, data], [{ ...theirs, image: otherImage }, volume("data", off)]),
      [
        "vm.web/decided",
        "vm.web/rebuild (down) < vm.web/decided?",
        `${stopUnless} < vm.web/decided? vm.web/rebuild?`,
        detach,
        `${start} volume.data/detach?`,
      ],
    ],
    [
      "is not stopped for a volume that is replaced, where the file says another flush by now",
      world([web, data], [web, volume("data", { ...on, name: "other", flush: { via: "ask" } })]),
      [
        "volume.data/orphan-old",
        "volume.data/create < volume.data/orphan-old",
        "volume.data/detach < volume.data/create",
        "volume.data/attach < volume.data/create volume.data/detach",
        "volume.data/delete-old < volume.data/create volume.data/detach",
        "volume.data/forget-old < volume.data/delete-old",
      ],
    ],
    [
      "is stopped for a volume that is replaced, where the file says so by now",
      world([web, { ...data, flush: { via: "ask" } }], [web, { ...data, name: "other" }]),
      [
        "volume.data/orphan-old",
        stop,
        "volume.data/create < volume.data/orphan-old",
        "volume.data/detach < volume.data/create vm.web/flush-stop",
        "volume.data/attach < volume.data/create volume.data/detach",
        "volume.data/delete-old < volume.data/create volume.data/detach",
        `${start} volume.data/detach? volume.data/attach?`,
        "volume.data/forget-old < volume.data/delete-old",
      ],
    ],
    [
      "is neither stopped nor started where it is stopped",
      world([stopped, data], [web, volume("data", off)]),
      ["volume.data/detach"],
    ],
    [
      "runs no flush command where it is stopped",
      world([stopped, data], [web, volume("data", { flush: { via: "command", argv: ["sync"] } })]),
      ["volume.data/detach"],
    ],
    [
      "runs no flush command either where the file wants it to run",
      world(
        [{ ...stopped, power: "running" }, data],
        [{ ...web, power: "running" }, volume("data", { flush: { via: "command", argv: ["sync"] } })],
      ),
      ["vm.web/flush-stop", detach, "vm.web/start < volume.data/detach?"],
    ],
    [
      "is looked at again where it is stopped and a resize may have started it",
      world([stopped, data], [{ ...web, flavor: "m1.large" }, volume("data", off)]),
      [
        "vm.web/resize (down)",
        "vm.web/confirm < vm.web/resize",
        "vm.web/flush-stop (looks first) < vm.web/resize? vm.web/confirm?",
        detach,
      ],
    ],
    [
      "is looked at again where it is stopped and a rebuild may have started it",
      world([stopped, data], [{ ...web, image: otherImage }, volume("data", off)]),
      ["vm.web/rebuild (down)", "vm.web/flush-stop (looks first) < vm.web/rebuild?", detach],
    ],
    [
      "is looked at again so for its own data volume as well",
      world([stopped], [{ ...web, image: otherImage, sizeGb: 500, flush: { via: "stop" } }]),
      [
        "vm.web/rebuild (down)",
        "vm.web/flush-stop (looks first) < vm.web/rebuild?",
        "vm.web/data-detach < vm.web/rebuild? vm.web/flush-stop",
        "vm.web/data-resize < vm.web/data-detach",
        "vm.web/data-attach < vm.web/data-resize? vm.web/data-detach",
      ],
    ],
    [
      "is stopped by the step that the file asks for, and stays so",
      world([{ ...web, power: "running" }, data], [{ ...web, power: "stopped" }, volume("data", off)]),
      ["vm.web/stop", "volume.data/detach < vm.web/stop"],
    ],
    [
      "is kept stopped by the step that the file asks for, after a resize as well",
      world(
        [{ ...stopped, power: "stopped" }, data],
        [{ ...web, power: "stopped", flavor: "m1.large" }, volume("data", off)],
      ),
      [
        "vm.web/resize (down)",
        "vm.web/confirm < vm.web/resize",
        "vm.web/stop (looks first) < vm.web/confirm?",
        "volume.data/detach < vm.web/stop",
      ],
    ],
    [
      "is started again after an interrupted run, also where its power is left to others",
      world([{ ...stopped, power: "running", memory: { stoppedForFlush: true } }], [{ ...left, power: "stopped" }]),
      ["vm.web/start"],
    ],
    [
      "is neither stopped nor started after a resize where its power is left to others",
      world([web], [{ ...left, power: "stopped", flavor: "m1.large" }]),
      ["vm.web/resize (down)", "vm.web/confirm < vm.web/resize"],
    ],
    [
      "is called by its id, and noted at the volume, where this project does not have it",
      {
        ...world([volume("data", onTheirs)], [volume("data", off)]),
        strangers: [stranger],
      },
      [
        "vm-7/flush-stop (down) (noted at volume.data)",
        "volume.data/detach < vm-7/flush-stop",
        "vm-7/flush-start (down) (noted at volume.data) < vm-7/flush-stop volume.data/detach?",
      ],
    ],
    [
      "is noted at the one that is made anew, and runs again once that remembers it",
      {
        ...world([{ ...volume("data", off), memory: noted, sighted: "gone" }], [volume("data", off)]),
        strangers: [{ ...stranger, phase: "stopped", status: "SHUTOFF" }],
      },
      ["volume.data/create (notes vm-7)", "vm-7/flush-start (down) (noted at volume.data) < volume.data/create?"],
    ],
    [
      "is noted at the new volume where that takes the place of the old one",
      {
        ...world([volume("data", onTheirs)], [volume("data", { ...onTheirs, name: "other" })]),
        strangers: [stranger],
      },
      [
        "volume.data/orphan-old",
        "volume.data/create < volume.data/orphan-old",
        "vm-7/flush-stop (down) (noted at volume.data) < volume.data/create?",
        "volume.data/detach < volume.data/create vm-7/flush-stop",
        "volume.data/attach < volume.data/create volume.data/detach",
        "volume.data/delete-old < volume.data/create volume.data/detach",
        "vm-7/flush-start (down) (noted at volume.data) < vm-7/flush-stop volume.data/detach? volume.data/attach?",
        "volume.data/forget-old < volume.data/delete-old",
      ],
    ],
    [
      "runs again before the record with the note goes",
      { ...world([volume("data", onTheirs)], []), strangers: [stranger] },
      [
        "vm-7/flush-stop (down) (noted at volume.data)",
        "volume.data/detach < vm-7/flush-stop",
        "vm-7/flush-start (down) (noted at volume.data) < vm-7/flush-stop volume.data/detach?",
        "volume.data/delete < volume.data/detach vm-7/flush-start",
      ],
    ],
    [
      "is started again after an interrupted run, where this project does not have it",
      {
        ...world([{ ...volume("data", onTheirs), memory: noted }], [volume("data", onTheirs)]),
        strangers: [{ ...stranger, status: "SHUTOFF", phase: "stopped" }],
      },
      ["vm-7/flush-start (down) (noted at volume.data)"],
    ],
    [
      "is started again once what came off is back",
      {
        ...world(
          [{ ...volume("data", onTheirs), memory: noted, now: { attachedTo: null } }],
          [volume("data", onTheirs)],
        ),
        strangers: [{ ...stranger, status: "SHUTOFF", phase: "stopped" }],
      },
      ["volume.data/attach", "vm-7/flush-start (down) (noted at volume.data) < volume.data/attach?"],
    ],
    [
      "is started again once it was taken over",
      world([stopped, { ...data, memory: stoppedWeb }], [web, data]),
      ["vm.web/flush-start (down) (noted at volume.data)"],
    ],
    [
      "is started again once it was taken over, after the volumes that come off it meanwhile",
      world([stopped, data, { ...logs, memory: stoppedWeb }], [web, { ...data, sizeGb: 200 }, logs]),
      [
        "volume.data/detach",
        "volume.data/resize < volume.data/detach",
        "volume.data/attach < volume.data/detach volume.data/resize?",
        "vm.web/flush-start (down) (noted at volume.logs) < volume.data/detach? volume.data/attach?",
      ],
    ],
    [
      "stays stopped once it was taken over, where the file says so",
      world(
        [
          { ...stopped, power: "stopped" },
          { ...data, memory: stoppedWeb },
        ],
        [{ ...web, power: "stopped" }, data],
      ),
      [],
    ],
    [
      "is not started to be deleted, once it was taken over",
      world(
        [stopped, { ...volume("data", off), memory: stoppedWeb, now: { attachedTo: null } }],
        [volume("data", off)],
      ),
      ["vm.web/delete"],
    ],
    [
      "is started again before its own record goes",
      {
        ...world([{ ...stopped, memory: { stoppedForFlush: true } }], []),
        removed: [{ from: web.address, destroy: false, source: web.source }],
      },
      ["vm.web/flush-start (down)", "vm.web/forget < vm.web/flush-start"],
    ],
    [
      "has a volume back that was taken off to be grown, before the record of that goes",
      {
        ...world(
          [web, { ...volume("data", off), now: { attachedTo: null }, memory: { goesBackTo: idOf("vm.web") } }],
          [web],
        ),
        removed: [{ from: data.address, destroy: false, source: web.source }],
      },
      ["volume.data/attach", "volume.data/forget < volume.data/attach"],
    ],
    [
      "has its data volume back before its own record goes",
      {
        ...world([{ ...web, ...volumeOff }], []),
        strangers: [unhooked],
        removed: [{ from: web.address, destroy: false, source: web.source }],
      },
      ["vm.web/data-attach", "vm.web/forget < vm.web/data-attach"],
    ],
    [
      "starts with its data volume before its own record goes",
      {
        ...world(
          [
            {
              ...web,
              now: { ...stopped.now, ...volumeOff.now },
              memory: { ...volumeOff.memory, stoppedForFlush: true },
            },
          ],
          [],
        ),
        strangers: [unhooked],
        removed: [{ from: web.address, destroy: false, source: web.source }],
      },
      [
        "vm.web/data-attach",
        "vm.web/flush-start (down) < vm.web/data-attach?",
        "vm.web/forget < vm.web/data-attach vm.web/flush-start",
      ],
    ],
    [
      "is not started again before its own record goes, where it runs by now",
      {
        ...world([{ ...web, memory: { stoppedForFlush: true } }], []),
        removed: [{ from: web.address, destroy: false, source: web.source }],
      },
      ["vm.web/forget"],
    ],
    [
      "is not started again where it runs by now",
      {
        ...world([{ ...volume("data", onTheirs), memory: noted }], [volume("data", onTheirs)]),
        strangers: [stranger],
      },
      [],
    ],
  ])("%s", (_, one, steps) => {
    expect(stepsOf(one)).toEqual(steps);
  });
});

it("flush commands in one guest run one after the other", () => {
  const flush = { via: "command", argv: ["sync"] } as const;
  const wish = (on: object) => [volume("data", { ...on, flush }), volume("logs", { ...on, flush })];
  const { steps } = planFor(world([web, ...wish({ attachTo: on.attachTo })], [web, ...wish({})]));
  const holds = steps.flatMap((step) => (step.action.operation === "flush" ? [step.holds] : []));
  expect(holds).toEqual([
    ["volume:volume.data", "vm:vm.web"],
    ["volume:volume.logs", "vm:vm.web"],
  ]);
});

describe("a volume that moves, with a command that names VMs, is flushed by", () => {
  const by = (...names: readonly string[]): FlushPolicy => ({
    via: "command",
    argv: ["ssh", ...names.map((name) => ({ parts: ["root@", { address: `vm.${name}`, attribute: "id" as const }] }))],
  });
  const words = (...argv: readonly string[]): FlushPolicy => ({ via: "command", argv });
  const others = [vm("db"), vm("bastion")];
  it.each<readonly [what: string, recorded: FlushPolicy, stated: FlushPolicy, flushed: FlushPolicy]>([
    ["what the file says of the VM that it leaves", by("web"), by("web", "bastion"), by("web", "bastion")],
    ["what the file says of both", by("web"), by("db", "web"), by("db", "web")],
    ["what the file says of neither", by("web"), by("bastion"), by("bastion")],
    ["what the record says, where the file names the next VM alone", by("web"), by("db"), by("web")],
    [
      "what the record says, where the file has other words",
      words("ssh", "web"),
      words("ssh", "db"),
      words("ssh", "web"),
    ],
    [
      "what the record says of the VM that it leaves, where the file has words",
      by("web"),
      words("ssh", "db"),
      by("web"),
    ],
    [
      "a person, where the file has words, and the record names the next VM",
      by("db"),
      words("ssh", "db"),
      { via: "ask" },
    ],
    ["what the file says in the words of the record", words("ssh", "web"), words("ssh", "web"), words("ssh", "web")],
    ["what the file says, where the record has no command", { via: "ask" }, words("ssh", "db"), words("ssh", "db")],
    [
      "what the file says of the VM that it leaves, where the record has words",
      words("ssh", "db"),
      by("web"),
      by("web"),
    ],
    ["a person, where the record names that one too", by("db"), by("db"), { via: "ask" }],
    ["a person, where the record says so", { via: "ask" }, by("db"), { via: "ask" }],
    ["the stop of its VM, where the record says so", { via: "stop" }, by("db"), { via: "stop" }],
  ])("%s", (_, recorded, stated, flushed) => {
    const { steps } = planFor(
      world(
        [web, ...others, volume("data", { attachTo: { address: "vm.web" }, flush: recorded })],
        [web, ...others, volume("data", { attachTo: { address: "vm.db" }, flush: stated })],
      ),
    );
    const detaches = steps.flatMap(({ action }) => (action.operation === "volume.detach" ? [action.flush] : []));
    const commands = steps.flatMap(({ action }) => (action.operation === "flush" ? [action.argv] : []));
    expect([detaches, commands]).toEqual([[flushed.via], flushed.via === "command" ? [flushed.argv] : []]);
  });
  it("and of one that stays on its VM the command is as the file has it", () => {
    const grows = (sizeGb: number, ...argv: readonly string[]) =>
      world(
        [web, volume("data", { attachTo: { address: "vm.web" }, flush: words("old") })],
        [web, volume("data", { attachTo: { address: "vm.web" }, flush: words(...argv), sizeGb })],
      );
    const { steps } = planFor(grows(200, "new"));
    expect(steps.flatMap(({ action }) => (action.operation === "flush" ? [action.argv] : []))).toEqual([["new"]]);
  });
});
