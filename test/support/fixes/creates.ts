/** Creates whose end is not known, or that end badly. */
import { retold } from "../own-place";
import {
  all,
  applied,
  both,
  changed,
  failNow,
  failsFirst,
  file,
  itsId,
  lost,
  rewritten,
  swallowed,
  vm,
  type Worlds,
} from "./scene";

const movedSince = rewritten(
  "volumes: { data: { size: 3 } }",
  "volumes: { kept: { name: data, size: 3 } }\nmoved: [{ from: volume.data, to: volume.kept }]",
);

export const creates = {
  "apply/rule-needed": [
    {
      files: file("groups: { web: { rules: [ { protocol: tcp, dst_port: 80, remote_ip: 10.0.0.0/8 } ] } }", {
        operations: `group.rule.delete: { method: DELETE, path: "/api/v1/security-group/{id}/rule/{rule_id}" }`,
      }),
      service: swallowed("group.rule.create", () => "ok"),
      emulated: { with: ["group.rule.delete"] },
      before: both(applied, rewritten("10.0.0.0/8", "10.1.0.0/16")),
      follow: [{ again: /run the same command again/ }],
    },
  ],
  "apply/not-seen": [
    {
      name: "the only volume, which was not made",
      files: file("volumes: { data: { size: 3 } }"),
      service: swallowed("volume.create", ({ name, size }) => ({
        ...{ id: "57a17000-0000-4000-8000-000000000004", name, size, status: "available" },
      })),
      follow: [{ flag: /--recreate \S+/ }],
    },
    {
      name: "a stop that was not done",
      files: file("vms: { web: { power: stopped } }"),
      service: swallowed("vm.stop", () => "ok"),
      follow: [{ again: /run the same command again/ }],
    },
    {
      name: "a stop by hand that was not done, of which the file says nothing",
      files: file("vms: { web: {} }"),
      before: applied,
      service: swallowed("vm.stop", () => "ok"),
      command: ["vm", "stop", "vm.web"],
      follow: [{ again: /run the same command again/ }],
    },
    {
      name: "a group that was not made",
      files: file("groups: { web: {}, kept: {} }"),
      service: swallowed("group.create", ({ name }) => ({
        id: "57a17000-0000-4000-8000-000000000003",
        name,
        rules: [],
      })),
      follow: [{ flag: /--recreate \S+/ }],
    },
  ],
  "apply/outcome-unknown": [
    {
      name: "a group that was made",
      files: file("groups: { web: {} }"),
      service: lost("group.create", true),
      knows: itsId("web"),
      follow: [{ run: /reconcile import \S+ ID/ }],
    },
    {
      name: "a group that was not made",
      files: file("groups: { web: {} }"),
      service: lost("group.create", false),
      follow: [{ run: /reconcile state resolve \S+ --not-created/ }],
    },
    {
      name: "a volume that was made",
      files: file("volumes: { data: { size: 3 } }"),
      service: lost("volume.create", true),
      knows: itsId("data"),
      follow: [{ run: /reconcile import \S+ ID/ }],
    },
  ],
  "apply/owed": [
    {
      name: "a command that fails, and is then done by hand",
      files: file(
        'vms: { web: {} }\nvolumes: { data: { size: 3, attach_to: web, after_attach: { command: [sh, "-c", "exit 3"] } } }',
      ),
      follow: [{ run: /reconcile state resolve \S+ --paid/ }],
    },
  ],
  "plan/outcome-unknown": [
    {
      name: "a volume that was made",
      files: file("volumes: { data: { size: 3 } }"),
      service: lost("volume.create", true),
      before: (here) => here.reconcile("apply", "-y"),
      knows: itsId("data"),
      follow: [{ run: /reconcile import \S+ ID/ }],
    },
    {
      name: "a volume that was not made",
      files: file("volumes: { data: { size: 3 } }"),
      service: lost("volume.create", false),
      before: (here) => here.reconcile("apply", "-y"),
      follow: [{ run: /reconcile state resolve \S+ --not-created/ }],
    },
    {
      name: "a volume that was made, and has another address since",
      files: file("volumes: { data: { size: 3 } }"),
      service: lost("volume.create", true),
      before: both((here) => here.reconcile("apply", "-y"), movedSince),
      knows: itsId("data"),
      follow: [{ run: /reconcile import \S+ ID/ }],
    },
    {
      name: "a volume that was not made, and has another address since",
      files: file("volumes: { data: { size: 3 } }"),
      service: lost("volume.create", false),
      before: both((here) => here.reconcile("apply", "-y"), movedSince),
      follow: [{ run: /reconcile state resolve \S+ --not-created/ }],
    },
  ],
  "apply/id-unknown": [
    {
      files: file("vms: { web: {} }", { operations: "vm.list: null" }),
      knows: itsId("web"),
      follow: [{ run: /reconcile import \S+ ID/ }],
    },
  ],
  "apply/ambiguous": [
    {
      files: file("vms: { web: {} }"),
      service: {
        tell: async ({ operation, nthOfItsKind, body }, _, truth) => {
          if (operation !== "vm.create" || nthOfItsKind !== 1) return undefined;
          await truth.change((world) => {
            const own = world.vms.findLast(({ name }) => name === body["name"])!;
            return {
              ...world,
              vms: [...world.vms, { ...own, id: "57a17000-0000-4000-8000-000000000002", seq: own.seq + 9 }],
            };
          });
          return "nothing";
        },
      },
      others: [1, 0, 0],
      knows: () => ({ ID: "57a17000-0000-4000-8000-000000000002" }),
      follow: [{ run: /reconcile import \S+ ID/ }],
    },
  ],
  "plan/vm-failed": [
    {
      files: file("vms: { web: {} }"),
      before: async (here) => {
        await applied(here);
        await failNow(here, "vms", "ERROR");
      },
      command: ["apply", "-y", "--allow-data-loss", "--confirm-flush", "all"],
      others: [0, 1, 0],
      follow: [{ flag: /--replace \S+/ }],
    },
  ],
  "plan/id-unknown": [
    {
      files: file("vms: { web: {} }", { operations: "vm.list: null" }),
      knows: itsId("web"),
      follow: [{ run: /reconcile import \S+ ID/ }],
    },
  ],
  "apply/vm-failed": [
    {
      files: file("vms: { web: {} }"),
      service: failsFirst("vm.create", "vms", "ERROR"),
      others: [0, 1, 0],
      follow: [{ run: /reconcile apply --replace \S+/ }, { flag: /--allow-loss \S+/ }],
    },
  ],

  "apply/timeout": [
    {
      files: file(vm),
      service: { tell: retold({ vm: (record) => ({ ...record, status: "BUILD" }) }) },
      follow: [{ hand: /run the same command again: it goes on waiting/, done: (here) => here.door.become({}) }],
    },
  ],
  "apply/group-named": [
    {
      name: "by a rule that goes in the same run",
      files: file("groups: { web: {}, app: { rules: [ { protocol: tcp, dst_port: 80, remote_group: web } ] } }", {
        has: ["group.list", "group.get"],
        operations: "group.rule.delete: { method: DELETE, path: '/api/v1/security-group/{id}/rule/{rule_id}' },",
      }),
      emulated: { keepsNamedGroups: true, with: ["group.list", "group.get", "group.rule.delete"] },
      before: both(applied, rewritten(/web: .*$/m, "app: {} }")),
      follow: [{ write: /in the dialect: (limits: \{ named_groups: kept \})/, below: ["service", "dialect"] }],
    },
    {
      name: "two that name each other",
      files: file(
        "groups: { web: { rules: [ { protocol: tcp, dst_port: 80, remote_group: app } ] }, app: { rules: [ { protocol: tcp, dst_port: 80, remote_group: web } ] } }",
        { has: all },
      ),
      emulated: { keepsNamedGroups: true },
      before: applied,
      command: ["destroy", "-y"],
      afterwards: ["orphans", "delete", "--all"],
      follow: [
        {
          hand: /delete those rules in the service's console, then: reconcile orphans delete \S+/,
          done: (here) => here.door.truth.change((world) => ({ ...world, rules: [] })),
        },
      ],
    },
  ],
  "apply/resize-waits": [
    {
      files: file("vms: { web: { lifecycle: { verify_resize: { confirm: manual } } } }"),
      before: both(applied, rewritten("web: {", "web: { flavor_id: m1.large,")),
      follow: [
        {
          hand: /decide it in the service's console/,
          done: changed("vms", "web", { status: "ACTIVE", resize_from: null }),
        },
      ],
    },
  ],
  "apply/flush-failed": [
    {
      files: file(
        'vms: { web: {} }\nvolumes: { data: { size: 3, attach_to: web, flush: { via: command, command: ["false"] } } }',
      ),
      before: both(applied, rewritten("size: 3,", "size: 4,")),
      follow: [
        {
          hand: /with flush: \{ via: ask \} in the file/,
          done: rewritten(/via: command, command: \["false"\]/, "via: ask"),
        },
        { flag: /--confirm-flush \S+/ },
      ],
    },
  ],
} satisfies Worlds;
