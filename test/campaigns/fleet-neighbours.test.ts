/**
 * Bad neighbours: a repository and an artifact server that never answer, files that keep their reader busy for ever, a
 * policy that forks and hangs, a receiver that hangs. What they cost the others, and what they say of themselves. With
 * the tests run those that are silent or too much to plan, beside a few healthy stacks. FLEET_NEIGHBOURS says how many
 * healthy ones stand beside all of them (`npm run campaign:fleet`: 100), whose times mean something on a quiet machine;
 * it waits out real limits for minutes.
 */
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { getPriority, setPriority } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage } from "../support/fleet-processes";
import { postgresMissing } from "../support/postgres-server";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
async function timeOf<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly value: T }> {
  const began = performance.now();
  const value = await work();
  return { ms: performance.now() - began, value };
}
/** Tests have a lower priority than programs, which hides that processes for one stack come behind their worker. */
function asProgramsRun(): void {
  try {
    setPriority(0);
  } catch {
    console.log(`at the priority ${getPriority()}: this user may not raise it`);
  }
}
const numbers = (count: number): string => Array.from({ length: count }, (_, index) => index + 1).join(", ");

describe.skipIf(postgresMissing !== undefined)("a fleet with bad neighbours", () => {
  const isWhole = process.env["FLEET_NEIGHBOURS"] !== undefined;
  const count = Number(process.env["FLEET_NEIGHBOURS"] ?? 6);
  const concurrency = ["--concurrency", isWhole ? "8" : "3"];
  const healthy = Array.from({ length: count }, (_, index) => `well-${index}`);
  let stage: FleetStage;
  let mute: Server;
  let port = 0;

  const bad: Readonly<Record<string, { readonly source?: string; readonly told: RegExp }>> = {
    repository: { source: "git: http://127.0.0.1:PORT/x", told: /git fetch: no answer for 30 s/ },
    artifact: {
      source: `artifact: "http://127.0.0.1:PORT/a.tgz", digest: "sha256:${"0".repeat(64)}"`,
      told: /the artifact http:\S+ cannot be fetched: no answer for 30 s/,
    },
    pattern: { told: /pattern\/reconcile\.yaml:3 the variable word cannot be .*it was not decided within 1 s/ },
    lists: { told: /lists\/reconcile\.yaml:\d+ the lists of a rule stand for 9000000 rules/ },
    components: {
      told: /its files (could not be read within 60 s|cannot be read with 768 MB)|there are too many components/,
    },
    policy: { told: /did not end within 2 s/ },
    // Read in a moment, because what it reads elsewhere keeps it from being judged before it is planned.
    judged: { told: /its plan (could not be made within 60 s|cannot be made with 768 MB)/ },
  };
  const fleet = (others: string, notify: string): string => `version: 1
${stage.services}
defaults: { service: here, interval: 24h, state: "${stage.database}?state=\${stack}", retry: { first: 1s, max: 5s } }
${notify}
stacks:
${healthy.map((name) => `  ${name}: { source: { folder: ./${name} } }`).join("\n")}
${others}
`;

  beforeAll(async () => {
    if (isWhole) asProgramsRun();
    mute = createServer(() => undefined);
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    port = (mute.address() as AddressInfo).port;
    stage = await openFleetStage();
    const head = "version: 1\nproject: acme\n";
    const group = (name: string): string => `groups: { web: { name: ${name} } }\n`;
    for (const name of healthy) stage.write(`${name}/reconcile.yaml`, head + group(name));
    const word = `${"a".repeat(40)}!`;
    stage.write("pattern/reconcile.yaml", `${head}vars: { word: { default: "${word}", matches: "^(a+)+$" } }\n`);
    stage.write(
      "lists/reconcile.yaml",
      `${head}groups: { web: { name: many, rules: [ { protocol: tcp, dst_port: [${numbers(3000)}], remote_group: [${numbers(3000)}] } ] } }\n`,
    );
    stage.write("components/reconcile.yaml", `${head}components: { a: { from: ./c0.yaml } }\n`);
    for (let depth = 0; depth < 24; depth++)
      stage.write(
        `components/c${depth}.yaml`,
        `component: 1\ncomponents: { a: { from: ./c${depth + 1}.yaml }, b: { from: ./c${depth + 1}.yaml } }\n`,
      );
    stage.write("components/c24.yaml", "component: 1\n");
    stage.write(
      "policy/reconcile.yaml",
      `${head}${group("judged")}policy: { command: [sh, -c, "sleep 600 & sleep 600 & sleep 600"], timeout: 2s }\n`,
    );
    stage.write(
      "judged/reconcile.yaml",
      `${head}reads: { n: { state: "${stage.database}?state=well-0" } }
groups:
${Array.from({ length: 400 }, (_, at) => `  g${at}: { name: grp-${at}, rules: [ { protocol: tcp, dst_port: ${at + 1}, remote_ip: 10.${at % 250}.0.0/24 } ] }`).join("\n")}
reachability:
${Array.from({ length: 8000 }, (_, at) => `  - never: { from: 192.168.${at % 250}.0/24, to: group.*, tcp: [${at + 2}] }`).join("\n")}
`,
    );
    await stage.sync(fleet("", ""));
    await stage.worker(...concurrency);
    for (const name of healthy) await stage.untilSettled(name);
  });
  afterAll(async () => {
    for (const worker of [...stage.workers]) await stage.kill(worker);
    await stage.close();
    mute.close();
  });

  const query = (text: string, values: readonly unknown[] = []) => stage.session.database.query(text, values);
  /** How long until each of the healthy ones was looked at, a few times over. */
  async function sweeps(times: number): Promise<number> {
    const began = performance.now();
    for (let time = 0; time < times; time++) {
      const [row] = await query("SELECT coalesce(max(id), 0) AS id FROM reconcile_fleet.runs");
      for (const name of healthy) await stage.hasten(name);
      await eventually("a run of each", async () => {
        const [found] = await query(
          "SELECT count(DISTINCT stack)::int AS n FROM reconcile_fleet.runs WHERE id > $1 AND ended_at IS NOT NULL AND stack = ANY ($2)",
          [row?.["id"], healthy],
        );
        if (found?.["n"] === healthy.length) return true;
        await pause(50);
        return undefined;
      });
    }
    return performance.now() - began;
  }

  test("they cost the others nothing, are stalled with their reason, and hold up no start and no end", {
    timeout: 0,
  }, async () => {
    const times = isWhole ? 5 : 2;
    const chosen = Object.entries(bad).filter(
      ([name]) => isWhole || ["repository", "artifact", "judged"].includes(name),
    );
    const alone = await sweeps(times);
    const startedAlone = await timeOf(() => stage.worker(...concurrency));
    await stage.stop(startedAlone.value);
    const others = chosen.map(
      ([name, { source = `folder: ./${name}` }]) =>
        `  ${name}: { source: { ${source.replace("PORT", String(port))} } }`,
    );
    const all = "[ready, applied, failed, stalled, drifted, blocked]";
    await stage.sync(
      fleet(others.join("\n"), `notify: [ { on: ${all}, to: { webhook: "http://127.0.0.1:${port}/hook" } } ]`),
    );
    await pause(3000);
    const beside = await sweeps(times);

    // A worker that comes now begins at once, and one that goes leaves at once.
    const started = await timeOf(() => stage.worker(...concurrency));
    await pause(2000);
    const stopped = await timeOf(() => stage.stop(started.value));
    console.log(
      `a worker began after ${(startedAlone.ms / 1000).toFixed(1)} s alone and ${(started.ms / 1000).toFixed(1)} s beside them, and ended after ${(stopped.ms / 1000).toFixed(1)} s`,
    );
    expect(started.ms).toBeLessThan(2 * startedAlone.ms + 10_000);
    expect(stopped.ms).toBeLessThan(20_000);

    for (const [name, { told }] of isWhole ? chosen : []) {
      const { status } = await eventually(`${name} stalled`, async () => {
        const stack = await stage.session.records.stack(name);
        if (stack === undefined) throw new Error(`no stack ${name}`);
        // Within three rounds: one that failed three times is stalled.
        expect(stack.status.stalled || stack.status.failures < 3).toBe(true);
        if (stack.status.stalled) return stack;
        await pause(250);
        return undefined;
      });
      expect(status.reason).toMatch(told);
    }
    // Alone again: what else the machine does changes meanwhile.
    const after = await sweeps(times);
    const mean = (alone + after) / 2;
    console.log(
      `${count} healthy stacks, ${times} sweeps: ${[alone, after].map((ms) => (ms / 1000).toFixed(1)).join(" and ")} s alone, ${(beside / 1000).toFixed(1)} s beside ${chosen.length} bad ones (${Math.round((beside / mean - 1) * 100)} %)`,
    );
    // Twice and a bit, for a machine with other work; without limits, the others were not looked at at all.
    expect(beside).toBeLessThan(2 * Math.max(alone, after) + 15_000);
    for (const name of healthy) expect((await stage.session.records.stack(name))?.status.ready).toBe(true);
    // What the receiver is to be told waits for it: a few bad ones are over before they have anything to tell.
    if (isWhole) expect((await stage.session.records.lettersWaiting()).waiting).toBeGreaterThan(0);
  });
});
