/** A list whose path or query names one region: the same list of the other regions, where there are such. */
import type { ListOperation } from "../../core/model/operation";
import { onlyDefined } from "../../core/text/objects";
import type { Dialect, ListRoute } from "../../dialect/dialect";
import { fillRoute } from "../../dialect/requests";
import type { FoundList, Learnings } from "./learnings";
import { isSuccess, look, outcomeInWords } from "./look";
import { itemsShown, readWholeList } from "./read-whole";
import { saidAt } from "./report";

/** The dialect in which `{region}` stands for a region. */
export const inRegion = (dialect: Dialect, region: string | undefined): Pick<Dialect, "values" | "headers"> =>
  region === undefined ? dialect : { ...dialect, values: { ...dialect.values, region } };

export function regionsOf(route: Pick<ListRoute, "for_each">, learnings: Learnings): readonly string[] {
  if (route.for_each === undefined) return [];
  return route.for_each === "region" ? learnings.texts("region", "id") : route.for_each;
}

/** The whole list with what the other regions show, and a route that reads all of them. */
export async function inEachRegion(
  learnings: Learnings,
  operation: ListOperation,
  whole: FoundList,
): Promise<FoundList> {
  const { ports, given } = learnings;
  const ids = learnings.texts("region", "id");
  const own = whole.route.for_each === undefined ? withPlaceholder(whole.route, ids) : undefined;
  const route = own?.route ?? whole.route;
  const regions = own === undefined ? regionsOf(route, learnings).slice(1) : ids.filter((id) => id !== own.region);
  if (regions.length === 0) return whole;
  let all = whole;
  for (const region of regions) {
    const filled = fillRoute(route, {}, inRegion(given, region));
    if (filled === undefined) return whole;
    const seen = await look(ports, { operation, method: route.method, ...filled });
    const items = route.items.map((place) => itemsShown(learnings, seen, place)).find((found) => found !== undefined);
    if (items === undefined) {
      const said = isSuccess(seen) ? "an answer without a list" : outcomeInWords(seen.outcome);
      learnings.open.push(
        `operations.${operation}: what it shows is not all, for of region ${region} the list was not shown (${said}); look again when the service shows it`,
      );
      return whole;
    }
    const more = await readWholeList(learnings, operation, route, filled, seen, items);
    all = { ...all, ...onlyDefined({ way: all.way ?? more.way }), items: [...all.items, ...more.items] };
  }
  if (own === undefined) return all;
  if (saidAt(learnings.file, "operations", operation) === undefined)
    return { ...all, route: { ...route, ...onlyDefined({ pagination: all.route.pagination }) } };
  learnings.open.push(
    `operations.${operation}: it is read in ${own.region} alone; path: ${JSON.stringify(route.path)}, for_each: region reads it in all ${ids.length} regions`,
  );
  return whole;
}

/** The route with `{region}` where it names a region. */
export function withPlaceholder(
  route: ListRoute,
  ids: readonly string[],
): { readonly route: ListRoute; readonly region: string } | undefined {
  if (ids.length < 2) return undefined;
  const region = ids.find(
    (id) => route.path.split("/").includes(id) || Object.values(route.query ?? {}).some((value) => value === id),
  );
  if (region === undefined) return undefined;
  const put = <V>(value: V): V | "{region}" => (String(value) === region ? "{region}" : value);
  const query = Object.entries(route.query ?? {}).map(([name, value]) => [name, put(value)] as const);
  return {
    region,
    route: {
      ...route,
      path: route.path.split("/").map(put).join("/"),
      ...(query.length > 0 && { query: Object.fromEntries(query) }),
      for_each: "region",
    },
  };
}
