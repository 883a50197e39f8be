import { createRequire } from "node:module";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { Pool } from "undici";
import { describe, expect, test } from "vitest";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import type { Dialect } from "../../reconciler/dialect/dialect";
import { mergeDialect } from "../../reconciler/dialect/merge-dialect";
import { closeAfterwards, makeClient, start, type TestClient } from "./make-client";
import { json, type Script, startServer, text } from "./scripted-server";

const withOperations = (operations: Partial<Dialect["operations"]>): Dialect => ({
  ...builtInDialect,
  operations: { ...builtInDialect.operations, ...operations },
});

test("the pool that is loaded by itself is the one that undici gives", () => {
  expect(createRequire(__filename)("undici/lib/dispatcher/pool")).toBe(Pool);
});

describe("requests", () => {
  const rule = { direction: "ingress", ethertype: "IPv4", protocol: "tcp" } as const;
  type Send = (client: TestClient["client"]) => Promise<unknown>;
  const cases: Record<string, [Send, string, unknown]> = {
    "VM creation request: sizes are text, the caller's user id is `id`": [
      (c) =>
        c.createVm({
          name: "web",
          flavor: "m1",
          image: "i",
          owner: "o",
          userId: "7",
          project: "p",
          region: "r",
          sizeGb: 20,
          rootSizeGb: 60,
          skipFloatingIp: true,
        }),
      "POST /api/v1/vm/create",
      {
        flavor_id: "m1",
        id: "7",
        image_id: "i",
        name: "web",
        owner: "o",
        project: "p",
        region: "r",
        root_size: "60",
        size: "20",
        skip_floating_ip: true,
      },
    ],
    "VM creation request: what is left out stays out": [
      (c) =>
        c.createVm({
          name: "web",
          flavor: "m1",
          image: "i",
          owner: "o",
          userId: "7",
          project: "p",
          region: "r",
          sizeGb: 1,
        }),
      "POST /api/v1/vm/create",
      { flavor_id: "m1", id: "7", image_id: "i", name: "web", owner: "o", project: "p", region: "r", size: "1" },
    ],
    "rename VM": [(c) => c.renameVm("v1", "new"), "POST /api/v1/vm/rename/v1", { name: "new" }],
    "rebuild VM": [(c) => c.rebuildVm("v1", "img"), "POST /api/v1/vm/rebuild/v1", { image: "img" }],
    "resize VM": [(c) => c.resizeVm("v1", "m2"), "POST /api/v1/vm/resize/v1", { flavor: "m2" }],
    "confirm a resize": [(c) => c.confirmResize("v1"), "POST /api/v1/vm/resize/v1/confirm", undefined],
    "revert a resize": [(c) => c.revertResize("v1"), "POST /api/v1/vm/resize/v1/revert", undefined],
    "snapshot VM": [(c) => c.snapshotVm("v1", "s"), "POST /api/v1/vm/snapshot/v1", { name: "s" }],
    "stop VM takes no body": [(c) => c.stopVm("v1"), "POST /api/v1/vm/stop/v1", undefined],
    "start VM": [(c) => c.startVm("v1"), "POST /api/v1/vm/start/v1", undefined],
    "reboot VM": [(c) => c.rebootVm("v1"), "POST /api/v1/vm/reboot/v1", undefined],
    "delete VM with its address": [
      (c) => c.deleteVm("v1", true),
      "DELETE /api/v1/vm/delete/v1?delete_floating_ip=true",
      undefined,
    ],
    "delete VM, the address not named": [(c) => c.deleteVm("v1", undefined), "DELETE /api/v1/vm/delete/v1", undefined],
    "create volume: the size is text": [
      (c) => c.createVolume("d", 9),
      "POST /api/v1/volume/create",
      { name: "d", size: "9" },
    ],
    "attach volume": [
      (c) => c.attachVolume("d1", "v1"),
      "POST /api/v1/volume/attach",
      { vm_id: "v1", volume_id: "d1" },
    ],
    "detach volume says flush_confirmed": [
      (c) => c.detachVolume("d1", "v1", true),
      "POST /api/v1/volume/detach",
      { vm_id: "v1", volume_id: "d1", flush_confirmed: true },
    ],
    "resize volume: the size is text": [
      (c) => c.resizeVolume("d1", 30),
      "POST /api/v1/volume/resize/d1",
      { size: "30" },
    ],
    "delete volume": [(c) => c.deleteVolume("d1"), "DELETE /api/v1/volume/d1", undefined],
    "create group with rules: ports are text": [
      (c) =>
        c.createGroup({
          name: "g",
          description: "x",
          rules: [{ ...rule, portMin: 443, portMax: 443, remoteIp: "0.0.0.0/0" }],
        }),
      "POST /api/v1/security-group",
      {
        name: "g",
        description: "x",
        rules: [{ direction: "ingress", ethertype: "IPv4", dst_port: "443", protocol: "tcp", remote_ip: "0.0.0.0/0" }],
      },
    ],
    "update group": [
      (c) => c.updateGroup("g1", { description: "" }),
      "PATCH /api/v1/security-group/g1",
      { description: "" },
    ],
    "delete group": [(c) => c.deleteGroup("g1"), "DELETE /api/v1/security-group/g1", undefined],
    "add rule": [
      (c) => c.createRule("g1", { ...rule, remoteGroupId: "g2", description: "d" }),
      "POST /api/v1/security-group/g1/rule",
      { direction: "ingress", ethertype: "IPv4", protocol: "tcp", remote_group: "g2", description: "d" },
    ],
    "import groups: the listing goes as it is": [
      (c) => c.importGroups({ SecurityGroups: [{ GroupName: "x" }] }),
      "POST /api/v1/security-group/import",
      { SecurityGroups: [{ GroupName: "x" }] },
    ],
    "an id is one path segment": [(c) => c.stopVm("a/../b?x"), "POST /api/v1/vm/stop/a%2F..%2Fb%3Fx", undefined],
  };
  for (const [title, [send, line, body]] of Object.entries(cases))
    test(title, async () => {
      const { client, server } = await start([json(200, { data: "ok" })]);
      await send(client);
      expect(server.received.map(({ method, url }) => `${method} ${url}`)).toEqual([line]);
      expect(server.received[0]!.body === "" ? undefined : JSON.parse(server.received[0]!.body)).toEqual(body);
      expect(server.received[0]!.authorization).toMatch(/^Bearer canary/);
    });

  test("a base URL with a path puts it before every path", async () => {
    const server = await startServer(json(200, []));
    const { client } = makeClient(`${server.baseUrl}/cloud/`);
    closeAfterwards(server, client);
    await client.listVms();
    expect(server.received[0]!.url).toBe("/cloud/api/v1/vm/list");
  });

  test("a port range is refused without a request when the dialect has no way to write it", async () => {
    const { client, server } = await start([json(200, {})]);
    const outcome = await client.createRule("g1", { ...rule, portMin: 80, portMax: 90 });
    expect(outcome).toMatchObject({
      status: "rejected",
      condition: "unsupported",
      hint: expect.stringContaining("rules: { port_range:"),
    });
    expect(server.received).toEqual([]);
  });

  test("a port range is written as the dialect says", async () => {
    const { client, server } = await start([json(200, { data: { id: "r", direction: "ingress" } })], {
      dialect: { ...builtInDialect, rules: { port_range: "{min}-{max}" } },
    });
    await client.createRule("g1", { ...rule, portMin: 80, portMax: 90 });
    expect(JSON.parse(server.received[0]!.body)).toMatchObject({ dst_port: "80-90" });
  });

  test("an operation that the dialect lacks is refused without a request", async () => {
    const { client, server } = await start([json(200, {})]);
    expect(client.can.deletesRules).toBe(false);
    expect(await client.deleteRule("g", "r")).toMatchObject({ status: "rejected", condition: "unsupported" });
    expect(await client.listVolumes()).toMatchObject({ status: "rejected", condition: "unsupported" });
    expect(server.received).toEqual([]);
  });

  test.each(["", ".", ".."])("the id %j is refused without a request, since it would make another path", async (id) => {
    const { client, server } = await start([json(200, {})]);
    expect(await client.stopVm(id)).toMatchObject({ status: "rejected", condition: "invalid_id" });
    expect(server.received).toEqual([]);
  });
});

describe("answers", () => {
  test("bare JSON strings and envelopes both acknowledge", async () => {
    const { client } = await start([json(200, "instance rebuilding"), json(202, { data: "accepted" }), text(200, "")]);
    expect(await client.rebuildVm("v", "i")).toEqual({ status: "accepted", value: undefined });
    expect(await client.renameVm("v", "n")).toEqual({ status: "accepted", value: undefined });
    expect(await client.stopVm("v")).toEqual({ status: "accepted", value: undefined });
  });

  test("Delete VM response: preserved_volumes are given on", async () => {
    const { client } = await start([json(200, { data: { message: "gone", preserved_volumes: ["d1", "d2"] } })]);
    expect(await client.deleteVm("v", false)).toEqual({
      status: "accepted",
      value: { preservedVolumes: ["d1", "d2"] },
    });
  });

  test("a created resource whose answer shows no id is unknown, since it exists all the same", async () => {
    const { client, server } = await start([json(200, { data: { handle: "x" } })]);
    const outcome = await client.createVolume("d", 1);
    expect(outcome).toMatchObject({ status: "unknown", reason: expect.stringContaining("records.volume.id") });
    expect(server.received).toHaveLength(1);
  });

  test("a read that does not fit is unreadable, with the dialect line that fixes it", async () => {
    const { client } = await start([json(200, { data: { uid: "x", title: "t" } })]);
    expect(await client.getVolume("d")).toMatchObject({
      status: "rejected",
      condition: "unreadable",
      hint: expect.stringMatching(/tried .*"\/id".*keys uid, title.*records\.volume\.id: \[\/uid\]/),
    });
  });
});

describe("an answer that somebody on the way has packed", () => {
  const listed = Buffer.from(JSON.stringify({ data: [{ id: "f1", name: "m1.small" }] }));
  const packed =
    (encoding: string, body: Buffer): Script =>
    (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": encoding }).end(body);
    };
  const bomb = gzipSync(Buffer.alloc(33 * 1024 * 1024, " "));
  test.each<[string, Script, string]>([
    ["gzip", packed("gzip", gzipSync(listed)), "m1.small"],
    ["gzip by its old name, in capitals", packed("X-GZIP", gzipSync(listed)), "m1.small"],
    ["deflate", packed("deflate", deflateSync(listed)), "m1.small"],
    ["brotli", packed("br", brotliCompressSync(listed)), "m1.small"],
    ["not at all, and says so", packed("identity", listed), "m1.small"],
    ["in an unknown way", packed("own", listed), "the answer is packed as own, which nobody asked for"],
    ["not at all, and says gzip", packed("gzip", listed), "the answer says that it is packed as gzip, and is not"],
    ["what is too large unpacked", packed("gzip", bomb), "the answer is larger than 32 MiB"],
  ])("%s", async (_, script, says) => {
    const { client } = await start([script]);
    expect(JSON.stringify(await client.listFlavors())).toContain(says);
  });
});

describe("lists", () => {
  const page = (ids: string[], next?: string): Script =>
    json(200, { data: ids.map((id) => ({ id, name: id })), page: { next: next ?? null, total_size: 2 } });

  test.each([
    ["a token is sent as the dialect's parameter", "tok=2&x", "/api/v1/vm/list?page=tok%3D2%26x"],
    ["a path is followed", "/api/v1/vm/list?after=a", "/api/v1/vm/list?after=a"],
    ["a query alone is followed", "?after=a", "/api/v1/vm/list?after=a"],
  ])("the next page: %s", async (_title, next, expected) => {
    const { client, server } = await start([page(["a"], next), page(["b"])]);
    expect(await client.listVms()).toMatchObject({ status: "accepted", value: [{ id: "a" }, { id: "b" }] });
    expect(server.received[1]!.url).toBe(expected);
  });

  const inPages: Script = (request, ...rest) => {
    const { searchParams } = new URL(request.url, "http://x");
    const from = Number(searchParams.get("offset") ?? (Number(searchParams.get("page") ?? 1) - 1) * 2);
    const ids = ["a", "b", "c"].slice(from, from + 2);
    return json(200, { data: ids.map((id) => ({ id, name: id })) })(request, ...rest);
  };

  test("a list that was cut without a word is no proof: asked for more, it shows others", async () => {
    const { client } = await start([inPages]);
    expect(await client.listVms()).toMatchObject({ status: "accepted", value: [{ id: "a" }, { id: "b" }] });
    expect(await client.listVms({ proves: true })).toMatchObject({
      status: "rejected",
      condition: "unreadable",
      message: expect.stringContaining("asked with ?page=2 it shows c"),
      hint: "in the dialect: pagination: { number: 1, param: page }",
    });
  });

  test("what was made while a list was asked for more is no sign that it is cut, and is shown", async () => {
    // Each request but the first comes after one more was made.
    const growing = (): Script => {
      let made = 1;
      return (...given) => {
        const ids = Array.from({ length: made }, (_, index) => `vm-${index}`);
        made = Math.min(made + 1, 4);
        return json(200, { data: ids.map((id) => ({ id, name: id })) })(...given);
      };
    };
    const { client } = await start([growing()]);
    const listed = await client.listVms({ proves: true });
    expect(listed).toMatchObject({ status: "accepted" });
    if (listed.status !== "accepted") throw new Error(listed.status);
    expect(listed.value.map(({ id }) => id)).toEqual(["vm-0", "vm-1", "vm-2", "vm-3"]);
  });

  test("what came and went between two requests is none either", async () => {
    let asked = 0;
    const { client } = await start([
      (...given) => {
        asked++;
        return json(200, { data: (asked === 2 ? ["a", "b"] : ["a"]).map((id) => ({ id, name: id })) })(...given);
      },
    ]);
    expect(await client.listVms({ proves: true })).toMatchObject({ status: "accepted", value: [{ id: "a" }] });
  });

  test("those who ask for a proof at once share what is asked for more", async () => {
    const all = json(200, { data: [{ id: "a", name: "a" }] });
    const { client, server } = await start([all]);
    const looks = await Promise.all(Array.from({ length: 5 }, () => client.listVms({ proves: true })));
    expect(looks.every(({ status }) => status === "accepted")).toBe(true);
    // The first reads by itself; those who came meanwhile share a reading that began after they asked.
    expect(server.received).toHaveLength(2 * 5);
  });

  test("a list that shows the same whatever it is asked for, or refuses that, is whole", async () => {
    const all = json(200, { data: [{ id: "a", name: "a" }] });
    const refuse: Script = (request, ...rest) =>
      (request.url.includes("?") ? json(400, { error: { code: 400, message: "page?" } }) : all)(request, ...rest);
    for (const script of [all, refuse]) {
      const { client } = await start([script]);
      expect(await client.listVms({ proves: true })).toMatchObject({ status: "accepted", value: [{ id: "a" }] });
    }
  });

  test("the next page: a URL on the same origin is followed", async () => {
    let base = "";
    const { client, server } = await start([
      (q, r, raw) => page(["a"], `${base}/api/v1/vm/list?p=2`)(q, r, raw),
      page(["b"]),
    ]);
    base = server.baseUrl;
    expect(await client.listVms()).toMatchObject({ status: "accepted", value: [{ id: "a" }, { id: "b" }] });
  });

  test("the next page: another host is never asked, since the credential would go along", async () => {
    const other = await startServer(page(["z"]));
    closeAfterwards(other);
    const { client } = await start([page(["a"], `${other.baseUrl}/api/v1/vm/list`)]);
    expect(await client.listVms()).toMatchObject({
      status: "rejected",
      condition: "unreadable",
      message: expect.stringContaining(`127.0.0.1:${other.port}`),
    });
    expect(other.received).toEqual([]);
  });

  test("pages that lead in a circle end", async () => {
    const { client, server } = await start([page(["a"], "2"), page(["b"], "3"), page(["c"], "2")]);
    expect(await client.listVms()).toMatchObject({ status: "rejected", condition: "unreadable" });
    expect(server.received).toHaveLength(3);
  });

  test("an empty page that names a new cursor ends where a flag beside it says that there is no more", async () => {
    const answer = (ids: readonly string[], cursor: string, more: boolean): Script =>
      json(200, { data: ids.map((id) => ({ id, name: id })), meta: { end_cursor: cursor, has_next: more } });
    const dialect = mergeDialect({ pagination: { next: "/meta/end_cursor", param: "after" } });
    const ended = await start([answer(["a"], "1", true), answer(["b"], "2", false), answer([], "3", false)], {
      dialect,
    });
    expect(await ended.client.listVms()).toMatchObject({ status: "accepted", value: [{ id: "a" }, { id: "b" }] });
    expect(ended.server.received).toHaveLength(3);
    const filtered = await start([answer(["a"], "1", true), answer([], "2", true), answer(["b"], "", false)], {
      dialect,
    });
    expect(await filtered.client.listVms()).toMatchObject({ value: [{ id: "a" }, { id: "b" }] });
  });

  test("what may be the number of this page ends nothing, and the number of all pages does", async () => {
    const answer = (ids: readonly string[], said: object): Script =>
      json(200, { data: ids.map((id) => ({ id, name: id })), meta: { size: 1, ...said } });
    const dialect = mergeDialect({ pagination: { number: 1, param: "page" } });
    const own = await start(
      [answer(["a"], { numPage: 1 }), answer(["b"], { numPage: 2 }), answer([], { numPage: 3 })],
      {
        dialect,
      },
    );
    expect(await own.client.listVms()).toMatchObject({ status: "accepted", value: [{ id: "a" }, { id: "b" }] });
    const all = await start([answer(["a"], { totalPages: 2 }), answer(["b"], { totalPages: 2 })], { dialect });
    expect(await all.client.listVms()).toMatchObject({ status: "accepted", value: [{ id: "a" }, { id: "b" }] });
    expect(all.server.received).toHaveLength(2);
  });

  test("what changed while it was read is read again from the start", async () => {
    const { client, server } = await start([
      page(["a", "b"], "2"),
      page(["b"]),
      page(["a", "b"], "2"),
      json(200, { data: [{ id: "c", name: "c" }], page: { next: "", total_size: 3 } }),
    ]);
    // Of the first pass nothing was missed: its total says so.
    expect(await client.listVms()).toMatchObject({ value: [{ id: "a" }, { id: "b" }] });
    expect(await client.listVms()).toMatchObject({ value: [{ id: "a" }, { id: "b" }, { id: "c" }] });
    expect(server.received).toHaveLength(4);
  });

  const rows = (ids: readonly string[], more: object = {}): Script =>
    json(200, { data: ids.map((id) => ({ id, name: id })), ...more });

  test.each([
    ["an id that two pages show, without a total", [rows(["a", "b"], { page: { next: "2" } }), rows(["b", "c"])], 6],
    ["an id that one page shows twice", [rows(["a", "b", "a"])], 3],
    [
      "fewer than the total, over two pages",
      [rows(["a", "b"], { page: { next: "2", total_size: 4 } }), rows(["d"], { page: { next: "", total_size: 4 } })],
      6,
    ],
    [
      "a total that shrinks from one page to the next",
      [
        rows(["a", "b"], { page: { next: "2", total_size: 5 } }),
        rows(["d", "e"], { page: { next: "", total_size: 4 } }),
      ],
      6,
    ],
  ] as const)("%s: read three times, and then no evidence", async (_, pages, requests) => {
    const { client, server } = await start([...pages, ...pages, ...pages]);
    expect(await client.listVms()).toMatchObject({ status: "rejected", condition: "unreadable" });
    expect(server.received).toHaveLength(requests);
  });

  test("pages that show the same and lead on for ever end", async () => {
    let asked = 0;
    const endless: Script = (q, r, raw) => page(["a"], `token-${asked++}`)(q, r, raw);
    const { client, server } = await start([endless]);
    expect(await client.listVms()).toMatchObject({ status: "rejected", condition: "unreadable" });
    expect(server.received).toHaveLength(2);
  });

  test("a header that the dialect names is followed; of Link, what is next", async () => {
    const withHeader = (next_header: string): Dialect => ({
      ...builtInDialect,
      pagination: { ...builtInDialect.pagination, next_header, param: "at" },
    });
    const data = (ids: string[], headers: Record<string, string>): Script =>
      json(200, { data: ids.map((id) => ({ id, name: id })) }, headers);
    const link = '</api/v1/vm/list?at=9>; rel="prev", </api/v1/vm/list?at=2>; title="x, y"; rel="last next"';
    for (const [name, first] of [
      ["Link", { link }],
      ["X-Next-Page", { "x-next-page": "2" }],
    ] as const) {
      const { client, server } = await start([data(["a"], first), data(["b"], { "x-next-page": "" })], {
        dialect: withHeader(name),
      });
      expect(await client.listVms()).toMatchObject({ status: "accepted", value: [{ id: "a" }, { id: "b" }] });
      expect(server.received[1]!.url).toBe("/api/v1/vm/list?at=2");
    }
  });

  test("a page that a header leads on from is no whole list, nor are rules or a catalogue", async () => {
    const led = json(200, { data: [] }, { link: '<https://x.example/2>; rel="next"' });
    const { client } = await start([led]);
    for (const list of [client.listVms(), client.listRules("g"), client.listFlavors(), client.listImages()])
      expect(await list).toMatchObject({
        condition: "unreadable",
        hint: expect.stringContaining("pagination: { next_header: link }"),
      });
  });

  test("one flavor listed for two regions is one entry, and the list is whole", async () => {
    const { client } = await start([rows(["m1", "m1"], { total: 2 })]);
    expect(await client.listFlavors()).toEqual({ status: "accepted", value: [{ id: "m1", name: "m1" }] });
  });
});

test("what two regions show is one thing, unless they show other names under its id", async () => {
  const dialect = mergeDialect({
    operations: { "vm.list": { method: "GET", path: "/{region}/vms", for_each: ["a", "b"] } },
  });
  const list = async (name: string, status: string) => {
    const script: Script = (request, ...others) =>
      json(200, {
        vms: [request.url.includes("/a/") ? { id: 1, name: "db", status: "UP" } : { id: 1, name, status }],
        total: 1,
      })(request, ...others);
    return (await start([script], { dialect })).client.listVms();
  };
  expect(await list("db", "BUSY")).toMatchObject({ status: "accepted", value: [{ id: "1" }] });
  expect(await list("other", "UP")).toMatchObject({
    condition: "unreadable",
    message: expect.stringContaining("the id 1"),
    hint: expect.stringContaining("for_each: ["),
  });
});

test("what is listed in a state that the dialect calls gone is not there", async () => {
  const vms = [
    { id: "a", name: "db", status: "DELETED" },
    { id: "b", name: "db", status: "ACTIVE" },
  ];
  const { states } = builtInDialect;
  const dialect = {
    ...withOperations({ "vm.get": { method: "GET", path: "/vm/{id}" } }),
    states: { ...states, vm: { ...states.vm, gone: ["DELETED"] }, volume: { ...states.volume, gone: ["deleted"] } },
  };
  const { client } = await start(
    [json(200, { data: vms, total: 2 }), json(200, vms[0]), json(200, { id: "v", status: "deleted" })],
    {
      dialect,
    },
  );
  expect(await client.listVms()).toMatchObject({ status: "accepted", value: [{ id: "b" }] });
  for (const outcome of [await client.getVm("a"), await client.getVolume("v")])
    expect(outcome).toMatchObject({ condition: "not_found", message: expect.stringMatching(/deleted/i) });
});

test("group.rule.list is read through the envelope, in the service's spelling", async () => {
  const { client } = await start([
    json(200, {
      data: [
        {
          id: "r",
          direction: "ingress",
          ether_type: "IPv4",
          protocol: "tcp",
          port_range_min: 22,
          port_range_max: 22,
          remote_ip_prefix: "10.0.0.0/8",
          belongs_to_default_sg: false,
        },
      ],
    }),
  ]);
  expect(await client.listRules("g")).toEqual({
    status: "accepted",
    value: [
      {
        id: "r",
        direction: "ingress",
        ethertype: "IPv4",
        protocol: "tcp",
        portMin: 22,
        portMax: 22,
        remoteIp: "10.0.0.0/8",
        platform: false,
      },
    ],
  });
});

test("a dialect's own route is used", async () => {
  const dialect = withOperations({
    "group.rule.delete": { method: "DELETE", path: "/api/v1/security-group/{id}/rule/{rule_id}" },
  });
  const { client, server } = await start([json(200, { data: "ok" })], { dialect });
  expect(await client.deleteRule("g1", "r1")).toEqual({ status: "accepted", value: undefined });
  expect(server.received[0]).toMatchObject({ method: "DELETE", url: "/api/v1/security-group/g1/rule/r1" });
});
