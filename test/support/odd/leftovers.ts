/**
 * A service that shows what is over beside what is: attachments stay with a state of their own, a volume at rest is being
 * updated still, and a list is left out of its answer when nothing is in it.
 */
import { type Raw, text } from "../deployments/front";
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

export const leftovers: readonly Odd[] = [keeper()];
