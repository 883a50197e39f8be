/**
 * Services that show what is over beside what is: attachments that stay with a state of their own, a volume at rest that
 * is being updated still, deleted ones that are listed and not found. And one that takes calls.
 */
import { type Meant, type Raw, text } from "../deployments/front";
import { curl, disks, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";
import { flavors } from "./world";

const someId = "6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11";

function keeper(): Odd {
  const shapeOf = (id: unknown) => flavors.find((one) => one.id === id)?.name;
  const hosts = new Map<string, string[]>();
  const attachments = ({ id, attached_to: on }: Raw): readonly Raw[] => {
    const before = hosts.get(text(id)) ?? [];
    if (on !== null && before.at(-1) !== on) before.push(text(on));
    hosts.set(text(id), before);
    return before.map((serverId, nth) => ({
      serverId,
      state: on !== null && nth === before.length - 1 ? "ATTACHED" : "DETACHED",
    }));
  };
  const shown: Shown = {
    vm: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      properties: {
        state: word({ ACTIVE: "RUNNING", SHUTOFF: "STOPPED", VERIFY_RESIZE: "TO_BE_CONFIRMED" }, raw, "CHANGING"),
        shape: shapeOf(raw["flavor_id"]),
        imageId: raw["image_id"],
        owner: raw["owner"],
        privateIp: raw["private_ip"],
        publicIp: raw["floating_ip"],
        disks: disks(raw).map(({ id, root }) => ({ volumeId: id, boot: root })),
      },
    }),
    volume: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      properties: {
        provisioningState: /ing$/.test(text(raw["status"])) ? "Updating" : "Succeeded",
        diskState: raw["attached_to"] === null ? "Unattached" : "Attached",
        sizeGb: raw["size"],
        attachments: attachments(raw),
      },
    }),
    group: (raw) => ({ id: raw["id"], name: raw["name"], properties: { description: raw["description"] } }),
    flavor: (raw) => ({ shape: raw["name"], ocpus: 2 }),
    image: (raw) => ({ id: raw["id"], name: raw["name"] }),
    region: (raw) => ({ id: raw["id"], name: raw["name"] }),
  };
  const at = "/20260901";
  return odd({
    title: "an update beside a state at rest, attachments that are over, shapes without ids",
    shown,
    world: { slowVolumes: true, range: "-" },
    lists: {
      vm: `${at}/servers`,
      volume: `${at}/volumes`,
      group: `${at}/firewalls`,
      flavor: `${at}/shapes`,
      image: `${at}/images`,
      region: `${at}/regions`,
    },
    routes: [
      [`GET ${at}/servers/:id`, "vm.get"],
      [`POST ${at}/servers/:id/keep`, "vm.resize.confirm"],
      [`POST ${at}/servers/:id/undo`, "vm.resize.revert"],
      [`DELETE ${at}/volumes/:id`, "volume.delete"],
      [`DELETE ${at}/firewalls/:id/rules/:rule`, "group.rule.delete"],
    ],
    page: (items, _, operation) => ({
      body: items.length === 0 ? {} : { data: items.map(shown[operation.slice(0, -5) as keyof Shown]) },
    }),
    answer: (_, record, payload) => ({ body: { data: record ?? payload } }),
    refuse: (_, status, message) => ({ status, body: { code: `E${status}`, message } }),
    told: [
      ...curl("vm.list", `-H 'Authorization: Bearer x' URL${at}/servers`),
      ...curl("volume.list", `URL${at}/volumes`),
      ...curl("flavor.list", `URL${at}/shapes`),
      ...curl("volume.delete", `-X DELETE URL${at}/volumes/${someId}`),
      ...curl("vm.resize.confirm", `-X POST URL${at}/servers/${someId}/keep`),
      ...curl("vm.resize.revert", `-X POST URL${at}/servers/${someId}/undo`),
    ],
  });
}

/** Maps by id whose records hold their ids deeper, VMs that alone tell their volumes, deleted ones that are listed and not found. */
function remnants(): Odd {
  const object = (raw: Raw, spec: Raw): Raw => ({ metadata: { id: raw["id"], title: raw["name"] }, spec });
  const shown: Shown = {
    vm: (raw) =>
      object(raw, {
        phase: word({ ACTIVE: "Up", SHUTOFF: "Down", VERIFY_RESIZE: "Undecided", deleted: "Removed" }, raw, "Moving"),
        plan: raw["flavor_id"],
        image: raw["image_id"],
        contact: raw["owner"],
        innerAddress: raw["private_ip"],
        outerAddress: raw["floating_ip"],
        devices: disks(raw).map(({ id, root }) => ({ device: root ? "/dev/vda" : "/dev/vdb", diskId: id })),
      }),
    volume: (raw) => object(raw, { phase: word({ deleted: "Removed" }, raw, raw["status"]), gigabytes: raw["size"] }),
    group: (raw) => object(raw, { note: raw["description"] }),
    flavor: (raw) => ({ id: raw["id"], name: raw["name"] }),
    image: (raw) => ({ id: raw["id"], name: raw["name"] }),
    region: (raw) => ({ id: raw["id"], name: raw["name"] }),
  };
  const at = "/v5";
  const lists = {
    vm: `${at}/servers`,
    volume: `${at}/disks`,
    group: `${at}/firewalls`,
    flavor: `${at}/plans`,
    image: `${at}/images`,
    region: `${at}/regions`,
  };
  return odd({
    title: "maps of records with deeper ids, VMs that alone tell their volumes, a page for what is deleted",
    shown,
    world: { slowVolumes: true, stays: true, twice: true, range: "-" },
    lists,
    routes: [
      [`GET ${at}/servers/:id`, "vm.get"],
      [`POST ${at}/servers/:id/keep`, "vm.resize.confirm"],
      [`POST ${at}/servers/:id/undo`, "vm.resize.revert"],
      [`DELETE ${at}/disks/:id`, "volume.delete"],
      [`DELETE ${at}/firewalls/:id/rules/:rule`, "group.rule.delete"],
    ],
    page: (items, { path }, operation) => {
      const records = items.map((raw) => [text(raw["id"]), shown[operation.slice(0, -5) as keyof Shown](raw)]);
      const [, , key = ""] = path.split("/");
      return { body: { [key]: /vm|volume|group/.test(operation) ? Object.fromEntries(records) : items } };
    },
    answer: (operation, record, payload) => ({
      body: record === undefined ? { data: payload } : { [operation.split(".")[0] ?? ""]: record },
    }),
    refuses(operation, { id = "" }, _, world) {
      const { status } = { vm: world.vms, volume: world.volumes }[operation.slice(0, -4)]?.get(id) ?? {};
      return operation.endsWith(".get") && status === "deleted" ? page : undefined;
    },
    refuse: (_, status, message) => (status === 404 ? page : { status, body: { reason: message } }),
    told: [
      ...curl("vm.list", `-H 'Authorization: Bearer x' URL${at}/servers`),
      ...curl("volume.list", `URL${at}/disks`),
      ...curl("flavor.list", `URL${at}/plans`),
      ...curl("volume.delete", `-X DELETE URL${at}/disks/${someId}`),
      ...curl("vm.resize.confirm", `-X POST URL${at}/servers/${someId}/keep`),
      ...curl("vm.resize.revert", `-X POST URL${at}/servers/${someId}/undo`),
    ],
  });
}

/** Calls with an id and a result beside it, refusals in the contract's own form inside a 200, words in several letters. */
function calls(): Odd {
  const stateOf = (raw: Raw) =>
    word({ ACTIVE: "Running", SHUTOFF: "Halted", VERIFY_RESIZE: "Undecided" }, raw, "Moving");
  const shown: Shown = {
    vm: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      state: stateOf(raw),
      flavor: raw["flavor_id"],
      image: raw["image_id"],
      owner: raw["owner"],
      private_ip: raw["private_ip"],
      public_ip: raw["floating_ip"],
      disks: disks(raw).map(({ id, root }) => ({ volume_id: id, boot: root })),
    }),
    volume: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      size: raw["size"],
      state: raw["status"],
      vm: raw["attached_to"],
    }),
    group: (raw) => ({ id: raw["id"], name: raw["name"], description: raw["description"] }),
    flavor: (raw) => ({ id: raw["id"], name: raw["name"] }),
    image: (raw) => ({ id: raw["id"], name: raw["name"] }),
    region: (raw) => ({ id: raw["id"], name: raw["name"] }),
  };
  const listed = (kind: keyof Shown) => (raw: Raw) =>
    kind === "vm" ? { ...shown.vm(raw), state: text(stateOf(raw)).toUpperCase() } : shown[kind](raw);
  const methods: Readonly<Record<string, string>> = {
    "vm.list": "vm.list",
    "volume.list": "volume.list",
    "firewall.list": "group.list",
    "flavor.list": "flavor.list",
    "image.list": "image.list",
    "region.list": "region.list",
    "vm.get": "vm.get",
    "volume.delete": "volume.delete",
    "vm.keepSize": "vm.resize.confirm",
    "vm.undoSize": "vm.resize.revert",
    "firewall.deleteRule": "group.rule.delete",
  };
  const called = (result: unknown) => ({ jsonrpc: "2.0", id: 1, result });
  const call = (operation: string, method: string, params = "{}") =>
    curl(operation, `-X POST -d '{"jsonrpc":"2.0","method":"${method}","params":${params},"id":1}' URL/jsonrpc`);
  const made = odd({
    title: "calls with a result, refusals of the usual form inside a 200, words in several letters",
    shown,
    world: { slowVolumes: true, range: "-" },
    lists: {},
    routes: [],
    page: (items, _, operation) => ({ body: called(items.map(listed(operation.slice(0, -5) as keyof Shown))) }),
    answer: (operation, record, payload) => ({
      body: /^vm\.(get|resize\.)|delete$/.test(operation) ? called(record ?? payload) : { data: record ?? payload },
    }),
    refuse: (_, status, message) => ({
      status: status === 401 ? 401 : 200,
      body: { jsonrpc: "2.0", id: 1, error: { code: -32000 - (status % 100), message } },
    }),
    told: [
      ...call("vm.list", "vm.list"),
      ...call("volume.delete", "volume.delete", `{"id":"${someId}"}`),
      ...call("vm.resize.confirm", "vm.keepSize", `{"id":"${someId}"}`),
      ...call("vm.resize.revert", "vm.undoSize", `{"id":"${someId}"}`),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand({ method, path, body }): Meant | undefined {
        const operation = method === "POST" && path === "/jsonrpc" ? methods[text(body["method"])] : undefined;
        const params = (body["params"] ?? {}) as Raw;
        return operation === undefined
          ? undefined
          : { operation, id: text(params["id"]), ruleId: text(params["rule_id"]) };
      },
    },
  };
}

const page = { status: 404, headers: { "content-type": "text/html" }, body: "<html>404 Not Found</html>" };

export const leftovers: readonly Odd[] = [keeper(), remnants(), calls()];
