import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import {
  jumpFrom,
  type Reachable,
  routeTo,
  type SshAccess,
  type SshGiven,
  sshArguments,
} from "../../reconciler/core/model/ssh";
import { inShell } from "../../reconciler/core/text/in-shell";
import { ansibleHost, type Inventory, routesOf, sshConfigText } from "../../reconciler/report/inventory";

const hosts = new Map<string, Reachable>([
  ["vm.bastion", { privateIp: "10.0.0.2", floatingIp: "198.51.100.2" }],
  ["vm.second", { privateIp: "10.0.0.3", floatingIp: "198.51.100.3" }],
  ["vm.db", { privateIp: "10.0.0.12" }],
  ["vm.six", { privateIp: "fd00::5" }],
  ["vm.dark", {}],
]);

const file = (ssh: string, vms = ""): string => `version: 1
project: acme
region: r1
${ssh}
environments: { prod: { ssh: { user: admin } } }
defaults: { vm: { owner: a@b.example, user_id: "1", image_id: i, flavor_id: f, size: 1 } }
vms: { bastion: {}, ${vms.includes("second:") ? "" : "second: {}, "}dark: {}, six: { name: six-1 }, db: { name: db-1,${vms}} }
`;
const read = (text: string, env = "prod") => readDesired([{ file: "reconcile.yaml", text }], { env });

function access(ssh: string, vms = ""): SshAccess {
  const { ssh: found, diagnostics } = read(file(ssh, vms));
  expect(diagnostics).toEqual([]);
  return found ?? { all: {}, each: new Map() };
}

function argsOf(address: string, way: SshAccess, given?: SshGiven): string[] | string {
  const found = routeTo(address, hosts, way, given);
  return "route" in found ? [...sshArguments(found.route), found.route.host] : `missing ${found.missing}`;
}

describe("the way to a VM", () => {
  it.each<[string, string, string, string, SshGiven, string[] | string]>([
    ["nothing said, but by the environment", "{}", "", "vm.db", {}, ["-l", "admin", "10.0.0.12"]],
    [
      "a port and a key",
      "{ port: 2222, identity_file: ~/.ssh/k }",
      "",
      "vm.db",
      {},
      ["-l", "admin", "-p", "2222", "-i", "~/.ssh/k", "10.0.0.12"],
    ],
    [
      "through a VM, from within",
      "{ jump: vm.bastion }",
      "",
      "vm.db",
      {},
      ["-l", "admin", "-J", "admin@198.51.100.2", "10.0.0.12"],
    ],
    ["the VM that others go through", "{ jump: vm.bastion }", "", "vm.bastion", {}, ["-l", "admin", "198.51.100.2"]],
    [
      "the VM that the one of all is reached through",
      "{ jump: vm.second }",
      " }, second: { ssh: { jump: vm.bastion } ",
      "vm.bastion",
      {},
      ["-l", "admin", "198.51.100.2"],
    ],
    [
      "through both of them",
      "{ jump: vm.second }",
      " }, second: { ssh: { jump: vm.bastion } ",
      "vm.db",
      {},
      ["-l", "admin", "-J", "admin@198.51.100.2,admin@10.0.0.3", "10.0.0.12"],
    ],
    [
      "a host of somebody else",
      "{ jump: ops@gate.example:2200 }",
      "",
      "vm.db",
      {},
      ["-l", "admin", "-J", "ops@gate.example:2200", "10.0.0.12"],
    ],
    [
      "what the VM says of itself",
      "{ jump: vm.bastion, port: 1 }",
      " ssh: { user: postgres, port: 5, jump: none } ",
      "vm.db",
      {},
      ["-l", "postgres", "-p", "5", "10.0.0.12"],
    ],
    [
      "the command line before the file",
      "{ jump: vm.bastion }",
      "",
      "vm.db",
      { user: "me", jump: { vm: "vm.second" } },
      ["-l", "me", "-J", "me@198.51.100.2,me@10.0.0.3", "10.0.0.12"],
    ],
    [
      "the machine of the command line as the file says",
      "{}",
      "",
      "vm.second",
      { jump: { vm: "vm.second" } },
      ["-l", "admin", "198.51.100.3"],
    ],
    [
      "an address of IPv6 through one",
      "{ jump: '[fd00::1]:22' }",
      "",
      "vm.six",
      {},
      ["-l", "admin", "-J", "[fd00::1]:22", "fd00::5"],
    ],
    ["no address", "{}", "", "vm.dark", {}, "missing vm.dark"],
    ["no address on the way", "{ jump: vm.dark }", "", "vm.db", {}, "missing vm.dark"],
  ])("%s", (_, ssh, vms, address, given, expected) => {
    expect(argsOf(address, access(`ssh: ${ssh}`, vms), given)).toEqual(expected);
  });

  it("a machine on the way that has a key is a command of its own, as -J takes none", () => {
    const way = access('ssh: { jump: vm.bastion, identity_file: "/keys/it\'s 100%" }');
    expect(argsOf("vm.db", way)).toEqual([
      ...["-l", "admin", "-o", `IdentityFile="/keys/it's 100%%"`, "-o"],
      `ProxyCommand=ssh -l admin -o 'IdentityFile="/keys/it'\\''s 100%%%%"' -W '[%h]:%p' 198.51.100.2`,
      "10.0.0.12",
    ]);
    expect(inShell("~/.ssh/my key")).toBe("~/'.ssh/my key'");
  });

  it.each(["-oProxyCommand=x", "a b", "a;b", "x@-y", "@h", "h:0", "h:70000", "", "volume.data", "$(x)", "a,b"])(
    "is not taken from %j",
    (text) => expect(jumpFrom(text)).toBeUndefined(),
  );

  it("what is wrong in ssh: is told with its place, and circles end", () => {
    const wrong = file("ssh: { user: -oX, jump: vm.bastian, port: 70000, identity_file: -x, usr: a }");
    expect(read(wrong).diagnostics.map(({ summary, fix, source }) => [summary, fix, source?.line])).toEqual(
      expect.arrayContaining([
        ["jump names vm.bastian, which is not declared", "write vm.bastion", 4],
        [expect.stringContaining("port cannot be 70000"), undefined, 4],
        [expect.stringContaining("identity_file cannot be"), undefined, 4],
        [expect.stringContaining("usr"), "remove it", 4],
      ]),
    );
    const circle = read(
      file("", " ssh: { jump: vm.other } ").replace("six: { name: six-1 }", "other: { ssh: { jump: vm.db } }"),
    ).diagnostics;
    expect(circle.map(({ detail }) => detail)).toContainEqual(expect.stringContaining("vm.db -> vm.other -> vm.db"));
  });
});

describe("the forms of other programs", () => {
  const inventory: Inventory = {
    hosts: [...hosts].flatMap(([address, ips]) =>
      ips.privateIp === undefined
        ? []
        : [{ address, id: address, name: address.slice(3), block: address.slice(3), ...ips }],
    ),
    without: [],
  };

  it("ssh_config names a machine on the way as its Host, and Ansible gets the words of ssh", () => {
    const routes = routesOf(inventory, access('ssh: { jump: vm.bastion, identity_file: "/my keys/k" }'));
    expect(sshConfigText(inventory, routes)).toContain(
      `# vm.db\nHost db\n  HostName 10.0.0.12\n  User admin\n  IdentityFile "/my keys/k"\n  ProxyJump bastion\n`,
    );
    const odd = routesOf(inventory, access('ssh: { identity_file: "/o\'keys/100%" }'));
    expect(sshConfigText(inventory, odd)).toContain(`  IdentityFile "/o'keys/100%%"\n`);
    expect(ansibleHost(inventory, "db", odd)).toMatchObject({ ansible_ssh_private_key_file: "/o'keys/100%%" });
    expect(sshConfigText(inventory, routes)).toContain(
      `Host bastion\n  HostName 198.51.100.2\n  User admin\n  IdentityFile "/my keys/k"\n\n`,
    );
    expect(
      ansibleHost(inventory, "db", routesOf(inventory, access("ssh: { jump: vm.bastion, port: 22 }"))),
    ).toMatchObject({
      ansible_host: "10.0.0.12",
      ansible_user: "admin",
      ansible_port: 22,
      ansible_ssh_common_args: "-J admin@198.51.100.2:22",
    });
  });
});
