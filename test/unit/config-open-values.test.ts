import { describe, expect, it } from "vitest";
import { shownText } from "../../reconciler/core/model/computed";
import type { DesiredGroup } from "../../reconciler/core/model/desired";
import { jsonOf } from "../../reconciler/core/model/output";
import { desiredOf, readText, resourceOf } from "../support/desired-file";

const world = (more: string): string => `vms:
  db: { name: db-1, lifecycle: { verify_resize: { check: { http: "http://\${vm.db.private_ip}:80/" } } } }
  web: { for_each: [a, b], name: "web-\${each}" }
volumes: { data: { size: 10, attach_to: db, flush: { via: command, command: [ssh, "\${vm.db.private_ip}", sync] } } }
groups:
  db:
    name: db-tier
    description: "for \${vm.db.id}"
    rules: [ ${more} ]
  web: {}
outputs:
  all: { value: [ "\${vm.web[*].floating_ip}", "\${volume.data.size}", 3, { a: "x-\${vm.db.id}" } ], description: All }
`;
const problems = (rule: string): string[] =>
  readText(world(rule)).diagnostics.map(({ code, summary, fix }) => `${code} | ${summary} | ${fix ?? "-"}`);
const group = (rule: string) => resourceOf<DesiredGroup>(desiredOf(world(rule)), "group.db");

describe("values that only the service knows, in a file", () => {
  it("are one rule for each address of a list, and stay open", () => {
    const { rules, description } = group('{ protocol: tcp, dst_port: 22, remote_ip: "${vm.web[*].private_ip}" }');
    const texts = rules.map(({ remote }) => (remote.kind === "computed" ? shownText(remote.text) : remote.kind));
    expect(texts).toEqual([
      "vm.web[a].private_ip (known once vm.web[a] is created)",
      "vm.web[b].private_ip (known once vm.web[b] is created)",
    ]);
    expect(shownText(description ?? "")).toBe("for vm.db.id (known once vm.db is created)");
  });

  it("stand in checks, flush commands and outputs", () => {
    const desired = desiredOf(world(""));
    expect(desired.outputs?.map(({ name, value, description }) => [name, jsonOf(value), description])).toEqual([
      [
        "all",
        [
          [
            "vm.web[a].floating_ip (known once vm.web[a] is created)",
            "vm.web[b].floating_ip (known once vm.web[b] is created)",
          ],
          "volume.data.size (known once volume.data is created)",
          3,
          { a: "x-vm.db.id (known once vm.db is created)" },
        ],
        "All",
      ],
    ]);
    expect(JSON.stringify(resourceOf(desiredOf(world("")), "vm.db"))).toContain('"attribute":"private_ip"');
    expect(JSON.stringify(resourceOf(desiredOf(world("")), "volume.data"))).toContain('"attribute":"private_ip"');
  });

  it.each([
    ["vm.dbb.private_ip", "config/unknown-reference | vm.dbb is not declared | write vm.db"],
    ["vm.db.privat_ip", "config/unknown-reference | ${vm.db.privat_ip} is not known | write ${vm.db.private_ip}"],
    [
      "vm.web.private_ip",
      "config/unknown-reference | vm.web has a for_each: the reference must name one of its keys | write ${vm.web[a]…}, or ${vm.web[*]…} for a list of all",
    ],
    ["vm.web[c].private_ip", "config/unknown-reference | vm.web[c] is not declared | write vm.web[a]"],
    [
      "vm.db[*].private_ip",
      "config/unknown-reference | vm.db has no for_each, so there is no [*] of it | write ${vm.db…}",
    ],
    ["vm.db.id", "config/invalid-rule | remote_ip cannot be ${vm.db.id} | write ${vm.db.private_ip}"],
    ["volume.data.size", "config/invalid-rule | remote_ip cannot be ${volume.data.size} | -"],
  ])("${%s} as a remote_ip is an error that says what is right", (name, expected) => {
    expect(problems(`{ protocol: tcp, dst_port: 22, remote_ip: "\${${name}}" }`)).toEqual([expected]);
  });

  it.each([
    ["a name", 'vms: { aaa: { name: "${vm.bbb.id}" }, bbb: {} }', "name cannot be ${vm.bbb.id}"],
    [
      "a size",
      'vms: { a: { size: "${volume.v.size}" } }\nvolumes: { v: { size: 1 } }',
      "size cannot be ${volume.v.size}",
    ],
    [
      "a port",
      'vms: { bbb: {} }\ngroups: { aaa: { rules: [ { protocol: tcp, dst_port: "${vm.bbb.id}" } ] } }',
      "dst_port cannot be ${vm.bbb.id}",
    ],
  ])("%s takes none, and the message says where they may stand", (_, body, summary) => {
    const found = readText(body).diagnostics.filter(({ severity }) => severity === "error");
    expect(found.map(({ code, summary: said }) => [code, said])).toContainEqual(["config/not-known-yet", summary]);
  });

  it("decide nothing about what there is", () => {
    const found = readText(
      'vms: { aaa: { for_each: "${vm.bbb.id}" }, bbb: {}, ccc: { enabled: "${vm.bbb.id}" } }',
    ).diagnostics;
    expect(found.map(({ summary }) => summary)).toEqual([
      "${vm.bbb.id} has no meaning here",
      "${vm.bbb.id} has no meaning here",
    ]);
  });

  it("are not within text as a list", () => {
    expect(problems('{ protocol: tcp, dst_port: 22, remote_ip: "x ${vm.web[*].private_ip}" }')[0]).toContain(
      "is a list and cannot stand within text",
    );
  });
});

describe("outputs", () => {
  it.each([
    ["a name that no variable could have", 'outputs: { "1a": x }', 'an output cannot be called "1a"'],
    ["a map without value", "outputs: { a: { b: 1 } }", "value is missing"],
    [
      "a sensitive variable",
      'vars: { s: { default: hushhush, sensitive: true } }\noutputs: { a: "${var.s}" }',
      "the sensitive value s would be stored in the clear",
    ],
  ])("refuse %s", (_, body, summary) => {
    expect(readText(body).diagnostics.map(({ summary: said }) => said)).toContain(summary);
  });
});
