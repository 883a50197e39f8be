/** Random desired states, small enough to be read when one fails and wild enough to meet each other in every way. */
import fc from "fast-check";
import { sortRules } from "../../reconciler/core/canonical/rules";
import { compareAddresses, type Kind } from "../../reconciler/core/model/address";
import type {
  Desired,
  DesiredGroup,
  DesiredResource,
  DesiredVm,
  DesiredVolume,
} from "../../reconciler/core/model/desired";
import type { DesiredOutput } from "../../reconciler/core/model/output";
import type { Rule } from "../../reconciler/core/model/rule";
import type { Capabilities } from "../support/virtual-world";

/**
 * Of this many random worlds. A usual run takes the same ones each time, so that what lands says something about the
 * change and not about luck; PROPERTY_RUNS tries other ones, as many as it says, and fast-check prints the seed of one
 * that fails for PROPERTY_SEED.
 */
export function runs(usual: number): { numRuns: number; seed?: number } {
  const { PROPERTY_RUNS: many, PROPERTY_SEED: seed = many === undefined ? "20261121" : undefined } = process.env;
  return { numRuns: Number(many ?? usual), ...(seed === undefined ? {} : { seed: Number(seed) }) };
}

/** Ids, because a service without a list of images takes nothing else. */
const ubuntu = "00000000-0000-4000-8003-000000000001";
const debian = "00000000-0000-4000-8003-000000000003";
const source = { file: "random.yaml", line: 1 };
const keys = ["a", "b", "c"] as const;
/** One of each kind in no component, one in a component, one in a component within an instance of one. */
const within: Readonly<Record<string, string>> = { a: "", b: "shop/", c: "eu[x]/inner/" };
const addressOf = (kind: Kind, key: string): string => `${within[key]}${kind}.${key}`;
const uniqueNames = (prefix: string) =>
  fc.shuffledSubarray([`${prefix}-one`, `${prefix}-two`, `${prefix}-three`, `${prefix}-four`], {
    minLength: 3,
    maxLength: 3,
  });

const vmOf = (key: string, name: string): fc.Arbitrary<DesiredVm> =>
  fc
    .record({
      flavor: fc.constantFrom("m1.small", "m1.large"),
      image: fc.constantFrom(ubuntu, debian),
      owner: fc.constantFrom("ops@acme.example", "ops", "owner@acme.example"),
      rootSizeGb: fc.constantFrom(50, 50, 50, 80),
      sizeGb: fc.constantFrom(10, 10, 20),
      power: fc.constantFrom("running" as const, "stopped" as const, undefined, undefined),
      onImageChange: fc.constantFrom("rebuild" as const, "rebuild" as const, "replace" as const, "ignore" as const),
      snapshotBefore: fc.subarray(["rebuild", "resize", "delete"] as const),
      preservedVolumes: fc.constantFrom("retain" as const, "delete" as const),
      checked: fc.boolean(),
    })
    .map(({ power, onImageChange, snapshotBefore, preservedVolumes, checked, ...vm }) => ({
      kind: "vm",
      address: addressOf("vm", key),
      name,
      userId: "1042",
      project: "acme",
      region: "in-west-1",
      skipFloatingIp: false,
      source,
      ...vm,
      ...(power === undefined ? {} : { power }),
      lifecycle: {
        preventDestroy: false,
        ignoreChanges: [],
        onImageChange,
        snapshotBefore,
        preservedVolumes,
        verifyResize: {
          confirm: "auto",
          timeoutMs: 1000,
          onFailure: "revert",
          ...(checked ? { check: { kind: "tcp", port: 22 } } : {}),
        },
      },
    }));

const volumeOf = (key: string, vms: readonly string[]): fc.Arbitrary<DesiredVolume> =>
  fc
    .record({
      name: fc.constantFrom(`vol-${key}`, `vol-${key}`, `vol-${key}-new`),
      sizeGb: fc.constantFrom(5, 5, 6),
      on: fc.option(fc.constantFrom(...(vms.length === 0 ? ["none"] : vms)), { nil: undefined, freq: 3 }),
      flush: fc.constantFrom(
        { via: "ask" as const },
        { via: "stop" as const },
        { via: "command" as const, argv: ["sync"] },
      ),
    })
    .map(({ on, ...volume }) => ({
      kind: "volume",
      address: addressOf("volume", key),
      source,
      ...volume,
      ...(on === undefined || vms.length === 0 ? {} : { attachTo: { address: addressOf("vm", on) } }),
      lifecycle: { preventDestroy: false, ignoreChanges: [] },
    }));

const addresses = ["private_ip", "floating_ip"] as const;

const randomRule = (groups: readonly string[], vms: readonly string[]): fc.Arbitrary<Rule> =>
  fc
    .record({
      direction: fc.constantFrom("ingress" as const, "ingress" as const, "egress" as const),
      ethertype: fc.constantFrom("IPv4" as const, "IPv4" as const, "IPv6" as const),
      protocol: fc.constantFrom("tcp", "tcp", "udp", "icmp", "any"),
      port: fc.constantFrom(22, 80, 443),
      remote: fc.oneof(
        fc.constant({ kind: "any" as const }),
        fc.constantFrom("10.0.0.0/24", "10.1.0.0/16").map((cidr) => ({ kind: "cidr" as const, cidr })),
        ...(groups.length === 0
          ? []
          : [
              fc
                .constantFrom(...groups)
                .map((key) => ({ kind: "group" as const, group: { address: addressOf("group", key) } })),
            ]),
        ...(vms.length === 0
          ? []
          : [
              fc
                .record({ key: fc.constantFrom(...vms), attribute: fc.constantFrom(...addresses) })
                .map(({ key, attribute }) => ({
                  kind: "computed" as const,
                  text: { parts: [{ address: addressOf("vm", key), attribute }] },
                })),
            ]),
      ),
    })
    .map(
      ({ port, ...rule }): Rule => ({
        ...rule,
        ethertype: rule.remote.kind === "cidr" || rule.remote.kind === "computed" ? "IPv4" : rule.ethertype,
        ...(rule.protocol === "tcp" || rule.protocol === "udp" ? { ports: { min: port, max: port } } : {}),
      }),
    );

const groupOf = (
  key: string,
  name: string,
  groups: readonly string[],
  vms: readonly string[],
): fc.Arbitrary<DesiredGroup> =>
  fc
    .record({
      description: fc.constantFrom(undefined, "one", "two"),
      rules: fc.array(randomRule(groups, vms), { maxLength: 4 }),
      rulesMode: fc.constantFrom(
        "authoritative" as const,
        "authoritative" as const,
        "authoritative" as const,
        "additive" as const,
      ),
      onRuleRemoval: fc.constantFrom("replace" as const, "replace" as const, "keep" as const),
    })
    .map(({ description, rules, rulesMode, onRuleRemoval }) => ({
      kind: "group",
      address: addressOf("group", key),
      name,
      ...(description === undefined ? {} : { description }),
      rulesMode,
      rules: sortRules(rules),
      lifecycle: { preventDestroy: false, ignoreChanges: [], onRuleRemoval },
      source,
    }));

export const desiredOf = (resources: readonly DesiredResource[]): Desired => ({
  service: { timing: {} },
  resources: [...resources].sort((a, b) => compareAddresses(a.address, b.address)),
  imports: [],
  moved: [],
  removed: [],
  files: ["random.yaml"],
});

export const randomDesired: fc.Arbitrary<Desired> = fc
  .record({
    vms: fc.subarray([...keys]),
    volumes: fc.subarray([...keys]),
    groups: fc.subarray([...keys]),
    vmNames: uniqueNames("vm"),
    groupNames: uniqueNames("group"),
  })
  .chain(({ vms, volumes, groups, vmNames, groupNames }) =>
    fc.tuple(
      ...vms.map((key, index) => vmOf(key, vmNames[index]!)),
      ...volumes.map((key) => volumeOf(key, vms)),
      ...groups.map((key, index) => groupOf(key, groupNames[index]!, groups, vms)),
    ),
  )
  .map((resources) => {
    const all = resources as DesiredResource[];
    return { ...desiredOf(all), environment: "prod", outputs: all.flatMap(outputsOf) };
  });

/** Of each VM its addresses, as a list: known only once it is there. */
function outputsOf({ kind, address }: DesiredResource): DesiredOutput[] {
  if (kind !== "vm") return [];
  const items = addresses.map((attribute) => ({ is: "text" as const, text: { parts: [{ address, attribute }] } }));
  return [{ name: `addresses of ${address}`, value: { is: "list", items }, source }];
}

/** Everything that a plan can do without, in any mixture. */
export const randomCapabilities: fc.Arbitrary<Capabilities> = fc.record({
  with: fc.subarray(["volume.list", "group.list", "group.get", "group.rule.delete", "vm.get"]),
  without: fc.subarray(["volume.delete", "image.list", "flavor.list", "region.list"], { maxLength: 1 }),
});
