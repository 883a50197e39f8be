/**
 * An address names one declared resource: `vm.db`, `vm.web[a]`, `volume.db-data`, `group.web`. It is what the desired
 * state, the record, the plan and every message call the resource, whatever its name in the service.
 */
export type Kind = "vm" | "volume" | "group";
export type Address = string;

/** The order in which kinds are listed and, where nothing else decides, planned. */
export const kinds = ["group", "vm", "volume"] as const satisfies readonly Kind[];

/** The key of the YAML section that declares a kind. */
export const sectionOf: Record<Kind, string> = { vm: "vms", volume: "volumes", group: "groups" };

export interface AddressParts {
  readonly kind: Kind;
  readonly key: string;
  /** The for_each key, where there is one. */
  readonly each?: string;
}

const addressPattern = /^(vm|volume|group)\.([A-Za-z0-9_-]+)(?:\[([^[\]]+)\])?$/;
/** Addresses are shown, typed and grepped for: no spaces, no control characters, no marks that reorder text. */
const unfitForEachKey = /[[\]\s\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

/** Why a for_each key cannot be part of an address, in words; `undefined` when it can. */
export function eachKeyProblem(each: string): string | undefined {
  if (each === "") return "is empty";
  return unfitForEachKey.test(each) ? "holds a bracket, a space or a control character" : undefined;
}

export function parseAddress(text: string): AddressParts | undefined {
  const match = addressPattern.exec(text);
  if (match === null) return undefined;
  const each = match[3];
  if (each !== undefined && eachKeyProblem(each) !== undefined) return undefined;
  return { kind: match[1] as Kind, key: match[2]!, ...(each === undefined ? {} : { each }) };
}

export function formatAddress(parts: AddressParts): Address {
  return parts.each === undefined ? `${parts.kind}.${parts.key}` : `${parts.kind}.${parts.key}[${parts.each}]`;
}

/** As it can stand within `{ … }` in a file, where a bracket would open a list. */
export const quoted = (address: Address): string => (address.endsWith("]") ? `"${address}"` : address);

export const kindOf = (address: Address): Kind => address.slice(0, address.indexOf(".")) as Kind;

/** Alphabetical but for numbers, so that vm.web[2] comes before vm.web[10]; group, vm, volume. */
export function compareAddresses(a: Address, b: Address): number {
  if (a === b) return 0;
  const kindOrder = kinds.indexOf(kindOf(a)) - kinds.indexOf(kindOf(b));
  return kindOrder !== 0 ? kindOrder : compareNaturally(a, b);
}

function compareNaturally(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(j);
    if (isDigit(x) && isDigit(y)) {
      const endA = endOfDigits(a, i);
      const endB = endOfDigits(b, j);
      const difference = compareDigits(a, i, endA, b, j, endB);
      if (difference !== 0) return difference;
      i = endA;
      j = endB;
    } else {
      if (x !== y) return x - y;
      i++;
      j++;
    }
  }
  return a.length - i - (b.length - j) || (a < b ? -1 : 1);
}

/** By value and without numbers, which a very long row of digits does not fit into. */
function compareDigits(a: string, startA: number, endA: number, b: string, startB: number, endB: number): number {
  let i = startA;
  let j = startB;
  while (i < endA - 1 && a.charCodeAt(i) === zero) i++;
  while (j < endB - 1 && b.charCodeAt(j) === zero) j++;
  let difference = endA - i - (endB - j);
  for (; difference === 0 && i < endA; i++, j++) difference = a.charCodeAt(i) - b.charCodeAt(j);
  return difference;
}

const zero = 48;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

function endOfDigits(text: string, start: number): number {
  let end = start;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}
