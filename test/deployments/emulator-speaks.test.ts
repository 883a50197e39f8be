/**
 * The emulator in the words of a dialect, read by the same dialect: a whole life, in every style there is. The emulator
 * reads the dialect by itself, from its documentation, so that both are not wrong together; the deployments of this
 * folder, which know no dialect at all, hold the client to the same files.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { proofParts, proveDialect } from "../../reconciler/rehearse/prove";
import { type BenchWorld, desiredOf, startBenchWorld } from "../support/bench-world";
import { deployments } from "../support/deployments/all";
import { liveThrough } from "../support/deployments/life";

let world: BenchWorld | undefined;
afterEach(() => world?.close());

const ready = (name: string): string => readFileSync(join(__dirname, `../../dialects/${name}.yaml`), "utf8");

const everyNth =
  (every: number) =>
  (_: string, nth: number): boolean =>
    nth % every === 0;

const dialects: readonly (readonly [name: string, text: string])[] = [
  ...deployments.map(({ deployment, dialect }) => [deployment.title, dialect] as const),
  ["openstack-like", `${ready("openstack-like")}`],
  ["camel-case", ready("camel-case")],
];

test.each(dialects)("%s: made, changed, moved and gone, as the emulator speaks it", async (_, text) => {
  const { dialect, diagnostics } = readDialectText(text, "dialect.yaml");
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  world = await startBenchWorld({ dialect, speaks: dialect, pageSize: 2 });
  await liveThrough(world);
});

test.each(['{ in: "", keys: id }', "{ in: /* }"])(
  "items that are all of the payload stand apart from pages: %s",
  async (place) => {
    const lists = ["vm/list", "volume/list", "security-group", "flavor/list", "image/list"].map(
      (path) =>
        `${path.replace("security-", "").replace("/list", "")}.list: { method: GET, path: /api/v1/${path}, items: [${place}] }`,
    );
    const { dialect, diagnostics } = readDialectText(`operations:\n  ${lists.join("\n  ")}\n`, "dialect.yaml");
    expect(diagnostics).toEqual([]);
    world = await startBenchWorld({ dialect, speaks: dialect, pageSize: 2 });
    await liveThrough(world);
  },
);

test("documented-only: what the contract alone can make and change", async () => {
  const { dialect } = readDialectText(ready("documented-only"), "dialect.yaml");
  world = await startBenchWorld({ dialect, speaks: dialect });
  const desired = desiredOf(
    JSON.stringify({
      version: 1,
      project: "acme",
      region: "in-west-1",
      volumes: { data: { size: 20 } },
      groups: { front: { rules: [{ protocol: "tcp", dst_port: 443 }] } },
    }),
  );
  await world.apply(desired);
  expect((await world.plan(desired)).changes).toEqual([]);
  const listed = await fetch(`${world.emulator.url}/api/v1/vm/list`, {
    headers: { authorization: "Bearer ops-token" },
  });
  expect(listed.status).toBe(404);
});

test("a request in other words than the dialect's is not understood, and refused in the dialect's", async () => {
  const { dialect } = readDialectText(
    `
operations: { vm.list: { method: POST, path: /api/v1/vm/search, body: { kind: all }, headers: { X-Kind: vm } } }
authorization: { name: X-Auth-Token, header: "Key {token}" }
envelope: { error: { code: /fault/code, message: /fault/reason } }
names: { group: { longest: 5 } }
`,
    "dialect.yaml",
  );
  world = await startBenchWorld({ dialect, speaks: dialect });
  const { url } = world.emulator;
  const ask = async (path: string, init: RequestInit = {}, credential = "Key ops-token") => {
    const { headers, ...rest } = init;
    const answer = await fetch(url + path, { ...rest, headers: { "x-auth-token": credential, ...headers } });
    return [answer.status, await answer.json()];
  };
  const json = { "content-type": "application/json" };
  const search = { method: "POST", body: JSON.stringify({ kind: "all" }), headers: { ...json, "x-kind": "vm" } };
  expect(await ask("/api/v1/vm/search", search)).toEqual([200, { data: [] }]);
  for (const other of [
    { ...search, headers: json },
    { ...search, body: "{}" },
    { ...search, method: "PUT" },
  ])
    expect(await ask("/api/v1/vm/search", other)).toEqual([404, { fault: expect.objectContaining({ code: 404 }) }]);
  expect(await ask("/api/v1/vm/search", search, "ops-token")).toEqual([401, { fault: expect.anything() }]);
  const group = { method: "POST", headers: json, body: JSON.stringify({ name: "too-long" }) };
  expect(await ask("/api/v1/security-group", group)).toEqual([400, { fault: expect.anything() }]);
});

test.each(["epoch", "date", "seconds"])("a wait is said as %s where the dialect says so, and kept", async (as) => {
  const { dialect, diagnostics } = readDialectText(`retry_after: { header: RateLimit-Reset, as: ${as} }`, "d.yaml");
  expect(diagnostics).toEqual([]);
  world = await startBenchWorld({ dialect, speaks: dialect });
  world.emulator.setFaults([{ operation: "vm.list", kind: "status", code: 429, retry_after: 1, count: 1 }]);
  const began = performance.now();
  expect(await world.client.listVms()).toEqual({ status: "accepted", value: [] });
  // A moment is told in whole seconds, so a part of one may be over already.
  expect(performance.now() - began).toBeGreaterThan(as === "seconds" ? 990 : 100);
});

test("throttling is said in the dialect's words, and understood by them", async () => {
  const { dialect } = readDialectText(
    `
errors: [{ is: throttled, status: 503, message: slow down }]
retry_after: X-Wait
`,
    "dialect.yaml",
  );
  world = await startBenchWorld({ dialect, speaks: dialect });
  world.emulator.setFaults([{ operation: "vm.list", kind: "status", code: 429, retry_after: 0, count: 1 }]);
  const answer = await fetch(`${world.emulator.url}/api/v1/vm/list`, {
    headers: { authorization: "Bearer ops-token" },
  });
  expect([answer.status, answer.headers.get("x-wait")]).toEqual([503, "0"]);
  expect(JSON.stringify(await answer.json())).toContain("slow down");
  world.emulator.setFaults([{ operation: "vm.list", kind: "status", code: 429, retry_after: 0, count: 1 }]);
  expect(await world.client.listVms()).toEqual({ status: "accepted", value: [] });
});

test("a word stands for a star between two others", async () => {
  const text = 'errors: [{ is: not_found, status: 400, message: "disk * is not to be had" }]';
  const { dialect } = readDialectText(text, "dialect.yaml");
  world = await startBenchWorld({ dialect, speaks: dialect });
  const read = await world.client.getVolume("00000000-0000-4000-8000-000000000000");
  expect(read).toMatchObject({ status: "rejected", condition: "not_found", httpStatus: 400 });
});

test.each(["openstack-like", "camel-case", "documented-only"])("%s is proven", async (name) => {
  const { dialect } = readDialectText(ready(name), "dialect.yaml");
  const checks = await proveDialect(dialect, { parts: proofParts, isTried: everyNth(53) });
  expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([]);
  expect(new Set(checks.map(({ part }) => part))).toEqual(new Set(proofParts));
});

test("the rate of a deployment holds up no proof", async () => {
  const { dialect, diagnostics } = readDialectText("limits: { requests_per_second: 0.01 }", "dialect.yaml");
  expect(diagnostics).toEqual([]);
  const checks = await proveDialect(dialect, { parts: ["life-cycle"] });
  expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([]);
});

test("a dialect that takes one thing for another is not proven", async () => {
  const { dialect } = readDialectText("records: { vm: { id: /x, name: /x } }", "dialect.yaml");
  const checks = await proveDialect(dialect, { parts: ["life-cycle"] });
  expect(checks.at(-1)?.problem).toBeDefined();
});

test("who stops a proof waits for no check: it is cut, and reported neither as held nor as failed", async () => {
  // A VM whose state is its name is waited for until its ten seconds are over.
  const { dialect } = readDialectText("records: { vm: { name: /x, status: /x } }", "dialect.yaml");
  const stopped = new AbortController();
  const began = performance.now();
  setTimeout(() => stopped.abort(), 500);
  expect(await proveDialect(dialect, { parts: proofParts, signal: stopped.signal })).toEqual([]);
  expect(performance.now() - began).toBeLessThan(9000);
});

test.each([3, 9, 20, 40, 80])("a proof that is stopped %i ms into a check says only what held before", async (ms) => {
  const { dialect } = readDialectText(ready("camel-case"), "dialect.yaml");
  const stopped = new AbortController();
  const seen: string[] = [];
  const checks = await proveDialect(dialect, {
    parts: proofParts,
    signal: stopped.signal,
    onCheck({ title }) {
      seen.push(title);
      if (seen.length === 6) setTimeout(() => stopped.abort(), ms);
    },
  });
  expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([]);
  expect(checks.map(({ title }) => title)).toEqual(seen);
});

/** Of what is told about what hangs on what, only a kill at an attach shows whether it says what became of that. */
const killedAtAttach = /killed (before|after) volume\.attach /;

/** What a deployment may say beyond its routes and records, each lived through and killed on the embedded service. */
const said: readonly (readonly [what: string, dialect: string, always?: RegExp])[] = [
  [
    "values from the record, a rule deleted by what it says, and a route by direction",
    `operations:
  volume.delete: { method: DELETE, path: "/api/v1/disks/{field:/name}/{id}" }
  vm.resize.confirm: { method: POST, path: "/api/v1/zones/{field:/region}/vms/{id}/confirm" }
  group.rule.delete:
    - { method: POST, path: "/api/v1/security-group/{id}/revoke-egress", when: { direction: egress }, body: { rule: "{rule_id}" } }
    - method: POST
      path: "/api/v1/security-group/{id}/revoke"
      body: { protocol: "{field:/protocol}", from: "{field:/port_range_min}", to: "{field:/port_range_max}", direction: "{field:/direction}" }`,
  ],
  [
    "a version that is read and sent",
    `fingerprint: { from: /fingerprint, send: If-Match }
operations: { group.list: { method: GET, path: /api/v1/security-group }, vm.get: { method: GET, path: "/api/v1/vm/{id}" } }`,
  ],
  [
    "a version that is sent in the body",
    `fingerprint: { from: /meta/version, send: /version }
operations: { group.get: { method: GET, path: "/api/v1/security-group/{id}" } }`,
  ],
  [
    "a version that a header shows",
    `fingerprint: { from: ETag, send: If-Match }
operations: { group.get: { method: GET, path: "/api/v1/security-group/{id}" }, vm.get: { method: GET, path: "/api/v1/vm/{id}" } }`,
  ],
  [
    "a cursor beside the list, within the envelope, and among the variables of a query",
    `operations:
  volume.list: { method: POST, path: /api/v1/graphql, body: { query: "{ disks }" }, items: [/disks/nodes], pagination: { next: [/data/disks/pageInfo/endCursor], param: /variables/after } }
  volume.delete: { method: POST, path: /api/v1/graphql, body: { query: "mutation { drop }", variables: { id: "{id:number}" } } }`,
  ],
  [
    "a list for each region",
    `operations:
  vm.list: { method: GET, path: "/api/v1/regions/{region}/vms", for_each: region }
  volume.list: { method: GET, path: /api/v1/volume/list, query: { zone: "{region}" }, for_each: [in-west-1, in-east-1] }`,
  ],
  [
    "rules under two keys",
    `operations: { group.list: { method: GET, path: /api/v1/security-group }, group.get: { method: GET, path: "/api/v1/security-group/{id}" } }
records: { group: { rules: [{ value: /ingressrule, direction: ingress }, { value: /egressrule, direction: egress }] } }`,
  ],
  [
    "volumes that name their VM, which names none of them",
    `operations:
  volume.list: { method: GET, path: /api/v1/volume/list }
  vm.get: { method: GET, path: "/api/v1/vm/{id}" }
  group.list: { method: GET, path: /api/v1/security-group }
  group.rule.delete: { method: DELETE, path: "/api/v1/security-group/{id}/rule/{rule_id}" }
records: { vm: { volumes: [] }, volume: { status: [], attached_to: { value: /host/name, absent: none, by: name } } }`,
    killedAtAttach,
  ],
  [
    "attachments in a list of their own",
    `operations:
  volume.list: { method: GET, path: /api/v1/volume/list }
  attachments: { method: GET, path: /api/v1/attachments, items: /attachments, vm: /server_id, volume: /volume_id }
records: { vm: { volumes: [] }, volume: { status: [] } }`,
    killedAtAttach,
  ],
  [
    "attachments in a list for each VM",
    `operations:
  volume.list: { method: GET, path: /api/v1/volume/list }
  attachments: { method: GET, path: "/api/v1/servers/{id}/attachments", items: "", volume: /volumeId }
records: { vm: { volumes: [] }, volume: { status: [] } }`,
    killedAtAttach,
  ],
  [
    "flavors and images that have nothing but their names",
    `records: { flavor: { id: /slug, name: /slug }, image: { id: /slug, name: /slug } }`,
  ],
  [
    "jobs that are waited for",
    `operations: { wait: { id: /jobid, method: GET, path: "/api/v1/job/{id}", status: /jobstatus, done: "1", failed: "2" } }`,
  ],
  [
    "jobs that are the whole text of an answer",
    `operations: { wait: { id: { value: /data, cut: "UPID:{value}" }, method: GET, path: "/api/v1/tasks/UPID:{id}/status", status: /status, done: stopped } }`,
  ],
  [
    "lists in which one thing may stand alone, and a rule that is deleted by lists of what it says",
    `operations:
  group.list: { method: GET, path: /api/v1/security-group, items: { in: /groups/group, absent: none } }
  group.rule.delete:
    method: DELETE
    path: "/api/v1/security-group/{id}/rules"
    body: { rules: [{ protocol: "{field:/protocol}", ports: "{field:/port_range_min}-{field:/port_range_max}", from: ["{field:/remote_ip_prefix}"], groups: ["{field:/remote_group_id}"] }] }
answers: { group.rule.list: { item: { in: /rules/rule, absent: none } } }`,
  ],
  ["pages that go on after an id that is not the first place of one", "pagination: { marker: /uuid, param: after }\n"],
];

test.each(said.map(([what, text, always]) => [what, text, always] as const))(
  "%s are said, understood and proven",
  async (_, text, always) => {
    const { dialect, diagnostics } = readDialectText(text, "dialect.yaml");
    expect(diagnostics).toEqual([]);
    const isTried = (title: string, nth: number): boolean => everyNth(61)(title, nth) || always?.test(title) === true;
    const checks = await proveDialect(dialect, { parts: proofParts, isTried });
    expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([]);
    // Both paces, before and after the write.
    if (always !== undefined) expect(checks.filter(({ title }) => always.test(title)).length).toBeGreaterThanOrEqual(4);
  },
);
