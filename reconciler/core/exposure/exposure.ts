/**
 * Who can reach what through the groups, before and after a plan: exact traffic per group, what it gains and loses, the
 * proof for what lies between, and what deserves a second look. Words are left to describe.ts and the reports.
 */

import { type Address, compareAddresses } from "../model/address";
import type { Direction, Ethertype } from "../model/rule";
import { mustGet } from "../text/invariant";
import { type ExposureInput, type Fact, groupWorld } from "./group-world";
import { bitsOf, type Intervals, lastAddress } from "./intervals";
import { type GaplessProof, proveGapless } from "./proof";
import { portPoint } from "./protocols";
import { covers, inDirection, noTraffic, type Slab, slabAt, subtractTraffic, type Traffic, trafficOf } from "./traffic";

export interface DirectionExposure {
  readonly before: Traffic;
  readonly after: Traffic;
  readonly gained: Traffic;
  readonly lost: Traffic;
}

export interface OpenPort {
  readonly port: number;
  readonly service: string;
  readonly families: readonly Ethertype[];
  /** The port was open before this plan as well. */
  readonly known: boolean;
}

export interface GroupExposure {
  readonly address: Address;
  readonly ingress: DirectionExposure;
  readonly egress: DirectionExposure;
  readonly openPorts: readonly OpenPort[];
  /** Declared egress rules that restrict nothing, since the service's own rules let the same traffic out. */
  readonly idleEgress: Traffic;
  /** Left out: the plan does not touch it. */
  readonly proof?: GaplessProof;
  readonly unobserved: boolean;
  /** Old groups that VMs may still be under. */
  readonly retired: readonly string[];
}

export interface Exposure {
  readonly groups: readonly GroupExposure[];
}

/** Ports that manage a machine or hand out its data: open to the world, they are found within hours. */
const administrationPorts: Readonly<Record<number, string>> = {
  22: "SSH",
  23: "Telnet",
  135: "Windows RPC",
  445: "SMB",
  1433: "SQL Server",
  1521: "Oracle",
  2375: "Docker",
  2379: "etcd",
  3306: "MySQL",
  3389: "RDP",
  5432: "PostgreSQL",
  5601: "Kibana",
  5900: "VNC",
  5985: "WinRM",
  6379: "Redis",
  6443: "Kubernetes API",
  8086: "InfluxDB",
  9042: "Cassandra",
  9200: "Elasticsearch",
  10250: "kubelet",
  11211: "Memcached",
  27017: "MongoDB",
};

/** `touchedOnly`: just the groups that the plan's steps touch. */
export function exposureOf(input: ExposureInput, options: { readonly touchedOnly?: boolean } = {}): Exposure {
  const world = groupWorld(input);
  const steps = new Map(input.plan.steps.map((step) => [step.id, step]));
  const addresses = [...(options.touchedOnly === true ? world.touched : world.facts.keys())].sort(compareAddresses);
  const groups = addresses.map((address): GroupExposure => {
    const facts = mustGet(world.facts, address);
    const traffic = (some: readonly Fact[]): Traffic =>
      some.length === 0
        ? noTraffic
        : trafficOf(
            some.map((fact) => fact.rule),
            world.identify,
          );
    const before = traffic(facts.filter((fact) => fact.addedBy === undefined));
    const lasting = facts.filter((fact) => fact.removedBy.length === 0);
    const after = world.touched.has(address) ? traffic(lasting) : before;
    return {
      address,
      ingress: compare(before, after, "ingress"),
      egress: compare(before, after, "egress"),
      openPorts: openPorts(before, after),
      idleEgress: idleEgress(lasting, traffic),
      ...(world.touched.has(address) ? { proof: proveGapless(address, world, steps, before, after) } : {}),
      unobserved: world.unobserved.has(address),
      retired: world.retired.get(address) ?? [],
    };
  });
  return { groups };
}

function compare(allBefore: Traffic, allAfter: Traffic, direction: Direction): DirectionExposure {
  const before = inDirection(allBefore, direction);
  if (allAfter === allBefore) return { before, after: before, gained: noTraffic, lost: noTraffic };
  const after = inDirection(allAfter, direction);
  return { before, after, gained: subtractTraffic(after, before), lost: subtractTraffic(before, after) };
}

export const changesExposure = ({ ingress, egress }: GroupExposure): boolean =>
  [ingress, egress].some(({ gained, lost }) => gained.size > 0 || lost.size > 0);

/** Administration ports open to the world as it is now; `undefined` when none of the groups could be looked at. */
export function countOpenPorts({ groups }: Exposure): number | undefined {
  const observed = groups.filter((group) => !group.unobserved);
  if (observed.length === 0) return groups.length === 0 ? 0 : undefined;
  let open = 0;
  for (const { ingress } of observed)
    for (const port of Object.keys(administrationPorts)) if (openTo(ingress.before, Number(port)).length > 0) open++;
  return open;
}

function openPorts(before: Traffic, after: Traffic): OpenPort[] {
  const open: OpenPort[] = [];
  for (const [text, service] of Object.entries(administrationPorts)) {
    const port = Number(text);
    const families = openTo(after, port);
    if (families.length > 0)
      open.push({ port, service, families, known: openTo(before, port).length >= families.length });
  }
  return open;
}

const openTo = (traffic: Traffic, port: number): Ethertype[] =>
  (["IPv4", "IPv6"] as const).filter((family) =>
    [...traffic.values()].some(
      ({ space, slabs }) =>
        space.direction === "ingress" &&
        space.family === family &&
        space.group === undefined &&
        space.word === undefined &&
        isWorld(slabAt(slabs, portPoint("tcp", port))?.peers ?? [], family),
    ),
  );

/** Half of all addresses counts as the world: nobody writes half of all addresses to mean a few friends. */
const isWorld = (peers: Intervals, family: Ethertype): boolean => {
  const admitted = peers.reduce((sum, { from, to }) => sum + (to - from + 1n), 0n);
  return admitted * 2n > lastAddress(bitsOf[family]);
};

/**
 * Traffic that the plan opens to the world, whatever the port. A group that could not be looked at may open anything.
 */
export function opensToWorld({ groups }: Exposure): Address[] {
  return groups.filter(opensGroupToWorld).map(({ address }) => address);
}

function opensGroupToWorld({ ingress, unobserved }: GroupExposure): boolean {
  for (const [key, { space, slabs }] of ingress.gained) {
    if (space.group !== undefined) continue;
    if (unobserved) return true;
    // The traffic gained may be small and yet complete what was open before to everything.
    const after = ingress.after.get(key)?.slabs ?? [];
    const opens = (gained: Slab): boolean =>
      after.some(({ from, to, peers }) => from <= gained.to && to >= gained.from && isWorld(peers, space.family));
    if (slabs.some(opens)) return true;
  }
  return false;
}

function idleEgress(lasting: readonly Fact[], traffic: (facts: readonly Fact[]) => Traffic): Traffic {
  const egress = lasting.filter((fact) => fact.rule.direction === "egress");
  const own = egress.filter((fact) => !fact.declared);
  if (own.length === 0 || own.length === egress.length) return noTraffic;
  const free = traffic(own);
  return traffic(egress.filter((fact) => fact.declared && covers(free, traffic([fact]))));
}
