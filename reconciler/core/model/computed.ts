/**
 * Values that only the service knows, of things that are declared here: an id, an address. Where one stands, the file
 * has said which; it becomes text when the thing exists and shows it, and is never guessed before.
 */
import type { Address } from "./address";
import type { SourcePosition } from "./diagnostic";
import type { Kind, kindRows } from "./kinds";

export type Attribute = { readonly [K in Kind]: keyof (typeof kindRows)[K]["attributes"] }[Kind];

export interface Computed {
  readonly address: Address;
  readonly attribute: Attribute;
  /** The resource exists already, and the service does not show this value yet. */
  readonly late?: true;
}

/** Text with such values in it. Two parts of plain text never follow each other. */
export interface OpenText {
  readonly parts: readonly (string | Computed)[];
}

export type Text = string | OpenText;

/** The same with the place in the file, for messages about it. */
export interface PlacedText extends OpenText {
  readonly source?: SourcePosition;
}

export const isAddressAttribute = (attribute: Attribute): attribute is "private_ip" | "floating_ip" =>
  attribute === "private_ip" || attribute === "floating_ip";

/** `vm.web[a].private_ip`: what it is called everywhere. */
export const computedName = ({ address, attribute }: Computed): string => `${address}.${attribute}`;

export const computedIn = (text: Text | undefined): readonly Computed[] =>
  text === undefined || typeof text === "string"
    ? []
    : text.parts.filter((part): part is Computed => typeof part !== "string");

/** In every text anywhere in a value: a rule, a command, a policy. */
export function computedWithin(value: unknown): readonly Computed[] {
  if (typeof value !== "object" || value === null) return [];
  // Nothing of a desired state has parts but a text with values in it.
  if ("parts" in value) return computedIn(value as OpenText);
  return Object.values(value).flatMap(computedWithin);
}

/** Fills in every value that `value` knows. A value for which it answers with another open value stays open. */
export function fillText(text: Text, value: (computed: Computed) => string | Computed): Text {
  if (typeof text === "string") return text;
  const parts: (string | Computed)[] = [];
  for (const part of text.parts) {
    const filled = typeof part === "string" ? part : value(part);
    const last = parts.at(-1);
    if (typeof filled === "string" && typeof last === "string") parts[parts.length - 1] = last + filled;
    else parts.push(filled);
  }
  const [only] = parts;
  return parts.length === 1 && typeof only === "string" ? only : parts.length === 0 ? "" : { ...text, parts };
}

/** A key that is equal for equal texts, whatever is known of their values. */
export const textKey = (text: Text): string =>
  typeof text === "string"
    ? text
    : text.parts.map((part) => (typeof part === "string" ? part : `\${${computedName(part)}}`)).join("");

/** A command as a title shows it. A script that is written out in the file is not repeated in every line. */
export function wordsOfCommand(argv: readonly Text[]): string {
  const text = argv.map(textKey).join(" ");
  const [line = ""] = text.split("\n");
  return line.length > 100 || line !== text ? `${line.slice(0, 100)}…` : text;
}

/** For people: `vm.web[a].private_ip (known once vm.web[a] is created)`. */
export function shownText(text: Text): string {
  if (typeof text === "string") return text;
  const open = computedIn(text);
  const when = [...new Set(open.map((one) => `${one.address} ${one.late === true ? "shows it" : "is created"}`))];
  const said = text.parts.map((part) => (typeof part === "string" ? part : computedName(part))).join("");
  return open.length === 0 ? said : `${said} (known once ${when.join(" and ")})`;
}
