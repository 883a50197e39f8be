/**
 * One resource's properties as the desired state of a file with nothing else in it, read by the reader of files: what
 * is valid here is what is valid there, in the same words. Each property stands on a line of its own, so that the line
 * of a diagnostic names the property.
 */
import { readDesired } from "../config/read-desired";
import { type Address, type Kind, sectionOf } from "../core/model/address";
import type { Desired } from "../core/model/desired";
import { nearestName } from "../core/text/nearest";
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

/** A property as a line of the file. */
export interface Line {
  readonly property: string;
  readonly field: string;
  readonly value: unknown;
  /** Not of the resource itself but of its lifecycle, or of its one rule. */
  readonly section?: "lifecycle" | "rule";
}

export interface Written {
  readonly kind: Kind;
  readonly lines: readonly Line[];
}

/** An address that people recognise in messages; it never leaves one call. */
export const addressOf = (kind: Kind, name: unknown): Address =>
  `${kind}.${typeof name === "string" && name !== "" ? name.replace(/[^A-Za-z0-9_-]/g, "-") : "this"}`;

export interface ReadOne {
  readonly desired?: Desired;
  readonly address: Address;
  readonly failures: readonly CheckFailure[];
  readonly warnings: readonly string[];
}

function readOne({ kind, lines }: Written): ReadOne {
  const name = lines.find(({ field }) => field === "name")?.value;
  const address = addressOf(kind, name);
  const given = lines.filter(({ value }) => value !== undefined && value !== null);
  const text: string[] = [`{"version":1,"${sectionOf[kind]}":{"${address.slice(kind.length + 1)}":{`];
  const properties: string[] = [""];
  const write = (line: string, property: string): void => {
    text.push(line);
    properties.push(property);
  };
  const writeSection = (section: Line["section"]): void => {
    for (const { field, value, property, section: own } of given)
      if (own === section) write(`"${field}":${literal(value)},`, property);
  };
  writeSection(undefined);
  if (given.some(({ section }) => section === "rule")) {
    write('"rules":[{', "");
    writeSection("rule");
    write("}],", "");
  }
  write('"lifecycle":{', "");
  writeSection("lifecycle");
  write("}}}}", "");
  const { desired, diagnostics } = readDesired([{ file: "properties", text: text.join("\n") }]);
  const failures: CheckFailure[] = [];
  const warnings: string[] = [];
  for (const diagnostic of diagnostics) {
    if (diagnostic.severity !== "error") warnings.push(sentence(diagnostic));
    else
      failures.push({ property: properties[(diagnostic.source?.line ?? 1) - 1] ?? "", reason: sentence(diagnostic) });
  }
  return { address, failures, warnings, ...(desired === undefined ? {} : { desired }) };
}

/** JSON is YAML; what a file would interpolate is literal here. */
const literal = (value: unknown): string =>
  JSON.stringify(value, (_key, item) => (typeof item === "string" ? item.replaceAll("${", () => "$${") : item));

/** The desired world of one resource whose inputs were checked; a problem here is still the user's. */
export function desiredOf(written: Written): { readonly desired: Desired; readonly address: Address } {
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

/** `fooBar` is `foo_bar` in a file; maps and lists follow. */
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
export const asProperty = (field: string): string =>
  field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

export function checkInputs(
  properties: Readonly<Record<string, Property>>,
  raw: Props,
  write: (inputs: Props) => Written,
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
    if (property.required === true && inputs[name] === undefined)
      failures.push({ property: name, reason: "is required" });
  const { failures: found, warnings } = readOne(write(knownPart(inputs, properties)));
  return { inputs, failures: [...failures, ...found], warnings };
}

function unknownProperty(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return `is not a property of this resource${near === undefined ? "" : `; did you mean ${near}?`}`;
}

/** Sizes may be written as text, names in any case: stored in one form, so that neither is ever a difference. */
function normalise(value: unknown, property: Property): unknown {
  if (isUnknown(value)) return value;
  if (property.type === "integer" && typeof value === "string" && /^\s*[0-9]+\s*$/.test(value)) return Number(value);
  if (property.type === "boolean" && (value === "true" || value === "false")) return value === "true";
  if (property.items !== undefined && Array.isArray(value))
    return value.map((item) => normalise(item, property.items!));
  if (property.properties !== undefined && typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined && item !== null);
    return Object.fromEntries(
      entries.map(([key, item]) => {
        const inner = property.properties![key];
        return [key, inner === undefined ? item : normalise(item, inner)];
      }),
    );
  }
  return value;
}

/** What can be checked while something is not known yet: what is required gets a stand-in, the rest is left out. */
function knownPart(inputs: Props, properties: Readonly<Record<string, Property>>): Props {
  const known: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const value = inputs[name];
    // A list of maps stays: whoever writes it knows a stand-in for each of its fields.
    const standsIn = property.items?.properties !== undefined && Array.isArray(value) && !value.some(isUnknown);
    if ((!holdsUnknown(value) || standsIn) && value !== undefined) known[name] = value;
    else if (property.required === true) known[name] = property.type === "integer" ? 1 : "unknown-value";
  }
  return known;
}
