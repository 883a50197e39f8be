/** One round of one stack, on real files: what it says of them is the same on every worker and at every commit. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createProjectOpener } from "../../reconciler/cli/fleet/opener";
import type { StackRecord } from "../../reconciler/fleet/database/stacks";
import { noSettings, type StackSpec } from "../../reconciler/fleet/model";
import { type RoundOutcome, type RoundPorts, runRound } from "../../reconciler/fleet/round";
import { checkOut } from "../../reconciler/fleet/sources/source";
import { afterRound, newStatus } from "../../reconciler/fleet/status";
import { LeaseLost, StoreFailed } from "../../reconciler/store/store";
import { stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";

const never = new AbortController().signal;
const project = `version: 1
project: acme
groups:
  web: { name: shop-web, rules: [ { protocol: tcp, dst_port: 443, remote_ip: 198.51.100.0/24 } ] }
`;

describe("a round of a stack from a repository", () => {
  const repository = makeFolder({ "shop/reconcile.yaml": project, "other/readme": "1" });
  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...words], {
      cwd: repository,
      encoding: "utf8",
    });
  function commit(file: string, text: string): void {
    mkdirSync(join(repository, file, ".."), { recursive: true });
    writeFileSync(join(repository, file), text);
    git("add", "--all");
    git("commit", "--quiet", "--message", "x");
  }
  let emulator: RunningEmulator;
  beforeAll(async () => {
    emulator = await startEmulator({ timeScale: 20 });
    vi.stubEnv("ROUND_TOKEN", "t0ken");
    git("init", "--quiet", "--initial-branch", "main");
    commit("other/readme", "2");
  });

  afterAll(() => emulator.close());

  const spec: StackSpec = stackSpec("shop", {
    source: { kind: "git", url: repository, ref: "main", path: "shop" },
    state: join(makeFolder(), "state.json"),
    approve: "plan",
  });

  /** By a worker whose copy of the repository is elsewhere. */
  function round(
    drain = never,
    opened: (open: RoundPorts["openProject"]) => RoundPorts["openProject"] = (open) => open,
    status = newStatus,
    more: Partial<StackSpec> = {},
    asked: Pick<StackRecord, "undoing"> = {},
  ): Promise<RoundOutcome> {
    const cache = makeFolder();
    const ports: RoundPorts = {
      openProject: opened(createProjectOpener({ cache })),
      checkOut: (stack, signal) => checkOut(stack.spec.source, cache, { signal, now: true }),
      budgetOf: () => undefined,
      outputsOf: async (name) => (name === "later" ? undefined : null),
      dependentsOf: async () => [],
      approvedBefore: async () => undefined,
      begins: async () => true,
      windows: async () => [],
      statesWith: async () => [],
      siblingsOf: async () => [],
      emit: () => undefined,
      now: () => new Date(),
      worker: "w:1",
    };
    const stack = {
      name: "shop",
      spec: { ...spec, ...more },
      status,
      paused: false,
      jitter: 0,
      outputs: {},
      outputsUsed: {},
      files: [],
      leaving: false,
      ...asked,
    };
    const settings = {
      ...noSettings,
      services: [{ name: "in-west", baseUrl: emulator.url, insecureHttp: false, credential: { env: "ROUND_TOKEN" } }],
    };
    return runRound({ stack, settings, resumed: false, signal: never, drain }, ports);
  }

  test("one plan has one digest, so that its approval counts on another worker and after a commit elsewhere", async () => {
    const first = await round();
    commit("other/readme", "3");
    const second = await round();
    expect(first.result).toMatchObject({ end: "awaiting_approval" });
    expect(first.plan?.digest).toMatch(/^[0-9a-f]{16}-/);
    expect(second.plan?.digest).toBe(first.plan?.digest);
    expect(second.revision).not.toBe(first.revision);
    expect(first.plan?.body.text).toContain("(shop/reconcile.yaml:4)");
    commit("shop/reconcile.yaml", project.replace("443", "8443"));
    expect((await round()).plan?.digest).not.toBe(first.plan?.digest);
  });

  test.each([
    ["later", "the stack later has not been applied yet"],
    ["lost", "the fleet has no stack lost: write one that it has under depends_on and inputs"],
  ])("what it depends on is told apart: %s", async (name, why) => {
    const { result } = await round(never, undefined, newStatus, { dependsOn: [name] });
    expect(result).toEqual({ end: "blocked", why, waitingFor: { what: "dependency", detail: name } });
  });

  test("what would undo a run and destroy what is protected says so, and the stack goes on without it", async () => {
    const detail = "group.web (shop-web) has prevent_destroy, and this plan would delete it";
    const undoing = { run: 7, id: "r7", by: "otto", at: "2026-11-20T10:00:00Z" };
    const outcome = await round(
      never,
      (open) =>
        async ({ undo: _, ...request }) => {
          const project = await open(request);
          const consents = [{ kind: "prevent_destroy", detail, grant: "change the file" }] as const;
          return {
            ...project,
            async plan(signal) {
              const planned = await project.plan(signal);
              return { ...planned, facts: { ...planned.facts, leases: true, consents } };
            },
          };
        },
      newStatus,
      {},
      { undoing },
    );
    expect(outcome).toMatchObject({ undo: "impossible", result: { end: "observed" } });
    expect(outcome.result).toHaveProperty("why", expect.stringContaining(`${detail}, which no approval permits`));
  });

  test("reads that a drain cuts short are no failure: the round is handed over", async () => {
    const drainer = new AbortController();
    const outcome = await round(drainer.signal, (open) => async (request) => {
      const project = await open(request);
      return {
        ...project,
        async plan(signal) {
          const planned = await project.plan(signal);
          drainer.abort();
          return { ...planned, errors: ["the list of volumes could not be read: cancelled before it was sent"] };
        },
      };
    });
    expect(outcome.result).toMatchObject({ end: "handed_over" });
  });

  test("a state that is out of reach for a moment is no failure of the stack; one that stays so is", async () => {
    const away = new StoreFailed("the state postgres://db.example/a: the database system is starting up");
    away.isAway = true;
    const within = (error: Error, reason: string | null) =>
      round(
        never,
        () => async () => {
          throw error;
        },
        { ...newStatus, reason },
      );
    for (const error of [away, new LeaseLost("postgres://db.example/a")]) {
      const { result } = await within(error, null);
      expect(result).toMatchObject({ end: "handed_over", why: expect.stringContaining(error.message) });
      const why = result.end === "handed_over" ? result.why : "";
      expect((await within(error, why)).result).toMatchObject({ end: "failed" });
    }
    expect((await within(new StoreFailed("no rights"), null)).result).toMatchObject({ end: "failed" });
  });

  test("a judge beside the stack's folder, and what a link shows, belong to the plan that is approved", async () => {
    const judged = `${project}policy: { command: [sh, ../judge.sh] }\n`;
    const appliedRevision = git("rev-parse", "HEAD").trim();
    commit("judge.sh", "echo '[]'\n");
    commit("shop/reconcile.yaml", judged);
    const { plan } = await round(never, undefined, { ...newStatus, appliedRevision });
    const first = plan?.digest;
    // Also who wrote the judge is told to whoever approves, before any round has read it.
    expect(plan?.body.change?.commits).toHaveLength(2);
    commit("other/readme", "4");
    expect((await round()).plan?.digest).toBe(first);
    commit("judge.sh", "echo '[]' # another\n");
    const second = (await round()).plan?.digest;
    expect(second).not.toBe(first);
    commit("shared.yaml", judged);
    rmSync(join(repository, "shop/reconcile.yaml"));
    symlinkSync("../shared.yaml", join(repository, "shop/reconcile.yaml"));
    commit("other/readme", "5");
    const { plan: shown, files } = await round();
    expect(files).toEqual(["judge.sh", "shared.yaml"]);
    const linked = shown?.digest;
    commit("shared.yaml", `${judged}# a word\n`);
    expect((await round()).plan?.digest).not.toBe(linked);
    rmSync(join(repository, "shop/reconcile.yaml"));
    // A folder that is a link has the files of another one.
    symlinkSync("shop", join(repository, "linked"));
    commit("shop/judge.sh", "echo '[]'\n");
    commit("shop/reconcile.yaml", `${project}policy: { command: [sh, ./judge.sh] }\n`);
    const inLink = { source: { ...spec.source, path: "linked" } };
    const before = await round(never, undefined, newStatus, inLink);
    expect(before.files).toEqual(["shop/judge.sh", "shop/reconcile.yaml"]);
    commit("shop/judge.sh", "echo '[]' # another\n");
    expect((await round(never, undefined, newStatus, inLink)).plan?.digest).not.toBe(before.plan?.digest);
    rmSync(join(repository, "linked"));
    commit("shop/reconcile.yaml", project);
  });

  test("what is left to do inside the guests is the stack's reason, and does not make it less ready", async () => {
    const text = (size: number, more = "") => `${project}
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
region: in-west-1
vms: { db: { name: shop-db${more} } }
volumes: { data: { size: ${size}, attach_to: db, flush: { via: stop } } }
`;
    const auto = { approve: "auto", state: join(makeFolder(), "state.json") } as const;
    const endOf = async () => (await round(never, (open) => open, newStatus, auto)).result;
    commit("shop/reconcile.yaml", text(5));
    expect(await endOf()).toEqual({ end: "applied", note: undefined });
    commit("shop/reconcile.yaml", text(7));
    const grown = await endOf();
    expect(grown).toMatchObject({ end: "applied", note: expect.stringContaining("has to be mounted there") });
    const ended = { result: grown, revision: "a", drifted: 0, giveUpAfter: 3 };
    expect(afterRound(newStatus, ended)).toMatchObject({ ready: true, reason: expect.stringContaining("volume.data") });
    const stopped = `, power: stopped, after_ready: { command: ["true"], again: when_changed }`;
    commit("shop/reconcile.yaml", text(7, stopped));
    await endOf();
    commit("shop/reconcile.yaml", text(7, stopped.replace("true", "false")));
    expect(await endOf()).toMatchObject({
      end: "in_sync",
      note: expect.stringContaining("owed: after_ready of vm.db"),
    });
    commit("shop/reconcile.yaml", project);
  });

  test("a mistake is told by its place in the repository", async () => {
    commit("shop/reconcile.yaml", project.replace("groups:", "groops:"));
    const { result } = await round();
    expect(result).toMatchObject({ end: "failed" });
    expect(result).toHaveProperty("why", expect.stringMatching(/^shop\/reconcile\.yaml:3 /));
    commit("shop/reconcile.yaml", project);
    commit("shop/more.yaml", "version: 1\nproject: acme\nvariables: 1\n");
    expect(JSON.stringify((await round()).result)).not.toMatch(/trees/);
  });
});
