/** Dialects, assertions, programs of a file, listings and what is read beside the file. */
import { join } from "node:path";
import {
  all,
  answers,
  applied,
  both,
  file,
  head,
  itsId,
  lost,
  mistake,
  rewritten,
  sets,
  stranger,
  vm,
  type Worlds,
} from "./scene";

const assertion = (groups: string, written: string): Readonly<Record<string, string>> =>
  file(`groups: { ${groups} }\nreachability: [ ${written} ]`);
const isoDay = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const port = (number: number, more = ""): string => `rules: [ { protocol: tcp, dst_port: ${number}${more} } ]`;

const listing = (permissions: readonly object[], egress: readonly object[] = [], name = "front"): string =>
  JSON.stringify({
    SecurityGroups: [{ GroupName: name, Description: "d", IpPermissions: permissions, IpPermissionsEgress: egress }],
  });
const range = { IpProtocol: "tcp", FromPort: 80, ToPort: 90, IpRanges: [{ CidrIp: "10.0.0.0/8" }] };
const restricted = { IpProtocol: "tcp", FromPort: 443, ToPort: 443, IpRanges: [{ CidrIp: "10.0.0.0/8" }] };

export const moreFiles = {
  "config/alias-limit": [
    {
      files: {
        "reconcile.yaml": `${head()}x-a: &a [${"x,".repeat(999)}x]\nx-b: &b [${"*a,".repeat(99)}*a]\nx-c: [*b, *b, *b]\n${vm}\n`,
      },
      command: ["validate"],
      follow: [{ hand: /use defaults and for_each instead/, done: rewritten(/x-b.*\nx-c.*\n/, "") }],
    },
  ],
  "config/component-circle": [
    {
      files: {
        ...file(vm, { more: "components: { one: { from: ./one.yaml } }\n" }),
        "one.yaml": "component: 1\ncomponents: { two: { from: ./one.yaml } }\n",
      },
      command: ["validate"],
      follow: [{ hand: /./, done: (here) => here.write("one.yaml", "component: 1\ngroups: { inner: {} }\n") }],
    },
  ],
  "config/unused-parameter": [
    {
      files: {
        ...file(vm, { more: "components: { one: { from: ./one.yaml, with: { word: x } } }\n" }),
        "one.yaml": "component: 1\nparameters: { word: {} }\ngroups: { inner: { description: none } }\n",
      },
      command: ["validate"],
      follow: [
        {
          hand: /use it as \$\{param\.word\}/,
          done: (here) => here.edit("one.yaml", "description: none", 'description: "${param.word}"'),
        },
      ],
    },
  ],
  "config/too-large": [
    mistake(
      `${head()}groups: { web: { rules: [ { protocol: tcp, dst_port: [${Array.from({ length: 150 }, (_, n) => n + 1)}], remote_ip: [${Array.from({ length: 90 }, (_, n) => `10.0.${n}.0/24`)}] } ] } }`,
      { hand: /write ranges of ports and CIDRs/, done: rewritten(/dst_port: \[.*?\]/, "dst_port: 1-150") },
    ),
  ],
  "dialect/credential-header": [
    mistake(head({ dialect: ", headers: { Authorization: Bearer abc }" }), {
      hand: /take it out, set RECONCILE_TOKEN/,
      done: rewritten(", headers: { Authorization: Bearer abc }", ""),
    }),
  ],
  "dialect/missing": [
    mistake(head({ operations: 'vm.get: { path: "/api/v1/vm/{id}" }' }), {
      hand: /method/,
      done: rewritten('{ path: "', '{ method: GET, path: "'),
    }),
  ],
  "dialect/not-allowed": [
    mistake(head({ dialect: ", errors: [ { is: not_fond, status: 404 } ]" }), {
      word: /write (\S+)/,
      insteadOf: "not_fond",
    }),
  ],
  "dialect/invalid-name": [
    mistake(head({ dialect: ", values: { a-b: x }" }), { word: /write (\S+)/, insteadOf: "a-b" }),
  ],
  "dialect/state-twice": [
    mistake(head({ dialect: ", states: { vm: { stopped: HALTED, failed: HALTED } }" }), {
      hand: /leave it in one of the two/,
      done: rewritten(", failed: HALTED", ""),
    }),
  ],
  "reachability/contradiction": [
    {
      files: assertion(
        `web: { ${port(80)} }`,
        "{ never: { from: internet, to: group.web, tcp: 80 } }, { always: { from: internet, to: group.web, tcp: 80, ethertype: IPv4 } }",
      ),
      command: ["validate"],
      follow: [
        {
          hand: /narrow one of the two/,
          done: rewritten("{ never: { from: internet, to: group.web, tcp: 80 } }, ", ""),
        },
      ],
    },
  ],
  "reachability/exception-ends": [
    {
      files: assertion(
        `web: { ${port(80)} }`,
        `{ never: { from: internet, to: group.web }, allow: { from: internet, until: ${isoDay(5)}, reason: soon } }`,
      ),
      command: ["plan", "--strict"],
      follow: [{ hand: /narrow the rules that need it, or set a new day/, done: rewritten(isoDay(5), isoDay(200)) }],
    },
  ],
  "reachability/exception-too-long": [
    {
      files: assertion(
        `web: { ${port(80)} }`,
        `{ never: { from: internet, to: group.web }, allow: { from: internet, until: ${isoDay(900)}, reason: late } }`,
      ),
      command: ["validate"],
      follow: [{ word: /write a day until (\S+)/, insteadOf: isoDay(900) }],
    },
  ],
  "reachability/exception-unneeded": [
    {
      files: assertion(
        `web: { ${port(80, ", remote_ip: 10.0.0.0/8")} }`,
        `{ never: { from: internet, to: group.web }, allow: { from: internet, until: ${isoDay(200)}, reason: late } }`,
      ),
      command: ["plan", "--strict"],
      follow: [{ hand: /remove it from allow/, done: rewritten(/, allow: \{.*?\}/, "") }],
    },
  ],
  "reachability/one-family": [
    {
      files: assertion(`web: { ${port(80)} }`, "{ always: { from: internet, to: group.web, tcp: 80 } }"),
      command: ["validate"],
      follow: [
        { hand: /write ethertype: IPv4 in the assertion/, done: rewritten("tcp: 80 }", "tcp: 80, ethertype: IPv4 }") },
      ],
    },
  ],
  "listing/egress": [
    {
      files: { ...file(vm), "list.json": listing([], [restricted]) },
      command: ["group", "import", "list.json"],
      others: [0, 0, 1],
      afterwards: [],
      follow: [{ run: /reconcile exposure/ }],
    },
  ],
  "listing/group-failed": [
    {
      files: { ...file("groups: { front: {} }"), "list.json": listing([]) },
      before: applied,
      command: ["group", "import", "list.json"],
      follow: [{ flag: /--convert/ }],
    },
  ],
  "listing/port-ranges": [
    {
      files: { ...file(vm), "list.json": listing([range]) },
      command: ["group", "import", "list.json", "--convert"],
      follow: [{ write: /rules: \{ port_range: .*? \}/, below: ["service", "dialect"] }],
    },
  ],
  "listing/unreadable": [
    {
      files: { ...file(vm), "list.json": "[]" },
      command: ["group", "import", "list.json"],
      others: [0, 0, 1],
      follow: [{ hand: /give the JSON output/, done: (here) => here.write("list.json", listing([])) }],
    },
  ],
  "listing/outcome-unknown": [
    {
      files: { ...file(vm), "list.json": listing([]) },
      service: lost("group.import", true),
      command: ["group", "import", "list.json"],
      others: [0, 0, 1],
      follow: [{ question: /look at the groups in the service before importing again/ }],
    },
  ],
  "trust/path": [
    {
      files: {
        "reconcile.yaml":
          "version: 1\nproject: acme\nregion: in-west-1\nservice: { dialect: ./mine.yaml }\ngroups: { web: {} }\n",
        "mine.yaml": "limits: { named_groups: kept }\n",
        "below/x": "",
      },
      before: both(
        sets("RECONCILE_PROGRAMS", () => "none"),
        sets("RECONCILE_FILES_BELOW", (here) => join(here.folder, "below")),
      ),
      follow: [
        {
          hand: /set RECONCILE_FILES_BELOW to a folder above both/,
          done: sets("RECONCILE_FILES_BELOW", (here) => here.folder),
        },
      ],
    },
  ],
  "trust/program": [
    {
      files: file(
        'vms: { web: {} }\nvolumes: { data: { size: 3, attach_to: web, flush: { via: command, command: ["true"] } } }',
      ),
      before: both(
        applied,
        rewritten("size: 3,", "size: 4,"),
        sets("RECONCILE_PROGRAMS", () => "none"),
      ),
      follow: [{ hand: /run it without RECONCILE_PROGRAMS=none/, done: sets("RECONCILE_PROGRAMS", () => "run") }],
    },
  ],
  "trust/state": [
    {
      files: file("", { more: "state: https://states.example/one\n" }),
      command: ["plan", "--no-programs"],
      follow: [{ question: /RECONCILE_STATE/ }],
    },
  ],
  "service/credential-refused": [
    {
      files: file(vm),
      emulated: { strict: true },
      before: sets("RECONCILE_TOKEN", () => "wrong"),
      command: ["doctor"],
      follow: [{ hand: /Check RECONCILE_TOKEN/, done: sets("RECONCILE_TOKEN", () => "ops-token") }],
    },
  ],
  "service/not-this-service": [
    {
      files: file(vm),
      service: { hear: () => ({ status: 418, text: "tea", headers: { "content-type": "text/plain" } }) },
      command: ["doctor"],
      follow: [{ hand: /Check service\.base_url/, done: (here) => here.door.become({}) }],
    },
  ],
  "plan/import-unseen": [
    {
      files: file('imports: [ { to: group.web, id: "57a17000-0000-4000-8000-000000000002" } ]\ngroups: { web: {} }', {
        has: ["group.get"],
      }),
      service: answers("group.get", 403, "no", 99),
      follow: [{ question: /use a credential that may read this project/ }],
    },
  ],
  "plan/import-differs": [
    {
      files: file(vm, { has: all }),
      before: stranger("vms: { web: { owner: other@acme.example } }"),
      command: ["import", "vm.web", "web"],
      afterwards: [],
      follow: [{ question: /write the service's value into the file/ }],
    },
  ],
  "pull/vms-unlisted": [
    {
      files: file("", { has: ["vm.get"], operations: "vm.list: null" }),
      before: stranger(vm),
      command: ["pull"],
      others: [1, 1, 0],
      knows: itsId("web"),
      afterwards: [],
      follow: [{ run: /reconcile pull --vm ID/ }],
    },
  ],
  "pull/fill-in": [
    {
      files: file("", { has: all }),
      before: stranger(vm),
      command: ["pull", "--vm", "web"],
      others: [1, 1, 0],
      knows: () => ({ "…": "1042" }),
      afterwards: [],
      follow: [{ run: /reconcile pull --user-id …/ }],
    },
  ],
} satisfies Worlds;
