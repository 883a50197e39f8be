/** What the service shows that is not as the state has it (engine/drift.ts). */
import { describe, expect, it } from "vitest";
import { findDrift } from "../../reconciler/engine/drift";
import { projectOf } from "../support/bench-world";
import { type VirtualWorld, virtualWorld } from "../support/virtual-world";

const rule = (port: number, remote = "10.0.0.0/8") => ({ protocol: "tcp", dst_port: port, remote_ip: remote });
const file = {
  vms: { web: {} },
  volumes: { data: { size: 5 } },
  groups: {
    front: { rules: [rule(22)] },
    back: { rules: [{ protocol: "tcp", dst_port: 5432, remote_group: "front" }] },
  },
};

interface Stage extends VirtualWorld {
  id(address: string): string;
}

async function applied(
  given: Parameters<typeof virtualWorld>[0] = { with: ["volume.list", "group.list"] },
): Promise<Stage> {
  const stage = virtualWorld(given);
  await stage.apply(await stage.plan(projectOf(file)));
  const { resources } = await stage.state();
  return { ...stage, id: (address) => resources.get(address)!.id! };
}

const added = (
  port: number,
  remoteIp: string,
  ethertype: "IPv4" | "IPv6" = "IPv4",
  direction: "ingress" | "egress" = "ingress",
) => ({ direction, ethertype, protocol: "tcp", portMin: port, portMax: port, remoteIp });

describe("drift is", () => {
  it.each<readonly [what: string, changes: (stage: Stage) => Promise<unknown>, drifts: readonly string[]]>([
    ["nothing", async () => undefined, []],
    ["another name", ({ client, id }) => client.renameVm(id("vm.web"), "other"), ["vm.web: name web > other"]],
    [
      "a resize that others began, also before it is decided",
      async ({ client, clock, id }) => {
        await client.resizeVm(id("vm.web"), "m1.large");
        await clock.sleep(60_000);
      },
      ["vm.web: flavor_id m1.small > m1.large"],
    ],
    ["another size", ({ client, id }) => client.resizeVolume(id("volume.data"), 9), ["volume.data: size 5 > 9"]],
    [
      "what is gone, without its fields",
      ({ client, id }) => client.deleteVolume(id("volume.data")),
      ["volume.data: gone"],
    ],
    [
      "a volume that came off, whose VM is told by its address",
      async (stage) => {
        const attached = { ...file, volumes: { data: { size: 5, attach_to: "web" } } };
        await stage.apply(await stage.plan(projectOf(attached)));
        await stage.client.detachVolume(stage.id("volume.data"), stage.id("vm.web"), true);
      },
      ["volume.data: attach_to vm.web > null"],
    ],
    [
      "a rule that was added",
      ({ client, id }) => client.createRule(id("group.front"), added(80, "10.0.0.0/8")),
      ["group.front: rules null > ingress tcp 80 from 10.0.0.0/8"],
    ],
    [
      "a rule that lets everybody in",
      ({ client, id }) => client.createRule(id("group.front"), added(80, "0.0.0.0/0")),
      ["group.front: rules null > ingress tcp 80 from anywhere (IPv4), which opens it to all"],
    ],
    [
      "a rule that lets everybody in over IPv6",
      ({ client, id }) => client.createRule(id("group.front"), added(80, "::/0", "IPv6")),
      ["group.front: rules null > ingress tcp 80 from anywhere (IPv6), which opens it to all"],
    ],
    [
      "a rule that lets half of everybody in",
      ({ client, id }) => client.createRule(id("group.front"), added(80, "128.0.0.0/1")),
      ["group.front: rules null > ingress tcp 80 from 128.0.0.0/1, which opens it to all"],
    ],
    [
      "a rule for all that is given out of IPv6",
      ({ client, id }) => client.createRule(id("group.front"), added(80, "2000::/3", "IPv6")),
      ["group.front: rules null > ingress tcp 80 from 2000::/3, which opens it to all"],
    ],
    [
      "a rule for private addresses, however many",
      ({ client, id }) => client.createRule(id("group.front"), added(80, "fc00::/7", "IPv6")),
      ["group.front: rules null > ingress tcp 80 from fc00::/7"],
    ],
    [
      "a rule that lets everything out, which lets nobody in",
      ({ client, id }) => client.createRule(id("group.front"), added(80, "0.0.0.0/0", "IPv4", "egress")),
      ["group.front: rules null > egress tcp 80 to anywhere (IPv4)"],
    ],
    [
      "a rule that is gone",
      async ({ client, id }) => {
        const listed = await client.listRules(id("group.front"));
        const ssh = listed.status === "accepted" ? listed.value.find(({ portMin }) => portMin === 22) : undefined;
        return client.deleteRule(id("group.front"), ssh!.id);
      },
      ["group.front: rules ingress tcp 22 from 10.0.0.0/8 > null"],
    ],
    [
      "told in the order of addresses",
      async ({ client, id }) => {
        await client.resizeVolume(id("volume.data"), 9);
        await client.renameVm(id("vm.web"), "other");
      },
      ["vm.web: name web > other", "volume.data: size 5 > 9"],
    ],
  ])("%s", async (_, changes, drifts) => {
    const stage = await applied({ with: ["volume.list", "group.list", "group.rule.delete"] });
    await changes(stage);
    const report = await findDrift(stage.client, await stage.state());
    expect(
      report.drifts.map(
        ({ address, gone, fields }) =>
          `${address}: ${gone ? "gone" : fields.map(({ field, before, after, opens }) => `${field} ${before} > ${after}${opens === true ? ", which opens it to all" : ""}`).join("; ")}`,
      ),
    ).toEqual(drifts);
    expect([report.compared, report.recorded, report.seen.plan.changes, report.seen.plan.steps]).toEqual([
      4,
      4,
      [],
      [],
    ]);
  });

  it.each<readonly [how: string, group: object]>([
    ["is additive", { rules_mode: "additive" }],
    ["keeps what cannot be deleted", { lifecycle: { on_rule_removal: "keep" } }],
    ["ignores its rules", { lifecycle: { ignore_changes: ["rules"] } }],
  ])("somebody's rule in a group that %s, until a run has seen and left it", async (_, group) => {
    const stage = virtualWorld({ with: ["group.list"] });
    const desired = projectOf({ groups: { front: { rules: [rule(22)], ...group } } });
    const apply = async () => stage.apply(await stage.plan(desired));
    await apply();
    const drifts = async () =>
      (await findDrift(stage.client, await stage.state())).drifts.flatMap(({ fields }) =>
        fields.map(({ before, after }) => `${before} > ${after}`),
      );
    const id = (await stage.state()).resources.get("group.front")!.id!;
    await stage.client.createRule(id, added(80, "0.0.0.0/0"));
    expect(await drifts()).toEqual(["null > ingress tcp 80 from anywhere (IPv4)"]);
    await apply();
    expect(await drifts()).toEqual([]);
    expect((await stage.plan(desired)).plan.bookkeeping).toEqual([]);
    await stage.client.createRule(id, added(81, "10.0.0.0/8"));
    expect(await drifts()).toEqual(["null > ingress tcp 81 from 10.0.0.0/8"]);
  });

  it("what the file leaves alone, until the file says it as well", async () => {
    const stage = virtualWorld({ with: ["volume.list", "group.list"] });
    const world = (vm: string, sizeGb: number, group: string, image: string) =>
      projectOf({
        vms: {
          web: {
            name: vm,
            power: vm === "web" ? "running" : "stopped",
            lifecycle: { ignore_changes: ["name", "power"] },
          },
          old: { image_id: image, lifecycle: { on_image_change: "ignore" } },
        },
        volumes: { data: { size: sizeGb, lifecycle: { ignore_changes: ["size"] } } },
        groups: { front: { description: group, rules: [], lifecycle: { ignore_changes: ["description"] } } },
      });
    const apply = async (desired: ReturnType<typeof world>) => stage.apply(await stage.plan(desired));
    await apply(world("web", 5, "first", "ubuntu-24.04"));
    const { resources } = await stage.state();
    const id = (address: string) => resources.get(address)!.id!;
    await stage.client.renameVm(id("vm.web"), "other");
    await stage.client.stopVm(id("vm.web"));
    await stage.client.resizeVolume(id("volume.data"), 9);
    await stage.client.updateGroup(id("group.front"), { description: "second" });
    const debian = stage.emulated.dump().images.find(({ name }) => name === "debian-12");
    await stage.client.rebuildVm(id("vm.old"), debian!.id);
    await stage.clock.sleep(60_000);
    const drifts = async () =>
      (await findDrift(stage.client, await stage.state())).drifts.flatMap(({ fields }) =>
        fields.map(({ field }) => field),
      );
    await apply(world("web", 5, "first", "ubuntu-24.04"));
    expect(await drifts()).toEqual(["description", "image_id", "name", "power", "size"]);
    await apply(world("other", 9, "second", "debian-12"));
    expect(await drifts()).toEqual([]);
  });

  it("counted where nobody may look, and the look that failed is told", async () => {
    const stage = await applied({});
    const client = {
      ...stage.client,
      can: stage.client.can,
      getVolume: async () => ({ status: "rejected", condition: "forbidden", message: "no" }) as const,
    };
    const report = await findDrift(client, await stage.state());
    expect([report.compared, report.recorded, report.drifts]).toEqual([3, 4, []]);
    expect(report.diagnostics.map(({ code }) => code).length).toBeGreaterThan(0);
  });

  it("told of what is not listed, and counts as existing", async () => {
    const stage = await applied({});
    const listVms = async () => ({ status: "accepted", value: [] }) as const;
    const report = await findDrift({ ...stage.client, can: stage.client.can, listVms }, await stage.state());
    expect(report.drifts).toEqual([]);
    expect(report.diagnostics).toContainEqual(
      expect.objectContaining({ code: "plan/not-listed-yet", address: "vm.web" }),
    );
  });

  it("of what was looked at before, without another look but for the catalogue", async () => {
    const stage = await applied();
    await stage.client.renameVm(stage.id("vm.web"), "other");
    const state = await stage.state();
    const { live } = (await findDrift(stage.client, state)).seen;
    stage.takeSent();
    const report = await findDrift(stage.client, state, {}, live);
    expect(report.drifts.map(({ address }) => address)).toEqual(["vm.web"]);
    expect(stage.takeSent().filter(({ operation }) => !/^(image|flavor)\.list$/.test(operation))).toEqual([]);
  });

  it("not looked for with the state of another service", async () => {
    const stage = await applied();
    const state = await stage.state();
    const elsewhere = { ...stage.client, can: stage.client.can, origin: "https://elsewhere.example" };
    await expect(findDrift(elsewhere, state)).rejects.toThrow("elsewhere.example");
    expect((await findDrift(elsewhere, state, { acceptService: true })).drifts).toEqual([]);
  });
});

it.each(["looks itself", "is given what was seen"])("tells a credential that is refused, where it %s", async (how) => {
  const stage = await applied({});
  const refused = { status: "rejected", condition: "unauthenticated", message: "the token has run out" } as const;
  stage.client.listVms = async () => ({ status: "accepted", value: [] });
  stage.client.getVolume = async () => refused;
  stage.client.listRules = async () => refused;
  const { plan, live } = await stage.plan(projectOf(file));
  const errors = ({ diagnostics }: Pick<typeof plan, "diagnostics">) =>
    diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code);
  expect(errors(plan)).toContain("service/unauthenticated");
  const drift = await findDrift(stage.client, await stage.state(), {}, how === "looks itself" ? undefined : live);
  expect(drift.drifts).toEqual([]);
  if (how === "looks itself") expect(errors(drift)).toContain("service/unauthenticated");
});
