/** Which step makes which command in a guest necessary, when it is run, and why it has to wait: a row each. */
import { describe, expect, it } from "vitest";
import type { GuestCommand } from "../../reconciler/core/model/desired";
import type { Debt } from "../../reconciler/core/model/guest";
import type { RecordedVm } from "../../reconciler/core/model/recorded";
import type { Step } from "../../reconciler/core/plan/step";
import { commandRecorded, debtsLeft, owedBy, owedIn } from "../../reconciler/kinds/vm/guest-steps";
import { idOf, planFor, vm, volume, type World } from "../support/sample-plans";

const command = (more: Partial<GuestCommand> = {}): GuestCommand => ({ argv: ["mount"], timeoutMs: 1000, ...more });
const debt = (what: Debt["command"], reason: Debt["reason"] = "created"): Debt => ({
  command: what,
  reason,
  since: "2026-01-01T00:00:00Z",
});
const ready = { afterReady: command() };
const attach = { afterAttach: command() };
const web = vm("web");
const other = vm("other");
const onWeb = { attachTo: { address: "vm.web" } };
const image = "00000000-0000-4000-8000-000000000002";
const data = volume("data", { ...onWeb, ...attach });
const owes = (...debts: readonly Debt[]) => ({ owes: debts });
const stopped = { phase: "stopped", status: "SHUTOFF" } as const;
const flushed = { flush: { via: "command", argv: ["sync"], timeoutMs: 1000 } } as const;

const short = (id: string): string => id.replace(/^(vm|volume)\./, "");
/** What is owed, what each step makes necessary, and what each command waits for. */
function told(world: World): string[] {
  const plan = planFor({ missing: [], ...world });
  return [
    ...(plan.owed ?? []).map(
      ({ address, command: what, reason, waits }) =>
        `${short(address)} owes ${what}: ${reason}${waits === undefined ? "" : `, and waits: ${waits}`}`,
    ),
    ...plan.steps.flatMap(({ id, owes: made = [], action }) =>
      made.map(
        (due) =>
          `${short(id)} makes ${short(due.address)} owe ${due.command}: ${due.reason}${"asks" in action && action.asks !== undefined ? " (by itself)" : ""}`,
      ),
    ),
    ...plan.steps.flatMap(({ id, needs, action }) =>
      action.operation === "after_ready" || action.operation === "after_attach"
        ? [
            `${short(id)} after ${needs.map(({ step, on }) => `${short(step)}${on === "done" ? "" : ` ${on}`}`).join(", ") || "nothing"}`,
          ]
        : [],
    ),
  ];
}

describe("a step makes a command necessary", () => {
  it.each<[what: string, world: World, told: readonly string[]]>([
    [
      "the create of a VM",
      { desired: [vm("web", ready)] },
      ["web/create makes web owe after_ready: created", "web/after_ready after web/create"],
    ],
    [
      "the create of a VM, both of them, one after the other",
      { desired: [vm("web", { ...ready, ...attach })] },
      [
        "web/create makes web owe after_ready: created",
        "web/create makes web owe after_attach: created",
        "web/after_ready after web/create",
        "web/after_attach after web/create, web/after_ready",
      ],
    ],
    [
      "the replacement of a VM",
      { applied: [vm("web", ready)], desired: [vm("web", { ...ready, region: "elsewhere" })] },
      ["web/create makes web owe after_ready: vm_replaced", "web/after_ready after web/create, web/delete end"],
    ],
    [
      "the replacement of a VM, whose data volume is a new one",
      { applied: [vm("web", attach)], desired: [vm("web", { ...attach, region: "elsewhere" })] },
      ["web/create makes web owe after_attach: created", "web/after_attach after web/create, web/delete end"],
    ],
    [
      "the rebuild of a VM, also for a volume on it that is left out",
      {
        applied: [web, { ...data, memory: attach }],
        desired: [vm("web", { image }), data],
        options: { targets: ["vm.web"] },
      },
      ["web/rebuild makes data owe after_attach: vm_rebuilt"],
    ],
    [
      "the rebuild of a VM, also for the volume on it",
      { applied: [vm("web", ready), data], desired: [vm("web", { ...ready, image }), data] },
      [
        "web/rebuild makes web owe after_ready: vm_rebuilt",
        "web/rebuild makes data owe after_attach: vm_rebuilt",
        "web/after_ready after web/rebuild",
        "data/after_attach after web/after_ready, web/rebuild",
      ],
    ],
    [
      "the create of a volume and its attach",
      { applied: [web], desired: [web, data] },
      [
        "data/create makes data owe after_attach: created",
        "data/attach makes data owe after_attach: created",
        "data/after_attach after data/create, data/attach",
      ],
    ],
    ["the create of a volume that hangs on nothing", { desired: [volume("data", attach)] }, []],
    [
      "no replacement of a volume that hangs on nothing afterwards, whose VM goes",
      { applied: [web, data], desired: [volume("data", { ...attach, name: "anew" })] },
      [],
    ],
    [
      "the attach of a volume that was there",
      { applied: [web, volume("data", attach)], desired: [web, data] },
      ["data/attach makes data owe after_attach: attached", "data/after_attach after data/attach"],
    ],
    [
      "the move of a volume to another VM",
      {
        applied: [web, other, data],
        desired: [web, other, volume("data", { ...attach, attachTo: { address: "vm.other" } })],
      },
      [
        "data/detach makes data owe after_attach: moved",
        "data/attach makes data owe after_attach: moved",
        "data/after_attach after data/attach",
      ],
    ],
    [
      "the replacement of the VM that the volume hangs on",
      { applied: [web, data], desired: [vm("web", { region: "elsewhere" }), data] },
      [
        "data/detach makes data owe after_attach: vm_replaced",
        "data/attach makes data owe after_attach: vm_replaced",
        "data/after_attach after web/create, web/flush-stop end, web/delete end, data/detach end, data/attach",
      ],
    ],
    ["that a volume is taken off for good", { applied: [web, data], desired: [web, volume("data", attach)] }, []],
    [
      "the growth of a volume on a VM",
      { applied: [web, data], desired: [web, { ...data, sizeGb: 200 }] },
      [
        "data/detach makes data owe after_attach: attached_again",
        "data/resize makes data owe after_attach: grown",
        "data/attach makes data owe after_attach: attached_again",
        "data/after_attach after data/detach end, data/attach",
      ],
    ],
    [
      "the replacement of a volume",
      { applied: [web, data], desired: [web, { ...data, name: "other" }] },
      [
        "data/create makes data owe after_attach: created",
        "data/detach makes data owe after_attach: created",
        "data/attach makes data owe after_attach: created",
        "data/after_attach after data/create, data/detach end, data/attach",
      ],
    ],
    [
      "the move of a volume to a VM that is made anew",
      {
        applied: [web, other, data],
        desired: [
          web,
          vm("other", { region: "elsewhere" }),
          volume("data", { ...attach, attachTo: { address: "vm.other" } }),
        ],
      },
      [
        "data/detach makes data owe after_attach: moved",
        "data/attach makes data owe after_attach: moved",
        "data/after_attach after other/create, other/delete end, data/attach",
      ],
    ],
    [
      "no step of a VM that goes, beside one that stays",
      { applied: [vm("web", ready), vm("other", ready), data], desired: [vm("other", ready)] },
      [],
    ],
    ["that a VM goes", { applied: [vm("web", ready)] }, []],
    [
      "that a VM is let go",
      { applied: [vm("web", ready)], removed: [{ from: "vm.web", destroy: false, source: { file: "f", line: 1 } }] },
      [],
    ],
    ["no step, where nothing changes", { applied: [vm("web", ready), data], desired: [vm("web", ready), data] }, []],
    ["no step of a VM without commands", { desired: [web] }, []],
    [
      "the growth of a volume with a flush command, also where that alone is done",
      {
        applied: [web, volume("data", { ...onWeb, ...attach, ...flushed })],
        desired: [web, volume("data", { ...onWeb, ...attach, ...flushed, sizeGb: 200 })],
      },
      [
        "data/flush makes data owe after_attach: attached_again",
        "data/detach makes data owe after_attach: attached_again",
        "data/resize makes data owe after_attach: grown",
        "data/attach makes data owe after_attach: attached_again",
        "data/after_attach after data/flush end, data/detach end, data/attach end",
      ],
    ],
    [
      "the growth of a VM's data volume with a flush command, also where that alone is done",
      {
        applied: [vm("web", { ...attach, ...flushed })],
        desired: [vm("web", { ...attach, ...flushed, sizeGb: 40 })],
      },
      [
        "web/flush makes web owe after_attach: attached_again",
        "web/data-detach makes web owe after_attach: attached_again",
        "web/data-resize makes web owe after_attach: grown",
        "web/data-attach makes web owe after_attach: attached_again",
        "web/after_attach after web/flush end, web/data-detach end, web/data-resize end, web/data-attach end",
      ],
    ],
    [
      "the growth of a VM's data volume",
      { applied: [vm("web", attach)], desired: [vm("web", { ...attach, sizeGb: 40 })] },
      [
        "web/data-detach makes web owe after_attach: attached_again",
        "web/data-resize makes web owe after_attach: grown",
        "web/data-attach makes web owe after_attach: attached_again",
        "web/after_attach after web/data-detach end, web/data-resize end, web/data-attach",
      ],
    ],
  ])("%s", (_, world, lines) => expect(told(world)).toEqual(lines));
});

describe("a command that was owed before", () => {
  const owing = (more: object = {}) => ({
    ...vm("web", ready),
    memory: { ...ready, ...owes(debt("after_ready")) },
    ...more,
  });
  const owingData = (more: object = {}) => ({
    ...data,
    memory: { ...attach, ...owes(debt("after_attach", "moved")) },
    ...more,
  });
  const declared = vm("web", ready);
  const owingMount = {
    ...vm("web", attach),
    memory: { ...attach, ...owes(debt("after_attach")) },
    now: { volumes: [{ id: "root", root: true }] },
  };
  const withData = (attachedTo: string | null): World => ({
    desired: [vm("web", attach)],
    strangers: [{ kind: "volume", id: `${idOf("vm.web")}-data`, name: "own", failed: false, attachedTo }],
  });
  it.each<[what: string, world: World, told: readonly string[]]>([
    [
      "is run at once on a VM that runs",
      { applied: [owing()], desired: [declared] },
      ["web owes after_ready: created", "web/after_ready after nothing"],
    ],
    [
      "waits on a VM that is stopped",
      { applied: [owing({ now: stopped })], desired: [declared] },
      ["web owes after_ready: created, and waits: VM vm.web is stopped"],
    ],
    [
      "is run when its VM was started",
      {
        applied: [{ ...owing({ now: stopped }), power: "running" }],
        desired: [vm("web", { ...ready, power: "running" })],
      },
      ["web owes after_ready: created", "web/after_ready after web/start"],
    ],
    [
      "waits for a VM that is to be stopped",
      { applied: [owing()], desired: [vm("web", { ...ready, power: "stopped" })] },
      ["web owes after_ready: created, and waits: its VM is to be stopped"],
    ],
    [
      "is run on a VM of which nobody knows whether it runs, after what this plan does to it",
      { applied: [owing({ now: { phase: "changing", status: "X" } })], desired: [declared] },
      ["web owes after_ready: created", "web/after_ready after nothing"],
    ],
    [
      "waits where its volume hangs on no VM",
      { applied: [{ ...owingData(), attachTo: undefined }], desired: [volume("data", attach)] },
      ["data owes after_attach: moved, and waits: it hangs on no VM"],
    ],
    [
      "waits where the data volume of its VM was taken off",
      { ...withData(null), applied: [owingMount] },
      ["web owes after_attach: created, and waits: its data volume hangs on no VM"],
    ],
    [
      "waits where the data volume of its VM was hung on another one",
      { ...withData(idOf("vm.other")), applied: [owingMount, other], desired: [vm("web", attach), other] },
      ["web owes after_attach: created, and waits: its data volume hangs on VM vm.other"],
    ],
    [
      "waits where the data volume of its VM is gone",
      { applied: [owingMount], desired: [vm("web", attach)] },
      ["web owes after_attach: created, and waits: its data volume is gone"],
    ],
    [
      "waits where the record of its VM shows other volumes, and nobody lists volumes",
      { applied: [owingMount], desired: [vm("web", attach)], missing: ["volume.list"] },
      ["web owes after_attach: created, and waits: its data volume does not show on it"],
    ],
    [
      "is run where the data volume of its VM hangs where it was made",
      { ...withData(idOf("vm.web")), applied: [owingMount] },
      ["web owes after_attach: created", "web/after_attach after nothing"],
    ],
    [
      "goes first, before what this plan does to its VM",
      { applied: [owing()], desired: [vm("web", { ...ready, flavor: "m1.large" })] },
      ["web owes after_ready: created", "web/after_ready after nothing"],
    ],
    [
      "goes first, before a volume that is flushed by its command comes off its VM",
      {
        applied: [owing(), volume("data", { ...onWeb, ...flushed })],
        desired: [declared, volume("data", { ...onWeb, ...flushed, sizeGb: 200 })],
      },
      ["web owes after_ready: created", "web/after_ready after nothing"],
    ],
    [
      "waits for a volume that a person has flushed, since it may mount that again",
      {
        applied: [owing(), volume("data", onWeb)],
        desired: [declared, volume("data", { ...onWeb, sizeGb: 200 })],
      },
      ["web owes after_ready: created", "web/after_ready after data/detach end, data/attach end"],
    ],
    [
      "is run once more necessary after what makes it so",
      { applied: [owing()], desired: [vm("web", { ...ready, image })] },
      [
        "web owes after_ready: created",
        "web/rebuild makes web owe after_ready: vm_rebuilt",
        "web/after_ready after web/rebuild",
      ],
    ],
    [
      "of a volume waits for that of its VM",
      { applied: [owing(), owingData()], desired: [declared, data] },
      [
        "web owes after_ready: created",
        "data owes after_attach: moved",
        "web/after_ready after nothing",
        "data/after_attach after web/after_ready",
      ],
    ],
    ["that nobody declares any more is not run", { applied: [owing()], desired: [web] }, []],
    [
      "by a create that was cut off",
      {
        desired: [declared],
        intents: [
          {
            ...{
              step: "vm.web/create",
              address: "vm.web",
              operation: "vm.create",
              name: "web",
              idsBefore: [],
              accepted: true,
            },
            sentAt: "2026-01-01T00:00:00Z",
            record: {
              ...{ kind: "vm", address: "vm.web", name: "web", preventDestroy: false, ...ready },
              onDelete: { snapshot: false, preservedVolumes: "retain" },
              ...owes(debt("after_ready")),
            } as RecordedVm,
          },
        ],
        strangers: [{ kind: "vm", id: "s", name: "web", phase: "running", status: "ACTIVE" }],
      },
      ["web owes after_ready: created", "web/after_ready after web/import"],
    ],
    [
      "for which a person asks makes itself necessary",
      { applied: [{ ...declared, memory: ready }], desired: [declared], options: { owe: ["vm.web"] } },
      [
        "web owes after_ready: asked",
        "web/after_ready makes web owe after_ready: asked (by itself)",
        "web/after_ready after nothing",
      ],
    ],
    [
      "for which a person asks, and which something makes necessary as well",
      {
        applied: [{ ...declared, memory: ready }],
        desired: [vm("web", { ...ready, image })],
        options: { owe: ["vm.web"] },
      },
      [
        "web owes after_ready: asked",
        "web/rebuild makes web owe after_ready: vm_rebuilt",
        "web/after_ready after web/rebuild",
      ],
    ],
    [
      "for which a person asks of another resource",
      { applied: [{ ...declared, memory: ready }], desired: [declared], options: { owe: ["vm.other"] } },
      [],
    ],
    [
      "because it was written anew, which says so",
      {
        applied: [{ ...declared, memory: ready }],
        desired: [vm("web", { afterReady: command({ argv: ["other"], again: "when_changed" }) })],
      },
      [
        "web owes after_ready: changed",
        "web/after_ready makes web owe after_ready: changed (by itself)",
        "web/after_ready after nothing",
      ],
    ],
    [
      "that says so was not written anew",
      {
        applied: [{ ...declared, memory: ready }],
        desired: [vm("web", { afterReady: command({ again: "when_changed" }) })],
      },
      [],
    ],
  ])("%s", (_, world, lines) => expect(told(world)).toEqual(lines));

  it("goes before the steps of its VM, whatever becomes of it", () => {
    const plan = planFor({ applied: [owing()], desired: [vm("web", { ...ready, name: "www" })] });
    const rename = plan.steps.find(({ id }) => id === "vm.web/rename");
    expect(rename?.needs).toContainEqual({ step: "vm.web/after_ready", on: "end" });
  });
  it("goes before the flush of its volume", () => {
    const before = volume("data", { ...onWeb, ...attach, ...flushed });
    const plan = planFor({
      applied: [web, { ...before, memory: { ...attach, ...owes(debt("after_attach")) } }],
      desired: [vm("web", { name: "www" }), before],
    });
    expect(plan.steps.find(({ id }) => id === "vm.web/rename")?.needs).toContainEqual({
      step: "volume.data/after_attach",
      on: "end",
    });
  });
});

describe("a command that is new on what exists", () => {
  const notes = (world: World) =>
    planFor(world).diagnostics.flatMap(({ code, summary, fix }) =>
      code === "plan/not-owed" ? [`${summary} => ${fix}`] : [],
    );
  const note = (duty: string, address: string) =>
    `${duty} of ${address} is new, and nothing is owed for what exists already => reconcile owe ${address} (to run it with the next apply)`;
  it.each<[what: string, world: World, notes: readonly string[]]>([
    ["is not owed, and says so", { applied: [web], desired: [vm("web", ready)] }, [note("after_ready", "vm.web")]],
    [
      "of a volume is not owed, and says so",
      { applied: [web, volume("data", onWeb)], desired: [web, data] },
      [note("after_attach", "volume.data")],
    ],
    [
      "is nothing new where the record has it",
      { applied: [{ ...vm("web", ready), memory: ready }], desired: [vm("web", ready)] },
      [],
    ],
    ["is owed where something makes it necessary", { applied: [web], desired: [vm("web", { ...ready, image })] }, []],
    ["is owed where the resource is made", { desired: [vm("web", ready)] }, []],
    [
      "on what is taken over is not owed, and says so",
      {
        desired: [vm("web", ready)],
        strangers: [{ kind: "vm", id: "s", name: "web", phase: "running", status: "ACTIVE" }],
        imports: [{ to: "vm.web", id: "s", source: web.source }],
      },
      [note("after_ready", "vm.web")],
    ],
    [
      "is owed where a person asks for it",
      { applied: [web], desired: [vm("web", ready)], options: { owe: ["vm.web"] } },
      [],
    ],
  ])("%s", (_, world, told) => expect(notes(world)).toEqual(told));
});

describe("the step of a command", () => {
  const stepOf = (declared: GuestCommand, more: World = {}): Step | undefined =>
    planFor({ desired: [vm("web", { afterReady: declared })], ...more }).steps.find(
      ({ id }) => id === "vm.web/after_ready",
    );
  it.each<[what: string, argv: GuestCommand["argv"], title: string]>([
    ["is told as it is", ["sh", "setup.sh"], "run after_ready: sh setup.sh"],
    ["is told up to its hundredth letter", ["x".repeat(101)], `run after_ready: ${"x".repeat(100)}…`],
    ["of a hundred letters is told whole", ["x".repeat(100)], `run after_ready: ${"x".repeat(100)}`],
    ["is told up to its first line", ["sh -c", "one\ntwo"], "run after_ready: sh -c one…"],
    [
      "is told with a value as the file has it",
      ["play", { parts: [{ address: "vm.web", attribute: "private_ip" }, ","] }],
      "run after_ready: play ${vm.web.private_ip},",
    ],
  ])("%s", (_, argv, title) => expect(stepOf(command({ argv }))?.title).toBe(title));
  it("records the command, and when it is owed again", () => {
    expect(stepOf(command())?.record).toEqual({ afterReady: command() });
    expect(stepOf(command({ again: "when_changed" }))?.record).toEqual({
      afterReady: command({ again: "when_changed" }),
    });
    expect(stepOf(command({ env: [{ name: "A", value: "1" }] } as unknown as Partial<GuestCommand>))?.record).toEqual({
      afterReady: command({ env: [{ name: "A", value: "1" }] } as unknown as Partial<GuestCommand>),
    });
  });
  it("waits for what the values in it belong to", () => {
    const db = { address: "vm.db", attribute: "private_ip" } as const;
    const step = stepOf(command({ argv: ["join", { parts: [db] }] }), {
      desired: [vm("db"), vm("web", { afterReady: command({ argv: ["join", { parts: [db] }] }) })],
    });
    expect(step?.needs.map((one) => one.step)).toContain("vm.db/create");
  });
});

describe("what a record keeps of commands", () => {
  it.each<[what: string, owed: readonly Debt[] | undefined, declared: object, left: readonly Debt[] | undefined]>([
    ["nothing of nothing", undefined, ready, undefined],
    ["a debt of what is declared", [debt("after_ready")], ready, [debt("after_ready")]],
    ["no debt of what is not declared any more", [debt("after_ready")], attach, undefined],
    ["one of two", [debt("after_ready"), debt("after_attach")], attach, [debt("after_attach")]],
    ["nothing of no debts", [], ready, undefined],
  ])("%s", (_, owed, declared, left) => expect(debtsLeft({ owes: owed }, declared)).toEqual(left));
  it("the debts themselves where none is gone", () => {
    const kept = [debt("after_ready")];
    expect(debtsLeft({ owes: kept }, ready)).toBe(kept);
  });
  const again = command({ argv: ["other"], again: "when_changed" });
  it.each<
    [what: string, old: GuestCommand | undefined, now: GuestCommand | undefined, recorded: GuestCommand | undefined]
  >([
    ["the new one", command(), command({ argv: ["other"] }), command({ argv: ["other"] })],
    ["the old one until the new one has run, where it is owed again", command(), again, command()],
    [
      "the new one where it is the same",
      command(),
      command({ again: "when_changed", timeoutMs: 5 }),
      command({ again: "when_changed", timeoutMs: 5 }),
    ],
    ["the new one where there was none", undefined, again, again],
    ["none where there is none", command(), undefined, undefined],
  ])("%s", (_, old, now, recorded) => expect(commandRecorded(old, now)).toEqual(recorded));
});

describe("what is owed in all", () => {
  const step = (reason: Debt["reason"], needs: Step["needs"] = []): Step =>
    ({ needs, owes: [{ address: "vm.web", command: "after_ready", reason }] }) as unknown as Step;
  const before = { address: "vm.web", command: "after_ready", reason: "asked", since: "1" } as const;
  it.each<[what: string, steps: readonly Step[], owed: readonly (typeof before)[], reasons: readonly string[]]>([
    ["by the last step that makes it necessary", [step("created"), step("grown")], [], ["grown"]],
    ["by what was owed before", [step("created")], [before], ["asked"]],
    ["by no step that only follows a failure", [step("created", [{ step: "vm.web/x", on: "failed" }])], [], []],
    ["by a step that follows an end", [step("created", [{ step: "vm.web/x", on: "end" }])], [], ["created"]],
    ["nothing", [], [], []],
  ])("%s", (_, steps, owed, reasons) =>
    expect(owedBy({ steps, ...(owed.length === 0 ? {} : { owed }) }).map(({ reason }) => reason)).toEqual(reasons),
  );
  it("is read from the records", () => {
    const record = { address: "vm.web", ...owes(debt("after_ready")) } as unknown as RecordedVm;
    expect(owedIn([record, { address: "vm.x" } as unknown as RecordedVm])).toEqual([
      { address: "vm.web", ...debt("after_ready") },
    ]);
  });
});
