import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import type { DesiredGroup, DesiredVm, DesiredVolume } from "../../reconciler/core/model/desired";
import { desiredOf, head, readText, resourceOf, withoutSources } from "../support/desired-file";

const vm = (body: string, address = "vm.web", options = {}) => resourceOf<DesiredVm>(desiredOf(body, options), address);
const rules = (...written: string[]) =>
  resourceOf<DesiredGroup>(
    desiredOf(`groups:\n  web:\n    rules:\n${written.map((rule) => `      - ${rule}\n`).join("")}`),
    "group.web",
  ).rules;

describe("virtual machines", () => {
  it("take what they do not say from the defaults, the top of the file, and the documented defaults", () => {
    expect(vm("vms: { web: }")).toEqual({
      kind: "vm",
      address: "vm.web",
      name: "web",
      flavor: "m1.small",
      image: "img-1",
      owner: "ops@acme.example",
      userId: "1042",
      project: "acme",
      region: "in-west-1",
      rootSizeGb: 50,
      sizeGb: 10,
      skipFloatingIp: false,
      lifecycle: {
        preventDestroy: false,
        ignoreChanges: [],
        onImageChange: "rebuild",
        snapshotBefore: [],
        preservedVolumes: "retain",
        verifyResize: { confirm: "auto", timeoutMs: 120_000, onFailure: "revert" },
      },
      source: { file: "reconcile.yaml", line: 5, column: 8 },
      inherited: expect.objectContaining({ size: { file: "reconcile.yaml", line: 4, column: expect.any(Number) } }),
    });
  });

  it("may say everything themselves", () => {
    const text = `vms:
  web:
    { name: WEB-1, flavor_id: f, image_id: i, owner: joe, user_id: "7", project: p, region: r, root_size: "60", size: "20",
      skip_floating_ip: true, power: stopped,
      lifecycle: { prevent_destroy: true, ignore_changes: [size, name], on_image_change: ignore, snapshot_before: [delete, rebuild],
        delete_floating_ip: true, preserved_volumes: delete,
        verify_resize: { confirm: manual, check: { http: "http://web/health" }, timeout: 1.5m, on_failure: leave } } }`;
    expect(vm(text)).toMatchObject({
      name: "web-1",
      flavor: "f",
      owner: "joe",
      userId: "7",
      project: "p",
      region: "r",
      rootSizeGb: 60,
      sizeGb: 20,
      skipFloatingIp: true,
      power: "stopped",
      lifecycle: {
        preventDestroy: true,
        ignoreChanges: ["name", "size"],
        onImageChange: "ignore",
        snapshotBefore: ["rebuild", "delete"],
        deleteFloatingIp: true,
        preservedVolumes: "delete",
        verifyResize: {
          confirm: "manual",
          check: { kind: "http", url: "http://web/health" },
          timeoutMs: 90_000,
          onFailure: "leave",
        },
      },
    });
  });

  it.each([
    ["{ tcp: 22 }", { kind: "tcp", port: 22 }],
    ['{ tcp: "22" }', { kind: "tcp", port: 22 }],
    ["{ command: [ssh, web, 'true'] }", { kind: "command", argv: ["ssh", "web", "true"] }],
  ])("check a resize with %s", (check, expected) => {
    expect(
      vm(`vms: { web: { lifecycle: { verify_resize: { check: ${check} } } } }`).lifecycle.verifyResize.check,
    ).toEqual(expected);
  });

  it("merge the maps of their defaults and replace the lists", () => {
    const text = `version: 1
project: p
region: r
defaults:
  vm: { owner: o, user_id: u, image_id: i, flavor_id: f, size: 1, lifecycle: { prevent_destroy: true, snapshot_before: [resize], verify_resize: { timeout: 1h, check: { tcp: 1 } } } }
vms: { web: { lifecycle: { snapshot_before: [delete], verify_resize: { check: { http: "http://x" } } } } }`;
    const { desired } = readDesired([{ file: "f", text }]);
    expect(resourceOf<DesiredVm>(desired!, "vm.web").lifecycle).toMatchObject({
      preventDestroy: true,
      snapshotBefore: ["delete"],
      verifyResize: { timeoutMs: 3_600_000, check: { kind: "http", url: "http://x" } },
    });
  });
});

describe("for_each", () => {
  const addresses = (body: string, options = {}) =>
    desiredOf(body, options).resources.map(({ address, name }) => `${address}=${name}`);
  it.each([
    ["a list", "{ for_each: [b, a] }", ["vm.web[a]=web-a", "vm.web[b]=web-b"]],
    ["a list of numbers", "{ for_each: [10, 9] }", ["vm.web[9]=web-9", "vm.web[10]=web-10"]],
    ["a number", "{ for_each: 3 }", ["vm.web[0]=web-0", "vm.web[1]=web-1", "vm.web[2]=web-2"]],
    ["zero", "{ for_each: 0 }", []],
    [
      "a map",
      "{ for_each: { a: one, b: two }, name: '${each}-${each.value}' }",
      ["vm.web[a]=a-one", "vm.web[b]=b-two"],
    ],
    ["a map of maps", "{ for_each: { a: { n: { x: one1 } } }, name: '${each.value.n.x}' }", ["vm.web[a]=one1"]],
    [
      "a variable",
      "{ for_each: '${var.zones}' }\nvars: { zones: { default: [x1, x2] } }",
      ["vm.web[x1]=web-x1", "vm.web[x2]=web-x2"],
    ],
  ])("unrolls %s", (_, block, expected) => {
    expect(addresses(`vms:\n  web: ${block}`)).toEqual(expected);
  });

  it.each([
    ["3", ["vm.web[0]=web-0", "vm.web[1]=web-1", "vm.web[2]=web-2"]],
    ["[a, b]", ["vm.web[a]=web-a", "vm.web[b]=web-b"]],
    ['{"a": 1}', ["vm.web[a]=web-a"]],
  ])("reads --var n=%s as it would stand in a file", (n, expected) => {
    expect(addresses("vars: { n: }\nvms: { web: { for_each: '${var.n}' } }", { vars: { n } })).toEqual(expected);
  });

  it("is for volumes and groups as well, which can refer to each other key by key", () => {
    const desired = desiredOf(`
vms: { web: { for_each: [a, b] } }
volumes: { data: { for_each: [a, b], size: 5, attach_to: "web[\${each}]" } }
groups: { tier: { for_each: [x1, x2], rules: [ { protocol: tcp, remote_group: "tier[x1]" } ] } }`);
    expect(resourceOf<DesiredVolume>(desired, "volume.data[b]").attachTo).toEqual({ address: "vm.web[b]" });
    expect(resourceOf<DesiredGroup>(desired, "group.tier[x2]").rules[0]?.remote).toEqual({
      kind: "group",
      group: { address: "group.tier[x1]" },
    });
  });
});

describe("variables", () => {
  const name = (value: string, options = {}, declaration = "{ default: abc }") =>
    vm(`vars: { x: ${declaration} }\nvms: { web: { name: "${value}" } }`, "vm.web", options).name;
  const file = (text: string) => ({ file: "vars.yaml", text });
  it.each([
    ["the default", {}, "abc"],
    ["the environment", { environment: { x: "env", unrelated: "y" } }, "env"],
    ["a variable file", { environment: { x: "env" }, varFiles: [file("x: fil")] }, "fil"],
    ["the later variable file", { varFiles: [file("x: fil"), file('{"x": "json"}')] }, "json"],
    ["--var", { vars: { x: "cli" }, varFiles: [file("x: fil")], environment: { x: "env" } }, "cli"],
  ])("have the value of %s", (_, options, expected) => {
    expect(name("${var.x}", options)).toBe(expected);
  });
  it("stand anywhere in a text, several times", () => {
    expect(name("a-${var.x}-${ var.x }")).toBe("a-abc-abc");
  });
  it("keep being numbers, and text of digits is one where a number is expected", () => {
    const body = "vars: { n: { default: 20 } }\nvms: { web: { size: '${var.n}', skip_floating_ip: '${var.f}' } }\n";
    expect(vm(`${body.replace("}\nvms", ", f: { default: true } }\nvms")}`)).toMatchObject({
      sizeGb: 20,
      skipFloatingIp: true,
    });
    expect(
      vm(`${body.replace("}\nvms", ", f: { } }\nvms")}`, "vm.web", { vars: { n: "30", f: "false" } }),
    ).toMatchObject({ sizeGb: 30, skipFloatingIp: false });
  });
  it("leave $${ as a literal", () => {
    expect(
      resourceOf<DesiredGroup>(desiredOf('groups: { web: { description: "$${var.x} and $x" } }'), "group.web")
        .description,
    ).toBe("${var.x} and $x");
  });
});

describe("rules", () => {
  it("default to ingress, IPv4, any protocol, all ports and everyone", () => {
    expect(rules("{}")).toEqual([
      { direction: "ingress", ethertype: "IPv4", protocol: "any", remote: { kind: "any" } },
    ]);
  });
  it.each([
    [
      "IPv6 follows from remote_ip",
      "{ remote_ip: '2001:DB8::1/32' }",
      { ethertype: "IPv6", remote: { kind: "cidr", cidr: "2001:db8::/32" } },
    ],
    ["::/0 is everyone in IPv6", "{ remote_ip: '::/0' }", { ethertype: "IPv6", remote: { kind: "any" } }],
    ["0.0.0.0/0 is everyone in IPv4", "{ remote_ip: 0.0.0.0/0 }", { ethertype: "IPv4", remote: { kind: "any" } }],
    ["host bits do not matter", "{ remote_ip: 10.0.0.7/24 }", { remote: { kind: "cidr", cidr: "10.0.0.0/24" } }],
    ["an address is its /32", "{ remote_ip: 10.0.0.7 }", { remote: { kind: "cidr", cidr: "10.0.0.7/32" } }],
    ["a protocol may be in upper case", "{ protocol: TCP, dst_port: 1 }", { protocol: "tcp" }],
    ["a port may be text", "{ protocol: tcp, dst_port: '443' }", { ports: { min: 443, max: 443 } }],
    ["a range of ports", "{ protocol: udp, dst_port: 8000-8010 }", { ports: { min: 8000, max: 8010 } }],
    ["a group by its key", "{ remote_group: web }", { remote: { kind: "group", group: { address: "group.web" } } }],
    ["the group itself", "{ remote_group: self }", { remote: { kind: "group", group: { address: "group.web" } } }],
    [
      "a group by its address",
      "{ remote_group: group.web }",
      { remote: { kind: "group", group: { address: "group.web" } } },
    ],
    [
      "a group that is not managed here",
      "{ remote_group: { id: g-1 } }",
      { remote: { kind: "group", group: { id: "g-1" } } },
    ],
  ])("%s", (_, written, expected) => {
    expect(rules(written)[0]).toMatchObject(expected);
  });
  it("all ports and none named are one", () => {
    expect(rules("{ protocol: tcp, dst_port: 1-65535 }")[0]).toMatchObject({ ports: undefined });
  });
  it("come in the order of their keys", () => {
    const written = ["{ protocol: udp }", "{ protocol: tcp, dst_port: 80 }", "{ direction: egress }"];
    expect(rules(...written)).toEqual(rules(...written.toReversed()));
  });
});

describe("volumes and groups", () => {
  it.each([
    ["a key", "web", { address: "vm.web" }],
    ["an address", "vm.web", { address: "vm.web" }],
    ["an instance", "'each[a]'", { address: "vm.each[a]" }],
    ["the address of an instance", "'vm.each[a]'", { address: "vm.each[a]" }],
    ["an id", "{ id: 0d3c }", { id: "0d3c" }],
  ])("a volume is attached to %s", (_, target, expected) => {
    const desired = desiredOf(
      `vms: { web: , each: { for_each: [a] } }\nvolumes: { data: { size: 1, attach_to: ${target} } }`,
    );
    expect(resourceOf<DesiredVolume>(desired, "volume.data").attachTo).toEqual(expected);
  });
  it.each([
    ["", { via: "ask" }],
    [", flush: { via: ask, command: [sync] }", { via: "ask" }],
    [", flush: { via: stop }", { via: "stop" }],
    [
      ", flush: { via: command, command: [ssh, db, sync && umount] }",
      { via: "command", argv: ["ssh", "db", "sync && umount"] },
    ],
  ])("a volume%s is flushed by %o", (flush, expected) => {
    expect(resourceOf<DesiredVolume>(desiredOf(`volumes: { data: { size: 1${flush} } }`), "volume.data").flush).toEqual(
      expected,
    );
  });
  it("a volume's name is kept as written: the contract has no rule for it", () => {
    expect(
      resourceOf<DesiredVolume>(desiredOf("volumes: { data: { size: 1, name: Data_1 } }"), "volume.data").name,
    ).toBe("Data_1");
  });
  it("a group keeps its rules when told to", () => {
    const group = resourceOf<DesiredGroup>(
      desiredOf("groups: { web: { rules_mode: additive, lifecycle: { on_rule_removal: keep } } }"),
      "group.web",
    );
    expect(group).toMatchObject({ rulesMode: "additive", lifecycle: { onRuleRemoval: "keep" }, rules: [] });
  });
});

describe("imports, moved and removed", () => {
  it("are read with where they stand", () => {
    expect(
      desiredOf(`vms: { db: { name: the-db } , web: { for_each: [a] } }
groups: { net: }
imports: [ { to: vm.db, name: DB-1 }, { to: group.net, id: g-1 } ]
moved: [ { from: vm.old, to: vm.mid }, { from: vm.mid, to: "vm.web[a]" } ]
removed: [ { from: volume.scratch }, { from: volume.gone, destroy: true } ]
`),
    ).toMatchObject({
      imports: [
        { to: "vm.db", name: "db-1", source: { line: 7 } },
        { to: "group.net", id: "g-1" },
      ],
      // A state of any age finds its way: the chain is resolved to where it ends.
      moved: [
        { from: "vm.old", to: "vm.web[a]" },
        { from: "vm.mid", to: "vm.web[a]" },
      ],
      removed: [
        { from: "volume.scratch", destroy: false },
        { from: "volume.gone", destroy: true },
      ],
    });
  });
});

describe("the service block", () => {
  it("is read as written, with durations in milliseconds", () => {
    const { service } = desiredOf(
      "service: { base_url: embedded, dialect: ./d.yaml, timing: { poll_interval: 30ms, vm_create_timeout: 15m, request_timeout: 2m, discovery_window: 1h } }",
    );
    expect(service).toEqual({
      baseUrl: "embedded",
      dialect: { path: "./d.yaml", source: { file: "reconcile.yaml", line: 5, column: 32 } },
      timing: {
        pollIntervalMs: 30,
        vmCreateTimeoutMs: 900_000,
        requestTimeoutMs: 120_000,
        discoveryWindowMs: 3_600_000,
      },
    });
  });
  it("hands an inline dialect on as it is", () => {
    const { service } = desiredOf('service: { dialect: { authorization: { header: "X ${token} {token}" } } }');
    expect(service.dialect).toMatchObject({ inline: { authorization: { header: "X ${token} {token}" } } });
  });
});

describe("several files", () => {
  const files = (...texts: string[]) => readDesired(texts.map((text, index) => ({ file: `${index}.yaml`, text })));
  it("are one desired state, and references cross them", () => {
    const { desired, diagnostics } = files(
      "volumes: { data: { size: 1, attach_to: web } }\nversion: 1",
      head,
      "version: 1\nproject: acme\nvms: { web: }",
    );
    expect(diagnostics).toEqual([]);
    expect(desired?.resources.map(({ address, source }) => `${address} ${source.file}:${source.line}`)).toEqual([
      "vm.web 2.yaml:3",
      "volume.data 0.yaml:1",
    ]);
    expect(desired?.files).toEqual(["0.yaml", "1.yaml", "2.yaml"]);
  });
  it("give the same as one file with everything in it", () => {
    const one = readText("vms: { web: }\ngroups: { net: }");
    expect(withoutSources(files(head, "vms: { web: }", "groups: { net: }").desired)).toEqual(
      withoutSources(one.desired),
    );
  });
  it("may not give a key twice: both places are named", () => {
    const { diagnostics } = files(`${head}vms: { web: }`, "vms:\n  web:");
    expect(diagnostics).toMatchObject([
      {
        code: "config/duplicate-key",
        source: { file: "1.yaml", line: 2, column: 3 },
        detail: "first given in 0.yaml:5",
      },
    ]);
  });
  it("may repeat a setting only with the same value", () => {
    const { diagnostics } = files(`${head}`, "project: acme\nregion: other");
    expect(diagnostics).toMatchObject([{ code: "config/conflicting-setting", source: { file: "1.yaml", line: 2 } }]);
  });
});
