/** Stopping, starting, rebooting and deleting a VM, and what a delete leaves behind. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ConformanceCase } from "../case";
import { isObject } from "../dialect";

const actions = ["vm.stop", "vm.start", "vm.reboot", "vm.delete"] as const;

export const vmPowerCases: readonly ConformanceCase[] = [
  ...actions.map(
    (operation): ConformanceCase => ({
      clauses: ["VM errors power", "Endpoints ids"],
      title: `${operation} of an id that no VM has is refused`,
      async run(context) {
        for (const id of [randomUUID(), "7", "a b", "../create"])
          await context.refused("not_found", operation, { params: { id } });
      },
    }),
  ),
  {
    clauses: ["VM row stop", "Transition stop", "Limit stop", "Scope 3"],
    title: "a stop is answered when the VM has stopped, after about 20 seconds",
    needs: ["vm"],
    async run(context) {
      const vm = await context.freshVm();
      const answer = await context.call("vm.stop", { params: { id: vm.id } });
      assert.ok(isObject(answer.body) && typeof answer.body["data"] === "string");
      assert.equal(context.phase(await context.vmById(vm.id)), "stopped");
      // A lower bound alone: it is the VM that takes the time, and no machine stops it sooner.
      assert.ok(answer.elapsedMs >= 10_000 / context.target.timeScale, `answered after ${answer.elapsedMs} ms`);
    },
  },
  {
    clauses: ["VM row start", "Transition gaps"],
    title: "a stopped VM that is started is acknowledged and runs again",
    needs: ["vm"],
    async run(context) {
      const vm = await context.freshVm();
      await context.accepted("vm.stop", { params: { id: vm.id } });
      assert.equal(typeof (await context.accepted("vm.start", { params: { id: vm.id } })), "string");
      await context.untilPhase(vm, "running");
    },
  },
  {
    clauses: ["VM row reboot", "Transition gaps"],
    title: "a rebooted VM is acknowledged and runs again",
    needs: ["vm"],
    async run(context) {
      const vm = await context.vm();
      assert.equal(typeof (await context.accepted("vm.reboot", { params: { id: vm.id } })), "string");
      await context.untilPhase(vm, "running");
    },
  },
  {
    clauses: ["States invalid transition", "VM errors power"],
    title: "a stopped VM is not stopped again",
    needs: ["vm"],
    async run(context) {
      const vm = await context.freshVm();
      await context.accepted("vm.stop", { params: { id: vm.id } });
      await context.refused("invalid_state", "vm.stop", { params: { id: vm.id } });
    },
  },
  {
    clauses: ["States invalid transition", "VM errors power"],
    title: "a stopped VM is not rebooted",
    needs: ["vm", "assumed"],
    async run(context) {
      const vm = await context.freshVm();
      await context.accepted("vm.stop", { params: { id: vm.id } });
      await context.refused("invalid_state", "vm.reboot", { params: { id: vm.id } });
    },
  },
  {
    clauses: ["States invalid transition", "VM errors power"],
    title: "a running VM is not started",
    needs: ["vm"],
    async run(context) {
      const vm = await context.vm();
      await context.refused("invalid_state", "vm.start", { params: { id: vm.id } });
    },
  },
  {
    clauses: ["States invalid transition", "VM errors power"],
    title: "a VM that is being rebuilt is not deleted",
    needs: ["vm", "assumed", "control"],
    async run(context) {
      const vm = await context.freshVm();
      await context.control("PATCH", `vm/${vm.id}`, { status: "REBUILD" });
      await context.refused("invalid_state", "vm.delete", { params: { id: vm.id } });
      await context.control("PATCH", `vm/${vm.id}`, { status: "ACTIVE" });
    },
  },
  {
    clauses: ["VM row delete", "Delete VM message", "Delete VM preserved_volumes", "Scope 5"],
    title: "a delete names the volumes that stay, and each of them is still there",
    needs: ["vm"],
    async run(context) {
      const vm = await context.freshVm();
      const extra = await context.volume();
      await context.accepted("volume.attach", { body: { vm_id: vm.id, volume_id: extra } });
      const made = await context.accepted("vm.delete", { params: { id: vm.id } });
      assert.ok(isObject(made));
      assert.equal(typeof made["message"], "string");
      const preserved = made["preserved_volumes"] as string[];
      assert.ok(preserved.includes(extra), "the attached volume is not among those preserved");
      for (const id of preserved) await context.readVolume(id);
      await context.until("the VM is gone", async () =>
        (await context.findVm(vm.name)) === undefined ? true : undefined,
      );
    },
  },
  {
    clauses: ["Scope 5", "Delete VM preserved_volumes"],
    title: "the data volume made with a VM outlives it, and hangs on nothing",
    needs: ["vm"],
    async run(context) {
      const vm = await context.freshVm({ size: "3" });
      const made = (await context.accepted("vm.delete", { params: { id: vm.id } })) as Record<string, unknown>;
      const sizes = [];
      for (const id of made["preserved_volumes"] as string[]) {
        const record = await context.readVolume(id);
        sizes.push(Number(context.field("volume", "size", record)));
        assert.equal(context.field("volume", "attached_to", record), undefined);
      }
      assert.ok(sizes.includes(3));
    },
  },
  {
    clauses: ["Delete VM preserved_volumes"],
    title: "a volume that was taken off before the delete is not among those preserved",
    needs: ["vm"],
    async run(context) {
      const vm = await context.freshVm();
      const extra = await context.volume();
      const body = { vm_id: vm.id, volume_id: extra };
      await context.accepted("volume.attach", { body });
      await context.accepted("volume.detach", { body: { ...body, flush_confirmed: true } });
      const made = (await context.accepted("vm.delete", { params: { id: vm.id } })) as Record<string, unknown>;
      assert.ok(!(made["preserved_volumes"] as string[]).includes(extra));
    },
  },
  ...(["true", "false"] as const).map(
    (delete_floating_ip): ConformanceCase => ({
      clauses: ["VM row delete", "Scope 6"],
      title: `a delete takes delete_floating_ip=${delete_floating_ip}`,
      needs: ["vm"],
      async run(context) {
        const vm = await context.freshVm();
        const made = await context.accepted("vm.delete", { params: { id: vm.id }, query: { delete_floating_ip } });
        assert.ok(isObject(made));
      },
    }),
  ),
  {
    clauses: ["VM row delete"],
    title: "a public address stays unless the delete asks for it to go",
    needs: ["vm", "control", "assumed"],
    async run(context) {
      for (const [query, stays] of [
        [{}, true],
        [{ delete_floating_ip: "false" }, true],
        [{ delete_floating_ip: "true" }, false],
      ] as const) {
        const vm = await context.freshVm();
        const address = context.text("vm", "floating_ip", vm.record);
        await context.accepted("vm.delete", { params: { id: vm.id }, query });
        const world = JSON.stringify(await context.control("GET", "world"));
        assert.equal(world.includes(`"${address}"`), stays);
      }
    },
  },
  {
    clauses: ["VM errors power"],
    title: "a deleted VM is not deleted again",
    needs: ["vm"],
    async run(context) {
      const vm = await context.freshVm();
      await context.accepted("vm.delete", { params: { id: vm.id } });
      await context.until("the VM is gone", async () =>
        (await context.findVm(vm.name)) === undefined ? true : undefined,
      );
      await context.refused("not_found", "vm.delete", { params: { id: vm.id } });
    },
  },
  {
    clauses: ["Record gap VM", "Gap undescribed operations"],
    title: "a listed VM has an id, a name and a state where the dialect says they are",
    needs: ["vm"],
    async run(context) {
      const { id } = await context.vm();
      const record = await context.vmById(id);
      for (const field of ["id", "name", "status"]) context.text("vm", field, record);
    },
  },
  {
    clauses: ["Record gap VM"],
    title: "a VM that is read alone is the one in the list",
    needs: ["vm", "operation vm.get"],
    async run(context) {
      const { id } = await context.vm();
      const alone = await context.accepted("vm.get", { params: { id } });
      assert.deepEqual(alone, await context.vmById(id));
      await context.refused("not_found", "vm.get", { params: { id: randomUUID() } });
    },
  },
];
