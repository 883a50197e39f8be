/**
 * Services whose records do not show what hangs on what: one that lists attachments with ids of their own, in pages, and
 * one in which each VM has a list of what hangs on it.
 */
import { cut, type Meant, type Raw, text } from "../deployments/front";
import { curl, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";

const someId = "6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11";
const named = (raw: Raw): Raw => ({ id: raw["id"], name: raw["name"] });
const hanging = (volumes: readonly Raw[]): readonly Raw[] => volumes.filter((raw) => raw["attached_to"] !== null);

const shown: Shown = {
  vm: (raw) => ({
    ...named(raw),
    status: word({ ACTIVE: "ACTIVE", SHUTOFF: "SHUTOFF", VERIFY_RESIZE: "VERIFY_RESIZE" }, raw, "BUILD"),
    flavor: { id: raw["flavor_id"] },
    image: { id: raw["image_id"] },
    user_email: raw["owner"],
    addresses: { fixed: raw["private_ip"], floating: raw["floating_ip"] },
  }),
  volume: (raw) => ({ ...named(raw), size: raw["size"], status: word({}, raw, raw["status"]), bootable: raw["root"] }),
  group: (raw) => ({ ...named(raw), description: raw["description"] }),
  flavor: named,
  image: named,
  region: named,
};

/** Attachments with ids of their own; a marker leads on. `keeps`: what was taken off is shown as before. */
function inOneList(keeps = false): Odd {
  /** What hung on what at any time. */
  const over = new Map<unknown, Raw>();
  const attachment = (raw: Raw): Raw => ({
    id: `att-${text(raw["id"])}`,
    instance: raw["attached_to"],
    volume_id: raw["id"],
    attach_mode: "rw",
  });
  return odd({
    title: "attachments in a list of their own",
    shown,
    world: { slowVolumes: true, twice: true },
    lists: {
      vm: "/v3/servers",
      volume: "/v3/volumes",
      group: "/v3/security-groups",
      flavor: "/v3/flavors",
      image: "/v3/images",
      region: "/v3/regions",
    },
    routes: [
      ["GET /v3/attachments", "volume.list"],
      ["GET /v3/servers/:id", "vm.get"],
      ["POST /v3/servers/:id/confirm-resize", "vm.resize.confirm"],
      ["POST /v3/servers/:id/revert-resize", "vm.resize.revert"],
      ["DELETE /v3/volumes/:id", "volume.delete"],
      ["DELETE /v3/security-groups/:id/rules/:rule", "group.rule.delete"],
    ],
    page(items, { path, query, base }, operation) {
      const isApart = path === "/v3/attachments";
      for (const one of isApart ? hanging(items) : []) over.set(one["id"], one);
      const all = !isApart ? items : keeps ? [...over.values()] : hanging(items);
      const from = all.findIndex(({ id }) => text(id) === query.get("marker")) + 1;
      const there = cut(all, from, 2);
      const key = isApart ? "attachments" : (path.split("/").at(-1) ?? "");
      const kind = operation.split(".")[0] as keyof Shown;
      const isMore = from + 2 < all.length;
      return {
        body: {
          [key]: there.map(isApart ? attachment : shown[kind]),
          ...(isMore && {
            [`${key}_links`]: [{ rel: "next", href: `${base}${path}?marker=${text(there[1]?.["id"])}` }],
          }),
        },
      };
    },
    answer: (operation, record, payload) => ({ body: record ?? { data: payload, op: operation } }),
    refuse: (_, status, message) => ({ status, body: { message, code: status } }),
    told: curl("vm.list", "-H 'Authorization: Bearer x' URL/v3/servers"),
  });
}

/** A list for each VM, of volumes that have an id of their own in it; root disks are in no list of volumes. */
function inListsOfVms(): Odd {
  const made = odd({
    title: "attachments in a list for each VM",
    shown,
    world: { delayMs: 30 },
    lists: {
      vm: "/cloud/servers/detail",
      volume: "/cloud/volumes/detail",
      group: "/cloud/os-security-groups",
      flavor: "/cloud/flavors",
      image: "/cloud/images",
      region: "/cloud/regions",
    },
    routes: [
      ["GET /cloud/servers/:id/os-volume_attachments", "volume.list"],
      ["GET /cloud/servers/:id", "vm.get"],
      ["POST /cloud/servers/:id/action", "vm.resize.confirm", { confirmResize: null }],
      ["POST /cloud/servers/:id/action", "vm.resize.revert", { revertResize: null }],
      ["DELETE /cloud/volumes/:id", "volume.delete"],
      ["DELETE /cloud/os-security-group-rules/:rule", "group.rule.delete"],
    ],
    page(items, { path }, operation) {
      const [, , , vm, apart] = path.split("/");
      if (apart === "os-volume_attachments")
        return {
          body: {
            volumeAttachments: items
              .filter((raw) => raw["attached_to"] === vm)
              .map((raw) => ({ id: raw["id"], serverId: vm, volumeId: raw["id"], device: "/dev/vdb" })),
          },
        };
      const kind = operation.split(".")[0] as keyof Shown;
      const key =
        { volume: "volumes", vm: "servers", group: "security_groups" }[operation.split(".")[0] ?? ""] ?? "all";
      const there = operation === "volume.list" ? items.filter(({ root }) => root !== true) : items;
      return { body: { [key]: there.map(shown[kind]) } };
    },
    answer: (operation, record, payload) => ({
      body: record === undefined ? { data: payload } : { [operation.split(".")[0] ?? ""]: record },
    }),
    refuse: (_, status, message) => ({ status, body: { error: { code: status, message } } }),
    told: [
      ...curl("vm.list", "URL/cloud/servers/detail"),
      ...curl("group.list", "URL/cloud/os-security-groups"),
      ...curl("group.rule.delete", `-X DELETE URL/cloud/os-security-group-rules/${someId}`),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      // A VM that is not there has no list.
      understand(asked, world): Meant | undefined {
        const [, , kind, id, apart] = asked.path.split("/");
        const isGone = kind === "servers" && apart === "os-volume_attachments" && !world.vms.has(id ?? "");
        return isGone ? undefined : made.shape.understand(asked, world);
      },
    },
  };
}

export const apart: readonly Odd[] = [inOneList(), inListsOfVms()];
/** Its list of attachments tells nothing of what hangs on what. */
export const keepingAttachments = (): Odd => inOneList(true);
