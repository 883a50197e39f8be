import { describe, expect, it } from "vitest";
import { countCampaign } from "../support/campaign-count";
import { project as file } from "../support/desired-file";
import { createGuests, type Expected } from "../support/guests";
import { momentsOf } from "../support/mortal";
import { dieAt, undisturbed } from "../support/stage";
import type { Story } from "../support/stories";

/** Every n-th moment is tried; 1 tries all. */
const stride = Number(process.env["GUEST_KILL_STRIDE"] ?? 7);
let offset = 0;

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

/** Stories of change in which commands are owed to guests. */
const guestStories: Readonly<Record<string, Story>> = {
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

describe("a command that is owed has ended with 0 after the run that follows a kill, and never ran too early", () => {
  for (const [title, story] of Object.entries(guestStories))
    it(title, async () => {
      const guests = createGuests();
      const { runCommand } = guests;
      const { expected, counts } = await undisturbed(story, "everything", { runCommand }, guests);
      expect([...guests.early, ...guests.unpaid(story.owes ?? [])]).toEqual([]);
      const debts = guests.ran.length;
      const violations: string[] = [];
      const tried = momentsOf(counts).filter((_, index) => (index + offset++) % stride === 0);
      for (const moment of tried) {
        const problems = await dieAt(story, "everything", moment, expected, { runCommand }, guests);
        for (const problem of problems) violations.push(`${moment.when} ${moment.of} ${moment.nth}: ${problem}`);
      }
      countCampaign(`kills of a run with ${debts} commands`, tried.length, violations.length);
      expect(violations.join("\n")).toEqual("");
    });
});
