/** What a list says about its pages, and what that makes of it: whole, or no evidence. */
import { describe, expect, it } from "vitest";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import type { Dialect, Pointers } from "../../reconciler/dialect/dialect";
import { createRecordReaders } from "../../reconciler/dialect/records";
import { gapIn, incomplete } from "../../reconciler/dialect/whole-list";

const items = [{ id: "a", name: "a", next: "b", total: 9, links: { next: "/x" } }, { id: "b" }];

/** What is missing of a list of VMs that is one page. */
function gapOf(
  body: unknown,
  headers: Record<string, string> = {},
  pagination: Partial<Dialect["pagination"]> = {},
  places?: Pointers,
) {
  const { operations } = builtInDialect;
  const dialect: Dialect = {
    ...builtInDialect,
    pagination: { ...builtInDialect.pagination, ...pagination },
    operations: places ? { ...operations, "vm.list": { method: "GET", path: "/vms", items: places } } : operations,
  };
  const page = createRecordReaders(dialect).page("vm.list", body, headers);
  if (page.status !== "accepted") throw new Error(page.message);
  const { signs } = page.value;
  const count = page.value.items.length;
  return gapIn({ pages: [{ signs, items: count }], distinct: count, repeated: undefined, contradicted: undefined });
}
const hintOf = (...args: Parameters<typeof gapOf>): string | undefined => {
  const gap = gapOf(...args);
  return gap === undefined ? undefined : incomplete("vm.list", gap).hint;
};

describe("a list that is whole", () => {
  const whole: Record<string, unknown> = {
    "a bare array, whatever its records hold": items,
    "the contract's envelope with an empty next": { data: items, page: { next: "", prev: "3", total_size: 2 } },
    "the envelope with null for both": { data: items, error: null, page: { next: null, prev: null, total_size: 2 } },
    "an array under a name": { vms: items, count: 2 },
    "nulls and falsehoods all around": {
      items,
      next: null,
      NextToken: "",
      has_more: false,
      links: { self: "/vms", next: null, last: "/vms" },
      meta: { pagination: { total: 2, per_page: 2, current_page: 1, total_pages: 1, next_page: null } },
    },
    "an array within two objects": { data: { vms: items, page: { number: 0, size: 20 } } },
    "a limit that was not reached": { items, limit: 100, offset: 0 },
    "a full page that says it is the last": { items, limit: 2, is_truncated: false },
    "a full page of all there are": { items, limit: 2, total: 2 },
    "a full page of the only one there is": { items, page: { size: 2, number: 0, totalPages: 1 } },
    "links that lead elsewhere": { items, vms_links: [{ rel: "self", href: "/vms" }] },
    "a warning of another matter": { items, warnings: ["this version is deprecated"] },
    "nothing that is missing": { items, warnings: [], unreachable: [], warning: null, failed: 0 },
    "an answer that was in time": {
      items,
      timed_out: false,
      degraded: "false",
      stale: 0,
      status: "complete",
      state: 1,
    },
    "errors that are none": { data: { vms: items, errors: [], error: { code: 0, message: "" } }, meta: { errors: 0 } },
    "a cursor where this page began, and no more": { items, cursor: "abc", has_more: false },
    "other counts than of items": { items, status: "ok", request_id: "1", total: { cpu: 4 }, timing_ms: 7 },
    "fewer than were read": { items, count: 1 },
    "an empty list that is null": { data: null },
  };
  for (const [title, body] of Object.entries(whole)) it(title, () => expect(gapOf(body)).toBeUndefined());

  it("a full page that shows the map of links and no next one, where the dialect looks for it there", () => {
    const page = { items, limit: 2, offset: 0, _links: { self: "/vms" } };
    expect(gapOf(page, {}, { next: ["/_links/next"] })).toBeUndefined();
    expect(gapOf(page)).toMatchObject({ kind: "open" });
    expect(gapOf({ items, limit: 2 }, {}, { next: ["/_links/next"] })).toMatchObject({ kind: "open" });
    expect(gapOf({ items, page: { limit: 2 } }, {}, {})).toMatchObject({ kind: "open" });
  });

  it("headers of other matters", () =>
    expect(
      gapOf(items, { link: '</docs>; rel="help"', "x-ratelimit-remaining": "9", "x-next-page": "", "x-total": "2" }),
    ).toBeUndefined());
});

describe("a list in which two items have one id", () => {
  const pages = (total: number) => [
    { signs: [{ kind: "total", name: "/total", at: "/total", count: total } as const], items: 2 },
  ];
  it.each([
    ["is torn", [{ signs: [], items: 2 }], "v1", undefined, "two of its items have the id v1"],
    ["is whole where it says how many there are", pages(1), "v1", undefined, undefined],
    ["is torn where they differ, whatever it says", pages(1), "v1", "v1", "say different things"],
  ])("%s", (_, shown, repeated, contradicted, because) => {
    const gap = gapIn({ pages: shown, distinct: 1, repeated, contradicted });
    expect([gap?.kind, gap?.because]).toEqual(
      because === undefined ? [undefined, undefined] : ["torn", expect.stringContaining(because)],
    );
  });
});

describe("a list that leads on", () => {
  it("one that a cache has kept for longer than a list may be behind, and not what is fresh", () => {
    expect(hintOf({ items }, { age: "300" })).toContain("pagination: { ignore: [age] }");
    expect(gapOf({ items }, { age: "300" }, { ignore: ["age"] })).toBeUndefined();
    expect(gapOf({ items }, { age: "3" })).toBeUndefined();
  });

  it.each([
    [{ items, warnings: ["zone b did not answer"] }, "/warnings"],
    [{ items, unreachable: ["zone-b"] }, "/unreachable"],
    [{ items, warning: { code: "UNREACHABLE", message: "zone b" } }, "/warning"],
    [{ data: items, meta: { failed_regions: ["west"] } }, "/meta/failed_regions"],
    [{ data: { vms: items, errors: ["zone b did not answer"] } }, "/data/errors"],
    [{ vms: items, meta: { error: { message: "zone b" } } }, "/meta/error"],
    [{ vms: items, timed_out: true }, "/timed_out"],
    [{ vms: items, meta: { isStale: "true" } }, "/meta/isStale"],
    [{ vms: items, degraded: true }, "/degraded"],
    [{ vms: items, status: "partial" }, "/status"],
    [{ vms: items, metadata: { state: "DEGRADED" } }, "/metadata/state"],
  ])("one that says that something could not be shown: %j", (body, at) => {
    expect(hintOf(body)).toContain(`pagination: { ignore: [${at}] }`);
    expect(gapOf(body, {}, { ignore: [at] })).toBeUndefined();
  });

  it("a list in parts, of which one says that something could not be shown, and none is left out", () => {
    const parts = [{ in: "/zones/*/vms", absent: "none" as const }];
    const zones = (b: object) => ({ zones: { a: { vms: items }, b } });
    const nothing = { warning: { code: "NO_RESULTS_ON_PAGE", message: "there are no results for zone b" } };
    const unreachable = { warning: { code: "UNREACHABLE", message: "zone b" } };
    expect(gapOf(zones(nothing), {}, {}, parts)).toBeUndefined();
    expect(gapOf(zones(unreachable), {}, {}, parts)).toMatchObject({ kind: "open" });
    expect(gapOf(zones(unreachable), {}, { ignore: ["/warning"] }, parts)).toBeUndefined();
  });

  it("a list that shows an error where one of its items, or of its parts, would be", () => {
    const unwrapped = [{ in: "/list", value: "/vm" }];
    const list = (...others: object[]) => ({ list: [{ vm: { id: "a" } }, ...others] });
    expect(gapOf(list({ error: "host b did not answer" }), {}, {}, unwrapped)).toMatchObject({ kind: "open" });
    expect(gapOf(list({ errors: [{ code: 5 }] }), {}, {}, unwrapped)).toMatchObject({ kind: "open" });
    expect(gapOf(list({ disk: { id: "d" }, error: null }), {}, {}, unwrapped)).toBeUndefined();
    expect(gapOf(list({ vm: { id: "b" }, error: "of its build" }), {}, {}, unwrapped)).toBeUndefined();
    expect(gapOf(list({ error: "known" }), {}, { ignore: ["/error"] }, unwrapped)).toBeUndefined();
    const parts = [{ in: "/zones/*/vms", absent: "none" as const }];
    expect(gapOf({ zones: { a: { vms: items }, b: { error: { code: 7 } } } }, {}, {}, parts)).toMatchObject({
      kind: "open",
    });
  });

  const cases: [body: unknown, at: string][] = [
    [{ items, next: "/api/v1/vm/list?page=2" }, "/next"],
    [{ items, next: { href: "/v?p=2" } }, "/next/href"],
    [{ items, next_page: 2 }, "/next_page"],
    [{ items, nextPageToken: "x" }, "/nextPageToken"],
    [{ Reservations: 1, vms: items, NextToken: "x" }, "/NextToken"],
    [{ vms: items, NextMarker: "x", IsTruncated: true }, "/NextMarker"],
    [{ vms: items, vms_links: [{ rel: "next", href: "/v?marker=b" }] }, "/vms_links/0/href"],
    [{ vms: items, links: [{ rel: "self" }, { rel: "next", href: "/v" }] }, "/links/1/href"],
    [{ data: { vms: items, next_cursor: "x" } }, "/data/next_cursor"],
    [{ data: items, links: { next: "/v?p=2" } }, "/links/next"],
    [{ data: items, _links: { next: { href: "/v?p=2" } } }, "/_links/next/href"],
    [{ data: items, "@odata.nextLink": "https://x/2" }, "/@odata.nextLink"],
    [{ data: items, meta: { pagination: { links: { next: "u" } } } }, "/meta/pagination/links/next"],
    [{ data: items, page: { next: { token: "x" } } }, "/page/next/token"],
    [{ data: items, response_metadata: { next_cursor: "x" } }, "/response_metadata/next_cursor"],
    [{ items, metadata: { continue: "x" } }, "/metadata/continue"],
    [{ items, cursor: "x" }, "/cursor"],
    [{ items, continuationToken: "x" }, "/continuationToken"],
    [{ items, LastEvaluatedKey: { id: "b" } }, "/LastEvaluatedKey/id"],
  ];
  it.each(cases)("%j: the pointer to add is %s", (body, at) => {
    expect(hintOf(body)).toContain(`pagination: { next: [${at}], param: … }`);
  });

  it.each(cases)("%j: and a line that says it leads nowhere", (body, at) => {
    const ignored = gapOf(body, {}, { ignore: [at] });
    expect(ignored === undefined || (ignored.kind === "open" && ignored.sign.at !== at)).toBe(true);
  });

  it.each([
    [{ link: '<https://x/v?p=2>; rel="next"' }, "link"],
    [{ link: "</v?p=0>; rel=prev, </v?p=2>; rel=next" }, "link"],
    [{ "x-next-page": "2" }, "x-next-page"],
    [{ "opc-next-page": "x" }, "opc-next-page"],
    [{ "x-ms-continuation": "x" }, "x-ms-continuation"],
  ])("the header %j", (headers, name) => {
    expect(hintOf({ data: items }, headers)).toContain(`next_header: ${name}`);
    expect(gapOf({ data: items }, headers, { ignore: [name] })).toBeUndefined();
  });
});

describe("a list that says it is not all", () => {
  it.each([
    [{ items, has_more: true }],
    [{ items, hasMore: "true" }],
    [{ items, is_truncated: true }],
    [{ items, truncated: true }],
    [{ items, incomplete_results: true }],
    [{ items, page: { hasNextPage: true } }],
    [{ content: items, last: false, vms: items }],
    [{ items, total: 3 }],
    [{ items, total_size: "3" }],
    [{ items, count: 3 }],
    [{ items, meta: { total_count: 3 } }],
    [{ data: items, page: { next: "", total_size: 3 } }],
    [{ items, totalElements: 3 }],
    [{ items, page: 1, total_pages: 2 }],
    [{ items, page: 1, numPage: 2 }],
    [{ items, page: 1, lastPage: 2 }],
    [{ items, limit: 2, numPage: 1 }],
    [{ items, limit: 2, last_page: 1 }],
    [{ items, limit: 2, total_pages: 0 }],
    [{ items, limit: 2, offset: 0 }],
    [{ items, page: { size: 2, number: 0 } }],
    [{ items, per_page: "2", page: 1 }],
  ])("%j is no evidence", (body) => {
    expect(gapOf(body)).toMatchObject({ kind: "open" });
    expect(hintOf(body)).toMatch(/pagination: \{ next: .*pagination: \{ ignore: \[\/.+\] \}/);
  });

  it.each([
    [{ "x-total-count": "3" }],
    [{ "content-range": "vms 0-1/3" }],
    [{ "x-has-more": "true" }],
    [{ "x-total-pages": "2" }],
  ])("the header %j neither", (headers) => expect(gapOf(items, headers)).toMatchObject({ kind: "open" }));

  it("the words say what was said and what was read", () => {
    expect(incomplete("vm.list", gapOf({ items, total: 3 })!)).toMatchObject({
      condition: "unreadable",
      message: "the list of vm.list is not whole: /total says 3, and 2 were read",
    });
  });
});
