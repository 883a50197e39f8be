/** What `reachability:` of a file says, and whether the rules of the file keep it (kinds/group/reachability). */
import { describe, expect, it } from "vitest";
import { asClosed } from "../../reconciler/core/model/desired";
import { explainReach } from "../../reconciler/kinds/group/reachability/explain";
import { judgeFile } from "../../reconciler/kinds/group/reachability/findings";
import { proposeAssertions } from "../../reconciler/kinds/group/reachability/propose";
import { partyFromWord, partyText, portsFromWord } from "../../reconciler/kinds/group/reachability/read";
import { desiredOf, readText } from "../support/desired-file";

const things = `vms: { web: {} }
volumes: { data: { size: 5 } }
groups:
  front: { rules: [] }
  back: { rules: [] }
`;

const partiesOf = (body: string) => {
  const { desired, diagnostics } = readText(`${things}reachability:\n  - ${body}\n`);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0)
    return errors.map(({ code, summary, detail, fix }) =>
      [`${code}: ${summary}`, detail, fix].filter(Boolean).join(" — "),
    );
  const [assertion] = desired!.reachability!;
  const { source: _, ...said } = assertion!;
  return said;
};
const labelOf = (body: string): string => {
  const said = partiesOf(body);
  return Array.isArray(said) ? `refused: ${said.join("; ")}` : said.label;
};

describe("an assertion is read as", () => {
  it.each<readonly [body: string, label: string]>([
    ["never: { from: internet, to: group.front }", "never internet -> group.front"],
    ["only: { from: [anywhere, group.back], to: group.* }", "only anywhere, group.back -> group.*"],
    ["always: { from: vm.web, to: group.front, tcp: 443 }", "always vm.web -> group.front tcp 443"],
    [
      "never: { from: { id: 3f2b6f1c-8f0e-4d0e-9a57-0a4f5a5f8e11 }, to: group.front }",
      "never 3f2b6f1c-8f0e-4d0e-9a57-0a4f5a5f8e11 -> group.front",
    ],
    ["never: { from: 10.1.2.3, to: group.front }", "never 10.1.2.3/32 -> group.front"],
    ["never: { from: 10.0.0.7/8, to: group.front }", "never 10.0.0.0/8 -> group.front"],
    ["never: { from: 2001:db8::/32, to: group.front, udp: 53 }", "never 2001:db8::/32 -> group.front udp 53"],
    [
      "never: { from: internet, to: group.front, tcp: [22, 8000-8010], udp: any, icmp: true }",
      "never internet -> group.front tcp 22, tcp 8000-8010, udp, icmp",
    ],
    ["never: { from: internet, to: group.front, tcp: any, icmp: false }", "never internet -> group.front tcp"],
    [
      "never: { from: internet, to: group.front, tcp: 65535, icmp: any }",
      "never internet -> group.front tcp 65535, icmp",
    ],
    ["never: { from: group.front, to: internet }", "never group.front -> internet"],
    ["never: { from: group.front, to: internet, direction: egress }", "never group.front -> internet (egress)"],
    ["never: { from: internet, to: group.front, direction: ingress }", "never internet -> group.front"],
    [
      "never: { from: group.front, to: group.back, tcp: 1, direction: egress }",
      "never group.front -> group.back tcp 1 (egress)",
    ],
  ])("%s: %s", (body, label) => {
    expect(labelOf(body)).toBe(label);
  });

  it("what it leaves out, what it lets through for a while, and why", () => {
    const body = `never: { from: internet, to: group.*, tcp: 22, ethertype: IPv4 }
    except: [ { to: group.front }, { from: 8.8.8.8, tcp: 22 } ]
    allow: { from: 9.9.9.9, tcp: any, until: 2026-12-31, reason: moving, owner: ops }
    because: audits`;
    expect(partiesOf(body)).toMatchObject({
      kind: "never",
      ethertype: "IPv4",
      because: "audits",
      except: [
        { from: [], to: [{ kind: "group", group: { address: "group.front" } }], ports: [] },
        {
          from: [{ kind: "cidr", cidr: "8.8.8.8/32" }],
          to: [],
          ports: [{ protocol: "tcp", ports: { min: 22, max: 22 } }],
        },
      ],
      allow: [
        {
          from: [{ kind: "cidr", cidr: "9.9.9.9/32" }],
          ports: [{ protocol: "tcp" }],
          until: "2026-12-31",
          reason: "moving",
          owner: "ops",
          source: { line: 13 },
        },
      ],
    });
    expect(partiesOf("never: { from: internet, to: group.front }\n    except: { to: group.front }")).toMatchObject({
      except: [{ from: [] }],
      allow: [],
    });
  });
});

describe("an exception of a never", () => {
  const findingsOf = (except: string): readonly string[] => {
    const desired = desiredOf(`vars: { nobody: { type: list, default: [] } }
groups:
  front: { rules: [{ protocol: tcp, dst_port: 443 }, { protocol: tcp, dst_port: 22 }] }
  back: { rules: [{ protocol: tcp, dst_port: 22, remote_ip: 8.8.8.8 }] }
reachability:
  - never: { from: internet, to: group.* }
    except: ${except}
`);
    return judgeFile(asClosed(desired), "2026-01-01").findings.map(
      ({ address, counterexample }) =>
        `${address} ${counterexample?.witness?.service} ${counterexample?.witness?.peer}`,
    );
  };
  const [front, back] = ["group.front tcp 22 8.8.8.8", "group.back tcp 22 8.8.8.8"];
  it.each<readonly [what: string, except: string, found: readonly string[]]>([
    ["leaves out a whole group", "{ to: group.front }", [back]],
    ["leaves out one port of a group", "{ to: group.front, tcp: 443 }", [back, front]],
    ["leaves out the ports of a group", "{ to: group.front, tcp: [22, 443] }", [back]],
    ["leaves out one peer of one group", "{ from: 8.8.8.8, to: group.back }", [front]],
    ["leaves out another group's peer", "{ from: 8.8.8.8, to: group.front }", [back, "group.front tcp 22 1.0.0.0"]],
    ["leaves out one peer at one port", "{ from: 8.8.8.8, to: group.back, tcp: 443 }", [back, front]],
    ["leaves out a port of every group", "{ tcp: 22 }", ["group.front tcp 443 8.8.8.8"]],
    ["leaves out nothing with an empty list of peers", `{ from: "\${var.nobody}", to: group.front }`, [back, front]],
    ["leaves out nothing with an empty list of groups", `{ from: 8.8.8.8, to: "\${var.nobody}" }`, [back, front]],
    ["leaves out nothing with an empty list of ports", `{ to: group.front, tcp: "\${var.nobody}" }`, [back, front]],
    ["leaves out nothing where it says nothing", "{}", [back, front]],
  ])("%s", (_, except, found) => {
    expect(findingsOf(except)).toEqual(found);
  });
});

describe("an assertion is refused that", () => {
  const flow = "from: internet, to: group.front";
  const day = "until: 2026-12-31, reason: why";
  it.each<readonly [what: string, body: string, problems: readonly (string | RegExp)[]]>([
    ["says nothing", "because: why", [/an assertion says never, always or only — write - never:/]],
    [
      "says two things",
      `never: { ${flow} }\n    always: { ${flow} }`,
      [/an assertion says one of never, always — make two assertions of it/],
    ],
    ["says not who sends", "never: { to: group.front }", [/^config\/missing: .*from.* — add from:/]],
    ["says not who is reached", "never: { from: internet }", [/^config\/missing: .*to.* — add to:/]],
    ["names a group by its key alone", "never: { from: internet, to: front }", [/ — write group\.front$/]],
    ["names a VM by its key alone", "never: { from: web, to: group.front }", [/ — write vm\.web$/]],
    ["names nobody by a word that is near", "never: { from: internets, to: group.front }", [/ — write internet$/]],
    [
      "names a volume",
      "never: { from: volume.data, to: group.front }",
      [/internet, anywhere, group\.KEY, group\.\*, vm\.KEY/],
    ],
    ["names a group that there is not", "never: { from: group.frot, to: group.front }", [/group\.frot/]],
    [
      "asks the rules of a group that is managed elsewhere",
      "never: { from: internet, to: { id: 3f2b6f1c-8f0e-4d0e-9a57-0a4f5a5f8e11 } }",
      [/the rules of the groups in this file are asked, those of `to` for ingress/],
    ],
    [
      "asks the rules of nobody",
      "never: { from: internet, to: 10.0.0.0/8 }",
      [/those of `from` for egress — name a group in from or in to/],
    ],
    [
      "asks for ingress where nobody is reached",
      "never: { from: group.front, to: internet, direction: ingress }",
      [/those of `to` for ingress.* — name a group in to, or write direction: egress/],
    ],
    [
      "asks for egress of the internet",
      "never: { from: internet, to: group.front, direction: egress }",
      [/those of `from` for egress/],
    ],
    ["has a port of 0", `never: { ${flow}, tcp: 0 }`, [/./]],
    ["has a port above the last", `never: { ${flow}, udp: 65536 }`, [/./]],
    [
      "has a range that ends before it begins",
      `never: { ${flow}, tcp: 90-80 }`,
      [/a port from 1 to 65535, a range such as 8000-8010, or any/],
    ],
    [
      "has exceptions and is an always",
      `always: { ${flow} }\n    except: { from: 8.8.8.8 }`,
      ["config/not-allowed: an always has no exceptions — narrow its from, to or ports instead"],
    ],
    [
      "has exceptions that end and is an always",
      `always: { ${flow} }\n    allow: { from: 8.8.8.8, ${day} }`,
      ["config/not-allowed: an always has no exceptions — narrow its from, to or ports instead"],
    ],
    [
      "has an exception for nobody",
      `never: { ${flow} }\n    allow: { ${day} }`,
      [/add from: and whom it lets through/],
    ],
    [
      "has an exception without an end",
      `never: { ${flow} }\n    allow: { from: 8.8.8.8, reason: why }`,
      [/add until: and its last day/],
    ],
    [
      "has an exception without a reason",
      `never: { ${flow} }\n    allow: { from: 8.8.8.8, until: 2026-12-31 }`,
      [/add reason: an exception without one is forgotten/],
    ],
    [
      "has an exception whose end is no day",
      `never: { ${flow} }\n    allow: { from: 8.8.8.8, until: 2026-02-30, reason: why }`,
      [/a day such as 2026-12-31/],
    ],
    [
      "has an exception whose end is a word",
      `never: { ${flow} }\n    allow: { from: 8.8.8.8, until: soon, reason: why }`,
      [/a day such as 2026-12-31/],
    ],
  ])("%s", (_, body, problems) => {
    const found = partiesOf(body);
    expect(found).toEqual(problems.map((one) => (typeof one === "string" ? one : expect.stringMatching(one))));
  });
});

describe("a word of a command line is", () => {
  const addresses = new Set(["group.front", "shop/group.web", "vm.web"]);
  it.each<readonly [word: string, party: string | undefined]>([
    ["internet", "internet"],
    ["anywhere", "anywhere"],
    ["10.0.0.7/8", "10.0.0.0/8"],
    ["front", "group.front"],
    ["group.front", "group.front"],
    ["shop/web", "shop/group.web"],
    ["web", undefined],
    ["vm.web", undefined],
    ["nobody", undefined],
  ])("%s: the party %s", (word, text) => {
    const party = partyFromWord(word, addresses);
    expect(party === undefined ? undefined : partyText(party)).toBe(text);
  });

  it.each<readonly [word: string, ports: object | undefined]>([
    ["icmp", { protocol: "icmp" }],
    ["5432", { protocol: "tcp", ports: { min: 5432, max: 5432 } }],
    ["tcp/22", { protocol: "tcp", ports: { min: 22, max: 22 } }],
    ["udp/8000-8010", { protocol: "udp", ports: { min: 8000, max: 8010 } }],
    ["udp/any", { protocol: "udp" }],
    ["any", { protocol: "tcp" }],
    ["0", undefined],
    ["65535", { protocol: "tcp", ports: { min: 65535, max: 65535 } }],
    ["65536", undefined],
    ["22-21", undefined],
    ["22-22", { protocol: "tcp", ports: { min: 22, max: 22 } }],
    ["sctp/1", undefined],
    ["", undefined],
  ])("%s: the ports %j", (word, ports) => {
    expect(portsFromWord(word)).toEqual(ports);
  });
});

const today = "2026-06-01";
const fileOf = (front: readonly string[], assertion: string, back: readonly string[] = []): string => `groups:
  front: { rules: [ ${front.join(", ")} ] }
  back: { rules: [ ${back.join(", ")} ] }
reachability:
  - ${assertion}
`;
const tcp = (port: number | string, remote: string): string => `{ protocol: tcp, dst_port: ${port}, ${remote} }`;
const world = "remote_ip: 0.0.0.0/0";
const net = "remote_ip: 10.0.0.0/8";
const fromBack = "remote_group: back";

/** Each finding: how grave, what, and the counterexample. */
const judged = (body: string): readonly string[] => {
  const { findings, verdicts } = judgeFile(asClosed(desiredOf(body)), today);
  return [
    ...verdicts.map(({ verdict }) => verdict),
    ...findings.map(({ severity, code, counterexample, refused }) =>
      [
        refused === undefined ? severity : `refused (${severity})`,
        code.replace("reachability/", ""),
        ...(counterexample === undefined
          ? []
          : [counterexample.set, `as ${counterexample.witness?.peer} ${counterexample.witness?.service}`]),
      ].join(" | "),
    ),
  ];
};
const broken = (set: string, as: string): readonly string[] => [
  "violated",
  `refused (error) | violated | ${set} | as ${as}`,
];

describe("an IPv4 address as IPv6 spells it", () => {
  it.each([
    ["::ffff:0:0/96", "violated"],
    ["::ffff:8.8.8.0/120", "violated"],
    ["64:ff9b::8.8.8.0/120", "violated"],
    ["::ffff:10.0.0.0/104", "holds"],
    ["::ffff:192.0.2.0/120", "holds"],
  ])("%s: never internet is %s", (cidr, verdict) =>
    expect(judged(fileOf([tcp(22, `remote_ip: "${cidr}"`)], "never: { from: internet, to: group.front }"))[0]).toBe(
      verdict,
    ),
  );
});

describe("the network around an address that is not known yet", () => {
  it.each<readonly [what: string, prefix: string, assertion: string, verdict: string]>([
    ["of one address holds nobody of the internet", "/32", "never: { from: internet, to: group.front }", "holds"],
    ["of no bits is everybody", "/0", "never: { from: internet, to: group.front }", "violated"],
    ["may hold some of the internet", "/8", "never: { from: internet, to: group.front }", "unproven"],
    ["may hold an address", "/24", "never: { from: 10.0.0.1, to: group.front }", "unproven"],
    ["may hold members of a group", "/24", "never: { from: group.back, to: group.front }", "unproven"],
    ["is more than the VM", "/24", "only: { from: vm.web, to: group.front }", "violated"],
  ])("%s", (_, prefix, assertion, verdict) => {
    const file = fileOf([tcp(22, `remote_ip: "\${vm.web.private_ip}${prefix}"`)], assertion);
    expect(judged(`vms: { web: {} }\n${file}`)[0]).toBe(verdict);
  });

  it.each(["/33", "/128", "/999"])("has no prefix that IPv4 has not: %s", (prefix) => {
    const rule = `{ ethertype: IPv4, remote_ip: "\${vm.web.private_ip}${prefix}" }`;
    expect(readText(things.replace("rules: []", `rules: [${rule}]`)).diagnostics).toMatchObject([
      {
        code: "config/invalid-rule",
        summary: expect.stringContaining("the address of one VM, alone or with a prefix"),
      },
    ]);
  });
});

describe("the rules of a file", () => {
  it.each<readonly [what: string, body: string, told: readonly string[]]>([
    ["admit nobody who must never be", fileOf([tcp(22, net)], "never: { from: internet, to: group.front }"), ["holds"]],
    [
      "admit everybody",
      fileOf([tcp(22, world)], "never: { from: internet, to: group.front }"),
      broken("tcp 22 from internet (IPv4)", "8.8.8.8 tcp 22"),
    ],
    [
      "admit everybody at another port",
      fileOf([tcp(22, world)], "never: { from: internet, to: group.front, tcp: 443 }"),
      ["holds"],
    ],
    [
      "admit everybody at one of the ports",
      fileOf([tcp("20-30", world)], "never: { from: internet, to: group.front, tcp: 25-90 }"),
      broken("tcp 25-30 from internet (IPv4)", "8.8.8.8 tcp 25"),
    ],
    [
      "admit everybody over the other family",
      fileOf([tcp(22, world)], "never: { from: internet, to: group.front, ethertype: IPv6 }"),
      ["holds"],
    ],
    [
      "admit a part of whom they must not",
      fileOf([tcp(22, "remote_ip: 9.9.9.0/24")], "never: { from: internet, to: group.front }"),
      broken("tcp 22 from 9.9.9.0/24", "9.9.9.0 tcp 22"),
    ],
    [
      "admit a group",
      fileOf([tcp(22, fromBack)], "never: { from: group.back, to: group.front }"),
      broken("tcp 22 from group.back (IPv4)", "group.back tcp 22"),
    ],
    ["admit another group", fileOf([tcp(22, fromBack)], "never: { from: group.front, to: group.front }"), ["holds"]],
    [
      "admit any of the groups",
      fileOf([tcp(22, fromBack)], "never: { from: group.*, to: group.front }"),
      broken("tcp 22 from group.back (IPv4)", "group.back tcp 22"),
    ],
    [
      "admit everybody, and so the members of a group",
      fileOf([tcp(22, world)], "never: { from: group.back, to: group.front }"),
      broken("tcp 22 from group.back (IPv4)", "group.back tcp 22"),
    ],
    [
      "admit everybody, and so the members of every group",
      fileOf([tcp(22, world)], "never: { from: group.*, to: group.front }"),
      broken("tcp 22 from group.* (IPv4)", "group.* tcp 22"),
    ],
    [
      "admit all ports in two parts, all of which an exception lets through in one",
      fileOf(
        [tcp("1-1024", net), tcp("1025-65535", net)],
        "never: { from: anywhere, to: group.front, tcp: any }\n    except: { tcp: 1-65535 }",
      ),
      ["holds"],
    ],
    [
      "admit all ports in two parts, where any port must be admitted",
      fileOf([tcp("1-1024", net), tcp("1025-65535", net)], "always: { from: 10.0.0.0/8, to: group.front, tcp: any }"),
      ["holds"],
    ],
    [
      "admit what has no ports",
      fileOf(["{ protocol: icmp, remote_ip: 10.0.0.0/8 }"], "never: { from: 10.0.0.0/8, to: group.front }"),
      broken("icmp from 10.0.0.0/8", "10.0.0.0 icmp"),
    ],
    [
      "admit a network, in which members of a group may be",
      fileOf([tcp(22, net)], "never: { from: group.back, to: group.front }"),
      ["unproven"],
    ],
    [
      "admit single addresses, of which a member of a group may have one",
      fileOf([tcp(22, "remote_ip: 9.9.9.0/24")], "never: { from: group.back, to: group.front }"),
      ["unproven"],
    ],
    [
      "admit a group, which may have members in a network",
      fileOf([tcp(22, fromBack)], "never: { from: 10.0.0.0/8, to: group.front }"),
      ["unproven"],
    ],
    [
      "admit a group, which has no members in the internet",
      fileOf([tcp(22, fromBack)], "never: { from: internet, to: group.front }"),
      ["holds"],
    ],
    [
      "admit a group, which has no members at addresses of the internet",
      fileOf([tcp(22, fromBack)], "never: { from: 9.9.9.0/24, to: group.front }"),
      ["holds"],
    ],
    [
      "admit a VM whose address is not known",
      `vms: { web: {} }\n${fileOf([tcp(22, net)], "never: { from: vm.web, to: group.front }")}`,
      ["unproven"],
    ],
    [
      "admit whom an exception leaves out",
      fileOf(
        [tcp(22, "remote_ip: 9.9.9.9/32")],
        "never: { from: internet, to: group.front }\n    except: { from: 9.9.9.9 }",
      ),
      ["holds"],
    ],
    [
      "admit whom an exception leaves out at other ports",
      fileOf(
        [tcp(22, "remote_ip: 9.9.9.9/32")],
        "never: { from: internet, to: group.front }\n    except: { from: 9.9.9.9, tcp: 23 }",
      ),
      broken("tcp 22 from 9.9.9.9/32", "9.9.9.9 tcp 22"),
    ],
    [
      "are those of a group that an exception leaves out",
      fileOf([tcp(22, world)], "never: { from: internet, to: group.* }\n    except: { to: group.front }"),
      ["holds"],
    ],
    [
      "admit whom an exception lets through for a while",
      fileOf(
        [tcp(22, "remote_ip: 9.9.9.9/32")],
        "never: { from: internet, to: group.front }\n    allow: { from: 9.9.9.9, until: 2026-09-01, reason: moving }",
      ),
      ["holds"],
    ],
    [
      "admit whom an exception lets through today for the last day",
      fileOf(
        [tcp(22, "remote_ip: 9.9.9.9/32")],
        "never: { from: internet, to: group.front }\n    allow: { from: 9.9.9.9, until: 2026-06-01, reason: moving }",
      ),
      ["holds", "warning | exception-ends"],
    ],
    [
      "admit whom an exception lets through for fourteen days",
      fileOf(
        [tcp(22, "remote_ip: 9.9.9.9/32")],
        "never: { from: internet, to: group.front }\n    allow: { from: 9.9.9.9, until: 2026-06-15, reason: moving }",
      ),
      ["holds", "warning | exception-ends"],
    ],
    [
      "admit whom an exception lets through for fifteen days",
      fileOf(
        [tcp(22, "remote_ip: 9.9.9.9/32")],
        "never: { from: internet, to: group.front }\n    allow: { from: 9.9.9.9, until: 2026-06-16, reason: moving }",
      ),
      ["holds"],
    ],
    [
      "admit whom an exception let through until yesterday",
      fileOf(
        [tcp(22, "remote_ip: 9.9.9.9/32")],
        "never: { from: internet, to: group.front }\n    allow: { from: 9.9.9.9, until: 2026-05-31, reason: moving }",
      ),
      broken("tcp 22 from 9.9.9.9/32", "9.9.9.9 tcp 22"),
    ],
    [
      "admit whom an exception lets through for more than a year",
      fileOf(
        [tcp(22, "remote_ip: 9.9.9.9/32")],
        "never: { from: internet, to: group.front }\n    allow: { from: 9.9.9.9, until: 2027-06-03, reason: moving }",
      ),
      ["holds", "refused (error) | exception-too-long"],
    ],
    [
      "admit whom an exception lets through for a year and a day",
      fileOf(
        [tcp(22, "remote_ip: 9.9.9.9/32")],
        "never: { from: internet, to: group.front }\n    allow: { from: 9.9.9.9, until: 2027-06-02, reason: moving }",
      ),
      ["holds"],
    ],
    [
      "need an exception no more",
      fileOf(
        [tcp(22, net)],
        "never: { from: internet, to: group.front }\n    allow: { from: 9.9.9.9, until: 2026-09-01, reason: moving }",
      ),
      ["holds", "warning | exception-unneeded"],
    ],
    [
      "admit only whom they may",
      fileOf([tcp(22, net)], "only: { from: 10.0.0.0/8, to: group.front, tcp: 22 }"),
      ["holds"],
    ],
    [
      "admit others at another port",
      fileOf([tcp(22, net), tcp(80, world)], "only: { from: 10.0.0.0/8, to: group.front, tcp: 22 }"),
      ["holds"],
    ],
    [
      "admit more than whom they may",
      fileOf([tcp(22, "remote_ip: 10.0.0.0/7")], "only: { from: 10.0.0.0/8, to: group.front, tcp: 22 }"),
      broken("tcp 22 from 11.0.0.0/8", "11.0.0.0 tcp 22"),
    ],
    [
      "admit a group beside whom they may",
      fileOf([tcp(22, fromBack)], "only: { from: group.front, to: group.front, tcp: 22 }"),
      broken("tcp 22 from group.back (IPv4)", "group.back tcp 22"),
    ],
    [
      "admit only the group that they may",
      fileOf([tcp(22, fromBack)], "only: { from: group.back, to: group.front, tcp: 22 }"),
      ["holds"],
    ],
    [
      "admit over the other family whom they may not",
      fileOf(
        ["{ protocol: tcp, dst_port: 22, remote_ip: '2001:db8::/32' }"],
        "only: { from: 10.0.0.0/8, to: group.front, tcp: 22 }",
      ),
      broken("tcp 22 from 2001:db8::/32", "2001:db8:: tcp 22"),
    ],
    [
      "admit whom they must",
      fileOf([tcp(22, net)], "always: { from: 10.0.0.0/8, to: group.front, tcp: 22 }"),
      ["holds"],
    ],
    [
      "admit a part of whom they must",
      fileOf([tcp(22, "remote_ip: 10.0.0.0/9")], "always: { from: 10.0.0.0/8, to: group.front, tcp: 22 }"),
      broken("tcp 22 from 10.128.0.0/9", "10.128.0.0 tcp 22"),
    ],
    [
      "admit nobody of whom they must",
      fileOf([], "always: { from: 10.0.0.0/8, to: group.front, tcp: 22 }"),
      broken("tcp 22 from 10.0.0.0/8", "10.0.0.0 tcp 22"),
    ],
    [
      "admit whom they must over one family, where none is said",
      fileOf([tcp(22, world)], "always: { from: anywhere, to: group.front, tcp: 22 }"),
      ["holds", "note | one-family"],
    ],
    [
      "admit whom they must over the family that is said",
      fileOf([tcp(22, world)], "always: { from: anywhere, to: group.front, tcp: 22, ethertype: IPv4 }"),
      ["holds"],
    ],
    [
      "admit a group that they must, on both of its sides",
      fileOf([tcp(22, fromBack)], "always: { from: group.back, to: group.front, tcp: 22, ethertype: IPv4 }", [
        "{ direction: egress, protocol: tcp, dst_port: 22, remote_group: front }",
      ]),
      ["holds"],
    ],
    [
      "admit a group that they must, and its own rules do not let it out",
      fileOf([tcp(22, fromBack)], "always: { from: group.back, to: group.front, tcp: 22, ethertype: IPv4 }", [
        "{ direction: egress, protocol: tcp, dst_port: 23, remote_group: front }",
      ]),
      ["unproven"],
    ],
    [
      "let out whom they must never",
      fileOf(
        ["{ direction: egress, protocol: tcp, dst_port: 25 }"],
        "never: { from: group.front, to: internet, tcp: 25 }",
      ),
      broken("tcp 25 to internet (IPv4)", "8.8.8.8 tcp 25"),
    ],
    [
      "let out nobody whom they must not, but for what the service adds to a new group",
      fileOf(
        ["{ direction: egress, protocol: tcp, dst_port: 80 }"],
        "never: { from: group.front, to: internet, tcp: 25 }",
      ),
      ["unproven"],
    ],
    [
      "contradict themselves",
      fileOf(
        [tcp(22, net)],
        "always: { from: 10.0.0.0/8, to: group.front, tcp: 22 }\n  - never: { from: 10.1.0.0/16, to: group.front }",
      ),
      [
        "holds",
        "violated",
        "refused (error) | violated | tcp 22 from 10.1.0.0/16 | as 10.1.0.0 tcp 22",
        "refused (error) | contradiction",
      ],
    ],
    [
      "are asked for two things that meet at no port",
      fileOf(
        [tcp(22, net)],
        "always: { from: 10.0.0.0/8, to: group.front, tcp: 22 }\n  - never: { from: 10.1.0.0/16, to: group.front, tcp: 23 }",
      ),
      ["holds", "holds"],
    ],
    [
      "are asked for two things of which an exception takes one out",
      fileOf(
        [tcp(22, net)],
        "always: { from: 10.1.0.0/16, to: group.front, tcp: 22 }\n  - never: { from: 10.0.0.0/8, to: group.front }\n    except: { from: 10.0.0.0/8 }",
      ),
      ["holds", "holds"],
    ],
    [
      "are asked for two things of which two exceptions take out one, each at some of its ports",
      fileOf(
        [tcp("80-90", net)],
        "always: { from: 10.1.0.0/16, to: group.front, tcp: 80-90 }\n  - never: { from: anywhere, to: group.front }\n    except: [{ tcp: 80-85 }, { tcp: 86-90 }]",
      ),
      ["holds", "holds"],
    ],
    [
      "are asked for two things of which two exceptions take out one, but for a port between them",
      fileOf(
        [tcp("80-90", net)],
        "always: { from: 10.1.0.0/16, to: group.front, tcp: 80-90 }\n  - never: { from: 10.1.0.0/16, to: group.front }\n    except: [{ tcp: 80-85 }, { tcp: 87-90 }]",
      ),
      [
        "holds",
        "violated",
        "refused (error) | violated | tcp 86 from 10.1.0.0/16 | as 10.1.0.0 tcp 86",
        "refused (error) | contradiction",
      ],
    ],
    [
      "must admit every group and must not admit one",
      fileOf(
        [tcp(22, fromBack), tcp(22, "remote_group: front")],
        "always: { from: group.*, to: group.front, tcp: 22, direction: ingress, ethertype: IPv4 }\n  - never: { from: group.back, to: group.front, tcp: 22 }",
      ),
      [
        "holds",
        "violated",
        "refused (error) | violated | tcp 22 from group.back (IPv4) | as group.back tcp 22",
        "refused (error) | contradiction",
      ],
    ],
    [
      "admit one of the groups, all of which must be",
      fileOf(
        [tcp(22, fromBack)],
        "always: { from: group.*, to: group.front, tcp: 22, direction: ingress, ethertype: IPv4 }",
      ),
      broken("tcp 22 from group.front (IPv4)", "group.front tcp 22"),
    ],
    [
      "are asked for two things of other groups",
      fileOf(
        [tcp(22, net)],
        "always: { from: 10.0.0.0/8, to: group.front, tcp: 22 }\n  - never: { from: 10.0.0.0/8, to: group.back }",
      ),
      ["holds", "holds"],
    ],
    [
      "must admit a group and must not",
      fileOf(
        [tcp(22, fromBack)],
        "always: { from: group.back, to: group.front, tcp: 22, direction: ingress, ethertype: IPv4 }\n  - never: { from: group.*, to: group.front, tcp: 22 }",
      ),
      [
        "holds",
        "violated",
        "refused (error) | violated | tcp 22 from group.back (IPv4) | as group.back tcp 22",
        "refused (error) | contradiction",
      ],
    ],
  ])("%s", (_, body, told) => {
    expect(judged(body)).toEqual(told);
  });

  it("are quoted with their places, and what they must not admit with the reason and the way out", () => {
    const [finding] = judgeFile(
      asClosed(
        desiredOf(
          fileOf([tcp(23, net), tcp(22, world)], "never: { from: internet, to: group.front }\n    because: audits"),
        ),
      ),
      today,
    ).findings;
    expect(finding).toMatchObject({
      summary: "never internet -> group.front (audits)",
      detail:
        "tcp 22 from 8.8.8.8 is admitted by group.front rules[1] { tcp 22, remote_ip: 0.0.0.0/0 } (reconcile.yaml:6); in all: tcp 22 from internet (IPv4)",
      address: "group.front",
      fix: "narrow the rule, or add `allow: { from: …, until: …, reason: … }` to the assertion",
      refused: "refused by reachability (reconcile.yaml:9)",
    });
  });

  it("are quoted for what they must admit with the half that it is", () => {
    const [finding] = judgeFile(
      asClosed(desiredOf(fileOf([], "always: { from: 10.0.0.0/8, to: group.front, tcp: 22 }"))),
      today,
    ).findings;
    expect(finding).toMatchObject({
      summary: "always 10.0.0.0/8 -> group.front tcp 22",
      detail:
        "tcp 22 from 10.0.0.0 is not admitted by the rules that are declared; it is the ingress half, the rules of group.front; in all: tcp 22 from 10.0.0.0/8",
      fix: "add the rule that admits it to group.front (ingress), or narrow the assertion",
    });
  });

  it("say how long an exception stands, whose it is, and until when one may", () => {
    const told = (until: string) =>
      judgeFile(
        asClosed(
          desiredOf(
            fileOf(
              [tcp(22, "remote_ip: 9.9.9.9/32")],
              `never: { from: internet, to: group.front }\n    allow: { from: 9.9.9.9, until: ${until}, reason: moving, owner: ops }`,
            ),
          ),
        ),
        today,
      ).findings.map(({ summary, detail, fix }) => [summary, detail, fix].join(" | "));
    const label = "never internet -> group.front: an exception";
    expect(told("2026-06-02")).toEqual([
      `${label} ends in 1 day, on 2026-06-02 (moving) | what it covers is refused afterwards; its owner is ops | narrow the rules that need it, or set a new day with its reason`,
    ]);
    expect(told("2026-06-03")[0]).toMatch(/ends in 2 days/);
    expect(told("2028-01-01")).toEqual([
      `${label} ends within a year, and this one on 2028-01-01 |  | write a day until 2027-06-01`,
    ]);
  });
});

describe("a question of who reaches whom", () => {
  const desired = (front: readonly string[], back: readonly string[] = []) =>
    desiredOf(fileOf(front, "never: { from: internet, to: group.front, tcp: 1 }", back));
  const asked = (file: ReturnType<typeof desired>, from: string, to: string, ports: string) => {
    const addresses = new Set(["group.front", "group.back"]);
    return explainReach(file, {
      from: [partyFromWord(from, addresses)!],
      to: [partyFromWord(to, addresses)!],
      ports: [portsFromWord(ports)!],
    }).map(
      ({ direction, group, answer, missing, rules }) =>
        `${direction} ${group}: ${answer}, ${rules.length} rules${missing === "" ? "" : `, not ${missing}`}`,
    );
  };
  it.each<
    readonly [
      what: string,
      front: readonly string[],
      back: readonly string[],
      from: string,
      to: string,
      ports: string,
      answer: readonly string[],
    ]
  >([
    ["is answered with all", [tcp(22, net)], [], "10.0.0.0/8", "front", "22", ["ingress group.front: all, 1 rules"]],
    [
      "is answered with a part",
      [tcp(22, "remote_ip: 10.0.0.0/9")],
      [],
      "10.0.0.0/8",
      "front",
      "22",
      ["ingress group.front: part, 1 rules, not tcp 22 from 10.128.0.0/9"],
    ],
    [
      "is answered with none",
      [tcp(22, net)],
      [],
      "10.0.0.0/8",
      "front",
      "23",
      ["ingress group.front: none, 0 rules, not tcp 23 from 10.0.0.0/8"],
    ],
    [
      "leaves to the service what goes out beyond the rules of the file",
      ["{ direction: egress, protocol: tcp, dst_port: 22, remote_ip: 10.0.0.0/9 }"],
      [],
      "front",
      "10.0.0.0/8",
      "22",
      ["egress group.front: unknown, 1 rules, not tcp 22 to 10.128.0.0/9"],
    ],
  ])("%s", (_, front, back, from, to, ports, answer) => {
    expect(asked(desired(front, back), from, to, ports)).toEqual(answer);
  });
});

describe("assertions that the rules of a file keep already", () => {
  const proposed = (front: readonly string[]) =>
    proposeAssertions(
      desiredOf(`groups:\n  front: { rules: [ ${front.join(", ")} ] }\n  back: { rules: [] }\n`),
      () => true,
    ).map(({ kind, from, to, ports }) =>
      `${kind} ${from.map(partyText).join(",")} -> ${partyText(to)} ${ports.map(({ protocol, ports: range }) => `${protocol} ${range?.min}-${range?.max}`).join(",")}`.trim(),
    );
  const usual = (...more: readonly string[]) => [
    "never internet -> group.* tcp 22-22,tcp 3389-3389",
    "never internet -> group.back",
    "never internet -> group.front",
    ...more,
  ];
  const many = Array.from({ length: 9 }, (_, index) => tcp(22, `remote_ip: 10.${index}.0.0/16`));
  it.each<readonly [what: string, rules: readonly string[], proposed: readonly string[]]>([
    ["of no rules", [], usual()],
    ["of a network at a port", [tcp(22, net)], usual("only 10.0.0.0/8 -> group.front tcp 22-22")],
    [
      "of a network and a group at one port",
      [tcp(22, net), tcp(22, fromBack)],
      usual("only 10.0.0.0/8,group.back -> group.front tcp 22-22"),
    ],
    [
      "of two ports",
      [tcp(22, net), "{ protocol: udp, dst_port: 53, remote_ip: 10.0.0.0/8 }"],
      usual("only 10.0.0.0/8 -> group.front tcp 22-22", "only 10.0.0.0/8 -> group.front udp 53-53"),
    ],
    ["of everybody at a port", [tcp(22, world), tcp(22, net)], usual()],
    [
      "of eight at one port",
      many.slice(1),
      usual(`only ${[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `10.${n}.0.0/16`).join(",")} -> group.front tcp 22-22`),
    ],
    ["of more than eight at one port", many, usual()],
    ["of what goes out", ["{ direction: egress, protocol: tcp, dst_port: 22, remote_ip: 10.0.0.0/8 }"], usual()],
    ["of a protocol without ports", ["{ protocol: icmp, remote_ip: 10.0.0.0/8 }"], usual()],
  ])("%s", (_, rules, expected) => {
    expect(proposed(rules)).toEqual(expected);
  });

  it("are those that hold", () => {
    const desired = desiredOf(`groups:\n  front: { rules: [ ${tcp(22, net)} ] }\n`);
    expect(proposeAssertions(desired, ({ kind }) => kind === "only").map(({ kind }) => kind)).toEqual(["only"]);
  });
});
