/**
 * A whole desired state as single resources: one each VM, volume and group, one each attachment, and one each rule that
 * closes a circle of groups (no program can write two groups that need each other's id first). In an order in which
 * each comes after what it refers to.
 */

import type { Address } from "../core/model/address";
import type { Desired, DesiredGroup, DesiredVm, DesiredVolume, HealthCheck, Reference } from "../core/model/desired";
import { vmFields } from "../core/model/fields";
import type { Rule } from "../core/model/rule";
import { orderBreakingCycles, orderNodes } from "../core/plan/graph";
import { mustGet } from "../core/text/invariant";
import type { Props } from "./handler";
import { asProperty } from "./one-desired";
import { propertyValues } from "./row-properties";
import { ruleAsProperties } from "./rule-properties";
import type { HandlerType } from "./table";

/** Stands for the id of another part. */
export interface PartReference {
  readonly part: Address;
}

export interface DesiredPart {
  /** The address of the resource, with `/attachment` or `/rule-N` for a part of it. */
  readonly address: string;
  readonly type: HandlerType;
  /** JSON values, with PartReferences wherever the id of another part belongs. */
  readonly inputs: Props;
  readonly protect: boolean;
  /** Properties that are only looked at when it is made. */
  readonly ignoreChanges: readonly string[];
  /** A part that vanishes with another one. */
  readonly deletedWith?: Address;
}

export type DesiredParts = readonly DesiredPart[];

export const isPartReference = (value: unknown): value is PartReference =>
  typeof value === "object" && value !== null && typeof (value as { part?: unknown }).part === "string";

export function partsOf(desired: Desired): DesiredParts {
  const groups: DesiredGroup[] = [];
  const vms: DesiredVm[] = [];
  const volumes: DesiredVolume[] = [];
  for (const resource of desired.resources) {
    if (resource.kind === "group") groups.push(resource);
    else if (resource.kind === "vm") vms.push(resource);
    else volumes.push(resource);
  }
  return [...groupParts(groups), ...vms.map(vmPart), ...volumes.flatMap(volumeParts)];
}

const referenceTo = (reference: Reference): PartReference | string =>
  "id" in reference ? reference.id : { part: reference.address };

function groupParts(groups: readonly DesiredGroup[]): DesiredPart[] {
  const byAddress = new Map(groups.map((group) => [group.address, group]));
  const targets = new Map(
    groups.map((group) => [
      group.address,
      group.rules.flatMap((rule) => {
        const target = targetOf(rule);
        return target === undefined || target === group.address || !byAddress.has(target) ? [] : [target];
      }),
    ]),
  );
  const { order, open } = orderBreakingCycles(circlesFirst(targets), (address) => mustGet(targets, address));
  const parts: DesiredPart[] = [];
  const closing: DesiredPart[] = [];
  for (const address of order) {
    const group = mustGet(byAddress, address);
    const late = new Set(open.get(address) ?? []);
    const inline: unknown[] = [];
    let separate = 0;
    for (const rule of group.rules) {
      const target = targetOf(rule);
      if (target === undefined || !late.has(target)) inline.push(ruleInputs(rule, address));
      else
        closing.push({
          address: `${address}/rule-${separate++}`,
          type: "SecurityGroupRule",
          inputs: { securityGroupId: { part: address }, ...ruleInputs(rule, address) },
          protect: false,
          ignoreChanges: [],
          deletedWith: address,
        });
    }
    const mode = group.rulesMode === "additive" ? "additive" : separate > 0 ? "shared" : undefined;
    parts.push({
      address,
      type: "SecurityGroup",
      inputs: {
        name: group.name,
        ...(group.description === undefined ? {} : { description: group.description }),
        rules: inline,
        ...(mode === undefined ? {} : { rulesMode: mode }),
        ...(group.lifecycle.onRuleRemoval === "keep" ? { onRuleRemoval: "keep" } : {}),
      },
      protect: group.lifecycle.preventDestroy,
      ignoreChanges: group.lifecycle.ignoreChanges.map(asProperty),
    });
  }
  return [...parts, ...closing];
}

/** Only where there is a circle has an edge to stay open: what merely hangs on one comes after it. */
function circlesFirst(targets: ReadonlyMap<Address, readonly Address[]>): Address[] {
  const sources = new Map<Address, Address[]>([...targets.keys()].map((address) => [address, []]));
  for (const [address, list] of targets) for (const target of list) mustGet(sources, target).push(address);
  const addresses = [...targets.keys()];
  const below = new Set(orderNodes(addresses, (address) => mustGet(targets, address)).stuck);
  const above = new Set(orderNodes(addresses, (address) => mustGet(sources, address)).stuck);
  const isCircular = (address: Address): boolean => below.has(address) && above.has(address);
  return [...addresses.filter(isCircular), ...addresses.filter((address) => !isCircular(address))];
}

const targetOf = (rule: Rule): Address | undefined =>
  rule.remote.kind === "group" && "address" in rule.remote.group ? rule.remote.group.address : undefined;

function ruleInputs(rule: Rule, own: Address): Props {
  const target = targetOf(rule);
  const written = ruleAsProperties(rule);
  if (target === undefined) return written;
  return { ...written, remoteGroup: target === own ? "self" : { part: target } };
}

function vmPart(vm: DesiredVm): DesiredPart {
  const { lifecycle } = vm;
  const { verifyResize } = lifecycle;
  const usual =
    verifyResize.confirm === "auto" && verifyResize.onFailure === "revert" && verifyResize.check === undefined;
  return {
    address: vm.address,
    type: "Vm",
    inputs: {
      ...propertyValues(vmFields, vm),
      ...(lifecycle.onImageChange === "rebuild" ? {} : { onImageChange: lifecycle.onImageChange }),
      ...(lifecycle.snapshotBefore.length === 0 ? {} : { snapshotBefore: [...lifecycle.snapshotBefore] }),
      ...(lifecycle.deleteFloatingIp === undefined ? {} : { deleteFloatingIp: lifecycle.deleteFloatingIp }),
      ...(lifecycle.preservedVolumes === "retain" ? {} : { preservedVolumes: lifecycle.preservedVolumes }),
      ...(usual
        ? {}
        : {
            verifyResize: {
              confirm: verifyResize.confirm,
              ...(verifyResize.check === undefined ? {} : { check: checkInputs(verifyResize.check) }),
              timeout: `${verifyResize.timeoutMs}ms`,
              onFailure: verifyResize.onFailure,
            },
          }),
    },
    protect: lifecycle.preventDestroy,
    ignoreChanges: lifecycle.ignoreChanges.map(asProperty),
  };
}

const checkInputs = (check: HealthCheck): Props =>
  check.kind === "tcp"
    ? { tcp: check.port }
    : check.kind === "http"
      ? { http: check.url }
      : { command: [...check.argv] };

function volumeParts(volume: DesiredVolume): DesiredPart[] {
  const flush =
    volume.flush.via === "ask"
      ? {}
      : {
          flush: {
            via: volume.flush.via,
            ...(volume.flush.via === "command" ? { command: [...volume.flush.argv] } : {}),
          },
        };
  const ignored = volume.lifecycle.ignoreChanges;
  const own: DesiredPart = {
    address: volume.address,
    type: "Volume",
    inputs: { name: volume.name, size: volume.sizeGb, ...flush },
    protect: volume.lifecycle.preventDestroy,
    ignoreChanges: ignored.filter((field) => field !== "attach_to").map(asProperty),
  };
  if (volume.attachTo === undefined) return [own];
  return [
    own,
    {
      address: `${volume.address}/attachment`,
      type: "VolumeAttachment",
      inputs: { vmId: referenceTo(volume.attachTo), volumeId: { part: volume.address }, ...flush },
      protect: false,
      ignoreChanges: ignored.includes("attach_to") ? ["vmId"] : [],
    },
  ];
}
