/** Renaming, rebuilding, resizing and snapshotting a VM, with VERIFY_RESIZE and its two ways out. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ConformanceCase } from "../case";
import type { ClauseId } from "../clauses";
import { isObject } from "../dialect";

const bodies: readonly (readonly [operation: string, field: string, clause: ClauseId])[] = [
  ["vm.rename", "name", "Body rename VM"],
  ["vm.rebuild", "image", "Body rebuild VM"],
  ["vm.resize", "flavor", "Body resize VM"],
  ["vm.snapshot", "name", "Body snapshot VM"],
];

const errorsOf = (operation: string): ClauseId => (operation === "vm.rename" ? "VM errors rename" : "VM errors change");

export const vmChangeCases: readonly ConformanceCase[] = [
  ...bodies.map(
    ([operation, field, clause]): ConformanceCase => ({
      clauses: [clause, errorsOf(operation)],
      title: `${operation} without ${field}, or with one that is no text, is a bad request`,
      needs: ["vm"],
      async run(context) {
        const { id } = await context.vm();
        for (const body of [{}, { [field]: "" }, { [field]: 7 }, { [field]: null }, [], "text"])
          await context.refused("bad_request", operation, { params: { id }, body });
      },
    }),
  ),
  ...bodies.map(
    ([operation, field, clause]): ConformanceCase => ({
      clauses: [clause, "Endpoints ids"],
      title: `${operation} of an id that no VM has is refused`,
      async run(context) {
        for (const id of [randomUUID(), "7"])
          await context.refused("not_found", operation, { params: { id }, body: { [field]: "some-text" } });
      },
    }),
  ),
  {
    clauses: ["VM row rename", "Body rename VM", "Gap rename name", "Envelope data"],
    title: "a rename is acknowledged, and the list shows the new name",
    needs: ["vm"],
    async run(context) {
      const vm = await context.freshVm();
      const name = context.name("renamed");
      assert.equal(typeof (await context.accepted("vm.rename", { params: { id: vm.id }, body: { name } })), "string");
      const found = await context.until("the new name is listed", () => context.findVm(name));
      assert.equal(found.id, vm.id);
    },
  },
  {
    clauses: ["Gap rename name"],
    title: "a rename takes the names that a create takes, and lower-cases them",
    needs: ["vm", "assumed"],
    async run(context) {
      const vm = await context.freshVm();
      for (const name of ["ab", "a".repeat(51), "two words"])
        await context.refused("bad_request", "vm.rename", { params: { id: vm.id }, body: { name } });
      const name = context.name("Upper").toUpperCase();
      await context.accepted("vm.rename", { params: { id: vm.id }, body: { name } });
      assert.equal((await context.findVm(name.toLowerCase()))?.id, vm.id);
    },
  },
  {
    clauses: ["VM errors rename"],
    title: "a member may not rename somebody else's VM, and may rename their own",
    needs: ["vm", "assumed", "role member", "role otherMember"],
    async run(context) {
      const vm = await context.vm();
      const body = { name: context.name("taken") };
      await context.refused("forbidden", "vm.rename", { params: { id: vm.id }, body, as: "member" });
      await context.refused("forbidden", "vm.rename", { params: { id: vm.id }, body, as: "otherMember" });
      assert.ok(await context.findVm(vm.name));
    },
  },
  {
    clauses: ["VM row rebuild", "Body rebuild VM", "Envelope bare strings", "Gap rebuild image", "Transition gaps"],
    title: "a rebuild is answered with a bare text and ends in the same VM, running, from that image",
    needs: ["vm"],
    async run(context) {
      const vm = await context.freshVm();
      const image = context.catalogue.images[1]?.id ?? context.vmRequest()["image_id"];
      const { body } = await context.call("vm.rebuild", { params: { id: vm.id }, body: { image } });
      assert.equal(typeof body, "string");
      const { record } = await context.untilPhase(vm, "running");
      assert.ok([undefined, image].includes(context.field("vm", "image", record) as string | undefined));
    },
  },
  {
    clauses: ["Gap rebuild image", "VM errors change"],
    title: "a rebuild from an image that does not exist is a bad request",
    needs: ["vm"],
    async run(context) {
      const { id } = await context.vm();
      await context.refused("bad_request", "vm.rebuild", { params: { id }, body: { image: randomUUID() } });
    },
  },
  {
    clauses: ["VM errors change", "Body resize VM"],
    title: "a resize to a flavor that does not exist is a bad request",
    needs: ["vm"],
    async run(context) {
      const { id } = await context.vm();
      await context.refused("bad_request", "vm.resize", { params: { id }, body: { flavor: "no-such-flavor" } });
    },
  },
  {
    clauses: ["VM row resize", "Envelope bare strings", "Transition resize", "States VERIFY_RESIZE"],
    title: "a resize is answered with a bare text and leads to VERIFY_RESIZE",
    needs: ["vm", "other flavor"],
    async run(context) {
      const vm = await context.freshVm();
      const call = { params: { id: vm.id }, body: { flavor: context.otherFlavor() } };
      const { body } = await context.call("vm.resize", call);
      assert.equal(typeof body, "string");
      const { record } = await context.untilPhase(vm, "verify_resize");
      assert.equal(context.field("vm", "status", record), "VERIFY_RESIZE");
    },
  },
  {
    clauses: ["Transition resize", "Gap undescribed operations"],
    title: "a confirmed resize keeps the new flavor",
    needs: ["vm", "other flavor", "operation vm.resize.confirm"],
    async run(context) {
      const vm = await context.freshVm();
      const before = context.field("vm", "flavor", vm.record);
      await context.accepted("vm.resize", { params: { id: vm.id }, body: { flavor: context.otherFlavor() } });
      await context.untilPhase(vm, "verify_resize");
      await context.accepted("vm.resize.confirm", { params: { id: vm.id } });
      const { record } = await context.untilPhase(vm, "running");
      assert.ok(before === undefined || context.field("vm", "flavor", record) !== before);
    },
  },
  {
    clauses: ["Transition resize", "Gap undescribed operations"],
    title: "a reverted resize brings the old flavor back",
    needs: ["vm", "other flavor", "operation vm.resize.revert"],
    async run(context) {
      const vm = await context.freshVm();
      const before = context.field("vm", "flavor", vm.record);
      await context.accepted("vm.resize", { params: { id: vm.id }, body: { flavor: context.otherFlavor() } });
      await context.untilPhase(vm, "verify_resize");
      await context.accepted("vm.resize.revert", { params: { id: vm.id } });
      const { record } = await context.untilPhase(vm, "running");
      assert.equal(context.field("vm", "flavor", record), before);
    },
  },
  {
    clauses: ["Transition resize", "States invalid transition"],
    title: "only a VM in VERIFY_RESIZE can be confirmed or reverted",
    needs: ["vm", "operation vm.resize.confirm", "operation vm.resize.revert"],
    async run(context) {
      const { id } = await context.vm();
      for (const operation of ["vm.resize.confirm", "vm.resize.revert"])
        await context.refused("invalid_state", operation, { params: { id } });
    },
  },
  {
    clauses: ["States invalid transition", "VM errors change", "VM errors power", "Transition gaps"],
    title: "a VM in VERIFY_RESIZE is neither resized again, rebuilt, snapshotted, stopped, started nor rebooted",
    needs: ["vm", "other flavor", "assumed"],
    async run(context) {
      const vm = await context.freshVm();
      const params = { id: vm.id };
      await context.accepted("vm.resize", { params, body: { flavor: context.otherFlavor() } });
      await context.untilPhase(vm, "verify_resize");
      const { flavor_id: flavor, image_id: image } = context.vmRequest();
      await context.refused("invalid_state", "vm.resize", { params, body: { flavor } });
      await context.refused("invalid_state", "vm.rebuild", { params, body: { image } });
      await context.refused("invalid_state", "vm.snapshot", { params, body: { name: context.name("image") } });
      for (const operation of ["vm.stop", "vm.start", "vm.reboot"])
        await context.refused("invalid_state", operation, { params });
    },
  },
  {
    clauses: ["States invalid transition", "VM errors change"],
    title: "a VM that is still being built is not rebuilt, resized or snapshotted",
    needs: ["vm", "other flavor", "assumed", "control"],
    async run(context) {
      const vm = await context.freshVm();
      const params = { id: vm.id };
      await context.control("PATCH", `vm/${vm.id}`, { status: "BUILD" });
      const { image_id: image } = context.vmRequest();
      await context.refused("invalid_state", "vm.rebuild", { params, body: { image } });
      await context.refused("invalid_state", "vm.resize", { params, body: { flavor: context.otherFlavor() } });
      await context.refused("invalid_state", "vm.snapshot", { params, body: { name: context.name("image") } });
      await context.control("PATCH", `vm/${vm.id}`, { status: "ACTIVE" });
    },
  },
  {
    clauses: ["VM row snapshot", "Body snapshot VM", "Gap snapshot keys"],
    title: "a snapshot is answered with an object of texts, one of which is the new image's id",
    needs: ["vm"],
    async run(context) {
      const { id } = await context.vm();
      const made = await context.accepted("vm.snapshot", { params: { id }, body: { name: context.name("image") } });
      assert.ok(isObject(made));
      const texts = Object.values(made);
      assert.ok(texts.length > 0 && texts.every((text) => typeof text === "string"));
      if (!context.has("image.list")) return;
      await context.until("the image is listed", async () => {
        const images = await context.list("image.list");
        return images.find((image) => texts.includes(context.field("image", "id", image) as string));
      });
    },
  },
];
