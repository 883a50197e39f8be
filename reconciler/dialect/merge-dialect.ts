/**
 * A user's dialect over the built-in one, field by field: a list of pointers or words replaces the built-in list, an
 * operation replaces the built-in route, and the user's error rules are the only ones here (the defaults come after
 * them in conditions.ts).
 */
import { assumedOperations, rowOf } from "../core/model/operation";
import { invariant } from "../core/text/invariant";
import { keysOf, onlyDefined, tableOf } from "../core/text/objects";
import { builtInDialect } from "./built-in";
import type {
  AttachmentRoute,
  Dialect,
  JobRoute,
  Paging,
  Pointers,
  RecordPlace,
  Route,
  Scalar,
  States,
} from "./dialect";
import type {
  DialectFile,
  Pagination,
  WaitRoute,
  AttachmentRoute as WrittenAttachmentRoute,
  WrittenRoute,
} from "./rows";

function mergeRecords(own: NonNullable<DialectFile["records"]>): Dialect["records"] {
  const { records } = builtInDialect;
  const merged = tableOf(keysOf(records), (of) => ({ ...records[of], ...lists<object>(own[of]) }));
  const { volume_entry } = records.vm;
  const entry = { ...volume_entry, ...lists(own.vm?.volume_entry) };
  // Each has the fields of its own built-in record.
  return { ...merged, vm: { ...merged.vm, volume_entry: entry } } as Dialect["records"];
}

/** Takes what the schema has accepted; knows every key by name, so that no other can get in. */
export function mergeDialect(given: DialectFile): Dialect {
  const { states, rules, authorization, limits, errors } = builtInDialect;
  const { data, error, success } = given.envelope ?? {};
  return {
    operations: mergeOperations(given.operations ?? {}),
    ...mergeWait(given.operations?.["wait"]),
    ...mergeAttachments(given.operations?.["attachments"]),
    records: mergeRecords(given.records ?? {}),
    states: {
      vm: mergeStates(states.vm, words(given.states?.vm), vmPhases),
      volume: mergeStates(states.volume, words(given.states?.volume), volumePhases),
      image: mergeStates(states.image, words(given.states?.image), imagePhases),
    },
    pagination: { ...builtInDialect.pagination, ...mergePaging(given.pagination) },
    rules: { ...rules, ...given.rules },
    // `Written` allows one place for a list of places, and an authorization has no such list.
    authorization: { ...authorization, ...(given.authorization as Partial<Dialect["authorization"]>) },
    answers: Object.fromEntries(
      Object.entries(given.answers ?? {}).flatMap(([operation, answer]) =>
        answer?.item === undefined ? [] : [[operation, { item: listOf<RecordPlace>(answer.item) }]],
      ),
    ),
    envelope: {
      data: listOf<RecordPlace>(data),
      error: { code: listOf<RecordPlace>(error?.code), message: listOf<RecordPlace>(error?.message) },
      // The schema asks for both fields of `success` together.
      success: success === undefined ? undefined : (success as NonNullable<Dialect["envelope"]["success"]>),
    },
    names: given.names ?? {},
    limits: { ...limits, ...given.limits },
    values: given.values ?? {},
    headers: given.headers ?? {},
    ...mergeFingerprint(given.fingerprint),
    retry_after: given.retry_after ?? null,
    errors: given.errors ?? errors,
  };
}

const listOf = <T>(given: T | readonly T[] | undefined): readonly T[] =>
  given === undefined ? [] : isList(given) ? given : [given];

const isList = <T>(given: T | readonly T[]): given is readonly T[] => Array.isArray(given);

/** Every place of a record as a list of places; what is a record of its own is left out. */
function lists<T extends object>(given: T | undefined): { readonly [K in keyof T]?: Pointers } {
  const entries = Object.entries(given ?? {}).filter(([key]) => key !== "volume_entry");
  // The schema allows a place or a list of places for each of these keys.
  return Object.fromEntries(entries.map(([key, places]) => [key, listOf(places as RecordPlace)])) as {
    readonly [K in keyof T]?: Pointers;
  };
}

const words = <T extends object>(given: T | undefined): { readonly [K in keyof T]?: readonly string[] } =>
  // The schema allows a word or a list of words for each phase.
  Object.fromEntries(
    Object.entries(given ?? {}).map(([phase, said]) => [phase, listOf(said as Scalar).map(String)]),
  ) as unknown as { readonly [K in keyof T]?: readonly string[] };

function mergePaging(given: Pagination | undefined): Partial<Paging> {
  if (given === undefined) return {};
  const { next, marker, ignore, ...rest } = given;
  return {
    ...rest,
    ...onlyDefined({
      next: next === undefined ? undefined : listOf<RecordPlace>(next),
      marker: marker === undefined ? undefined : listOf<RecordPlace>(marker),
      ignore: ignore === undefined ? undefined : listOf<string>(ignore),
    }),
  };
}

function mergeOperations(given: NonNullable<DialectFile["operations"]>): Dialect["operations"] {
  const routes: Record<string, Route | null> = { ...builtInDialect.operations };
  for (const operation of assumedOperations) {
    if (!Object.hasOwn(given, operation)) continue;
    const several = given[operation] ?? null;
    if (several === null) {
      routes[operation] = null;
      continue;
    }
    const [written, alternatives] = lastOf(several);
    const { items, item, pagination, ...route } = written;
    const usual = rowOf(operation).items;
    routes[operation] = {
      ...route,
      ...onlyDefined({
        alternatives: alternatives.length > 0 ? alternatives : undefined,
        item: item === undefined ? undefined : listOf(item),
        items: usual === undefined ? undefined : items === undefined ? usual : listOf(items),
        pagination: pagination === undefined ? undefined : mergePaging(pagination),
      }),
    };
  }
  // The built-in routes name every operation.
  return routes as Dialect["operations"];
}

/** Of several routes the one without `when` is for all others; without such a one it is the last. */
function lastOf(given: WrittenRoute | readonly WrittenRoute[]): readonly [WrittenRoute, readonly Route[]] {
  if (!isList(given)) return [given, []];
  const last = given.find(({ when }) => when === undefined) ?? given.at(-1);
  invariant(last !== undefined, "the schema allows no empty list of routes");
  // Only a rule's delete has several routes, and none of them has items.
  return [last, given.filter((one) => one !== last) as readonly Route[]];
}

function mergeFingerprint(given: DialectFile["fingerprint"]): Pick<Dialect, "fingerprint"> {
  if (given === undefined) return {};
  const { from, send } = given;
  // A name that is no pointer is that of a header.
  const isHeader = typeof from === "string" && from !== "" && !from.startsWith("/");
  return { fingerprint: isHeader ? { from: [], header: from, send } : { from: listOf<RecordPlace>(from), send } };
}

/** The schema asks for every part that has to be there. */
function mergeWait(given: unknown): Pick<Dialect, "wait"> {
  if (given === undefined || given === null) return {};
  // The schema has checked the parts, each of which may be one value or a list.
  const { id, status, done, failed, message, error, ...route } = given as NonNullable<WaitRoute>;
  return {
    wait: {
      ...route,
      id: listOf<RecordPlace>(id),
      status: listOf<RecordPlace>(status),
      done: listOf<Scalar>(done).map(String),
      failed: listOf<Scalar>(failed).map(String),
      message: listOf<RecordPlace>(message),
      error: listOf<RecordPlace>(error),
    } as JobRoute, // `Written` allows one value for each list, and these are lists by now.
  };
}

/** The schema asks for every part that has to be there. */
function mergeAttachments(given: unknown): Pick<Dialect, "attachments"> {
  if (given === undefined || given === null) return {};
  // The schema has checked the parts, of which the places may be one or a list.
  const {
    items = usualAttachmentItems,
    pagination,
    vm,
    volume,
    ...route
  } = given as NonNullable<WrittenAttachmentRoute>;
  return {
    attachments: {
      ...route,
      items: listOf<RecordPlace>(items),
      ...onlyDefined({ pagination: pagination === undefined ? undefined : mergePaging(pagination) }),
      vm: listOf<RecordPlace>(vm),
      volume: listOf<RecordPlace>(volume),
    } as AttachmentRoute, // `Written` allows one value for each list, and these are lists by now.
  };
}

const usualAttachmentItems: Pointers = ["", "/attachments", "/volumeAttachments", "/volume_attachments"];

/** A word to which the user gives a meaning loses its built-in meaning. */
function mergeStates<P extends string>(
  builtIn: Readonly<Record<P, readonly string[]>>,
  given: Readonly<Partial<Record<P, readonly string[]>>>,
  phases: readonly P[],
): Record<P, readonly string[]> {
  const taken = new Set(phases.flatMap((phase) => given[phase] ?? []).map((word) => word.toLowerCase()));
  const merged: Record<P, readonly string[]> = { ...builtIn };
  for (const phase of phases)
    merged[phase] = given[phase] ?? builtIn[phase].filter((word) => !taken.has(word.toLowerCase()));
  return merged;
}

const vmPhases = [
  "running",
  "stopped",
  "verify_resize",
  "ready",
  "changing",
  "failed",
  "gone",
] as const satisfies (keyof States["vm"])[];
const volumePhases = ["ready", "changing", "failed", "gone"] as const satisfies (keyof States["volume"])[];
const imagePhases = ["ready", "failed"] as const satisfies (keyof States["image"])[];
