/**
 * One resource's properties as a desired state with nothing else in it, read by the reader of files: the same values
 * are valid as in a file, and messages have the same words, with the path of the property in the place of a line.
 */
import { readDesired } from "../config/read/desired";
import { sourceOfValues } from "../config/values";
import type { Path } from "../config/yaml/file";
import type { Address } from "../core/model/address";
import type { Closed } from "../core/model/desired";
import { type Kind, sectionOf } from "../core/model/kinds";
import { nearestText } from "../core/text/nearest";
import { onlyDefined } from "../core/text/objects";
import {
  type Checked,
  type CheckFailure,
  HandlerFailure,
  holdsUnknown,
  isUnknown,
  type Property,
  type Props,
  sentence,
} from "./handler";
import { asProperty } from "./words";

/** One property as a field of the file. */
export interface Line {
  readonly property: string;
  readonly field: string;
  readonly value: unknown;
  /** The field belongs to the lifecycle of the resource, or to its one rule. */
  readonly section?: "lifecycle" | "rule";
}

export interface Written {
  readonly kind: Kind;
  readonly lines: readonly Line[];
}

/** An address that people recognise in messages; it is used within one call only. */
export const addressOf = (kind: Kind, name: unknown): Address =>
  `${kind}.${typeof name === "string" && name !== "" ? name.replace(/[^A-Za-z0-9_-]/g, "-") : "this"}`;

export interface ReadOne {
  readonly desired?: Closed;
  readonly address: Address;
  readonly failures: readonly CheckFailure[];
  readonly warnings: readonly string[];
}

/** A check is followed at once by the comparison of the same inputs, and by their create or update. */
const lastRead = new Map<string, ReadOne>();
const mostRead = 100;

function readOne(written: Written): ReadOne {
  const key = JSON.stringify(written);
  const known = lastRead.get(key);
  if (known !== undefined) return known;
  const read = readAnew(written);
  const [oldest] = lastRead.keys();
  if (oldest !== undefined && lastRead.size >= mostRead) lastRead.delete(oldest);
  lastRead.set(key, read);
  return read;
}

function readAnew({ kind, lines }: Written): ReadOne {
  const name = lines.find(({ field }) => field === "name")?.value;
  const address = addressOf(kind, name);
  const given = lines.filter(({ value }) => value !== undefined && value !== null);
  const fieldsOf = (section: Line["section"]): Record<string, unknown> =>
    Object.fromEntries(given.filter((line) => line.section === section).map(({ field, value }) => [field, value]));
  const resource = {
    ...fieldsOf(undefined),
    ...onlyDefined({ rules: given.some(({ section }) => section === "rule") ? [fieldsOf("rule")] : undefined }),
    lifecycle: fieldsOf("lifecycle"),
  };
  const source = sourceOfValues("properties", {
    version: 1,
    [sectionOf[kind]]: { [address.slice(kind.length + 1)]: resource },
  });
  const { desired, diagnostics } = readDesired([source]);
  const failures: CheckFailure[] = [];
  const warnings: string[] = [];
  for (const diagnostic of diagnostics) {
    const line = diagnostic.source?.line;
    if (diagnostic.severity !== "error") warnings.push(sentence(diagnostic));
    else
      failures.push({
        property: line === undefined ? "" : propertyAt(source.pathAt(line), given),
        reason: sentence(diagnostic),
      });
  }
  return { address, failures, warnings, desired };
}

/**
 * `vms.web.lifecycle.verify_resize.check` is `verifyResize.check`, and `groups.web.rules.1.dst_port` is
 * `rules[1].dstPort`.
 */
function propertyAt(path: Path, lines: readonly Line[]): string {
  const isRule = lines.some(({ section }) => section === "rule");
  const steps = path.slice(2);
  if (steps[0] === "lifecycle") steps.shift();
  else if (isRule && steps[0] === "rules") steps.splice(0, 2);
  const [field, ...rest] = steps;
  const line = lines.find((one) => one.field === field);
  if (line === undefined || line.property === "") return "";
  // A file writes a group's id as a map, a program as a text.
  if (rest.at(-1) === "id" && rest.at(-2) === "remote_group") rest.pop();
  const deeper = rest.map((step) => (typeof step === "number" ? `[${step}]` : `.${asProperty(step)}`));
  return [line.property, ...deeper].join("");
}

/** The desired state of one resource whose inputs were checked; an error in it is reported to the user. */
export function desiredOf(written: Written): { readonly desired: Closed; readonly address: Address } {
  const { desired, address, failures } = readOne(written);
  if (desired === undefined)
    throw new HandlerFailure(
      failures.map(({ property, reason }) => ({
        severity: "error",
        code: "config/invalid-value",
        summary: property === "" ? reason : `${property}: ${reason}`,
      })),
    );
  return { desired, address };
}

/** `fooBar` is `foo_bar` in a file; so are the keys of maps and of lists of maps. */
export function asFileValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asFileValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined && item !== null)
      .map(([key, item]) => [asFileKey(key), asFileValue(item)]),
  );
}

export const asFileKey = (property: string): string =>
  property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export { asProperty };

export function checkInputs(
  properties: Readonly<Record<string, Property>>,
  raw: Props,
  write: (inputs: Props) => Written,
  exists = false,
): Checked {
  const failures: CheckFailure[] = [];
  const inputs: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    if (value === undefined || value === null) continue;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property !== undefined) inputs[name] = normalise(value, property);
    else failures.push({ property: name, reason: unknownProperty(name, Object.keys(properties)) });
  }
  for (const [name, property] of Object.entries(properties))
    if (property.required === true && inputs[name] === undefined && !(exists && property.onlyToCreate === true))
      failures.push({ property: name, reason: "is required" });
  const written = write(knownPart(inputs, properties));
  // A file has nothing of these, so that no reader of files looks at them.
  const inNoFile = Object.keys(inputs).filter((name) => !written.lines.some(({ property }) => property === name));
  for (const name of inNoFile) {
    const { type } = properties[name] ?? {};
    if (type === "string" && typeof inputs[name] === "number") inputs[name] = String(inputs[name]);
    if ((type === "string" || type === "boolean") && typeof inputs[name] !== type && !isUnknown(inputs[name]))
      failures.push({ property: name, reason: type === "string" ? "must be text" : "must be true or false" });
  }
  const { failures: found, warnings } = readOne(written);
  return { inputs, failures: [...failures, ...found], warnings };
}

const unknownProperty = (name: string, known: readonly string[]): string =>
  `is not a property of this resource${nearestText(name, known, (near) => `; did you mean ${near}?`) ?? ""}`;

/**
 * Brings sizes that were written as text and names in any case to the one form that is stored, so that spelling is
 * never a difference.
 */
function normalise(value: unknown, property: Property): unknown {
  if (isUnknown(value)) return value;
  if (property.type === "integer" && typeof value === "string" && /^\s*[0-9]+\s*$/.test(value)) return Number(value);
  if (property.type === "boolean" && (value === "true" || value === "false")) return value === "true";
  const { items, properties } = property;
  if (items !== undefined && Array.isArray(value)) return value.map((item) => normalise(item, items));
  if (properties !== undefined && typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined && item !== null);
    return Object.fromEntries(
      entries.map(([key, item]) => {
        const inner = properties[key];
        return [key, inner === undefined ? item : normalise(item, inner)];
      }),
    );
  }
  return value;
}

const standIn = ({ type }: Property): unknown => (type === "integer" ? 1 : "unknown-value");

/**
 * The inputs of an existing resource: properties that only a create needs and the program left out get a value, which
 * is not compared.
 */
export function writtenOfExisting(
  properties: Readonly<Record<string, Property>>,
  inputs: Props,
  write: (inputs: Props) => Written,
): Written {
  const absent = Object.entries(properties).filter(
    ([name, { onlyToCreate }]) => onlyToCreate === true && (inputs[name] === undefined || inputs[name] === null),
  );
  if (absent.length === 0) return write(inputs);
  const { kind, lines } = write({
    ...inputs,
    ...Object.fromEntries(absent.map(([name, property]) => [name, standIn(property)])),
  });
  const field = "ignore_changes";
  const value = absent.map(([name]) => asFileKey(name));
  return { kind, lines: [...lines, { property: "", field, value, section: "lifecycle" }] };
}

/** A list of maps of which some fields are unknown: the kind that has it makes stand-ins for them. */
export const isKnownInPart = ({ items }: Property, value: unknown): boolean =>
  items?.properties !== undefined && Array.isArray(value) && !value.some(isUnknown);

/**
 * The part that can be checked while some values are unknown: a required property gets a stand-in, an optional one is
 * left out.
 */
export function knownPart(inputs: Props, properties: Readonly<Record<string, Property>>): Props {
  const known: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const value = inputs[name];
    if ((!holdsUnknown(value) || isKnownInPart(property, value)) && value !== undefined) known[name] = value;
    else if (property.required === true) known[name] = standIn(property);
  }
  return known;
}
