/** Names in the service, and that no two resources of a kind have the same one. */

import { canonicalName, nameProblem } from "../../core/canonical/names";
import type { Kind } from "../../core/model/address";
import { hasPlainNames } from "../../core/model/fields";
import { definitionOf, kindRows } from "../../core/model/kinds";
import { canonicalText } from "../../core/text/canonical-text";
import { type Instance, placeInBlock } from "../blocks";
import { isGiven, readText, reportAt, type Subject } from "../fields";
import { lineOf } from "../sources";
import type { Place } from "../yaml/file";

/** Volumes have no rule for their names in the service's contract, so theirs are kept but for what services change. */
export const longestVolumeName = 255;

export function readName(subject: Subject, instance: Instance): string {
  const { block, each, values } = instance;
  const written = readText(subject, values, "name");
  const derived = each === undefined ? block.key : `${block.key}-${each}`;
  if (written === undefined && isGiven(values, "name")) return derived;
  const name = written ?? derived;
  if (!hasPlainNames[block.kind]) {
    if (name.length > longestVolumeName)
      reportName(
        subject,
        name,
        `is ${name.length} characters long; at most ${longestVolumeName} are allowed`,
        instance,
        written,
      );
    warnOfForeignVariable(subject, name, written);
    return canonicalText(name);
  }
  const problem = nameProblem(name);
  if (problem !== undefined) reportName(subject, name, problem, instance, written);
  const canonical = canonicalName(name);
  if (definitionOf(block.kind).reservedNames?.includes(canonical) === true)
    reportAt(subject, written === undefined ? [] : ["name"], {
      code: "config/reserved-name",
      summary: `the ${kindRows[block.kind].noun} ${canonical} is managed by the platform and cannot be declared`,
      fix: "choose another name; a rule can still refer to it with { id: … }",
    });
  return canonical;
}

/** A volume's name may hold any character, so what another program would have replaced goes to the service as it is. */
function warnOfForeignVariable(subject: Subject, name: string, written: string | undefined): void {
  const [foreign] = /\$[A-Za-z_][A-Za-z0-9_]*|\$\([^)]*\)|\{\{.*?\}\}|<%.*?%>/.exec(name) ?? [];
  if (foreign === undefined || written === undefined) return;
  reportAt(subject, ["name"], {
    code: "config/invalid-name",
    severity: "warning",
    summary: `the name ${name} would be sent as it is written: ${foreign} is replaced by nothing`,
    fix: "write ${var.NAME}, ${env} or ${each} for a value that varies",
  });
}

function reportName(
  subject: Subject,
  name: string,
  problem: string,
  { each }: Instance,
  written: string | undefined,
): void {
  const lead = written === undefined ? "give it a name: name: " : "write ";
  reportAt(subject, written === undefined ? [] : ["name"], {
    code: "config/invalid-name",
    summary: `the name ${name} ${problem}`,
    detail: "expected one word of a-z, 0-9 and hyphens, 3 to 50 long",
    fix:
      each === undefined || !name.includes(each)
        ? `${lead}${suggestName(name)}`
        : fixOfEach(each, name, lead, written !== undefined),
  });
}

/** Of a name that differs by the key of the for_each: written without it, all instances would have it. */
function fixOfEach(each: string, name: string, lead: string, isWritten: boolean): string {
  const odd = /[^A-Za-z0-9-]/.test(each);
  if (odd)
    return `the key is a part of the name: write one of a-z, 0-9 and hyphens in place of ${each} in the for_each`;
  const suggested = suggestName(name);
  const key = canonicalName(each);
  const at = suggested.lastIndexOf(key);
  // Of several places that look like the key nobody knows which one it is; a name that nobody wrote ends with it.
  return at === -1 || (isWritten && suggested.indexOf(key) !== at)
    ? "write such a name, with ${each} in it"
    : `${lead}"${suggested.slice(0, at)}\${each}${suggested.slice(at + each.length)}"`;
}

function suggestName(name: string): string {
  const [mustache, inside] = /\{\{\s*([\w.[\]]+)\s*\}\}/.exec(name) ?? [];
  if (mustache !== undefined) return name.replace(mustache, `\${${inside}}`);
  const fitting = canonicalName(name)
    .replace(/[^a-z0-9-]+/g, "-")
    .slice(0, 50)
    .replace(/^-+|-+$/g, "");
  return fitting.length >= 3 ? fitting : `${fitting === "" ? "my" : fitting}-${fitting.length < 1 ? "name" : "1"}`;
}

/** Reports a second resource of the kind with the same name; `taken` keeps those that were there. */
export function claimName(
  subject: Subject,
  kind: Kind,
  name: string,
  instance: Instance,
  taken: Map<string, Instance>,
): void {
  const first = taken.get(name);
  if (first === undefined) {
    taken.set(name, instance);
    return;
  }
  const nameOf = (one: Instance) => placeInBlock(one.block, isGiven(one.values, "name") ? ["name"] : []);
  const within = first.block === instance.block;
  const isComponentTwice = first.block !== instance.block && first.block.entry === instance.block.entry;
  subject.problems.add({
    code: "config/duplicate-name",
    summary: within ? `several instances of one ${kind} have the name ${name}` : `two ${kind}s have the name ${name}`,
    detail: `${first.address} in ${placesOfName(first, nameOf(first))} and ${instance.address} in ${placesOfName(instance, nameOf(instance))}`,
    fix: isComponentTwice
      ? `put \${component} into the name: name: "\${component}-${instance.block.key}${instance.each === undefined ? "" : "-${each}"}"`
      : within
        ? first.each?.toLowerCase() === instance.each?.toLowerCase()
          ? `names have no capital letters: give ${first.each} and ${instance.each} keys that differ without them`
          : "put ${each} into the name"
        : "give one of them another name",
    address: instance.address,
    at: nameOf(instance),
  });
}

/** The place of the name; for a resource in a component, the place where the component is used. */
const placesOfName = ({ block: { use } }: Instance, name: Place): string =>
  use === undefined ? lineOf(name) : `${lineOf(name)} (used in ${lineOf(use)})`;
