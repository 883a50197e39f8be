/** Worlds of the fleet, of the command line, of the service and of what was done. */
import { execFileSync } from "node:child_process";
import type { World } from "../follower";
import type { OtherService } from "../other-services/other-service";
import { retold } from "../own-place";
import {
  all,
  answers,
  applied,
  both,
  changed,
  file,
  head,
  held,
  itsId,
  rewritten,
  runs,
  sets,
  swallowed,
  vm,
  type Worlds,
} from "./scene";

/** Nothing of the fleet's file is wrong any more, and the database is a person's. */
const database = { question: /--database postgres/ } as const;
const fleet = (text: string, first: World["follow"][0], more: Partial<World> = {}): World => ({
  files: { "fleet.yaml": `version: 1\n${text}\n` },
  command: ["fleet", "sync", "fleet.yaml"],
  follow: [first, database],
  ...more,
});
const edited = (from: string | RegExp, to: string) => (here: Parameters<NonNullable<World["before"]>>[0]) =>
  here.edit("fleet.yaml", from, to);
const stack = (more = ""): string => `stacks:\n  a: { source: { folder: . }, state: s${more} }`;

const fleets = {
  "fleet/bad-input": [
    fleet(
      `${stack(', inputs: { x: "y" }')}\n  b: { source: { folder: . }, state: t }`,
      {
        word: /write (\$\{stack\.NAME\.outputs\.OUTPUT\})/,
        insteadOf: /(?<=")y(?=")/,
      },
      { knows: () => ({ NAME: "b", OUTPUT: "o" }) },
    ),
  ],
  "fleet/bad-name": [
    {
      files: {
        "fleet.yaml": 'version: 1\ngenerate: [ { folder: ., folders: "*/reconcile.yaml", state: "s-${stack}" } ]\n',
        "a b/reconcile.yaml": "version: 1\nproject: acme\n",
      },
      command: ["fleet", "sync", "fleet.yaml"],
      follow: [
        {
          hand: /rename the folder/,
          done: (here) => {
            here.write("a-b/reconcile.yaml", here.read("a b/reconcile.yaml"));
            here.remove("a b");
          },
        },
        database,
      ],
    },
  ],
  "fleet/bad-notify": [
    fleet(
      'notify: [ { on: [applied], to: { commit_status: { token: { env: T } } } } ]\nstacks:\n  a: { source: { git: "https://github.com/acme/a" }, state: s }\n  b: { source: { git: "https://gitlab.example/acme/b" }, state: t }',
      {
        hand: /write stacks: \[NAME…\] there/,
        done: edited("on: [applied],", "on: [applied], stacks: [a],"),
      },
    ),
  ],
  "fleet/bad-schedule": [
    fleet(`windows: [ { kind: deny, schedule: "0 25 * * 5", duration: 62h } ]\n${stack()}`, {
      word: /"(0 18 \* \* 5)"/,
      insteadOf: "0 25 * * 5",
    }),
  ],
  "fleet/bad-sign-in": [
    fleet(
      `sign_in:\n  issuer: http://login.example\n  client_id: x\n  url: https://fleet.example\n  roles: [ { role: viewer } ]\n${stack()}`,
      { word: /https:\/\//, insteadOf: "http://" },
    ),
  ],
  "fleet/bad-source": [
    fleet(stack(", not_the_author: true"), { word: /not_the_author: false/, insteadOf: "not_the_author: true" }),
  ],
  "fleet/circle": [
    fleet(`${stack(", depends_on: [b]")}\n  b: { source: { folder: . }, state: t, depends_on: [a] }`, {
      hand: /take one depends_on or input out of it/,
      done: edited(", depends_on: [b]", ""),
    }),
  ],
  "fleet/credential-in-url": [
    fleet('stacks:\n  a: { source: { git: "https://u:p@git.example/d" }, state: s }', {
      hand: /use git's own credential helper/,
      done: edited("u:p@", ""),
    }),
  ],
  "fleet/no-state": [
    fleet(
      "stacks:\n  a: { source: { folder: . } }",
      {
        write: /write (state: .*?) under defaults/,
        into: "fleet.yaml",
        below: ["defaults"],
      },
      { knows: () => ({ HOST: "db", DATABASE: "fleet" }) },
    ),
  ],
  "fleet/same-state": [
    fleet(`${stack()}\n  b: { source: { folder: . }, state: s }`, {
      hand: /ends in \?state=\$\{stack\}/,
      done: edited("b: { source: { folder: . }, state: s }", 'b: { source: { folder: . }, state: "s-${stack}" }'),
    }),
  ],
  "fleet/twice": [
    {
      files: { "fleet.yaml": `version: 1\n${stack()}\n`, "more.yaml": `version: 1\n${stack()}\n` },
      command: ["fleet", "sync", "fleet.yaml", "more.yaml"],
      follow: [
        { hand: /keep one of them/, done: (here) => here.write("more.yaml", "version: 1\nstacks: {}\n") },
        database,
      ],
    },
  ],
  "fleet/unknown-service": [
    fleet(`services: { west: { base_url: embedded } }\n${stack(", service: wets")}`, {
      word: /write (\S+)/,
      insteadOf: "wets",
    }),
  ],
  "fleet/unknown-stack": [
    fleet(`${stack(", depends_on: [network]")}\n  netwrk: { source: { folder: . }, state: t }`, {
      word: /write (\S+)/,
      insteadOf: "network",
    }),
  ],
  "fleet/unknown-tenant": [
    fleet(`tenants: { payments: {} }\n${stack(", tenant: payment")}`, { word: /write (\S+)/, insteadOf: "payment" }),
  ],
  "fleet/no-database": [
    { files: { "fleet.yaml": `version: 1\n${stack()}\n` }, command: ["fleet", "sync"], follow: [database] },
  ],
  "fleet/database": [
    { files: {}, command: ["fleet", "list", "--database", "postgres://127.0.0.1:1/none"], follow: [{ question: /./ }] },
  ],
  "fleet/server": [
    { files: {}, command: ["fleet", "list", "--server", "http://127.0.0.1:1"], follow: [{ question: /./ }] },
  ],
  "fleet/source": [
    fleet(`generate: [ { folder: ./none, folders: "*/reconcile.yaml", state: "s-\${stack}" } ]`, {
      hand: /correct the source/,
      done: edited("./none", "."),
    }),
  ],
} satisfies Worlds;

const withoutAddress = ({ private_ip: _, floating_ip: __, ...record }: Record<string, unknown>): object => record;

const command = {
  "service/unreachable": [
    {
      files: file(vm),
      before: sets("RECONCILE_BASE_URL", () => "http://127.0.0.1:1"),
      command: ["doctor"],
      follow: [
        {
          hand: /Check service\.base_url \(or --base-url\)/,
          done: (here) => {
            here.env["RECONCILE_BASE_URL"] = here.door.url;
          },
        },
      ],
      afterwards: [],
    },
  ],
  "move/cannot": [
    {
      files: {
        ...file("groups: { web: {}, app: {} }"),
        "other/reconcile.yaml": `${head()}components: { shop: { from: ./components/shop.yaml, for_each: [a, b] } }\n`,
        "other/components/shop.yaml": 'component: 1\ngroups: { front: { name: "${component}-front" } }\n',
      },
      before: applied,
      command: ["move", "group.app", "--to", "other", "--into", "shop/", "--yes"],
      follow: [{ question: /name a component that is used once, or another key/ }],
    },
  ],
  "cli/cannot-listen": [
    {
      files: file(vm),
      command: ["watch", "--listen", "203.0.113.9:1"],
      follow: [{ question: /--listen \S+, or --listen none/ }],
    },
  ],
  "cli/no-address": [
    {
      files: file("vms: { web: {} }\ngroups: { app: {} }", { has: all }),
      service: { tell: retold({ vm: withoutAddress }) },
      before: both(applied, (here) => here.door.become({})),
      command: ["explain", "reach", "vm.web", "group.app:22"],
      follow: [{ run: /reconcile apply/ }],
    },
  ],
} satisfies Worlds;

const hidden: OtherService = {
  hear: ({ operation }) =>
    /^vm\.(get|delete|stop)$/.test(operation)
      ? { status: 404, body: { error: { code: 404, message: "not found in this project" } } }
      : undefined,
  tell: retold({ vm: () => undefined, volume: ({ attached_to: _, ...record }) => record }),
};

const ofService = {
  "service/conflict": [
    {
      files: file("groups: { web: {} }"),
      service: answers("group.create", 409, "the project is being changed, try again", 2),
      follow: [{ write: /errors: \[.*\]/, below: ["service", "dialect"] }],
    },
  ],
  "service/refused": [
    {
      files: file("groups: { web: {} }"),
      service: answers("group.create", 428, "precondition required"),
      follow: [{ question: /fingerprint: \{ from: \/fingerprint, send: If-Match \}/ }],
    },
  ],
  "service/bad_request": [
    {
      files: file("groups: { web: {} }"),
      service: answers("group.create", 400, "the header If-Match is missing"),
      follow: [{ question: /fingerprint: \{ from: \/fingerprint, send: If-Match \}/ }],
    },
  ],
  "service/not_found": [
    {
      name: "of what this credential is not shown",
      files: file("vms: { web: {} }\nvolumes: { spare: { size: 1 } }", { has: all }),
      before: both(applied, (here) => here.door.become(hidden)),
      command: ["destroy", "-y", "--allow-data-loss", "--confirm-flush", "all"],
      follow: [{ question: /use a credential that is shown it/ }],
    },
  ],
  "service/embedded": [
    {
      files: { ...file("groups: { web: {} }"), ".reconcile/world": "a file" },
      before: (here) => {
        here.env["RECONCILE_BASE_URL"] = "embedded";
      },
      follow: [{ hand: /check the rights to/, done: (here) => here.remove(".reconcile/world") }],
    },
    {
      name: "on a world of another version",
      files: { ...file("groups: { web: {} }"), ".reconcile/world/world.json": '{"journal":2,"world":{"version":2}}' },
      before: (here) => {
        here.env["RECONCILE_BASE_URL"] = "embedded";
      },
      follow: [{ hand: /or move that folder away/, done: (here) => here.remove(".reconcile/world") }],
    },
  ],
} satisfies Worlds;

const resized = rewritten("flavor_id: m1.small, life", "flavor_id: m1.large, life");
const check = "flavor_id: m1.small, lifecycle: { verify_resize: { check: { tcp: 22 }, timeout: 100ms } }";
const moved = ({ private_ip, ...record }: Record<string, unknown>): object => ({ ...record, net: { ip: private_ip } });
const saved = "lifecycle: { snapshot_before: [rebuild] }";
const rebuilt = ["apply", "-y", "--allow-data-loss"];
const brokenImages: OtherService = {
  tell({ operation }, answer) {
    if (operation !== "image.list") return undefined;
    const { data } = answer.body as { data: readonly Record<string, unknown>[] };
    const told = data.map((image) => (String(image["name"]).includes("web") ? { ...image, status: "error" } : image));
    return { status: 200, body: { data: told } };
  },
};

const done = {
  "apply/check-failed": [
    {
      name: "no address to check at",
      files: file(`vms: { web: { ${check} } }`, { has: all }),
      service: { tell: retold({ vm: withoutAddress }) },
      before: both(applied, resized),
      follow: [{ question: /records\.vm\.floating_ip or records\.vm\.private_ip/ }],
    },
  ],
  "apply/volume-not-settled": [
    {
      files: file("vms: { web: {} }\nvolumes: { data: { size: 1, attach_to: web } }", { has: all }),
      service: swallowed("volume.attach", () => "ok"),
      follow: [{ again: /run the same command again/ }],
    },
  ],
  "apply/not-stopped": [
    {
      files: file("vms: { web: {} }\nvolumes: { data: { size: 1, attach_to: web } }", { has: all }),
      service: swallowed("vm.stop", () => "ok"),
      before: applied,
      command: ["destroy", "-y", "--allow-data-loss"],
      follow: [{ again: /run the same command again/ }],
      others: [0, 1, 0],
    },
  ],
  "apply/volume-changed": [
    {
      files: file(vm, { has: all }),
      before: both(
        applied,
        runs("destroy", "-y", "--allow-data-loss", "--confirm-flush", "all"),
        changed("volumes", "web-data", { size: 12 }),
      ),
      command: ["orphans", "delete", "--all", "--allow-data-loss"],
      follow: [{ again: /run the same command again to delete it all the same/ }],
    },
  ],
  "apply/waiting": [
    {
      files: file(vm, { operations: "vm.list: null" }),
      before: (here) => here.reconcile("apply", "-y"),
      follow: [{ run: /reconcile import vm\.web ID/ }],
      knows: itsId("web"),
    },
  ],
  "apply/snapshot-failed": [
    {
      files: file(`vms: { web: { image_id: ubuntu-24.04, ${saved} } }`, { has: all }),
      service: brokenImages,
      before: both(applied, rewritten("image_id: ubuntu-24.04, life", "image_id: debian-12, life")),
      command: rebuilt,
      follow: [
        {
          hand: /delete the image in the service, then run: reconcile state resolve vm\.web --not-created/,
          async done(here) {
            here.door.become({});
            await here.door.truth.change((world) => ({
              ...world,
              images: world.images.filter(({ name }) => !name.includes("web")),
            }));
            await here.ok("state", "resolve", "vm.web", "--not-created");
          },
        },
      ],
    },
  ],
  "apply/snapshot-missing": [
    {
      files: file(`vms: { web: { image_id: ubuntu-24.04, ${saved} } }`, { has: all }),
      service: swallowed("vm.snapshot", () => ({ image_id: "0c2cf7a4-4a5b-4a28-9a49-0a3b7d2c1e11" })),
      before: both(applied, rewritten("image_id: ubuntu-24.04, life", "image_id: debian-12, life")),
      command: rebuilt,
      follow: [{ run: /reconcile state resolve vm\.web --not-created/ }],
      afterwards: rebuilt,
    },
  ],
  "apply/value-not-shown": [
    {
      files: file(
        'vms: { web: {} }\ngroups: { app: { rules: [ { protocol: tcp, dst_port: 22, remote_ip: "${vm.web.private_ip}" } ] } }',
        { has: all },
      ),
      service: { tell: retold({ vm: moved }) },
      follow: [{ write: /records: \{ vm: \{ private_ip: \[\/…\] \} \}/, below: ["service", "dialect"] }],
      knows: () => ({ "…": "net/ip" }),
    },
  ],
} satisfies Worlds;

const environments = { more: "environments: { staging: {}, prod: {} }\n" };
const named = {
  "plan/group-named": [
    {
      files: file(
        "groups: { web: { rules: [ { protocol: tcp, dst_port: 80 }, { protocol: tcp, dst_port: 81 } ] }, app: { rules: [ { protocol: tcp, dst_port: 22, remote_group: web } ] } }",
        { has: ["group.list", "group.get"] },
      ),
      before: both(applied, rewritten(", { protocol: tcp, dst_port: 81 }", "")),
      command: ["plan"],
      follow: [{ write: /in the dialect: (limits: \{ named_groups: kept \})/, below: ["service", "dialect"] }],
    },
  ],
  "plan/data-volume-kept": [
    {
      files: file("vms: { web: { lifecycle: { preserved_volumes: delete } } }"),
      service: { tell: retold({ vm: ({ volumes: _, ...record }) => record }) },
      before: applied,
      command: ["destroy", "-y", "--allow-data-loss", "--confirm-flush", "all"],
      follow: [{ question: /reconcile orphans list names it, reconcile orphans delete ID ends it/ }],
      others: [0, 1, 0],
    },
  ],
  "reachability/unproven": [
    {
      files: file(
        'vms: { web: {} }\ngroups: { app: { rules: [ { protocol: tcp, dst_port: 22, remote_ip: "${vm.web.private_ip}" } ] } }\nreachability: [ { never: { from: 10.0.0.0/8, to: group.app, tcp: [22] } } ]',
        { has: all },
      ),
      command: ["plan"],
      follow: [{ question: /say in the assertion whom the rule names instead of addresses/ }],
    },
  ],
  "state/damaged": [
    {
      files: file("groups: { web: {} }"),
      before: both(
        sets("RECONCILE_STATE_KEY", () => Buffer.alloc(32, 7).toString("base64")),
        applied,
        (here) => here.write("copy", here.read("reconcile.state.json")),
        (here) =>
          here.write(
            "reconcile.state.json",
            here
              .read("reconcile.state.json")
              // Not the last letter, of which the bytes hold a part only.
              .replace(/[A-Za-z0-9+/](?=[^"]{20}[^A-Za-z0-9]*$)/, (letter) => (letter === "A" ? "B" : "A")),
          ),
      ),
      follow: [
        { hand: /restore it from a copy/, done: (here) => here.write("reconcile.state.json", here.read("copy")) },
      ],
    },
  ],
  "plan/attachments-unseen": [
    {
      files: file(vm),
      service: { tell: retold({ vm: ({ volumes: _, ...record }) => record }) },
      before: applied,
      command: ["destroy", "-y", "--allow-data-loss", "--confirm-flush", "all"],
      follow: [{ question: /records\.vm\.volumes/ }],
      others: [0, 1, 0],
    },
  ],
  "plan/project-removed": [
    {
      files: { "a/reconcile.yaml": `${head()}${vm}\n`, "b/reconcile.yaml": `${head()}${vm}\n` },
      before: ({ folder, remove }) => {
        const git = (...words: readonly string[]) =>
          execFileSync("git", ["-c", "user.name=ann", "-c", "user.email=ann@acme.example", ...words], { cwd: folder });
        git("init", "-q");
        git("add", ".");
        git("commit", "-qm", "all of it");
        remove("b");
      },
      command: ["plan", "--changed-since", "HEAD", "a", "b"],
      follow: [{ question: /run reconcile destroy with the former files/ }],
    },
  ],
  "plan/run-under-way": [
    {
      files: file(vm, { has: all }),
      service: { tell: retold({ vm: (record) => ({ ...record, status: "BUILD" }) }) },
      before: both((here) => here.reconcile("apply", "-y"), held),
      command: ["plan"],
      follow: [
        {
          hand: /plan again when it has ended/,
          done: (here) => {
            here.door.become({});
            here.remove("reconcile.state.json.lock");
          },
        },
      ],
    },
  ],
  "plan/sibling-unread": [
    {
      files: file("vms: { web: { name: shop } }", { has: all, ...environments }),
      before: both(runs("apply", "-y", "--env", "staging"), (here) => {
        here.write("reconcile.staging.state.json", "{ broken");
        here.env["RECONCILE_ENV"] = "prod";
      }),
      command: ["apply", "-y", "--adopt"],
      follow: [{ run: /reconcile import vm\.web \S+/ }],
    },
  ],
  "plan/service-ingress": [
    {
      files: file("groups: { web: {} }", { has: ["group.list", "group.get"] }),
      before: both(applied, (here) =>
        here.door.truth.change((world) => {
          const like = world.rules.find(({ direction }) => direction === "egress");
          const id = here.idOf("web");
          if (like === undefined) throw new Error("the service has no rule");
          const more = { ...like, id: "99999999-9999-4999-8999-999999999999", security_group_id: id };
          return { ...world, rules: [...world.rules, { ...more, direction: "ingress" as const, platform: true }] };
        }),
      ),
      command: ["plan"],
      follow: [{ question: /if it is wanted, declare it in the rules of group\.web/ }],
    },
  ],
  "dialect/does-not-fit": [
    {
      files: file("vms: { web: { name: front } }\nvolumes: { data: { size: 1, attach_to: web } }", { has: all }),
      before: both(applied, (here) =>
        here.door.become({
          tell: retold({
            volume: (record) =>
              typeof record["attached_to"] === "string" ? { ...record, attached_to: "front" } : record,
          }),
        }),
      ),
      follow: [
        {
          hand: /by: name/,
          done: rewritten(
            "dialect: {",
            "dialect: { records: { volume: { attached_to: { value: /attached_to, by: name } } },",
          ),
        },
      ],
    },
  ],
  "dialect/says-more": [
    {
      files: {
        ...file(vm),
        "own.yaml": `records: { vm: { name: [/title] } }\nerrors: [ { is: throttled, status: 418 } ]\n`,
      },
      command: ["doctor", "--out", "own.yaml"],
      afterwards: [],
      follow: [{ flag: /--dialect own\.yaml/ }],
    },
  ],
} satisfies Worlds;

export const here = { ...fleets, ...command, ...ofService, ...done, ...named } satisfies Worlds;
