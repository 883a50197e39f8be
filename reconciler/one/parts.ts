/**
 * A whole desired state as single resources: one for each VM, volume and group, one for each attachment, and one for
 * each rule that closes a circle of groups (in no program can two groups each need the other's id first). Each comes
 * after the resources that it refers to.
 */

import { type Address, movedBy } from "../core/model/address";
import type { Attribute, Computed, Text } from "../core/model/computed";
import type {
  Command,
  Desired,
  DesiredGroup,
  DesiredVm,
  DesiredVolume,
  FlushPolicy,
  GuestCommand,
  HealthCheck,
  Reference,
} from "../core/model/desired";
import { computedOfResource } from "../core/model/facts";
import { vmFields } from "../core/model/fields";
import { allOfKind } from "../core/model/kinds";
import { withTexts } from "../core/model/output";
import { groupAddressNamed, type Rule } from "../core/model/rule";
import { orderBreakingCycles, orderNodes } from "../core/plan/graph";
import { mustGet } from "../core/text/invariant";
import { fieldsIn, listIn, onlyDefined } from "../core/text/objects";
import { ruleAsProperties } from "../kinds/group/one-rule-properties";
import { closedOrRefused } from "../refused";
import type { Props } from "./handler";
import { asProperty } from "./one-desired";
import { propertyValues } from "./row-properties";
import type { HandlerType } from "./table";

/** Stands for the id of another part, or for another of its properties. */
export interface PartReference {
  readonly part: Address;
  readonly property?: PartProperty;
}
export type PartProperty = "name" | "privateIp" | "floatingIp" | "size";

/** Text with properties of other parts in it. */
export interface PartText {
  readonly pieces: readonly (string | PartReference)[];
}

export interface DesiredPart {
  /** The address of the resource, with `/attachment` or `/rule-N` for a part of it. */
  readonly address: string;
  readonly type: HandlerType;
  /** JSON values, with a PartReference for each id of another part. */
  readonly inputs: Props;
  readonly protect: boolean;
  /** Properties whose later changes are ignored. */
  readonly ignoreChanges: readonly string[];
  /** The part that this one vanishes with. */
  readonly deletedWith?: Address;
  /** The addresses that it had before, by the file's `moved`. */
  readonly formerly?: readonly string[];
}

export type DesiredParts = readonly DesiredPart[];

export const isPartReference = (value: unknown): value is PartReference => typeof fieldsIn(value)["part"] === "string";

export const isPartText = (value: unknown): value is PartText => Array.isArray(fieldsIn(value)["pieces"]);

const partPropertyOf: Record<Attribute, PartProperty | undefined> = {
  id: undefined,
  name: "name",
  private_ip: "privateIp",
  floating_ip: "floatingIp",
  size: "size",
};

function partReference({ address, attribute }: Computed): PartReference {
  const property = partPropertyOf[attribute];
  return { part: address, ...onlyDefined({ property }) };
}

/** The input that stands for a text with values of other resources in it. */
function inputOf(text: Text): string | PartReference | PartText {
  if (typeof text === "string") return text;
  const pieces = text.parts.map((part) => (typeof part === "string" ? part : partReference(part)));
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : { pieces };
}

export interface OutputPart {
  readonly name: string;
  /** JSON, with PartReferences and PartTexts in it. */
  readonly value: unknown;
  readonly sensitive: boolean;
}

/** The outputs of the file, in terms of its parts. */
export const outputPartsOf = (desired: Desired): readonly OutputPart[] =>
  (closedOrRefused(desired).outputs ?? []).map(({ name, value, sensitive }) => ({
    name,
    value: withTexts(value, inputOf),
    sensitive: sensitive === true,
  }));

export function partsNamedIn(value: unknown): Address[] {
  if (isPartReference(value)) return [value.part];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(partsNamedIn);
}

const byNeed = (parts: readonly DesiredPart[]) => {
  const byAddress = new Map(parts.map((part) => [part.address, part]));
  return orderNodes([...byAddress.keys()], (address) => partsNamedIn(byAddress.get(address)?.inputs));
};

/** The parts in order: a group may name the address of a VM, which then comes before the group. */
function partsInOrder(parts: readonly DesiredPart[]): DesiredParts {
  const byAddress = new Map(parts.map((part) => [part.address, part]));
  const { order, stuck } = byNeed(parts);
  return [...order, ...stuck].flatMap((address) => byAddress.get(address) ?? []);
}

/** Parts that no program can make: each needs a value of its own, or of one that needs a value of it. */
export const partsInCircles = (parts: DesiredParts): readonly Address[] => {
  const stuck = new Set(byNeed(parts).stuck);
  return parts.flatMap(({ address, inputs }) =>
    stuck.has(address) || partsNamedIn(inputs).includes(address) ? [address] : [],
  );
};

export function partsOf(given: Desired): DesiredParts {
  const desired = closedOrRefused(given);
  const { resources, moved, imports } = desired;
  const adopted = new Map(imports.map(({ to, id }) => [to, id]));
  const parts = [
    ...groupParts(allOfKind(resources, "group")),
    ...allOfKind(resources, "vm").map(vmPart),
    ...allOfKind(resources, "volume").flatMap(volumeParts),
  ].map((part) => withFormer(withAdopt(part, adopted.get(part.address)), moved));
  return resources.some((resource) => computedOfResource(resource).length > 0) ? partsInOrder(parts) : parts;
}

const withAdopt = (part: DesiredPart, id: string | undefined): DesiredPart =>
  id === undefined ? part : { ...part, inputs: { ...part.inputs, adopt: id } };

/** The address of the resource that a part is of. */
export const resourceOfPart = (address: string): Address => address.replace(/\/(?:attachment|rule-\d+)$/, "");

/** What is a part of a resource moves with it. The reader of the file has followed each move to its end. */
function withFormer(part: DesiredPart, moved: Desired["moved"]): DesiredPart {
  const address = resourceOfPart(part.address);
  const suffix = part.address.slice(address.length);
  const formerly = moved.flatMap(({ from, to }) => movedBy(address, new Map([[to, from]])) ?? []);
  return formerly.length === 0 ? part : { ...part, formerly: formerly.map((former) => `${former}${suffix}`) };
}

const referenceTo = (reference: Reference): PartReference | string =>
  "id" in reference ? reference.id : { part: reference.address };

/**
 * A group that is about to become parts; each rule with the group that it names, if that is one of the same desired
 * state.
 */
interface GroupToMake {
  readonly address: Address;
  readonly rules: readonly { readonly target: Address | undefined; readonly inputs: Props }[];
  /** `separate`: how many of the group's rules become parts of their own. */
  part(inline: readonly Props[], separate: number): DesiredPart;
}

const groupParts = (groups: readonly DesiredGroup[]): DesiredPart[] =>
  groupsInOrder(
    groups.map((group) => ({
      address: group.address,
      rules: group.rules.map((rule) => ({ target: groupAddressNamed(rule), inputs: ruleInputs(rule, group.address) })),
      part(inline, separate) {
        const mode = group.rulesMode === "additive" ? "additive" : separate > 0 ? "shared" : undefined;
        return {
          address: group.address,
          type: "SecurityGroup",
          inputs: {
            name: group.name,
            ...onlyDefined({ description: group.description === undefined ? undefined : inputOf(group.description) }),
            rules: inline,
            ...onlyDefined({
              rulesMode: mode,
              onRuleRemoval: group.lifecycle.onRuleRemoval === "keep" ? "keep" : undefined,
            }),
          },
          protect: group.lifecycle.preventDestroy,
          ignoreChanges: group.lifecycle.ignoreChanges.map(asProperty),
        };
      },
    })),
  );

/**
 * The parts of a set of groups as a program writes them, by address: `remoteGroup` may be the address of another one of
 * the set.
 */
export const groupSetParts = (groups: Readonly<Record<Address, Props>>): DesiredParts =>
  groupsInOrder(
    Object.entries(groups).map(([address, { rules, ...inputs }]) => ({
      address,
      rules: listIn(rules)
        .map(fieldsIn)
        .map((rule) => {
          const named = rule["remoteGroup"];
          const target = typeof named === "string" && Object.hasOwn(groups, named) ? named : undefined;
          const remoteGroup = target === address ? "self" : { part: target };
          return { target, inputs: target === undefined ? rule : { ...rule, remoteGroup } };
        }),
      part: (inline, separate) => ({
        address,
        type: "SecurityGroup",
        inputs: { ...inputs, rules: inline, ...onlyDefined({ rulesMode: separate > 0 ? "shared" : undefined }) },
        protect: false,
        ignoreChanges: [],
      }),
    })),
  );

function groupsInOrder(groups: readonly GroupToMake[]): DesiredPart[] {
  const byAddress = new Map(groups.map((group) => [group.address, group]));
  const targets = new Map(
    groups.map(({ address, rules }) => [
      address,
      rules.flatMap(({ target }) =>
        target === undefined || target === address || !byAddress.has(target) ? [] : [target],
      ),
    ]),
  );
  const { order, open } = orderBreakingCycles(circlesFirst(targets), (address) => mustGet(targets, address));
  const parts: DesiredPart[] = [];
  const closing: DesiredPart[] = [];
  for (const address of order) {
    const group = mustGet(byAddress, address);
    const late = new Set(open.get(address) ?? []);
    const inline: Props[] = [];
    let separate = 0;
    for (const { target, inputs } of group.rules) {
      if (target === undefined || !late.has(target)) inline.push(inputs);
      else
        closing.push({
          address: `${address}/rule-${separate++}`,
          type: "SecurityGroupRule",
          inputs: { securityGroupId: { part: address }, ...inputs },
          protect: false,
          ignoreChanges: [],
          deletedWith: address,
        });
    }
    parts.push(group.part(inline, separate));
  }
  return [...parts, ...closing];
}

/**
 * The groups of circles first: only there a rule must become a part of its own. A group that merely refers to a circle
 * comes after it.
 */
function circlesFirst(targets: ReadonlyMap<Address, readonly Address[]>): Address[] {
  const sources = new Map<Address, Address[]>([...targets.keys()].map((address) => [address, []]));
  for (const [address, list] of targets) for (const target of list) mustGet(sources, target).push(address);
  const addresses = [...targets.keys()];
  const below = new Set(orderNodes(addresses, (address) => mustGet(targets, address)).stuck);
  const above = new Set(orderNodes(addresses, (address) => mustGet(sources, address)).stuck);
  const isCircular = (address: Address): boolean => below.has(address) && above.has(address);
  return [...addresses.filter(isCircular), ...addresses.filter((address) => !isCircular(address))];
}

function ruleInputs(rule: Rule, own: Address): Props {
  const target = groupAddressNamed(rule);
  const written: Props = {
    ...ruleAsProperties(rule),
    ...onlyDefined({ description: rule.description === undefined ? undefined : inputOf(rule.description) }),
    ...(rule.remote.kind === "computed" ? remoteOf(rule.remote) : {}),
  };
  if (target === undefined) return written;
  return { ...written, remoteGroup: target === own ? "self" : { part: target } };
}

/** The family of the addresses follows from the address, unless the file says which it is. */
const remoteOf = ({ text, family }: Extract<Rule["remote"], { kind: "computed" }>): Props => ({
  remoteIp: inputOf(text),
  ethertype: family,
});

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
      ...onlyDefined({
        flush: vm.flush === undefined ? undefined : flushInputs(vm.flush),
        afterReady: owedInputs(vm.afterReady),
        afterAttach: owedInputs(vm.afterAttach),
      }),
      ...onlyDefined({
        onImageChange: lifecycle.onImageChange === "rebuild" ? undefined : lifecycle.onImageChange,
        snapshotBefore: lifecycle.snapshotBefore.length === 0 ? undefined : [...lifecycle.snapshotBefore],
        deleteFloatingIp: lifecycle.deleteFloatingIp,
        preservedVolumes: lifecycle.preservedVolumes === "retain" ? undefined : lifecycle.preservedVolumes,
        verifyResize: usual
          ? undefined
          : {
              confirm: verifyResize.confirm,
              ...onlyDefined({ check: verifyResize.check === undefined ? undefined : checkInputs(verifyResize.check) }),
              timeout: `${verifyResize.timeoutMs}ms`,
              onFailure: verifyResize.onFailure,
            },
      }),
    },
    protect: lifecycle.preventDestroy,
    ignoreChanges: lifecycle.ignoreChanges.map(asProperty),
  };
}

const commandInputs = ({ argv, env }: Command): Props => ({
  command: argv.map(inputOf),
  ...onlyDefined({ env: env === undefined ? undefined : [...env] }),
});

const owedInputs = (command: GuestCommand | undefined): Props | undefined =>
  command === undefined
    ? undefined
    : { ...commandInputs(command), timeout: `${command.timeoutMs}ms`, ...onlyDefined({ again: command.again }) };

const flushInputs = (flush: FlushPolicy): Props => ({
  via: flush.via,
  ...(flush.via === "command" ? commandInputs(flush) : {}),
});

const checkInputs = (check: HealthCheck): Props =>
  check.kind === "tcp"
    ? { tcp: check.port }
    : check.kind === "http"
      ? { http: inputOf(check.url) }
      : commandInputs(check);

function volumeParts(volume: DesiredVolume): DesiredPart[] {
  const flush = volume.flush.via === "ask" ? {} : { flush: flushInputs(volume.flush) };
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
      inputs: {
        vmId: referenceTo(volume.attachTo),
        volumeId: { part: volume.address },
        ...flush,
        ...onlyDefined({ afterAttach: owedInputs(volume.afterAttach) }),
      },
      protect: false,
      ignoreChanges: ignored.includes("attach_to") ? ["vmId"] : [],
    },
  ];
}
