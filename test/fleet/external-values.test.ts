/**
 * What a stack's files take from elsewhere: a round reads it as a command does, makes the same plan, and reads nothing
 * that the fleet's file does not permit.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createProjectOpener } from "../../reconciler/cli/fleet/opener";
import type { StackState } from "../../reconciler/fleet/may-read";
import { noSettings, type Tenant } from "../../reconciler/fleet/model";
import { type RoundOutcome, runRound } from "../../reconciler/fleet/round";
import { checkOut } from "../../reconciler/fleet/sources/source";
import { newStatus } from "../../reconciler/fleet/status";
import { type Ran, runCli } from "../support/cli-process";
import { stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";

const never = new AbortController().signal;
const network = `version: 1
project: acme
groups:
  edge: { name: edge-group, rules: [ { protocol: tcp, dst_port: 443 } ] }
  legacy: { name: legacy-group }
outputs:
  edge: "\${group.edge.id}"
  office: 198.51.100.0/24
  word: red
`;
const tier = `component: 1
parameters: { admit: { type: text } }
groups: { in: { name: "\${component}-in", rules: [ { protocol: tcp, dst_port: 8080, remote_ip: "\${param.admit}" } ] } }
outputs: { group: "\${group.in}" }
`;
const shop = (port = 5432): string => `version: 1
project: acme
service: { dialect: { operations: { group.list: { method: GET, path: /api/v1/security-group } } } }
reads: { network: { state: ../network/reconcile.state.json } }
lookups: { leg: { group: { name: legacy-group } } }
components: { tier: { from: ../parts/tier.yaml, with: { admit: "\${read.network.office}" } } }
groups:
  con:
    name: con-group
    description: "is \${read.network.word}"
    rules:
      - { protocol: tcp, dst_port: ${port}, remote_group: { id: "\${lookup.leg.id}" } }
      - { protocol: tcp, dst_port: 80, remote_ip: "\${read.network.office}" }
      - { protocol: tcp, dst_port: 81, remote_group: { id: "\${read.network.edge}" } }
      - { protocol: tcp, dst_port: 82, remote_group: "\${component.tier.group}" }
outputs: { seen: "\${read.network.word}" }
`;

describe("a stack whose files read elsewhere", () => {
  let emulator: RunningEmulator;
  let cwd: string;
  beforeAll(async () => {
    vi.stubEnv("ROUND_TOKEN", "t0ken");
  });
  beforeEach(async () => {
    emulator = await startEmulator({ timeScale: 20, with: ["group.list"] });
    cwd = makeFolder({ "network/reconcile.yaml": network, "shop/reconcile.yaml": shop(), "parts/tier.yaml": tier });
    expect((await reconcile("network", "apply", "-y")).exitCode).toBe(0);
    return () => emulator.close();
  });
  afterAll(() => vi.unstubAllEnvs());

  const write = (file: string, text: string): void => {
    mkdirSync(join(cwd, file, ".."), { recursive: true });
    writeFileSync(join(cwd, file), text);
  };
  const reconcile = (place: string, ...args: string[]): Promise<Ran> =>
    runCli(args, {
      cwd: join(cwd, place),
      env: { RECONCILE_TOKEN: "t0ken", RECONCILE_BASE_URL: emulator.url, COLUMNS: "100" },
    });
  const networkState = (tenant = "default"): StackState => ({
    name: "network",
    tenant,
    state: join(cwd, "network/reconcile.state.json"),
  });

  function round({
    approve = "auto" as "auto" | "plan",
    stacks = [networkState()],
    tenants = [] as readonly Tenant[],
    leaving = false,
  } = {}): Promise<RoundOutcome> {
    const cache = makeFolder();
    const spec = stackSpec("shop", {
      source: { kind: "folder", folder: join(cwd, "shop") },
      state: join(cwd, "shop/reconcile.state.json"),
      approve,
      consents: ["data_loss", "removal", "empty", "open_world"],
    });
    const stack = { name: "shop", spec, status: newStatus, paused: false, jitter: 0 };
    return runRound(
      {
        stack: { ...stack, outputs: {}, outputsUsed: {}, files: [], leaving },
        settings: {
          ...noSettings,
          tenants,
          services: [
            { name: "in-west", baseUrl: emulator.url, insecureHttp: false, credential: { env: "ROUND_TOKEN" } },
          ],
        },
        resumed: false,
        signal: never,
        drain: never,
      },
      {
        openProject: createProjectOpener({ cache }),
        checkOut: (one, signal) => checkOut(one.spec.source, cache, { signal, now: true }),
        budgetOf: () => undefined,
        outputsOf: async () => undefined,
        dependentsOf: async () => [],
        approvedBefore: async () => undefined,
        begins: async () => true,
        windows: async () => [],
        statesWith: async () => stacks,
        siblingsOf: async () => [],
        emit: () => undefined,
        now: () => new Date(),
        worker: "w:1",
      },
    );
  }
  const why = ({ result }: RoundOutcome): string => ("why" in result ? String(result.why) : "");

  test("what a command applied is in sync for the fleet, and a change is the same plan in both", async () => {
    expect((await reconcile("shop", "apply", "-y")).exitCode).toBe(0);
    const before = emulator.dump();
    expect((await round()).result).toEqual({ end: "in_sync" });

    write("shop/reconcile.yaml", shop(5433));
    const planned = await round({ approve: "plan" });
    expect(planned.result).toMatchObject({ end: "awaiting_approval" });
    const { stdout } = await reconcile("shop", "plan");
    const changes = (text: string): string[] =>
      text
        .split("\n")
        .filter((line) => /^ {2}[~+±-] |rule |description/.test(line))
        .map((line) => line.trim());
    const told = changes(planned.plan?.body.text ?? "").map((line) => line.replaceAll(/\(\S*reconcile\.yaml:/g, "("));
    expect(told).toEqual(changes(stdout).map((line) => line.replaceAll(/\(\S*reconcile\.yaml:/g, "(")));
    expect(told.join("\n")).toContain("5433");
    expect(planned.plan?.body.opens).toEqual([]);
    expect(emulator.dump()).toEqual(before);
  });

  test("an approval is for what was read as well", async () => {
    const first = await round({ approve: "plan" });
    write("network/reconcile.yaml", network.replace("word: red", "word: blue"));
    expect((await reconcile("network", "apply", "-y")).exitCode).toBe(0);
    const second = await round({ approve: "plan" });
    expect([first.result.end, second.result.end]).toEqual(["awaiting_approval", "awaiting_approval"]);
    expect(second.plan?.digest).not.toBe(first.plan?.digest);
  });

  test("a producer that is missing, half-written or without that output fails the round, and nothing is planned", async () => {
    expect((await reconcile("shop", "apply", "-y")).exitCode).toBe(0);
    const state = join(cwd, "network/reconcile.state.json");
    const whole = readFileSync(state, "utf8");
    const spoilt: readonly (() => void)[] = [
      () => rmSync(state),
      () => writeFileSync(state, whole.slice(0, whole.length / 2)),
      () => writeFileSync(state, ""),
      () => writeFileSync(state, whole.replaceAll('"office"', '"offices"')),
    ];
    const before = emulator.dump();
    for (const spoil of spoilt) {
      writeFileSync(state, whole);
      spoil();
      const { result, plan } = await round();
      expect([result.end, plan]).toEqual(["failed", undefined]);
      expect((await reconcile("shop", "plan")).exitCode).toBe(1);
    }
    expect(emulator.dump()).toEqual(before);
  });

  test("another tenant's state is refused before anything is read, and read once the fleet's file permits it", async () => {
    const foreign = { stacks: [networkState("payments")] };
    const asked = emulator.requests().log.length;
    const refused = await round({ approve: "plan", ...foreign });
    expect(refused.result.end).toBe("failed");
    expect(why(refused)).toContain("may not read what reads.network names");
    expect(why(refused)).toContain("tenants: { default: { may_read: [STACK] } }");
    expect((await round({ approve: "plan", stacks: [] })).result.end).toBe("failed");
    expect(emulator.requests().log.length).toBe(asked);

    const permits = (name: string) => [{ name: "default", weight: 1, mayRead: [name] }];
    expect((await round({ approve: "plan", ...foreign, tenants: permits("net*") })).result.end).toBe(
      "awaiting_approval",
    );
    expect((await round({ approve: "plan", ...foreign, tenants: permits("other") })).result.end).toBe("failed");
  });

  test("a stack that leaves needs nothing of what it read", async () => {
    expect((await reconcile("shop", "apply", "-y")).exitCode).toBe(0);
    rmSync(join(cwd, "network"), { recursive: true });
    const { result, plan } = await round({ leaving: true, stacks: [] });
    expect(result.end).toBe("awaiting_approval");
    expect(plan?.body.text).toContain("3 to delete".replace("3", "2"));
  });
});
