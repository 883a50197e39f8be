/** A list whose request names one region, as the same list of each (engine/doctor/each-region.ts). */
import { expect, it } from "vitest";
import type { ListRoute } from "../../reconciler/dialect/dialect";
import { withPlaceholder } from "../../reconciler/engine/doctor/each-region";

const regions = ["west", "east"];
const listed = (path: string, query?: ListRoute["query"]): ListRoute => ({
  ...{ method: "GET", path, items: ["/disks"] },
  ...(query === undefined ? {} : { query }),
});

it.each<
  readonly [
    what: string,
    route: ListRoute,
    ids: readonly string[],
    region: string | undefined,
    path: string,
    query: ListRoute["query"],
  ]
>([
  ["no region", listed("/disks", { limit: 5 }), regions, undefined, "", undefined],
  ["a region in its path", listed("/zones/east/disks"), regions, "east", "/zones/{region}/disks", undefined],
  ["a region in its query", listed("/disks", { zone: "west" }), regions, "west", "/disks", { zone: "{region}" }],
  [
    "a region in both, and a number beside it",
    listed("/zones/west/disks", { zone: "west", limit: 5 }),
    regions,
    "west",
    "/zones/{region}/disks",
    { zone: "{region}", limit: 5 },
  ],
  [
    "a word that only begins as a region does",
    listed("/western/disks", { zone: "westend" }),
    regions,
    undefined,
    "",
    undefined,
  ],
  ["the only region that there is", listed("/zones/west/disks"), ["west"], undefined, "", undefined],
  ["a region that nobody knows", listed("/zones/south/disks"), regions, undefined, "", undefined],
])("a list that names %s", (_, route, ids, region, path, query) => {
  const found = withPlaceholder(route, ids);
  expect(found?.region).toBe(region);
  if (region === undefined) return;
  expect(found?.route).toEqual({ ...route, path, ...(query === undefined ? {} : { query }), for_each: "region" });
});
