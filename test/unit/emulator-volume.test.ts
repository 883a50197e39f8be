import { describe, expect, it } from "vitest";
import { builtVm, type EmulatedWorld, emulatedWorld, messageOf, unknownId } from "../support/virtual-world";

function volume(emulated: EmulatedWorld, size = "10", as = "ops-token"): string {
  return (emulated.call("volume.create", { name: "disk", size }, { as }).body as { id: string }).id;
}

describe("creating and reading a volume", () => {
  it("answers with the created volume (POST /volume/create)", () => {
    const answer = emulatedWorld().call("volume.create", { name: "disk", size: "10" });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ name: "disk", size: 10, status: "available", attached_to: null, root: false });
  });

  it.each([
    ["a name is required", { size: "10" }],
    ["a size is required", { name: "disk" }],
    ["an empty size is refused", { name: "disk", size: "" }],
    ["a size is at least 1", { name: "disk", size: "0" }],
    ["a size is a string", { name: "disk", size: 10 }],
    ["a body is an object", ["disk", "10"]],
    ["a body is required", undefined],
  ])("%s", (_, body) => {
    expect(emulatedWorld().call("volume.create", body).status).toBe(400);
  });

  it("is created in the caller's project, and not found from another (rules 1 and 7)", () => {
    const emulated = emulatedWorld();
    const id = volume(emulated);
    expect(emulated.call("volume.get", undefined, { id }).status).toBe(200);
    expect(emulated.call("volume.get", undefined, { id, as: "outsider-token" }).status).toBe(404);
    expect(emulated.call("volume.resize", { size: "20" }, { id, as: "outsider-token" }).status).toBe(404);
    expect(emulated.call("volume.get", undefined, { id: "not-an-id" }).status).toBe(400);
  });
});

describe("attaching and detaching", () => {
  it("are acknowledged by a bare string and seen in both records", () => {
    const emulated = emulatedWorld();
    const vm = builtVm(emulated);
    const id = volume(emulated);
    const attached = emulated.call("volume.attach", { vm_id: vm.id, volume_id: id });
    expect([attached.status, attached.body]).toEqual([200, "Volume attached"]);
    expect(emulated.call("volume.get", undefined, { id }).body).toMatchObject({ attached_to: vm.id, status: "in-use" });
    expect(JSON.stringify(emulated.call("vm.get", undefined, { id: vm.id }).body)).toContain(id);
    const body = { vm_id: vm.id, volume_id: id, flush_confirmed: true };
    expect(emulated.call("volume.detach", body).body).toBe("Volume detached");
    expect(emulated.call("volume.get", undefined, { id }).body).toMatchObject({
      attached_to: null,
      status: "available",
    });
  });

  it.each([undefined, false, null])(
    "detach with flush_confirmed %o is a flush-not-confirmed error (rule 3)",
    (flush) => {
      const emulated = emulatedWorld();
      const vm = builtVm(emulated);
      const answer = emulated.call("volume.detach", { vm_id: vm.id, volume_id: vm.data, flush_confirmed: flush });
      expect([answer.status, messageOf(answer)]).toEqual([400, expect.stringMatching(/^flush not confirmed/)]);
      expect(emulated.call("volume.get", undefined, { id: vm.data }).body).toMatchObject({ attached_to: vm.id });
    },
  );

  it.each(["true", 1])("flush_confirmed %o is not a boolean, so a bad request", (flush_confirmed) => {
    const emulated = emulatedWorld();
    const vm = builtVm(emulated);
    const answer = emulated.call("volume.detach", { vm_id: vm.id, volume_id: vm.data, flush_confirmed });
    expect(messageOf(answer)).toBe("flush_confirmed must be a boolean");
  });

  it("find neither a volume nor a VM outside the project (rule 2)", () => {
    const emulated = emulatedWorld();
    const vm = builtVm(emulated);
    const own = volume(emulated);
    const foreign = volume(emulated, "10", "outsider-token");
    for (const operation of ["volume.attach", "volume.detach"] as const) {
      const call = (vm_id: string, volume_id: string) =>
        messageOf(emulated.call(operation, { vm_id, volume_id, flush_confirmed: true }));
      expect(call(vm.id, foreign)).toBe("Volume not found in this project");
      expect(call(vm.id, unknownId)).toBe("Volume not found in this project");
      expect(call(unknownId, own)).toBe("VM not found in this project");
    }
  });

  it("refuse what is attached already, what is attached elsewhere, and the root disk", () => {
    const emulated = emulatedWorld();
    const vm = builtVm(emulated);
    const other = builtVm(emulated, { name: "other" });
    const call = (operation: "volume.attach" | "volume.detach", vm_id: string, volume_id: string) =>
      emulated.call(operation, { vm_id, volume_id, flush_confirmed: true }).status;
    expect(call("volume.attach", vm.id, vm.data)).toBe(400);
    expect(call("volume.attach", other.id, vm.data)).toBe(400);
    expect(call("volume.detach", other.id, vm.data)).toBe(400);
    expect(call("volume.detach", vm.id, vm.root)).toBe(400);
  });

  it("refuse a VM that is still being built", () => {
    const emulated = emulatedWorld({}, { vms: [{ id: "v", name: "web", status: "BUILD" }] });
    expect(emulated.call("volume.attach", { vm_id: "v", volume_id: volume(emulated) }).status).toBe(400);
  });
});

describe("resizing a volume", () => {
  it("grows it, and is acknowledged by a bare string (rule 4)", () => {
    const emulated = emulatedWorld();
    const id = volume(emulated);
    expect(typeof emulated.call("volume.resize", { size: "11" }, { id }).body).toBe("string");
    expect(emulated.call("volume.get", undefined, { id }).body).toMatchObject({ size: 11 });
  });

  it.each(["10", "9", "0", "", "x"])("from 10 to %o is refused: it extends only (rule 4)", (size) => {
    const emulated = emulatedWorld();
    const id = volume(emulated);
    expect(emulated.call("volume.resize", { size }, { id }).status).toBe(400);
    expect(emulated.call("volume.get", undefined, { id }).body).toMatchObject({ size: 10 });
  });

  it("of a root disk is refused (rule 5)", () => {
    const emulated = emulatedWorld();
    const answer = emulated.call("volume.resize", { size: "99" }, { id: builtVm(emulated).root });
    expect(messageOf(answer)).toMatch(/^Root disk cannot be resized/);
  });

  it("of an attached volume fails with the contract's message (rule 6)", () => {
    const emulated = emulatedWorld();
    const answer = emulated.call("volume.resize", { size: "99" }, { id: builtVm(emulated).data });
    expect([answer.status, messageOf(answer)]).toEqual([409, "Volume is attached and cannot be extended"]);
  });
});

describe("deleting a volume (assumed)", () => {
  it("works once it is detached, and not before", () => {
    const emulated = emulatedWorld();
    const vm = builtVm(emulated);
    expect(emulated.call("volume.delete", undefined, { id: vm.data }).status).toBe(409);
    expect(emulated.call("volume.delete", undefined, { id: vm.root }).status).toBe(400);
    emulated.call("volume.detach", { vm_id: vm.id, volume_id: vm.data, flush_confirmed: true });
    expect(emulated.call("volume.delete", undefined, { id: vm.data }).status).toBe(200);
    expect(emulated.call("volume.delete", undefined, { id: vm.data }).status).toBe(404);
  });
});
