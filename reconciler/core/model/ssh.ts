/** How the VMs of a project are reached by SSH: what the file says, and the route that comes of it. Nothing of it is planned. */
import { inShell } from "../text/in-shell";
import { type Address, componentsAround, parseAddress } from "./address";
import { runsGuest } from "./kinds";

/** What a machine in the way is called: a VM of the project, or a host that somebody else runs. */
export type Jump =
  | { readonly vm: Address }
  | { readonly host: string; readonly user?: string; readonly port?: number }
  /** The VM is reached directly, whatever is said for all. */
  | "none";

export interface SshSettings {
  readonly user?: string;
  readonly jump?: Jump;
  /** As ssh takes it: a whole path, or one that begins with `~`. */
  readonly identityFile?: string;
  /** The file that names a relative identity file, until whoever knows the folders has made a whole path of it. */
  readonly beside?: string;
  readonly port?: number;
}

export interface SshAccess {
  /** For every VM that says nothing else. */
  readonly all: SshSettings;
  /** What single VMs say, without what is said for all. */
  readonly each: ReadonlyMap<Address, SshSettings>;
}

export const noAccess: SshAccess = { all: {}, each: new Map() };

/** One machine on the way, or the VM at its end. `address`: it is a VM of the project. */
export interface Hop extends Pick<SshSettings, "user" | "port" | "identityFile"> {
  readonly address?: Address;
  readonly host: string;
}

export interface Route extends Hop {
  readonly address: Address;
  /** In the order in which they are passed. */
  readonly via: readonly Hop[];
}

/** The addresses of a VM, as far as they are known. */
export interface Reachable {
  readonly privateIp?: string;
  readonly floatingIp?: string;
}

/** `undefined`: the text names neither a VM nor a host. A VM is named as seen from the whole project. */
export function jumpFrom(text: string): Jump | undefined {
  if (text === "none") return "none";
  const named = parseAddress(text);
  if (named !== undefined) return runsGuest(named.kind) ? { vm: text } : undefined;
  const [, user, host, port] = hostPattern.exec(text) ?? [];
  if (host === undefined || !isSshPort(port)) return undefined;
  return { host: host.replace(/^\[|\]$/g, ""), user, port: port === undefined ? undefined : Number(port) };
}

/** A name never begins with a dash: ssh would take it for an option. */
export const userPattern = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;
const hostPattern =
  /^(?:([A-Za-z0-9_][A-Za-z0-9_.+-]*)@)?([A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?$/;
export const isHost = (text: string): boolean => /^(?:[A-Za-z0-9][A-Za-z0-9._-]*|[0-9A-Fa-f:.]+)$/.test(text);
const isSshPort = (text: string | undefined): boolean =>
  text === undefined || (Number(text) >= 1 && Number(text) <= 65_535);

/** A jump that is written in a component means the nearest VM of that name, from the component outwards. */
export function resolvedJump(
  jump: Jump,
  from: Address | undefined,
  isKnown: (vm: Address) => boolean,
): Jump | undefined {
  if (jump === "none" || !("vm" in jump)) return jump;
  const around = from === undefined ? [] : componentsAround(from);
  const tried = [...around.map((within) => within + jump.vm), jump.vm];
  const found = tried.find(isKnown);
  return found === undefined ? undefined : { vm: found };
}

/** A VM of the project that is written like a host, `user@vm.bastion`: nothing else has that name. */
export const isVmAsHost = (jump: Jump, from: Address | undefined, isKnown: (vm: Address) => boolean): boolean =>
  jump !== "none" && "host" in jump && resolvedJump({ vm: jump.host }, from, isKnown) !== undefined;

/** What the command line says before the file. */
export type SshGiven = Pick<SshSettings, "user" | "jump">;

/**
 * The way to a VM. A VM that others are reached through is reached directly where only what is said for all would lead
 * to itself. `undefined`: the state knows no address of the VM, or of one on the way, which is `missing`.
 */
export function routeTo(
  address: Address,
  hosts: ReadonlyMap<Address, Reachable>,
  access: SshAccess,
  given: SshGiven = {},
): { readonly route: Route } | { readonly missing: Address } {
  const via = hopsTo(address, access, given);
  const hops: Hop[] = [];
  for (const jump of via) {
    const hop = "vm" in jump ? hopOf(jump.vm, hops.length > 0, hosts, access, given) : jump;
    if (hop === undefined) return { missing: "vm" in jump ? jump.vm : address };
    hops.push(hop);
  }
  const last = hopOf(address, hops.length > 0, hosts, access, given);
  return last === undefined ? { missing: address } : { route: { ...last, address, via: hops } };
}

type RealJump = Exclude<Jump, "none">;

/** The machines before a VM, the first one first. Never the VM itself, and each once. */
function hopsTo(address: Address, access: SshAccess, { jump }: SshGiven): RealJump[] {
  if (jump === undefined) return fileHops(address, access);
  if (jump === "none") return [];
  // What leads to the machine that the command line names is as the file says.
  const hops = "vm" in jump ? [...fileHops(jump.vm, access), jump] : [jump];
  return passes(hops, address) ? fileHops(address, access) : hops;
}

function fileHops(address: Address, { all, each }: SshAccess): RealJump[] {
  // What is said for all leads through these, so it is not said for them.
  const ofAll = hopsFrom(all.jump, (vm) => each.get(vm)?.jump);
  const jumpOf = (vm: Address): Jump | undefined => each.get(vm)?.jump ?? (passes(ofAll, vm) ? undefined : all.jump);
  return hopsFrom(jumpOf(address), jumpOf);
}

const passes = (hops: readonly RealJump[], vm: Address): boolean => hops.some((hop) => "vm" in hop && hop.vm === vm);

/** A circle, which the reader of files refuses, ends where it began. */
function hopsFrom(first: Jump | undefined, next: (vm: Address) => Jump | undefined): RealJump[] {
  const hops: RealJump[] = [];
  const seen = new Set<Address>();
  for (let jump = first; jump !== undefined && jump !== "none"; ) {
    if ("vm" in jump && seen.has(jump.vm)) break;
    hops.unshift(jump);
    if (!("vm" in jump)) break;
    seen.add(jump.vm);
    jump = next(jump.vm);
  }
  return hops;
}

/** From within, a VM is reached by its private address; from outside by its floating one. */
function hopOf(
  address: Address,
  isWithin: boolean,
  hosts: ReadonlyMap<Address, Reachable>,
  { all, each }: SshAccess,
  given: SshGiven,
): Hop | undefined {
  const { privateIp, floatingIp } = hosts.get(address) ?? {};
  const host = isWithin ? (privateIp ?? floatingIp) : (floatingIp ?? privateIp);
  if (host === undefined) return undefined;
  const own = each.get(address);
  const user = given.user ?? own?.user ?? all.user;
  const port = own?.port ?? all.port;
  const identityFile = own?.identityFile ?? all.identityFile;
  return { address, host, user, port, identityFile };
}

/** The arguments of ssh that lead to the VM, without its host. */
export const sshArguments = ({ via, ...hop }: Route): string[] => [...hopArguments(hop), ...viaArguments(via)];

const hopArguments = ({ user, port, identityFile }: Omit<Hop, "host">): string[] => [
  ...(user === undefined ? [] : ["-l", user]),
  ...(port === undefined ? [] : ["-p", String(port)]),
  ...(identityFile === undefined
    ? []
    : // Behind -i there is no way to write a per cent sign.
      identityFile.includes("%")
      ? ["-o", `IdentityFile=${pathInConfig(identityFile)}`]
      : ["-i", identityFile]),
];

/** A path as the configuration of ssh has it, where a per cent sign begins a token. */
export function pathInConfig(path: string): string {
  const literal = path.replaceAll("%", "%%");
  return /[\s'#=]/.test(literal) ? `"${literal}"` : literal;
}

/**
 * `-J` takes no key for the machines on the way, so a hop that has one is a command of its own, as ssh itself would
 * start it.
 */
export function viaArguments(via: readonly Hop[]): string[] {
  if (via.length === 0) return [];
  if (via.every(({ identityFile }) => identityFile === undefined)) return ["-J", via.map(jumpText).join(",")];
  return ["-o", `ProxyCommand=${via.reduce<string | undefined>(throughHop, undefined)}`];
}

/** A machine on the way, as `ProxyJump` takes it. */
export function jumpText({ user, host, port }: Hop): string {
  const bracketed = host.includes(":") ? `[${host}]` : host;
  return `${user === undefined ? "" : `${user}@`}${bracketed}${port === undefined ? "" : `:${port}`}`;
}

function throughHop(before: string | undefined, { host, ...hop }: Hop): string {
  const words = [
    "ssh",
    // A per cent sign is ssh's own in a command.
    ...hopArguments({ ...hop, identityFile: hop.identityFile?.replaceAll("%", "%%") }),
    ...(before === undefined ? [] : ["-o", `ProxyCommand=${before.replaceAll("%", "%%")}`]),
  ];
  return [...words.map(inShell), "-W", "'[%h]:%p'", inShell(host)].join(" ");
}
