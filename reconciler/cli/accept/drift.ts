/** `drift --accept [ADDR]`: what was found, written into the files in place. */

import type { Plain } from "../../config/yaml/write";
import { describeRule } from "../../core/canonical/rules";
import { type Address, componentOf, keyWithin, kindOf, parseAddress } from "../../core/model/address";
import type { Desired, DesiredResource } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import { addressesByIdentity, identity, lookUpIn } from "../../core/model/identity";
import { type Kind, ofKind, sectionOf } from "../../core/model/kinds";
import type { State } from "../../core/model/recorded";
import type { Reference } from "../../core/model/reference";
import type { Rule } from "../../core/model/rule";
import type { Drift } from "../../engine/drift";
import { ruleFields } from "../../kinds/group/block";
import { replaceOwnFile } from "../../outside/private-file";
import type { Output } from "../output";
import { readGiven, type Workspace } from "../workspace";
import { acceptAll, type EditAt, type Readings, type Texts } from "./edits";

/** Answers with a warning for each difference that a person has to write into the files. */
export function acceptDrift(
  drifts: readonly Drift[],
  wanted: readonly Address[],
  { given, desired, readOthers }: Workspace,
  state: State,
  output: Output,
): readonly Diagnostic[] {
  const left: Diagnostic[] = [];
  const leave = (address: Address, what: string, why: string): void => {
    left.push({
      severity: "warning",
      code: "drift/not-accepted",
      summary: `${address}: ${what} is not written into the files: ${why}`,
      address,
    });
  };
  const edits = drifts.flatMap((drift) => {
    if (wanted.length > 0 && !wanted.includes(drift.address)) return [];
    if (componentOf(drift.address) !== "") {
      const source = desired.resources.find(({ address }) => address === drift.address)?.source;
      const where = source === undefined ? "" : ` (${source.file}:${source.line})`;
      leave(
        drift.address,
        "what differs",
        `it is in a component, whose file holds for every use of the component${where}`,
      );
      return [];
    }
    if (!drift.gone) return editsForDrift(drift, desired, state, (what, why) => leave(drift.address, what, why));
    const what = drift.unproven === true ? "that it is not shown any more" : "that it is gone";
    leave(drift.address, what, "take its block out, or let the next apply make it again");
    return [];
  });
  const before = new Map(
    given.map(({ file }) => [file, readGiven(file, "name the file that is to say what the service has")]),
  );
  const read = (texts: Texts): Readings =>
    readOthers?.([...texts].map(([file, text]) => ({ file, text }))) ?? new Map();
  const { texts, problems } = acceptAll(before, edits, { environment: desired.environment, read });
  for (const [{ address, edit }, why] of problems) leave(address, edit.field, why);
  for (const [file, text] of texts) {
    if (text === before.get(file)) continue;
    replaceOwnFile(file, text);
    output.note(`Wrote ${file}.`);
  }
  return left;
}

function editsForDrift(
  drift: Drift,
  desired: Desired,
  state: State,
  leave: (what: string, why: string) => void,
): EditAt[] {
  const { address } = drift;
  const parts = parseAddress(address);
  if (parts === undefined) return [];
  const place = { section: sectionOf[kindOf(address)], key: parts.key };
  const addressOf = lookUpIn(addressesByIdentity(state.resources.values()));
  const byKey = (reference: Reference, kind: Kind): Plain => {
    const known = "address" in reference ? reference.address : addressOf(identity(kind, reference.id));
    // Only the blocks of the file itself have a key there; what is in a component has none.
    if (known !== undefined && componentOf(known) === "") return keyWithin(known);
    const id = "id" in reference ? reference.id : state.resources.get(reference.address)?.id;
    return id === undefined ? (known ?? null) : { id };
  };
  return drift.fields.flatMap(({ field, before, after, rule }): EditAt[] => {
    if (field === "rules") {
      const rules = declared(desired, address, "group")?.rules;
      const accepted = acceptedRule({ before, after, rule }, rules);
      if (accepted === "written") return [];
      if (accepted === undefined) {
        leave(`rule ${String(after ?? before)}`, "the files and the service do not show it alike");
        return [];
      }
      const fields = Object.fromEntries(Object.entries(ruleFields(accepted, (group) => byKey(group, "group"))));
      return [{ address, edit: { ...place, field, rule: { is: rule === undefined ? "removed" : "added", fields } } }];
    }
    const volume = declared(desired, address, "volume");
    if (field === "attach_to" && after === null && volume !== undefined && volume.attachTo === undefined) return [];
    const value =
      field === "attach_to" && typeof after === "string"
        ? byKey(parseAddress(after) === undefined ? { id: after } : { address: after }, "vm")
        : after;
    return [{ address, edit: { ...place, field, value: value === null ? undefined : value } }];
  });
}

/** The rule as a file says it: "written" where one need say no more of it, undefined where none can. */
function acceptedRule(
  { before, after, rule }: Pick<Drift["fields"][number], "before" | "after" | "rule">,
  rules: readonly Rule[] | undefined,
): Rule | "written" | undefined {
  const saidAs = (text: string) => rules?.find((one) => describeRule(one) === text);
  if (rule !== undefined) return saidAs(describeRule(rule)) === undefined ? rule : "written";
  if (after !== null) return undefined;
  // What was accepted before, and no run has brought into the state yet, is in the files already.
  const isPlain = rules?.every(({ remote }) => remote.kind === "any" || remote.kind === "cidr") === true;
  return saidAs(String(before)) ?? (isPlain ? "written" : undefined);
}

const declared = <K extends Kind>({ resources }: Desired, address: Address, kind: K) =>
  ofKind<K, DesiredResource>(
    resources.find((resource) => resource.address === address),
    kind,
  );
