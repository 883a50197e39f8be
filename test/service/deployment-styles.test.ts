/** What a dialect can say about requests, answers and pages, over real HTTP against a service that is scripted. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { Credential } from "../../reconciler/service/credential";
import { createServiceClient } from "../../reconciler/service/http-client";
import { eventually } from "../support/eventually";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}
type Respond = (seen: Seen) => { status?: number; body?: unknown; headers?: Record<string, string> };

let server: Server | undefined;
afterEach(() => new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve()))));

async function serve(dialectText: string, respond: Respond) {
  const seen: Seen[] = [];
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const one: Seen = {
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        body: text === "" ? undefined : JSON.parse(text),
      };
      seen.push(one);
      const { status = 200, body, headers = {} } = respond(one);
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body === undefined ? "" : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { dialect, diagnostics } = readDialectText(dialectText, "d.yaml");
  expect(diagnostics).toEqual([]);
  const client = createServiceClient({
    baseUrl: `http://127.0.0.1:${port}/cloud`,
    dialect,
    credential: new Credential(dialect.authorization.header.replace("{token}", "s3cret-token"), { kind: "fixed" }),
    timing: { requestTimeoutMs: 5000 },
    random: () => 0,
  });
  return { client, seen, port };
}

const vm = (id: number) => ({ id: `vm-${id}`, name: `web-${id}`, status: "ACTIVE" });
const idsOf = (outcome: { status: string; value?: readonly { id: string }[] }) =>
  outcome.value?.map(({ id }) => id) ?? outcome;

describe("requests", () => {
  test("ids and values stand in the path, the query, headers and the body; the credential in a header of any name", async () => {
    const { client, seen } = await serve(
      `operations:
  volume.delete: { method: POST, path: "/api/v1/{project}/volume/remove", query: { force: true, p: "{project}" }, headers: { X-Project: "{project}" }, body: { volumes: ["{id}"], deep: { id: "{id}" } } }
  group.rule.delete: { method: DELETE, path: "/api/v1/rule/{rule_id}" }
values: { project: "a/b" }
headers: { X-Api: "2" }
authorization: { name: X-Auth-Token, header: "{token}" }`,
      () => ({ body: {} }),
    );
    await client.deleteVolume("vol 1");
    await client.deleteRule("g-1", "r-1");
    expect(seen[0]).toMatchObject({
      method: "POST",
      url: "/cloud/api/v1/a%2Fb/volume/remove?force=true&p=a%2Fb",
      body: { volumes: ["vol 1"], deep: { id: "vol 1" } },
    });
    expect(seen[0]?.headers).toMatchObject({ "x-auth-token": "s3cret-token", "x-project": "a/b", "x-api": "2" });
    expect(seen[0]?.headers.authorization).toBeUndefined();
    expect(seen[1]).toMatchObject({ method: "DELETE", url: "/cloud/api/v1/rule/r-1" });
    await client.close();
  });

  test("an id that would make another path of it is not sent", async () => {
    const { client, seen } = await serve(
      `operations: { volume.delete: { method: POST, path: /v, body: { id: "{id}" } } }`,
      () => ({ body: {} }),
    );
    expect(await client.deleteVolume("..")).toMatchObject({ status: "rejected", condition: "invalid_id" });
    expect(seen).toEqual([]);
    await client.close();
  });
});

describe("answers", () => {
  test("records are unwrapped per operation", async () => {
    const { client } = await serve(
      `operations: { vm.get: { method: GET, path: "/api/v1/vm/{id}", item: /server } }
answers: { volume.get: { item: [/result/volume] }, volume.create: { item: /created } }`,
      ({ url, method }) => ({
        body: url.includes("/vm/")
          ? { id: "request-7", server: vm(1) }
          : method === "POST"
            ? { created: { id: "v-2", size: 5 } }
            : { result: { volume: { id: "v-1", size: 20 } } },
      }),
    );
    expect(await client.getVm("vm-1")).toMatchObject({ value: { id: "vm-1" } });
    expect(await client.getVolume("v-1")).toMatchObject({ value: { id: "v-1", sizeGb: 20 } });
    expect(await client.createVolume("data", 5)).toMatchObject({ value: { id: "v-2" } });
    await client.close();
  });

  test("the first of several is not the record that was asked for; one alone is", async () => {
    let volumes = [{ id: "v-1", name: "data", size: 5 }];
    const { client } = await serve(
      `operations: { vm.get: { method: GET, path: /api/v1/vms, query: { id: "{id}" }, item: /vms/0 } }
answers: { volume.create: { item: /volumes/0 } }`,
      ({ method }) => ({ body: method === "POST" ? { volumes } : { vms: [vm(1), vm(2)] } }),
    );
    expect(await client.createVolume("data", 5)).toMatchObject({ value: { id: "v-1" } });
    volumes = [{ id: "v-0", name: "of-another", size: 50 }, ...volumes];
    expect(JSON.stringify(await client.createVolume("data", 5))).not.toContain("v-0");
    expect(JSON.stringify(await client.getVm("vm-2"))).not.toContain("web-1");
    await client.close();
  });

  test("another envelope: its payload, and its not-found is believed", async () => {
    const { client } = await serve(
      `operations: { vm.get: { method: GET, path: "/api/v1/vm/{id}" } }
envelope: { data: /result, error: { code: /fault/code, message: /fault/reason } }
errors: [{ is: not_found, status: 404, code: "VM_*" }]`,
      ({ url }) =>
        url.endsWith("/vm-1")
          ? { body: { result: vm(1) } }
          : { status: 404, body: { fault: { code: "VM_GONE", reason: "no such machine" } } },
    );
    expect(await client.getVm("vm-1")).toMatchObject({ value: { id: "vm-1" } });
    expect(await client.getVm("2")).toMatchObject({ condition: "not_found", message: "no such machine" });
    expect(await client.getVolume("3")).toMatchObject({ condition: "not_found" });
    await client.close();
  });

  test("a refusal inside a 200, by the service's own code", async () => {
    const { client } = await serve(
      `envelope: { data: /data, success: { value: /code, is: [0, OK] }, error: { code: /code, message: /msg } }
errors: [{ is: not_found, code: "4040*" }, { is: throttled, code: 4290 }]`,
      (() => {
        let asked = 0;
        return ({ url, method }) => {
          if (method === "POST") return { body: { code: 5001, msg: "disk pool is full", data: null } };
          if (url.endsWith("/slow"))
            return { body: asked++ === 0 ? { code: 4290, msg: "slow down" } : { code: 0, data: { id: "slow" } } };
          return { body: { code: 40401, msg: "no such volume", data: null } };
        };
      })(),
    );
    expect(await client.getVolume("v-1")).toMatchObject({
      status: "rejected",
      condition: "not_found",
      message: "no such volume",
    });
    expect(await client.getVolume("slow")).toMatchObject({ value: { id: "slow" } });
    const outcome = await client.createVolume("data", 5);
    expect(outcome).toMatchObject({ status: "unknown" });
    expect(JSON.stringify(outcome)).toContain("disk pool is full");
    expect(JSON.stringify(outcome)).toContain("code: 5001");
    await client.close();
  });

  test("throttling under another status is waited out, also for a write, and its own header says how long", async () => {
    let asked = 0;
    const { client, seen } = await serve(
      `errors: [{ is: throttled, status: 503, message: "too many" }]\nretry_after: X-Wait`,
      () =>
        asked++ === 0
          ? { status: 503, body: { error: { code: 7, message: "Too many calls" } }, headers: { "x-wait": "0" } }
          : { body: {} },
    );
    expect(await client.attachVolume("v", "vm")).toMatchObject({ status: "accepted" });
    expect(seen).toHaveLength(2);
    await client.close();
  });
});

/** Seven VMs, three a page. */
const pageOf = (from: number) => [1, 2, 3, 4, 5, 6, 7].slice(from, from + 3).map(vm);
const whole = ["vm-1", "vm-2", "vm-3", "vm-4", "vm-5", "vm-6", "vm-7"];
const parameter = (url: string, name: string) => new URL(url, "http://x").searchParams.get(name);

describe("pages", () => {
  const list = (rest: string) => `operations: { vm.list: { method: GET, path: /api/v1/vms, items: /vms, ${rest} } }`;
  const styles: Record<string, [string, Respond]> = {
    "a marker of the last item": [
      list("pagination: { marker: /id, param: marker }"),
      ({ url }) => ({ body: { vms: pageOf(Number(parameter(url, "marker")?.slice(3) ?? 0)) } }),
    ],
    "a marker, where the other lists count pages": [
      `pagination: { number: 1, param: page }\n${list("pagination: { marker: /id, param: marker }")}`,
      ({ url }) => ({ body: { vms: pageOf(Number(parameter(url, "marker")?.slice(3) ?? 0)) } }),
    ],
    "page numbers from 1": [
      list("pagination: { number: 1, param: page }"),
      ({ url }) => ({ body: { vms: pageOf((Number(parameter(url, "page") ?? 1) - 1) * 3) } }),
    ],
    "page numbers from 0": [
      list("pagination: { number: 0, param: p }"),
      ({ url }) => ({ body: { vms: pageOf(Number(parameter(url, "p") ?? 0) * 3) } }),
    ],
    "an offset": [
      list("pagination: { offset: true, param: skip }"),
      ({ url }) => ({ body: { vms: pageOf(Number(parameter(url, "skip") ?? 0)) } }),
    ],
    "a token that looks like a path": [
      list("pagination: { next: /next, param: cursor, as: token }"),
      ({ url }) => {
        const from = Number(parameter(url, "cursor")?.slice(1) ?? 0);
        return { body: { vms: pageOf(from), ...(from + 3 < 7 && { next: `/${from + 3}` }) } };
      },
    ],
    "a link among several, by its rel": [
      list("pagination: { next: { in: /links, where: { rel: next }, value: /href } }"),
      ({ url }) => {
        const from = Number(parameter(url, "from") ?? 0);
        const links = [
          { rel: "self", href: url },
          ...(from + 3 < 7 ? [{ rel: "next", href: `/cloud/api/v1/vms?from=${from + 3}` }] : []),
        ];
        return { body: { vms: pageOf(from), links } };
      },
    ],
    "links with an inner host": [
      list("pagination: { next: /next, links: rewritten }"),
      ({ url }) => {
        const from = Number(parameter(url, "from") ?? 0);
        return {
          body: {
            vms: pageOf(from),
            ...(from + 3 < 7 && { next: `http://10.9.9.9:8774/api/v1/vms?from=${from + 3}` }),
          },
        };
      },
    ],
    "a Link header": [
      list("pagination: { next_header: Link }"),
      ({ url }) => {
        const from = Number(parameter(url, "from") ?? 0);
        return {
          body: { vms: pageOf(from) },
          ...(from + 3 < 7 && {
            headers: { link: `</cloud/api/v1/vms>; rel="first", </cloud/api/v1/vms?from=${from + 3}>; rel="next"` },
          }),
        };
      },
    ],
    "a cursor in the body of a POST": [
      `operations: { vm.list: { method: POST, path: /api/v1/vms/search, body: { filter: {} }, items: /vms, pagination: { next: /cursor, param: /page/cursor } } }`,
      ({ body }) => {
        const from = Number((body as { page?: { cursor?: string } }).page?.cursor ?? 0);
        return { body: { vms: pageOf(from), ...(from + 3 < 7 && { cursor: String(from + 3) }) } };
      },
    ],
    "a map keyed by id": [
      `operations: { vm.list: { method: GET, path: /api/v1/vms, items: { in: /vms, keys: id } } }`,
      () => ({
        body: { vms: Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((id) => [`vm-${id}`, { name: `w${id}` }])) },
      }),
    ],
  };
  for (const [style, [dialectText, respond]] of Object.entries(styles))
    test(style, async () => {
      const { client } = await serve(dialectText, respond);
      expect(idsOf(await client.listVms())).toEqual(whole);
      await client.close();
    });

  test("the total that it tells spares the empty page", async () => {
    const { client, seen } = await serve(list("pagination: { offset: true, param: skip }"), ({ url }) => ({
      body: { total: 7, vms: pageOf(Number(parameter(url, "skip") ?? 0)) },
    }));
    expect(idsOf(await client.listVms())).toEqual(whole);
    expect(seen).toHaveLength(3);
    await client.close();
  });

  test.each<
    [
      what: string,
      dialect: string,
      behind: "more" | "again" | "refused" | "left out" | "nothing" | "refused, as it said" | "again, as it said",
      ids: readonly string[] | undefined,
    ]
  >([
    ["is read on", list("pagination: { number: 1, param: page }"), "more", whole],
    [
      "ends where the next page shows it again",
      list("pagination: { number: 1, param: page }"),
      "again",
      whole.slice(0, 3),
    ],
    [
      "ends where the next page is refused",
      list("pagination: { number: 1, param: page }"),
      "refused",
      whole.slice(0, 3),
    ],
    [
      "ends where the next page leaves the list out",
      list("pagination: { number: 1, param: page }"),
      "left out",
      whole.slice(0, 3),
    ],
    [
      "ends where the next page is empty, however full its page was",
      list("pagination: { number: 1, param: page }"),
      "nothing",
      whole.slice(0, 3),
    ],
    [
      "ends where it says that there is no more, and the next page is refused",
      list("pagination: { number: 1, param: page }"),
      "refused, as it said",
      whole.slice(0, 3),
    ],
    [
      "ends where it says that there is no more, and the next page shows it again",
      list("pagination: { number: 1, param: page }"),
      "again, as it said",
      whole.slice(0, 3),
    ],
    [
      "is no proof where another page shows more",
      "operations: { vm.list: { method: GET, path: /api/v1/vms } }",
      "more",
      undefined,
    ],
    [
      "is one where nothing shows more",
      "operations: { vm.list: { method: GET, path: /api/v1/vms } }",
      "again",
      whole.slice(0, 3),
    ],
  ])("a list that counts the items of its page %s", async (_, dialect, behind, ids) => {
    const { client } = await serve(dialect, ({ url }) => {
      const page = Number(parameter(url, "page") ?? 1);
      if (behind.startsWith("refused") && page > 1)
        return { status: 400, body: { error: { code: 1, message: "no such page" } } };
      if (behind === "left out" && page > 1) return { body: { count: 3 } };
      if (behind.endsWith("as it said")) return { body: { has_more: false, vms: pageOf(0) } };
      if (behind === "nothing") return { body: { count: 3, limit: 3, vms: page > 1 ? [] : pageOf(0) } };
      const vms = pageOf(behind === "more" ? (page - 1) * 3 : 0);
      return { body: { count: vms.length, vms } };
    });
    const listed = await client.listVms({ proves: true });
    expect(listed.status === "accepted" ? idsOf(listed) : undefined).toEqual(ids);
    await client.close();
  });

  test("a service that takes no notice of the page's number is no list of pages without an end", async () => {
    const { client, seen } = await serve(list("pagination: { number: 1, param: page }"), () => ({
      body: { vms: pageOf(0) },
    }));
    expect(await client.listVms()).toMatchObject({ status: "rejected", condition: "unreadable" });
    expect(seen.length).toBeLessThan(4);
    await client.close();
  });

  test("pages are asked for in the size that the dialect names, and so are all that follow", async () => {
    const many = ({ url }: { readonly url: string }) => {
      const [from, size] = [Number(parameter(url, "from") ?? 0), Number(parameter(url, "limit") ?? 2)];
      const next = from + size < 7 && { next: `/cloud/api/v1/vms?from=${from + size}&limit=${size}` };
      return { body: { vms: [1, 2, 3, 4, 5, 6, 7].map(vm).slice(from, from + size), ...next } };
    };
    const asked = await serve(list("pagination: { next: /next, size: 5, size_param: limit }"), many);
    expect(idsOf(await asked.client.listVms())).toEqual(whole);
    expect(asked.seen.map(({ url }) => parameter(url, "limit"))).toEqual(["5", "5"]);
    expect(asked.client.listCost?.("vm")).toMatchObject({ pageItems: 5 });
    await asked.client.close();
  });

  test("what the path of a list says of its size stays so, and the documented list of rules is not asked for one", async () => {
    const { client, seen } = await serve(
      `operations: { vm.list: { method: GET, path: "/v?limit=3", items: /vms } }
pagination: { size: 900, size_param: limit }`,
      ({ url }) => ({ body: url.includes("/v?") ? { vms: pageOf(0) } : { data: [] } }),
    );
    await client.listVms();
    await client.listRules("g-1");
    expect(seen.map(({ url }) => parameter(url, "limit"))).toEqual(["3", null]);
    await client.close();
  });

  test("a list that is asked for with a body carries its size in there", async () => {
    const { client, seen } = await serve(
      `operations: { vm.list: { method: POST, path: /search, body: { filter: {} }, items: /vms, pagination: { size: 50, size_param: /page/size } } }`,
      () => ({ body: { vms: pageOf(0) } }),
    );
    await client.listVms();
    expect(seen[0]?.body).toEqual({ filter: {}, page: { size: 50 } });
    await client.close();
  });

  test("the next page that a page names is asked for while that one is read", async () => {
    const { client, seen } = await serve(list("pagination: { next: /next }"), ({ url }) =>
      // The records of the first page cannot all be read, and by then the second one has been asked for.
      url.includes("from")
        ? { body: { vms: pageOf(3) } }
        : { body: { vms: [vm(1), { name: "without an id" }], next: "/cloud/api/v1/vms?from=3" } },
    );
    expect(await client.listVms()).toMatchObject({ status: "rejected", condition: "unreadable" });
    await eventually("the second page is asked for", () => (seen.length === 2 ? true : undefined));
    await client.close();
  });

  test("the documented list of rules is not asked for numbered pages", async () => {
    const rule = { id: "r-1", direction: "ingress" };
    const { client, seen } = await serve("pagination: { number: 1, param: page }", () => ({ body: { data: [rule] } }));
    expect(await client.listRules("g-1")).toMatchObject({ status: "accepted", value: [{ id: "r-1" }] });
    expect(seen).toHaveLength(1);
    await client.close();
  });

  test("a link to another host is never followed there", async () => {
    const { client, seen } = await serve(list("pagination: { next: /next }"), () => ({
      body: { vms: pageOf(0), next: "http://10.9.9.9:8774/api/v1/vms?from=3" },
    }));
    const outcome = await client.listVms();
    expect(outcome).toMatchObject({ status: "rejected", condition: "unreadable" });
    expect(JSON.stringify(outcome)).toContain("rewritten");
    expect(seen).toHaveLength(1);
    await client.close();
  });
});
