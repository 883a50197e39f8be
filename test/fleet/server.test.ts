/** The commands of a person against `fleet serve`: the same words as from the database, with the roles of the token. */

import { readFileSync, statSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { fieldsIn } from "../../reconciler/core/text/objects";
import { hashOf } from "../../reconciler/fleet/access";
import type { Database } from "../../reconciler/fleet/database/database";
import type { Records } from "../../reconciler/fleet/database/records";
import { createProvider } from "../../reconciler/fleet/identity";
import { createPages } from "../../reconciler/fleet/pages/app";
import { answerFor } from "../../reconciler/fleet/person";
import { newStatus } from "../../reconciler/fleet/status";
import { jsonLines, runCli, startCli } from "../support/cli-process";
import { beginRun, idleQueue, newRecords, stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";
import { closeHere, listenHere } from "../support/loopback";
import { problemsOfEvent } from "../support/schemas";

describe("a command that asks the server", () => {
  let database: Database;
  let records: Records;
  let server: ReturnType<typeof serve>;
  let url = "";
  const cwd = makeFolder();
  const digest = "0123456789abcdef";

  beforeAll(async () => {
    ({ database, records } = await newRecords());
    for (const name of ["prod-a", "lab-b"]) {
      await records.saveStacks([stackSpec(name, { approve: "plan" })]);
      await records.saveStatus(name, { ...newStatus, awaitingApproval: true, plan: digest, reason: "it loses data" });
      await records.savePlan(name, {
        digest,
        revision: "r",
        body: {
          text: "+ group.web",
          consents: [{ detail: "volume.data loses its data", grant: "--allow-data-loss" }],
          opens: [],
          why: "it loses data",
          sum: "Plan: 1 to create.",
        },
      });
      await beginRun(records, { stack: name, worker: "w:1" });
      await records.note({ who: "otto", what: "pause", stack: name });
    }
    await records.note({ who: "otto", what: "make token", detail: "of nobody's stack" });
    for (const [name, role, stacks] of [
      ["ann", "approver", ["prod-*"]],
      ["vera", "viewer", []],
      ["otto", "operator", []],
    ] as const)
      await records.addToken({ hash: hashOf(`token-of-${name}`), name, role, stacks });
    const app = createPages({
      records,
      queue: idleQueue,
      local: async () => undefined,
      provider: createProvider(),
      pulled: async () => false,
      pushed: async () => ({ fetched: false, woken: [] }),
      hooks: { github: [], gitlab: [] },
      metrics: async () => "",
      say: () => undefined,
    });
    await new Promise<void>((done) => {
      server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, () => done());
    });
    // A busy machine takes long between two commands of one process, which keeps its connection.
    if ("keepAliveTimeout" in server) server.keepAliveTimeout = 300_000;
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await database.close();
  });
  const asked = (who: string | undefined, ...args: string[]) =>
    runCli(["fleet", ...args], {
      cwd,
      env: { RECONCILE_FLEET_SERVER: url, ...(who === undefined ? {} : { RECONCILE_FLEET_TOKEN: `token-of-${who}` }) },
    });

  test.each([
    ["list", []],
    ["show", ["prod-a"]],
    ["plan", ["prod-a"]],
    ["history", ["prod-a"]],
    ["log", ["prod-a"]],
  ] as const)("fleet %s says what the database says, as text and as events", async (name, args) => {
    const lines: string[] = [];
    const says = {
      print: (text: string) => void lines.push(text),
      printLines: (all: Iterable<string>) => void lines.push(...all),
      event: () => undefined,
    };
    const otto = { name: "otto", grants: [{ role: "operator", stacks: [] }] } as const;
    const exitCode = await answerFor(otto, { records, queue: idleQueue }, name, { args }, says);
    const text = await asked("otto", name, ...args);
    // Ages of seconds pass between the two.
    const still = (told: string): string =>
      told
        .replace(/\d+ (s|ms)\b/g, "N")
        .replace(/\n+/g, "\n")
        .replace(/ +/g, " ")
        .trim();
    expect([text.exitCode, text.stderr, still(text.stdout)]).toEqual([exitCode, "", still(lines.join("\n"))]);
    const events = jsonLines((await asked("otto", name, ...args, "--json")).stdout);
    expect(events.length).toBeGreaterThan(1);
    expect(events.map(problemsOfEvent).filter((problem) => problem !== "")).toEqual([]);
  });

  test("signing in by the browser lets commands act with that person's roles, until it is ended", async () => {
    const env = { XDG_CONFIG_HOME: makeFolder(), RECONCILE_FLEET_SERVER: url };
    const login = startCli(["fleet", "login"], { cwd, env });
    const [, address = ""] = await login.says("an address", ({ stderr }) => /Sign in here: (\S+)/.exec(stderr));
    // What else asks at the port of the command, by whatever path, ends nothing.
    const port = Number(new URL(address).searchParams.get("port"));
    const status = await new Promise((resolve, reject) =>
      request({ port, path: "//" }, (answer) => resolve(answer.resume().statusCode))
        .on("error", reject)
        .end(),
    );
    expect(status).toBe(404);
    // A browser: nobody yet, then ann with her token.
    const form = (path: string, body: URLSearchParams, cookie = "") =>
      fetch(new URL(path, url), {
        method: "POST",
        body,
        redirect: "manual",
        headers: { cookie, origin: url, "sec-fetch-site": "same-origin" },
      });
    const before = await fetch(address, { redirect: "manual" });
    expect(before.headers.get("location")).toContain("/sign-in?to=%2Flogin");
    const cookie =
      ((await form("/sign-in", new URLSearchParams({ token: "token-of-ann" }))).headers.get("set-cookie") ?? "").split(
        ";",
      )[0] ?? "";
    // A proxy in front may ask for a password of its own, which the browser sends along.
    const headers = { cookie, authorization: "Basic YW5uOng=" };
    expect(await (await fetch(address, { headers })).text()).toContain("<strong>ann</strong>");
    const asked = new URL(address).searchParams;
    // Another site may not permit it in her name.
    const foreign = await fetch(new URL("/login", url), {
      method: "POST",
      body: asked,
      headers: { cookie, "sec-fetch-site": "cross-site" },
    });
    expect(foreign.status).toBe(403);
    const permitted = await form("/login", asked, cookie);
    const back = (permitted.headers.get("refresh") ?? "").replace("0; url=", "");
    const code = new URL(back).searchParams.get("code") ?? "";
    // Who has the code alone has nothing, and a code is no session.
    expect((await fetch(new URL("/api/stacks", url), { headers: { authorization: `Bearer ${code}` } })).status).toBe(
      401,
    );
    expect((await fetch(back.replace(/state=[^&]+/, "state=guessed"))).status).toBe(404);
    expect((await fetch(back)).status).toBe(200);
    expect((await login.finished).exitCode).toBe(0);
    const again = await fetch(new URL("/api/login", url), {
      method: "POST",
      body: JSON.stringify({ code, secret: "x" }),
    });
    expect(again.status).toBe(403);
    expect(statSync(join(env.XDG_CONFIG_HOME, "reconcile", "fleet-logins.json")).mode & 0o777).toBe(0o600);
    const list = await runCli(["fleet", "list", "--json"], { cwd, env });
    expect(jsonLines(list.stdout).flatMap(({ stack }) => stack ?? [])).toEqual(["prod-a"]);
    // What a command got signs no other one in: that would go on for ever, whatever became of the person.
    const kept: unknown = JSON.parse(readFileSync(join(env.XDG_CONFIG_HOME, "reconcile", "fleet-logins.json"), "utf8"));
    const { token } = fieldsIn(fieldsIn(kept)[new URL(url).origin]);
    const chained = await fetch(new URL("/login", url), {
      method: "POST",
      body: asked,
      redirect: "manual",
      headers: { authorization: `Bearer ${String(token)}`, origin: url },
    });
    expect([chained.headers.get("refresh"), chained.headers.get("location")]).toEqual([null, "/sign-in"]);
    expect((await runCli(["fleet", "login", "--revoke"], { cwd, env })).exitCode).toBe(0);
    expect((await runCli(["fleet", "list"], { cwd, env })).stderr).toContain("reconcile fleet login");
  });

  test("whoever sees a few stacks sees nothing of the others", async () => {
    const list = await asked("ann", "list", "--json");
    expect(jsonLines(list.stdout).flatMap(({ stack }) => stack ?? [])).toEqual(["prod-a"]);
    for (const args of [
      ["show", "lab-b"],
      ["plan", "lab-b"],
      ["log", "lab-b"],
      ["log", "2"],
      ["approve", "lab-b", digest],
    ]) {
      const { exitCode, stdout, stderr } = await asked("ann", ...args);
      expect([args, exitCode, stdout]).toEqual([args, 1, ""]);
      expect(stderr).toContain("fleet/no-stack");
    }
    const history = await asked("ann", "history");
    expect(history.stdout).toContain("prod-a");
    expect(history.stdout).not.toMatch(/lab-b|nobody's stack/);
  });

  test("a role that does not reach refuses with who may", async () => {
    const refused = await asked("vera", "approve", "prod-a", digest);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/fleet\/role.*vera may not approve prod-a/),
    ]);
    expect(refused.stderr).toContain("the role approver");
    expect((await asked("ann", "pause", "prod-a")).stderr).toContain("fleet/role");
    expect((await records.stack("prod-a"))?.approval).toBeUndefined();
  });

  test("approves as the person of the token, with a word", async () => {
    for (const [typed, said] of [
      ["fedcba98", "the plan fedcba98 of prod-a does not wait for approval (any more)"],
      [digest.slice(0, 5), `no plan of prod-a is named: ${digest.slice(0, 5)} is shorter than 6 characters`],
    ] as const)
      expect((await asked("ann", "approve", "prod-a", typed)).stderr).toContain(`[fleet/no-plan]: ${said}\n`);
    expect((await asked("ann", "approve", "prod-a", "")).stderr).toContain("fleet approve has an empty argument");
    const silent = await asked("ann", "approve", "prod-a", digest);
    expect([silent.exitCode, silent.stderr]).toEqual([
      3,
      expect.stringMatching(/fleet\/say-why[\s\S]*reconcile fleet approve prod-a 0123456789abcdef --why TEXT/),
    ]);
    const given = await asked("ann", "approve", "prod-a", digest, "--why", "read it", "--for", "2h");
    expect([given.exitCode, given.stdout]).toEqual([
      0,
      expect.stringContaining("prod-a is applied by the next free worker"),
    ]);
    const approval = (await records.stack("prod-a"))?.approval;
    expect(approval).toMatchObject({ by: "ann", why: "read it" });
    expect(Date.parse(approval?.until ?? "") - Date.parse(approval?.at ?? "")).toBe(2 * 3_600_000);
  });

  test("a run is undone by an operator of its stack alone", async () => {
    const [run] = await records.runs("prod-a", 1);
    const id = String(run?.id);
    expect((await asked("ann", "undo", id)).stderr).toContain("fleet/role");
    // It waits for somebody: nothing was carried out.
    expect((await asked("otto", "undo", id)).stderr).toMatch(/fleet\/no-undo.*under way/);
    // A pause does not end it either, and does not say so.
    expect((await asked("otto", "pause", "prod-a")).stdout).toMatch(/goes on to its end: reconcile fleet stop prod-a/);
    await asked("otto", "resume", "prod-a");
    expect((await asked("otto", "undo", "4711")).stderr).toMatch(/fleet\/no-undo.*no run 4711/);
    await records.finishRun(
      Number(id),
      {
        result: "applied",
        reason: null,
        plan: `${digest}-0a1b2c3d`,
        counts: {},
        report: { plan: "", consents: [], opens: [] },
      },
      newStatus,
      null,
    );
    // A run of another stack is not there for whoever does not see it.
    const other = String((await records.runs("lab-b", 1))[0]?.id);
    expect((await asked("ann", "undo", other)).stderr).toContain("fleet/no-undo");
    expect((await asked("otto", "undo", id, "--why", "too soon")).stdout).toContain(`The undo of run ${id} of prod-a`);
    expect((await records.stack("prod-a"))?.undoing).toMatchObject({ id: digest, by: "otto", why: "too soon" });
    const button = async (who: string) =>
      (await fetch(`${url}/runs/${id}`, { headers: { authorization: `Bearer token-of-${who}` } })).text();
    expect(await button("otto")).toContain('id="undo"');
    expect(await button("ann")).not.toContain('id="undo"');
    const pressed = await fetch(`${url}/api/stacks/lab-b/undo`, {
      method: "POST",
      headers: { authorization: "Bearer token-of-otto", "content-type": "application/json" },
      body: JSON.stringify({ run: id }),
    });
    expect([pressed.status, await pressed.json()]).toEqual([
      409,
      { error: expect.stringContaining("remembers no run") },
    ]);
  });

  test("what is wrong with the server or the token is said, and the token nowhere", async () => {
    expect((await asked(undefined, "list")).stderr).toContain("nobody without a token");
    const wrong = await asked("canary", "list");
    expect(wrong.stderr).toContain("no such token");
    expect(wrong.stdout + wrong.stderr).not.toContain("token-of-canary");
    vi.spyOn(records, "stacks").mockRejectedValueOnce(Object.assign(new Error("x"), { code: "ECONNREFUSED" }));
    const away = await asked("otto", "list");
    expect(away.stderr).toMatch(/the fleet's database did not answer[\s\S]*= fix: try again/);
    // Where something was to be done, nobody knows whether it was.
    vi.spyOn(records, "stack").mockRejectedValueOnce(Object.assign(new Error("x"), { code: "ECONNREFUSED" }));
    expect((await asked("otto", "pause", "prod-a")).stderr).toContain(
      "= fix: try again; reconcile fleet history prod-a tells whether it was done",
    );
    const env = { RECONCILE_FLEET_TOKEN: "token-of-canary" };
    for (const [args, says] of [
      [["--server", "http://127.0.0.1:9"], "did not answer"],
      [["--server", "http://fleet.example"], "without encryption"],
      [["--server", "https://x:y@fleet.example"], "an address with a credential"],
      [["--server", "nothing"], "--server cannot be"],
      [["--server", "https://x:can/canary@fleet.example"], '--server cannot be "https://fleet.example"'],
      [["--database", "postgre://x:canary@host/fleet"], "--database postgre://host/fleet is neither embedded nor"],
      [
        ["--database", "postgres://x:can/canary@host/fleet"],
        "--database postgres://host/fleet is neither embedded nor",
      ],
      [["--database", "postgres://host:port/fleet"], "--database postgres://host:port/fleet is neither embedded nor"],
      [["--server", url, "--database", "embedded"], "--server and --database name two fleets"],
    ] as const) {
      const ran = await runCli(["fleet", "list", ...args], { cwd, env });
      expect([args, ran.exitCode, ran.stderr]).toEqual([args, 1, expect.stringContaining(says)]);
      expect(ran.stderr).not.toContain("canary");
    }
    // A token that no header can hold is told by its name, also where its error would repeat it.
    const broken = { ...env, RECONCILE_FLEET_TOKEN: "canary\ncanary" };
    const ran = await runCli(["fleet", "list", "--server", "http://127.0.0.1:9"], { cwd, env: broken });
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("service/malformed-credential")]);
    expect(ran.stderr).not.toContain("canary");
  });

  test("an odd server is told as one, and what it calls a person is no escape of a terminal", async () => {
    const answers: Record<string, readonly [status: number, body: object]> = {
      "/api/commands/list": [200, { exit_code: 99.5, said: [] }],
      "/api/login": [200, { token: "rfl_canary", name: "ann\u001b[31m", hours: 12 }],
      "/api/logout": [503, {}],
    };
    const odd = createServer(({ url = "" }, response) => {
      const [status, body] = answers[url] ?? [404, {}];
      response.writeHead(status).end(JSON.stringify(body));
    });
    const env = { XDG_CONFIG_HOME: makeFolder(), RECONCILE_FLEET_SERVER: await listenHere(odd) };
    const list = await runCli(["fleet", "list"], { cwd, env });
    expect([list.exitCode, list.stderr]).toEqual([1, expect.stringContaining("not as the pages of a fleet do")]);
    const login = startCli(["fleet", "login"], { cwd, env });
    const [, address = ""] = await login.says("an address", ({ stderr }) => /Sign in here: (\S+)/.exec(stderr));
    const { searchParams } = new URL(address);
    await fetch(`http://127.0.0.1:${searchParams.get("port")}/?code=c&state=${searchParams.get("state")}`);
    const { exitCode, stdout } = await login.finished;
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("ann\\u001b[31m is signed in")]);
    // A session that goes on is not told as ended, nor forgotten.
    for (const _ of ["once", "once more"]) {
      const revoked = await runCli(["fleet", "login", "--revoke"], { cwd, env });
      expect([revoked.exitCode, revoked.stderr]).toEqual([1, expect.stringContaining("did not end the session (503)")]);
    }
    await closeHere(odd);
  });

  test("a body that is no form has no fields, and is no error of the pages", async () => {
    for (const [path, status] of [
      ["/sign-in", 302],
      ["/login", 400],
      ["/stacks/prod-a/approve", 302],
    ] as const) {
      const headers = { "sec-fetch-site": "same-origin", "content-type": "multipart/form-data; boundary=a" };
      const answer = await fetch(url + path, { method: "POST", headers, body: "x", redirect: "manual" });
      expect([path, answer.status]).toEqual([path, status]);
    }
  });

  test("a form of another site cannot ask it", async () => {
    const answer = await fetch(`${url}/api/commands/list`, {
      method: "POST",
      headers: { origin: "https://evil.example", "content-type": "text/plain" },
      body: "{}",
    });
    expect(answer.status).toBe(401);
  });
});
