/** Pull requests: planned by workers, told in one comment and a status, approved there by who may, carried out after the merge. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createProjectOpener } from "../../reconciler/cli/fleet/opener";
import type { PullPlan, PullRecord } from "../../reconciler/fleet/database/pulls";
import { hostPlace, openHost } from "../../reconciler/fleet/pulls/host";
import { lookForPulls } from "../../reconciler/fleet/pulls/look";
import { planPull } from "../../reconciler/fleet/pulls/plan";
import { commentText, tellPulls } from "../../reconciler/fleet/pulls/tell";
import { isTouched, repositoryPushed } from "../../reconciler/fleet/pushes";
import type { Trigger } from "../../reconciler/fleet/queue";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage } from "../support/fleet-processes";
import { idleQueue, newRecords, stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";
import { closeHere, listenHere } from "../support/loopback";
import { postgresMissing } from "../support/postgres-server";
import { readDump } from "../support/world-shape";
import { type GitHost, hostToken, startGitHost } from "./git-host";
import githubExchanges from "./recorded/github.json";
import gitlabExchanges from "./recorded/gitlab.json";

/** What the plan of a pull request asks a fleet of nothing else for. */
const idlePorts = {
  worker: "w:1",
  budgetOf: () => undefined,
  outputsOf: async () => undefined,
  dependentsOf: async () => [],
  statesWith: async () => [],
  siblingsOf: async () => [],
};

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
  readonly answer: unknown;
}

describe.each([
  ["github", "https://github.com/octocat/Hello-World.git", githubExchanges],
  ["gitlab", "git@gitlab.com:gitlab-org/gitlab-test.git", gitlabExchanges],
] as const)("the answers that %s documents", (kind, repository, exchanges: readonly Exchange[]) => {
  const place = hostPlace(repository, undefined);
  const left = [...exchanges];
  const play = (async (url: string, { method = "", headers, body }: RequestInit) => {
    const next = left.shift();
    expect({ method, path: url, ...(typeof body === "string" ? { body: JSON.parse(body) } : {}) }).toEqual({
      method: next?.method,
      path: next?.path,
      ...(next?.body === undefined ? {} : { body: next.body }),
    });
    expect(headers).toMatchObject(kind === "github" ? { authorization: "Bearer t" } : { "private-token": "t" });
    return new Response(JSON.stringify(next?.answer), { status: next?.status ?? 500 });
    // The test's own player takes what the client gives to fetch.
  }) as typeof fetch;
  test("are read, and the requests are as documented", async () => {
    if (place === undefined) throw new Error("no place");
    expect(place.kind).toBe(kind);
    const host = openHost({ place, token: "t", fetch: play });
    const [pull] = await host.open("main");
    expect(pull).toEqual(
      kind === "github"
        ? {
            number: 1347,
            head: "6dcb09b5b57875f334f61aebed695e2e4193db5e",
            author: "octocat",
            outside: false,
            link: "https://github.com/octocat/Hello-World/pull/1347",
            updatedAt: "2011-01-26T19:01:12Z",
          }
        : {
            number: 1,
            head: "8888888888888888888888888888888888888888",
            author: "admin",
            outside: true,
            link: "http://gitlab.example.com/my-group/my-project/merge_requests/1",
            updatedAt: "2017-04-29T08:46:00Z",
          },
    );
    const number = pull?.number ?? 0;
    expect(await host.endOf(number, "main")).toBe("merged");
    expect(await host.comments(number)).toEqual(
      kind === "github"
        ? [{ id: "1", by: "octocat", text: "Me too", isEdited: false }]
        : [{ id: "305", by: "pipin", text: "Text of the comment", isEdited: true }],
    );
    expect(await host.write(number, "a", undefined)).toBe(kind === "github" ? "1" : "302");
    expect(await host.write(number, "b", kind === "github" ? "1" : "302")).toBe(kind === "github" ? "1" : "302");
    const link = "https://fleet.example/stacks/a";
    await host.setStatus("6dcb09b5b57875f334f61aebed695e2e4193db5e", {
      state: "failure",
      context: "reconcile/a",
      description: "d",
      link,
    });
    await expect(host.open("main")).rejects.toThrow(/answered 40[13] to GET .*: /);
    expect(left).toEqual([]);
  });
});

test.each([
  ["https://github.com/acme/infra", { state: "open", base: { ref: "main" } }, undefined],
  ["https://github.com/acme/infra", { state: "open", base: { ref: "next" } }, "closed"],
  ["https://github.com/acme/infra", { state: "closed", base: { ref: "main" } }, "closed"],
  ["https://gitlab.com/acme/infra", { state: "opened", target_branch: "main" }, undefined],
  ["https://gitlab.com/acme/infra", { state: "locked", target_branch: "main" }, undefined],
  ["https://gitlab.com/acme/infra", { state: "opened", target_branch: "next" }, "closed"],
  ["https://gitlab.com/acme/infra", { state: "closed", target_branch: "main" }, "closed"],
])("what no list shows is asked for by itself: %s %j", async (repository, answer, end) => {
  const place = hostPlace(repository, undefined);
  if (place === undefined) throw new Error("no place");
  const fetch = async (): Promise<Response> => Response.json(answer);
  expect(await openHost({ place, token: "t", fetch }).endOf(7, "main")).toBe(end);
});

test.each(["https://github.com/acme/infra", "https://gitlab.com/acme/infra"])(
  "one that was deleted at %s is closed where the host itself says that it is not there",
  async (repository) => {
    const place = hostPlace(repository, undefined);
    if (place === undefined) throw new Error("no place");
    const endWith = (answer: Response) => openHost({ place, token: "t", fetch: async () => answer }).endOf(7, "main");
    expect(await endWith(Response.json({ message: "404 Not found" }, { status: 404 }))).toBe("closed");
    await expect(endWith(new Response("<p>no such page", { status: 404 }))).rejects.toThrow("answered 404");
    await expect(endWith(Response.json({ message: "slow down" }, { status: 500 }))).rejects.toThrow("slow down");
  },
);

test.each(["https://github.com/acme/infra", "https://gitlab.com/acme/infra"])(
  "a page in the place of an answer of %s is believed in nothing",
  async (repository) => {
    const place = hostPlace(repository, undefined);
    if (place === undefined) throw new Error("no place");
    const page = async (): Promise<Response> => new Response("<!doctype html><title>Sign in</title>");
    const host = openHost({ place, token: "t", fetch: page });
    const status = { state: "success", context: "c", description: "d" } as const;
    for (const asked of [
      () => host.open("main"),
      () => host.endOf(7, "main"),
      () => host.comments(7),
      () => host.write(7, "text", undefined),
      () => host.setStatus("abc", status),
    ])
      await expect(asked()).rejects.toThrow(/answered 200 to (GET|POST) .* with no JSON$/);
  },
);

test.each([
  [403, { "retry-after": "60" }, "60 s"],
  [429, { "retry-after": "7" }, "7 s"],
  [
    403,
    { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1764500030", date: "Sun, 30 Nov 2025 10:53:20 GMT" },
    "30 s",
  ],
  [403, { "x-ratelimit-remaining": "59", "x-ratelimit-reset": "4000000000" }, undefined],
])("a host that answers %i with %j is let alone for as long as it says", async (status, headers, rest) => {
  const place = hostPlace("https://github.com/acme/infra", undefined);
  if (place === undefined) throw new Error("no place");
  let asked = 0;
  const fetch = async (): Promise<Response> => {
    asked += 1;
    return Response.json({ message: "slow down" }, { status, headers });
  };
  const host = openHost({ place, token: `${status} ${rest}`, fetch });
  vi.useFakeTimers({ toFake: ["performance"] });
  await expect(host.open("main")).rejects.toThrow("slow down");
  await expect(host.comments(7)).rejects.toThrow(rest === undefined ? "slow down" : `wants no request for ${rest}`);
  expect(asked).toBe(rest === undefined ? 2 : 1);
  vi.advanceTimersByTime(60_000);
  await expect(host.comments(7)).rejects.toThrow("slow down");
  vi.useRealTimers();
});

test("a repository that has another name by now is told as such", async () => {
  const server = createServer((_, response) => response.writeHead(301, { location: "/api/v3/repositories/1" }).end());
  const place = hostPlace("https://git.example/acme/infra", `${await listenHere(server)}/api/v3`);
  if (place === undefined) throw new Error("no place");
  await expect(openHost({ place, token: "t" }).open("main")).rejects.toThrow(
    "answered 301 to GET repos/acme/infra/pulls and leads to another address: name that one",
  );
  await closeHere(server);
});

test.each(["v3", "v4"])("what is said behind a thousand comments is read (%s)", async (version) => {
  const host = await startGitHost();
  for (let n = 1; n <= 1001; n++) host.comment(7, "ann", `comment ${n}`);
  const place = hostPlace("https://git.example/acme/infra", `${host.url}/api/${version}`);
  if (place === undefined) throw new Error("no place");
  const said = await openHost({ place, token: hostToken }).comments(7);
  expect(said.at(-1)?.text).toBe("comment 1001");
  await host.close();
});

test("a pull request that could not be told is told again behind those that were not tried yet", async () => {
  const { database, records } = await newRecords();
  const pull = { url: "u", ref: "main", base: "b", head: "h", author: "ann", outside: false, link: "l", mark: "m" };
  for (const number of [1, 2]) await records.savePull({ ...pull, number }, []);
  expect((await records.takeUntold())?.number).toBe(1);
  await records.toldPull("u", 1, { told: {} });
  await database.query("UPDATE reconcile_fleet.pulls SET telling_until = now() - interval '1 second' WHERE number = 1");
  expect((await records.takeUntold())?.number).toBe(2);
  expect((await records.takeUntold())?.number).toBe(1);
  expect(await records.takeUntold()).toBeUndefined();
  await database.close();
});

test.each([
  ["a file in its folder", "apps/shop/reconcile.yaml", true],
  ["a file beside it", "apps/shop.yaml", false],
  ["a file outside that it reads", "shared/part.yaml", true],
  ["its folder, which is a link", "apps/shop", true],
  ["a link on the way to it", "apps", true],
])("%s touches a stack: %s", (_, file, touches) => {
  const source = { kind: "git", url: "u", ref: "main", path: "apps/shop" } as const;
  expect(isTouched({ spec: stackSpec("shop", { source }), files: ["shared/part.yaml"] }, [file])).toBe(touches);
});

test("what a branch is now is seen for its pull requests although all of its stacks are paused", async () => {
  const { database, records } = await newRecords();
  const [url, cache] = [makeFolder({ "a/reconcile.yaml": "" }), makeFolder()];
  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...words], {
      cwd: url,
      encoding: "utf8",
    }).trim();
  git("init", "--quiet", "--initial-branch", "main");
  const source = { kind: "git", url, ref: "main", path: "a" } as const;
  await records.saveStacks([stackSpec("a", { source: { ...source, pulls: { approvers: [] } }, paused: true })]);
  for (const message of ["one", "two"]) {
    git("add", "--all");
    git("commit", "--quiet", "--allow-empty", "--message", message);
    const pushed = await repositoryPushed({ records, queue: idleQueue, cache }, url, "main");
    expect(pushed).toEqual({ fetched: true, woken: [] });
    expect((await records.repositorySeen(url, "main")).revision).toBe(git("rev-parse", "HEAD"));
  }
  await database.close();
});

test("a plan whose round was never queued is asked for by the next look", async () => {
  const { database, records } = await newRecords();
  const host = await startGitHost();
  const url = "https://git.example/acme/infra";
  const pulls = { approvers: [], api: `${host.url}/api/v3`, token: { env: "PULLS_TOKEN" } };
  await records.saveStacks([stackSpec("a", { source: { kind: "git", url, ref: "main", path: "a", pulls } })]);
  const pull = { url, ref: "main", base: "b", head: "h", author: "ann", outside: false, link: "l", mark: "m" };
  await records.savePull({ ...pull, number: 7 }, [{ stack: "a", content: "c" }]);
  const asked: Trigger[] = [];
  const queue = { ...idleQueue, hasten: async (trigger: Trigger) => void asked.push(trigger) };
  process.env["PULLS_TOKEN"] = hostToken;
  await lookForPulls({ records, queue, cache: makeFolder(), say: () => undefined }, new AbortController().signal);
  delete process.env["PULLS_TOKEN"];
  expect(asked).toMatchObject([{ stack: "a", cause: "pull request", pull: 7 }]);
  await host.close();
  await database.close();
});

test("what a look finds again changes nothing: a conflict, a silent repository, a merge under way", async () => {
  const { database, records } = await newRecords();
  const host = await startGitHost();
  const repository = makeFolder({ "a/reconcile.yaml": "one", "b/reconcile.yaml": "one" });
  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", ...words], {
      cwd: repository,
      encoding: "utf8",
    }).trim();
  const commit = (file: string, text: string): string => {
    writeFileSync(join(repository, file), text);
    git("add", "--all");
    git("commit", "--quiet", "--message", text);
    return git("rev-parse", "HEAD");
  };
  const propose = (number: number, file: string, text: string): string => {
    git("checkout", "--quiet", "--detach", "main");
    const head = commit(file, text);
    git("update-ref", `refs/merge-requests/${number}/head`, head);
    git("checkout", "--quiet", "main");
    return head;
  };
  git("init", "--quiet", "--initial-branch", "main");
  commit("a/reconcile.yaml", "first");
  const [clashes, fits] = [propose(7, "a/reconcile.yaml", "mine"), propose(8, "b/reconcile.yaml", "fine")];
  const url = "https://git.example/acme/infra";
  const pulls = { approvers: ["otto"], api: `${host.url}/api/v4`, token: { env: "PULLS_TOKEN" } };
  const source = (path: string) => ({ source: { kind: "git", url, ref: "main", path, pulls } }) as const;
  await records.saveStacks([stackSpec("a", source("a")), stackSpec("b", source("b"))]);
  await records.sawCommit(url, "main", commit("a/reconcile.yaml", "theirs"));
  for (const [number, head] of [[7, clashes] as const, [8, fits] as const])
    host.pulls.push({ number, head, base: "main", author: "ann", fork: false, state: "open" });
  vi.stubEnv("PULLS_TOKEN", hostToken);
  vi.stubEnv("GIT_CONFIG_COUNT", "1");
  vi.stubEnv("GIT_CONFIG_KEY_0", `url.${repository}.insteadOf`);
  vi.stubEnv("GIT_CONFIG_VALUE_0", url);
  const said: string[] = [];
  const ports = { records, queue: idleQueue, cache: makeFolder(), say: (text: string) => void said.push(text) };
  const { signal } = new AbortController();
  const look = async (): Promise<void> => {
    await records.releaseTask(`pull requests of ${url} main`);
    await lookForPulls(ports, signal);
    await tellPulls(ports, undefined, signal);
  };
  const approval = async () => (await records.pullPlan(url, 8, "b"))?.approval?.by;
  await look();
  const written = host.comments.map(({ pull, text, changedAt }) => ({ pull, text, changedAt }));
  expect(written).toMatchObject([{ pull: 7, text: expect.stringMatching(/it conflicts/) }, { pull: 8 }]);
  await look();
  expect(host.comments).toMatchObject(written);

  const { content = "" } = (await records.pullPlan(url, 8, "b")) ?? {};
  await records.savePullPlan(url, 8, { stack: "b", content, result: "asks", digest: "d".repeat(16) });
  host.comments.length = 0;
  host.comment(8, "otto", `/reconcile approve ${"d".repeat(16)}`);
  await look();
  expect(await approval()).toBe("otto");
  expect(host.comments.map(({ pull, by }) => `${pull} ${by}`)).toEqual(["8 otto", "8 reconcile-bot"]);
  host.comment(8, "otto", "/plan\n/reconcile approve eeeeee");
  await look();
  expect(host.comments[1]?.text).toContain("no plan of this pull request is eeeeee");

  vi.stubEnv("GIT_CONFIG_KEY_0", `url.${repository}-is-away.insteadOf`);
  await records.sawCommit(url, "main", commit("a/reconcile.yaml", "goes on"));
  await look();
  expect(said.join()).toContain("the pull request 8 of");
  expect(await approval()).toBe("otto");
  vi.stubEnv("GIT_CONFIG_KEY_0", `url.${repository}.insteadOf`);
  for (const pull of host.pulls) pull.state = "locked";
  await look();
  expect(await approval()).toBe("otto");
  for (const pull of host.pulls) pull.state = "closed";
  await look();
  expect(await approval()).toBeUndefined();

  // It reads a file that the branch does not, and the next commit changes that one alone.
  for (const pull of host.pulls) pull.state = "open";
  await look();
  const again = await records.pullPlan(url, 8, "b");
  const body = { text: "", consents: [], opens: [], why: "", read: ["shared.yaml"] };
  await records.savePullPlan(url, 8, { stack: "b", content: again?.content ?? "", result: "applies", body });
  git("checkout", "--quiet", "--detach", fits);
  const next = commit("shared.yaml", "other");
  git("update-ref", "refs/merge-requests/8/head", next);
  for (const pull of host.pulls) if (pull.number === 8) pull.head = next;
  await look();
  expect(await records.pullPlan(url, 8, "b")).toMatchObject({ result: "waits", head: next });

  // What is wrong with a file is told by the file's name in the repository, and not in a worker's cache.
  const openProject = createProjectOpener({ cache: ports.cache });
  const none = { ...idlePorts, ...ports, openProject };
  const services = [{ name: "in-west", baseUrl: "embedded", insecureHttp: false }];
  const [stack, settings] = [await records.stack("b"), { ...(await records.settings()), services }];
  if (stack === undefined) throw new Error("no stack");
  await planPull(none, { stack, settings, number: 8, signal });
  const { result, why } = (await records.pullPlan(url, 8, "b")) ?? {};
  expect([result, why]).toEqual(["failed", expect.stringMatching(/^b\/reconcile\.yaml:1 /)]);
  await records.planPullAnew(url, 8);

  // The fleet's file says something else of the stack while its plan is made: that plan is for what it said before.
  const made = {
    stack: "b",
    content: (await records.pullPlan(url, 8, "b"))?.content ?? "",
    result: "applies",
  } as const;
  const [before, after] = [stackSpec("b", source("b")), stackSpec("b", { ...source("b"), approve: "plan" })];
  await records.saveStacks([after]);
  await records.savePullPlan(url, 8, made, before);
  expect(await records.pullPlan(url, 8, "b")).toMatchObject({ result: "waits" });
  await records.savePullPlan(url, 8, made, after);
  expect(await records.pullPlan(url, 8, "b")).toMatchObject({ result: "applies" });
  vi.unstubAllEnvs();
  await host.close();
  await database.close();
});

test("a comment approves with one command a line, and is told where it has something else as well", async () => {
  const { database, records } = await newRecords();
  const host = await startGitHost();
  const url = "https://git.example/acme/infra";
  const pulls = { approvers: ["otto"], api: `${host.url}/api/v3`, token: { env: "PULLS_TOKEN" } };
  process.env["PULLS_TOKEN"] = hostToken;
  const said = async (text: string): Promise<string | undefined> => {
    host.comment(7, "otto", text);
    await records.releaseTask(`pull requests of ${url} main`);
    const ports = { records, queue: idleQueue, cache: makeFolder(), say: () => undefined };
    await lookForPulls(ports, new AbortController().signal);
    return (await records.pull(url, 7))?.said;
  };
  const approved = async () => (await records.pullPlans(url, 7)).map(({ approval }) => approval?.why ?? approval?.by);
  const stacks = ["a", "b", "c"];
  const specs = stacks.map((path) => stackSpec(path, { source: { kind: "git", url, ref: "main", path, pulls } }));
  await records.saveStacks(specs);
  const pull = { url, ref: "main", base: "b", head: "h", author: "ann", outside: false, link: "l", mark: "m" };
  const content = "c";
  await records.savePull(
    { ...pull, number: 7 },
    stacks.map((stack) => ({ stack, content })),
  );
  for (const stack of stacks)
    await records.savePullPlan(url, 7, { stack, content, result: "asks", digest: stack.repeat(16) });
  host.pulls.push({ number: 7, head: "h", base: "main", author: "ann", fork: false, state: "open" });

  expect(await said(`/approve ${"a".repeat(16)}\n\nlooks good`)).toContain("has more than commands");
  await said(`Not yet:\n/approve ${"a".repeat(16)}`);
  expect(await approved()).toEqual([undefined, undefined, undefined]);
  await said(`/approve ${"a".repeat(16)}\r\n/reconcile approve  ${"b".repeat(16)} as agreed\r\n`);
  expect(await approved()).toEqual(["otto", "as agreed", undefined]);
  delete process.env["PULLS_TOKEN"];
  await host.close();
  await database.close();
});

test("a comment shows texts of files as they are, and no more than a host takes", () => {
  const pull: PullRecord = {
    url: "u",
    number: 7,
    ref: "main",
    base: "b".repeat(40),
    head: "a".repeat(40),
    author: "eve",
    outside: true,
    link: "l",
    updatedAt: "",
    mark: "m4rk",
    version: 1,
    said: "eve may not approve here <b>@all</b>",
  };
  const plan: PullPlan = {
    stack: "shop",
    head: pull.head,
    content: "c",
    result: "asks",
    digest: "0123456789abcdef-0a1b2c3d",
    why: "[x](http://evil.example)",
    body: {
      text: `${"`".repeat(5)}\n</details> @all ${"x".repeat(100_000)}`,
      consents: [],
      opens: [],
      why: "",
      sum: "1 to create | 2",
    },
  };
  const text = commentText(pull, [plan, { ...plan, stack: "b" }], "https://fleet.example/");
  expect(text.length).toBeLessThan(65_536);
  expect(text).toContain("/approve 0123456789abcdef-0a1b2c3d");
  expect(text).toContain(`${"`".repeat(6)}text\n`);
  const at = "2026-11-20T10:00:00Z";
  const approval = { digest: plan.digest ?? "", by: "ann", at, until: at };
  const given = (approvers: number): string =>
    commentText(pull, [{ ...plan, approval }], undefined, () => ({ approvers }));
  expect(given(1)).toMatch(/Approved by ann: it is carried out after the merge/);
  expect(given(1)).not.toContain("/approve");
  expect(given(2)).toMatch(/Approved by ann; 2 people have to\.[\s\S]*\/approve 0123456789abcdef/);
  const paused = (of: PullPlan): string => commentText(pull, [of], undefined, () => ({ paused: true }));
  expect(paused(plan)).toContain("waits for approval after the merge, and its stack is paused |");
  expect(paused({ ...plan, result: "applies" })).toContain("is applied after the merge, once its stack is resumed |");
  expect(paused({ ...plan, approval })).toContain("carried out after the merge, once its stack is resumed, if");
  expect(paused({ ...plan, result: "nothing" })).not.toMatch(/paused|resumed/);
  // Of many stacks the plans are left out first; how each is approved, and what is said of all, stays.
  for (const [stacks, hidden] of [
    [200, false],
    [600, true],
  ] as const) {
    const names = Array.from({ length: stacks }, (_, index) => `stack-${1000 + index}`);
    const many = commentText(
      { ...pull, said: "this" },
      names.map((stack) => ({ ...plan, stack })),
      undefined,
    );
    expect(many.length).toBeLessThan(65_536);
    expect(many).not.toContain("<details>");
    expect(many).toMatch(/Not carried out: this\.\n\n<sub>.*<\/sub>$/);
    const shown = many.match(/To approve it before the merge: `\/approve \S+`/g) ?? [];
    expect([shown.length === stacks, /No room is left for .* and \d+ more: /.test(many)]).toEqual([!hidden, hidden]);
  }
  expect(text.replace(/(`{6})text\n[\s\S]*?\n\1/g, "")).not.toMatch(/@all|evil\.example\)|<b>/);
});

describe.skipIf(postgresMissing !== undefined)("pull requests of a fleet", () => {
  let host: GitHost;
  const repository = makeFolder({ "a/reconcile.yaml": "", "judge.sh": "" });
  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", ...words], {
      cwd: repository,
      encoding: "utf8",
    }).trim();
  const stages: FleetStage[] = [];
  const file = (name: string, more = ""): string => `version: 1
project: acme
region: in-west-1
policy: { command: [sh, ../judge.sh], env: [HOST_TOKEN] }
vms:
  web: { name: ${name}-web, owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
${more}`;
  const group = (name: string): string =>
    `groups: { open: { name: ${name}-open, rules: [ { protocol: tcp, dst_port: 22, remote_ip: 0.0.0.0/0 } ] } }\n`;
  function write(path: string, text: string): void {
    mkdirSync(join(repository, path, ".."), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
  function commit(message: string): string {
    git("add", "--all");
    git("commit", "--quiet", "--message", message);
    return git("rev-parse", "HEAD");
  }
  /** On a branch of its own; the work tree is main again afterwards. */
  function propose(number: number, change: () => void): string {
    git("checkout", "--quiet", "-B", `change-${number}`, "main");
    change();
    const head = commit(`change ${number}`);
    for (const name of [`pull/${number}`, `merge-requests/${number}`]) git("update-ref", `refs/${name}/head`, head);
    git("checkout", "--quiet", "main");
    return head;
  }
  beforeAll(async () => {
    host = await startGitHost();
    git("init", "--quiet", "--initial-branch", "main");
    for (const name of ["a", "b"]) write(`${name}/reconcile.yaml`, file(name));
    write(
      "judge.sh",
      `test -z "$HOST_TOKEN" || exit 1\ngrep -q forbidden && echo '[{"severity":"error","summary":"the judge of the branch says no"}]' || echo '[]'\n`,
    );
    commit("first");
  });
  afterAll(async () => {
    for (const stage of stages) await stage.close();
    await host.close();
  });

  const url = "https://git.example/acme/infra";
  /** One of the stacks says for both where the host is, and whose token is taken. */
  async function begin(api: string, env: Readonly<Record<string, string>>, token = ""): Promise<FleetStage> {
    const stage = await openFleetStage({
      timeScale: 200,
      env: {
        ...env,
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: `url.${repository}.insteadOf`,
        GIT_CONFIG_VALUE_0: url,
      },
    });
    stages.push(stage);
    const source = (path: string, pulls: string): string =>
      `{ git: "${url}", path: ${path}, pull_requests: { ${pulls} } }`;
    await stage.sync(`version: 1
${stage.services}
defaults: { service: here, interval: 1h, not_the_author: true, state: "${stage.database}?state=\${stack}", retry: { first: 1s, max: 2s } }
stacks:
  a: { source: ${source("a", "approvers: [Otto, ann]")} }
  b: { source: ${source("b", `approvers: [bert], api: "${host.url}${api}"${token}`)} }
`);
    await stage.worker();
    for (const name of ["a", "b"]) await stage.until(name, ({ status }) => status.ready || status.awaitingApproval);
    return stage;
  }
  /** As webhooks ask for a look at the branch and at what is to be merged into it: nothing waits a minute for its turn. */
  async function look({ session: { database, records } }: FleetStage): Promise<void> {
    await database.query("UPDATE reconcile_fleet.repositories SET looked_at = NULL");
    await records.releaseTask(`pull requests of ${url} main`);
  }
  const ours = () => host.comments.filter(({ by }) => by === "reconcile-bot");
  const told = (stage: FleetStage, what: string, pattern: RegExp) =>
    eventually(what, async () => {
      await look(stage);
      await new Promise((resolve) => setTimeout(resolve, 500));
      return ours().find(({ text }) => pattern.test(text));
    });
  const groups = (stage: FleetStage): readonly string[] =>
    readDump(stage.emulator.dump()).group.map(({ name }) => name);

  test("github: planned, told, approved by who may, and carried out after the merge", { timeout: 0 }, async () => {
    const stage = await begin("/api/v3", { GITHUB_TOKEN: hostToken });
    const head = propose(7, () => write("a/reconcile.yaml", file("a", group("a"))));
    host.pulls.push({ number: 7, head, base: "main", author: "ann", fork: false, state: "open" });
    const comment = await told(stage, "a comment with the plan", /\/approve [0-9a-f-]+/);
    expect(comment.text).toContain("| a |");
    expect(comment.text).not.toContain("| b |");
    expect(comment.text).toContain("+ group.open");
    expect(host.statuses.filter(({ commit }) => commit === head).at(-1)).toMatchObject({
      context: "reconcile/a",
      state: "success",
    });
    // Nothing of it is sent, and the stack's own round knows nothing of it.
    expect(groups(stage)).not.toContain("a-open");
    expect((await stage.session.records.stack("a"))?.status).toMatchObject({ ready: true, plan: null });
    const [, digest = ""] = /\/approve ([0-9a-f-]+)/.exec(comment.text) ?? [];

    // It is not carried out while its stack is paused, and the comment and the status say so.
    await stage.run("fleet", "pause", "a");
    await told(stage, "that it is paused", /waits for approval after the merge, and its stack is paused/);
    const latest = () => host.statuses.filter(({ commit }) => commit === head).at(-1)?.description;
    expect(latest()).toMatch(/and its stack is paused/);
    await stage.run("fleet", "resume", "a");
    await eventually("that it is resumed", async () => {
      await look(stage);
      return latest()?.includes("paused") === false || undefined;
    });
    // A folder that goes, and one that is new.
    const gone = propose(5, () => rmSync(join(repository, "a"), { recursive: true }));
    host.pulls.push({ number: 5, head: gone, base: "main", author: "ann", fork: false, state: "open" });
    await told(stage, "that nothing is deleted", /the merge leaves no folder a, which deletes nothing/);
    expect(host.statuses.filter(({ commit }) => commit === gone).at(-1)?.state).toBe("success");
    host.pulls.pop();
    host.comments.splice(
      host.comments.findIndex(({ pull }) => pull === 5),
      1,
    );

    // Who may approve another stack, whose own change it is, and a comment that was changed.
    for (const who of ["bert", "ann"]) host.comment(7, who, `/approve ${digest}`);
    const edited = host.comment(7, "otto", `/approve ${digest}`);
    edited.changedAt = "2026-11-20T23:00:00Z";
    const refused = await told(stage, "that none of them counts", /was changed after it was written/);
    expect(refused.text).toMatch(/bert may not approve a here/);
    expect(refused.text).toMatch(/ann wrote a change of a/);
    expect((await stage.session.records.pullPlans(url, 7))[0]?.approval).toBeUndefined();
    // The host does not give the comments of another one, which it names first.
    const other = propose(6, () => write("a/reconcile.yaml", file("a-six")));
    host.broken.add(6);
    host.pulls.unshift({ number: 6, head: other, base: "main", author: "ann", fork: false, state: "open" });
    host.comment(7, "otto", `/approve ${digest} \u001b[2Jfine`);
    await told(stage, "the approval", /Approved by otto: it is carried out after the merge, if that is before 20/);
    expect(ours()).toHaveLength(1);

    // What somebody wrote moves no cursor.
    expect((await stage.run("fleet", "history", "a")).stdout).toContain(
      `otto approve in pull request a 7: ${digest}: \\u001b[2Jfine`,
    );

    // What is too old counts for nothing, and may be given anew; the plan stays when another request is closed.
    const { records, database } = stage.session;
    await database.query(
      `UPDATE reconcile_fleet.pull_plans SET approval = approval || '{"until":"2020-01-01T00:00:00Z"}'`,
    );
    await records.closePull(url, 99, true);
    expect((await records.pullPlans(url, 7)).map((plan) => [plan.digest, plan.approval])).toEqual([
      [digest, undefined],
    ]);
    const approveAnew = async (): Promise<void> => {
      host.comment(7, "otto", `/approve ${digest}`);
      await eventually("the approval that is given anew", async () => {
        await look(stage);
        return (await records.pullPlans(url, 7))[0]?.approval;
      });
    };
    await approveAnew();
    // So does one that was given before the fleet's file says something else of the stack.
    const { spec } = (await records.stack("a")) ?? {};
    if (spec === undefined) throw new Error("no stack");
    await records.saveStacks([spec]);
    expect((await records.pullPlans(url, 7))[0]?.approval).toBeDefined();
    await records.saveStacks([{ ...spec, intervalMs: spec.intervalMs + 1 }]);
    expect((await records.pullPlans(url, 7))[0]?.approval).toBeUndefined();
    await approveAnew();
    expect(groups(stage)).not.toContain("a-open");

    git("merge", "--quiet", "--no-ff", "--message", "merge 7", "change-7");
    const pull = host.pulls.find(({ number }) => number === 7);
    if (pull !== undefined) pull.state = "merged";
    await look(stage);
    await stage.hasten("a");
    await stage.until("a", ({ status, lastRun }) => status.ready && lastRun?.approval?.by === "otto");
    expect(groups(stage)).toContain("a-open");
  });

  test("gitlab: the branch's judge counts, a fork starts no program, and a conflict is told", {
    timeout: 0,
  }, async () => {
    const [first] = stages;
    for (const worker of first?.workers ?? []) await first?.stop(worker);
    host.pulls.length = 0;
    host.comments.length = 0;
    const stage = await begin("/api/v4", { HOST_TOKEN: hostToken }, ", token: { env: HOST_TOKEN }");
    const judged = propose(8, () => {
      write("judge.sh", "echo '[]'\n");
      write("b/reconcile.yaml", file("b", "groups: { forbidden: { name: b-forbidden } }\n"));
    });
    host.pulls.push({ number: 8, head: judged, base: "main", author: "eve", fork: false, state: "open" });
    await told(stage, "the judge's word", /the judge of the branch says no/);
    expect(host.statuses.filter(({ commit }) => commit === judged).at(-1)).toMatchObject({
      context: "reconcile/b",
      state: "failed",
    });

    const forked = propose(9, () => write("b/reconcile.yaml", file("b", "groups: { fine: { name: b-fine } }\n")));
    host.pulls.push({ number: 9, head: forked, base: "main", author: "mallory", fork: true, state: "open" });
    await told(stage, "that no program was run", /a pull request from outside starts no program/);

    const apart = propose(10, () => write("b/reconcile.yaml", file("other")));
    host.pulls.push({ number: 10, head: apart, base: "main", author: "eve", fork: false, state: "open" });
    write("b/reconcile.yaml", file("b-new"));
    commit("main goes on");
    await stage.hasten("b");
    await told(stage, "the conflict", /It was not planned: it conflicts with the branch/);

    const opens = propose(11, () => write("b/reconcile.yaml", file("b-new", group("b"))));
    host.pulls.push({ number: 11, head: opens, base: "main", author: "eve", fork: false, state: "open" });
    const asked = await told(
      stage,
      "what approves it, which GitLab does not take for its own",
      /`\/reconcile approve [^`]+`/,
    );
    const [, words = "", digest = ""] = /`(\/reconcile approve ([0-9a-f-]+))`/.exec(asked.text) ?? [];
    for (const text of [`/approve ${digest}`, words]) host.comment(11, "bert", text);
    await told(stage, "the approval", /Approved by bert/);
    for (const number of [8, 9, 10, 11])
      expect(host.comments.filter(({ pull, by }) => pull === number && by === "reconcile-bot")).toHaveLength(1);
    // The token is in no comment and in no table.
    expect(JSON.stringify(host.comments)).not.toContain(hostToken);
  });
});
