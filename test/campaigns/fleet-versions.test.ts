/**
 * A worker of an older build and one of this build over one database, which the older one made. Where the older build is
 * has to be said: OLDER_BUILD=FOLDER, a checkout of an older commit in which `npm run build` was run.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countCampaign } from "../support/campaign-count";
import { runCli, startCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage, type WorkerProcess } from "../support/fleet-processes";
import { postgresMissing } from "../support/postgres-server";
import { readDump } from "../support/world-shape";

async function tablesVersion(connectionString: string, password: string): Promise<number> {
  const client = new Client({ connectionString, password });
  await client.connect();
  const { rows } = await client.query<{ version: number }>(
    "SELECT max(version) AS version FROM reconcile_fleet.version",
  );
  await client.end();
  return Number(rows[0]?.version);
}

const older = process.env["OLDER_BUILD"] ?? "";
const program = join(older, "bin", "reconcile.js");
if (older === "") console.warn("NOT SHOWN: a worker of an older build beside one of this: OLDER_BUILD is not set");

describe.skipIf(postgresMissing !== undefined || older === "" || !existsSync(program))(
  "workers of two versions",
  () => {
    const names = Array.from({ length: 12 }, (_, index) => `two-${index}`);
    const flags = ["--concurrency", "3"];
    let stage: FleetStage;
    let first: WorkerProcess;
    let olderVersion = 0;

    const files = (name: string, generation: number): string => `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 50ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { web: { name: ${name}-web } }
volumes:
  data: { name: ${name}-data, size: 1, attach_to: web }
${Array.from({ length: generation }, (_, index) => `  more${index}: { name: ${name}-more-${index}, size: 1, attach_to: web }`).join("\n")}
groups:
  web: { name: ${name}, rules: [ { protocol: tcp, dst_port: ${1000 + generation}, remote_ip: 198.51.100.0/24 } ] }
`;
    const change = async (generation: number): Promise<void> => {
      for (const name of names) stage.write(`${name}/reconcile.yaml`, files(name, generation));
      for (const name of names) await stage.hasten(name);
    };
    const lastRun = async (): Promise<number> => (await stage.session.records.runs(undefined, 1))[0]?.id ?? 0;
    const since = async (run: number) =>
      (await stage.session.records.runs(undefined, 2000)).filter(({ id }) => id > run);
    const settled = async (): Promise<void> => {
      for (const name of names) await stage.untilSettled(name);
    };
    const expectNoTwins = (generation: number): void => {
      const world = readDump(stage.emulator.dump());
      const wanted = names.flatMap((name) => [
        // Each machine brings a volume of its own.
        `${name}-web-data`,
        `${name}-data`,
        ...Array.from({ length: generation }, (_, index) => `${name}-more-${index}`),
      ]);
      expect(world.vm.map(({ name }) => name).sort()).toEqual(names.map((name) => `${name}-web`).sort());
      expect(world.volume.map(({ name }) => name).sort()).toEqual(wanted.sort());
    };

    beforeAll(async () => {
      const begun: ReturnType<typeof startCli>[] = [];
      stage = await openFleetStage({
        before: async ({ cwd, env, services, database }) => {
          for (const name of names) {
            mkdirSync(join(cwd, name));
            writeFileSync(join(cwd, name, "reconcile.yaml"), files(name, 0));
          }
          writeFileSync(
            join(cwd, "fleet.yaml"),
            `version: 1
${services}
defaults: { service: here, interval: 1h, state: "${database}?state=\${stack}", retry: { first: 1s, max: 1s } }
stacks:
${names.map((name) => `  ${name}: { source: { folder: ./${name} } }`).join("\n")}
`,
          );
          const synced = await runCli(["fleet", "sync", "fleet.yaml", "--auto-approve"], { cwd, env, program });
          if (synced.exitCode !== 0) throw new Error(synced.stdout + synced.stderr);
          olderVersion = await tablesVersion(database, env["PGPASSWORD"] ?? "");
          const started = startCli(["fleet", "work", "--listen", "none", "--cache", join(cwd, "cache"), ...flags], {
            cwd,
            env,
            program,
          });
          begun.push(started);
          await started.says("the older worker", ({ stderr }) => /^Working on/m.exec(stderr));
        },
      });
      for (const started of begun) first = await stage.adopt(started);
    });
    afterAll(() => stage.close());

    test("both work, each goes on where the other one died, and nothing is made twice", { timeout: 0 }, async () => {
      // The older one works while this build brings the tables up to date.
      const [row] = await stage.session.database.query("SELECT max(version) AS version FROM reconcile_fleet.version");
      console.log(`U1: tables of version ${olderVersion} became ${Number(row?.["version"])}`);
      let newer = await stage.worker(...flags);
      await settled();
      const figures: string[] = [];
      const both = async (generation: number, [one, other]: readonly [string, string]): Promise<void> => {
        const before = await lastRun();
        await change(generation);
        await settled();
        const runs = await since(before);
        const by = (worker: string) => runs.filter((run) => run.worker === worker && run.result === "applied").length;
        figures.push(`${by(one)} and ${by(other)}`);
        expect(runs.filter(({ result }) => result === "failed")).toEqual([]);
        expect(by(one)).toBeGreaterThan(0);
        expect(by(other)).toBeGreaterThan(0);
        expectNoTwins(generation);
      };
      await both(1, [first.name, newer.name]);

      const orphaned = async (worker: Parameters<FleetStage["kill"]>[0], generation: number): Promise<void> => {
        const before = await lastRun();
        await change(generation);
        await eventually("a run of the one to be killed", async () =>
          (await since(before)).some((run) => run.worker === worker.name && run.endedAt === undefined)
            ? true
            : undefined,
        );
        await stage.kill(worker);
        await settled();
        const runs = await since(before);
        expect(runs.filter(({ result }) => result === "failed")).toEqual([]);
        expect(runs.filter(({ result }) => result === "taken_over").length).toBeGreaterThan(0);
        expectNoTwins(generation);
      };
      await orphaned(newer, 2);
      newer = await stage.worker(...flags);
      await orphaned(first, 3);

      // And an older one starts on the tables of today, as after a step back.
      const again = await stage.workerOf(program, ...flags);
      await both(4, [again.name, newer.name]);
      const listed = await runCli(["fleet", "list", "--json"], { cwd: stage.cwd, env: stage.env, program });
      expect(listed.exitCode).toBe(0);
      expect(listed.stdout.split("\n").filter((line) => line.includes('"ready":true'))).toHaveLength(names.length);
      console.log(`U1: applied by the older and by the newer one: ${figures.join(", ")}`);
      countCampaign("fleet versions", names.length * 4, 0);
    });
  },
);
