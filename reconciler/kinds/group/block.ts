/** What the service shows of a group and its rules, as a block of a file. */
import { type BlockFields, lifecycleBlock, type NamesTaken, type Naming, nameBlock } from "../../config/live-blocks";
import type { Plain, YamlBlock } from "../../config/yaml/write";
import { canonicalLiveRule, describeRule, sortRules } from "../../core/canonical/rules";
import { textKey } from "../../core/model/computed";
import type { Reference } from "../../core/model/desired";
import type { LiveGroup } from "../../core/model/live";
import { groupNamed, portsWritten, type Rule, remoteIpOf } from "../../core/model/rule";
import { isSayable } from "../../core/text/canonical-text";
import { onlyDefined } from "../../core/text/objects";
import { isDeclarable, isPlatformShaped } from "./compare-rules";

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
  const { description = "" } = group;
  const isSaid = isSayable(description, true);
  if (!isSaid) notes.push("its description holds control characters, which no file may; it is left as it is");
  return {
    kind: "group",
    key: naming.key,
    fields: {
      ...naming.fields,
      ...onlyDefined({
        description: isSaid && description !== "" ? description : undefined,
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

/** One rule as the file has it, in the order people read it. */
export function ruleFields(rule: Rule, reference: (group: Reference) => Plain): BlockFields {
  const { direction, ethertype, protocol, ports, description } = rule;
  const [group, ip] = [groupNamed(rule), remoteIpOf(rule)];
  const fields: BlockFields = {};
  if (direction === "egress") fields["direction"] = direction;
  // A CIDR says by itself which one it is.
  if (ethertype === "IPv6" && group !== undefined) fields["ethertype"] = ethertype;
  fields["protocol"] = protocol;
  if (ports !== undefined) fields["dst_port"] = portsWritten(ports);
  if (group !== undefined) fields["remote_group"] = reference(group);
  if (ip !== undefined) fields["remote_ip"] = textKey(ip);
  // A rule with another description is the same rule, so one that no file may hold is left out.
  const said = description === undefined ? "" : textKey(description);
  if (said !== "" && isSayable(said, true)) fields["description"] = said;
  return fields;
}
