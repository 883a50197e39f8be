/**
 * Several files as one: collects the entries of every section, refuses a key that is given twice, and lets the
 * settings at the top be repeated only with the same value.
 */

import type { Protection } from "../core/model/desired";
import { type Kind, perKind, sectionOf } from "../core/model/kinds";
import { canonicalJson } from "../core/text/canonical-json";
import { tableOf } from "../core/text/objects";
import type { InterpolationScope } from "./interpolation";
import { type Problems, shown } from "./problems";
import type { VarDeclaration } from "./vars";
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

export interface MergedEntry {
  readonly key: string;
  readonly value: unknown;
  readonly source: YamlFile;
}

/** The place of a map or a value in a file. In a list of layers, those that go over others come first. */
export interface Layer {
  readonly source: YamlFile;
  readonly path: Path;
}

/** A top-level setting and the file that gives it. */
export interface MergedSetting {
  readonly value: unknown;
  readonly layers: readonly [Layer, ...Layer[]];
}

/** The defaults of one kind. */
export interface Defaults {
  readonly values: Readonly<YamlMap>;
  readonly layers: readonly Layer[];
  /** For a component: the defaults of the files that use it, with the names that are known there. */
  readonly below?: { readonly defaults: Defaults; readonly scope: InterpolationScope };
}

const settingSections = [
  "version",
  "project",
  "region",
  "service",
  "state",
  "ssh",
  "prices",
  "checks",
  "policy",
  "rollout",
] as const;
export type SettingName = (typeof settingSections)[number];

const entrySections = ["environments", "components", "outputs", "reads", "lookups"] as const;

export interface Merged extends Readonly<Record<(typeof entrySections)[number], readonly MergedEntry[]>> {
  readonly settings: ReadonlyMap<SettingName, MergedSetting>;
  readonly vars: ReadonlyMap<string, VarDeclaration>;
  readonly defaults: Readonly<Record<Kind, Defaults>>;
  readonly entries: Readonly<Record<Kind, readonly MergedEntry[]>>;
  readonly lists: Readonly<Record<ListName, readonly ListItem[]>>;
  /** What the chosen environment says with `protect:`. */
  readonly protection?: Protection;
}

const mergedLists = ["imports", "moved", "removed", "deny", "reachability"] as const;
export type ListName = (typeof mergedLists)[number];
export interface ListItem {
  readonly value: unknown;
  readonly source: YamlFile;
  readonly index: number;
}

export function mergeSources(sources: readonly YamlFile[], problems: Problems): Merged {
  const roots = sources.filter(({ root }) => isMap(root));
  const settings = new Map<SettingName, MergedSetting>();
  for (const name of settingSections) {
    const setting = mergeSetting(name, roots, problems);
    if (setting !== undefined) settings.set(name, setting);
  }
  const vars = new Map(
    mergeMaps(["vars"], roots, problems).map(({ key, value, source }) => [key, { name: key, declared: value, source }]),
  );
  const defaults = perKind((kind) => {
    const found = mergeMaps(["defaults", kind], roots, problems);
    return {
      values: Object.fromEntries(found.map(({ key, value }) => [key, value])),
      layers: [...new Set(found.map(({ source }) => source))].map((source) => ({ source, path: ["defaults", kind] })),
    };
  });
  const entries = perKind((kind) => mergeMaps([sectionOf[kind]], roots, problems));
  const list = (name: ListName): ListItem[] =>
    roots.flatMap((source) => {
      const items = valueAt(source.root, [name]);
      return Array.isArray(items) ? items.map((value, index) => ({ value, source, index })) : [];
    });
  return {
    settings,
    vars,
    defaults,
    entries,
    ...tableOf(entrySections, (section) => mergeMaps([section], roots, problems)),
    lists: tableOf(mergedLists, list),
  };
}

function mergeSetting(name: string, roots: readonly YamlFile[], problems: Problems): MergedSetting | undefined {
  let first: MergedSetting | undefined;
  for (const source of roots) {
    const value = valueAt(source.root, [name]);
    if (value === undefined || value === null) continue;
    if (first === undefined) first = { value, layers: [{ source, path: [name] }] };
    else if (canonicalJson(first.value) !== canonicalJson(value))
      problems.add({
        code: "config/conflicting-setting",
        summary: `${name} is given twice with different values`,
        detail: `here ${shown(value)}, and ${shown(first.value)} in ${lineOf(placeIn(first.layers, []))}`,
        fix: "keep one of the two",
        at: placeOf(source, [name]),
      });
  }
  return first;
}

/** The entries of a map that several files may hold a part of. */
function mergeMaps(path: Path, roots: readonly YamlFile[], problems: Problems): MergedEntry[] {
  const entries: MergedEntry[] = [];
  const seen = new Map<string, YamlFile>();
  for (const source of roots) {
    const map = valueAt(source.root, path);
    if (!isMap(map)) continue;
    for (const key of Object.keys(map)) {
      const first = seen.get(key);
      if (first === undefined) {
        seen.set(key, source);
        entries.push({ key, value: map[key], source });
      } else {
        problems.add({
          code: "config/duplicate-key",
          summary: `the key ${key} is given twice`,
          detail: `first given in ${lineOf(placeOf(first, [...path, key]))}`,
          fix: "keep one of the two",
          at: { source, offset: keyOffset(map, key) ?? 0 },
        });
      }
    }
  }
  return entries;
}

/** Where a value under one of the layers was written: in the first that has it, else as far as the first one leads. */
export function placeIn(layers: readonly [Layer, ...Layer[]], path: Path, on: "key" | "value" = "key"): Place {
  const [{ source, path: prefix }] = layers;
  return findIn(layers, path, on) ?? placeOf(source, [...prefix, ...path], on);
}

export function findIn(layers: readonly Layer[], path: Path, on: "key" | "value"): Place | undefined {
  for (const { source, path: prefix } of layers) {
    const { offset, found } = offsetOfPath(source.root, [...prefix, ...path], on);
    if (found) return { source, offset };
  }
  return undefined;
}

export function lineOf(place: Place): string {
  const { file, line } = positionOf(place);
  return `${file}:${line}`;
}
