/** What is known of a value that only the service knows, and what a plan makes of the outputs, as tables. */
import { describe, expect, it } from "vitest";
import type { Standing } from "../../reconciler/core/diff/standing";
import type { Attribute } from "../../reconciler/core/model/computed";
import type { DesiredOutput, Shaped } from "../../reconciler/core/model/output";
import { outputsNow, planOutputs } from "../../reconciler/core/plan/outputs";
import { emptyState } from "../../reconciler/core/state/fold";
import { group, idOf, planFor, rule, vm, volume, type World } from "../support/sample-plans";

const source = { file: "reconcile.yaml", line: 1 };
const of = (address: string, attribute: Attribute): Shaped => ({
  is: "text",
  text: { parts: [{ address, attribute }] },
});
const output = (value: Shaped, more: Partial<DesiredOutput> = {}): DesiredOutput => ({
  name: "it",
  value,
  source,
  ...more,
});

const web = vm("web");
const data = volume("data");
const seen = { privateIp: "10.0.0.7", floatingIp: "203.0.113.7" };
const remembered = { privateIp: "10.0.0.6", floatingIp: "203.0.113.6" };

/** What the plan says of `${address.attribute}`: the value; `open: when`; `missing: why`; or `left out`. */
function standing(world: World, address: string, attribute: Attribute): string {
  const plan = planFor({ ...world, outputs: [output(of(address, attribute))] });
  const refused = plan.diagnostics.find(({ code }) => code === "plan/value-not-shown");
  if (refused !== undefined) return `missing: ${refused.summary.split("has no value: ")[1]}`;
  const [planned] = plan.outputs ?? [];
  if (planned?.after === undefined) return "left out";
  return planned.known ? String(planned.after) : `open: ${/\(known once (.*)\)/.exec(String(planned.after))?.[1]}`;
}

describe("a value that only the service knows", () => {
  it("of a VM at which nobody looked, is had with another look", () => {
    const outputs = [output(of("vm.web", "private_ip"))];
    const applied = [{ ...web, sighted: "unseen" as const }];
    const { diagnostics } = planFor({ applied, desired: [web], outputs, missing: ["vm.list"] });
    expect(diagnostics.find(({ code }) => code === "plan/value-not-shown")?.fix).toBe("plan without --no-refresh");
  });

  it.each<[what: string, world: World, address: string, attribute: Attribute, says: string]>([
    ["the id of what is there", { applied: [web], desired: [web] }, "vm.web", "id", idOf("vm.web")],
    ["the id of what goes, as an undo may ask for it", { applied: [web], desired: [data] }, "vm.web", "id", "left out"],
    [
      "an address of what is let go",
      { applied: [{ ...web, now: seen }], desired: [data], removed: [{ from: "vm.web", destroy: false, source }] },
      "vm.web",
      "private_ip",
      "left out",
    ],
    ["the id of what is made", { desired: [web] }, "vm.web", "id", "open: vm.web is created"],
    [
      "the id of what is made again: never the one before",
      { applied: [web], desired: [vm("web", { region: "in-south-2" })] },
      "vm.web",
      "id",
      "open: vm.web is created",
    ],
    [
      "an address of what is made again: never the one before",
      { applied: [{ ...web, now: seen, memory: remembered }], desired: [vm("web", { region: "in-south-2" })] },
      "vm.web",
      "floating_ip",
      "open: vm.web is created",
    ],
    [
      "an address that is shown",
      { applied: [{ ...web, now: seen }], desired: [web] },
      "vm.web",
      "private_ip",
      "10.0.0.7",
    ],
    [
      "an address that is shown, not the one that is remembered",
      { applied: [{ ...web, now: seen, memory: remembered }], desired: [web] },
      "vm.web",
      "private_ip",
      "10.0.0.7",
    ],
    [
      "an address that is remembered, of a VM that is stopped and hides it",
      { applied: [{ ...web, now: { phase: "stopped", status: "SHUTOFF" }, memory: remembered }], desired: [web] },
      "vm.web",
      "private_ip",
      "10.0.0.6",
    ],
    [
      "an address that a running VM shows no more: an old address would be a lie",
      { applied: [{ ...web, memory: remembered }], desired: [web] },
      "vm.web",
      "private_ip",
      `missing: the service's record of vm.web (${idOf("vm.web")}) shows no private_ip`,
    ],
    [
      "an address that comes late, of a VM that was only just built",
      { applied: [{ ...web, memory: { building: true } }], desired: [web] },
      "vm.web",
      "floating_ip",
      "open: vm.web shows it",
    ],
    [
      "an address of a VM that still changes",
      { applied: [{ ...web, now: { phase: "changing", status: "BUILD" } }], desired: [web] },
      "vm.web",
      "private_ip",
      "open: vm.web shows it",
    ],
    [
      "what is no address where the address should be",
      { applied: [{ ...web, now: { notAddresses: [{ field: "private_ip", found: "pending" }] } }], desired: [web] },
      "vm.web",
      "private_ip",
      `missing: the service's record of vm.web (${idOf("vm.web")}) shows "pending" where its private_ip should be, which is no IP address`,
    ],
    [
      "a floating IP of a VM that has none",
      { applied: [{ ...web, skipFloatingIp: true }], desired: [vm("web", { skipFloatingIp: true })] },
      "vm.web",
      "floating_ip",
      "missing: vm.web has no floating IP: its skip_floating_ip is true",
    ],
    [
      "a floating IP of a VM that was only just built without one",
      {
        applied: [{ ...web, skipFloatingIp: true, memory: { building: true } }],
        desired: [vm("web", { skipFloatingIp: true })],
      },
      "vm.web",
      "floating_ip",
      "missing: vm.web has no floating IP: its skip_floating_ip is true",
    ],
    [
      "a floating IP of a VM that is made without one",
      { desired: [vm("web", { skipFloatingIp: true })] },
      "vm.web",
      "floating_ip",
      "missing: vm.web has no floating IP: its skip_floating_ip is true",
    ],
    [
      "anything of a VM that is made where VMs are not listed",
      { desired: [web], missing: ["vm.list"] },
      "vm.web",
      "id",
      "missing: this service has no list of VMs, so nothing tells the id of a new one",
    ],
    [
      "a floating IP that its VM may have and no record shows",
      { applied: [web], desired: [web] },
      "vm.web",
      "floating_ip",
      `missing: the service's record of vm.web (${idOf("vm.web")}) shows no floating_ip`,
    ],
    [
      "a private address that no record shows, of a VM without a floating one",
      { applied: [{ ...web, skipFloatingIp: true }], desired: [vm("web", { skipFloatingIp: true })] },
      "vm.web",
      "private_ip",
      `missing: the service's record of vm.web (${idOf("vm.web")}) shows no private_ip`,
    ],
    [
      "the name that is declared, before the rename",
      { applied: [web], desired: [vm("web", { name: "front" })] },
      "vm.web",
      "name",
      "front",
    ],
    [
      "the name that is shown, where the file's is ignored",
      {
        applied: [{ ...web, now: { name: "theirs" } }],
        desired: [vm("web", { lifecycle: { ...web.lifecycle, ignoreChanges: ["name"] } })],
      },
      "vm.web",
      "name",
      "theirs",
    ],
    [
      "the size that is declared",
      { applied: [data], desired: [volume("data", { sizeGb: 200 })] },
      "volume.data",
      "size",
      "200",
    ],
    [
      "the size that is shown, where the file's is ignored",
      {
        applied: [{ ...data, now: { sizeGb: 120 } }],
        desired: [volume("data", { sizeGb: 200, lifecycle: { preventDestroy: false, ignoreChanges: ["size"] } })],
      },
      "volume.data",
      "size",
      "120",
    ],
    [
      "the id of a group",
      { applied: [group("front")], desired: [group("front")] },
      "group.front",
      "id",
      idOf("group.front"),
    ],
    [
      "anything of what is not there and is left out",
      { desired: [web, data], options: { targets: ["volume.data"] } },
      "vm.web",
      "id",
      "left out",
    ],
  ])("%s", (_, world, address, attribute, says) => {
    expect(standing(world, address, attribute)).toBe(says);
  });

  it("says which prefix fits where the one of a rule is too long for the address", () => {
    const text = { parts: [{ address: "vm.web", attribute: "private_ip" } as const, "/64"] };
    const front = group("front", { rules: [rule(22, { remote: { kind: "computed", text } })] });
    const { diagnostics } = planFor({ applied: [{ ...web, now: seen }], desired: [web, front] });
    expect(diagnostics.find(({ code }) => code === "plan/value-not-shown")?.fix).toBe(
      "write a prefix from 0 to 32; 10.0.0.7/32 is this address alone",
    );
  });

  it("nothing more is said about what cannot be planned at all", () => {
    const plan = planFor({
      desired: [web],
      strangers: [{ kind: "vm", id: "x", name: "web", phase: "running" }],
      outputs: [output(of("vm.web", "id"))],
    });
    expect(plan.diagnostics.map(({ code }) => code)).not.toContain("plan/value-not-shown");
    expect(plan.diagnostics.some(({ severity }) => severity === "error")).toBe(true);
  });
});

describe("an output", () => {
  const text = (value: string): Shaped => ({ is: "text", text: value });
  const open = of("vm.web", "id");
  const planned = (
    wanted: readonly DesiredOutput[] | undefined,
    before: Parameters<typeof outputsOf>[0],
    is: Standing,
  ) => {
    const { outputs = [], diagnostics } = planOutputs(
      wanted,
      { ...emptyState("0123456789abcdef"), ...outputsOf(before) },
      () => is,
    );
    return { outputs, said: diagnostics.map(({ code }) => code) };
  };
  const outputsOf = (before: string | undefined) =>
    before === undefined ? {} : { outputs: { it: { value: before } } };
  const known: Standing = { is: "known", text: "x" };
  const later: Standing = { is: "open", computed: { address: "vm.web", attribute: "id" } };
  const missing: Standing = { is: "missing", why: "nobody knows" };

  it.each<
    [
      what: string,
      wanted: Shaped | undefined,
      before: string | undefined,
      is: Standing,
      becomes: object,
      said?: string[],
    ]
  >([
    ["new", text("a"), undefined, known, { after: "a", known: true, changes: true }],
    ["the same as before", text("a"), "a", known, { before: "a", after: "a", known: true, changes: false }],
    ["another than before", text("b"), "a", known, { before: "a", after: "b", known: true, changes: true }],
    ["taken away", undefined, "a", known, { before: "a", known: true, changes: true }],
    ["of a value that is known", open, "x", known, { before: "x", after: "x", known: true, changes: false }],
    [
      "of a value that is still open: it may change",
      open,
      "x",
      later,
      { before: "x", after: "vm.web.id (known once vm.web is created)", known: false, changes: true },
    ],
    [
      "of a value that is still open, however it reads: it may change",
      open,
      "vm.web.id (known once vm.web is created)",
      later,
      { known: false, changes: true },
    ],
    [
      "of a value that nobody will ever tell",
      open,
      undefined,
      missing,
      { known: false, changes: true },
      ["plan/value-not-shown"],
    ],
    [
      "of what the plan leaves out: it is taken away, and was there",
      open,
      "x",
      { ...missing, leftOut: true },
      { before: "x", known: true, changes: true },
    ],
    [
      "of what the plan leaves out, and was not there either",
      open,
      undefined,
      { ...missing, leftOut: true },
      { known: true, changes: false },
    ],
    [
      "of what something else is said about already",
      open,
      undefined,
      { ...missing, quiet: true },
      { known: true, changes: false },
    ],
  ])("%s", (_, wanted, before, is, becomes, said = []) => {
    const result = planned(wanted === undefined ? undefined : [output(wanted)], before, is);
    expect(result.outputs).toEqual([expect.objectContaining({ name: "it", ...becomes })]);
    expect(result.outputs[0]?.before).toBe(before);
    expect(result.said).toEqual(said);
  });

  it("becoming sensitive is a change, and what was sensitive is so until it is gone", () => {
    const state = (sensitive: boolean) => ({
      ...emptyState("0123456789abcdef"),
      outputs: { it: { value: "a", ...(sensitive ? { sensitive: true as const } : {}) } },
    });
    const secret = [output(text("a"), { sensitive: true })];
    expect(planOutputs(secret, state(false), () => known).outputs).toMatchObject([{ changes: true, sensitive: true }]);
    expect(planOutputs(secret, state(true), () => known).outputs).toMatchObject([{ changes: false, sensitive: true }]);
    expect(planOutputs([], state(true), () => known).outputs).toMatchObject([{ changes: true, sensitive: true }]);
  });

  it("there are none, where there were none and none is wanted", () => {
    expect(planOutputs(undefined, emptyState("0123456789abcdef"), () => known)).toEqual({ diagnostics: [] });
  });

  // A size alone is a number; in a text it is a part of the text.
  const sized = (before: string, after: string): Shaped => {
    const parts = [before, { address: "volume.data", attribute: "size" } as const, after];
    return { is: "text", text: { parts: parts.filter((part) => part !== "") } };
  };
  it("as the records have it by now: one of which something is missing is none", () => {
    const wanted = [
      output(of("volume.data", "size"), { name: "size" }),
      output(of("vm.web", "private_ip"), { name: "ip" }),
      output(text("a"), { name: "a" }),
      output(sized("", "00"), { name: "after" }),
      output(sized("0", ""), { name: "before" }),
    ];
    const resources = new Map([
      [
        "volume.data",
        {
          kind: "volume",
          address: "volume.data",
          id: "d",
          name: "data",
          sizeGb: 7,
          flush: { via: "ask" },
          preventDestroy: false,
        } as const,
      ],
    ]);
    expect(outputsNow(wanted, resources)).toEqual({
      ...{ size: { value: 7 }, a: { value: "a" } },
      ...{ after: { value: "700" }, before: { value: "07" } },
    });
  });
});
