/**
 * An address names one declared resource: `vm.db`, `vm.web[a]`, `volume.db-data`, `group.web`, and within components
 * `shop/vm.web[0]` and `eu[a]/inner/vm.web`. It is what the desired state, the record, the plan and every message call
 * the resource, whatever its name in the service.
 */
import { isKind, type Kind, kinds } from "./kinds";

export type { Kind } from "./kinds";
export type Address = string;

export interface AddressParts {
  /** The components that the resource is in, from the outermost: `shop/`, `eu[a]/inner/`. Absent: none. */
  readonly within?: string;
  readonly kind: Kind;
  readonly key: string;
  /** The for_each key, where there is one. */
  readonly each?: string;
}

const addressPattern = new RegExp(
  `^((?:[A-Za-z0-9_-]+(?:\\[[^[\\]]+\\])?/)*)(${kinds.join("|")})\\.([A-Za-z0-9_-]+)(?:\\[([^[\\]]+)\\])?$`,
);
const componentPattern = /^(?:[A-Za-z0-9_-]+(?:\[[^[\]]+\])?\/)+$/;
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
  const [, within = "", kind, key = "", each] = match;
  if (!isKind(kind) || (each !== undefined && eachKeyProblem(each) !== undefined)) return undefined;
  if (within !== "" && !isComponentPath(within)) return undefined;
  return { within: within === "" ? undefined : within, kind, key, each };
}

export const formatAddress = ({ within = "", kind, key, each }: AddressParts): Address =>
  each === undefined ? `${within}${kind}.${key}` : `${within}${kind}.${key}[${each}]`;

/** `shop/`, `eu[a]/inner/`: a component, and whatever is in it. */
export const isComponentPath = (text: string): boolean =>
  componentPattern.test(text) && !unfitForEachKey.test(text.replaceAll(/\[([^[\]]+)\]/g, "$1"));

/** The components that an address is in, `""` where it is in none. A for_each key may hold a slash of its own. */
export function componentOf(address: Address): string {
  if (!address.includes("/")) return "";
  let end = 0;
  let depth = 0;
  for (let at = 0; at < address.length; at++) {
    const character = address[at];
    if (character === "[") depth++;
    else if (character === "]") depth--;
    else if (character === "/" && depth === 0) end = at + 1;
  }
  return address.slice(0, end);
}

/** The components around it, from the outermost: `eu[a]/`, `eu[a]/inner/`. */
export function componentPath(address: Address): string[] {
  const path: string[] = [];
  for (let at = componentOf(address); at !== ""; at = componentOf(at.slice(0, -1))) path.unshift(at);
  return path;
}

/** Every name that means a component around it, the innermost first: `eu[a]/inner/`, `eu[a]/`, `eu/` (the whole for_each). */
export function componentsAround(address: Address): string[] {
  const names: string[] = [];
  for (let at = componentOf(address); at !== ""; at = componentOf(at.slice(0, -1)))
    names.push(at, ...(at.endsWith("]/") ? [`${blockOf(at.slice(0, -1))}/`] : []));
  return names;
}

/** An address with one of the names around it changed: `vm.old[a]` by `vm.old` to `vm.new`, `shop/vm.a` by `shop/` to `store/`. */
export function renamed(address: Address, from: string, to: string): Address {
  if (!from.endsWith("/") || address.startsWith(from)) return to + address.slice(from.length);
  // The whole for_each of a component: each instance keeps its key.
  return to.slice(0, -1) + address.slice(from.length - 1);
}

/**
 * The names that may mean an address: the address itself, its block (`volume.scratch` covers `volume.scratch[a]`), or a
 * component around it.
 */
export const namesOf = (address: Address): string[] => [address, blockOf(address), ...componentsAround(address)];

/** Where an entry for the address, its block or a component around it takes it; `undefined` where there is none. */
export function movedBy(address: Address, moves: ReadonlyMap<string, string>): Address | undefined {
  for (const from of namesOf(address)) {
    const to = moves.get(from);
    // `vm.web` to `vm.web[a]` means the block of before its for_each, and no instance of it; so does `shop/` to `shop[a]/`.
    if (to !== undefined && !(isInstanceOf(to, from) && isInstanceOf(address, from))) return renamed(address, from, to);
  }
  return undefined;
}

/** The address within its component. */
export const localAddress = (address: Address): string => address.slice(componentOf(address).length);

/** The name by which the file refers to the resource: its key, with the for_each key where there is one. */
export function keyWithin(address: Address): string {
  const local = localAddress(address);
  return local.slice(local.indexOf(".") + 1);
}

/** The address of the block: without the for_each key. */
export const blockOf = (address: Address): Address =>
  address.endsWith("]") ? address.slice(0, address.lastIndexOf("[")) : address;

/** Whether an address is one of those that a name means: itself, its for_each block, or a component it is in (`shop/`). */
export function isMeant(address: Address, named: string): boolean {
  if (address === named) return true;
  if (!named.endsWith("/"))
    return !named.endsWith("]") && address.startsWith(`${named}[`) && blockOf(address) === named;
  const component = named.slice(0, -1);
  return address.startsWith(named) || (!component.endsWith("]") && componentOf(address).startsWith(`${component}[`));
}

/** Whether a name is of an instance of a block or a component, or of what is within one: `shop[a]/vm.web` of `shop/`. */
export const isInstanceOf = (name: string, whole: string): boolean =>
  name.startsWith(`${whole.endsWith("/") ? whole.slice(0, -1) : whole}[`);

/** The address as it can be written within `{ … }` in a file, where a bracket would begin a list. */
export const quoted = (address: Address): string => (address.includes("[") ? JSON.stringify(address) : address);

/** What a file says of addresses that have another name now. */
export const movedText = (...entries: readonly { readonly from: string; readonly to: string }[]): string =>
  `moved: [ ${entries.map(({ from, to }) => `{ from: ${quoted(from)}, to: ${quoted(to)} }`).join(", ")} ]`;

export function kindOf(address: Address): Kind {
  const local = localAddress(address);
  // Every address begins with its kind.
  return local.slice(0, local.indexOf(".")) as Kind;
}

/**
 * Alphabetical but for numbers, so that vm.web[2] comes before vm.web[10]; group, vm, volume. What is in no component
 * comes first, and each component is together.
 */
export const inAddressOrder = <T extends { readonly address: Address }>(all: Iterable<T>): T[] =>
  [...all].sort((a, b) => compareAddresses(a.address, b.address));

export function compareAddresses(a: Address, b: Address): number {
  if (a === b) return 0;
  if (a.includes("/") || b.includes("/")) {
    const [within, other] = [componentOf(a), componentOf(b)];
    if (within !== other) return within === "" ? -1 : other === "" ? 1 : compareNaturally(within, other);
  }
  const kindOrder = kinds.indexOf(kindOf(a)) - kinds.indexOf(kindOf(b));
  return kindOrder !== 0 ? kindOrder : compareNaturally(a, b);
}

function compareNaturally(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(j);
    if (isDecimalDigit(x) && isDecimalDigit(y)) {
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
  while (i < endA - 1 && a.charCodeAt(i) === digitZero) i++;
  while (j < endB - 1 && b.charCodeAt(j) === digitZero) j++;
  let difference = endA - i - (endB - j);
  for (; difference === 0 && i < endA; i++, j++) difference = a.charCodeAt(i) - b.charCodeAt(j);
  return difference;
}

const digitZero = 48;
const isDecimalDigit = (code: number): boolean => code >= 48 && code <= 57;

function endOfDigits(text: string, start: number): number {
  let end = start;
  while (end < text.length && isDecimalDigit(text.charCodeAt(end))) end++;
  return end;
}
