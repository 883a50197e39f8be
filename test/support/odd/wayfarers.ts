/**
 * Services that answer in ways of their own: a number that is 0 when it went well, beside a message at all times.
 */
import { cut, type Meant, type Said, text } from "../deployments/front";
import { curl, disks, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";

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

export const wayfarers: readonly Odd[] = [codes()];
