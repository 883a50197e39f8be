/**
 * The state in the formats of other tools: its outputs as shell variables, its VMs as lines of /etc/hosts, as
 * ssh_config, as a dynamic inventory of Ansible and as targets of Prometheus. It is made from the records; no service
 * is asked.
 */
import { type Address, componentsAround, inAddressOrder, parseAddress } from "../core/model/address";
import { allOfKind } from "../core/model/kinds";
import type { Json, Outputs } from "../core/model/output";
import type { State } from "../core/model/recorded";
import {
  type Hop,
  jumpText,
  noAccess,
  pathInConfig,
  type Route,
  routeTo,
  type SshAccess,
  type SshGiven,
  viaArguments,
} from "../core/model/ssh";
import { inShell } from "../core/text/in-shell";
import { ifAny, onlyDefined } from "../core/text/objects";

/** A VM with an address. */
export interface InventoryHost {
  readonly address: Address;
  readonly id: string;
  readonly name: string;
  readonly privateIp?: string;
  readonly floatingIp?: string;
  /** The key of the VM's block, and the VM's key in the for_each of that block. */
  readonly block: string;
  readonly each?: string;
  /** The component around the VM: `shop/`, `eu[a]/inner/`. */
  readonly within?: string;
}

export interface Inventory {
  readonly hosts: readonly InventoryHost[];
  /** Recorded VMs whose addresses the state does not know. */
  readonly without: readonly Address[];
}

export function inventoryOf(state: Pick<State, "resources">): Inventory {
  const hosts: InventoryHost[] = [];
  const without: Address[] = [];
  for (const record of allOfKind(inAddressOrder(state.resources.values()), "vm")) {
    const { address, id, name, privateIp, floatingIp } = record;
    const parts = parseAddress(address);
    if (id === undefined || parts === undefined || (privateIp === undefined && floatingIp === undefined)) {
      without.push(address);
      continue;
    }
    hosts.push({
      address,
      id,
      name: word(name),
      ...onlyDefined({ privateIp, floatingIp }),
      block: parts.key,
      ...onlyDefined({ each: parts.each, within: parts.within }),
    });
  }
  return { hosts: withoutTwins(hosts), without };
}

/** The text with only those characters that fit a file of lines and words. */
const word = (text: string): string => text.replace(/[^A-Za-z0-9._-]+/g, "-");

/** Two VMs with one name get their addresses added to it. */
function withoutTwins(hosts: readonly InventoryHost[]): InventoryHost[] {
  const count = new Map<string, number>();
  for (const { name } of hosts) count.set(name, (count.get(name) ?? 0) + 1);
  return hosts.map((host) => ((count.get(host.name) ?? 0) > 1 ? { ...host, name: word(host.address) } : host));
}

/** The address for clients within the network: the private one, if the VM has it. */
const insideOf = ({ privateIp, floatingIp }: InventoryHost): string => privateIp ?? floatingIp ?? "";

export const hostsText = ({ hosts }: Inventory): string =>
  hosts.map((host) => `${insideOf(host)}\t${host.name}\t# ${host.address}\n`).join("");

/** The way to each host. A host whose way is not known has none, and is named in `without`. */
export interface Routes {
  readonly of: ReadonlyMap<Address, Route>;
  readonly without: readonly Address[];
}

export function routesOf({ hosts }: Inventory, access: SshAccess = noAccess, given: SshGiven = {}): Routes {
  const known = new Map(hosts.map((host) => [host.address, host]));
  const of = new Map<Address, Route>();
  const without: Address[] = [];
  for (const { address } of hosts) {
    const found = routeTo(address, known, access, given);
    if ("route" in found) of.set(address, found.route);
    else without.push(address);
  }
  return { of, without };
}

/** A machine on the way that is a host of the same text is named as it is there, with all that is said of it. */
export function sshConfigText({ hosts }: Inventory, routes: Routes): string {
  const names = new Map(hosts.map(({ address, name }) => [address, name]));
  const hopText = (hop: Hop): string => names.get(hop.address ?? "") ?? jumpText(hop);
  const blocks = hosts.flatMap((host): string[] => {
    const route = routes.of.get(host.address);
    if (route === undefined) return [];
    const { user, port, identityFile, via } = route;
    // A host of this text says itself what lies before it.
    const last = via.at(-1);
    const jump = last?.address === undefined ? via.map(hopText) : [hopText(last)];
    const lines = [
      `# ${host.address}`,
      `Host ${host.name}`,
      `  HostName ${route.host}`,
      ...(user === undefined ? [] : [`  User ${user}`]),
      ...(port === undefined ? [] : [`  Port ${port}`]),
      ...(identityFile === undefined ? [] : [`  IdentityFile ${pathInConfig(identityFile)}`]),
      ...(jump.length === 0 ? [] : [`  ProxyJump ${jump.join(",")}`]),
    ];
    return [`${lines.join("\n")}\n`];
  });
  return blocks.join("\n");
}

/** `port`: where the exporter listens on every VM; left out, a relabelling rule of Prometheus has to add it. */
export const prometheusTargets = ({ hosts }: Inventory, port?: number): object[] =>
  hosts.map((host) => {
    const ip = insideOf(host);
    const target = ip.includes(":") && port !== undefined ? `[${ip}]` : ip;
    return {
      targets: [port === undefined ? target : `${target}:${port}`],
      labels: {
        __meta_reconcile_address: host.address,
        __meta_reconcile_id: host.id,
        __meta_reconcile_name: host.name,
        __meta_reconcile_block: host.block,
        ...onlyDefined({
          __meta_reconcile_each: host.each,
          __meta_reconcile_component: host.within === undefined ? undefined : host.within.slice(0, -1),
          __meta_reconcile_private_ip: host.privateIp,
          __meta_reconcile_floating_ip: host.floatingIp,
        }),
      },
    };
  });

const hostVariables = (host: InventoryHost, { of }: Routes): object => ({
  ...reachedBy(of.get(host.address)),
  ...onlyDefined({ private_ip: host.privateIp, floating_ip: host.floatingIp }),
  reconcile_address: host.address,
  reconcile_id: host.id,
  reconcile_block: host.block,
  ...onlyDefined({
    reconcile_each: host.each,
    reconcile_component: host.within === undefined ? undefined : host.within.slice(0, -1),
  }),
});

function reachedBy(route: Route | undefined): object {
  if (route === undefined) return {};
  const { host, user, port, identityFile, via } = route;
  return {
    ansible_host: host,
    ...(user === undefined ? {} : { ansible_user: user }),
    ...(port === undefined ? {} : { ansible_port: port }),
    // Ansible hands it to ssh as a setting, where a per cent sign begins a token.
    ...(identityFile === undefined ? {} : { ansible_ssh_private_key_file: identityFile.replaceAll("%", "%%") }),
    // Ansible splits the text as a shell would, and starts no shell.
    ...(via.length === 0 ? {} : { ansible_ssh_common_args: viaArguments(via).map(inShell).join(" ") }),
  };
}

/** The answer to `--host NAME`; empty for an unknown name, as Ansible expects. */
export function ansibleHost({ hosts }: Inventory, name: string, routes: Routes): object {
  const host = hosts.find((one) => one.name === name);
  return host === undefined ? {} : hostVariables(host, routes);
}

/**
 * The answer to `--list`: a group for each block, one for each key of a for_each, one for each component with its
 * groups, and the outputs as variables of all.
 */
export function ansibleList({ hosts }: Inventory, outputs: Outputs, routes: Routes): object {
  const groups = new Map<string, { readonly hosts: Set<string>; readonly children: Set<string> }>();
  const top = new Set<string>();
  const names = groupNames(hosts);
  const groupOf = (group: string) => {
    const name = names.get(group) ?? group;
    const known = groups.get(name) ?? { hosts: new Set<string>(), children: new Set<string>() };
    groups.set(name, known);
    return { ...known, name };
  };
  for (const host of hosts) {
    for (const group of inventoryGroups(host)) groupOf(group).hosts.add(host.name);
    if (host.each !== undefined) top.add(groupOf(eachGroup(host.each)).name);
    // The group of the block is a child of its component's group, and that one a child of the component around it.
    let inner = groupOf(blockGroup(host)).name;
    for (const component of componentsAround(host.address)) {
      const outer = groupOf(component);
      outer.children.add(inner);
      inner = outer.name;
    }
    top.add(inner);
  }
  const variables = Object.fromEntries(
    Object.entries(outputs).map(([name, { value }]): [string, Json] => [ansibleVariable(name), value]),
  );
  return {
    _meta: { hostvars: Object.fromEntries(hosts.map((host) => [host.name, hostVariables(host, routes)])) },
    all: { children: [...groups.keys()].filter((name) => top.has(name)), ...onlyDefined({ vars: ifAny(variables) }) },
    ...Object.fromEntries(
      [...groups].map(([name, group]) => [
        name,
        onlyDefined({
          hosts: group.hosts.size === 0 ? undefined : [...group.hosts],
          children: group.children.size === 0 ? undefined : [...group.children],
        }),
      ]),
    ),
  };
}

const blockGroup = ({ within = "", block }: InventoryHost): string => `${within}${block}`;
/** No block and no component has a key with a bracket that stays open. */
const eachGroup = (each: string): string => `each[${each}`;
const inventoryGroups = (host: InventoryHost): string[] => [
  blockGroup(host),
  ...(host.each === undefined ? [] : [eachGroup(host.each)]),
];

/** Ansible allows letters, digits and underscores in the name of a group. */
const groupName = (text: string): string => {
  const name = text
    .replace(/\]?\/$/, "")
    .replace(/\]?\/|\[/g, "_")
    .replace(/[^A-Za-z0-9_]/g, "_");
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
};

/** Two keys that would give the same group name get different ones, and no key gets a name that Ansible reserves. */
function groupNames(hosts: readonly InventoryHost[]): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set(["all", "ungrouped", "_meta"]);
  for (const group of new Set(hosts.flatMap((host) => [...inventoryGroups(host), ...componentsAround(host.address)]))) {
    let name = groupName(group);
    for (let n = 2; taken.has(name); n++) name = `${groupName(group)}_${n}`;
    taken.add(name);
    names.set(group, name);
  }
  return names;
}

/** The outputs as shell variables: `eval "$(reconcile output --format env)"`. */
export const envText = (outputs: Outputs): string =>
  Object.entries(outputs)
    .map(([name, { value }]) => `${variableName(name)}=${singleQuoted(inventoryText(value))}\n`)
    .join("");

/** Ansible allows in a variable's name what it allows in a group's. */
export const ansibleVariable = (name: string): string => groupName(name);

export const variableName = (name: string): string => groupName(name).toUpperCase();

/** A list of plain values as words, everything else as JSON. */
function inventoryText(value: Json): string {
  if (typeof value === "string") return value;
  const isWords = Array.isArray(value) && value.every((item) => typeof item === "string" && !/\s/.test(item));
  return isWords ? value.join(" ") : JSON.stringify(value);
}

const singleQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
