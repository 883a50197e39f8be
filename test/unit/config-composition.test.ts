import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import type { DesiredGroup, DesiredVm } from "../../reconciler/core/model/desired";
import { openBeside } from "../../reconciler/outside/beside";
import { desiredOf, readText, resourceOf } from "../support/desired-file";

const problemsOf = (body: string, options = {}): string[] =>
  readText(body, options).diagnostics.map(
    ({ code, source, summary, detail, fix }) =>
      `${code.slice("config/".length)} ${source === undefined ? "-" : `${source.line - headLines}`} | ${summary} | ${detail ?? "-"} | ${fix ?? "-"}`,
  );
const headLines = (readText("vms: { web: { size: x } }").diagnostics[0]?.source?.line ?? 1) - 1;
const names = (body: string, options = {}) =>
  desiredOf(body, options).resources.map(({ address, name }) => `${address}=${name}`);

describe("typed variables", () => {
  it.each([
    ["text, which a number is as well", "{ type: text, default: 10 }", {}, "web-10"],
    ["a number on the command line", "{ type: number }", { vars: { x: "7" } }, "web-7"],
    ["one of several", "{ type: text, one_of: [small, large], default: large }", {}, "web-large"],
    ["a number within its bounds", "{ default: 3, min: 1, max: 5 }", {}, "web-3"],
    ["text that fits", '{ matches: "[a-z]{2}[0-9]" }', { vars: { x: "ab1" } }, "web-ab1"],
    ["another variable", '{ default: "a-${var.y}" }', {}, "web-a-yy"],
    ["a part of another variable", '{ default: "${var.m.k}" }', {}, "web-vv"],
    ["a part by its key in brackets", '{ default: "${var.m[k]}" }', {}, "web-vv"],
    ["an item of a list", '{ default: "${var.l[1]}" }', {}, "web-bb"],
  ])("take %s", (_, declared, options, expected) => {
    const others = "y: { default: yy }, m: { default: { k: vv } }, l: { type: list, of: text, default: [aa, bb] }";
    const body = `vars: { x: ${declared}, ${others} }\nvms: { web: { name: "web-\${var.x}" } }`;
    expect(names(body, options)).toEqual([`vm.web=${expected}`]);
  });

  it.each([
    [
      "text for a number",
      "{ type: number }",
      { vars: { x: "many" } },
      'wrong-type - | the variable x cannot be "many" | expected a number; it is given with --var x | -',
    ],
    [
      "a mark of this program",
      "{}",
      { vars: { x: "\ufdd2group.web\ufdd3" } },
      'invalid-value - | the variable x cannot be "\ufdd2group.web\ufdd3" | expected text without U+FDD0 to U+FDD3; it is given with --var x | -',
    ],
    [
      "text for a list",
      "{ type: list, default: a }",
      {},
      'wrong-type 1 | the variable x cannot be "a" | expected a list | write [a]',
    ],
    [
      "a list in brackets that YAML does not take",
      "{ type: list }",
      { vars: { x: "[a, 007]" } },
      'wrong-type - | the variable x cannot be "[a, 007]" | expected a list; it is given with --var x | write it as YAML has it: numbers such as 007 in quotes, each key once, brackets closed',
    ],
    [
      "a word that is none of them",
      "{ one_of: [small, large], default: smal }",
      {},
      'not-allowed 1 | the variable x cannot be "smal" | expected one of small, large | write small',
    ],
    [
      "a number out of bounds",
      "{ default: 9, min: 1, max: 5 }",
      {},
      "invalid-value 1 | the variable x cannot be 9 | expected at least 1 and at most 5 | -",
    ],
    [
      "too few items",
      "{ default: [], min: 1 }",
      {},
      "invalid-value 1 | the variable x cannot be an empty list | expected at least 1 items | -",
    ],
    [
      "text that does not fit as a whole",
      '{ default: abc, matches: "[a-b]+" }',
      {},
      'invalid-value 1 | the variable x cannot be "abc" | expected text that fits [a-b]+ | -',
    ],
    [
      "an item of the wrong type",
      "{ type: list, of: cidr, default: [10.0.0.0/8, ten] }",
      {},
      'wrong-type 1 | the variable x[1] cannot be "ten" | expected an address or a CIDR such as 10.0.0.0/24 or 2001:db8::/32 | -',
    ],
    [
      "a circle",
      '{ default: "${var.y}" }',
      {},
      "variable-circle 1 | the variable x is made of itself | var.x -> var.y -> var.x | give one of them a value that uses none of the others",
    ],
    [
      "a pattern that is none",
      '{ default: a, matches: "[" }',
      {},
      expect.stringContaining("matches is no regular expression"),
    ],
    [
      "of without items",
      "{ type: number, of: cidr, default: 1 }",
      {},
      "invalid-value 1 | of is for the items of a list or a map, and this is a number | - | write type: list",
    ],
    ["a type that is none", "{ type: string, default: a }", {}, expect.stringContaining('type cannot be "string"')],
    [
      "a sensitive value of the wrong type, without showing it",
      "{ type: number, sensitive: true }",
      { vars: { x: "hush" } },
      "wrong-type - | the variable x cannot be what it is (a sensitive value, not shown) | expected a number; it is given with --var x | -",
    ],
  ])("refuse %s", (_, declared, options, expected) => {
    expect(problemsOf(`vars: { x: ${declared}, y: { default: "\${var.x}" } }`, options)).toEqual([expected]);
  });

  it.each([
    ["a part that a map does not have", "${var.m.kk}", "${var.m} has no kk | it has k | write ${var.m.k}"],
    ["a part of what has none", "${var.m.k.z}", '${var.m.k} has no z | it is "v" | -'],
    [
      "an operator",
      "${var.m + 1}",
      '${var.m + 1} cannot be read at " + 1" | expected .NAME, [KEY] or [*] | there are no operators and no functions; write $${ for a literal ${',
    ],
    [
      "a parameter outside a component",
      "${param.m}",
      "${param.m} has no meaning here | only a component has parameters | write ${var.m}",
    ],
    ["a misspelt root", "${vra.m}", expect.stringContaining("write ${var.m}")],
    [
      "the environment of a file without any",
      "${env}",
      "${env} is not known | it is the name of the environment, and the file declares none | declare environments: { NAME: {} }, and give --env NAME",
    ],
  ])("refuse %s", (_, text, expected) => {
    const [problem = ""] = problemsOf(`vars: { m: { default: { k: v } } }\nvms: { web: { name: "${text}" } }`);
    expect(problem.slice(problem.indexOf(" | ") + 3)).toEqual(expected);
  });

  it("keep their type where they stand alone: maps for for_each, lists of rules, true and false", () => {
    const desired = desiredOf(`
vars:
  webs: { type: map, default: { a: { flavor: m1.small }, b: { flavor: m1.large } } }
  on: { type: boolean, default: false }
  rules: { type: list, default: [{ protocol: tcp, dst_port: 443 }] }
vms: { web: { for_each: "\${var.webs}", flavor_id: "\${each.value.flavor}", name: "web-\${each.key}", skip_floating_ip: "\${var.on}" } }
groups: { web: { rules: "\${var.rules}" } }`);
    expect(resourceOf<DesiredVm>(desired, "vm.web[b]")).toMatchObject({
      name: "web-b",
      flavor: "m1.large",
      skipFloatingIp: false,
    });
    expect(resourceOf<DesiredGroup>(desired, "group.web").rules).toMatchObject([{ ports: { min: 443, max: 443 } }]);
  });

  it("are held to the schema when a whole map or list came out of one", () => {
    const body = (rule: string) => `vars: { r: { default: [${rule}] } }\ngroups: { web: { rules: "\${var.r}" } }`;
    expect(problemsOf(body("{ protocol: tcp, dts_port: 443 }"))).toEqual([
      "unknown-key 2 | the key dts_port is not known here | expected one of description, direction, dst_port, enabled, ethertype, protocol, remote_group, remote_ip; ${var.r} is given in reconcile.yaml:5 | write dst_port",
    ]);
  });

  it("stay as they were without a type: text from the command line fits where its default did", () => {
    const body = 'vars: { n: { default: 1 } }\nvms: { web: { name: "web-${var.n}" } }';
    expect(names(body, { vars: { n: "007" } })).toEqual(["vm.web=web-007"]);
  });
});

describe("a reference within another one", () => {
  it("names the part that is meant", () => {
    const file =
      'vars: { sizes: { default: { a: 11, b: 12 } } }\nvolumes: { data: { for_each: [a, b], name: "${each.key}-${var.sizes[${each.key}]}", size: 1 } }\n';
    expect(names(file)).toEqual(["volume.data[a]=a-11", "volume.data[b]=b-12"]);
  });
});

describe("commands of a VM", () => {
  it("are of the file that says them", () => {
    const ran = 'command: ["./run"]';
    const file = `vms: { web: { name: web-1, flush: { via: command, ${ran} }, after_ready: { ${ran} }, after_attach: { ${ran} } }, db: { name: db-1 } }\n`;
    const files = (address: string) => resourceOf<DesiredVm>(desiredOf(file), address).commandFiles;
    expect(files("vm.web")).toEqual(
      Object.fromEntries(["flush", "after_ready", "after_attach"].map((command) => [command, "reconcile.yaml"])),
    );
    expect(files("vm.db")).toBeUndefined();
  });
});

describe("sensitive variables", () => {
  const body = (use: string) =>
    `vars: { hook: { type: text, sensitive: true }, both: { default: "x-\${var.hook}" } }\nvms: { web: { ${use} } }`;
  const options = { vars: { hook: "open-sesame" } };
  it("may stand in a check, and are told to whoever shows something", () => {
    const use = 'lifecycle: { verify_resize: { check: { http: "https://h.example/${var.hook}" } } }';
    const { desired, sensitive } = readText(body(use), options);
    expect(desired).toBeDefined();
    expect(sensitive).toEqual(["open-sesame", "x-open-sesame"]);
  });
  it.each([
    ["a name", 'name: "web-${var.hook}"', "name"],
    ["an owner, through another variable", 'owner: "${var.both}"', "owner"],
  ])("are refused in %s", (_, use, field) => {
    const [problem] = readText(body(use), options).diagnostics;
    expect(problem).toMatchObject({ code: "config/sensitive", detail: expect.stringContaining(`${field} is kept`) });
    expect(JSON.stringify(problem)).not.toContain("sesame");
  });
  const component = `component: 1
parameters: { p: {} }
vms: { one: { region: there } }
outputs: { out: { value: { pw: "\${param.p}", user: me } } }`;
  const open = () => ({ source: { file: "c.yaml", text: component } });
  const each = "a: { pw: '${var.hook}', user: me }";
  const use = "components: { c: { from: c.yaml, with: { p: '${var.hook}' } } }";
  it.each([
    ["the value of a for_each", "groups: { web: { for_each: { a: '${var.hook}' }, description: '${each.value}' } }"],
    ["a part of such a value", `groups: { web: { for_each: { ${each} }, description: "\${each.value.pw}" } }`],
    ["the keys of a for_each", "groups: { web: { for_each: [abc, '${var.hook}'] } }"],
    ["what a component hands out", `${use}\ngroups: { web: { description: "\${component.c.out.pw}" } }`],
    [
      "a setting for components",
      "components: { c: { from: c.yaml, with: { p: x } } }",
      "{ vm: { owner: '${var.hook}' } }",
    ],
    [
      "a key within a check, where it may stand",
      "vms: { web: { for_each: { a: { open-sesame: x } }, lifecycle: { verify_resize: { check: { http: 'http://${each.value[${var.hook}]}' } } } } }",
      "{}",
      0,
    ],
    ["what is imported", "vms: { web: {} }\nimports: [{ to: vm.web, id: '${var.hook}' }]"],
    [
      "another part of the value of a for_each",
      `groups: { web: { for_each: { ${each} }, description: "\${each.value.user}" } }`,
      "{}",
      0,
    ],
    [
      "another part of what a component hands out",
      `${use}\ngroups: { web: { description: "\${component.c.out.user}" } }`,
      "{}",
      0,
    ],
    [
      "a setting that the component replaces",
      "components: { c: { from: c.yaml, with: { p: x } } }",
      "{ vm: { region: '${var.hook}' } }",
      0,
    ],
  ])("are known in %s", (_, written, defaults = "{}", found = 1) => {
    const body = `vars: { hook: { sensitive: true } }\nenvironments: { e: { defaults: ${defaults} } }\n${written}`;
    const { diagnostics } = readText(body, { ...options, env: "e", open });
    expect(diagnostics.map(({ code }) => code)).toEqual(found === 1 ? ["config/sensitive"] : []);
  });
  it.each([
    ["", ""],
    ["where the environment is not chosen", "\nenvironments: { a: { vars: { s: sesame-a }, typo: 1 } }"],
    ["where a part cannot be read", "\nvms: { ? [a] : b }"],
  ])("are covered in the lines of a file that are shown %s", (_, rest) => {
    const { diagnostics } = readText(`vars: { s: { sensitive: true, default: open-sesame, typo: 1 } }${rest}`);
    expect(diagnostics[0]?.excerpt ?? diagnostics[1]?.excerpt).toBeDefined();
    expect(JSON.stringify(diagnostics)).not.toContain("sesame");
  });
  /** Each line holds a problem of its own, `typo`, behind or before the value. */
  it.each([
    ["quotes of the file", `vars: { s: { sensitive: true, default: 'it''s sesame', typo: 1 } }`],
    ["quotes over several lines", `vars: { s: { sensitive: true, default: "open\n  it's sesame", typo: 1 } }`],
    ["no quotes, over several lines", "vars: { s: { sensitive: true, default: open\n  sesame, typo: 1 } }"],
    ["escapes", 'vars: { s: { sensitive: true, default: "\\u0073esame", typo: 1 } }'],
    ["two of them", `vars: { s: { sensitive: true, default: { a: open-sesame, b: 'it''s sesame' }, typo: 1 } }`],
    [
      "more than is shown of a line",
      `vars: { s: { typo: ${"x".repeat(130)}, sensitive: true, default: ${"sesame".repeat(9)} } }`,
    ],
    ["a value that does not fit", "vars: { s: { sensitive: true, max: 3 } }", '{ "s": "open-sesame", "typo": 1 }'],
    ["a file of variables", "vars: { s: { sensitive: true } }", '{ "s": "\\u0073esame", "typo": 1 }'],
    ["a parameter", "components: { c: { from: c.yaml, with: { s: 'it''s sesame' }, typo: 1 } }"],
  ])("are covered in a line where they are written with %s", (_, body, varFile = "{}") => {
    const { diagnostics } = readText(body, {
      varFiles: [{ file: "v.json", text: varFile }],
      open: () => ({
        source: {
          file: "c.yaml",
          text: "component: 1\nparameters: { s: { sensitive: true } }\noutputs: { s: '${param.s}' }",
        },
      }),
    });
    const told = diagnostics.filter(({ summary }) => summary.includes("typo"));
    expect(told[0]?.excerpt?.slice(told[0].source?.column)).toMatch(/^t?ypo/);
    expect(JSON.stringify(diagnostics)).not.toMatch(/sesame|0073/);
  });
  it.each([
    ["with signs that reports escape", "open_Sesame<&'%>!"],
    ["of several lines", "open-one\nopen-two"],
    ["with quotes", 'open "sesame"\\'],
    ["with capital letters", "Open-Sesame"],
    ["with spaces around it", " opensesame "],
    ["that is an address with a password", "https://open:sesame@open.example/sesame"],
    ["that is cut where it is shown", `open\t${"sesame".repeat(40)}`],
  ])("%s are in no problem, nor is a fix made of them", (_, hook) => {
    for (const use of [
      'name: "${var.hook}"',
      'name: "x ${var.hook}"',
      'size: "${var.hook}"',
      'flavor_id: "${var.hook}"',
      'name: "${var.hook}" }, other: { name: "${var.hook}"',
      '} }\nvolumes: { data: { size: 1, attach_to: "${var.hook}"',
    ]) {
      const { diagnostics } = readText(body(use), { vars: { hook } });
      expect(diagnostics.length).toBeGreaterThan(0);
      expect(JSON.stringify(diagnostics).toLowerCase(), use).not.toMatch(/open|sesame/);
    }
  });
});

describe("a key with nothing behind it", () => {
  const settings = "{ volume: { lifecycle: { prevent_destroy: true } } }";
  it.each([
    ["a block", ""],
    ["an environment", "environments: { prod: { defaults: { volume: { lifecycle: } } } }"],
    ["a protected environment", "environments: { prod: { protect: true, defaults: { volume: { lifecycle: } } } }"],
  ])("leaves the defaults as they are: in %s", (_, environments) => {
    const text = `version: 1\nproject: acme\nregion: r\ndefaults: ${settings}\n${environments}\nvolumes: { data: { size: 1, lifecycle: } }`;
    const env = environments === "" ? {} : { env: "prod" };
    const { desired, diagnostics } = readDesired([{ file: "a.yaml", text }], env);
    expect(diagnostics).toEqual([]);
    expect(desired?.resources[0]).toMatchObject({
      lifecycle: { preventDestroy: true },
      inherited: { lifecycle: { file: "a.yaml" } },
    });
  });
});

describe("a program without a name", () => {
  it.each([
    ["a check", 'vms: { web: { lifecycle: { verify_resize: { check: { command: [""] } } } } }'],
    ["a flush", 'vms: { web: { flush: { via: command, command: [" ", sync] } } }'],
    ["what is owed", 'vms: { web: { after_ready: { command: ["${var.none}", x] } } }'],
    ["a policy", 'policy: { command: [""] }'],
  ])("is refused in %s", (_, body) => {
    const text = `vars: { none: { default: "" } }\n${body}`;
    expect(problemsOf(text)).toEqual([expect.stringContaining("expected the name of a program")]);
  });
});

describe("an address with a password", () => {
  it.each([
    ["where a map is wanted", 'service: "https://u:sesame@h.example"'],
    ["as a read", 'reads: { a: "https://u:sesame@h.example" }'],
    ["within a command", 'policy: { command: "curl https://u:sesame@h.example" }'],
    ["as a file", "prices: https://u:sesame@h.example/x"],
    ["with a blank in the password", 'prices: "https://u:pa @sesame@h.example/x"'],
  ])("is shown without it %s, once", (_, body) => {
    const { diagnostics } = readText(body, { open: openBeside });
    expect(diagnostics).toHaveLength(1);
    expect(JSON.stringify(diagnostics)).not.toMatch(/sesame|space behind/);
  });
  it("is shown without it where two files give different ones", () => {
    const files = ["a", "b"].map((name) => ({
      file: name,
      text: `version: 1\nstate: https://u:sesame@${name}.example`,
    }));
    const { diagnostics } = readDesired(files);
    expect(diagnostics[0]?.code).toBe("config/invalid-value");
    expect(diagnostics[1]?.detail).toContain("b.example");
    expect(JSON.stringify(diagnostics)).not.toContain("sesame");
  });
});

describe("enabled", () => {
  it("false is as if the block were not written, whole or by each", () => {
    expect(
      names(`
vars: { on: { type: boolean, default: false } }
vms:
  off: { enabled: false, name: "\${each}" }
  var: { enabled: "\${var.on}" }
  yes: { enabled: true }
  web: { for_each: { a: { on: true }, b: { on: false } }, enabled: "\${each.value.on}" }
groups: { off: { enabled: "\${var.on}", rules: [] } }`),
    ).toEqual(["vm.web[a]=web-a", "vm.yes=yes"]);
  });
  it("leaves out single rules", () => {
    const group = resourceOf<DesiredGroup>(
      desiredOf("groups: { web: { rules: [{ enabled: false, protocol: tcp }, { enabled: true, protocol: udp }] } }"),
      "group.web",
    );
    expect(group.rules.map(({ protocol }) => protocol)).toEqual(["udp"]);
  });
  it.each([
    [
      "what names a block that is off",
      "vms: { web: { enabled: false } }\nvolumes: { data: { size: 1, attach_to: web } }",
      "unknown-reference 2 | vm.web is not enabled | its block says enabled: false, as if it were not written | give what names it the same enabled, or enable it",
    ],
    [
      "what is neither true nor false",
      "vms: { web: { enabled: perhaps } }",
      'wrong-type 1 | enabled cannot be "perhaps" | expected true or false | -',
    ],
  ])("reports %s", (_, body, expected) => {
    expect(problemsOf(body)).toEqual([expected]);
  });
});

describe("lists in rules", () => {
  const rulesOf = (rule: string, head = "") =>
    resourceOf<DesiredGroup>(desiredOf(`${head}groups: { aaa: { rules: [${rule}] }, bbb: }`), "group.aaa").rules;
  it("make the product, each an ordinary rule with the same description", () => {
    const rules = rulesOf(
      "{ protocol: [tcp, udp], dst_port: [53, 853], remote_ip: [10.0.0.0/8, '2001:db8::/32'], description: DNS }",
    );
    expect(rules).toHaveLength(8);
    expect(new Set(rules.map(({ description }) => description))).toEqual(new Set(["DNS"]));
    expect(rules.filter(({ ethertype }) => ethertype === "IPv6")).toHaveLength(4);
  });
  it("may come from variables, beside other items", () => {
    const head = "vars: { offices: { type: list, of: cidr, default: [198.51.100.0/24, 203.0.113.0/25] } }\n";
    expect(rulesOf("{ protocol: tcp, remote_ip: ['${var.offices}', 10.0.0.1] }", head)).toHaveLength(3);
    expect(rulesOf("{ protocol: tcp, remote_group: [aaa, bbb, { id: g-9 }] }", head)).toHaveLength(3);
  });
  it("that are empty make no rule, least of all one for everyone", () => {
    expect(rulesOf("{ protocol: tcp, remote_ip: [] }")).toEqual([]);
  });
  it.each([
    [
      "an item that is none",
      "{ remote_ip: [10.0.0.0/8, ten] }",
      'invalid-value 1 | remote_ip cannot be "ten" | expected an address or a CIDR such as 10.0.0.0/24 or 2001:db8::/32 | -',
    ],
    [
      "two items that are one",
      "{ remote_ip: [10.0.0.0/8, 10.1.0.0/8] }",
      expect.stringContaining("duplicate-rule 1 | two rules of the group are identical"),
    ],
    [
      "a port for icmp",
      "{ protocol: [tcp, icmp], dst_port: 1 }",
      expect.stringContaining("a rule for icmp takes no port"),
    ],
  ])("report %s at its place", (_, rule, expected) => {
    expect(problemsOf(`groups: { web: { rules: [${rule}] } }`)).toEqual([expected]);
  });
});

describe("values that nobody has read yet", () => {
  const elsewhere = `reads: { n: { state: other.json } }
lookups: { leg: { group: { name: legacy } } }
`;
  const rulesOf = (rule: string): unknown => {
    const { desired, diagnostics } = readText(`${elsewhere}groups: { web: { rules: [ ${rule} ] } }\n`, {
      external: "later",
    });
    expect(diagnostics).toEqual([]);
    return desired?.resources[0]?.kind === "group" ? desired.resources[0].rules : undefined;
  };

  it("are no missing ids beside a list that came out of a variable", () => {
    const { diagnostics } = readText(
      `${elsewhere}vars: { nets: { default: [198.51.100.0/24] } }
groups: { web: { rules: [ { protocol: tcp, dst_port: 22, remote_ip: "\${var.nets}" }, { protocol: tcp, dst_port: 23, remote_group: { id: "\${read.n.group}" } } ] } }
`,
      { external: "later" },
    );
    expect(diagnostics).toEqual([]);
  });

  it.each([
    '{ protocol: tcp, dst_port: 22, remote_ip: "${read.n.office}" }',
    '{ protocol: tcp, dst_port: 22, remote_ip: ["${read.n.office}"] }',
    '{ protocol: tcp, dst_port: 22, remote_group: "${read.n.group}" }',
    '{ protocol: tcp, dst_port: 22, remote_group: { id: "${lookup.leg.id}" } }',
    '{ protocol: tcp, dst_port: "${read.n.port}" }',
    '{ protocol: "${read.n.protocol}" }',
  ])("make no rule that admits others: %s", (rule) => {
    expect(rulesOf(rule)).toEqual([]);
  });

  it("and a mark of this program in one is no reference", () => {
    const { diagnostics } = readText(
      `${elsewhere}groups: { web: { rules: [ { protocol: tcp, dst_port: 22, remote_group: "\${read.n.office}" } ] } }\n`,
      { external: { reads: { n: { office: "\ufdd2group.web\ufdd3" } }, lookups: {} } },
    );
    expect(diagnostics.map(({ summary }) => summary)).toEqual(["${read.n.office} holds a character that no text has"]);
  });

  it.each([
    ["null", /hands out no output office|has no value/],
    ["{ a: null }", /has no such part|not known/],
  ])("and one that is %s is no value", (value, says) => {
    const { diagnostics } = readText(
      `${elsewhere}groups: { web: { rules: [ { protocol: tcp, dst_port: 22, remote_ip: "\${read.n.office${value === "null" ? "" : ".a"}}" } ] } }\n`,
      { external: { reads: { n: { office: value === "null" ? null : { a: null } } }, lookups: {} } },
    );
    expect(diagnostics.map(({ summary, detail }) => `${summary} ${detail}`).join()).toMatch(says);
  });
});
