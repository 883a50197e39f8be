/** States that are sealed, newer or another's, saved plans and runs beside a run. */

import type { Stage } from "../follower";
import { retold } from "../own-place";
import { all, applied, both, changed, file, gone, rewritten, runs, sets, stranger, vm, type Worlds } from "./scene";

const key = Buffer.alloc(32, 7).toString("base64");
const sealedBy = (text: string) => sets("RECONCILE_STATE_KEY", () => text);
const groups = "groups: { web: {} }";
/** A second thing of the catalogue under a name that is there already. */
const twice = (table: "flavors" | "images" | "regions", name: string) => (here: Stage) =>
  here.door.truth.change((world) => {
    const one = world[table].find((entry) => entry.name === name)!;
    return { ...world, [table]: [...world[table], { ...one, id: "57a17000-0000-4000-8000-000000000003" }] };
  });
const quietVm = { tell: retold({ vm: ({ status: _, ...record }) => record }) };

export const moreStates = {
  "state/key-missing": [
    {
      files: file(groups),
      before: both(sealedBy(key), applied, sealedBy("")),
      follow: [{ hand: /RECONCILE_STATE_KEY: 32 bytes in base64/, done: sealedBy(key) }],
    },
  ],
  "state/key-wrong": [
    {
      files: file(groups),
      before: both(sealedBy(key), applied, sealedBy(Buffer.alloc(32, 8).toString("base64"))),
      follow: [
        {
          hand: /the former one as RECONCILE_STATE_KEY_PREVIOUS/,
          done: sets("RECONCILE_STATE_KEY_PREVIOUS", () => key),
        },
      ],
    },
  ],
  "state/key-bad": [
    {
      files: file(groups),
      before: both(
        sealedBy(key),
        sets("RECONCILE_STATE_ENCRYPTION", () => "yes"),
      ),
      follow: [{ hand: /set it to required or optional/, done: sets("RECONCILE_STATE_ENCRYPTION", () => "required") }],
    },
  ],
  "state/not-encrypted": [
    {
      name: "a plan in the clear",
      files: file(groups),
      before: both(runs("plan", "--out", "a.plan.json"), sealedBy(key)),
      command: ["apply", "a.plan.json", "-y"],
      follow: [{ hand: /make it anew with the key set/, done: runs("plan", "--out", "a.plan.json") }],
    },
  ],
  "state/newer": [
    {
      files: file(groups),
      before: both(applied, (here) => here.edit("reconcile.state.json", '"version":1', '"version":2')),
      follow: [{ question: /reconcile-cloud@/ }],
    },
  ],
  "state/other-state": [
    {
      files: file(groups),
      before: both(applied, stranger("volumes: { other: { size: 3 } }"), (here) =>
        here.write("reconcile.state.json", here.read("theirs/reconcile.state.json")),
      ),
      others: [0, 1, 0],
      follow: [{ question: /./ }],
    },
  ],
  "state/store-failed": [
    {
      files: { ...file(groups), "folder/x": "" },
      command: ["apply", "-y", "--state", "folder"],
      follow: [{ question: /check the path or address of the state/ }],
    },
  ],
  "plan/checkout-differs": [
    {
      files: file(groups),
      before: both(runs("plan", "--out", "a.plan.json"), rewritten("web: {}", "web: { description: x }")),
      command: ["apply", "a.plan.json", "-y"],
      follow: [{ question: /plan again to see what is left/ }],
    },
  ],
  "move/fleet": [
    {
      files: {
        ...file("groups: { web: {}, app: {} }"),
        "fleet.yaml": "version: 1\nstacks:\n  shop: { source: { folder: . }, state: reconcile.state.json }\n",
      },
      before: applied,
      command: ["move", "group.app", "--to", "other", "--yes"],
      follow: [
        {
          hand: /or paused: true in fleet\.yaml/,
          done: (here) => here.edit("fleet.yaml", "source:", "paused: true, source:"),
        },
      ],
    },
  ],
  "plan/no-checkout": [
    {
      files: file(
        'vms: { web: {} }\nvolumes: { data: { size: 3, attach_to: web, flush: { via: command, command: ["true"] } } }',
      ),
      before: both(
        applied,
        rewritten("size: 3,", "size: 4,"),
        runs("plan", "--out", "a.plan.json"),
        (here) => here.write("kept.yaml", here.read("reconcile.yaml")),
        (here) => here.remove("reconcile.yaml"),
      ),
      command: ["apply", "a.plan.json", "-y"],
      follow: [
        {
          hand: /apply it in a checkout, from the folder it was made in/,
          done: (here) => here.write("reconcile.yaml", here.read("kept.yaml")),
        },
      ],
    },
  ],
  "plan/flavor-ambiguous": [
    {
      files: file(vm),
      before: twice("flavors", "m1.small"),
      follow: [{ word: /57a17000-0000-4000-8000-000000000003/, insteadOf: "m1.small", line: "defaults" }],
    },
  ],
  "plan/image-ambiguous": [
    {
      files: file(vm),
      before: twice("images", "ubuntu-24.04"),
      follow: [{ word: /57a17000-0000-4000-8000-000000000003/, insteadOf: "ubuntu-24.04", line: "defaults" }],
    },
  ],
  "plan/image-name-moved": [
    {
      files: file(vm, { has: all }),
      before: both(applied, (here) =>
        here.door.truth.change((world) => ({
          ...world,
          images: world.images.map((one) =>
            one.name === "ubuntu-24.04" ? { ...one, id: "57a17000-0000-4000-8000-000000000004" } : one,
          ),
        })),
      ),
      command: ["plan"],
      follow: [{ question: /write the new id as image_id/ }],
    },
  ],
  "plan/power-unobserved": [
    {
      files: file("vms: { web: {} }", { has: all }),
      service: quietVm,
      before: both(applied, rewritten("web: {}", "web: { power: stopped }")),
      command: ["plan"],
      follow: [
        {
          hand: /lifecycle\.ignore_changes: \[power\]/,
          done: rewritten("power: stopped", "power: stopped, lifecycle: { ignore_changes: [power] }"),
        },
      ],
    },
  ],
  "plan/data-volume-away": [
    {
      name: "on another VM",
      files: file("vms: { web: { size: 4 }, other: {} }", { has: all }),
      before: both(
        applied,
        (here) => changed("volumes", "web-data", { attached_to: here.idOf("other") })(here),
        rewritten("size: 4", "size: 6"),
      ),
      follow: [
        {
          hand: /detach it from VM \S+ in the service's console/,
          done: changed("volumes", "web-data", { attached_to: null, status: "available" }),
        },
      ],
    },
    {
      name: "gone",
      files: file("vms: { web: { size: 4 } }", { has: all }),
      before: both(applied, gone("volumes", "web-data"), rewritten("size: 4", "size: 6")),
      follow: [{ hand: /set size back/, done: rewritten("size: 6", "size: 4") }],
    },
  ],
  "plan/data-volume-unknown": [
    {
      files: file("vms: { web: { size: 4 } }", { has: ["vm.get"] }),
      service: { tell: retold({ vm: ({ volumes: _, ...record }) => record }) },
      before: both(applied, rewritten("size: 4", "size: 6")),
      follow: [{ question: /declare a volume of its own and attach it/ }],
    },
  ],
  "plan/address-unread": [
    {
      files: file(vm, { has: all }),
      service: {
        tell: retold({ vm: (record) => ({ ...record, private_ip: "-oProxyCommand=x", floating_ip: "none yet" }) }),
      },
      before: applied,
      command: ["plan"],
      follow: [{ question: /records\.vm\.(private|floating)_ip/ }],
    },
  ],
  "pull/several": [
    {
      files: file("", { has: all }),
      before: both(stranger("vms: { web: {}, app: {} }"), changed("vms", "app", { name: "web" })),
      command: ["pull", "--vm", "web"],
      others: [2, 2, 0],
      follow: [{ arg: /--vm (\S+)/, insteadOf: "web" }],
    },
  ],
  "cli/not-applied": [
    {
      files: file(groups),
      before: both(applied, rewritten("web: {}", "web: {}, app: {}")),
      command: ["export", "pulumi", "--out", "program"],
      afterwards: [],
      follow: [{ run: /reconcile apply/ }],
    },
  ],
  "cli/occupied": [
    {
      files: { ...file(groups), "program/Pulumi.yaml": "name: x\n" },
      before: applied,
      command: ["export", "pulumi", "--out", "program"],
      follow: [{ question: /name another folder with --out/ }],
    },
  ],
  "cli/file-unwritable": [
    {
      files: file("", { has: all }),
      command: ["pull", "--out", "none/deep/x.yaml"],
      follow: [{ question: /name another file/ }],
    },
  ],
  "undo/files-ahead": [
    {
      files: file(groups, { has: all }),
      before: both(applied, rewritten("web: {}", "web: {}, app: {}"), applied),
      command: ["undo", "last", "-y"],
      afterwards: ["apply", "-y"],
      follow: [{ hand: /revert the change in the files as well/, done: rewritten(", app: {}", "") }],
    },
  ],
  "undo/another": [
    {
      files: file("groups: { web: {}, app: {} }", { has: all }),
      before: both(
        applied,
        rewritten("app: {}", "app: {}, third: {}"),
        applied,
        (here) => here.ok("state", "mv", "group.web", "group.other"),
        (here) => here.ok("state", "mv", "group.app", "group.web"),
        (here) => here.ok("state", "mv", "group.other", "group.app"),
      ),
      command: ["undo", "last", "-y"],
      follow: [{ run: /reconcile state rm group\.\w+/ }, { run: /reconcile state rm group\.\w+/ }],
    },
  ],
  "undo/stays": [
    {
      files: file(groups, { has: all }),
      before: both(applied, rewritten("web: {}", "web: { description: for customers }"), applied),
      command: ["undo", "last", "-y"],
      afterwards: ["apply", "-y"],
      follow: [{ hand: /declare the one that you want/, done: rewritten("for customers", "for all") }],
    },
  ],
  "check/stops": [
    {
      files: file("vms: { web: {}, app: {} }", { more: "checks: { at_most: { stop: 1 } }\n" }),
      before: both(
        applied,
        rewritten("web: {}, app: {}", "web: { flavor_id: m1.large }, app: { flavor_id: m1.large }"),
      ),
      follow: [{ hand: /raise checks\.at_most\.stop/, done: rewritten("stop: 1", "stop: 2") }],
    },
  ],
} satisfies Worlds;
