/** Commands that are owed to guests: when they are written down, run, paid and taken back (engine/guest.ts). */
import { describe, expect, it } from "vitest";
import type { Debt } from "../../reconciler/core/model/guest";
import { type LiveVm, notSeen } from "../../reconciler/core/model/live";
import { accepted } from "../../reconciler/core/model/outcome";
import type { RecordedResource, RecordedVm, RecordedVolume } from "../../reconciler/core/model/recorded";
import type { Step, StepAction } from "../../reconciler/core/plan/step";
import { oweFirst, oweNothing, performDuty, toldBy } from "../../reconciler/engine/guest";
import { performStep } from "../../reconciler/engine/perform";
import type { CommandResult } from "../../reconciler/engine/ports";
import { loneRun, stepAt } from "../support/virtual-world";

const since = "2025-12-01T00:00:00Z";
const web = (more: Partial<RecordedVm> = {}): RecordedVm => ({
  kind: "vm",
  address: "vm.web",
  id: "v-1",
  name: "web",
  preventDestroy: false,
  onDelete: { snapshot: false, preservedVolumes: "retain" },
  ...more,
});
const data = (more: Partial<RecordedVolume> = {}): RecordedVolume => ({
  kind: "volume",
  address: "volume.data",
  id: "d-1",
  name: "data",
  sizeGb: 5,
  flush: { via: "ask" },
  preventDestroy: false,
  ...more,
});
const ready: Debt = { command: "after_ready", reason: "created", since } as Debt;
const attached: Debt = { command: "after_attach", reason: "attached", since } as Debt;
const owesOf = (state: { readonly resources: ReadonlyMap<string, RecordedResource> }, address: string) =>
  (state.resources.get(address) as RecordedVm | undefined)?.owes;

describe("what a step makes necessary", () => {
  const due = { address: "volume.data", command: "after_attach", reason: "grown" } as const;
  const stepOf = (operation: string, address: string, owes: readonly object[] | undefined, more: object = {}): Step =>
    ({
      ...stepAt(address, operation),
      action: { operation },
      record: { kind: "vm", name: "web" },
      ...(owes === undefined ? {} : { owes }),
      ...more,
    }) as unknown as Step;
  const begin = async (step: Step, records: readonly RecordedResource[]) => {
    const { run, recorder } = await loneRun({ records, more: { debtsBefore: new Map() } as never });
    const next = await oweFirst(step, run);
    return { run, recorder, next };
  };
  it("is nothing of a step that owes nothing", async () => {
    const step = stepOf("vm.start", "vm.web", undefined);
    const { next, recorder } = await begin(step, [web()]);
    expect([next === step, owesOf(recorder.state, "vm.web")]).toEqual([true, undefined]);
  });
  it("is written down in the record of whoever will owe it, before the step", async () => {
    const { recorder, next } = await begin(stepOf("volume.resize", "volume.data", [due]), [data()]);
    expect(owesOf(recorder.state, "volume.data")).toEqual([
      { command: "after_attach", reason: "grown", since: "2026-01-01T00:00:00.000Z" },
    ]);
    expect((next.record as RecordedVm).owes).toBeUndefined();
  });
  it("goes into the record that a create brings, and the rest to the others", async () => {
    const own = { address: "vm.web", command: "after_ready", reason: "created" };
    const { recorder, next } = await begin(stepOf("vm.create", "vm.web", [own, due]), [data()]);
    expect((next.record as RecordedVm).owes).toEqual([
      { command: "after_ready", reason: "created", since: "2026-01-01T00:00:00.000Z" },
    ]);
    expect([owesOf(recorder.state, "volume.data")?.length, next.owes?.length]).toEqual([1, 2]);
  });
  it("of what is no create goes to its own record, though it is its own", async () => {
    const own = { address: "vm.web", command: "after_ready", reason: "rebuilt" };
    const { recorder, next } = await begin(stepOf("vm.rebuild", "vm.web", [own]), [web()]);
    expect([owesOf(recorder.state, "vm.web")?.length, (next.record as RecordedVm).owes]).toEqual([1, undefined]);
  });
  it.each<readonly [what: string, before: readonly Debt[] | undefined]>([
    ["nothing was owed before", undefined],
    ["the same was owed before, which it is again", [attached]],
  ])("is taken back where the step is refused, and %s", async (_, before) => {
    const step = stepOf("volume.resize", "volume.data", [due]);
    const { run, recorder } = await begin(step, [data(before === undefined ? {} : { owes: before })]);
    expect(owesOf(recorder.state, "volume.data")).toHaveLength(1);
    await oweNothing(step, run);
    expect(owesOf(recorder.state, "volume.data") ?? []).toEqual(before ?? []);
  });
  it("of a step that owed nothing is not taken back", async () => {
    const { run, recorder } = await loneRun({
      records: [data({ owes: [attached] })],
      more: { debtsBefore: new Map() } as never,
    });
    await oweNothing(stepOf("volume.resize", "volume.data", undefined), run);
    expect(owesOf(recorder.state, "volume.data")).toEqual([attached]);
  });
});

describe("a command that is owed", () => {
  interface Given {
    readonly duty?: "after_ready" | "after_attach";
    readonly records?: readonly RecordedResource[];
    readonly vm?: { readonly id: string } | { readonly address: string };
    readonly shown?: Partial<LiveVm> | "gone" | "refused" | "away";
    readonly answers?: CommandResult;
    readonly noPrograms?: string;
    readonly argv?: readonly string[];
  }
  async function run({
    duty = "after_ready",
    records = [web({ owes: [ready] })],
    vm = { address: "vm.web" },
    shown = {},
    answers = { exitCode: 0, output: "" },
    noPrograms,
    argv = ["mount", "-a"],
  }: Given) {
    const ran: { readonly argv: readonly string[]; readonly values: Record<string, string> }[] = [];
    const address = duty === "after_attach" ? "volume.data" : "vm.web";
    const live = {
      kind: "vm",
      id: "v-1",
      name: "web",
      phase: "running",
      status: "ACTIVE",
      ...(typeof shown === "string" ? {} : shown),
    } as LiveVm;
    const read = async () =>
      (shown === "refused"
        ? { status: "rejected", condition: "forbidden", message: "no" }
        : shown === "away"
          ? { status: "unavailable", reason: "HTTP 503" }
          : shown === "gone"
            ? { status: "rejected", condition: "not_found", message: "no", httpStatus: 404 }
            : accepted(live)) as never;
    const lone = await loneRun({
      records,
      live: notSeen,
      client: {
        getVm: read,
        listVms: async () =>
          typeof shown === "string" ? (shown === "gone" ? accepted([]) : await read()) : accepted([live]),
      },
    });
    Object.assign(lone.run.ports, {
      runCommand: async (
        command: { readonly argv: readonly string[] },
        options: { readonly values: Record<string, string> },
      ) => {
        ran.push({ argv: command.argv, values: options.values });
        return answers;
      },
      ...(noPrograms === undefined ? {} : { noPrograms }),
    });
    const action = {
      operation: duty,
      vm,
      argv,
      timeoutMs: 1000,
      ...(duty === "after_attach" ? { volume: { address } } : {}),
    } as unknown as StepAction;
    const step = { ...stepAt(address, duty), action };
    const result = await performDuty(step as never, action as never, lone.run);
    return { result, ran, owes: owesOf(lone.recorder.state, address) };
  }
  const ends = ({ end, code, message }: { readonly end: string; readonly code?: string; readonly message?: string }) =>
    [end, code, message].filter((one) => one !== undefined).join(" ");

  it("is run with what it is about, and is owed no more", async () => {
    const { result, ran, owes } = await run({
      shown: { floatingIp: "9.9.9.9", privateIp: "10.0.0.5" },
      records: [web({ owes: [ready], dataVolumeId: "d-7", sizeGb: 20 })],
    });
    expect([ends(result), owes ?? []]).toEqual(["done", []]);
    expect(ran).toEqual([
      {
        argv: ["mount", "-a"],
        values: {
          RECONCILE_REASON: "created",
          RECONCILE_ADDRESS: "vm.web",
          RECONCILE_VM_ID: "v-1",
          RECONCILE_VM_IP: "9.9.9.9",
          RECONCILE_VOLUME_ID: "d-7",
          RECONCILE_VOLUME_SIZE: "20",
        },
      },
    ]);
  });
  it("of a volume is run with the volume and its VM", async () => {
    const { result, ran } = await run({
      duty: "after_attach",
      records: [data({ owes: [attached] }), web({ privateIp: "10.0.0.5" })],
    });
    expect(ends(result)).toBe("done");
    expect(ran[0]?.values).toEqual({
      RECONCILE_REASON: "attached",
      RECONCILE_ADDRESS: "volume.data",
      RECONCILE_VM_ID: "v-1",
      RECONCILE_VM_IP: "10.0.0.5",
      RECONCILE_VOLUME_ID: "d-1",
      RECONCILE_VOLUME_SIZE: "5",
    });
  });
  it.each<readonly [what: string, shown: Partial<LiveVm>, record: Partial<RecordedVm>, ip: string | undefined]>([
    [
      "the private one that shows, where no public one does",
      { privateIp: "10.0.0.5" },
      { floatingIp: "9.9.9.9" },
      "10.0.0.5",
    ],
    [
      "the public one that is recorded, where none shows",
      {},
      { floatingIp: "9.9.9.9", privateIp: "10.0.0.5" },
      "9.9.9.9",
    ],
    ["the private one that is recorded, where no other is", {}, { privateIp: "10.0.0.5" }, "10.0.0.5"],
    ["none, where none is known", {}, {}, undefined],
  ])("is told the address of the VM: %s", async (_, shown, record, ip) => {
    const { ran } = await run({ shown, records: [web({ owes: [ready], ...record })] });
    expect([ran[0]?.values["RECONCILE_VM_IP"], Object.hasOwn(ran[0]!.values, "RECONCILE_VOLUME_ID")]).toEqual([
      ip,
      false,
    ]);
  });
  it.each<readonly [what: string, given: Given, end: string, ran: number, owed: number]>([
    ["by nobody any more is not run", { records: [web()] }, "done not run: nothing is owed", 0, 0],
    [
      "to a VM without an id is not run",
      { vm: { address: "vm.later" } },
      "failed apply/no-id vm.later has no id yet",
      0,
      1,
    ],
    [
      "where no program may be started stays owed",
      { noPrograms: "this server" },
      "waiting apply/owed after_ready of vm.web was not run and is still owed: this server starts no program that a file names",
      0,
      1,
    ],
    [
      "to a VM that is stopped stays owed",
      { shown: { phase: "stopped" } },
      "waiting apply/owed after_ready of vm.web was not run and is still owed: VM v-1 is stopped",
      0,
      1,
    ],
    [
      "to a VM that a failed look does not show stays owed",
      { shown: "away" },
      "waiting apply/owed after_ready of vm.web was not run and is still owed: VM v-1 could not be looked at: HTTP 503",
      0,
      1,
    ],
    ["to a VM that may not be looked at is run", { shown: "refused" }, "done", 1, 0],
    [
      "that ends with another number stays owed",
      { answers: { exitCode: 3, output: "no disk" } },
      "failed apply/owed after_ready of vm.web ended with 3 and is still owed: no disk",
      1,
      1,
    ],
    [
      "that ends with another number and says nothing stays owed",
      { answers: { exitCode: 3, output: "" } },
      "failed apply/owed after_ready of vm.web ended with 3 and is still owed",
      1,
      1,
    ],
  ])("%s", async (_, given, end, times, owed) => {
    const { result, ran, owes } = await run(given);
    expect([ends(result as never), ran.length, owes?.length ?? 0]).toEqual([end, times, owed]);
  });
  it("may be tried by hand, each word as a shell reads it", async () => {
    const { result, ran } = await run({
      answers: { exitCode: 1, output: "" },
      argv: ["mount", "-o", "a b", "it's", "two\nlines'", "\t", "/dev/sdb=1%"],
    });
    expect(JSON.stringify((result as { fix?: unknown }).fix)).toContain(
      JSON.stringify(
        " mount -o 'a b' 'it'\\''s' $'two\\nlines\\'' $'\t' /dev/sdb=1%; the next run runs it first",
      ).slice(1, -1),
    );
    const told = Object.entries(ran[0]?.values ?? {}).map(([name, value]) => `${name}=${value}`);
    expect(told.length).toBeGreaterThan(2);
    expect(JSON.stringify((result as { fix?: unknown }).fix)).toContain(
      `in the folder of its file: ${told.join(" ")} mount`,
    );
  });
});

describe("what a flush took away is brought back", () => {
  it.each<readonly [how: string, exitCode: number, ran: number]>([
    ["where the flush failed", 32, 1],
    ["where it could not be started", 127, 1],
    ["not while it may go on in the guest: its time was over", 124, 0],
    ["not while it may go on in the guest: it was ended here by a signal", 128, 0],
    ["not while it may go on in the guest: the connection of ssh broke", 255, 0],
  ])("%s", async (_, exitCode, times) => {
    const shown = accepted({ kind: "vm", id: "v-1", name: "web", phase: "running", status: "ACTIVE" });
    const { run, recorder } = await loneRun({
      records: [web(), data({ owes: [attached] })],
      client: { getVm: async () => shown as never, listVms: async () => accepted([shown.value]) as never },
    });
    const argvs: string[][] = [];
    Object.assign(run.ports, {
      runCommand: async ({ argv }: { readonly argv: string[] }) => {
        argvs.push(argv);
        return { exitCode: argv[0] === "umount" ? exitCode : 0, output: "" };
      },
    });
    const perform = (action: object) =>
      performStep({ ...stepAt("volume.data", "a-command"), action } as unknown as Step, run);
    expect(await perform({ operation: "flush", argv: ["umount"] })).toMatchObject({ code: "apply/flush-failed" });
    const volume = { address: "volume.data" };
    const mounts = { operation: "after_attach", argv: ["mount"], vm: { id: "v-1" }, volume, timeoutMs: 1 };
    const { end } = await perform(mounts);
    expect([end, argvs.slice(1)]).toEqual(times === 0 ? ["waiting", []] : ["done", [["mount"]]]);
    expect(owesOf(recorder.state, "volume.data") ?? []).toHaveLength(1 - times);
  });
});

describe("a run that is stopped at once, with the program that it has started", () => {
  const cut: CommandResult = { exitCode: 127, output: "it was stopped with this command" };
  it.each<readonly [what: string, action: object, message: string]>([
    [
      "asks nobody to repair a flush command",
      { operation: "flush", argv: ["sync"] },
      "nothing was detached, because the flush command did not end",
    ],
    [
      "asks nobody to run by hand what is owed",
      { operation: "after_ready", argv: ["mount"], vm: { id: "v-1" }, timeoutMs: 1 },
      "after_ready of vm.web did not end and is still owed",
    ],
  ])("%s", async (_, action, message) => {
    const shown = accepted({ kind: "vm", id: "v-1", name: "web", phase: "running", status: "ACTIVE" });
    const { run, recorder } = await loneRun({
      records: [web({ owes: [ready] })],
      client: { getVm: async () => shown as never, listVms: async () => accepted([shown.value]) as never },
      more: { signal: AbortSignal.abort() } as never,
    });
    Object.assign(run.ports, { runCommand: async () => cut });
    const step = { ...stepAt("vm.web", "a-command"), action } as unknown as Step;
    expect(await performStep(step, run)).toEqual({
      end: "unknown",
      code: "apply/interrupted",
      message: `${message}: ${cut.output}`,
      fix: "run the same command again: it runs the program anew",
    });
    expect(owesOf(recorder.state, "vm.web")).toEqual([ready]);
  });
});

describe("what a program printed", () => {
  const lines = Array.from({ length: 50 }, (_, n) => `line ${n}`);
  it.each<readonly [what: string, output: string, told: object]>([
    ["nothing", "", { message: "m" }],
    ["one line goes into the message", "no disk", { message: "m: no disk" }],
    ["several lines stand below it", "a\nb", { message: "m", output: ["a", "b"] }],
    ["of many lines, the last forty", lines.join("\n"), { message: "m", output: lines.slice(10) }],
  ])("%s", (_, output, told) => {
    expect(toldBy("m", { exitCode: 1, output })).toEqual(told);
  });
});
