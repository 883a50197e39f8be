/** Names and addresses that are taken, wrong or moved, and imports. */
import type { World } from "../follower";
import {
  all,
  applied,
  both,
  called,
  file,
  gone,
  head,
  itsId,
  rewritten,
  runs,
  stranger,
  vm,
  type Worlds,
} from "./scene";

export const names = {
  "plan/other-name": [
    {
      files: file(vm),
      before: both(applied, called("web", "of-somebody")),
      command: ["vm", "stop", "vm.web"],
      afterwards: ["vm", "stop", "vm.web"],
      follow: [{ run: /reconcile drift --accept \S+/ }, { run: /reconcile apply(?= keep)/ }],
    },
  ],
  "plan/name-taken": [
    {
      name: "a VM of others is imported",
      files: file(vm),
      before: stranger("vms: { web: {} }"),
      follow: [{ write: /imports: \[.*?\]/ }],
    },
    { name: "a VM of others is adopted", files: file(vm), before: stranger(vm), follow: [{ flag: /--adopt/ }] },
    {
      name: "a VM of others, and another name here",
      files: file(vm),
      before: stranger(vm),
      others: [1, 1, 0],
      follow: [{ hand: /another name/, done: rewritten("web: {}", "web: { name: web-two }") }],
    },
    {
      name: "a group of others is imported",
      files: file("groups: { web: {} }", { has: all }),
      before: stranger("groups: { web: {} }"),
      follow: [{ write: /imports: \[.*?\]/ }],
    },
    {
      name: "an orphan is deleted",
      files: file("volumes: { data: { size: 3 } }\n", { has: ["volume.list"], operations: "volume.delete: null" }),
      before: both(applied, runs("destroy", "-y", "--allow-data-loss"), rewritten("volume.delete: null", "")),
      follow: [{ run: /reconcile orphans delete \S+(?=,)/ }, { flag: /--allow-data-loss/ }],
    },
    {
      name: "an orphan is taken back",
      files: file("volumes: { data: { size: 3 } }\n", { has: ["volume.list"], operations: "volume.delete: null" }),
      before: both(applied, runs("destroy", "-y", "--allow-data-loss")),
      follow: [{ run: /reconcile import \S+ \S+/ }],
    },
    {
      name: "another one in place of what is gone",
      files: file("vms: { web: {}, app: {} }", { has: all }),
      before: async (here) => {
        await applied(here);
        await gone("vms", "web")(here);
        await stranger("vms: { web: {} }")(here);
        await here.wait(150);
      },
      command: ["apply", "-y", "--recreate", "all"],
      others: [0, 1, 0],
      follow: [{ run: /reconcile import \S+ \S+/ }],
    },
    {
      name: "left out by the targets",
      files: file("vms: { web: {}, app: {} }"),
      before: both(applied, rewritten("web: {}, app: {}", "web: { name: app }, app: { name: web }")),
      command: ["apply", "-y", "--target", "vm.web"],
      follow: [{ flag: /--target \S+/ }],
    },
  ],
  "plan/name-ambiguous": [
    {
      files: file("imports: [ { to: vm.web, name: web } ]\nvms: { web: {} }"),
      before: both(stranger("vms: { web: {} }"), async (here) => {
        const { vms } = here.emulator.dump();
        await here.door.truth.change((world) => ({
          ...world,
          vms: [...vms, { ...vms[0]!, id: "57a17000-0000-4000-8000-000000000002", seq: vms[0]!.seq + 9 }],
        }));
      }),
      others: [1, 0, 0],
      knows: (here) => ({ "…": here.idOf("web") }),
      follow: [{ write: /imports: \[.*?\]/ }],
    },
  ],
  "plan/import-not-found": [
    {
      files: file('imports: [ { to: group.web, id: "57a17000-0000-4000-8000-000000000002" } ]\ngroups: { web: {} }', {
        has: all,
      }),
      follow: [{ hand: /without an imports entry a new .* is created/, done: rewritten(/imports.*\n/, "") }],
    },
    {
      files: file("imports: [ { to: vm.web, name: wev } ]\nvms: { web: {} }"),
      before: stranger(vm),
      follow: [{ hand: /correct the id or name/, done: rewritten("wev", "web") }],
    },
  ],
  "plan/import-managed": [
    {
      files: file("vms: { web: {} }"),
      before: async (here) => {
        await applied(here);
        here.write(
          "reconcile.yaml",
          `${head()}vms: { app: { name: web } }\nimports: [ { to: vm.app, id: "${here.idOf("web")}" } ]\n`,
        );
      },
      follow: [{ write: /moved: \[.*?\]/ }],
    },
    {
      name: "the own data volume of a VM",
      files: file("vms: { web: {} }"),
      before: async (here) => {
        await applied(here);
        const id = here.emulator.dump().volumes.find(({ root }) => !root)?.id ?? "";
        here.write(
          "reconcile.yaml",
          `${head()}vms: { web: {} }\nimports: [ { to: volume.disk, id: "${id}" } ]\nvolumes: { disk: { size: 10 } }\n`,
        );
      },
      follow: [{ hand: /remove the imports entry and volume.disk/, done: rewritten(/imports.*\nvolumes.*\n/, "") }],
    },
  ],
  "plan/import-by-name": [
    {
      files: file("imports: [ { to: vm.web, name: web } ]\nvms: { web: {} }", { operations: "vm.list: null" }),
      before: stranger(vm),
      follow: [
        {
          hand: /give its id: instead of its name/,
          done: (here) => here.edit("reconcile.yaml", "name: web }", `id: "${here.idOf("web")}" }`),
        },
      ],
    },
  ],
  "plan/import-unused": [
    {
      files: file("vms: { web: {} }"),
      before: both(
        applied,
        rewritten("vms:", 'imports: [ { to: vm.web, id: "57a17000-0000-4000-8000-000000000002" } ]\nvms:'),
      ),
      follow: [{ hand: /remove the entry/, done: rewritten(/imports.*\n/, "") }],
    },
  ],
  "plan/name-refused": [
    {
      files: file("groups: { web_1: { name: web-1 } }".replace("web_1", "web"), {
        dialect: ', names: { group: { pattern: "^[a-z]+$" } }',
      }),
      follow: [{ hand: /choose another name/, done: rewritten("name: web-1", "name: webone") }],
    },
  ],
  "plan/not-owed": [
    {
      files: file("vms: { web: {} }"),
      before: both(applied, rewritten("web: {", 'web: { after_ready: { command: ["true"] },')),
      command: ["plan"],
      follow: [{ run: /reconcile owe \S+/ }],
      afterwards: ["apply", "-y"],
    },
  ],
  "plan/renamed-key": [
    {
      files: file("vms: { web: { name: web-1 } }"),
      before: both(applied, rewritten("web: {", "app: {")),
      command: ["apply", "-y"],
      follow: [{ write: /moved: \[.*?\](?= {3})/ }],
    },
  ],
  "plan/move-needs-key": [
    {
      files: file("vms: { web: { name: web-1 } }"),
      before: both(applied, (here) =>
        here.write(
          "reconcile.yaml",
          `${head()}vms: { app: { for_each: [a], name: web-1 } }\nmoved: [ { from: vm.web, to: vm.app } ]\n`,
        ),
      ),
      follow: [{ write: /moved: \[.*\]/ }],
    },
  ],
  "plan/move-occupied": [
    {
      name: "the entry is removed",
      files: file("vms: { web: { name: web-1 }, app: {} }"),
      before: both(applied, (here) =>
        here.write("reconcile.yaml", `${head()}vms: { app: {} }\nmoved: [ { from: vm.web, to: vm.app } ]\n`),
      ),
      command: ["apply", "-y", "--allow-data-loss", "--confirm-flush", "all"],
      others: [0, 1, 0],
      follow: [{ hand: /remove the moved entry/, done: rewritten(/moved.*/, "") }],
    },
    {
      name: "the occupant is forgotten",
      files: file("vms: { web: { name: web-1 }, app: {} }"),
      before: both(applied, (here) =>
        here.write(
          "reconcile.yaml",
          `${head()}vms: { app: { name: web-1 } }\nmoved: [ { from: vm.web, to: vm.app } ]\n`,
        ),
      ),
      others: [1, 1, 0],
      follow: [{ run: /reconcile state rm \S+/ }],
    },
    {
      name: "two entries lead there",
      files: file("vms: { web: { name: web-1 }, app: {} }"),
      before: both(applied, (here) =>
        here.write(
          "reconcile.yaml",
          `${head()}vms: { site: { name: app } }\nmoved: [ { from: vm.web, to: vm.app }, { from: vm.app, to: vm.site } ]\n`,
        ),
      ),
      command: ["apply", "-y", "--allow-data-loss", "--confirm-flush", "all"],
      others: [0, 1, 0],
      follow: [{ hand: /keep the moved entry of one/, done: rewritten("{ from: vm.web, to: vm.app }, ", "") }],
    },
  ],

  "plan/held-by-sibling": [
    {
      files: file('vms: { web: { name: "${env}-web" } }', { more: "environments: { staging: {}, prod: {} }\n" }),
      before: both(runs("apply", "-y", "--env", "staging"), rewritten('"${env}-web"', "staging-web")),
      command: ["apply", "-y", "--env", "prod", "--adopt"],
      follow: [{ hand: /put \$\{env\} into the name/, done: rewritten("staging-web", '"${env}-web"') }],
      others: [1, 1, 0],
    },
    ...["id", "name"].map(
      (key): World => ({
        name: `an imports entry names it by its ${key}`,
        files: file('vms: { web: { name: "${env}-web" } }', { more: "environments: { staging: {}, prod: {} }\n" }),
        before: both(runs("apply", "-y", "--env", "staging"), (here) => {
          const named = key === "id" ? here.idOf("staging-web") : "staging-web";
          rewritten("environments:", `imports: [{ to: vm.web, ${key}: "${named}" }]\nenvironments:`)(here);
        }),
        command: ["apply", "-y", "--env", "prod"],
        follow: [{ hand: /take the imports entry out/, done: rewritten(/imports: .*\n/, "") }],
        others: [1, 1, 0],
      }),
    ),
  ],
  "import/for-each": [
    {
      files: file("vms: { app: {} }"),
      before: stranger("vms: { web: {} }"),
      command: ["import", "vm.web[a]", "web", "--generate"],
      afterwards: [],
      others: [1, 1, 0],
      follow: [{ run: /reconcile import .*/ }],
    },
  ],
  "plan/name-not-said": [
    {
      files: file("", {}),
      before: both(
        stranger(
          "groups: { legacy: { name: legacy-web, rules: [ { protocol: tcp, dst_port: 80 }, { protocol: tcp, dst_port: 81 } ] } }",
        ),
        async (here) => {
          await here.ok(
            "pull",
            "--group",
            here.idOf("legacy-web"),
            "--out",
            "reconcile.yaml",
            "--force",
            "--project",
            "acme",
            "--region",
            "in-west-1",
          );
          await here.ok("apply", "-y");
          here.edit("reconcile.yaml", /\n.*dst_port: "?81.*(\n {8}\w.*)*/, "");
        },
      ),
      follow: [
        {
          hand: /write its name into the block: name: …/,
          done: (here) => here.edit("reconcile.yaml", /(\n {2}group-\w+:)/, "$1\n    name: legacy-web"),
        },
      ],
    },
  ],
  "plan/target-too-narrow": [
    {
      files: file("vms: { web: {}, app: {} }\nvolumes: { data: { size: 3, attach_to: web } }"),
      before: both(applied, rewritten("attach_to: web", "attach_to: app"), rewritten("web: {}, app", "app")),
      command: ["apply", "-y", "--allow-data-loss", "--confirm-flush", "all", "--target", "vm.web"],
      others: [0, 1, 0],
      follow: [{ flag: /--target \S+/ }],
    },
  ],
  "pull/not-found": [
    { files: file(""), command: ["pull", "--vm", "nobody"], follow: [{ question: /correct the id/ }] },
  ],
  "service/name_taken": [
    {
      files: file("groups: { web: {} }"),
      before: stranger("groups: { web: {} }"),
      knows: itsId("web"),
      follow: [{ run: /reconcile import \S+ ID/ }],
    },
  ],
  "plan/not-listed-yet": [
    {
      files: file(vm),
      before: both(applied, gone("vms", "web"), rewritten("discovery_window: 120ms", "discovery_window: 1h")),
      service: {},
      command: ["plan"],
      follow: [{ again: /plan again when that time is over/ }],
    },
  ],
} satisfies Worlds;
