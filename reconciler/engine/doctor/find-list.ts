/** Finds the list of one kind: by rule and not by a list of paths, the dialect's own place first. */
import { type ListOperation, rowOf } from "../../core/model/operation";
import { isObject, onlyDefined } from "../../core/text/objects";
import type { ListRoute, Pointers, RecordPlace } from "../../dialect/dialect";
import { findListIn, itemsAt } from "../../dialect/learn/items";
import { candidates, nouns, recordOfOperation, styleOf } from "../../dialect/learn/where";
import { findAt, tokensOf } from "../../dialect/places";
import { type FilledRequest, fillRoute } from "../../dialect/requests";
import type { Learnings } from "./learnings";
import { describe, isSuccess, leavesUndecided, look, type SeenAnswer } from "./look";
import { readWholeList } from "./read-whole";
import { type OperationFinding, operationNotFound } from "./report";

export async function findList(learnings: Learnings, operation: ListOperation, isLookedFor: boolean): Promise<void> {
  const { ports, given, styles } = learnings;
  const route = given.operations[operation];
  const tried: { path: string; answer: string }[] = [];
  let unclear = false;
  const written = route === null ? [] : [route.path];
  const paths = isLookedFor ? candidates(operation, route, styles, ports.told?.[operation] ?? []) : written;
  for (const path of paths) {
    const said = route !== null && route.path === path ? route : undefined;
    const filled: FilledRequest | undefined = said === undefined ? { path } : fillRoute(said, {}, given);
    if (filled === undefined) continue;
    const seen = await look(ports, {
      operation,
      ...filled,
      ...onlyDefined({ method: said?.method }),
    });
    unclear ||= leavesUndecided(seen.outcome);
    const where = itemsIn(learnings, seen, operation, route);
    if (typeof where === "string") {
      tried.push({ path, answer: where });
      continue;
    }
    if ("several" in where) {
      tried.push({ path, answer: where.answer });
      unclear = true;
      learnings.todo.push(
        `operations.${operation}.items: which of ${where.several.map((place) => JSON.stringify(place)).join(", ")} is the list at ${path}`,
      );
      continue;
    }
    const style = styleOf(path);
    if (style !== undefined) styles.unshift(style);
    const found = foundRoute(said ?? { method: "GET", path }, where.places);
    const whole = await readWholeList(learnings, operation, found, filled, seen, where.items);
    tried.push({ path, answer: `a list of ${whole.items.length}` });
    learnings.listed(operation, whole);
    const finding: OperationFinding = {
      operation,
      verdict: "found",
      route: whole.route,
      tried,
      items: whole.items.length,
    };
    learnings.findings.set(operation, finding);
    return;
  }
  learnings.findings.set(operation, operationNotFound(operation, route, tried, unclear));
}

const foundRoute = ({ method, path, body, query, headers }: Omit<ListRoute, "items">, items: Pointers): ListRoute =>
  onlyDefined({ method, path, body, query, headers, items });

type ItemsThere =
  | { readonly items: readonly unknown[]; readonly places: Pointers }
  | { readonly several: readonly RecordPlace[]; readonly answer: string }
  | string;

/** The list in an answer and the places to write for it, or what the answer is instead. */
function itemsIn(
  learnings: Learnings,
  seen: SeenAnswer,
  operation: ListOperation,
  route: ListRoute | null,
): ItemsThere {
  if (!isSuccess(seen)) return describe(seen.outcome);
  const { lists } = learnings;
  const usual = route?.items ?? rowOf(operation).items ?? [];
  const payload = learnings.payload(seen.body);
  const where = placeOfItems(payload, usual) ?? findListIn(payload, nouns[recordOfOperation(operation)]);
  if (where === undefined) {
    // An empty map is an empty list where the service's other lists are maps.
    const alike = [...lists.values()].flatMap(({ route }) => route.items).find((place) => isEmptyMapAt(payload, place));
    return alike === undefined ? "an answer without a list" : { items: [], places: [alike] };
  }
  if ("several" in where)
    return { several: where.several, answer: `${where.several.length} lists, of which none is named for it` };
  return { items: where.items, places: usual.some((place) => place === where.place) ? usual : [where.place] };
}

function isEmptyMapAt(payload: unknown, place: RecordPlace): boolean {
  if (typeof place === "string" || place.keys === undefined) return false;
  const found = findAt(payload, tokensOf(place.in ?? ""));
  return isObject(found) && Object.keys(found).length === 0;
}

function placeOfItems(
  payload: unknown,
  usual: readonly RecordPlace[],
): { readonly place: RecordPlace; readonly items: readonly unknown[] } | undefined {
  for (const place of usual) {
    const items = itemsAt(payload, place);
    if (items === undefined) continue;
    const isOfTexts = items.length > 0 && items.every((item) => typeof item === "string");
    if (isOfTexts || (items.every(isObject) && !isWrapped(items))) return { place, items };
  }
  return undefined;
}

/** `[{ item: … }]` is no list of records yet. */
function isWrapped(items: readonly Readonly<Record<string, unknown>>[]): boolean {
  const keys = new Set(items.flatMap((item) => Object.keys(item)));
  const [only] = keys;
  return keys.size === 1 && only !== undefined && items.every((item) => isObject(item[only]));
}
