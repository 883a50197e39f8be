/** The pages without a browser: what they say, who may do what, and what a push wakes. The database is PostgreSQL in this process. */

import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { servePages } from "../../reconciler/cli/fleet/serve";
import { hashOf } from "../../reconciler/fleet/access";
import { carryOutSync, plannedSync } from "../../reconciler/fleet/actions";
import type { Database } from "../../reconciler/fleet/database/database";
import { createRecords, type Records } from "../../reconciler/fleet/database/records";
import { prepareTables } from "../../reconciler/fleet/database/tables";
import { createProvider } from "../../reconciler/fleet/identity";
import { noSettings, type StackSpec } from "../../reconciler/fleet/model";
import { createPages } from "../../reconciler/fleet/pages/app";
import { repositoryPushed } from "../../reconciler/fleet/pushes";
import { openQueue, type Queue } from "../../reconciler/fleet/queue";
import { NotInSource, SourceFailed } from "../../reconciler/fleet/sources/checkout";
import { newStatus } from "../../reconciler/fleet/status";
import { beginRun, fillFleet, markup, newDatabase, stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";

const spec = (name: string, more: Partial<StackSpec> = {}): StackSpec => {
  const { service: _, ...spec } = stackSpec(name, {
    source: { kind: "folder", folder: "/nowhere" },
    approve: "plan",
    intervalMs: 3_600_000,
    retry: { firstMs: 1000, maxMs: 1000, giveUpAfter: 3 },
  });
  return { ...spec, ...more };
};

describe("the pages of a fleet", () => {
  let database: Database;
  let records: Records;
  let queue: Queue;
  let cache: string;
  let repository: string;

  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
      cwd: repository,
      encoding: "utf8",
    });
  const commit = (file: string, text: string): void => {
    mkdirSync(join(repository, file, ".."), { recursive: true });
    writeFileSync(join(repository, file), text);
    git("add", "-A");
    git("commit", "-q", "-m", file);
  };

  beforeAll(async () => {
    database = await newDatabase();
    await prepareTables(database);
    // Whoever comes second finds the tables there.
    await prepareTables(database);
    records = createRecords(database);
    queue = await openQueue({ database, sendsOnly: true, onError: () => undefined });
    cache = makeFolder();
    repository = makeFolder();
    git("init", "-q", "-b", "main");
    commit("a/reconcile.yaml", "version: 1\n");
    commit("b/reconcile.yaml", "version: 1\n");
    const source = (path: string) => ({ kind: "git" as const, url: repository, ref: "main", path });
    const stacks = [
      spec("prod-a", { source: source("a") }),
      spec("dev-b", { source: source("b") }),
      spec("<script>alert(1)"),
    ];
    const desk = { records, queue, who: "a test" };
    await carryOutSync(desk, { ...noSettings, stacks, generators: [] }, await plannedSync(desk, stacks));
    await records.savePlan("prod-a", {
      digest: "0123456789abcdef",
      revision: "r",
      body: {
        text: "+ group.web",
        consents: [{ detail: "loses volume.data", grant: "--allow-data-loss" }],
        opens: [],
        why: "it loses data",
        // As git tells of a commit with a zone that no clock has.
        change: {
          commits: [
            { ...{ id: "0", author: "a", email: "a@b", others: [] }, at: "2023-11-19T02:12:20+99:59", subject: "s" },
          ],
          more: 0,
        },
      },
    });
    for (const [name, role, patterns] of [
      ["vera", "viewer", []],
      ["ann", "approver", ["prod-*"]],
      ["otto", "operator", []],
    ] as const)
      await records.addToken({ hash: hashOf(`token-of-${name}`), name, role, stacks: patterns });
  });
  afterAll(async () => {
    await queue.close();
    await database.close();
  });

  const pages = (local?: string, more: Partial<Parameters<typeof createPages>[0]> = {}) =>
    createPages({
      records,
      queue,
      local: async () => local,
      provider: createProvider(),
      pushed: (url, ref) => repositoryPushed({ records, queue, cache }, url, ref),
      pulled: async (urls) => urls.length > 0,
      hooks: { github: ["hook-secret", "the one before"], gitlab: [] },
      metrics: async () => "up 1\n",
      say: () => undefined,
      ...more,
    });
  const local = { host: "127.0.0.1:8470" };
  const as = (name: string) => ({ headers: { authorization: `Bearer token-of-${name}` } });
  const post = (path: string, name: string, body: object = {}) =>
    pages().request(path, {
      method: "POST",
      headers: { authorization: `Bearer token-of-${name}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  test("show every stack, escape what stacks are called, and allow no script but their own", async () => {
    const answer = await pages("ann").request("/", { headers: local });
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(text).toContain("prod-a");
    expect(text).not.toContain("<script>alert");
    expect(answer.headers.get("content-security-policy")).toMatch(/default-src 'none'.*script-src 'self'/);
    for (const path of ["/services", "/workers", "/history", "/stacks/prod-a"])
      expect((await pages("ann").request(path, { headers: local })).status).toBe(200);
    expect((await pages("ann").request("/stacks/none", { headers: local })).status).toBe(404);
  });

  test("show everybody who approved what a run carried out", async () => {
    const run = await beginRun(records, { stack: "prod-a", worker: "w" });
    const at = new Date().toISOString();
    const approval = { digest: "d", by: "ann", why: "as agreed", at, until: at, also: [{ by: "bob", at }] };
    await records.finishRun(run.id, { result: "applied", reason: null, counts: {}, approval }, newStatus, null);
    const text = await (await pages("ann").request(`/runs/${run.id}`, { headers: local })).text();
    expect(text).toMatch(/Approved by <strong>ann<\/strong> at .*: “as agreed”, and by <strong>bob<\/strong> at/);
  });

  test("show no name in the address of a repository, which may be a token", async () => {
    const url = "https://canary@git.example/infra.git";
    await records.saveStacks([spec("prod-named", { source: { kind: "git", url, ref: "main", path: "a" } })]);
    const shown = await (await pages("ann").request("/stacks/prod-named", { headers: local })).text();
    expect(shown).toContain("https://***@git.example/infra.git");
    expect(shown).not.toContain("canary");
    // Nor the repository itself to whom it is none of.
    const beat = { name: "w:9", version: "1", concurrency: 1, doing: [], draining: false, services: [] };
    await records.beat({ ...beat, troubles: [{ origin: "https://git.example/infra.git", failures: 3, why: "x" }] }, 60);
    const workers = async (init: object) => (await pages("ann").request("/workers", init)).text();
    expect(await workers({ headers: local })).toContain("No files from https://git.example/infra.git");
    expect(await workers(as("ann"))).not.toContain("git.example");
    await records.leave("w:9");
    expect(new NotInSource(`${url} has no folder`).message).toBe("https://***@git.example/infra.git has no folder");
    await records.releaseStack("prod-named");
  });

  test("ask again for an approval that is over", async () => {
    const digest = "0123456789abcdef";
    const at = new Date(Date.now() - 120_000).toISOString();
    await records.saveStatus("prod-a", { awaitingApproval: true, plan: digest });
    const shown = async (path: string) => (await pages("ann").request(path, { headers: local })).text();
    for (const [until, isOver] of [
      [new Date(Date.now() + 3_600_000), false],
      [new Date(Date.now() - 60_000), true],
    ] as const) {
      await records.approve("prod-a", { digest, by: "bob", at, until: until.toISOString() });
      expect([
        /Approved by bob/.test(await shown("/stacks/prod-a")),
        /approved by bob/.test(await shown("/waiting")),
      ]).toEqual([!isOver, !isOver]);
      expect(/id="approve"/.test(await shown("/stacks/prod-a"))).toBe(isOver);
      await database.query("UPDATE reconcile_fleet.stacks SET approval = NULL WHERE name = 'prod-a'");
    }
    await records.saveStatus("prod-a", { awaitingApproval: false, plan: null });
  });

  test("go by the database's clock, whatever that of their own machine shows", async () => {
    const beat = { name: "w:9", version: "1", concurrency: 1, doing: [], draining: false, services: [], troubles: [] };
    await records.beat(beat, 60);
    const credential = { env: "NONE" };
    const budget = { perSecond: 10, burst: 5 };
    const service = { name: "here", baseUrl: "http://127.0.0.1:9", insecureHttp: false, credential, budget };
    await records.saveSettings({ ...noSettings, services: [service] });
    await database.query(
      "UPDATE reconcile_fleet.budgets SET paused_until = now() + interval '1 hour' WHERE service = 'here'",
    );
    const shown = async (path: string) => (await pages("ann").request(path, { headers: local })).text();
    for (const skewMs of [0, 25 * 3_600_000, -25 * 3_600_000]) {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + skewMs });
      expect(await shown("/workers")).toMatch(/w:9 <span class="tag good">alive/);
      expect(await shown("/services")).toMatch(/here <span class="tag bad">paused/);
      vi.useRealTimers();
    }
    await database.query("UPDATE reconcile_fleet.workers SET due_at = now() - interval '1 minute' WHERE name = 'w:9'");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 25 * 3_600_000 });
    expect(await shown("/workers")).toMatch(/No worker runs[\s\S]*w:9 <span class="tag bad">no sign of life/);
    vi.useRealTimers();
    await records.leave("w:9");
    await records.saveSettings(noSettings);
  });

  test("say which receiver has not got its messages, and not where it is", async () => {
    const page = async (init: object) => (await pages("ann").request("/services", init)).text();
    expect(await page({ headers: local })).toContain("Every receiver has what it is to be told.");
    await database.query(
      "INSERT INTO reconcile_fleet.letters (place, receiver, body, why) VALUES ('https://hooks.example/T0/s3cret', '{}', '{}', 'it answered 503'), ('slack 0a1b', '{}', '{}', NULL)",
    );
    const shown = await page({ headers: local });
    expect(shown).toMatch(/hooks\.example<\/td>.*it answered 503.*slack 0a1b/s);
    expect(shown).not.toContain("s3cret");
    expect(await page(as("ann"))).not.toContain("hooks.example");
    await database.query("DELETE FROM reconcile_fleet.letters");
  });

  test("answer to this machine's names alone where nobody signs in", async () => {
    expect((await pages("ann").request("/", { headers: { host: "fleet.example" } })).status).toBe(421);
    expect(
      (await pages("ann").request("/stacks/prod-a/run", { method: "POST", headers: { host: "fleet.example" } })).status,
    ).toBe(421);
  });

  test("send whoever has no token to the door, and take no form of another site", async () => {
    expect((await pages().request("/")).headers.get("location")).toBe("/sign-in");
    expect((await pages().request("/stacks/prod-a?x=1")).headers.get("location")).toBe(
      "/sign-in?to=%2Fstacks%2Fprod-a%3Fx%3D1",
    );
    expect((await pages().request("/api/stacks")).status).toBe(401);
    const form = (site: string) =>
      pages("ann").request("/stacks/prod-a/pause", { method: "POST", headers: { ...local, "sec-fetch-site": site } });
    expect((await form("cross-site")).status).toBe(403);
    expect((await records.stack("prod-a"))?.paused).toBe(false);
    const signIn = (token: string, headers: Readonly<Record<string, string>> = {}) =>
      pages().request("/sign-in", {
        method: "POST",
        headers: { "sec-fetch-site": "same-origin", ...headers },
        body: new URLSearchParams({ token }),
      });
    expect((await signIn("wrong")).headers.get("set-cookie")).toBeNull();
    const cookie = (await signIn("token-of-vera")).headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/HttpOnly.*SameSite=Lax/);
    // Behind several proxies, what the browser spoke comes first.
    const secure = async (spoken: string): Promise<boolean> =>
      /Secure/.test((await signIn("token-of-vera", { "x-forwarded-proto": spoken })).headers.get("set-cookie") ?? "");
    expect([await secure("https"), await secure("HTTPS, http"), await secure("http, https")]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await pages().request("/", { headers: { cookie: cookie.split(";")[0] ?? "" } })).status).toBe(200);
  });

  test("on this machine a program needs no token, and a page of another site gets nothing", async () => {
    const ask = async (path: string, headers: Readonly<Record<string, string>>) =>
      (await pages("ann").request(path, { method: "POST", headers: { ...local, ...headers }, body: "{}" })).status;
    const json = { "content-type": "application/json" };
    for (const [headers, list, act] of [
      [json, 200, 200],
      [{ ...json, origin: "https://evil.example" }, 403, 403],
      [{ ...json, "sec-fetch-site": "cross-site" }, 403, 403],
      // A browser sends the password of a proxy by itself, also for a page of another site.
      [{ origin: "https://evil.example", authorization: "Basic YW5uOng=" }, 403, 403],
      [{ "content-type": "text/plain" }, 403, 403],
      [{}, 403, 403],
    ] as const) {
      expect([headers, await ask("/api/commands/list", headers)]).toEqual([headers, list]);
      expect([headers, await ask("/api/stacks/prod-a/run", headers)]).toEqual([headers, act]);
    }
  });

  test("a token that is taken away ends what was opened with it, and neither opens the other's door", async () => {
    await records.addToken({ hash: hashOf("token-of-gus"), name: "gus", role: "viewer", stacks: [] });
    const answer = await pages().request("/sign-in", {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin" },
      body: new URLSearchParams({ token: "token-of-gus", to: "/history" }),
    });
    expect(answer.headers.get("location")).toBe("/history");
    const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const session = cookie.slice(cookie.indexOf("=") + 1);
    expect((await pages().request("/api/stacks", { headers: { cookie } })).status).toBe(200);
    expect((await pages().request("/api/stacks", { headers: { authorization: `Bearer ${session}` } })).status).toBe(
      401,
    );
    expect((await pages().request("/api/stacks", { headers: { cookie: "reconcile_fleet=token-of-gus" } })).status).toBe(
      401,
    );
    await records.dropTokens("gus");
    expect((await pages().request("/api/stacks", { headers: { cookie } })).status).toBe(401);
  });

  test("the metrics name every stack, and are for whoever may see all of them", async () => {
    expect((await pages().request("/metrics")).status).toBe(401);
    expect((await pages().request("/metrics", as("ann"))).status).toBe(401);
    expect((await pages().request("/metrics", as("vera"))).status).toBe(200);
    expect((await pages("ann").request("/metrics", { headers: local })).status).toBe(200);
  });

  test("a page says nothing that its address made up", async () => {
    const text = await (await pages("ann").request("/stacks/prod-a?said=Send+your+token", { headers: local })).text();
    expect(text).not.toContain("Send your token");
    const known = await (await pages("ann").request("/stacks/prod-a?said=pause", { headers: local })).text();
    expect(known).toContain("Paused.");
  });

  test("nothing that passes on for others counts as somebody at this machine", async () => {
    const names = ["x-forwarded-for", "forwarded", "via", "X-Real-IP", "x-forwarded-host", "x-forwarded-proto"];
    for (const name of [...names, "x-forwarded-port", "cf-connecting-ip", "true-client-ip", "x-client-ip"])
      expect((await pages("ann").request("/", { headers: { ...local, [name]: "1.2.3.4" } })).status).toBe(421);
  });

  test.each([
    ["/stacks/%00", 404],
    ["/stacks/%00/graph.svg", 404],
    ["/api/stacks/%00", 404],
    ["/runs/1e999", 404],
    ["/runs/9999999999999999999999", 404],
    ["/runs/999999999999999", 404],
    ["/runs/-1", 404],
    ["/runs/x%20y", 404],
    ["/?search=%00", 400],
    ["/?search=%25%27", 200],
    ["/events?stack=%00", 400],
    ["/?page=1e999", 200],
  ])("what cannot be there is not there: %s is answered with %i", async (path, status) => {
    expect((await pages().request(path, as("otto"))).status).toBe(status);
  });

  test("a word why may be any text, and a push that is none is no fault of the database", async () => {
    expect((await post("/api/stacks/prod-a/approve", "otto", { plan: "x\0y", why: "\0" })).status).toBe(409);
    const signed = (body: string) =>
      pages().request("/hooks/github", {
        method: "POST",
        headers: { "x-hub-signature-256": `sha256=${createHmac("sha256", "hook-secret").update(body).digest("hex")}` },
        body,
      });
    for (const body of ["null", "1", "[]", '"x"', "{", ""]) {
      const answer = await signed(body);
      const says = body.length < 2 && body !== "1" ? "the body is no JSON" : "it is no object";
      expect([body, answer.status, await answer.text()]).toEqual([body, 400, expect.stringContaining(says)]);
    }
    for (const body of [
      "{}",
      '{"ref":1}',
      '{"ref":"refs/heads/a\\u0000"}',
      '{"ref":"refs/heads/main","repository":null}',
    ])
      expect([body, (await signed(body)).status]).toEqual([body, 200]);
  });

  const rights: readonly [string, string, string, number][] = [
    ["vera", "prod-a", "approve", 403],
    ["vera", "prod-a", "run", 403],
    ["ann", "dev-b", "approve", 403],
    ["ann", "prod-a", "pause", 403],
    ["otto", "dev-b", "pause", 200],
    ["otto", "dev-b", "resume", 200],
    ["otto", "dev-b", "run", 200],
  ];
  test.each(rights)("%s asks on %s to %s: %i", async (name, stack, act, status) => {
    expect((await post(`/api/stacks/${stack}/${act}`, name, { plan: "0123456789" })).status).toBe(status);
  });

  test("approve exactly the plan that waits, and keep who and why", async () => {
    const other = await post("/api/stacks/prod-a/approve", "ann", { plan: "fedcba987654" });
    expect([other.status, await other.json()]).toEqual([409, { error: expect.stringContaining("does not wait") }]);
    const silent = await post("/api/stacks/prod-a/approve", "ann", { plan: "0123456789", why: " " });
    expect([silent.status, await silent.json()]).toEqual([409, { error: expect.stringContaining("says why") }]);
    expect((await post("/api/stacks/prod-a/approve", "ann", { plan: "0123456789", why: "read it" })).status).toBe(200);
    expect((await records.stack("prod-a"))?.approval).toMatchObject({ digest: "0123456789abcdef", by: "ann" });
    expect((await records.decisions("prod-a", 1))[0]).toMatchObject({
      who: "ann",
      what: "approve",
      detail: "0123456789abcdef: read it",
    });
    // Another plan voids it.
    await records.savePlan("prod-a", {
      digest: "ffff456789abcdef",
      revision: "r2",
      body: { text: "", consents: [], opens: [], why: "" },
    });
    expect((await records.stack("prod-a"))?.approval).toBeUndefined();
  });

  test("a viewer sees only what the token names", async () => {
    const answer = await pages().request("/api/stacks", as("ann"));
    expect(((await answer.json()) as { stack: string }[]).map(({ stack }) => stack)).toEqual(["prod-a"]);
    const none = await post(`/api/stacks/${encodeURIComponent("prod-<script>alert(1)")}/approve`, "ann");
    expect([none.status, await none.text()]).toEqual([409, expect.not.stringContaining("did you mean")]);
  });

  test("a push wakes the stacks that it touches, and only with the right signature", async () => {
    const push = (secret: string) => {
      const body = JSON.stringify({ ref: "refs/heads/main", repository: { clone_url: repository } });
      return pages().request("/hooks/github", {
        method: "POST",
        headers: { "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` },
        body,
      });
    };
    expect((await push("guess")).status).toBe(401);
    expect(await (await push("hook-secret")).json()).toEqual({ woken: ["dev-b", "prod-a"] });
    commit("a/reconcile.yaml", "version: 1\nproject: x\n");
    // Whoever saw the push dies before its rounds are queued.
    const dying = { ...queue, hastenAll: () => Promise.reject(new Error("the database is away")) };
    await expect(repositoryPushed({ records, queue: dying, cache }, repository, "main")).rejects.toThrow(/is away/);
    // While the secret is changed the one before counts as well.
    expect(await (await push("the one before")).json()).toEqual({ woken: ["prod-a"] });
    // Another stack names the repository otherwise, and what it names cannot be fetched.
    const { spec } = (await records.stack("prod-a")) ?? {};
    if (spec === undefined || spec.source.kind !== "git") throw new Error("no stack");
    await records.saveStacks([{ ...spec, name: "a-lost", source: { ...spec.source, url: `${repository}.git` } }]);
    commit("a/reconcile.yaml", "version: 1\nproject: y\n");
    expect(await (await push("hook-secret")).json()).toEqual({ woken: ["prod-a"] });
    await records.releaseStack("a-lost");
    commit("README.md", "nothing of theirs\n");
    expect(await (await push("hook-secret")).json()).toEqual({ woken: [] });
    expect((await pages().request("/hooks/gitlab", { method: "POST", body: "{}" })).status).toBe(404);
    // A comment on a pull request asks for a look at the host.
    const comment = JSON.stringify({ action: "created", issue: { number: 7 }, repository: { clone_url: repository } });
    const told = await pages().request("/hooks/github", {
      method: "POST",
      headers: { "x-hub-signature-256": `sha256=${createHmac("sha256", "hook-secret").update(comment).digest("hex")}` },
      body: comment,
    });
    expect(await told.json()).toEqual({ woken: [], looked: true });
  });

  test("what a webhook names moves no cursor of a terminal", async () => {
    vi.stubEnv("RECONCILE_FLEET_GITHUB_SECRET", "hook-secret");
    const said: string[] = [];
    const session = { database, records, queue, who: "ann" };
    const server = await servePages(session, { listen: "127.0.0.1:0", cache, say: (text) => void said.push(text) });
    const body = JSON.stringify({ ref: "refs/heads/main", repository: { clone_url: "https://x/\u001b[2J" } });
    const signature = `sha256=${createHmac("sha256", "hook-secret").update(body).digest("hex")}`;
    const headers = { "x-hub-signature-256": signature };
    await fetch(new URL("/hooks/github", server.url), { method: "POST", headers, body });
    expect(said.join()).toContain("a push to https://x/\\u001b[2J main");
    await server.close();
    vi.unstubAllEnvs();
  });

  test.each([
    ["a database that is away, so that it is sent again", Object.assign(new Error("away"), { code: "57P03" }), 503],
    ["a repository that does not answer, which the workers look at", new SourceFailed("git fetch: no answer"), 200],
  ])("a push meets %s", async (_, error, status) => {
    const body = JSON.stringify({ ref: "refs/heads/main", repository: { clone_url: repository } });
    const signature = `sha256=${createHmac("sha256", "hook-secret").update(body).digest("hex")}`;
    const app = pages(undefined, { pushed: () => Promise.reject(error) });
    const answer = await app.request("/hooks/github", {
      method: "POST",
      headers: { "x-hub-signature-256": signature },
      body,
    });
    expect(answer.status).toBe(status);
  });

  test("whoever sees a few stacks gets the newest runs of those", async () => {
    const { id } = await beginRun(records, { stack: "prod-a", cause: "push", worker: "w:1" });
    await database.query(
      "INSERT INTO reconcile_fleet.runs (stack, cause, worker, ended_at) SELECT 'dev-b', 'interval', 'w:1', now() FROM generate_series(1, 150)",
    );
    const text = await (await pages().request("/history", as("ann"))).text();
    expect(text).toContain(`/runs/${id}`);
    expect(text).not.toContain("dev-b");
  });

  test("nothing of what others write is markup, and no script or style stands in a page", async () => {
    await fillFleet(database);
    const app = pages("ann");
    const [run] = await records.runs("prod-shop", 1);
    const evil = `/stacks/${encodeURIComponent(`evil-${markup}`)}`;
    for (const path of [
      "/",
      `/?search=${encodeURIComponent(markup)}`,
      "/?group=service",
      "/stacks/prod-shop",
      "/stacks/lab-broken",
      evil,
      `/runs/${run?.id}`,
      "/services",
      "/workers",
      "/history",
      "/stacks/none",
      "/sign-in?refused=nobody",
    ]) {
      const answer = await app.request(path, { headers: local });
      const tags = (await answer.text()).replaceAll(/="[^"]*"/g, '=""');
      const foreign =
        /<img(?! src="" alt="">)|<script(?! src="" defer><\/script>)|<style|<iframe|<[a-z][^>]*\s(?:on[a-z]+|style)=/gi;
      expect([path, tags.match(foreign)]).toEqual([path, null]);
      expect(answer.headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; style-src 'self'; script-src 'self';[^*]*$/,
      );
      expect(answer.headers.get("content-security-policy")).not.toMatch(/unsafe|data:|https?:/);
    }
    const graph = await app.request("/stacks/prod-shop/graph.svg", { headers: local });
    expect([graph.status, graph.headers.get("content-type")]).toEqual([200, "image/svg+xml; charset=utf-8"]);
    expect(graph.headers.get("content-security-policy")).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    expect(await graph.text()).not.toMatch(/<script|<img/);
  });

  test("no token is in any table", async () => {
    const tables = await database.query(
      "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema LIKE 'reconcile%'",
    );
    for (const table of tables) {
      const rows = await database.query(`SELECT * FROM ${table["table_schema"]}.${table["table_name"]}`);
      expect(JSON.stringify(rows)).not.toMatch(/token-of-|hook-secret/);
    }
  });
});
