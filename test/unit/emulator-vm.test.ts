import { describe, expect, it } from "vitest";
import { allowedFrom } from "../../emulator/vm-states";
import { applyChanges } from "../../emulator/world";
import { builtVm, emulatedWorld, imageId, messageOf, unknownId, vmBody, vmOf } from "../support/virtual-world";

describe("creating a VM", () => {
  it("is acknowledged with 202 and a plain string that holds no instance id (POST /vm/create)", () => {
    const emulated = emulatedWorld();
    const answer = emulated.call("vm.create", vmBody());
    expect(answer).toMatchObject({ status: 202, body: { data: "VM creation request accepted" } });
    expect(JSON.stringify(answer.body)).not.toContain(emulated.dump().vms[0]!.id);
  });

  it("takes about a minute of the service's time", () => {
    const emulated = emulatedWorld();
    emulated.call("vm.create", vmBody());
    const { id } = emulated.dump().vms[0]!;
    emulated.nowMs += 59_999;
    expect(vmOf(emulated, id).status).toBe("BUILD");
    emulated.nowMs += 1;
    expect(vmOf(emulated, id).status).toBe("ACTIVE");
  });

  const refused: Record<string, [Record<string, unknown>, number, string]> = {
    "an empty size is rejected with 400": [{ size: "" }, 400, "size cannot be empty"],
    "a size of 0 is rejected with 400": [{ size: "0" }, 400, "size must be"],
    "a size is a string, not a number": [{ size: 10 }, 400, "size must be a string"],
    "a size is whole": [{ size: "1.5" }, 400, "size must be"],
    "a size is not negative": [{ size: "-1" }, 400, "size must be"],
    "a size is decimal": [{ size: "0x10" }, 400, "size must be"],
    "a size is required": [{ size: undefined }, 400, "size cannot be empty"],
    "a root size of 0 is refused": [{ root_size: "0" }, 400, "root_size must be"],
    "a name of two characters is too short": [{ name: "ab" }, 400, "name must be"],
    "a name of 51 characters is too long": [{ name: "a".repeat(51) }, 400, "name must be"],
    "a name holds no underscore": [{ name: "my_vm" }, 400, "name must be"],
    "a name is one word": [{ name: "my vm" }, 400, "name must be"],
    "only ASCII is lower-cased, so a Kelvin sign is no k": [{ name: "\u212Aelvin" }, 400, "name must be"],
    "a missing name is named": [{ name: undefined }, 400, "name cannot be empty"],
    "null is no text": [{ name: null }, 400, "name must be a string"],
    "null is no text where one may be left out either": [{ root_size: null }, 400, "root_size must be a string"],
    "a size that is too large is told so": [{ size: "12345678" }, 400, "size must be at most 9999999 GB"],
    "the caller's user id is required": [{ id: undefined }, 400, "id cannot be empty"],
    "an unknown flavor is refused": [{ flavor_id: "m9.huge" }, 400, "flavor_id is not in the flavor list"],
    "an image is given by UUID, never by name": [{ image_id: "ubuntu-24.04" }, 400, "image_id must be the UUID"],
    "an unknown region is refused": [{ region: "mars" }, 400, "region is not in the region list"],
    "skip_floating_ip is a boolean": [{ skip_floating_ip: "true" }, 400, "skip_floating_ip must be a boolean"],
    "an owner is one word or an e-mail": [{ owner: "a b" }, 400, "owner must be"],
    "a project is required": [{ project: "" }, 400, "project cannot be empty"],
  };
  it.each(Object.entries(refused))("%s", (_, [changes, status, message]) => {
    const emulated = emulatedWorld();
    const answer = emulated.call("vm.create", vmBody(changes));
    expect(answer.status).toBe(status);
    expect(messageOf(answer)).toContain(message);
    expect(emulated.dump().vms).toEqual([]);
  });

  const accepted: Record<string, [Record<string, unknown>, Record<string, unknown>]> = {
    "upper case in a name is lower-cased": [{ name: "Web-01" }, { name: "web-01" }],
    "a username becomes the e-mail that is stored": [{ owner: "member" }, { owner: "member@acme.example" }],
    "an e-mail is stored as it is": [{ owner: "who@else.example" }, { owner: "who@else.example" }],
    "an unknown username gets an e-mail in an open world": [{ owner: "jane" }, { owner: "jane@users.example" }],
    "a root size left out is the default 50": [{}, { root_size: 50 }],
    "an empty root size is the default 50": [{ root_size: "" }, { root_size: 50 }],
    "a root size is taken": [{ root_size: "80" }, { root_size: 80 }],
    "a flavor's id is as good as its name": [
      { flavor_id: "00000000-0000-4000-8002-000000000002" },
      { flavor_id: "00000000-0000-4000-8002-000000000002" },
    ],
    "a flavor's name is stored as its id": [
      { flavor_id: "m1.large" },
      { flavor_id: "00000000-0000-4000-8002-000000000003" },
    ],
    "any UUID is an image in an open world": [{ image_id: unknownId }, { image_id: unknownId }],
    "any project is the caller's own in an open world": [{ project: "whatever" }, { project: "whatever" }],
    "without skip_floating_ip there is a floating IP": [{}, { floating_ip: expect.stringMatching(/^198\.18\./) }],
    "skip_floating_ip leaves a private address only": [
      { skip_floating_ip: true },
      { floating_ip: null, private_ip: expect.stringMatching(/^10\./) },
    ],
  };
  it.each(Object.entries(accepted))("%s", (_, [changes, expected]) => {
    const emulated = emulatedWorld();
    expect(vmOf(emulated, builtVm(emulated, changes).id)).toMatchObject(expected);
  });

  it("makes a data volume of the size given, beside the root disk", () => {
    const emulated = emulatedWorld();
    const vm = builtVm(emulated, { size: "20", root_size: "60" });
    const record = (emulated.call("vm.get", undefined, { id: vm.id }).body as { volumes: unknown }).volumes;
    expect(record).toEqual([
      { id: vm.root, root: true },
      { id: vm.data, root: false },
    ]);
    expect(emulated.call("volume.get", undefined, { id: vm.data }).body).toMatchObject({ size: 20, root: false });
    expect(emulated.call("volume.get", undefined, { id: vm.root }).body).toMatchObject({ size: 60, root: true });
  });

  it("shows neither disks nor addresses before the VM is built", () => {
    const emulated = emulatedWorld();
    emulated.call("vm.create", vmBody());
    const { data } = emulated.call("vm.list").body as { data: unknown[] };
    expect(data).toMatchObject([{ status: "BUILD", volumes: [], floating_ip: null, private_ip: null }]);
  });

  it("shows its disks in one order, whatever happens to them", () => {
    const emulated = emulatedWorld();
    const vm = builtVm(emulated);
    const root = emulated.world.tables.volume.get(vm.root)!;
    applyChanges(emulated.world, [{ put: "volume", value: { ...root, name: "renamed" } }]);
    expect(emulated.call("vm.get", undefined, { id: vm.id }).body).toMatchObject({ volumes: [{ root: true }, {}] });
  });

  it("refuses a name that another VM of the project has, in whatever case, with a conflict", () => {
    const emulated = emulatedWorld();
    emulated.call("vm.create", vmBody());
    expect(emulated.call("vm.create", vmBody({ name: "WEB" })).status).toBe(409);
    expect(emulated.call("vm.create", vmBody(), { as: "outsider-token" }).status).toBe(202);
  });

  it("accepts a flavor that is listed but cannot be provisioned, and the VM ends in ERROR", () => {
    const emulated = emulatedWorld();
    const { id } = builtVm(emulated, { flavor_id: "g1.soldout" });
    expect(vmOf(emulated, id)).toMatchObject({ status: "ERROR", private_ip: null });
  });

  it("names every problem at once", () => {
    const message = messageOf(emulatedWorld().call("vm.create", { name: "x", size: "0" }));
    for (const field of ["flavor_id", "id", "image_id", "name", "owner", "project", "region", "size"])
      expect(message).toContain(`${field} `);
  });

  const strict: Record<string, [Record<string, unknown>, string]> = {
    "an unknown image": [{ image_id: unknownId }, "image_id is not in the image list"],
    "an unknown owner": [{ owner: "jane" }, "owner is not a user"],
    "another project": [{ project: "other" }, "project is not one you may build in"],
  };
  it.each(Object.entries(strict))("a strict world refuses %s", (_, [changes, message]) => {
    const answer = emulatedWorld({ strict: true }).call("vm.create", vmBody(changes));
    expect([answer.status, messageOf(answer)]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe("states of a VM", () => {
  const bodies = {
    rebuild: ["vm.rebuild", { image: "debian-12" }],
    resize: ["vm.resize", { flavor: "m1.large" }],
    "confirm the resize of": ["vm.resize.confirm", undefined],
    "revert the resize of": ["vm.resize.revert", undefined],
    snapshot: ["vm.snapshot", { name: "snap" }],
    stop: ["vm.stop", undefined],
    start: ["vm.start", undefined],
    reboot: ["vm.reboot", undefined],
    delete: ["vm.delete", undefined],
  } as const;
  const states = ["BUILD", "ACTIVE", "SHUTOFF", "ERROR", "VERIFY_RESIZE", "RESIZE", "REBUILD", "REBOOT", "STOPPING"];
  const cases = Object.entries(bodies).flatMap(([verb, [operation, body]]) =>
    states.map((status) => ({ verb: verb as keyof typeof bodies, operation, body, status })),
  );
  it.each(cases)("$verb in $status is allowed exactly when the table says so", ({ verb, operation, body, status }) => {
    const id = "vm-1";
    const emulated = emulatedWorld({}, { vms: [{ id, name: "web", status, image_id: imageId }] });
    const answer = emulated.call(operation, body, { id });
    const allowed = (allowedFrom[verb] as readonly string[]).includes(status);
    if (allowed) expect(answer.status).toBe(200);
    else expect([answer.status, messageOf(answer)]).toEqual([409, expect.stringMatching(/^invalid state transition/)]);
  });

  it("stop holds its answer for about 20 seconds, until the VM has stopped", () => {
    const emulated = emulatedWorld();
    const { id } = builtVm(emulated);
    const answer = emulated.call("vm.stop", undefined, { id });
    expect(answer.holdUntil).toBe(emulated.nowMs + 20_000);
    emulated.nowMs += 20_000;
    expect(vmOf(emulated, id).status).toBe("SHUTOFF");
    emulated.call("vm.start", undefined, { id });
    emulated.nowMs += 60_000;
    expect(vmOf(emulated, id).status).toBe("ACTIVE");
  });

  it("a resize goes to VERIFY_RESIZE, and a confirm keeps the new flavor", () => {
    const emulated = emulatedWorld();
    const { id } = builtVm(emulated);
    expect(emulated.call("vm.resize", { flavor: "m1.large" }, { id }).body).toBe("VM is resizing");
    expect(vmOf(emulated, id).status).toBe("RESIZE");
    emulated.nowMs += 15_000;
    expect(vmOf(emulated, id).status).toBe("VERIFY_RESIZE");
    emulated.call("vm.resize.confirm", undefined, { id });
    expect(vmOf(emulated, id)).toMatchObject({ status: "ACTIVE", flavor_id: expect.stringMatching(/8002-0+3$/) });
  });

  it("a revert brings the old flavor and the old power state back", () => {
    const emulated = emulatedWorld();
    const { id } = builtVm(emulated);
    emulated.call("vm.stop", undefined, { id });
    emulated.nowMs += 20_000;
    emulated.call("vm.resize", { flavor: "m1.large" }, { id });
    emulated.nowMs += 15_000;
    emulated.call("vm.resize.revert", undefined, { id });
    expect(vmOf(emulated, id).status).toBe("REVERT_RESIZE");
    emulated.nowMs += 5_000;
    const flavor_id = expect.stringMatching(/8002-0+1$/);
    expect(vmOf(emulated, id)).toMatchObject({ status: "SHUTOFF", flavor_id, resize_from: null });
  });

  it("a resize without capacity ends as it began", () => {
    const emulated = emulatedWorld();
    const { id } = builtVm(emulated);
    emulated.call("vm.resize", { flavor: "g1.soldout" }, { id });
    emulated.nowMs += 15_000;
    expect(vmOf(emulated, id)).toMatchObject({ status: "ACTIVE", flavor_id: expect.stringMatching(/8002-0+1$/) });
  });

  it("a service that confirms by itself passes through VERIFY_RESIZE", () => {
    const emulated = emulatedWorld({ autoConfirmResize: true });
    const { id } = builtVm(emulated);
    emulated.call("vm.resize", { flavor: "m1.large" }, { id });
    emulated.nowMs += 15_000;
    expect(vmOf(emulated, id).status).toBe("VERIFY_RESIZE");
    emulated.nowMs += 3_000;
    expect(vmOf(emulated, id)).toMatchObject({ status: "ACTIVE", flavor_id: expect.stringMatching(/8002-0+3$/) });
  });

  it("a rebuild wipes the root disk, takes an image by id or name, and ends ACTIVE", () => {
    const emulated = emulatedWorld();
    const { id } = builtVm(emulated);
    expect(emulated.call("vm.rebuild", { image: "debian-12" }, { id }).body).toBe("VM is rebuilding");
    emulated.nowMs += 30_000;
    const rebuilt = { status: "ACTIVE", root_wipes: 1, image_id: "00000000-0000-4000-8003-000000000003" };
    expect(vmOf(emulated, id)).toMatchObject(rebuilt);
    expect(emulated.call("vm.rebuild", { image: "no-such" }, { id }).status).toBe(400);
  });

  it("a snapshot answers an object of strings with the image's id, which is in the image list from then on", () => {
    const emulated = emulatedWorld();
    const { id } = builtVm(emulated);
    const { image_id } = emulated.call("vm.snapshot", { name: "before" }, { id }).body as { image_id: string };
    const images = (as: string) => JSON.stringify(emulated.call("image.list", undefined, { as }).body);
    expect(images("ops-token")).toContain(image_id);
    expect(images("outsider-token")).not.toContain(image_id);
  });
});

describe("deleting a VM", () => {
  it("never deletes its data volumes, and lists them as preserved", () => {
    const emulated = emulatedWorld();
    const vm = builtVm(emulated);
    const extra = (emulated.call("volume.create", { name: "more", size: "5" }).body as { id: string }).id;
    emulated.call("volume.attach", { vm_id: vm.id, volume_id: extra });
    expect(emulated.call("vm.delete", undefined, { id: vm.id }).body).toEqual({
      data: { message: "VM deleted", preserved_volumes: [vm.data, extra] },
    });
    expect(emulated.call("volume.get", undefined, { id: vm.data }).body).toMatchObject({ attached_to: null });
    expect(emulated.call("volume.get", undefined, { id: vm.root }).status).toBe(404);
    expect(emulated.call("vm.delete", undefined, { id: vm.id }).status).toBe(404);
  });

  it.each([
    ["", 1],
    ["delete_floating_ip=false", 1],
    ["delete_floating_ip=true", 0],
  ])("with %o the project keeps %i floating IP", (query, kept) => {
    const emulated = emulatedWorld();
    emulated.call("vm.delete", undefined, { id: builtVm(emulated).id, query });
    expect(emulated.dump().floating_ips).toHaveLength(kept);
    // And of a VM that is not built yet, which shows none.
    emulated.call("vm.create", vmBody({ name: "unbuilt" }));
    emulated.call("vm.delete", undefined, { id: emulated.dump().vms[0]!.id, query });
    expect(emulated.dump().floating_ips.map(({ vm_id }) => vm_id)).toEqual(Array(2 * kept).fill(null));
  });

  it("takes a boolean only", () => {
    const emulated = emulatedWorld();
    const { id } = builtVm(emulated);
    expect(emulated.call("vm.delete", undefined, { id, query: "delete_floating_ip=maybe" }).status).toBe(400);
  });
});

describe("renaming a VM", () => {
  it("follows the name rules, lower-cases, and frees the old name", () => {
    const emulated = emulatedWorld();
    const { id } = builtVm(emulated);
    expect(emulated.call("vm.rename", { name: "Shop" }, { id })).toMatchObject({
      status: 200,
      body: { data: "VM renamed" },
    });
    expect(vmOf(emulated, id).name).toBe("shop");
    expect(emulated.call("vm.create", vmBody()).status).toBe(202);
  });

  it.each([
    ["a bad name is a bad request", { name: "x" }, "ops-token", 400],
    ["a name that is taken is a bad request", { name: "taken" }, "ops-token", 400],
    ["its own name is fine", { name: "web" }, "ops-token", 200],
    ["a member who does not own it is forbidden to", { name: "shop" }, "member-token", 403],
    ["an inactive member is forbidden to", { name: "shop" }, "inactive-token", 403],
    ["a VM of another project is not found", { name: "shop" }, "outsider-token", 404],
  ])("%s", (_, body, as, status) => {
    const emulated = emulatedWorld();
    const { id } = builtVm(emulated);
    builtVm(emulated, { name: "taken" });
    expect(emulated.call("vm.rename", body, { id, as }).status).toBe(status);
  });
});

describe("listing VMs", () => {
  const many = (count: number) => ({
    vms: Array.from({ length: count }, (_, n) => ({ id: `v${n}`, name: `vm-${n}` })),
  });
  const page = (emulated: ReturnType<typeof emulatedWorld>, cursor: string) =>
    emulated.call("vm.list", undefined, { query: cursor === "" ? "" : `page=${cursor}` }).body as {
      data: { id: string }[];
      page: { next: string; prev: string; total_size: number };
    };

  it("gives pages whose next leads through all of them, in the order of creation", () => {
    const emulated = emulatedWorld({ pageSize: 3 }, many(8));
    const seen: string[] = [];
    let cursor = "";
    do {
      const { data, page: links } = page(emulated, cursor);
      seen.push(...data.map((vm) => vm.id));
      expect(links.total_size).toBe(8);
      cursor = links.next;
    } while (cursor !== "");
    expect(seen).toEqual(many(8).vms.map((vm) => vm.id));
  });

  it("leads back by prev", () => {
    const emulated = emulatedWorld({ pageSize: 3 }, many(8));
    const second = page(emulated, page(emulated, "").page.next);
    expect(page(emulated, second.page.prev).data.map((vm) => vm.id)).toEqual(["v0", "v1", "v2"]);
    const third = page(emulated, second.page.next);
    expect(page(emulated, third.page.prev).data).toEqual(second.data);
  });

  it("misses nothing when an earlier VM goes while the list is read", () => {
    const emulated = emulatedWorld({ pageSize: 3 }, many(8));
    const { next } = page(emulated, "").page;
    emulated.call("vm.delete", undefined, { id: "v0" });
    emulated.call("vm.delete", undefined, { id: "v3" });
    expect(page(emulated, next).data.map((vm) => vm.id)).toEqual(["v4", "v5", "v6"]);
  });

  it("shows a VM once, however often it changed", () => {
    const emulated = emulatedWorld({}, many(2));
    emulated.call("vm.rename", { name: "renamed" }, { id: "v0" });
    expect(page(emulated, "").data.map((vm) => vm.id)).toEqual(["v0", "v1"]);
  });

  it("shows nothing of another project", () => {
    const emulated = emulatedWorld({}, many(2));
    expect(emulated.call("vm.list", undefined, { as: "outsider-token" }).body).toMatchObject({ data: [] });
  });

  it("refuses a cursor it never gave", () => {
    expect(emulatedWorld().call("vm.list", undefined, { query: "page=-1" }).status).toBe(400);
  });

  it("does not show what is younger than a lagging list", () => {
    const emulated = emulatedWorld();
    builtVm(emulated);
    expect(emulated.call("vm.list", undefined, { staleMs: 60_001 }).body).toMatchObject({ data: [] });
    expect(emulated.call("vm.list", undefined, { staleMs: 59_000 }).body).toMatchObject({ data: [{ name: "web" }] });
  });
});
