/** What was accepted and what a look shows of it: what is looked for, what counts as shown, and what is remembered. */
import { describe, expect, it } from "vitest";
import { showsEffect, stillUnseen } from "../../reconciler/core/diff/effect";
import type { EffectField, UnseenWrite, WhyUnseen, Written } from "../../reconciler/core/model/effect";
import type { LiveGroup, LiveOf, LiveVm, LiveVolume } from "../../reconciler/core/model/live";
import type { RecordedGroup, RecordedResource } from "../../reconciler/core/model/recorded";
import { closingChanges, type OpenWrite, toLookFor } from "../../reconciler/core/plan/closing";
import { type StepChange, writtenChanges } from "../../reconciler/core/plan/record-patch";
import type { Step, StepOperation } from "../../reconciler/core/plan/step";

const vm: LiveVm = { kind: "vm", id: "v", name: "Web", phase: "running", status: "ACTIVE" };
const volume: LiveVolume = { kind: "volume", id: "d", failed: false, sizeGb: 5, attachedTo: "v" };
const ssh = { id: "r1", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 22, portMax: 22 };
const group: LiveGroup = { kind: "group", id: "g", name: "web", description: "tier", rules: [ssh] };
const sshKey = "ingress IPv4 tcp 22-22 any";

describe("whether a look shows it", () => {
  const without = <T extends object>(one: T, key: keyof T): T => ({ ...one, [key]: undefined });
  it.each<[EffectField, string, LiveOf[keyof LiveOf] | undefined, ReturnType<typeof showsEffect>]>([
    ["existence", "v", vm, "shown"],
    ["existence", "v", undefined, "not-shown"],
    ["absence", "v", vm, "not-shown"],
    ["absence", "v", undefined, "shown"],
    ["name", "web", vm, "shown"],
    ["name", "db", vm, "not-shown"],
    ["name", "web", undefined, "not-shown"],
    ["power", "stopped", vm, "not-shown"],
    ["power", "stopped", { ...vm, phase: "stopped" }, "shown"],
    ["power", "stopped", { ...vm, phase: "changing" }, "not-shown"],
    ["power", "stopped", without(vm, "status"), "hidden"],
    ["name", "data", { ...volume, name: "Data" }, "shown"],
    ["name", "other", { ...volume, name: "Data" }, "not-shown"],
    ["name", "data", volume, "hidden"],
    ["size", "5", volume, "shown"],
    ["size", "6", volume, "not-shown"],
    ["size", "6", without(volume, "sizeGb"), "hidden"],
    ["attach_to", "v", volume, "shown"],
    ["attach_to", "w", volume, "not-shown"],
    ["attach_to", "v", { ...volume, attachedTo: null }, "not-shown"],
    ["attach_to", "v", without(volume, "attachedTo"), "hidden"],
    ["detached", "v", volume, "not-shown"],
    ["detached", "v", { ...volume, attachedTo: null }, "shown"],
    ["name", "web", group, "shown"],
    ["name", "web", without(group, "name"), "hidden"],
    ["description", "tier", group, "shown"],
    ["description", "other", group, "not-shown"],
    ["description", "other", without(group, "description"), "hidden"],
    ["description", "", without(group, "description"), "shown"],
    ["rule", sshKey, group, "shown"],
    ["rule", "ingress IPv4 tcp 80-80 any", group, "not-shown"],
    ["rule", sshKey, without(group, "rules"), "hidden"],
    ["removed rule", "r1", group, "not-shown"],
    ["removed rule", "r2", group, "shown"],
    ["skip_floating_ip", "true", vm, "shown"],
    ["skip_floating_ip", "true", { ...vm, floatingIp: "198.18.0.3" }, "not-shown"],
    ["reboot", "v", vm, "hidden"],
    ["flavor_id", "m1.large", vm, "hidden"],
  ])("%s %s", (field, value, live, shown) => {
    expect(showsEffect({ field, value }, live)).toBe(shown);
  });
});

describe("what a record remembers as unseen", () => {
  const named: UnseenWrite = { field: "name", value: "db", said: "name: db", since: "2026-01-01T00:00:00.000Z" };
  it.each<[string, UnseenWrite, LiveVm | undefined, boolean, boolean]>([
    ["is kept while nobody looks", named, undefined, true, true],
    ["is kept while it does not show and is wanted", named, vm, false, true],
    ["is settled when nobody wants it any more", named, vm, true, false],
    ["is settled when it shows", named, { ...vm, name: "db" }, false, false],
    ["is kept where the record hides it", { ...named, field: "power" }, { ...vm, status: undefined }, true, true],
    [
      "is settled with what the plan compares itself",
      { ...named, field: "flavor_id" },
      { ...vm, flavor: "f" },
      true,
      false,
    ],
    [
      "is kept where no plan compares it",
      { ...named, field: "skip_floating_ip", value: "true" },
      { ...vm, floatingIp: "198.18.0.3" },
      true,
      true,
    ],
    ["is kept where the plan has nothing to compare", { ...named, field: "flavor_id" }, vm, true, true],
  ])("%s", (_, write, live, isAsWished, kept) => {
    expect(stillUnseen([write], live, isAsWished)).toEqual(kept ? [write] : []);
  });
});

const stepOf = (operation: StepOperation, address = "group.web", id: string = operation): Step =>
  ({ id, address, title: operation, action: { operation }, needs: [], holds: [], estimateMs: 0 }) as unknown as Step;
const writeOf = (field: EffectField, value: string, more: Partial<Written<StepChange>> = {}): Written<StepChange> => ({
  ...{ kind: "group", id: "g", field, value, said: `${field}: ${value}` },
  ...more,
});
const forgets: StepChange[] = [{ type: "forgotten", address: "group.web" }];

describe("what a run has to look for at its end", () => {
  const update = stepOf("group.update");
  it.each<[string, Parameters<typeof toLookFor>[0], string[], string[]]>([
    ["every accepted write", [{ step: update, writes: [writeOf("name", "a"), writeOf("rule", "k")] }], [], ["a", "k"]],
    ["nothing that was seen", [{ step: update, writes: [] }], [], []],
    [
      "only the last name of a resource",
      [
        { step: update, writes: [writeOf("name", "aside")] },
        { step: stepOf("group.update", "group.web", "second"), writes: [writeOf("name", "b")] },
      ],
      [],
      ["b"],
    ],
    [
      "each rule by itself",
      [{ step: update, writes: [writeOf("rule", "k"), writeOf("rule", "l"), writeOf("removed rule", "r")] }],
      [],
      ["k", "l", "r"],
    ],
    ["nothing of what the run deleted", [{ step: update, writes: [writeOf("name", "a")] }], ["group:g"], []],
    ["but that it is gone", [{ step: update, writes: [writeOf("absence", "g")] }], ["group:g"], ["g"]],
    [
      "no volume that was seen at its attach",
      [
        { step: stepOf("volume.create", "volume.d"), writes: [writeOf("existence", "d", { kind: "volume", id: "d" })] },
        { step: stepOf("volume.attach", "volume.d"), writes: [] },
      ],
      [],
      [],
    ],
    [
      "a volume whose attach was not seen either",
      [
        { step: stepOf("volume.create", "volume.d"), writes: [writeOf("existence", "d", { kind: "volume", id: "d" })] },
        { step: stepOf("volume.attach", "volume.d"), writes: [writeOf("attach_to", "v", { kind: "volume", id: "d" })] },
      ],
      [],
      ["d", "v"],
    ],
    [
      "only the last place of a volume",
      [
        { step: stepOf("volume.detach", "volume.d"), writes: [writeOf("detached", "v", { kind: "volume", id: "d" })] },
        { step: stepOf("volume.attach", "volume.d"), writes: [writeOf("attach_to", "w", { kind: "volume", id: "d" })] },
      ],
      [],
      ["w"],
    ],
  ])("%s", (_, ended, deleted, values) => {
    expect(toLookFor(ended, new Set(deleted)).map(({ value }) => value)).toEqual(values);
  });

  it.each([
    ...(["vm.start", "vm.reboot", "vm.rebuild", "vm.resize", "vm.resize.confirm", "vm.resize.revert"] as const).map(
      (operation) => [operation, []] as const,
    ),
    ["vm.snapshot", ["stopped"]] as const,
  ])("of a stop before %s: %j", (operation, values) => {
    const stop = { step: stepOf("vm.stop", "vm.web"), writes: [writeOf("power", "stopped", { kind: "vm", id: "v" })] };
    const ended = [stop, { step: stepOf(operation, "vm.web"), writes: [] }];
    expect(toLookFor(ended, new Set()).map(({ value }) => value)).toEqual(values);
  });

  it("what the answer to a create showed, and a later step was shown otherwise", () => {
    const ofVolume = { kind: "volume", id: "d" } as const;
    const echoed = { ofCreate: true, answered: true } as const;
    const ended = [
      {
        step: stepOf("volume.create", "volume.d"),
        writes: [
          writeOf("existence", "d", ofVolume),
          { ...writeOf("name", "data", ofVolume), ...echoed },
          { ...writeOf("size", "5", ofVolume), ...echoed },
        ],
      },
      { step: stepOf("volume.attach", "volume.d"), writes: [] },
    ];
    const left = (shown?: LiveVolume) =>
      toLookFor(ended, new Set(), new Map(shown === undefined ? [] : [["volume:d", shown]])).map(({ field }) => field);
    expect(left()).toEqual(["name", "size"]);
    expect(left({ ...volume, name: "data" })).toEqual([]);
    expect(left({ ...volume, name: "other" })).toEqual(["name"]);
    expect(left({ ...volume, name: "data", sizeGb: 1 })).toEqual(["size"]);
  });

  it("asks of each write once whether a later step of its address overtakes it, however many others there are", () => {
    const readsOf = (count: number): number => {
      let reads = 0;
      const ended = Array.from({ length: count }, (_, nth) => {
        const step = Object.defineProperty({ ...stepOf("volume.create", "volume.d") }, "address", {
          get: () => {
            reads++;
            return `volume.d${nth}`;
          },
        });
        return { step, writes: [writeOf("existence", `v${nth}`, { kind: "volume", id: `v${nth}` })] };
      });
      expect(toLookFor(ended, new Set())).toHaveLength(count);
      return reads;
    };
    expect(readsOf(80)).toBe(4 * readsOf(20));
  });

  it("puts a name back that was there before the first of two", () => {
    const former = (name: string): StepChange[] => [{ type: "patch", address: "group.web", fields: { name } }];
    const open = toLookFor(
      [
        { step: update, writes: [writeOf("name", "aside", { ifNot: former("a") })] },
        { step: update, writes: [writeOf("name", "b", { ifNot: former("aside") })] },
      ],
      new Set(),
    );
    expect(open.map(({ ifNot }) => ifNot)).toEqual([former("a")]);
  });
});

describe("what the closing look writes down", () => {
  const record: RecordedGroup = {
    ...{
      kind: "group",
      address: "group.web",
      id: "g",
      name: "web",
      rules: [],
      platformRules: [],
      preventDestroy: false,
    },
  };
  const at = "2026-01-02T00:00:00.000Z";
  const leftBy = (write: Written<StepChange>, why: WhyUnseen | undefined, before: RecordedResource = record) => {
    const one: OpenWrite = { ...write, step: stepOf("group.update") };
    const present = new Map([["group.web", before]]);
    const changes = closingChanges([one], new Map(why === undefined ? [] : [[one, why]]), { resources: present }, at);
    return writtenChanges(changes, present).map((change) => (change.type === "resource" ? change.record : change));
  };
  const notShown: WhyUnseen = { unseen: "not-shown", where: "the list" };
  const blind: WhyUnseen = { unseen: "nobody-can-look", because: "no list" };
  const mark: UnseenWrite = { field: "name", value: "b", said: "name: b", since: at };

  it("nothing for what shows and was recorded", () => expect(leftBy(writeOf("name", "b"), undefined)).toEqual([]));
  it("what waited for the look, once it shows", () =>
    expect(leftBy(writeOf("removed rule", "r", { ifShown: forgets }), undefined)).toEqual([null]));
  it("not before it shows: it is remembered, and where it was looked for", () =>
    expect(leftBy(writeOf("name", "b", { ifShown: forgets }), notShown)).toEqual([
      { ...record, unseen: [{ ...mark, looked: "the list" }] },
    ]));
  it("what is taken back, where it does not show", () =>
    expect(leftBy(writeOf("name", "b", { ifNot: forgets }), notShown)[0]).toBe(null));
  it("what nobody can look at is taken for true, and remembered as that", () =>
    expect(leftBy(writeOf("name", "b", { ifNot: forgets }), blind)).toEqual([{ ...record, unseen: [mark] }]));
  it("one mark for a field, and none once it shows", () => {
    const marked = { ...record, unseen: [{ ...mark, value: "a", looked: "the list" }] };
    expect(leftBy(writeOf("name", "b"), notShown, marked)).toEqual([
      { ...record, unseen: [{ ...mark, looked: "the list" }] },
    ]);
    expect(leftBy(writeOf("name", "b"), undefined, marked)).toEqual([record]);
  });
  it("nothing where the run was stopped before it looked", () =>
    expect(leftBy(writeOf("name", "b", { ifNot: forgets }), { unseen: "not-looked", because: "stopped" })).toEqual([]));
  it("nothing in the record of another resource that has the address by now", () =>
    expect(leftBy(writeOf("name", "b", { id: "old" }), notShown)).toEqual([]));
  it("no act that leaves nothing to look at", () => expect(leftBy(writeOf("reboot", "g"), blind)).toEqual([]));
});
