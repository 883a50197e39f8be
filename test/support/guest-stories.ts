/** Stories of change in which commands are owed to guests. */
import { project as file } from "./desired-file";
import type { Expected } from "./guests";
import type { Story } from "./stories";

const after = (word: string) => ({ command: [word, "${vm.db.private_ip}"] });
const provisioned = { after_ready: after("provision") };
const flush = { flush: { via: "command", command: ["umount"] } };
const data = (more: object = {}) => ({ size: 5, attach_to: "db", ...flush, after_attach: after("mount"), ...more });
const owed = (duty: Expected["duty"], ...addresses: string[]): Expected[] =>
  addresses.map((address) => ({ address, duty }));

const host = (more: object = {}) => ({
  db: { name: "base", power: "running", ...provisioned, after_attach: after("mount-own"), ...more },
});
const full = { vms: host(), volumes: { data: data(), logs: data() } };

const tier = (more: object) => ({
  vms: { web: { for_each: ["a", "b", "c"], name: "web-${each}", after_ready: { command: ["provision"] }, ...more } },
  rollout: { web: { of: ["vm.web"], max_unavailable: 1, check: { command: ["true"] } } },
});

export const guestStories: Readonly<Record<string, Story>> = {
  "a first apply": {
    before: file({}),
    after: file(full),
    owes: [...owed("after_ready", "vm.db"), ...owed("after_attach", "vm.db", "volume.data", "volume.logs")],
  },
  "a volume that grows": {
    before: file(full),
    after: file({ ...full, volumes: { data: data({ size: 9 }), logs: data() } }),
    owes: owed("after_attach", "volume.data"),
  },
  "a data volume that grows while its VM is stopped": {
    before: file({ vms: host({ flush: { via: "stop" } }) }),
    after: file({ vms: host({ flush: { via: "stop" }, size: 14 }) }),
    owes: owed("after_attach", "vm.db"),
  },
  "a volume that moves": {
    before: file({ vms: { ...host(), web: {} }, volumes: { data: data() } }),
    after: file({ vms: { ...host(), web: {} }, volumes: { data: data({ attach_to: "web" }) } }),
    owes: owed("after_attach", "volume.data"),
  },
  "a VM that is replaced, with two volumes": {
    before: file(full),
    after: file({ ...full, vms: host({ root_size: 80 }) }),
    owes: [...owed("after_ready", "vm.db"), ...owed("after_attach", "vm.db", "volume.data", "volume.logs")],
  },
  "a VM that is rebuilt": {
    before: file(full),
    after: file({ ...full, vms: host({ image_id: "debian-12" }) }),
    owes: [...owed("after_ready", "vm.db"), ...owed("after_attach", "vm.db", "volume.data", "volume.logs")],
  },
  "a rollout of three": {
    before: file(tier({})),
    after: file(tier({ image_id: "debian-12" })),
    owes: owed("after_ready", "vm.web[a]", "vm.web[b]", "vm.web[c]"),
  },
};
