/**
 * A user's dialect over the built-in one, field by field: a list of pointers or words replaces the built-in list, an
 * operation replaces the built-in route, and the user's error rules are the only ones here (the defaults come after
 * them in conditions.ts).
 */
import { assumedOperations, rowOf } from "../core/model/operation";
import { invariant } from "../core/text/invariant";
import { fieldsIn, isObject, keysOf, onlyDefined, tableOf } from "../core/text/objects";
import { builtInDialect } from "./built-in";
import type { AttachmentRoute, Dialect, JobRoute, Pointers, RecordPlace, Route, Scalar } from "./dialect";
import type { DialectFile, WrittenRoute } from "./rows";

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
      vm: mergeStates(states.vm, words(given.states?.vm)),
      volume: mergeStates(states.volume, words(given.states?.volume)),
      image: mergeStates(states.image, words(given.states?.image)),
    },
    pagination: { ...builtInDialect.pagination, ...severalAsLists(given.pagination ?? {}) },
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

/** What may be written as one value in a route, in what is waited for and in how a list goes on, and is a list. */
const severalAt: ReadonlySet<string> = new Set([
  ...["item", "items", "vm", "volume", "next", "marker", "ignore"],
  ...["id", "status", "done", "failed", "message", "error"],
]);

const severalAsLists = (given: object): object =>
  Object.fromEntries(
    Object.entries(onlyDefined(given)).map(([key, value]) => [
      key,
      key === "pagination" ? severalAsLists(fieldsIn(value)) : severalAt.has(key) ? listOf<unknown>(value) : value,
    ]),
  );

function mergeOperations(given: NonNullable<DialectFile["operations"]>): Dialect["operations"] {
  const routes: Record<string, object | null> = { ...builtInDialect.operations };
  for (const operation of assumedOperations) {
    if (!Object.hasOwn(given, operation)) continue;
    const several = given[operation] ?? null;
    const [written, alternatives = []] = several === null ? [null] : lastOf(several);
    const usual = rowOf(operation).items;
    routes[operation] = written && {
      ...severalAsLists(written),
      ...onlyDefined({
        items: written.items === undefined ? usual : undefined,
        alternatives: alternatives.length > 0 ? alternatives : undefined,
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

/** The schema has checked the parts, and asks for each that has to be there. */
function mergeWait(given: unknown): Pick<Dialect, "wait"> {
  if (!isObject(given)) return {};
  const job = {
    id: [],
    status: [],
    done: [],
    failed: [],
    message: [],
    error: [],
    ...severalAsLists(given),
  } as unknown as JobRoute; // Each of these is a list by now.
  return { wait: { ...job, done: job.done.map(String), failed: job.failed.map(String) } };
}

const mergeAttachments = (given: unknown): Pick<Dialect, "attachments"> =>
  // Each of these is a list by now.
  isObject(given)
    ? { attachments: { items: usualAttachmentItems, vm: [], ...severalAsLists(given) } as unknown as AttachmentRoute }
    : {};

const usualAttachmentItems: Pointers = ["", "/attachments", "/volumeAttachments", "/volume_attachments"];

/** A word to which the user gives a meaning loses its built-in meaning. */
function mergeStates<P extends string>(
  builtIn: Readonly<Record<P, readonly string[]>>,
  given: Readonly<Partial<Record<P, readonly string[]>>>,
): Readonly<Record<P, readonly string[]>> {
  const phases = keysOf(builtIn);
  const taken = new Set(phases.flatMap((phase) => given[phase] ?? []).map((word) => word.toLowerCase()));
  return tableOf(phases, (phase) => given[phase] ?? builtIn[phase].filter((word) => !taken.has(word.toLowerCase())));
}
