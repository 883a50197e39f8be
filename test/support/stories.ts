/**
 * Stories of change for the campaigns: a world that stands, an edit of the file, and every request that the edit
 * takes is a place where a run may die or an answer may be lost. One story for each way in which something changes.
 */

import { join } from "node:path";
import { project as file } from "./desired-file";
import type { Expected } from "./guests";

export interface Story {
  /** The file before: applied undisturbed. */
  readonly before: object;
  /** The file after: applied under fire. */
  readonly after: object;
  /** Drives the service beyond its calls, between the two. */
  readonly between?: (control: Control) => Promise<void>;
  /** Everything in the state is deleted instead of applying `after`. */
  readonly destroy?: true;
  /** The health check of the resize never passes. */
  readonly unhealthy?: true;
  /** The run ends as failed or waiting even when nothing goes wrong, and starts over each time. */
  readonly neverSettles?: true;
  /** What the edit lets go of on purpose, as `volume spare`. */
  readonly letsGo?: readonly string[];
  /** What it does depends on what it sees: unseen, and said so, it is left to the next run. */
  readonly looks?: true;
  /** Commands that have to have run by the end. */
  readonly owes?: readonly Expected[];
  /** How this service behaves beyond its calls. */
  readonly emulator?: { readonly autoConfirmResize?: boolean };
  /** Only where the service has all its operations, or only where it has what the built-in dialect assumes. */
  readonly only?: Service;
}

/** What the service of a story has: all operations, or what the built-in dialect assumes. */
export type Service = "everything" | "built-in";

export type Control = (method: string, path: string, body?: unknown) => Promise<unknown>;

const tcp = (port: number, remote: object = { remote_ip: "0.0.0.0/0" }) => ({
  protocol: "tcp",
  dst_port: port,
  ...remote,
});
const from = (group: string) => ({ remote_group: group });
const ask = { flush: { via: "ask" } };
const stop = { flush: { via: "stop" } };
const command = { flush: { via: "command", command: ["true"] } };

/** A component with all three kinds in it, whose addresses a group outside admits. */
const tier = (webs: object) => ({
  components: { shop: { from: join(__dirname, "components/tier.yaml"), with: { webs } } },
  groups: { front: { rules: [tcp(443, { remote_ip: "${component.shop.addresses}" })] } },
});

/** One tier admits another by its addresses, which is the only way there is. */
const admitted = (webs: readonly string[], more: object = {}) => ({
  vms: { web: { for_each: webs, name: "web-${each}", ...more }, bastion: { name: "bastion-1", ...more } },
  groups: {
    front: { rules: [tcp(443)] },
    back: {
      description: "behind ${vm.bastion.name}",
      rules: [
        tcp(5432, { remote_ip: "${vm.web[*].private_ip}" }),
        tcp(22, { remote_ip: "${vm.bastion.floating_ip}", description: "from ${vm.bastion.id}" }),
        tcp(443, from("front")),
      ],
    },
  },
  outputs: { webs: "${vm.web[*].private_ip}", bastion: { value: "${vm.bastion.floating_ip}" } },
});

const standing = {
  vms: { web: {}, db: { name: "base" } },
  volumes: {
    data: { size: 20, attach_to: "db", ...ask },
    spare: { size: 5, ...ask },
  },
  groups: {
    front: { description: "first", rules: [tcp(443), tcp(80)] },
    back: { rules: [tcp(5432, from("front")), tcp(22, from("back"))] },
  },
};

const mailbox = {
  vms: { web: {} },
  volumes: { one: { size: 5, attach_to: "web", ...ask }, two: { size: 6, attach_to: "web", ...ask } },
};

const checked = { verify_resize: { check: { command: ["true"] } }, snapshot_before: ["resize"] };

/** Ids of what is there before this tool is. */
const known = (what: string): string =>
  `00000000-0000-4000-9000-${Buffer.from(what.slice(0, 6)).toString("hex").padStart(12, "0")}`;
const ubuntu = "00000000-0000-4000-8003-000000000001";
const ports = (port: number) => ({ port_range_min: port, port_range_max: port });

export const stories: Readonly<Record<string, Story>> = {
  "create everything": { before: file({}), after: file(standing) },
  "attach a volume that exists": {
    before: file({ vms: { web: {} }, volumes: { data: { size: 5, ...ask } } }),
    after: file({ vms: { web: {} }, volumes: { data: { size: 5, attach_to: "web", ...ask } } }),
  },
  "move an attachment": {
    before: file({
      vms: { web: {}, db: { name: "base" } },
      volumes: { data: { size: 5, attach_to: "web", ...command } },
    }),
    after: file({
      vms: { web: {}, db: { name: "base" } },
      volumes: { data: { size: 5, attach_to: "db", ...command } },
    }),
  },
  "grow an attached volume after its flush command": {
    before: file({ vms: { web: {} }, volumes: { data: { size: 5, attach_to: "web", ...command } } }),
    after: file({ vms: { web: {} }, volumes: { data: { size: 9, attach_to: "web", ...command } } }),
  },
  "grow two attached volumes while their VM is stopped": {
    before: file({
      vms: { web: {} },
      volumes: { one: { size: 5, attach_to: "web", ...stop }, two: { size: 6, attach_to: "web", ...stop } },
    }),
    after: file({
      vms: { web: {} },
      volumes: { one: { size: 7, attach_to: "web", ...stop }, two: { size: 8, attach_to: "web", ...stop } },
    }),
  },
  "move a volume off a VM that is stopped for it and shall run": {
    before: file({ vms: { web: { power: "running" } }, volumes: { data: { size: 5, attach_to: "web", ...stop } } }),
    after: file({ vms: { web: { power: "running" } }, volumes: { data: { size: 5, ...stop } } }),
  },
  "delete a volume that a stop takes off its VM": {
    before: file({ vms: { web: {} }, volumes: { data: { size: 5, attach_to: "web", ...stop } } }),
    after: file({ vms: { web: {} } }),
  },
  "grow the data volume of a VM": {
    before: file({ vms: { web: { size: 10 } } }),
    after: file({ vms: { web: { size: 14 } } }),
  },
  "rename a VM": { before: file({ vms: { web: {} } }), after: file({ vms: { web: { name: "www" } } }) },
  "swap the names of two VMs": {
    before: file({ vms: { one: { name: "blue" }, two: { name: "green" } } }),
    after: file({ vms: { one: { name: "green" }, two: { name: "blue" } } }),
  },
  "swap the names of two groups": {
    before: file({ groups: { one: { name: "blue", rules: [tcp(80)] }, two: { name: "green", rules: [tcp(81)] } } }),
    after: file({ groups: { one: { name: "green", rules: [tcp(80)] }, two: { name: "blue", rules: [tcp(81)] } } }),
  },
  "rename and describe a group": {
    before: file({ groups: { front: { description: "first", rules: [tcp(80)] } } }),
    after: file({ groups: { front: { name: "entry", description: "second", rules: [tcp(80)] } } }),
  },
  "resize with a check and confirm": {
    before: file({ vms: { web: { lifecycle: { verify_resize: { check: { command: ["true"] } } } } } }),
    after: file({
      vms: { web: { flavor_id: "m1.large", lifecycle: { verify_resize: { check: { command: ["true"] } } } } },
    }),
  },
  "resize with a snapshot before": {
    before: file({ vms: { web: { lifecycle: { snapshot_before: ["resize"] } } } }),
    after: file({ vms: { web: { flavor_id: "m1.large", lifecycle: { snapshot_before: ["resize"] } } } }),
  },
  "revert a resize whose check fails": {
    before: file({ vms: { web: {} } }),
    after: file({
      vms: {
        web: { flavor_id: "m1.large", lifecycle: { verify_resize: { check: { command: ["false"] }, timeout: "5ms" } } },
      },
    }),
    unhealthy: true,
    neverSettles: true,
  },
  "rebuild with a snapshot before": {
    before: file({ vms: { web: { lifecycle: { snapshot_before: ["rebuild"] } } } }),
    after: file({ vms: { web: { image_id: "debian-12", lifecycle: { snapshot_before: ["rebuild"] } } } }),
  },
  "stop a VM": {
    before: file({ vms: { web: { power: "running" } } }),
    after: file({ vms: { web: { power: "stopped" } } }),
  },
  "start a VM": {
    before: file({ vms: { web: { power: "stopped" } } }),
    after: file({ vms: { web: { power: "running" } } }),
  },
  "replace a VM and attach its volumes to the new one": {
    before: file(mailbox),
    after: file({ ...mailbox, vms: { web: { root_size: 80 } } }),
  },
  "replace a VM whose left-over volume is deleted": {
    before: file({ vms: { web: { lifecycle: { preserved_volumes: "delete" } } } }),
    after: file({ vms: { web: { root_size: 80, lifecycle: { preserved_volumes: "delete" } } } }),
  },
  "delete a VM and its own volume": {
    before: file({ vms: { web: { lifecycle: { preserved_volumes: "delete" } }, db: { name: "base" } } }),
    after: file({ vms: { db: { name: "base" } } }),
  },
  "delete a VM with a snapshot before": {
    before: file({ vms: { web: { lifecycle: { snapshot_before: ["delete"] } } } }),
    after: file({ vms: {}, groups: { front: { rules: [] } } }),
  },
  "delete a VM and keep its volume": {
    before: file(mailbox),
    after: file({ volumes: { one: { size: 5, ...ask }, two: { size: 6, ...ask } } }),
  },
  "delete a VM, its volumes and a group": { before: file(standing), after: file({ vms: { web: {} } }) },
  "replace a volume by its new name": {
    before: file({ vms: { web: {} }, volumes: { data: { name: "old-data", size: 5, attach_to: "web", ...ask } } }),
    after: file({ vms: { web: {} }, volumes: { data: { name: "new-data", size: 5, attach_to: "web", ...ask } } }),
  },
  "add rules to a group": {
    before: file({ groups: { front: { rules: [tcp(80)] } } }),
    after: file({ groups: { front: { rules: [tcp(80), tcp(443), tcp(22, from("front"))] } } }),
  },
  "take rules out of a group that neighbours name": {
    before: file({
      groups: { front: { rules: [tcp(80), tcp(81), tcp(82)] }, back: { rules: [tcp(5432, from("front"))] } },
    }),
    after: file({ groups: { front: { rules: [tcp(80)] }, back: { rules: [tcp(5432, from("front"))] } } }),
  },
  "replace two groups that name each other": {
    before: file({
      groups: {
        front: { rules: [tcp(80), tcp(81), tcp(9000, from("back"))] },
        back: { rules: [tcp(5432, from("front")), tcp(23)] },
      },
    }),
    after: file({
      groups: {
        front: { rules: [tcp(80), tcp(9000, from("back"))] },
        back: { rules: [tcp(5432, from("front"))] },
      },
    }),
  },
  "delete a group that a neighbour names": {
    before: file({ groups: { front: { rules: [tcp(80)] }, back: { rules: [tcp(5432, from("front")), tcp(22)] } } }),
    after: file({ groups: { back: { rules: [tcp(22)] } } }),
  },
  "import, move and forget": {
    before: file({ vms: { web: {} }, volumes: { data: { size: 5, ...ask }, spare: { size: 5, ...ask } } }),
    after: file({
      vms: { www: { name: "web" } },
      volumes: { store: { name: "data", size: 6, attach_to: "www", ...ask } },
      moved: [
        { from: "vm.web", to: "vm.www" },
        { from: "volume.data", to: "volume.store" },
      ],
      removed: [{ from: "volume.spare", destroy: false }],
    }),
    letsGo: ["volume spare"],
  },
  "take over what exists, and change it": {
    before: file({}),
    between: async (control) => {
      const since = new Date(Date.now() - 86_400_000).toISOString();
      const id = known;
      await control("POST", "/world", {
        vms: [
          { id: id("vm"), name: "web", flavor_id: "m1.small", image_id: ubuntu, root_size: 50, created_at: since },
          { id: id("other"), name: "other", flavor_id: "m1.small", image_id: ubuntu, created_at: since },
        ],
        volumes: [
          { id: id("root"), name: "web-root", size: 50, root: true, attached_to: id("vm"), created_at: since },
          { id: id("own"), name: "web-data", size: 10, attached_to: id("vm"), created_at: since },
          { id: id("volume"), name: "data", size: 5, created_at: since },
          { id: id("stranger"), name: "data", size: 5, created_at: since },
        ],
        groups: [{ id: id("group"), name: "front", description: "first", created_at: since }],
        rules: [{ security_group_id: id("group"), protocol: "tcp", ...ports(80), remote_ip_prefix: "0.0.0.0/0" }],
      });
    },
    after: file({
      vms: { web: { flavor_id: "m1.large" } },
      volumes: { store: { name: "data", size: 7, attach_to: "web", ...ask }, more: { size: 3, ...ask } },
      groups: { front: { description: "first", rules: [tcp(80), tcp(443)] } },
      imports: [
        { to: "vm.web", id: known("vm") },
        { to: "volume.store", id: known("volume") },
        { to: "group.front", id: known("group") },
      ],
    }),
    looks: true,
    letsGo: ["vm web", "vm other", "volume data", "volume web-data", "group front"],
  },
  "make VMs and the rules that admit them by their addresses": {
    before: file({ groups: { front: { rules: [tcp(443)] } } }),
    after: file(admitted(["a", "b"])),
  },
  "replace the VMs whose addresses rules have": {
    before: file(admitted(["a", "b"])),
    after: file(admitted(["a", "b"], { root_size: 80 })),
  },
  "other VMs, and the rules for their addresses": {
    before: file(admitted(["a", "b"])),
    after: file(admitted(["b", "c"])),
  },
  "a tier in a component, which grows": {
    before: file(tier({ a: 5 })),
    after: file(tier({ a: 6, b: 5 })),
  },
  "destroy a tier in a component": { before: file(tier({ a: 5 })), after: file(tier({ a: 5 })), destroy: true },
  "resize where the service confirms by itself": {
    before: file({ vms: { web: {} } }),
    after: file({ vms: { web: { flavor_id: "m1.large" } } }),
    emulator: { autoConfirmResize: true },
  },
  "resize with a check and a snapshot where the service confirms by itself": {
    before: file({ vms: { web: { lifecycle: checked } } }),
    after: file({ vms: { web: { flavor_id: "m1.large", lifecycle: checked } } }),
    emulator: { autoConfirmResize: true },
  },
  "destroy everything": { before: file(standing), after: file(standing), destroy: true },
};

export const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];
