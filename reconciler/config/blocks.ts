/**
 * From the entries of a section to single resources: defaults merged under each block, for_each unrolled, everything
 * interpolated, and what is not enabled left out. What the fields mean is for read-vm.ts, read-volume.ts and
 * read-group.ts.
 */
import { formatAddress } from "../core/model/address";
import type { Inherited } from "../core/model/desired";
import type { SourcePosition } from "../core/model/diagnostic";
import { type Kind, sectionOf } from "../core/model/kinds";
import { onlyDefined } from "../core/text/objects";
import { isSwitchedOn } from "./enabled";
import { isGiven } from "./fields";
import { expandForEach } from "./for-each";
import {
  type Each,
  type InterpolationScope,
  interpolate,
  keepingSecrets,
  type OnProblem,
  storedInTheClear,
} from "./interpolation";
import { namesNothing, type Origins, originsOf, type Reference, referencesAt } from "./origins";
import type { ConfigProblem, Problems } from "./problems";
import { type Defaults, findIn, type Layer, type MergedEntry } from "./sources";
import {
  isMap,
  keyOffset,
  offsetOfPath,
  type Path,
  type Place,
  placeOf,
  positionOf,
  valueAt,
  type YamlFile,
  type YamlMap,
} from "./yaml/file";

export interface Block {
  readonly kind: Kind;
  readonly key: string;
  readonly entry: MergedEntry;
  readonly defaults: Defaults;
  /** The for_each keys of the block; `undefined` without for_each. */
  readonly eachKeys?: readonly string[];
  /** For a block in a component: where the component is used. */
  readonly use?: Place;
}

/** One resource to be: the block, which of its instances, and the values. */
export interface Instance {
  readonly block: Block;
  readonly address: string;
  readonly each?: string;
  /** Merged and interpolated. A key whose value is `undefined` could not be interpolated and is reported already. */
  readonly values: Readonly<YamlMap>;
  /** A map or a list came out of a reference, which the schema could not look into as it stands in the file. */
  readonly holdsShapes?: boolean;
}

export interface ExpandedBlocks {
  readonly blocks: Map<string, Block>;
  /** Called once all addresses are known, to which values may refer. */
  readonly instances: (scope: InterpolationScope) => Instance[];
  /** The keys of blocks that say `enabled: false`: as if they were not written, but for a message that says so. */
  readonly disabled: ReadonlySet<string>;
}

/** The largest number of instances: no run could carry out more, and a mistyped number must not fill the memory. */
export const mostInstancesOfAll = 200_000;

/** How many resources of a kind all files have made so far. */
export interface MadeOfKind {
  count: number;
}

export function expandBlocks(
  kind: Kind,
  entries: readonly MergedEntry[],
  defaults: Defaults,
  scope: InterpolationScope,
  problems: Problems,
  { within, use, made }: { readonly within: string; readonly use: Place | undefined; readonly made: MadeOfKind },
): ExpandedBlocks {
  const inRoom = use === undefined ? {} : { use };
  const blocks = new Map<string, Block>();
  const makings: Making[] = [];
  const disabled = new Set<string>();
  const sources = new Set([...entries.map(({ source }) => source), ...layersOf(defaults).map(({ source }) => source)]);
  const interpolates = [...sources].some(mayInterpolate);
  for (const entry of entries) {
    const { key, value } = entry;
    if ((value !== null && !isMap(value)) || !/^[A-Za-z0-9_-]+$/.test(key)) continue;
    const own: YamlMap = value ?? {};
    const isSwitched = Object.hasOwn(own, "enabled");
    const isMany = Object.hasOwn(own, "for_each");
    const { enabled, merged } = withoutSwitch(mergeUnder(own, defaults.values));
    const block: Block = { kind, key, entry, defaults, ...inRoom };
    const isOn = (each?: Each): boolean =>
      isSwitchedOn(enabled, { ...scope, each }, problems, placeInBlock(block, ["enabled"]));
    const switchedEach = isMany && isSwitched && /\$\{[^}]*\beach\b/.test(String(own["enabled"]));
    if (isSwitched && !switchedEach && !isOn()) {
      disabled.add(key);
      continue;
    }
    if (!isMany) {
      blocks.set(key, block);
      made.count++;
      makings.push({ block, values: merged, isPlain: !interpolates && !isSwitched });
      continue;
    }
    const { for_each: written, ...values } = merged;
    const room = Math.max(0, mostInstancesOfAll - made.count);
    const at = (inner: Path): Place => placeOf(entry.source, [sectionOf[kind], key, "for_each", ...inner], "value");
    const all = expandForEach(written, at, scope, room, problems);
    const items = switchedEach ? all.filter(isOn) : all;
    const many: Block = { ...block, eachKeys: items.map((item) => item.key) };
    blocks.set(key, many);
    made.count += items.length;
    makings.push({ block: many, values, items });
  }
  const instances = (whole: InterpolationScope): Instance[] =>
    makings.flatMap(({ block, values, items, isPlain }) => {
      if (isPlain === true) return plainInstance(block, within, values, whole);
      const all: readonly (Each | undefined)[] = items ?? [undefined];
      return all.map((each) => makeInstance(block, within, each, values, whole, problems));
    });
  return { blocks, instances, disabled };
}

/** What the instances of a block are made of, once all addresses are known. Large files have many blocks. */
interface Making {
  readonly block: Block;
  readonly values: YamlMap;
  /** Of `for_each`. */
  readonly items?: readonly Each[];
  /** Nothing in it is interpolated. */
  readonly isPlain?: boolean;
}

const plainInstance = (block: Block, within: string, values: YamlMap, whole: InterpolationScope): Instance => ({
  block,
  address: formatAddress({ within, kind: block.kind, key: block.key }),
  values: block.defaults.below === undefined ? values : mergeUnder(values, inherited(block, whole)),
});

function withoutSwitch(values: YamlMap): { readonly enabled?: unknown; readonly merged: YamlMap } {
  if (!Object.hasOwn(values, "enabled")) return { merged: values };
  const { enabled, ...merged } = values;
  return { enabled, merged };
}

/**
 * The settings of the files that use a component, in the words of those files: with their variables, not the
 * component's parameters.
 */
function inherited(
  { defaults, ...block }: Block,
  { each, onSensitive }: InterpolationScope,
  report?: OnProblem,
): YamlMap {
  const { below } = defaults;
  if (below === undefined) return {};
  const scope: InterpolationScope = { ...below.scope, ...onlyDefined({ each, onSensitive }) };
  const own = interpolate(below.defaults.values, scope, report ?? (() => undefined));
  return mergeUnder(isMap(own) ? own : {}, inherited({ ...block, defaults: below.defaults }, scope, report));
}

const layersOf = ({ layers, below }: Defaults): readonly Layer[] =>
  below === undefined ? layers : [...layers, ...layersOf(below.defaults)];

function makeInstance(
  block: Block,
  within: string,
  each: Each | undefined,
  merged: YamlMap,
  whole: InterpolationScope,
  problems: Problems,
): Instance {
  const address = formatAddress({ within, kind: block.kind, key: block.key, each: each?.key });
  let holdsShapes: true | undefined;
  const scope: InterpolationScope = each === undefined ? whole : { ...whole, each };
  const report = (problem: Pick<ConfigProblem, "code" | "summary">, path: Path) =>
    problems.add({ ...problem, address, at: placeInBlock(block, path) });
  const refuse = (name: string, path: Path): void => {
    if (!keepsSecrets(path)) report(storedInTheClear(name, path), path);
  };
  const onShape = (): void => {
    holdsShapes = true;
  };
  const values = interpolate(merged, { ...scope, onShape, onSensitive: refuse }, report);
  const own = isMap(values) ? values : {};
  const { scope: below, secrets } = keepingSecrets(scope);
  const under = inherited(block, below, report);
  const all = mergeUnder(own, under);
  // What the block says itself takes the place of a setting, be it of a sensitive one.
  for (const { name, path } of secrets) if (valueAt(all, path) === valueAt(under, path)) refuse(name, path);
  return { block, address, values: all, each: each?.key, holdsShapes };
}

/** A check is run and forgotten; every other value is written to the state, or sent and shown again. */
const keepsSecrets = (path: Path): boolean =>
  path[0] === "lifecycle" && path[1] === "verify_resize" && path[2] === "check";

/**
 * Whether a file may hold an interpolation: a `${`, or an escape that could be one. Without any, no value is searched.
 */
const mayInterpolate = ({ text, isLiteral }: YamlFile): boolean =>
  isLiteral !== true && (text.includes("${") || text.includes("\\"));

/** Maps are merged, everything else is replaced. A key with nothing behind it (`lifecycle:`) leaves what is below. */
export function mergeUnder(own: YamlMap, defaults: Readonly<YamlMap>): YamlMap {
  if (Object.keys(defaults).length === 0) return own;
  const merged: YamlMap = { ...defaults };
  for (const key of Object.keys(own)) {
    const below = Object.hasOwn(defaults, key) ? defaults[key] : undefined;
    const value = own[key];
    if (value === null && below !== undefined) continue;
    merged[key] = isMap(value) && isMap(below) && !replacesWhole(key) ? mergeUnder(value, below) : value;
  }
  return merged;
}

/**
 * A block that takes one of several forms is replaced as a whole: a check by http does not keep the tcp port of the
 * defaults, nor a reference the id of another one.
 */
const replacesWhole = (key: string): boolean => key === "check" || key === "attach_to" || key === "for_each";

/** Where a value of a block was written: in the block, or else in the defaults. */
export function placeInBlock({ kind, entry, defaults }: Block, path: Path, on: "key" | "value" = "value"): Place {
  const whole = [sectionOf[kind], entry.key, ...path];
  const own = offsetOfPath(entry.source.root, whole, path.length === 0 ? "key" : on);
  if (own.found || path.length === 0) return { source: entry.source, offset: own.offset };
  return findIn(layersOf(defaults), path, on) ?? { source: entry.source, offset: own.offset };
}

/** Where the block or a default writes a value. `undefined`: neither does. */
export function writtenAt({ kind, entry, defaults }: Block, path: Path): Place | undefined {
  const { offset, found } = offsetOfPath(entry.source.root, [sectionOf[kind], entry.key, ...path], "key");
  return found ? { source: entry.source, offset } : findIn(layersOf(defaults), path, "key");
}

/** The fields whose value does not stand in the block, with where it does. */
export function inheritedBy(block: Block, origins: Origins): Inherited | undefined {
  const left = leftToDefaults(block);
  const given = givenKnown.get(block) ?? givenFields(block, origins);
  if (block.eachKeys !== undefined) givenKnown.set(block, given);
  return given === nothingInherited ? left : { ...left, ...given };
}

/** Looked for once for all instances of a block. */
const givenKnown = new WeakMap<Block, Inherited>();
const nothingInherited: Inherited = {};

/** The fields that name a variable or a parameter, with where its value was written. */
function givenFields(block: Block, origins: Origins): Inherited {
  if (namesNothing(origins)) return nothingInherited;
  const given = [...fromDefaults(block), ...ownReferences(block)].flatMap(([field, references]) => {
    const written = originsOf(references, origins).at(-1);
    if (written === undefined || typeof written.from === "string") return [];
    return [[field, { ...positionOf(written.from), by: written.reference }] as const];
  });
  return given.length === 0 ? nothingInherited : Object.fromEntries(given);
}

type FieldReferences = readonly [field: string, references: readonly Reference[]];

/** The fields that hold references, with these. */
const referencesIn = (block: Block, values: Readonly<YamlMap>): FieldReferences[] =>
  Object.entries(values).flatMap(([field, value]): FieldReferences[] =>
    typeof value === "string" && value.includes("${") ? [[field, referencesAt(placeInBlock(block, [field]))]] : [],
  );

const ownKnown = new WeakMap<MergedEntry, FieldReferences[]>();

/** Looked for once for all uses of a component. */
function ownReferences(block: Block): FieldReferences[] {
  const { entry } = block;
  const known = ownKnown.get(entry) ?? referencesIn(block, isMap(entry.value) ? entry.value : {});
  ownKnown.set(entry, known);
  return known;
}

const fromDefaults = (block: Block): FieldReferences[] => {
  const { value } = block.entry;
  return referencesIn(block, valuesOf(block.defaults)).filter(([field]) => !isMap(value) || !isGiven(value, field));
};

const valuesOf = ({ values, below }: Defaults): Readonly<YamlMap> =>
  below === undefined ? values : { ...valuesOf(below.defaults), ...values };

function leftToDefaults({ entry: { value }, defaults }: Block): Inherited | undefined {
  const all = inheritedPlaces(defaults);
  const isOwn = (field: string): boolean => isMap(value) && isGiven(value, field);
  const fields = Object.keys(all);
  if (!fields.some(isOwn)) return fields.length === 0 ? undefined : all;
  const left = fields.flatMap((field) => (isOwn(field) ? [] : [[field, all[field]]]));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

const placesKnown = new WeakMap<Defaults, Inherited>();

/** Made once for all blocks of a kind. */
function inheritedPlaces(defaults: Defaults): Inherited {
  const known = placesKnown.get(defaults);
  if (known !== undefined) return known;
  const layers = layersOf(defaults);
  const fields = new Set<string>();
  for (let at: Defaults | undefined = defaults; at !== undefined; at = at.below?.defaults)
    for (const field of Object.keys(at.values)) fields.add(field);
  const places: Record<string, SourcePosition> = {};
  for (const field of [...fields].sort()) {
    const place = findIn(layers, [field], "key");
    if (place !== undefined) places[field] = positionOf(place);
  }
  placesKnown.set(defaults, places);
  return places;
}

export function placeOfBlock({ kind, entry }: Block): Place {
  const section = valueAt(entry.source.root, [sectionOf[kind]]);
  return { source: entry.source, offset: isMap(section) ? (keyOffset(section, entry.key) ?? 0) : 0 };
}
