/**
 * A user's dialect over the built-in one, field by field: a list of pointers or words replaces the built-in list, an
 * operation replaces the built-in route, and the user's error rules are the only ones here (the defaults come after
 * them in conditions.ts).
 */
import { assumedOperations } from "../core/model/operation";
import { builtInDialect, listItems } from "./built-in";
import type { Dialect, ListOperation, Route, States } from "./dialect";

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
      vm: mergeVmStates(states.vm, given.states?.vm ?? {}),
      volume: { ...states.volume, ...given.states?.volume },
      image: mergeImageStates(states.image, given.states?.image ?? {}),
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
    const isList = Object.hasOwn(listItems, operation);
    routes[operation] =
      route !== null && isList ? { ...route, items: route.items ?? listItems[operation as ListOperation] } : route;
  }
  return routes as unknown as Dialect["operations"];
}

/** A word that the user gives one meaning loses the one it is built in with. */
function mergeVmStates(builtIn: States["vm"], given: Partial<States["vm"]>): States["vm"] {
  const taken = new Set(Object.values(given).flat());
  const words = (phase: keyof States["vm"]): readonly string[] =>
    given[phase] ?? builtIn[phase].filter((word) => !taken.has(word));
  return {
    running: words("running"),
    stopped: words("stopped"),
    verify_resize: words("verify_resize"),
    failed: words("failed"),
  };
}

function mergeImageStates(builtIn: States["image"], given: Partial<States["image"]>): States["image"] {
  const taken = new Set([...(given.ready ?? []), ...(given.failed ?? [])]);
  return {
    ready: given.ready ?? builtIn.ready.filter((word) => !taken.has(word)),
    failed: given.failed ?? builtIn.failed.filter((word) => !taken.has(word)),
  };
}
