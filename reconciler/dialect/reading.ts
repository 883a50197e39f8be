/**
 * What every reader of an answer is made of. Absent means unobserved, which is never the same as empty; an answer without
 * what identity hangs on is rejected.
 */

import type { Accepted, Rejection } from "../core/model/outcome";
import { accepted } from "../core/model/outcome";
import { canonicalText } from "../core/text/canonical-text";
import type { Pointers } from "./dialect";
import { compilePointers, findId, findText, type PointerPath } from "./pointers";
import { unreadable, unusableId } from "./unreadable";

export type Reading<T> = Accepted<T> | Rejection;
export type ReadRecord<T> = (record: unknown) => Reading<T>;

/** `setting`: the dialect's key for these pointers; `undefined` where the contract fixes them. */
export function readId(
  what: string,
  setting: string | undefined,
  pointers: Pointers,
  paths: readonly PointerPath[],
  record: unknown,
): Reading<string> {
  const found = findId(record, paths);
  if (found === undefined) return unreadable(what, "id", setting, pointers, record);
  return "id" in found ? accepted(found.id) : unusableId(what, found.problem, setting);
}

/** Reads every record, or ends with the first that cannot be read: leaving one out would look like a smaller world. */
export function readAll<T>(records: readonly unknown[], read: ReadRecord<T>): Reading<readonly T[]> {
  const values: T[] = [];
  for (const record of records) {
    const reading = read(record);
    if (reading.status !== "accepted") return reading;
    values.push(reading.value);
  }
  return accepted(values);
}

export function compileAll<T extends object>(record: T): { readonly [K in keyof T]: readonly PointerPath[] } {
  const compiled: [string, readonly PointerPath[]][] = [];
  // A list in a record of the dialect is a list of pointers.
  for (const [key, pointers] of Object.entries(record))
    if (Array.isArray(pointers)) compiled.push([key, compilePointers(pointers as Pointers)]);
  // One entry for each list of the record; what is no list is not asked for.
  return Object.fromEntries(compiled) as { readonly [K in keyof T]: readonly PointerPath[] };
}

/** A name of nothing but spaces says no more than none. */
export function findName(record: unknown, paths: readonly PointerPath[]): string | undefined {
  const name = canonicalText(findText(record, paths) ?? "");
  return name === "" ? undefined : name;
}

export function texts<K extends string>(fields: Record<K, string | null | undefined>): { [key in K]?: string } {
  const found: { [key in K]?: string } = {};
  for (const key in fields) {
    const value = fields[key];
    if (typeof value === "string") found[key] = value;
  }
  return found;
}
