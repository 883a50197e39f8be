/**
 * Services that answer in ways of their own: a number that is 0 when it went well, beside a message at all times; pages
 * that nothing but their end shows; what was deleted, with a flag beside its state; and pages that are parts.
 */
import { cut, type Meant, type Raw, type Said, text } from "../deployments/front";
import { curl, disks, odd, page as pageOf, type Shown, word } from "./further";
import type { Odd } from "./shapes";
import { flavors } from "./world";

const someId = "6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11";
const nameOf = (of: readonly { id: string; name: string }[], id: unknown) => of.find((one) => one.id === id)?.name;
const plain = (raw: Raw): Raw => ({ id: raw["id"], name: raw["name"] });
const kindIn = (operation: string) => operation.split(".")[0] as keyof Shown;

/** A number that is 0 when it went well, with a message at all times; epochs, bytes and booleans as texts. */
function codes(): Odd {
  const said = (data: unknown): Said => ({ body: { ret: 0, msg: "success", traceId: `t-${Math.random()}`, data } });
  const shown: Shown = {
    vm: (raw) => ({
      instanceId: Number(raw["id"]),
      instanceName: raw["name"],
      instanceState: word({ ACTIVE: 1, SHUTOFF: 3, VERIFY_RESIZE: 7, BUILD: 0 }, raw, 2),
      specCode: raw["flavor_id"],
      imageId: raw["image_id"],
      ownerName: raw["owner"],
      privateIp: raw["private_ip"],
      eip: raw["floating_ip"] ?? "",
      createTime: 1_790_000_000_000,
      autoRenew: "false",
      diskList: disks(raw).map(({ id, root }) => ({ diskId: Number(id), systemDisk: String(root) })),
    }),
    volume: (raw) => ({
      diskId: Number(raw["id"]),
      diskName: raw["name"],
      diskSize: String(Number(raw["size"]) * 2 ** 30),
      diskState: word({ available: 10, "in-use": 20 }, raw, 15),
      instanceId: raw["attached_to"] === null ? 0 : Number(raw["attached_to"]),
      systemDisk: String(raw["root"]),
    }),
    group: (raw) => ({ groupId: Number(raw["id"]), groupName: raw["name"], groupDesc: raw["description"] }),
    flavor: (raw) => ({ specCode: raw["id"], specName: raw["name"] }),
    image: (raw) => ({ imageId: raw["id"], imageName: raw["name"] }),
    region: (raw) => ({ regionId: raw["id"], regionName: raw["name"] }),
  };
  const made = odd({
    title: "a number that is 0 when it went well, with a message at all times",
    shown,
    world: { slowVolumes: true, twice: true, id: (kind, nth) => (kind === "rule" ? `r${nth}` : String(nth)) },
    lists: {
      vm: "/v2/instance/list",
      volume: "/v2/disk/list",
      group: "/v2/securityGroup/list",
      flavor: "/v2/spec/list",
      image: "/v2/image/list",
      region: "/v2/region/list",
    },
    routes: [
      ["POST /v2/instance/confirmResize", "vm.resize.confirm"],
      ["POST /v2/instance/revertResize", "vm.resize.revert"],
      ["POST /v2/disk/delete", "volume.delete"],
    ],
    page: (items, { query }, operation) => {
      const nr = Number(query.get("pageNum") ?? 1);
      return said({
        pageNum: nr,
        pageSize: 2,
        total: items.length,
        pages: Math.ceil(items.length / 2),
        list: cut(items, (nr - 1) * 2, 2).map(shown[kindIn(operation)]),
      });
    },
    answer: (operation, record, payload) =>
      operation === "volume.create"
        ? said({ diskId: record?.["diskId"] })
        : operation === "group.create"
          ? said({ groupId: record?.["groupId"] })
          : said(record ?? payload),
    refuse: (_, status, message) => ({
      status: status === 401 ? 401 : 200,
      body: { ret: status === 404 ? 40400 : 40000 + status, msg: message, traceId: `t-${Math.random()}`, data: null },
    }),
    told: [
      ...curl("vm.list", "-H 'Authorization: Bearer x' URL/v2/instance/list"),
      ...curl("vm.resize.confirm", `-X POST -d '{"instanceId":7}' URL/v2/instance/confirmResize`),
      ...curl("vm.resize.revert", `-X POST -d '{"instanceId":7}' URL/v2/instance/revertResize`),
      ...curl("volume.delete", `-X POST -d '{"diskId":7}' URL/v2/disk/delete`),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand(asked, world): Meant | undefined {
        const meant = made.shape.understand(asked, world);
        const id = asked.body["instanceId"] ?? asked.body["diskId"];
        return meant === undefined || typeof id !== "number" ? meant : { ...meant, id: text(id) };
      },
    },
  };
}
/** Commands in a query; states as pairs of numbers; everything a text; a rule's delete that nobody tells. */
function pairs(): Odd {
  const pair: Readonly<Record<string, readonly [string, string]>> = {
    ACTIVE: ["3", "3"],
    SHUTOFF: ["8", "0"],
    VERIFY_RESIZE: ["3", "25"],
    BUILD: ["1", "0"],
  };
  const shown: Shown = {
    vm: (raw) => {
      const [state, lcm] = pair[text(raw["status"])] ?? ["3", "17"];
      return {
        ID: raw["id"],
        NAME: raw["name"],
        UID: "0",
        STATE: state,
        LCM_STATE: lcm,
        STIME: "1790000000",
        ETIME: "0",
        TEMPLATE: { SIZE: nameOf(flavors, raw["flavor_id"]), IMAGE_ID: raw["image_id"], CONTACT: raw["owner"] },
        NICS: {
          NIC: [
            { IP: raw["private_ip"], EXTERNAL: "NO" },
            ...(raw["floating_ip"] === null ? [] : [{ IP: raw["floating_ip"], EXTERNAL: "YES" }]),
          ],
        },
        DISKS: {
          DISK: disks(raw).map(({ id, root }, nth) => ({
            DISK_ID: String(nth),
            VOLUME_ID: id,
            BOOT: root ? "YES" : "NO",
          })),
        },
      };
    },
    volume: (raw) => ({
      ID: raw["id"],
      NAME: raw["name"],
      SIZE: String(Number(raw["size"]) * 1024),
      STATE: word({ available: "1", "in-use": "2" }, raw, "4"),
      RUNNING_VMS: raw["attached_to"] === null ? "0" : "1",
      VM_ID: text(raw["attached_to"]),
    }),
    group: (raw) => ({ ID: raw["id"], NAME: raw["name"], DESCRIPTION: raw["description"] }),
    flavor: (raw) => ({ ID: raw["id"], NAME: raw["name"] }),
    image: (raw) => ({ ID: raw["id"], NAME: raw["name"] }),
    region: (raw) => ({ ID: raw["id"], NAME: raw["name"] }),
  };
  const table: Readonly<Record<string, readonly [operation: string, key: string]>> = {
    listVirtualMachines: ["vm.list", "VM"],
    listVolumes: ["volume.list", "VOLUME"],
    listSecurityGroups: ["group.list", "SECURITY_GROUP"],
    listSizes: ["flavor.list", "SIZE"],
    listImages: ["image.list", "IMAGE"],
    listRegions: ["region.list", "REGION"],
    deleteVolume: ["volume.delete", ""],
    confirmResize: ["vm.resize.confirm", ""],
    revertResize: ["vm.resize.revert", ""],
    deleteSecurityGroupRule: ["group.rule.delete", ""],
  };
  const made = odd({
    title: "commands in a query, states as pairs, a rule's delete that nobody tells",
    shown,
    lists: {},
    routes: [],
    world: {
      id: (kind, nth) => ({ vm: "1", volume: "2", group: "3", rule: "4" })[kind] + String(nth).padStart(3, "0"),
      slowVolumes: true,
      range: ":",
    },
    page: (items, { query }, operation) => {
      const [, key = ""] = table[query.get("command") ?? ""] ?? [];
      const nr = Number(query.get("page") ?? 1);
      const own = cut(items, (nr - 1) * 4, 4);
      return {
        body: {
          response: {
            count: String(items.length),
            ...(own.length > 0 && { [key]: own.map(shown[kindIn(operation)]) }),
          },
        },
      };
    },
    answer: (operation, record, payload) => ({
      body: {
        response:
          record === undefined
            ? { result: payload }
            : {
                [{ vm: "VM", volume: "VOLUME", group: "SECURITY_GROUP" }[operation.split(".")[0] ?? ""] ?? ""]: record,
              },
      },
    }),
    refuse: (_, status, message) => ({
      status: status === 401 ? 401 : 400,
      body: { response: { errorcode: String(status === 404 ? 431 : status), errortext: message } },
    }),
    told: [
      ...curl("vm.list", "'URL/client/api?command=listVirtualMachines'"),
      ...curl("volume.delete", "-X POST 'URL/client/api?command=deleteVolume&id=7'"),
      ...curl("vm.resize.confirm", "-X POST 'URL/client/api?command=confirmResize&id=7'"),
      ...curl("vm.resize.revert", "-X POST 'URL/client/api?command=revertResize&id=7'"),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand({ path, query }): Meant | undefined {
        const [operation] = table[query.get("command") ?? ""] ?? [];
        if (path !== "/client/api" || operation === undefined) return undefined;
        const id = query.get("id") ?? "";
        return operation === "group.rule.delete" ? { operation, ruleId: id } : { operation, id };
      },
    },
  };
}

/** What was deleted stays in its list with a flag of its own beside a state that does not change; pages with results. */
function trash(): Odd {
  const gone = (raw: Raw) => raw["status"] === "deleted";
  const shown: Shown = {
    vm: (raw) => ({
      pk: Number(raw["id"]),
      name: raw["name"],
      status: word({ ACTIVE: "up", SHUTOFF: "down", VERIFY_RESIZE: "verify", deleted: "down" }, raw, "working"),
      deleted: gone(raw),
      plan: raw["flavor_id"],
      os_image: raw["image_id"],
      responsible: raw["owner"],
      primary_ip: raw["floating_ip"],
      internal_ip: raw["private_ip"],
      drives: disks(raw).map(({ id, root }) => ({ drive: Number(id), is_system: root })),
    }),
    volume: (raw) => ({
      pk: Number(raw["id"]),
      name: raw["name"],
      status: word({ available: "ready", "in-use": "ready", deleted: "ready" }, raw, "working"),
      deleted: gone(raw),
      size_gb: raw["size"],
      machine: raw["attached_to"] === null ? null : Number(raw["attached_to"]),
    }),
    group: (raw) => ({ pk: Number(raw["id"]), name: raw["name"], description: raw["description"], deleted: false }),
    flavor: (raw) => ({ pk: raw["id"], name: raw["name"] }),
    image: (raw) => ({ pk: raw["id"], name: raw["name"] }),
    region: (raw) => ({ pk: raw["id"], name: raw["name"] }),
  };
  return odd({
    title: "what was deleted is listed with a flag of its own, beside a state that does not change",
    shown,
    world: { stays: true, twice: true, id: (kind, nth) => (kind === "rule" ? `r${nth}` : String(10 + nth)) },
    lists: {
      vm: "/api/v2/machines/",
      volume: "/api/v2/drives/",
      group: "/api/v2/firewalls/",
      flavor: "/api/v2/plans/",
      image: "/api/v2/images/",
      region: "/api/v2/regions/",
    },
    routes: [
      ["GET /api/v2/machines/:id/", "vm.get"],
      ["GET /api/v2/firewalls/:id/", "group.get"],
      ["POST /api/v2/machines/:id/confirm_resize/", "vm.resize.confirm"],
      ["POST /api/v2/machines/:id/revert_resize/", "vm.resize.revert"],
      ["DELETE /api/v2/drives/:id/", "volume.delete"],
      ["DELETE /api/v2/firewalls/:id/rules/:rule/", "group.rule.delete"],
    ],
    page: (items, asked, operation) => {
      const nr = Number(asked.query.get("page") ?? 1);
      return {
        body: {
          count: items.length,
          next: nr * 2 < items.length ? `${asked.base}${asked.path}?page=${nr + 1}` : null,
          previous: null,
          results: pageOf(items, asked).map(shown[kindIn(operation)]),
        },
      };
    },
    answer: (_, record, payload) =>
      record !== undefined ? { body: record } : typeof payload === "string" ? { status: 204 } : { body: payload },
    refuse: (_, status, message) => ({ status, body: { detail: status === 404 ? "Not found." : message } }),
    told: [
      ...curl("vm.list", "-H 'Authorization: Bearer x' URL/api/v2/machines/"),
      ...curl("vm.resize.confirm", "-X POST URL/api/v2/machines/5/confirm_resize/"),
      ...curl("vm.resize.revert", "-X POST URL/api/v2/machines/5/revert_resize/"),
      ...curl("group.rule.delete", "-X DELETE URL/api/v2/firewalls/5/rules/r9/"),
    ],
  });
}

/** A page of a list is a part (206), and a header says which of how many; sizes in bytes as texts. */
function ranges(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      vmState: word({ ACTIVE: "Active", SHUTOFF: "Stopped", VERIFY_RESIZE: "ToVerify" }, raw, "Pending"),
      machineType: { name: nameOf(flavors, raw["flavor_id"]) },
      baseImage: { id: raw["image_id"] },
      ownerEmail: raw["owner"],
      addresses: { public: raw["floating_ip"], internal: raw["private_ip"] },
      attachedVolumes: disks(raw).map(({ id, root }) => ({ volumeId: id, root })),
    }),
    volume: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      sizeBytes: String(Number(raw["size"]) * 2 ** 30),
      volumeState: word({ available: "Free", "in-use": "Used" }, raw, "Pending"),
      usedBy: raw["attached_to"] === null ? [] : [{ type: "vm", id: raw["attached_to"] }],
    }),
    group: (raw) => ({ id: raw["id"], name: raw["name"], description: raw["description"] }),
    flavor: plain,
    image: plain,
    region: plain,
  };
  return odd({
    title: "pages that are parts, with their range in a header",
    shown,
    world: { slowVolumes: true, range: "-" },
    lists: {
      vm: "/api/v3/vms",
      volume: "/api/v3/volumes",
      group: "/api/v3/security-groups",
      flavor: "/api/v3/machine-types",
      image: "/api/v3/images",
      region: "/api/v3/regions",
    },
    routes: [
      ["GET /api/v3/vms/:id", "vm.get"],
      ["GET /api/v3/security-groups/:id", "group.get"],
      ["POST /api/v3/vms/:id/confirm-resize", "vm.resize.confirm"],
      ["POST /api/v3/vms/:id/revert-resize", "vm.resize.revert"],
      ["DELETE /api/v3/volumes/:id", "volume.delete"],
      ["DELETE /api/v3/security-groups/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, { query }, operation) => {
      const from = Number(query.get("offset") ?? 0);
      const own = cut(items, from, 3);
      return {
        status: from + own.length < items.length ? 206 : 200,
        headers: { "content-range": `items ${from}-${from + own.length - 1}/${items.length}` },
        body: own.map(shown[kindIn(operation)]),
      };
    },
    answer: (_, record, payload) => ({ body: record ?? { data: payload } }),
    refuse: (_, status, message) => ({ status, body: { title: "Refused", status, detail: message } }),
    told: [
      ...curl("vm.list", "-H 'Authorization: Bearer x' URL/api/v3/vms"),
      ...curl("vm.resize.confirm", `-X POST URL/api/v3/vms/${someId}/confirm-resize`),
      ...curl("vm.resize.revert", `-X POST URL/api/v3/vms/${someId}/revert-resize`),
    ],
  });
}

export const wayfarers: readonly Odd[] = [codes(), pairs(), trash(), ranges()];
