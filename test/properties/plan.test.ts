/** The planner as a function: total, deterministic, and with steps that respect every edge. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { abilitiesOf } from "../../reconciler/core/model/abilities";
import { asClosed, type Desired, type DesiredResource } from "../../reconciler/core/model/desired";
import {
  type Live,
  type LiveGroup,
  type LiveVm,
  type LiveVolume,
  notSeen,
  type Sighting,
  withSightings,
} from "../../reconciler/core/model/live";
import type { Intent, RecordedResource, State } from "../../reconciler/core/model/recorded";
import type { RuleRemote } from "../../reconciler/core/model/rule";
import { makePlan } from "../../reconciler/core/plan/plan";
import { groupRecord, vmRecord, volumeRecord } from "../../reconciler/core/plan/records";
import { canonicalJson } from "../../reconciler/core/text/canonical-json";
import { capabilities, gone, seenOfKind } from "../support/virtual-world";
import { desiredOf, randomCapabilities, randomDesired, runs } from "./random-desired";

const idOf = (address: string): string => `id-${address}`;
/** As if the service had given them: the same for the same VM. */
const addressesOf = (id: string) => {
  const last = [...id].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 250, 7);
  return { privateIp: `10.9.0.${last}`, floatingIp: `198.19.9.${last}` };
};
const asShown = (remote: RuleRemote): RuleRemote => {
  const [part] = remote.kind === "computed" ? remote.text.parts : [];
  if (part === undefined || typeof part === "string") return remote;
  const { privateIp, floatingIp } = addressesOf(idOf(part.address));
  return { kind: "cidr", cidr: `${part.attribute === "private_ip" ? privateIp : floatingIp}/32` };
};
const recordOf = (resource: DesiredResource): RecordedResource => {
  const id = idOf(resource.address);
  if (resource.kind === "vm") return { ...vmRecord(resource, resource.image), ...addressesOf(id), id };
  if (resource.kind === "group") {
    const rules = resource.rules.map((rule) => ({ ...rule, remote: asShown(rule.remote) }));
    return {
      ...groupRecord({ ...resource, rules }, (group) => ("id" in group ? group.id : idOf(group.address)), []),
      id,
    };
  }
  const on = resource.attachTo;
  return {
    ...volumeRecord(resource),
    id,
    ...(on === undefined ? {} : { attachedTo: "id" in on ? on.id : idOf(on.address) }),
  };
};

/** Nothing of it need fit together: a state by one file, a service by another, a third file now. */
const chaos = fc
  .record({
    recorded: randomDesired,
    live: randomDesired,
    desired: randomDesired,
    capabilities: randomCapabilities,
    contractOnly: fc.boolean(),
    phases: fc.array(fc.constantFrom("running", "stopped", "verify_resize", "failed", "changing"), {
      minLength: 3,
      maxLength: 3,
    }),
    flags: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    seen: fc.constantFrom("yes", "gone", "unobserved"),
    intents: fc.subarray(["vm.a", "shop/volume.b", "eu[x]/inner/group.c"]),
    quarantined: fc.subarray(["shop/vm.b", "group.a", "journal line 3"], { maxLength: 1 }),
    options: fc.record({
      destroy: fc.boolean(),
      adopt: fc.boolean(),
      targets: fc.subarray(["vm.a", "volume.a", "group.a", "shop/", "eu[x]/", "group.zz"], { maxLength: 2 }),
      replace: fc.subarray(["vm.a", "volume.a", "shop/group.b"], { maxLength: 2 }),
    }),
  })
  .map((world) => ({
    ...world,
    state: stateOf(world),
    live: liveOf(world),
    can: abilitiesOf(capabilities({ ...world.capabilities, contract_only: world.contractOnly })),
  }));

function stateOf(world: { recorded: Desired; flags: boolean[]; intents: string[]; quarantined: string[] }): State {
  const [building, resizing, noId, retired, dataVolume, off] = world.flags;
  const resources = new Map<string, RecordedResource>();
  for (const resource of world.recorded.resources) {
    let record = recordOf(resource);
    if (record.kind === "vm") {
      record = {
        ...record,
        ...(building ? { building: true } : {}),
        ...(resizing ? { resizing: { from: "m1.small", to: "m1.large" } } : {}),
        ...(dataVolume ? { dataVolumeId: "data", ...(off ? { dataVolumeDetached: true } : {}) } : {}),
      };
      if (noId && record.address === "shop/vm.b") {
        const { id: _, ...rest } = record;
        record = rest;
      }
    }
    if (record.kind === "group" && retired) record = { ...record, retired: [{ id: `old-${record.id}`, name: "old" }] };
    resources.set(resource.address, record);
  }
  const intents = new Map<string, Intent>(
    world.intents.map((address) => [
      address,
      {
        step: `${address}/create`,
        address,
        operation: `${address.split(".")[0]}.create` as Intent["operation"],
        name: "vm-one",
        sentAt: "2026-01-01T00:00:00Z",
        idsBefore: [],
      },
    ]),
  );
  return {
    lineage: "l",
    serial: 7,
    resources,
    intents,
    orphans: new Map(),
    quarantined: world.quarantined.map((address) => ({ address, text: "", problem: "damaged" })),
  };
}

function liveOf(world: {
  live: Desired;
  phases: string[];
  flags: boolean[];
  seen: string;
  contractOnly: boolean;
  capabilities: { with?: readonly string[] };
}): Live {
  const sight = <T>(value: T): Sighting<T> =>
    world.seen === "yes" ? { seen: "yes", value } : world.seen === "gone" ? gone : { seen: "unobserved", reason: "r" };
  const vms: LiveVm[] = [];
  const volumes = new Map<string, Sighting<LiveVolume>>();
  const groups = new Map<string, Sighting<LiveGroup>>();
  for (const [index, one] of world.live.resources.entries()) {
    const id = idOf(one.address);
    if (one.kind === "vm")
      vms.push({
        kind: "vm",
        id,
        name: one.name,
        status: "X",
        phase: world.phases[index % 3] as LiveVm["phase"],
        flavor: one.flavor,
        image: one.image,
        ...(world.flags[5] === true ? addressesOf(id) : {}),
        volumes: [
          { id: `root-${id}`, root: true },
          { id: `data-${id}`, root: false },
        ],
      });
    if (one.kind === "volume") {
      const on = one.attachTo;
      volumes.set(
        id,
        sight({
          kind: "volume",
          id,
          name: one.name,
          sizeGb: one.sizeGb,
          failed: world.flags[7]!,
          attachedTo: on === undefined ? null : "id" in on ? on.id : idOf(on.address),
        }),
      );
    }
    if (one.kind === "group")
      groups.set(
        id,
        sight({
          kind: "group",
          id,
          name: one.name,
          rules: one.rules.map((rule, n) => ({
            id: `r${n}`,
            direction: rule.direction,
            ethertype: rule.ethertype,
            protocol: rule.protocol,
            ...(rule.ports === undefined ? {} : { portMin: rule.ports.min, portMax: rule.ports.max }),
            ...(rule.remote.kind === "group" && "address" in rule.remote.group
              ? { remoteGroupId: idOf(rule.remote.group.address) }
              : rule.remote.kind === "cidr"
                ? { remoteIp: rule.remote.cidr }
                : {}),
          })),
        }),
      );
  }
  const listed = !world.contractOnly;
  return {
    of: {
      vm: seenOfKind(listed, new Map(listed ? vms.map((vm) => [vm.id, { seen: "yes", value: vm }]) : [])),
      volume: seenOfKind(world.flags[8]!, volumes),
      group: seenOfKind(world.flags[9]!, groups),
    },
    catalogue: world.flags[10]
      ? {
          flavors: [
            { id: "f1", name: "m1.small" },
            { id: "f2", name: "m1.large" },
          ],
        }
      : {},
  };
}

const shuffledMap = <K, V>(map: ReadonlyMap<K, V>): Map<K, V> => new Map([...map].reverse());

describe("makePlan", () => {
  it("never throws, orders every step after what it needs, and names each step once", () => {
    fc.assert(
      fc.property(chaos, ({ desired, state, live, can, options }) => {
        const plan = makePlan({ desired: asClosed(desired), state, live, can, options });
        const placed = new Set<string>();
        for (const step of plan.steps) {
          expect(placed.has(step.id), `${step.id} twice`).toBe(false);
          for (const need of step.needs) expect(placed.has(need.step), `${step.id} needs ${need.step}`).toBe(true);
          expect(new Set(step.needs.map((need) => need.step)).size).toBe(step.needs.length);
          placed.add(step.id);
        }
      }),
      runs(2000),
    );
  });

  it("same inputs, same bytes, in whatever order they are given", () => {
    fc.assert(
      fc.property(chaos, ({ desired, state, live, can, options }) => {
        const first = canonicalJson(makePlan({ desired: asClosed(desired), state, live, can, options }));
        expect(canonicalJson(makePlan({ desired: asClosed(desired), state, live, can, options }))).toBe(first);
        const shuffled = makePlan({
          desired: asClosed({ ...desired, resources: [...desired.resources].reverse() }),
          state: { ...state, resources: shuffledMap(state.resources), intents: shuffledMap(state.intents) },
          live: withSightings(live, (kind) => shuffledMap(live.of[kind].byId)),
          can,
          options,
        });
        expect(canonicalJson(shuffled)).toBe(first);
      }),
      runs(500),
    );
  });

  it("what is as it was applied has no difference, in any order", () => {
    fc.assert(
      fc.property(randomDesired, fc.boolean(), (desired, reversed) => {
        const resources = new Map(desired.resources.map((resource) => [resource.address, recordOf(resource)]));
        const state: State = {
          lineage: "l",
          serial: 1,
          resources,
          intents: new Map(),
          orphans: new Map(),
          quarantined: [],
        };
        const given = reversed
          ? { ...desiredOf(desired.resources), resources: [...desired.resources].reverse() }
          : desired;
        const plan = makePlan({
          desired: asClosed(given),
          state,
          live: notSeen,
          can: abilitiesOf(capabilities()),
          options: {},
        });
        expect(plan.changes).toEqual([]);
        expect(plan.steps).toEqual([]);
        expect(plan.bookkeeping).toEqual([]);
      }),
      runs(300),
    );
  });
});
