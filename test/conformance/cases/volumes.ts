/** The five volume operations and the eight numbered rules on them. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ConformanceCase } from "../case";
import { messageOf } from "../client";
import { type Context, Unobservable } from "../context";
import { isObject } from "../dialect";

/** A running VM with a volume on it. The case has to take the volume off again, or the VM is no longer as it was. */
async function attached(context: Context, sizeGb = 1) {
  const vm = await context.vm();
  const volume = await context.volume(sizeGb);
  const body = { vm_id: vm.id, volume_id: volume };
  await context.accepted("volume.attach", { body });
  return {
    vm,
    volume,
    body,
    detach: () => context.accepted("volume.detach", { body: { ...body, flush_confirmed: true } }),
  };
}

const sizeOf = async (context: Context, id: string) =>
  Number(context.field("volume", "size", await context.readVolume(id)));

export const volumeCases: readonly ConformanceCase[] = [
  {
    clauses: ["Volume row create", "Body create volume", "Volumes rule 1", "Record gap volume", "Gap volume create"],
    title: "a create answers with the volume, which the caller's project then has",
    async run(context) {
      const name = context.name("volume");
      const record = await context.accepted("volume.create", { body: { name, size: "2" } });
      assert.ok(isObject(record));
      const id = context.text("volume", "id", record);
      assert.equal(context.text("volume", "name", await context.readVolume(id)), name);
      assert.equal(await sizeOf(context, id), 2);
    },
  },
  {
    clauses: ["Volume row get", "Gap volume get", "States volume"],
    title: "a get answers with the volume as an object, whose state is whatever it is",
    async run(context) {
      const record = await context.readVolume(await context.volume());
      assert.ok(isObject(record));
      const status = context.field("volume", "status", record);
      assert.ok(status === undefined || typeof status === "string");
    },
  },
  {
    clauses: ["Body create volume", "Volumes rule 8"],
    title: "a volume without a name or a size, or with one of the wrong type, is a bad request",
    async run(context) {
      const name = context.name("volume");
      for (const body of [
        {},
        { name },
        { size: "1" },
        { name, size: 1 },
        { name: 7, size: "1" },
        { name, size: null },
        [],
      ])
        await context.refused("bad_request", "volume.create", { body });
    },
  },
  {
    clauses: ["Gap volume create", "Volumes rule 8"],
    title: "a volume size that is no whole number of GB from 1 is a bad request",
    needs: ["assumed"],
    async run(context) {
      for (const size of ["", "0", "-1", "1.5", "ten", "1e3", " 1"])
        await context.refused("bad_request", "volume.create", { body: { name: context.name("volume"), size } });
      await context.refused("bad_request", "volume.create", { body: { name: "", size: "1" } });
    },
  },
  {
    clauses: ["Volume row attach", "Body attach volume", "Envelope bare strings"],
    title: "an attach is answered with a bare text, and the volume hangs on the VM",
    needs: ["vm"],
    async run(context) {
      const vm = await context.vm();
      const volume = await context.volume();
      const body = { vm_id: vm.id, volume_id: volume };
      const answer = await context.call("volume.attach", { body });
      assert.equal(typeof answer.body, "string");
      const holder = context.field("volume", "attached_to", await context.readVolume(volume));
      assert.ok(holder === undefined || holder === vm.id);
      await context.accepted("volume.detach", { body: { ...body, flush_confirmed: true } });
    },
  },
  {
    clauses: ["Volume row detach", "Body detach volume", "Envelope bare strings", "Volumes rule 3"],
    title: "a detach with flush_confirmed true is answered with a bare text, and the volume hangs on nothing",
    needs: ["vm"],
    async run(context) {
      const { body, volume } = await attached(context);
      const answer = await context.call("volume.detach", { body: { ...body, flush_confirmed: true } });
      assert.equal(typeof answer.body, "string");
      assert.equal(context.field("volume", "attached_to", await context.readVolume(volume)), undefined);
    },
  },
  {
    clauses: ["Volumes rule 3", "Errors 2"],
    title:
      "a detach whose flush_confirmed is false or left out is refused as not flushed, and the volume stays attached",
    needs: ["vm"],
    async run(context) {
      const { body, vm, volume, detach } = await attached(context);
      for (const flush of [{}, { flush_confirmed: false }])
        await context.refused("flush_not_confirmed", "volume.detach", { body: { ...body, ...flush } });
      const holder = context.field("volume", "attached_to", await context.readVolume(volume));
      assert.ok(holder === undefined || holder === vm.id);
      await detach();
    },
  },
  {
    clauses: ["Body detach volume", "Volumes rule 3", "Volumes rule 8"],
    title: "a flush_confirmed that is not the boolean true never detaches",
    needs: ["vm"],
    async run(context) {
      const { body, detach } = await attached(context);
      for (const flush_confirmed of ["true", 1, null, {}, [true]])
        await context.refused("bad_request", "volume.detach", { body: { ...body, flush_confirmed } });
      await detach();
    },
  },
  {
    clauses: ["Volumes rule 2", "Body attach volume", "Body detach volume", "Errors 2"],
    title: "attach and detach of a volume or VM that the project does not have are not found",
    needs: ["vm"],
    async run(context) {
      const vm = await context.vm();
      const volume = await context.volume();
      for (const operation of ["volume.attach", "volume.detach"])
        for (const body of [
          { vm_id: vm.id, volume_id: randomUUID() },
          { vm_id: randomUUID(), volume_id: volume },
          { vm_id: randomUUID(), volume_id: randomUUID() },
        ])
          await context.refused("not_found", operation, { body: { ...body, flush_confirmed: true } });
    },
  },
  {
    clauses: ["Body attach volume", "Body detach volume", "Volumes rule 8"],
    title: "attach and detach without vm_id or volume_id, or with one that is no text, are bad requests",
    async run(context) {
      const id = randomUUID();
      const flush_confirmed = true;
      for (const operation of ["volume.attach", "volume.detach"])
        for (const body of [
          {},
          { vm_id: id },
          { volume_id: id },
          { vm_id: 1, volume_id: id },
          { vm_id: id, volume_id: [] },
        ])
          await context.refused("bad_request", operation, { body: { ...body, flush_confirmed } });
    },
  },
  {
    clauses: ["Volumes rule 8"],
    title: "a volume that is attached already is attached to nothing else, nor to the same VM again",
    needs: ["vm", "assumed"],
    async run(context) {
      const { body, detach } = await attached(context);
      await context.refused("bad_request", "volume.attach", { body });
      const other = await context.freshVm();
      await context.refused("bad_request", "volume.attach", { body: { ...body, vm_id: other.id } });
      await detach();
    },
  },
  {
    clauses: ["Volumes rule 8"],
    title: "a volume that hangs on nothing, or on another VM, is not detached",
    needs: ["vm", "assumed"],
    async run(context) {
      const vm = await context.vm();
      const loose = await context.volume();
      const flush_confirmed = true;
      await context.refused("bad_request", "volume.detach", {
        body: { vm_id: vm.id, volume_id: loose, flush_confirmed },
      });
      const { volume, detach } = await attached(context);
      const other = await context.freshVm();
      const body = { vm_id: other.id, volume_id: volume, flush_confirmed };
      await context.refused("bad_request", "volume.detach", { body });
      await detach();
    },
  },
  {
    clauses: [
      "Volume row resize",
      "Body resize volume",
      "Volumes rule 4",
      "Limit volume resize",
      "Envelope bare strings",
    ],
    title: "a resize to a larger size is answered with a bare text, and the volume is larger",
    async run(context) {
      const volume = await context.volume(1);
      const answer = await context.call("volume.resize", { params: { id: volume }, body: { size: "2" } });
      assert.equal(typeof answer.body, "string");
      assert.equal(await sizeOf(context, volume), 2);
    },
  },
  {
    clauses: ["Volumes rule 4", "Limit volume resize"],
    title: "a resize to the same or a smaller size is refused, and the volume keeps its size",
    async run(context) {
      const volume = await context.volume(3);
      for (const size of ["3", "2", "1"])
        await context.refused("bad_request", "volume.resize", { params: { id: volume }, body: { size } });
      assert.equal(await sizeOf(context, volume), 3);
    },
  },
  {
    clauses: ["Volumes rule 4"],
    title: "sizes are compared as numbers, not as texts: 9 GB grows to 10",
    async run(context) {
      const volume = await context.volume(9);
      await context.accepted("volume.resize", { params: { id: volume }, body: { size: "10" } });
      assert.equal(await sizeOf(context, volume), 10);
    },
  },
  {
    clauses: ["Body resize volume", "Volumes rule 8"],
    title: "a resize without a size, or with one that is no number of GB in a text, is a bad request",
    async run(context) {
      const volume = await context.volume();
      for (const body of [{}, { size: "" }, { size: "big" }, { size: 2 }, { size: "-2" }, { size: "2.5" }, []])
        await context.refused("bad_request", "volume.resize", { params: { id: volume }, body });
    },
  },
  {
    clauses: ["Volumes rule 5", "Errors 2"],
    title: "a root disk is not resized",
    needs: ["vm"],
    async run(context) {
      const { record } = await context.vm();
      const root = context.volumesOf(record).find((volume) => volume.root === true);
      if (root === undefined) throw new Unobservable("the VM's record does not show which volume is its root disk");
      const answer = await context.refused("root_disk", "volume.resize", {
        params: { id: root.id },
        body: { size: "500" },
      });
      assert.notEqual(messageOf(answer), "Volume is attached and cannot be extended");
    },
  },
  {
    clauses: ["Volumes rule 6", "Errors 2"],
    title: "an attached volume is not resized, with the contract's message, and can be once it is detached",
    needs: ["vm"],
    async run(context) {
      const { volume, detach } = await attached(context);
      const call = { params: { id: volume }, body: { size: "2" } };
      const answer = await context.refused("volume_attached", "volume.resize", call);
      assert.equal(messageOf(answer), "Volume is attached and cannot be extended");
      assert.equal(await sizeOf(context, volume), 1);
      await detach();
      await context.accepted("volume.resize", call);
    },
  },
  {
    clauses: ["Volumes rule 7", "Endpoints ids", "Errors 2"],
    title: "get and resize of a volume that the project does not have are not found",
    async run(context) {
      const id = randomUUID();
      await context.refused("not_found", "volume.get", { params: { id } });
      await context.refused("not_found", "volume.resize", { params: { id }, body: { size: "9" } });
    },
  },
  {
    clauses: ["Volumes rule 8", "Endpoints ids"],
    title: "get and resize of an id that cannot be one are bad requests",
    needs: ["assumed"],
    async run(context) {
      for (const id of ["7", "not-an-id", "a b", "%00"]) {
        await context.refused("bad_request", "volume.get", { params: { id } });
        await context.refused("bad_request", "volume.resize", { params: { id }, body: { size: "9" } });
      }
    },
  },
  {
    clauses: ["Volumes rule 2", "Volumes rule 7", "Volumes rule 1", "Authentication 2"],
    title: "another project does not find the volume, nor the VM for its own volume",
    needs: ["vm", "role outsider"],
    async run(context) {
      const vm = await context.vm();
      const volume = await context.volume();
      const as = "outsider";
      await context.refused("not_found", "volume.get", { params: { id: volume }, as });
      await context.refused("not_found", "volume.resize", { params: { id: volume }, body: { size: "5" }, as });
      const theirs = await context.accepted("volume.create", { body: { name: context.name("theirs"), size: "1" }, as });
      const id = context.text("volume", "id", theirs);
      context.made.volumes.delete(id);
      for (const volume_id of [volume, id])
        for (const operation of ["volume.attach", "volume.detach"])
          await context.refused("not_found", operation, {
            body: { vm_id: vm.id, volume_id, flush_confirmed: true },
            as,
          });
      if (context.has("volume.delete")) await context.accepted("volume.delete", { params: { id }, as });
    },
  },
  {
    clauses: ["Gap undescribed operations"],
    title: "a deleted volume is not found any more, and an attached one is not deleted",
    needs: ["vm", "operation volume.delete"],
    async run(context) {
      const { volume, detach } = await attached(context);
      await context.refused("volume_attached", "volume.delete", { params: { id: volume } });
      await detach();
      await context.accepted("volume.delete", { params: { id: volume } });
      await context.refused("not_found", "volume.get", { params: { id: volume } });
    },
  },
  {
    clauses: ["Record gap volume"],
    title: "the list of volumes shows a new volume as a get does",
    needs: ["operation volume.list"],
    async run(context) {
      const id = await context.volume();
      const listed = (await context.list("volume.list")).find((volume) => context.field("volume", "id", volume) === id);
      assert.deepEqual(listed, await context.readVolume(id));
    },
  },
];
