/**
 * A user's dialect over the built-in one, field by field: a list of pointers or words replaces the built-in list, an
 * operation replaces the built-in route, and the user's error rules are the only ones here (the defaults come after
 * them in conditions.ts).
 */
import { assumedOperations, rowOf } from "../core/model/operation";
import { builtInDialect } from "./built-in";
import type { Dialect, Route, States } from "./dialect";

type DeepPartial<T> = T extends readonly unknown[] | string | null
  ? T
  : { readonly [K in keyof T]?: DeepPartial<T[K]> };

export type PartialDialect = Omit<DeepPartial<Dialect>, "operations"> & {
  readonly operations?: Readonly<Record<string, (Route & { readonly items?: readonly string[] }) | null>>;
};

/** Takes what the schema has accepted; knows every key by name, so that no other can get in. */
export function mergeDialect(given: PartialDialect): Dialect {
  const { records, states, pagination, rules, authorization, errors } = builtInDialect;
  const own = given.records ?? {};
  return {
    operations: mergeOperations(given.operations ?? {}),
    records: {
      vm: { ...records.vm, ...own.vm, volume_entry: { ...records.vm.volume_entry, ...own.vm?.volume_entry } },
      volume: { ...records.volume, ...own.volume },
      group: { ...records.group, ...own.group },
      flavor: { ...records.flavor, ...own.flavor },
      image: { ...records.image, ...own.image },
      region: { ...records.region, ...own.region },
      snapshot: { ...records.snapshot, ...own.snapshot },
    },
    states: {
      vm: mergeStates(states.vm, given.states?.vm ?? {}, vmPhases),
      volume: mergeStates(states.volume, given.states?.volume ?? {}, volumePhases),
      image: mergeStates(states.image, given.states?.image ?? {}, imagePhases),
    },
    pagination: { ...pagination, ...given.pagination },
    rules: { ...rules, ...given.rules },
    authorization: { ...authorization, ...given.authorization },
    errors: given.errors ?? errors,
  };
}

function mergeOperations(given: NonNullable<PartialDialect["operations"]>): Dialect["operations"] {
  const routes: Record<string, Route | null> = { ...builtInDialect.operations };
  for (const operation of assumedOperations) {
    if (!Object.hasOwn(given, operation)) continue;
    const route = given[operation] ?? null;
    const { items } = rowOf(operation);
    routes[operation] = route !== null && items !== undefined ? { ...route, items: route.items ?? items } : route;
  }
  return routes as unknown as Dialect["operations"];
}

/** A word that the user gives one meaning loses the one it is built in with. */
function mergeStates<P extends string>(
  builtIn: Readonly<Record<P, readonly string[]>>,
  given: Readonly<Partial<Record<P, readonly string[]>>>,
  phases: readonly P[],
): Record<P, readonly string[]> {
  const taken = new Set(phases.flatMap((phase) => given[phase] ?? []));
  const merged: Record<P, readonly string[]> = { ...builtIn };
  for (const phase of phases) merged[phase] = given[phase] ?? builtIn[phase].filter((word) => !taken.has(word));
  return merged;
}

const vmPhases = ["running", "stopped", "verify_resize", "failed", "gone"] as const satisfies (keyof States["vm"])[];
const volumePhases = ["ready", "changing", "failed", "gone"] as const satisfies (keyof States["volume"])[];
const imagePhases = ["ready", "failed"] as const satisfies (keyof States["image"])[];
