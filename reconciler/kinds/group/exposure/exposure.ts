/**
 * Who can reach what through the groups, before and after a plan: exact traffic per group, what it gains and loses, the
 * proof for what lies between, and what deserves a second look. Words are left to describe.ts and the reports.
 */

import { type Address, compareAddresses } from "../../../core/model/address";
import type { Direction, Ethertype } from "../../../core/model/rule";
import { mustGet } from "../../../core/text/invariant";
import { touchesGroups } from "../changes";
import {
  type ExposureInput,
  type Fact,
  type GroupWorld,
  groupWorld,
  momentsOf,
  type NotRead,
  trafficOfFacts,
} from "./group-world";
import type { Intervals } from "./intervals";
import { type Violation, violationsBetween } from "./proof";
import { portPoint } from "./protocols";
import { covers, inDirection, noTraffic, type Slab, slabAt, slabsOf, subtractTraffic, type Traffic } from "./traffic";
import { asIpv4, usualWorld, worldIn } from "./world";

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
  /** The port was open over these families before this plan as well. */
  readonly known: boolean;
}

export interface GroupExposure {
  readonly address: Address;
  readonly ingress: DirectionExposure;
  readonly egress: DirectionExposure;
  readonly openPorts: readonly OpenPort[];
  /** Declared egress rules that restrict nothing, since the service's own rules let the same traffic out. */
  readonly idleEgress: Traffic;
  /** What it admits between two steps and must not. Left out: the plan does not touch it. */
  readonly violations?: readonly Violation[];
  /** Its rules were not read, and the recorded ones stand for them. Left out: they were. */
  readonly unobserved?: NotRead;
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
    const moments = momentsOf(facts, world);
    const { before, after } = moments;
    return {
      address,
      ingress: compare(before, after, "ingress"),
      egress: compare(before, after, "egress"),
      openPorts: openPorts(before, after),
      idleEgress: idleEgress(facts, world),
      violations: world.touched.has(address) ? violationsBetween(moments, world, steps) : undefined,
      unobserved: world.unobserved.get(address),
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
  const observed = groups.filter((group) => group.unobserved === undefined);
  if (observed.length === 0) return groups.length === 0 ? 0 : undefined;
  let open = 0;
  for (const { ingress } of observed) {
    const openTo = openIn(ingress.before);
    for (const port of Object.keys(administrationPorts)) if (openTo(Number(port)).length > 0) open++;
  }
  return open;
}

function openPorts(before: Traffic, after: Traffic): OpenPort[] {
  const open: OpenPort[] = [];
  const [openBefore, openTo] = [openIn(before), openIn(after)];
  for (const [text, service] of Object.entries(administrationPorts)) {
    const port = Number(text);
    const families = openTo(port);
    const before = openBefore(port);
    const known = families.every((family) => before.includes(family));
    if (families.length > 0) open.push({ port, service, families, known });
  }
  return open;
}

/** The families of which the world reaches a port. */
function openIn(traffic: Traffic): (port: number) => Ethertype[] {
  const [v4, v6] = [addressSlabs(traffic, "IPv4"), addressSlabs(traffic, "IPv6")];
  return (port) => {
    const point = portPoint("tcp", port);
    const from = (all: readonly (readonly Slab[])[]): Intervals =>
      all.flatMap((slabs) => slabAt(slabs, point)?.peers ?? []);
    const [IPv4, IPv6] = [from(v4), from(v6)];
    return IPv4.length === 0 && IPv6.length === 0 ? [] : worldIn({ IPv4, IPv6 });
  };
}

/** What is admitted from addresses, of the protocols that have a number. */
const addressSlabs = (traffic: Traffic, family: Ethertype): (readonly Slab[])[] =>
  [...traffic.values()].flatMap(({ space, slabs }) =>
    space.direction === "ingress" && space.family === family && space.group === undefined && space.word === undefined
      ? [slabs]
      : [],
  );

/** For the groups that the plan touches; absent: it touches none. */
export const exposureOfPlan = (input: ExposureInput): Exposure | undefined =>
  touchesGroups(input.plan.changes) ? exposureOf(input, { touchedOnly: true }) : undefined;

/**
 * Traffic that the plan opens to the world, whatever the port. A group that could not be looked at may open anything.
 * `prefix`: which share of the internet counts as the world, `/8` as 8.
 */
export const opensToWorld = ({ groups }: Exposure, prefix?: number): Address[] =>
  groups.filter((group) => opensGroupToWorld(group, prefix)).map(({ address }) => address);

function opensGroupToWorld({ ingress, unobserved }: GroupExposure, prefix: number = usualWorld): boolean {
  for (const { space, slabs } of ingress.gained.values()) {
    if (space.group !== undefined) {
      // All that is given out of IPv6 lies in an eighth of it.
      if (space.network !== undefined && space.network <= prefix + 3) return true;
      continue;
    }
    if (unobserved !== undefined) return true;
    // The traffic gained may be small and yet complete what was open before to everything.
    const after = (family: Ethertype) => slabsOf(ingress.after, { ...space, family });
    const isOpen = (gained: Slab): boolean =>
      overlapping(after(space.family), gained).some(
        (own) =>
          worldIn({ ...emptyPeers, [space.family]: own.peers }, prefix).length > 0 ||
          (space.family === "IPv6"
            ? asIpv4(gained.peers).length > 0 && completes(own, overlapping(after("IPv4"), own), prefix)
            : overlapping(after("IPv6"), own).some((other) => completes(other, [own], prefix))),
      );
    if (slabs.some(isOpen)) return true;
  }
  return false;
}

const emptyPeers: Readonly<Record<Ethertype, Intervals>> = { IPv4: [], IPv6: [] };

/** Whether IPv6 rules in IPv4's addresses make the world together with IPv4 rules, where neither does alone. */
const completes = (spelled: Slab, v4: readonly Slab[], prefix?: number): boolean =>
  asIpv4(spelled.peers).length > 0 &&
  v4.some(({ peers }) => worldIn({ IPv4: peers, IPv6: spelled.peers }, prefix).length > 0);

const overlapping = (slabs: readonly Slab[], { from, to }: Slab): readonly Slab[] =>
  slabs.filter((slab) => slab.from <= to && slab.to >= from);

function idleEgress(facts: readonly Fact[], world: GroupWorld): Traffic {
  const traffic = (some: readonly Fact[]): Traffic => trafficOfFacts(some, world);
  const egress = facts.filter(({ rule, removedBy }) => rule.direction === "egress" && removedBy.length === 0);
  const own = egress.filter((fact) => !fact.declared);
  if (own.length === 0 || own.length === egress.length) return noTraffic;
  const free = traffic(own);
  return traffic(egress.filter((fact) => fact.declared && covers(free, traffic([fact]))));
}
