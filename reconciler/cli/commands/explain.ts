/** `reconcile explain [CODE]`: what an error means and what to do about it; `explain reach`: who reaches whom by which rules. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsCalled, fieldsOfSchema, type SchemaField } from "../../config/schema-fields";
import { kindOf, parseAddress } from "../../core/model/address";
import type { Party } from "../../core/model/assertion";
import type { DiagnosticCode } from "../../core/model/diagnostic-code";
import { recordedAttribute, recordedValue } from "../../core/model/facts";
import { allOfKind, runsGuest } from "../../core/model/kinds";
import type { RecordedResource } from "../../core/model/recorded";
import { nearestName, nearestText } from "../../core/text/nearest";
import { keyIn, keysOf } from "../../core/text/objects";
import { usesComputed } from "../../kinds/group/fill-in";
import { explainReach, type ReachHalf } from "../../kinds/group/reachability/explain";
import { partyFromWord, partyText, portsFromWord } from "../../kinds/group/reachability/read";
import { explanations, isExplained } from "../../report/explanations";
import { fieldsText, namedFields, schemaFieldsText } from "../../report/field-text";
import { packageFolder } from "../../version";
import { command, type Invocation, type Positionals } from "../command";
import { fail, stateIn } from "../compose";
import { openLocatedStore } from "../with-session";
import { readWorkspace } from "../workspace";

const codeOrQuestion: Positionals = { min: 0, max: 3, what: "" };

export const explainCommand = command({
  usage: "explain [CODE | ADDR | FIELD | reach FROM TO:PORT]",
  summary: "what an error means, what changing a field costs, who reaches whom",
  section: "This program",
  examples: [
    ["reconcile explain consent/flush", "what it means and what to do"],
    ["reconcile explain", "all codes"],
    ["reconcile explain vm.flavor_id", "what a change of this field costs"],
    ["reconcile explain vm.db", "the same for every field of a VM"],
    ["reconcile explain checks.at_most", "any other key of the file, with the keys below it"],
    ["reconcile explain fleet.stacks.approve", "a key of the fleet's file; also dialect.… and tests.…"],
    ["reconcile explain reach web db:5432", "which rules of the file admit it, or which one is missing"],
    [
      "reconcile explain reach 203.0.113.7 db:22",
      "the same for an address; also internet, anywhere, db:udp/53, db:icmp",
    ],
  ],
  flags: ["file", "env", "var", "var-file", "no-color", "json"],
  positionals: codeOrQuestion,
  complete: () => [
    ...Object.entries(explanations).map(([word, { means }]) => ({ word, says: means })),
    ...namedFields("").map(({ kind, field, costs }) => ({ word: `${kind}.${field}`, says: costs })),
  ],
  async run(invocation) {
    const [first, from, to] = invocation.args;
    if (first !== "reach" && from !== undefined)
      throw fail(
        "cli/usage",
        `reconcile explain ${first} takes no ${JSON.stringify(from)}`,
        "ask for one word at a time",
      );
    if (first !== "reach") explainWord(invocation);
    else if (from !== undefined && to !== undefined) await tellReach(invocation, from, to);
    else
      throw fail("cli/usage", "reconcile explain reach needs FROM and TO:PORT", "reconcile explain reach web db:5432");
    return invocation.output.finish({ exitCode: 0 });
  },
});

const reachAnswers: Record<ReachHalf["answer"], string> = {
  all: "admitted",
  part: "admitted in part",
  none: "not admitted",
  perhaps:
    "cannot be said: rules do not show which addresses the members of a group have, nor that of a VM that was never applied, and what the file takes from elsewhere (reads, lookups) is not looked up here",
  unknown:
    "up to the service: the file has no egress rule for all of it, and what the service puts on a group by itself decides",
};

async function tellReach(invocation: Invocation, from: string, to: string): Promise<void> {
  const { output } = invocation;
  const workspace = readWorkspace(invocation, { args: [] });
  const { desired } = workspace;
  const isVm = (word: string): boolean => parseAddress(word) !== undefined && runsGuest(kindOf(word));
  // A rule may follow the address of a VM, and a VM is asked about by its addresses: the state has them.
  const vms =
    [from, to].some((word) => isVm(word.replace(/:[^:]*$/, ""))) || desired.resources.some(usesComputed)
      ? (await stateIn(openLocatedStore(invocation, workspace))).resources
      : new Map<string, RecordedResource>();
  const addresses = new Set(desired.resources.map(({ address }) => address));
  // An IPv6 address has colons of its own, so its port follows `]:`.
  const at = to.startsWith("[") ? to.indexOf("]:") + 1 : to.lastIndexOf(":");
  const [name, port] = at > 0 ? [to.slice(0, at).replace(/^\[(.*)\]$/, "$1"), to.slice(at + 1)] : [to, undefined];
  const ports = port === undefined ? [] : portsFromWord(port);
  if (ports === undefined)
    throw fail("cli/usage", `${port} is no port`, "5432, 8000-8010, udp/53 or icmp, as in db:udp/53");
  const party = (word: string): Party[] => {
    const found = partyFromWord(word, addresses);
    if (found !== undefined) return [found];
    // A VM is asked about by its addresses: which groups it is in is not for rules to say.
    const vm = isVm(word) ? vms.get(word) : undefined;
    const ips = [recordedAttribute(vm, "private_ip"), recordedAttribute(vm, "floating_ip")];
    const known = ips.flatMap((ip) => (ip === undefined ? [] : (partyFromWord(ip, addresses) ?? [])));
    if (known.length > 0) return known;
    if (isVm(word) && (addresses.has(word) || vm !== undefined))
      throw fail(
        "cli/no-address",
        `the state knows no address of ${word}, and rules admit addresses and groups`,
        "reconcile apply records it, where the service shows it",
      );
    const groups = allOfKind(desired.resources, "group").map(({ address }) => address.replace(/^group\./, ""));
    throw fail(
      "cli/usage",
      `${word} is no group of the file, no address, and not internet or anywhere`,
      nearestText(word, groups, (near) => `write ${near}`) ?? "name a group, an address or a CIDR",
    );
  };
  const question = { from: party(from), to: party(name), ports: Array.isArray(ports) ? ports : [ports] };
  const halves = explainReach(desired, question, (computed) => recordedValue(computed, vms));
  if (halves.length === 0)
    throw fail("cli/usage", "neither of the two is a group, whose rules could be asked", "name a group of the file");
  const title = `${question.from.map(partyText)} -> ${question.to.map(partyText)}${port === undefined ? "" : ` ${port}`}`;
  const lines = halves.flatMap(({ direction, group, answer, rules, missing }) => [
    `  ${direction} of ${group}: ${reachAnswers[answer]}`,
    ...rules.map((rule) => `    by ${rule}`),
    ...(answer === "none" || answer === "part" ? [`    missing: a rule of ${group} that admits ${missing}`] : []),
  ]);
  output.print([title, ...lines].join("\n"));
  output.event({ type: "reach", from, to, halves });
}

function explainWord({ args, output }: Invocation): void {
  // A code may be typed as it stands in a message: error[consent/flush].
  const code = args[0]?.replace(/^\w+\[(.+)\]:?$/, "$1");
  const family = explainedCodes().filter(
    (known) => code === undefined || known.startsWith(`${code.replace(/\/$/, "")}/`),
  );
  if (code === undefined || family.length > 0) {
    for (const known of family) tellCode(known, output);
    return;
  }
  const fields = namedFields(code);
  if (fields.length > 0) {
    output.print(fieldsText(fields, output.width));
    for (const { kind, field, about, costs } of fields) output.event({ type: "field", kind, field, about, costs });
    return;
  }
  const written = isExplained(code) ? [] : fieldsWritten(code);
  if (written.length > 0) {
    output.print(schemaFieldsText(written, output.width));
    for (const { name, about, words } of written) output.event({ type: "field", field: name, about, words });
    return;
  }
  if (!isExplained(code)) {
    const near = nearestFamily(code);
    throw fail(
      "cli/unknown-code",
      `there is no code ${code}`,
      near === undefined ? "reconcile explain lists all codes" : `reconcile explain ${near}`,
    );
  }
  const found = explanations[code];
  output.print(`${code}\n\n  ${found.means}\n\n  What to do: ${found.todo}`);
  output.event({ type: "explanation", code, ...found });
}

/** The files that people write, by the word that may stand before a field of theirs: `fleet.stacks.approve`. */
const schemaFiles = { desired: "desired-state", dialect: "dialect", fleet: "fleet", tests: "tests" };

/** The fields that a word means: of the file that it names, or else of the first that has such a field. */
function fieldsWritten(asked: string): readonly SchemaField[] {
  const [first = "", ...rest] = asked.split(".");
  const named = rest.length === 0 ? undefined : keyIn(schemaFiles, first);
  for (const file of named === undefined ? keysOf(schemaFiles) : [named]) {
    const path = join(packageFolder, "schemas", `${schemaFiles[file]}.schema.json`);
    const fields = fieldsOfSchema(JSON.parse(readFileSync(path, "utf8")));
    const found = fieldsCalled(fields, named === undefined ? asked : rest.join("."));
    if (found.length > 0)
      return file === "desired" ? found : found.map((field) => ({ ...field, name: `${file}.${field.name}` }));
  }
  return [];
}

const explainedCodes = () => Object.keys(explanations).filter(isExplained).sort();

function tellCode(code: DiagnosticCode, output: Invocation["output"]): void {
  output.print(`${code.padEnd(30)} ${explanations[code].means}`);
  output.event({ type: "explanation", code, ...explanations[code] });
}

/**
 * The nearest code of the family that was named, if that family exists; else similar words of other families come
 * first.
 */
function nearestFamily(code: string): string | undefined {
  const all = explainedCodes();
  const [family = ""] = code.split("/");
  const families = [...new Set(all.map((known) => known.slice(0, known.indexOf("/"))))];
  const meant = families.includes(family) ? family : nearestName(family, families);
  const own = all.filter((known) => known.startsWith(`${meant}/`));
  const words = namedFields("").flatMap(({ kind, field }) => [field, `${kind}.${field}`]);
  return nearestName(code, own) ?? nearestName(code, [...all, ...words]) ?? meant;
}
