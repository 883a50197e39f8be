/**
 * From the entries of a section to single resources: defaults merged under each block, for_each unrolled, everything
 * interpolated. What the fields mean is for read-vm.ts, read-volume.ts and read-group.ts.
 */
import { formatAddress, type Kind, sectionOf } from "../core/model/address";
import { expandForEach } from "./for-each";
import { type Each, interpolate, type Scope } from "./interpolation";
import type { Problems } from "./problems";
import type { Defaults, Entry } from "./sources";
import { isMap, keyOffset, offsetAt, type Path, type Place, type YamlMap } from "./yaml-file";

export interface Block {
  readonly kind: Kind;
  readonly key: string;
  readonly entry: Entry;
  readonly defaults: Defaults;
  /** Its for_each keys; `undefined` without for_each. */
  readonly eachKeys?: readonly string[];
}

/** One resource to be: the block, which of its instances, and the values. */
export interface Instance {
  readonly block: Block;
  readonly address: string;
  readonly each?: string;
  /** Merged and interpolated. A key whose value is `undefined` could not be interpolated and is reported already. */
  readonly values: Readonly<YamlMap>;
}

/** No run could carry out more, and a mistyped number must not fill the memory. */
const mostInstances = 200_000;

export function expandBlocks(
  kind: Kind,
  entries: readonly Entry[],
  defaults: Defaults,
  vars: ReadonlyMap<string, unknown>,
  problems: Problems,
): { blocks: Map<string, Block>; instances: Instance[] } {
  const blocks = new Map<string, Block>();
  const instances: Instance[] = [];
  const sources = new Set([...entries.map(({ source }) => source), ...defaults.sources.values()]);
  const interpolates = [...sources].some(({ text }) => mayInterpolate(text));
  for (const entry of entries) {
    const { key, value } = entry;
    if ((value !== null && !isMap(value)) || !/^[A-Za-z0-9_-]+$/.test(key)) continue;
    const own: YamlMap = value ?? {};
    const merged = mergeUnder(own, defaults.values);
    if (!Object.hasOwn(own, "for_each")) {
      const block: Block = { kind, key, entry, defaults };
      blocks.set(key, block);
      instances.push(
        interpolates
          ? makeInstance(block, undefined, merged, { vars }, problems)
          : { block, address: formatAddress({ kind, key }), values: merged },
      );
      continue;
    }
    const items = expandForEach(own["for_each"], entry, kind, vars, mostInstances - instances.length, problems);
    const block: Block = { kind, key, entry, defaults, eachKeys: items.map((item) => item.key) };
    blocks.set(key, block);
    const { for_each: _, ...rest } = merged;
    for (const each of items) instances.push(makeInstance(block, each, rest, { vars, each }, problems));
  }
  return { blocks, instances };
}

function makeInstance(
  block: Block,
  each: Each | undefined,
  merged: YamlMap,
  scope: Scope,
  problems: Problems,
): Instance {
  const address = formatAddress({
    kind: block.kind,
    key: block.key,
    ...(each === undefined ? {} : { each: each.key }),
  });
  const values = interpolate(merged, scope, (problem, path) =>
    problems.add({ ...problem, address, at: placeInBlock(block, path) }),
  ) as YamlMap;
  return { block, address, values, ...(each === undefined ? {} : { each: each.key }) };
}

/** Whether a file holds an interpolation: it says so, or has escapes that could. Without any, no value is looked through. */
const mayInterpolate = (text: string): boolean => text.includes("${") || text.includes("\\");

/** Maps are merged, everything else is replaced. */
function mergeUnder(own: YamlMap, defaults: Readonly<YamlMap>): YamlMap {
  const merged: YamlMap = { ...defaults };
  for (const key of Object.keys(own)) {
    const below = Object.hasOwn(defaults, key) ? defaults[key] : undefined;
    const value = own[key];
    merged[key] = isMap(value) && isMap(below) && !replacesWhole(key) ? mergeUnder(value, below) : value;
  }
  return merged;
}

/** One of several forms: a check by http does not keep the tcp port of the defaults, nor a reference the other's id. */
const replacesWhole = (key: string): boolean => key === "check" || key === "attach_to" || key === "for_each";

/** Where a value of a block was written: in the block, or else in the defaults. */
export function placeInBlock({ kind, entry, defaults }: Block, path: Path, on: "key" | "value" = "value"): Place {
  const whole = [sectionOf[kind], entry.key, ...path];
  const own = offsetAt(entry.source.root, whole, path.length === 0 ? "key" : on);
  if (own.found || path.length === 0) return { source: entry.source, offset: own.offset };
  const source = defaults.sources.get(String(path[0]));
  if (source !== undefined) {
    const inherited = offsetAt(source.root, ["defaults", kind, ...path], on);
    if (inherited.found) return { source, offset: inherited.offset };
  }
  return { source: entry.source, offset: own.offset };
}

export const placeOfBlock = ({ kind, entry }: Block): Place => ({
  source: entry.source,
  offset: keyOffset((entry.source.root as YamlMap)[sectionOf[kind]] as YamlMap, entry.key) ?? 0,
});
