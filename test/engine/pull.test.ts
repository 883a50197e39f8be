/** What `pull` reads, by what it was asked for and what the service can list. */
import { describe, expect, it } from "vitest";
import { accepted } from "../../reconciler/core/model/outcome";
import { type PullWanted, pullWorld } from "../../reconciler/engine/pull";
import type { ServiceReader } from "../../reconciler/service/client";
import { projectOf } from "../support/bench-world";
import { type Capabilities, virtualWorld } from "../support/virtual-world";

const standing = projectOf({
  vms: { web: { name: "front" }, db: { name: "store" } },
  volumes: { data: { size: 5, attach_to: "web" }, spare: { size: 6 } },
  groups: { all: { rules: [{ protocol: "tcp", dst_port: 80 }] }, rest: {} },
});
const lists: Capabilities = { with: ["vm.get", "volume.list", "group.list", "group.get"] };
const reads: Capabilities = { with: ["vm.get", "group.get"], without: ["vm.list"] };

async function world(given: Capabilities) {
  const stage = virtualWorld({ ...given, without: [] }, () => true, { secondMs: 0 });
  await stage.apply(await stage.plan(standing));
  stage.setCapabilities(given);
  const { vms, volumes, groups } = stage.emulated.dump();
  const named = new Map([...vms, ...volumes, ...groups].map(({ id, name }) => [name, id]));
  const idOf = (name: string): string => named.get(name) ?? name;
  const called = new Map([...named].map(([name, id]) => [id, name]));
  return { stage, idOf, nameOf: (id: string): string => called.get(id) ?? id };
}

/** `vms volumes groups; codes`, by their names. */
async function pulled(given: Capabilities, wanted: PullWanted): Promise<string> {
  const { stage, idOf, nameOf } = await world(given);
  const asked = Object.fromEntries(
    Object.entries(wanted).map(([section, which]) => [section, which === "all" ? which : which.map(idOf)]),
  );
  const { vms, volumes, groups, unseen, diagnostics } = await pullWorld(stage.client, asked);
  const names = (ids: readonly string[]): string => ids.map(nameOf).sort().join(" ") || "-";
  return [
    names(vms.map(({ vm }) => vm.id)),
    names(volumes.map(({ id }) => id)),
    names(groups.map(({ id }) => id).filter((id) => nameOf(id) !== id)),
    [...diagnostics.map(({ code }) => code), ...unseen.map((line) => line.split(":")[0])].join(" ") || "-",
  ].join(" | ");
}

describe("where everything can be listed", () => {
  it.each<[string, PullWanted, string]>([
    ["nothing is asked for", {}, "- | - | - | -"],
    ["everything", { vms: "all", volumes: "all", groups: "all" }, "front store | data spare | all rest | -"],
    ["all VMs, with what hangs on them", { vms: "all" }, "front store | data | - | -"],
    ["a VM by its id", { vms: ["front"] }, "front | data | - | -"],
    ["a VM by its name, in other letters", { vms: ["STORE"] }, "store | - | - | -"],
    ["a VM twice", { vms: ["front", "FRONT"] }, "front | data | - | -"],
    ["a VM that is not there", { vms: ["gone"] }, "- | - | - | pull/not-found"],
    ["a volume by its id", { volumes: ["spare"] }, "- | spare | - | -"],
    ["a volume that hangs on a VM, and the VM", { vms: ["front"], volumes: ["data"] }, "front | data | - | -"],
    ["a group by its id", { groups: ["rest"] }, "- | - | rest | -"],
    ["all groups", { groups: "all" }, "- | - | all rest | -"],
  ])("%s", async (_, wanted, told) => {
    expect(await pulled(lists, wanted)).toBe(told);
  });
});

describe("where only what is known can be read", () => {
  it.each<[string, PullWanted, string]>([
    ["all VMs", { vms: "all" }, "- | - | - | pull/vms-unlisted VMs"],
    ["a VM by its id", { vms: ["store"] }, "store | - | - | -"],
    ["all volumes", { volumes: "all" }, "- | - | - | volumes that hang on no VM"],
    ["a volume by its id", { volumes: ["spare"] }, "- | spare | - | -"],
    ["all groups", { groups: "all" }, "- | - | - | security groups"],
    ["a group by its id", { groups: ["all"] }, "- | - | all | -"],
    ["a group that is not there", { groups: ["57a17000-0000-4000-8000-000000000001"] }, "- | - | - | pull/not-found"],
  ])("%s", async (_, wanted, told) => {
    expect(await pulled(reads, wanted)).toBe(told);
  });
});

/** What a client tells the first so many times, in place of what it is told. */
const saysFirst = (client: ServiceReader, call: "listVms" | "listVolumes" | "listGroups" | "listRules", times = 1) => {
  let left = times;
  const answer = (...args: [never]) => (left-- > 0 ? Promise.resolve(accepted([])) : client[call](...args));
  return Object.create(client, { [call]: { value: answer } }) as ServiceReader;
};

describe("one answer that shows nothing, of a service that has it all", () => {
  const all: PullWanted = { vms: "all", volumes: "all", groups: "all" };
  it.each(["listVms", "listVolumes", "listGroups", "listRules"] as const)("%s is asked for again", async (call) => {
    const { stage } = await world(lists);
    const { diagnostics: _, ...whole } = await pullWorld(stage.client, all);
    expect(await pullWorld(saysFirst(stage.client, call), all)).toMatchObject(whole);
  });
  it("VMs on which volumes hang are named where no list shows them", async () => {
    const { stage, idOf } = await world(lists);
    const { unseen } = await pullWorld(saysFirst(stage.client, "listVms", 2), all);
    const line = (name: string) => `VM ${idOf(name)}, on which volumes hang, and which the list of VMs does not show`;
    expect([...unseen].sort()).toEqual([line("front"), line("store")].sort());
  });
});

it("a disk of a VM that is asked for by itself stands in the VM's block", async () => {
  const { stage, idOf } = await world(lists);
  const { vms } = await pullWorld(stage.client, { vms: [idOf("front")] });
  const [front] = vms;
  const disk = front?.disks.told === true ? front.disks.data?.id : undefined;
  expect(disk).toBeDefined();
  const { volumes, diagnostics } = await pullWorld(stage.client, { vms: [idOf("front")], volumes: [disk ?? ""] });
  expect(volumes.map(({ id }) => id)).toEqual([idOf("data")]);
  expect(diagnostics.map(({ code }) => code)).toEqual(["pull/disk-of-vm"]);
});

it.each([
  ["named by its VM alone", {}, []],
  ["asked for by itself", { volumes: ["root"] }, ["pull/not-found"]],
])("a root disk that is no volume of its own, %s", async (_, wanted, codes) => {
  const { stage, idOf } = await world(lists);
  const client = {
    ...stage.client,
    async listVms() {
      const listed = await stage.client.listVms();
      if (listed.status !== "accepted") return listed;
      return { ...listed, value: listed.value.map((vm) => ({ ...vm, volumes: [{ id: "root", root: true }] })) };
    },
  };
  const { vms, diagnostics } = await pullWorld(client, { vms: [idOf("store")], ...wanted });
  expect(vms.map(({ disks }) => disks)).toEqual([{ told: true, root: undefined, data: undefined }]);
  expect(diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code)).toEqual(codes);
});

it.each([
  ["do not tell which disk is which", ({ id }: { id: string }) => ({ id })],
  ["do not show their disks", () => undefined],
])("where VMs %s, the list of volumes brings no disk of theirs, and one that is named is taken", async (_, shown) => {
  const { stage, nameOf, idOf } = await world(lists);
  const client = {
    ...stage.client,
    async listVms() {
      const listed = await stage.client.listVms();
      if (listed.status !== "accepted") return listed;
      return {
        ...listed,
        value: listed.value.map(({ volumes, ...vm }) => {
          const disks = volumes?.flatMap((disk) => shown(disk) ?? []);
          return disks === undefined || disks.length === 0 ? vm : { ...vm, volumes: disks };
        }),
      };
    },
  };
  const taken = async (volumes: PullWanted["volumes"]): Promise<string[]> =>
    (await pullWorld(client, { vms: "all", volumes: volumes ?? [] })).volumes.map(({ id }) => nameOf(id));
  expect(await taken("all")).toEqual(["spare"]);
  expect(await taken([idOf("data")])).toEqual(["data"]);
});

it("several of one name are told, and none of them is taken", async () => {
  const { stage, idOf } = await world(lists);
  const client = {
    ...stage.client,
    async listVms() {
      const listed = await stage.client.listVms();
      return listed.status !== "accepted"
        ? listed
        : { ...listed, value: listed.value.map((vm) => ({ ...vm, name: "same" })) };
    },
  };
  const { vms, diagnostics } = await pullWorld(client, { vms: ["same"] });
  expect([vms, diagnostics.map(({ code }) => code)]).toEqual([[], ["pull/several"]]);
  const one = await pullWorld(client, { vms: [idOf("front")] });
  expect(one.vms.map(({ vm }) => vm.id)).toEqual([idOf("front")]);
});
