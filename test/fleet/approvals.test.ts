/**
 * Who approves: how many, not the author, through a closed window with a reason that everybody is told. Decisions as a
 * table, the desk on a database in this process, and a fleet of processes on a repository.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { approve, type Desk, pause, reject, resume, stop, undo } from "../../reconciler/fleet/actions";
import type { Database } from "../../reconciler/fleet/database/database";
import { createRecords, type Records } from "../../reconciler/fleet/database/records";
import type { PlanBody } from "../../reconciler/fleet/database/stacks";
import { type Approval, decide, joined } from "../../reconciler/fleet/decide";
import { createProvider } from "../../reconciler/fleet/identity";
import { noSettings, type StackSpec } from "../../reconciler/fleet/model";
import { carryOutAct } from "../../reconciler/fleet/pages/acts";
import { createPages } from "../../reconciler/fleet/pages/app";
import { waitingPage } from "../../reconciler/fleet/pages/waiting";
import { commitsIn, type FileChange, isBy, linkTo, shortened } from "../../reconciler/fleet/sources/change";
import { checkOutGit } from "../../reconciler/fleet/sources/git";
import { newStatus, occasionsOf } from "../../reconciler/fleet/status";
import { changeLines } from "../../reconciler/fleet/views";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage } from "../support/fleet-processes";
import { beginRun, planFacts as facts, idleQueue, newRecords, stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";
import { postgresMissing } from "../support/postgres-server";

const now = new Date("2026-11-20T19:30:00Z"); // a Friday
const allDay = {
  kind: "deny",
  schedule: "0 0 * * *",
  timeZone: "UTC",
  durationMs: 86_400_000,
  stacks: [],
  actions: ["apply"],
} as const;

describe("what a round does with a plan that several people approve", () => {
  const closed = { open: false, why: "the deny window" } as const;
  const by = (names: readonly string[], more: Partial<Approval> = {}): Approval | undefined => {
    const [first, ...others] = names.map((name) => ({ by: name, at: now.toISOString() }));
    if (first === undefined) return undefined;
    return {
      ...first,
      digest: "p",
      until: "2026-11-21T00:00:00Z",
      ...(others.length > 0 ? { also: others } : {}),
      ...more,
    };
  };
  const rows: readonly (readonly [string, number, Approval | undefined, "open" | "closed", string])[] = [
    ["nobody", 1, by([]), "open", "await"],
    ["one", 1, by(["ann"]), "open", "apply"],
    ["one of two", 2, by(["ann"]), "open", "await"],
    ["two of two", 2, by(["ann", "bob"]), "open", "apply"],
    ["one person twice", 2, by(["ann", "ann"]), "open", "await"],
    ["one person, by a token and by the sign-in", 2, by(["ann", "Ann@acme.example"]), "open", "await"],
    [
      "one person, by the sign-in and by a token, and another",
      2,
      by(["ann@acme.example", "ann", "bob"]),
      "open",
      "apply",
    ],
    ["two people of two organisations", 2, by(["ann@acme.example", "ann@partner.example"]), "open", "apply"],
    ["two, of another plan", 2, by(["ann", "bob"], { digest: "q" }), "open", "await"],
    ["two, too long ago", 2, by(["ann", "bob"], { until: "2026-11-20T19:00:00Z" }), "open", "await"],
    ["one, and a closed window", 1, by(["ann"]), "closed", "await"],
    ["one, through the window", 1, by(["ann"], { throughWindow: true }), "closed", "apply"],
    ["one of two, through the window", 2, by(["ann"], { throughWindow: true }), "closed", "await"],
    ["two of two, one of them through the window", 2, by(["ann", "bob"], { throughWindow: true }), "closed", "apply"],
  ];
  test.each(rows)("%s of %i", (_, approvers, approval, window, ends) => {
    const opening = window === "open" ? ({ open: true } as const) : closed;
    expect(decide(facts, { approve: "plan", consents: [], approvers }, approval, opening, now).do).toBe(ends);
  });

  const later = new Date("2026-11-20T23:00:00Z");
  test.each([
    ["one of before the merge and one since", by(["bob"]), now, "open", "apply"],
    ["the same person twice", by(["ann"]), now, "open", "await"],
    ["one since, whose time is over", by(["bob"], { until: "2026-11-20T22:00:00Z" }), later, "open", "await"],
    ["one since, in a closed window", by(["bob"]), now, "closed", "await"],
    ["one since, through the window", by(["bob"], { throughWindow: true }), now, "closed", "apply"],
  ] as const)("of two people, %s", (_, since, at, window, ends) => {
    const approval = joined(by(["ann"])!, since, at);
    const opening = window === "open" ? ({ open: true } as const) : closed;
    expect(decide(facts, { approve: "plan", consents: [], approvers: 2 }, approval, opening, at).do).toBe(ends);
  });

  test("it says who has approved and how many are missing", () => {
    const policy = { approve: "plan", consents: [], approvers: 3 } as const;
    expect(decide(facts, policy, by(["ann", "bob"]), { open: true }, now)).toMatchObject({
      why: expect.stringMatching(/^ann and bob approved it, and one more person has to; /),
    });
  });

  test("drift that a run put back is told, once for each run", () => {
    const ready = { ...newStatus, ready: true };
    expect(occasionsOf(ready, ready, { end: "applied" }, true)).toEqual(["applied", "drift_corrected"]);
    expect(occasionsOf(ready, ready, { end: "applied" }, false)).toEqual(["applied"]);
  });
});

describe("who wrote a change", () => {
  const commit = {
    id: "1".repeat(40),
    author: "Ann Lee",
    email: "ann.lee@acme.example",
    others: ["Bob Ray <bob@acme.example>"],
    at: "2026-11-20T19:00:00Z",
    subject: "open 443",
  };
  test.each([
    ["ann.lee@acme.example", true],
    ["ANN.LEE@acme.example", true],
    ["Ann Lee", true],
    ["ann.lee", true],
    ["bob@acme.example", true],
    ["bob", true],
    ["carl@acme.example", false],
    ["lee", false],
  ])("%s: %s", (person, is) => expect(isBy(commit, person)).toBe(is));

  test.each([
    ["https://github.com/acme/infra.git", "https://github.com/acme/infra/commit/abc"],
    ["https://x:secret@github.com/acme/infra", "https://github.com/acme/infra/commit/abc"],
    ["git@github.com:acme/infra.git", "https://github.com/acme/infra/commit/abc"],
    ["ssh://git@gitlab.acme.example:2222/team/infra.git", "https://gitlab.acme.example/team/infra/-/commit/abc"],
    ["https://git.acme.example:8443/team/infra", "https://git.acme.example:8443/team/infra/commit/abc"],
    ["https://github.com:443/acme/infra", "https://github.com/acme/infra/commit/abc"],
    ["https://bitbucket.org/acme/infra", "https://bitbucket.org/acme/infra/commits/abc"],
    ["/srv/git/infra.git", undefined],
    ["file:///srv/git/infra.git", undefined],
    ["https://acme.example/a?b=<script>", undefined],
  ])("the page of a commit of %s", (url, link) => expect(linkTo(url, "abc")).toBe(link));

  test("what a commit says is no escape of a terminal, and a long difference is cut", () => {
    const [one] = commitsIn(`${"1".repeat(40)}\0A\u001b[31m\0a@x\0at\0\0open\u001b]0;x\u0007 all`, "/x");
    expect(JSON.stringify(one)).not.toMatch(/\\u00(1b|07)/);
    expect(shortened("x\n".repeat(1000)).split("\n").length).toBeLessThan(310);
    expect(shortened("a\nb\n")).toBe("a\nb\n");
  });
});

/** A repository with one commit of one author after the other. */
function repository() {
  const folder = makeFolder();
  const git = (author: string, ...words: string[]): string =>
    execFileSync("git", ["-c", `user.name=${author}`, "-c", `user.email=${author}@acme.example`, ...words], {
      cwd: folder,
      encoding: "utf8",
    }).trim();
  git("x", "init", "--quiet", "--initial-branch", "main");
  return {
    folder,
    commit(author: string, file: string, text: string, message = file): string {
      mkdirSync(join(folder, file, ".."), { recursive: true });
      writeFileSync(join(folder, file), text);
      git(author, "add", "--all");
      git(author, "commit", "--quiet", "--message", message);
      return git(author, "rev-parse", "HEAD");
    },
    reset: (to: string): string => git("x", "reset", "--quiet", "--hard", to),
  };
}

test("a checkout tells what was changed since a revision, in its folder and in the files that it reads besides", async () => {
  const { folder, commit } = repository();
  const first = commit("ann", "app/reconcile.yaml", "version: 1\nproject: a\n");
  commit("bob", "other/reconcile.yaml", "version: 1\n", "elsewhere");
  commit("carl", "shared/part.yaml", "x: 1\n", "a component");
  commit(
    "dora",
    "app/reconcile.yaml",
    "version: 1\nproject: b\n",
    // As a mail program folds it.
    "rename it\n\nCo-authored-by: Eve Miller\n <eve@acme.example>",
  );
  const cache = makeFolder();
  const { changeSince } = await checkOutGit({ url: folder, ref: "main", path: "app" }, cache);
  const change = await changeSince?.(first, ["shared/part.yaml"]);
  expect(change?.commits.map(({ author, subject }) => [author, subject])).toEqual([
    ["dora", "rename it"],
    ["carl", "a component"],
  ]);
  expect(isBy(change!.commits[0]!, "eve")).toBe(true);
  expect(change?.difference).toContain("-project: a\n+project: b\n");
  expect(change?.difference).toContain("+x: 1");
  expect((await changeSince?.(null, []))?.commits.map(({ author }) => author)).toEqual(["dora"]);
  expect((await changeSince?.(null, []))?.alsoBy?.map(({ author }) => author)).toEqual(["ann"]);
  for (let index = 0; index < 25; index++)
    commit(`w${index}`, "app/reconcile.yaml", `version: 1\nproject: p${index}\n`);
  // A stack that leaves, an undo and an input change something as well: nobody knows that it was the service.
  const newest = await checkOutGit({ url: folder, ref: "main", path: "app" }, cache, { now: true });
  const none = await newest.changeSince?.(newest.revision, []);
  expect(none === undefined ? [] : changeLines(none)).toEqual([expect.not.stringContaining("the service differs"), ""]);
  const many = await (await checkOutGit({ url: folder, ref: "main", path: "app" }, cache, { now: true })).changeSince?.(
    first,
    [],
  );
  expect([many?.commits.length, many?.more]).toEqual([20, 6]);
  // Whoever wrote one that is not listed wrote it all the same.
  expect(many?.alsoBy?.map(({ author }) => author)).toEqual(["w4", "w3", "w2", "w1", "w0", "dora"]);
  expect((await changeSince?.("0".repeat(40), []))?.commits.map(({ author }) => author)).toEqual(["dora"]);
});

test("a folder and a file with signs of a pattern in their names are those of that name alone", async () => {
  const { folder, commit } = repository();
  const first = commit("ann", "apps/[ab]/reconcile.yaml", "project: mine\n");
  commit("bob", "apps/a/reconcile.yaml", "project: another\n");
  commit("bob", "shared/x.yaml", "x: another\n");
  commit("ann", "shared/[x].yaml", "x: mine\n");
  commit("ann", "apps/[ab]/reconcile.yaml", "project: mine too\n");
  const { changeSince } = await checkOutGit({ url: folder, ref: "main", path: "apps/[ab]" }, makeFolder());
  const { difference = "" } = (await changeSince?.(first, ["shared/[x].yaml"])) ?? {};
  expect([difference.match(/mine/g)?.length, difference.match(/another/g)]).toEqual([3, null]);
});

test("where the branch was rewritten, whoever wrote a commit of the files counts", async () => {
  const { folder, commit, reset } = repository();
  const source = { url: folder, ref: "main", path: "app" };
  const cache = makeFolder();
  const at = () => checkOutGit(source, cache, { now: true });
  const authors = (change: FileChange | undefined): unknown[] => [
    change?.commits.map(({ author }) => author),
    change?.alsoBy?.map(({ author }) => author),
  ];
  commit("ann", "app/reconcile.yaml", "version: 1\nproject: a\n");
  const opened = commit("mal", "app/reconcile.yaml", "version: 1\nproject: open\n");
  const closed = commit("ann", "app/reconcile.yaml", "version: 1\nproject: a\n");
  await at();
  // Back to a commit that never was the newest: its author may be who pushed it there.
  reset(opened);
  const back = await (await at()).changeSince?.(closed, []);
  expect(authors(back)).toEqual([["mal"], ["ann"]]);
  expect(back?.difference).toContain("+project: open");
  // The same commits in another order.
  commit("bob", "app/reconcile.yaml", "version: 1\nproject: b\n");
  expect(authors(await (await at()).changeSince?.(closed, []))).toEqual([["bob"], ["mal", "ann"]]);
  expect(authors(await (await at()).changeSince?.(opened, []))).toEqual([["bob"], []]);
});

describe("the desk", () => {
  let database: Database;
  let records: Records;
  const digest = "0123456789abcdef";
  beforeAll(async () => {
    ({ database, records } = await newRecords());
  });
  afterAll(() => database.close());

  const commits = [
    {
      id: "a".repeat(40),
      author: "ann",
      email: "ann@acme.example",
      others: [],
      at: now.toISOString(),
      subject: "open 443",
    },
  ];
  async function waiting(
    name: string,
    more: Partial<StackSpec> = {},
    known = true,
    consents: PlanBody["consents"] = [],
  ): Promise<void> {
    await records.saveStacks([stackSpec(name, { approve: "plan", ...more })]);
    await records.saveStatus(name, { ...newStatus, awaitingApproval: true, plan: digest });
    await records.savePlan(name, {
      digest,
      revision: "r",
      body: {
        text: "",
        consents,
        opens: [],
        why: "",
        sum: "Plan: 1 to update.",
        ...(known
          ? { change: { commits, more: 1, alsoBy: [{ author: "Old", email: "old@acme.example", others: [] }] } }
          : {}),
      },
    });
  }
  const desk = (who: string) => ({ records, queue: idleQueue, who });
  const refused = (who: string, stack: string, more: Parameters<typeof approve>[3] = {}): Promise<string> =>
    approve(desk(who), stack, digest, { now, ...more }).then(
      () => "approved",
      (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
    );

  test("two people who approve at the same time both count, and one person counts once", async () => {
    await waiting("two", { approvers: 2 });
    const both = await Promise.all(["ann", "bob"].map((who) => approve(desk(who), "two", digest, { now })));
    expect(both.map(({ missing }) => missing).sort()).toEqual([0, 1]);
    await waiting("brief");
    await approve(desk("ann"), "brief", digest.slice(0, 8), { now, why: "read" });
    expect(await records.decisions("brief", 1)).toMatchObject([{ detail: `${digest}: read` }]);
    await records.releaseStack("brief");
    await waiting("once", { approvers: 2 });
    expect(await refused("ann", "once")).toBe("approved");
    expect(await refused("ann", "once")).toMatch(/^fleet\/approved-already: ann has approved/);
    expect((await records.stack("once"))?.approval).toMatchObject({ by: "ann" });
    await waiting("page", { approvers: 2 });
    const form = { plan: digest, run: "", throughWindow: false };
    const onPage = (who: string) => carryOutAct(desk(who), "approve", "page", form);
    expect([await onPage("ann"), await onPage("bob")]).toEqual(["one-of-several", "approve"]);
    await records.releaseStack("page");
    await waiting("halted", {});
    await pause(desk("ann"), "halted");
    expect(await carryOutAct(desk("ann"), "approve", "halted", form)).toBe("approve-paused");
    await records.releaseStack("halted");
  });

  test("an approval stands no longer than each of those said who have to, or than the last one where one is enough", async () => {
    const at = (hours: number) => new Date(now.getTime() + hours * 3_600_000).toISOString();
    const standsUntil = async (stack: string, approvers: number, hours: readonly number[]) => {
      await waiting(stack, approvers === 1 ? {} : { approvers });
      for (const [nth, each] of hours.entries())
        await approve(desk(["ann", "bob"][nth] ?? ""), stack, digest, { now, forMs: each * 3_600_000 });
      const { approval } = (await records.stack(stack))!;
      await records.releaseStack(stack);
      return approval?.until;
    };
    expect([
      await standsUntil("short", 2, [24, 1]),
      await standsUntil("long", 2, [1, 24]),
      await standsUntil("again", 1, [1, 24]),
      await standsUntil("still", 1, [24, 1]),
    ]).toEqual([at(1), at(1), at(24), at(24)]);
  });

  const pull = { url: "https://127.0.0.1:9/acme/none", ref: "main", base: "b", number: 9, head: "h", author: "x" };
  const approveBefore = (lossy: Records) =>
    lossy.approvePull(
      pull.url,
      pull.number,
      "unheard",
      { digest, by: "ann", at: now.toISOString(), until: "9999-01-01T00:00:00Z" },
      { who: "ann", what: "approve in pull request", stack: "unheard" },
    );
  test.each<[what: string, (desk: Desk) => Promise<unknown>]>([
    ["approve", (lossy) => approve(lossy, "unheard", digest, { now })],
    ["reject", (lossy) => reject(lossy, "unheard", digest)],
    ["pause", (lossy) => pause(lossy, "unheard")],
    ["resume", (lossy) => resume(lossy, "unheard")],
    ["stop", (lossy) => stop(lossy, "unheard", { now: false })],
    ["approve in pull request", (lossy) => approveBefore(lossy.records)],
    ["undo", async (lossy) => undo(lossy, (await records.runs("unheard", 1))[0], "1")],
  ])("the history tells of %s where it was done, also where the answer of the database was lost", async (what, act) => {
    await waiting("unheard");
    await records.savePull({ ...pull, outside: false, link: "l", mark: "m" }, [{ stack: "unheard", content: "c" }]);
    await records.savePullPlan(pull.url, pull.number, { stack: "unheard", content: "c", result: "asks", digest });
    const { id } = await beginRun(records, { stack: "unheard", worker: "w:1" });
    const report = { plan: "", consents: [], opens: [] };
    await records.finishRun(id, { result: "applied", reason: null, counts: {}, plan: digest, report }, newStatus, null);
    const lossy = createRecords({
      ...database,
      async query(text, values) {
        const rows = await database.query(text, values);
        if (/UPDATE|INSERT|DELETE/.test(text)) throw new Error("Connection terminated unexpectedly");
        return rows;
      },
    });
    await expect(act({ ...desk("ann"), records: lossy })).rejects.toThrow("Connection terminated");
    expect(await records.decisions("unheard", 1)).toMatchObject([{ who: "ann", what }]);
    await records.releaseStack("unheard");
    await database.query("DELETE FROM reconcile_fleet.decisions WHERE stack = 'unheard'");
  });

  test("who approved it before the merge counts, until a window or the time voids that", async () => {
    const url = "https://github.com/acme/infra";
    const pull = {
      url,
      ref: "main",
      base: "b",
      number: 7,
      head: "h",
      author: "x",
      outside: false,
      link: "l",
      mark: "m",
    };
    const body = { text: "", consents: [], opens: [], why: "" };
    const beforeMerge = () => records.approvalBeforeMerge("merged", digest);
    const approveBefore = async (until: string): Promise<void> => {
      await records.savePull(pull, [{ stack: "merged", content: "c" }]);
      await records.savePullPlan(url, 7, { stack: "merged", content: "c", result: "asks", digest, body });
      const approval = { digest, by: "ann", at: now.toISOString(), until };
      expect(await records.approvePull(url, 7, "merged", approval)).toBe(true);
    };
    await waiting("merged", { approvers: 2 });
    await approveBefore("9999-01-01T00:00:00Z");
    // Whoever looks or wants to approve it again is told so, before anybody did it here.
    expect(await refused("ann", "merged")).toMatch(/^fleet\/approved-already: ann has approved/);
    const pages = createPages({
      ...{ records, queue: idleQueue, local: async () => "otto", provider: createProvider(), say: () => undefined },
      ...{ pulled: async () => false, pushed: async () => ({ fetched: false, woken: [] }), metrics: async () => "" },
      hooks: { github: [], gitlab: [] },
    });
    const shown = async (path: string) => (await pages.request(path, { headers: { host: "127.0.0.1" } })).text();
    expect(await shown("/stacks/merged")).toContain("one more person has to approve it");
    expect(await shown("/waiting")).toContain("approved by ann; one more person");
    expect(await approve(desk("bob"), "merged", digest, { now })).toMatchObject({ missing: 0 });
    const { approval: seen } = (await records.stack("merged"))!;
    await records.savePlan("merged", { digest, revision: "r", body }, { voids: true, seen });
    expect([await beforeMerge(), (await records.stack("merged"))?.approval]).toEqual([undefined, undefined]);
    // Somebody approved it while the round that voids what it had read was ending.
    await approve(desk("dora"), "merged", digest, { now });
    await records.savePlan("merged", { digest, revision: "r", body }, { voids: true, seen });
    expect((await records.stack("merged"))?.approval).toMatchObject({ by: "dora" });
    await records.dropTokens("dora");
    // Both voices carry it out, and where it is rejected before that neither counts any more.
    await approveBefore("9999-01-01T00:00:00Z");
    await approve(desk("bob"), "merged", digest, { now });
    await beginRun(records, { stack: "merged", worker: "w:1" });
    await expect(reject(desk("otto"), "merged", digest, { now })).rejects.toThrow(/approved, and run \d+ is under way/);
    await records.endLostRuns("merged", "w:2");
    await reject(desk("otto"), "merged", digest, { now });
    expect([await beforeMerge(), (await records.stack("merged"))?.approval]).toEqual([undefined, undefined]);
    await approveBefore("2020-01-01T00:00:00Z");
    expect(await beforeMerge()).toBeUndefined();
    await records.releaseStack("merged");
  });

  test("whoever wrote a commit of it may not approve it, and where nobody knows who did nobody may", async () => {
    await waiting("own", { notTheAuthor: true });
    expect(await refused("ann", "own")).toMatch(/^fleet\/own-change: ann wrote aaaaaaaaaaaa \(open 443\)/);
    expect(await refused("ANN@acme.example", "own")).toMatch(/^fleet\/own-change/);
    expect(await refused("old@acme.example", "own")).toMatch(/^fleet\/own-change: .* wrote an older commit of it/);
    expect(await refused("bob", "own")).toBe("approved");
    await waiting("unknown", { notTheAuthor: true }, false);
    expect(await refused("bob", "unknown")).toMatch(/^fleet\/own-change: who changed the files/);
  });

  test("a closed window lets nothing through but with a reason, which every receiver is told", async () => {
    await records.saveSettings({
      ...noSettings,
      windows: [allDay],
      receivers: [{ on: ["stalled"], stacks: [], webhook: "http://127.0.0.1:9/x" }],
    });
    await waiting("frozen");
    expect(await refused("ann", "frozen")).toMatch(/^fleet\/window-closed: .* the deny window "0 0 \* \* \*"$/);
    expect(await refused("ann", "frozen", { throughWindow: true })).toMatch(/^fleet\/window-closed: .* none is given$/);
    expect(await refused("ann", "frozen", { throughWindow: true, why: " " })).toMatch(/^fleet\/window-closed/);
    expect(await records.lettersWaiting()).toMatchObject({ waiting: 0 });
    expect(await refused("ann", "frozen", { throughWindow: true, why: "the site is down" })).toBe("approved");
    expect((await records.stack("frozen"))?.approval).toMatchObject({ throughWindow: true, why: "the site is down" });
    const [letter] = await records.takeLetters([]);
    expect(letter?.body).toMatchObject({
      event: "through_window",
      stack: "frozen",
      reason: expect.stringMatching(/^ann lets the plan 0123456789abcdef .*: the site is down$/),
    });
    expect((await records.decisions("frozen", 1))[0]).toMatchObject({ what: "approve through the window" });
    await records.saveSettings(noSettings);
  });

  test("one page lists what waits, the oldest first, and whom it asks", async () => {
    await records.addToken({ hash: "h", name: "zoe", role: "approver", stacks: ["two"] });
    const plans = await records.waitingPlans();
    expect(plans.map(({ stack }) => stack)).toEqual(["two", "once", "own", "unknown", "frozen"]);
    const page = String(
      waitingPage({
        plans,
        approvers: await records.approvers(),
        settings: { windows: [allDay] },
        visitor: { name: "zoe", grants: [{ role: "approver", stacks: ["two"] }] },
        now,
      }),
    );
    expect(page).toContain("5 plans wait, the oldest first; you may approve 1 of them.");
    expect(page).toContain("approved by ann; one more person; whoever reaches this page");
    expect(page).toContain("the deny window");
  });

  test("what is approved stands by the database's clock, and no longer than its person has a right", async () => {
    const readAt = new Date("2026-01-01T00:00:00Z");
    const slow: Records = {
      ...records,
      stack: async (name) => {
        const stack = await records.stack(name);
        return stack === undefined ? undefined : { ...stack, readAt };
      },
    };
    expect((await records.stack("once"))?.readAt).toBeInstanceOf(Date);
    await waiting("timed");
    await approve({ ...desk("dora"), records: slow }, "timed", digest);
    expect((await records.stack("timed"))?.approval).toMatchObject({
      at: "2026-01-01T00:00:00.000Z",
      until: "2026-01-02T00:00:00.000Z",
    });
    await waiting("both", { approvers: 2 });
    for (const who of ["ann", "dora"]) await approve(desk(who), "both", digest, { now });
    await records.dropTokens("eve");
    expect((await records.stack("both"))?.approval).toBeDefined();
    await records.dropTokens("dora");
    for (const name of ["timed", "both"]) expect((await records.stack(name))?.approval, name).toBeUndefined();
    expect((await records.stack("once"))?.approval).toMatchObject({ by: "ann" });
  });

  test("who is told of drift hears of a plan that was rejected, once", async () => {
    const webhook = "http://127.0.0.1:9/hook";
    await records.saveSettings({ ...noSettings, receivers: [{ on: ["drifted"], stacks: [], webhook }] });
    await waiting("unwanted");
    await reject(desk("ann"), "unwanted", digest, { why: "not now" });
    const letters = await records.takeLetters([]);
    expect(letters.map(({ place, body }) => [place, body["event"], body["reason"]])).toEqual([
      [webhook, "drifted", expect.stringContaining("was rejected by ann: not now")],
    ]);
    await records.sentLetters(letters.map(({ id }) => id));
    await records.saveSettings(noSettings);
  });

  test("a plan that is being carried out is not rejected, whatever another tab shows", async () => {
    await waiting("going", { approvers: 2 });
    const no = () => reject(desk("eve"), "going", digest);
    await approve(desk("ann"), "going", digest, { now: new Date() });
    const { id } = await beginRun(records, { stack: "going", worker: "w:1" });
    await approve(desk("bob"), "going", digest, { now: new Date() });
    await expect(no()).rejects.toThrow(`was approved, and run ${id} is under way with it`);
    // By the clock of this machine the approval is long over.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 1000 * 3_600_000 });
    await expect(no()).rejects.toThrow(/is under way/);
    vi.useRealTimers();
    await records.finishRun(id, { result: "awaiting_approval", reason: null, counts: {} }, newStatus, null);
    await no();
    expect(await records.stack("going")).toMatchObject({ rejection: { by: "eve" } });
    expect((await records.stack("going"))?.approval).toBeUndefined();
  });

  test("a plan that loses data is approved with a reason, and any other one without", async () => {
    await waiting("losing", { approvers: 2 }, true, [
      {
        detail: "volume.data loses its data",
        grant: "--allow-loss volume.data (or --allow-data-loss for everything that is listed)",
      },
    ]);
    for (const why of [undefined, "  "])
      expect(await refused("bob", "losing", { why })).toMatch(/^fleet\/say-why: the plan .* loses data/);
    await expect(approve(desk("bob"), "losing", digest, { now })).rejects.toMatchObject({
      fix: `reconcile fleet approve losing ${digest} --why TEXT`,
    });
    expect((await records.stack("losing"))?.approval).toBeUndefined();
    for (const who of ["bob", "carl"])
      expect(await refused(who, "losing", { why: "agreed with the owner" })).toBe("approved");
    await waiting("again", {}, true, [
      { detail: "volume.data loses its data", grant: "--allow-loss volume.data (or --allow-data-loss for everything)" },
    ]);
    await waiting("flushing", {}, true, [{ detail: "volume.data is detached", grant: "--confirm-flush volume.data" }]);
    expect(await refused("bob", "flushing")).toBe("approved");
    // A script at the database itself goes on as it did before a reason was asked for.
    await approve({ ...desk("cron"), atDatabase: true }, "again", digest, { now });
    expect((await records.stack("again"))?.approval).toMatchObject({ by: "cron" });
  });
});

describe.skipIf(postgresMissing !== undefined)("a fleet on a repository", () => {
  let stage: FleetStage;
  const told: Record<string, unknown>[] = [];
  const receiver = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      told.push(JSON.parse(text));
      response.end();
    });
  });
  const repo = repository();
  const group = (port: number): string => `version: 1
project: acme
groups:
  web: { name: web, rules: [ { protocol: tcp, dst_port: ${port}, remote_ip: 198.51.100.0/24 } ] }
`;
  const fleet = (windows = ""): string => `version: 1
${stage.services}
defaults: { service: here, interval: 1h, state: "${stage.database}?state=\${stack}" }
notify: [ { on: [drift_corrected], to: { webhook: "http://127.0.0.1:${(receiver.address() as AddressInfo).port}" } } ]
${windows}
stacks:
  web: { source: { git: ${repo.folder}, path: web }, approve: plan, not_the_author: true, approvers: 2 }
  kept: { source: { git: ${repo.folder}, path: kept } }
`;
  beforeAll(async () => {
    await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
    stage = await openFleetStage();
    repo.commit("ann", "web/reconcile.yaml", group(443), "open 443");
    repo.commit("ann", "kept/reconcile.yaml", group(8443).replaceAll("web", "kept"), "open 8443");
    await stage.sync(fleet());
    await stage.worker();
  });
  afterAll(async () => {
    await stage.close();
    receiver.close();
  });
  const as = (who: string) => ({ records: stage.session.records, queue: stage.session.queue, who });
  const newest = (): string =>
    execFileSync("git", ["rev-parse", "HEAD"], { cwd: repo.folder, encoding: "utf8" }).trim();
  /** The digest of the plan that waits at the newest commit. */
  const waitingPlan = () =>
    eventually("a plan that waits", async () => {
      const plan = await stage.session.records.waitingPlan("web");
      return plan?.revision === newest() ? plan.digest : undefined;
    });
  const applied = (stack: string) =>
    stage.until(stack, ({ status, lastRun }) => status.ready && lastRun?.endedAt !== undefined);

  test("carries a plan out once two people have approved it who did not write it, and shows them what was changed", async () => {
    const digest = await waitingPlan();
    const shown = await stage.run("fleet", "plan", "web");
    expect(shown.stdout).toMatch(/^[0-9a-f]{12} {2}ann, .* {2}open 443$/m);
    await expect(approve(as("ann"), "web", digest)).rejects.toThrow("ann wrote");
    expect(await approve(as("bob"), "web", digest)).toMatchObject({ missing: 1 });
    const half = await stage.until("web", ({ status }) => /one more person/.test(status.reason ?? ""));
    expect(half.status.ready).toBe(false);
    expect(await approve(as("carl"), "web", digest)).toMatchObject({ missing: 0 });
    await applied("web");
    // A round that was due meanwhile may have begun after it.
    const carriedOut = (await stage.session.records.runs("web", 10)).find(({ result }) => result === "applied");
    expect(carriedOut?.approval).toMatchObject({ by: "bob", also: [{ by: "carl" }] });
  });

  test("drift that is put back by itself is told and kept", async () => {
    await applied("kept");
    const seen = stage.emulator.dump();
    await stage.emulator.load({
      ...seen,
      rules: seen.rules.map((rule) => (rule.port_range_min === 8443 ? { ...rule, port_range_max: 9443 } : rule)),
    });
    await stage.hasten("kept");
    const letter = await eventually("the letter", () => told.find(({ event }) => event === "drift_corrected"));
    expect(letter).toMatchObject({
      stack: "kept",
      corrected: ["group.kept"],
      reason: expect.stringContaining("ask whoever may change this project by hand"),
    });
    expect((await stage.session.records.decisions("kept", 10)).map(({ what }) => what)).toContain("corrected drift");
  });

  test("through a closed window with a word, by the command", async () => {
    const window = `windows: [ { kind: deny, schedule: "0 0 * * *", duration: 24h } ]`;
    await stage.sync(fleet(window));
    repo.commit("dora", "web/reconcile.yaml", group(444), "open 444");
    await stage.hasten("web");
    const digest = await waitingPlan();
    const refused = await stage.run("fleet", "approve", "web", digest);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("--through-window --why TEXT")]);
    const given = await stage.run("fleet", "approve", "web", digest, "--through-window", "--why", "the site is down");
    expect([given.exitCode, given.stdout]).toEqual([0, expect.stringContaining("one more person")]);
    await approve(as("carl"), "web", digest, { throughWindow: true, why: "yes" });
    await applied("web");
    await stage.sync(fleet());
  });
});
