/**
 * What the service shows, as blocks of a desired-state file that change nothing when they are applied. What a file cannot
 * say (a name outside the rules, a rule beyond the vocabulary) is fenced off with the field that leaves it alone, and
 * what the service does not show is named in a comment, never made up.
 */
import { canonicalName, nameProblem } from "../core/canonical/names";
import { canonicalLiveRule, describeRule, sortRules } from "../core/canonical/rules";
import type { Kind } from "../core/model/address";
import { textKey } from "../core/model/computed";
import type { Reference } from "../core/model/desired";
import { type FieldRow, fieldsOf, hasPlainNames, observedVmFields, vmFields } from "../core/model/fields";
import type { LiveGroup, LiveOf, LiveVm, LiveVolume } from "../core/model/live";
import { hostOf } from "../core/model/relations";
import { groupNamed, type Rule } from "../core/model/rule";
import { fieldsIn, onlyDefined } from "../core/text/objects";
import { isPlatformShaped } from "../kinds/group/compare-rules";
import type { Plain, YamlBlock } from "./write-yaml";

type BlockFields = Record<string, Plain>;

/** Gives out keys and names, none twice a kind. */
export interface NamesTaken {
  key(kind: Kind, wanted: string): string;
  name(kind: Kind, wanted: string): string;
}

export function createNames(): NamesTaken {
  const taken = new Set<string>();
  const claim = (scope: string, wanted: string, longest: number): string => {
    for (let count = 1; ; count++) {
      const suffix = count === 1 ? "" : `-${count}`;
      const candidate = wanted.slice(0, longest - suffix.length) + suffix;
      if (taken.has(`${scope} ${candidate}`)) continue;
      taken.add(`${scope} ${candidate}`);
      return candidate;
    }
  };
  return {
    key: (kind, wanted) => claim(`key ${kind}`, fitKey(wanted), 100),
    name: (kind, wanted) => claim(`name ${kind}`, wanted, hasPlainNames[kind] ? 50 : 255),
  };
}

const fitKey = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^-+|-+$/g, "") || "unnamed";

/** The name rule, whatever was written: lower case, other characters as hyphens, 3 to 50 long. */
export function fitName(name: string): string {
  const fitting = canonicalName(name.normalize("NFKD").replaceAll(/\p{M}/gu, ""))
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 50);
  return fitting.length >= 3 ? fitting : `${fitting === "" ? "unnamed" : fitting}-1`;
}

/** The kinds of which the key is a label as long as nobody has said or seen a name; of others it is the name. */
const keysAreLabels: Readonly<Partial<Record<Kind, true>>> = { volume: true, group: true };

interface Naming {
  readonly key: string;
  readonly fields: BlockFields;
  readonly ignored: readonly string[];
  readonly notes: readonly string[];
}

function madeUpName(kind: Kind, id: string, names: NamesTaken, given: string | undefined): Naming {
  const short = id
    .replaceAll(/[^A-Za-z0-9]/g, "")
    .slice(0, 8)
    .toLowerCase();
  const key = given ?? names.key(kind, `${kind}-${short}`);
  const name = names.name(kind, hasPlainNames[kind] ? fitName(key) : key);
  // A name that is made up is a label alone, also where it has to be written.
  const isLabel = keysAreLabels[kind] === true && name === key;
  return {
    key,
    fields: name === key ? {} : { name },
    ignored: isLabel ? [] : ["name"],
    notes: [
      isLabel
        ? "the service does not show its name; write it as name:"
        : "the service does not show its name; write it as name:, and take name out of ignore_changes",
    ],
  };
}

function nameBlock(
  kind: Kind,
  live: { readonly id: string; readonly name?: string },
  names: NamesTaken,
  given: string | undefined,
): Naming {
  const shown = live.name;
  if (shown === undefined || shown.trim() === "") return madeUpName(kind, live.id, names, given);
  const key = given ?? names.key(kind, shown);
  const fits = !hasPlainNames[kind] || nameProblem(shown) === undefined;
  const wanted = !hasPlainNames[kind] ? shown : fits ? canonicalName(shown) : fitName(shown);
  const name = names.name(kind, wanted);
  const leftAlone = !fits || name !== wanted;
  const why = fits ? "another one has as well" : "breaks the name rule";
  return {
    key,
    fields: name === key ? {} : { name },
    ignored: leftAlone ? ["name"] : [],
    notes: leftAlone ? [`its name in the service is ${shown}, which ${why}; it is left as it is`] : [],
  };
}

const lifecycleBlock = (ignored: readonly string[]): BlockFields =>
  ignored.length === 0 ? {} : { lifecycle: { ignore_changes: ignored } };

/** The disks of a VM as its record and the volumes' own records tell them apart. */
export interface VmDisks {
  readonly root?: LiveVolume;
  readonly data?: LiveVolume;
  /** False: the records do not tell which disk is which. */
  readonly told: boolean;
}

export function blockOfVm(vm: LiveVm, disks: VmDisks, names: NamesTaken, key?: string): YamlBlock {
  const naming = nameBlock("vm", vm, names, key);
  const notes = [...naming.notes];
  const fields: BlockFields = { ...naming.fields };
  const missing: string[] = [];
  const keep = (name: string, value: string | number | undefined, absent: FieldRow["absent"] = "missing"): void => {
    if (value !== undefined && value !== "") fields[name] = value;
    else if (absent === "missing") missing.push(name);
  };
  for (const key of observedVmFields) keep(vmFields[key].field, vm[key], vmFields[key].absent);
  if (disks.root?.sizeGb !== undefined && disks.root.sizeGb !== vmFields.rootSizeGb.absent.value)
    fields["root_size"] = disks.root.sizeGb;
  if (disks.told && disks.data === undefined) {
    fields["size"] = 1;
    notes.push("no data volume is attached to it; size is what a replacement would get");
  } else keep("size", disks.data?.sizeGb);
  if (vm.floatingIp === undefined && vm.privateIp !== undefined) fields["skip_floating_ip"] = true;
  if (missing.length > 0)
    notes.push(`fill in: ${missing.join(", ")} (the service does not show ${missing.length === 1 ? "it" : "them"})`);
  if (vm.phase !== "running" && vm.phase !== "stopped" && vm.status !== undefined)
    notes.push(`its state was ${vm.status}`);
  return { kind: "vm", key: naming.key, fields: { ...fields, ...lifecycleBlock(naming.ignored) }, notes, id: vm.id };
}

/** `attachTo`: a key or an id of the VM it is on. */
export function blockOfVolume(
  volume: LiveVolume,
  attachTo: Plain | undefined,
  names: NamesTaken,
  key?: string,
): YamlBlock {
  const naming = nameBlock("volume", volume, names, key);
  const notes = [...naming.notes];
  if (volume.sizeGb === undefined) notes.push("fill in: size (the service does not show it)");
  if (volume.attachedTo === undefined) notes.push("where it is attached is not shown; write it as attach_to:");
  return {
    kind: "volume",
    key: naming.key,
    fields: {
      ...naming.fields,
      ...onlyDefined({ size: volume.sizeGb, attach_to: attachTo }),
      ...lifecycleBlock(naming.ignored),
    },
    notes,
    id: volume.id,
  };
}

/** A kind that is its rows and its relations alone: the rows that show, and where it hangs. */
export function blockOfUsual(
  live: LiveOf[Kind],
  keyOrId: (id: string) => Plain,
  names: NamesTaken,
  key?: string,
): YamlBlock {
  const { kind, id } = live;
  const naming = nameBlock(kind, live, names, key);
  const host = hostOf[kind];
  const fields: BlockFields = { ...naming.fields };
  const missing: string[] = [];
  for (const [own, { field, absent, observed }] of Object.entries<FieldRow>(fieldsOf[kind])) {
    const shown = fieldsIn(live)[own === host?.field ? host.recorded : own];
    if (own === host?.field && typeof shown === "string") fields[field] = keyOrId(shown);
    else if (observed === true && isPlainValue(shown) && shown !== "" && own !== "name") fields[field] = shown;
    else if (absent === "missing") missing.push(field);
  }
  const notes = missing.length === 0 ? [] : [`fill in: ${missing.join(", ")} (the service does not show it)`];
  return {
    ...{ kind, id, key: naming.key, notes: [...naming.notes, ...notes] },
    fields: { ...fields, ...lifecycleBlock(naming.ignored) },
  };
}

const isPlainValue = (value: unknown): value is string | number | boolean =>
  ["string", "number", "boolean"].includes(typeof value);

/** The key first, so that rules of one group can name another that comes later in the file. */
export type NamedGroup = { readonly group: LiveGroup; readonly naming: Naming };

export const nameGroup = (group: LiveGroup, names: NamesTaken, key?: string): NamedGroup => ({
  group,
  naming: nameBlock("group", group, names, key),
});

/** `keyOf`: the key of a group that is in the same file. */
export function blockOfGroup({ group, naming }: NamedGroup, keyOf: (id: string) => string | undefined): YamlBlock {
  const rules: Plain[] = [];
  const foreign: Rule[] = [];
  for (const rule of sortRules((group.rules ?? []).map(canonicalLiveRule))) {
    // Rules that the service puts on every group by itself are its own, and no difference.
    if (isPlatformShaped(rule)) continue;
    if (isDeclarable(rule)) rules.push(ruleFields(rule, (reference) => groupReference(reference, keyOf)));
    else foreign.push(rule);
  }
  const notes = [...naming.notes];
  if (group.rules === undefined) notes.push("its rules are not shown; additive leaves them as they are");
  if (foreign.length > 0)
    notes.push(
      `beyond what a file can declare, and left as ${foreign.length === 1 ? "it is" : "they are"}: ${foreign.map((rule) => describeRule(rule)).join("; ")}`,
    );
  return {
    kind: "group",
    key: naming.key,
    fields: {
      ...naming.fields,
      ...onlyDefined({
        description: group.description ? group.description : undefined,
        rules_mode: foreign.length > 0 || group.rules === undefined ? "additive" : undefined,
      }),
      rules,
      ...lifecycleBlock(naming.ignored),
    },
    notes,
    id: group.id,
  };
}

const groupReference = (group: Reference, keyOf: (id: string) => string | undefined): Plain => {
  if ("address" in group) return group.address.slice("group.".length);
  return keyOf(group.id) ?? { id: group.id };
};

const declarable: ReadonlySet<string> = new Set(["tcp", "udp", "icmp", "any"]);

export const isDeclarable = (rule: Rule): boolean =>
  declarable.has(rule.protocol) &&
  (rule.ports === undefined || rule.ports.min >= 1) &&
  !(rule.remote.kind === "cidr" && !rule.remote.cidr.includes("/"));

/** One rule as the file has it, in the order people read it. */
export function ruleFields(rule: Rule, reference: (group: Reference) => Plain): BlockFields {
  const { direction, ethertype, protocol, ports, remote, description } = rule;
  const fields: BlockFields = {};
  if (direction === "egress") fields["direction"] = direction;
  // A CIDR says by itself which one it is.
  if (ethertype === "IPv6" && groupNamed(rule) !== undefined) fields["ethertype"] = ethertype;
  fields["protocol"] = protocol;
  if (ports !== undefined) fields["dst_port"] = ports.min === ports.max ? ports.min : `${ports.min}-${ports.max}`;
  switch (remote.kind) {
    case "any":
      fields["remote_ip"] = ethertype === "IPv6" ? "::/0" : "0.0.0.0/0";
      break;
    case "cidr":
      fields["remote_ip"] = remote.cidr;
      break;
    case "group":
      fields["remote_group"] = reference(remote.group);
      break;
    case "computed":
      fields["remote_ip"] = textKey(remote.text);
      break;
    default:
      remote satisfies never;
  }
  if (description !== undefined && description !== "") fields["description"] = textKey(description);
  return fields;
}
