/** Addresses that a record shows some time after the VM runs, in another form than an address, or never. */
import { describe, expect, it } from "vitest";
import type { LiveVm } from "../../reconciler/core/model/live";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { projectOf } from "../support/bench-world";
import { prepareOn } from "../support/engine-on";
import { virtualWorld } from "../support/virtual-world";

const file = (root_size: number) =>
  projectOf({
    vms: { web: { name: "web-1", root_size } },
    groups: {
      db: { name: "db-tier", rules: [{ protocol: "tcp", dst_port: 5432, remote_ip: "${vm.web.private_ip}" }] },
    },
    outputs: { web: "${vm.web.private_ip}" },
  });

/** A service that shows the addresses of a VM only so many looks after it showed it as running. */
function lateBy(looks: number) {
  const stage = virtualWorld({ with: ["group.rule.delete", "group.list"] });
  const { client } = stage;
  const list = client.listVms.bind(client);
  const seen = new Map<string, number>();
  const late = ({ privateIp, floatingIp, ...vm }: LiveVm): LiveVm => {
    const before = seen.get(vm.id) ?? 0;
    if (vm.phase === "running") seen.set(vm.id, before + 1);
    const shown = {
      ...(privateIp === undefined ? {} : { privateIp }),
      ...(floatingIp === undefined ? {} : { floatingIp }),
    };
    return before < looks ? vm : { ...vm, ...shown };
  };
  client.listVms = async () => {
    const listed = await list();
    return listed.status === "accepted" ? { ...listed, value: listed.value.map(late) } : listed;
  };
  const { discoveryWindowMs } = stage.ports.timing;
  stage.plan = (desired) => prepareOn(stage, desired, { discoveryWindowMs });
  return stage;
}

const admitted = (stage: ReturnType<typeof virtualWorld>): (string | null)[] =>
  [...stage.emulated.world.tables.rule.values()]
    .filter(({ direction }) => direction === "ingress")
    .map((rule) => rule.remote_ip_prefix);
const addresses = (stage: ReturnType<typeof virtualWorld>): string[] =>
  stage.emulated.dump().vms.map((vm) => `${vm.private_ip}/32`);

describe("addresses that come late", () => {
  it.each([1, 4, 20])("by %i looks: waited for, and the run converges", async (looks) => {
    const stage = lateBy(looks);
    for (const size of [50, 60]) {
      const report = await stage.apply(await stage.plan(file(size)));
      expect(report?.steps.map(({ step, result }) => `${step.id} ${result.end} ${result.message ?? ""}`)).toEqual(
        report?.steps.map(({ step }) => `${step.id} done `),
      );
      expect(admitted(stage)).toEqual(addresses(stage));
      const { state } = await stage.plan(file(size));
      expect(state.outputs?.["web"]?.value).toBe(stage.emulated.dump().vms[0]?.private_ip);
      expect(hasNothingToDo((await stage.plan(file(size))).plan)).toBe(true);
    }
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])("cut off after %i writes: the next run goes on from there", async (writes) => {
    const stage = lateBy(6);
    stage.cutAfterWrites(writes);
    await stage.apply(await stage.plan(file(50))).catch(() => undefined);
    stage.cutAfterWrites(undefined);
    // The discovery window of a lost create, in which nothing is made a second time.
    for (let run = 0; run < 3; run++) {
      const prepared = await stage.plan(file(50));
      expect(prepared.plan.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
      await stage.apply(prepared);
    }
    expect(stage.emulated.dump().vms).toHaveLength(1);
    expect(admitted(stage)).toEqual(addresses(stage));
    expect(hasNothingToDo((await stage.plan(file(50))).plan)).toBe(true);
  });

  it("never: nothing is sent without one, and the message has the line that would say where it is", async () => {
    const stage = lateBy(Number.POSITIVE_INFINITY);
    const report = await stage.apply(await stage.plan(file(50)));
    const failed = report?.steps.find(({ step }) => step.id === "group.db/create");
    expect(failed?.result).toMatchObject({
      end: "failed",
      code: "apply/value-not-shown",
      fix: expect.stringContaining("records: { vm: { private_ip: [/…] } }"),
    });
    expect(admitted(stage)).toEqual([]);
    expect(report?.outputs).toEqual({});
    // Told before anything is sent, once it is no longer new.
    await stage.clock.sleep(600_000);
    const later = await stage.plan(file(50));
    expect(later.plan.diagnostics).toContainEqual(expect.objectContaining({ code: "plan/value-not-shown" }));
  });

  it("an address that the service gives once more: its rule stays", async () => {
    const stage = virtualWorld({ with: ["group.rule.delete", "group.list"] });
    const { client } = stage;
    const list = client.listVms.bind(client);
    const always = (vm: LiveVm): LiveVm => (vm.privateIp === undefined ? vm : { ...vm, privateIp: "10.7.7.7" });
    client.listVms = async () => {
      const listed = await list();
      return listed.status === "accepted" ? { ...listed, value: listed.value.map(always) } : listed;
    };
    for (const size of [50, 60, 70]) {
      const report = await stage.apply(await stage.plan(file(size)));
      expect(report?.counts.failed).toBe(0);
      expect(admitted(stage)).toEqual(["10.7.7.7/32"]);
      expect(hasNothingToDo((await stage.plan(file(size))).plan)).toBe(true);
    }
  });
});
