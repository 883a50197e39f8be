/**
 * A fleet to be tried: a real PostgreSQL, a service over HTTP, workers as processes that may be killed. What the tests
 * ask of it goes through the same records and queue that the commands use, without a process for each question.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { type EmulatorOptions, type RunningEmulator, startEmulator } from "../../emulator";
import { openFleet } from "../../reconciler/cli/fleet/session";
import type { StackRecord } from "../../reconciler/fleet/database/stacks";
import { checkOutFolder } from "../../reconciler/fleet/sources/folder";
import { dialectOperations } from "./bench-world";
import { cliPath, type Ran, runCli, startCli } from "./cli-process";
import { eventually } from "./eventually";
import { makeFolder } from "./folder";
import { type PostgresServer, postgresPassword, startPostgres } from "./postgres-server";

const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];

export type WorkerProcess = ReturnType<typeof startCli> & { readonly name: string };
type Session = Awaited<ReturnType<typeof openFleet>>;

export interface FleetStage {
  readonly server: PostgresServer;
  readonly emulator: RunningEmulator;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Without a password. */
  readonly database: string;
  /** The service `here`, with everything that lets a create whose answer was lost be found again. */
  readonly services: string;
  readonly session: Session;
  readonly workers: ReadonlySet<WorkerProcess>;
  write(file: string, text: string): void;
  run(...args: string[]): Promise<Ran>;
  /** Writes the file and syncs it. */
  sync(text: string): Promise<void>;
  /** Resolves when it has begun to work. */
  worker(...flags: string[]): Promise<WorkerProcess>;
  /** A worker of another build. */
  workerOf(program: string, ...flags: string[]): Promise<WorkerProcess>;
  /** One that was started elsewhere, perhaps on another database, is stopped with the others. */
  adopt(started: ReturnType<typeof startCli>, database?: Session["database"]): Promise<WorkerProcess>;
  kill(worker: WorkerProcess): Promise<void>;
  /** As a service manager does: what runs is ended first. */
  stop(worker: WorkerProcess): Promise<void>;
  /** A round now, as `fleet run` would have it. */
  hasten(stack: string): Promise<void>;
  until(stack: string, is: (stack: StackRecord) => boolean): Promise<StackRecord>;
  /** Applied or found in sync at what its folder holds now, with no round under way. */
  untilSettled(stack: string): Promise<StackRecord>;
  /** The same, or given up because its workers died. */
  untilSettledOrGivenUp(stack: string): Promise<StackRecord>;
  close(): Promise<void>;
}

export const stageToken = "canary-t0ken-of-operations";

export async function openFleetStage(
  options: EmulatorOptions & {
    readonly env?: Readonly<Record<string, string>>;
    /** Before anything of this build touches the database. */
    readonly before?: (stage: Pick<FleetStage, "cwd" | "env" | "services" | "database">) => Promise<void>;
  } = {},
): Promise<FleetStage> {
  const { env: more = {}, before, ...emulated } = options;
  const server = await startPostgres();
  const emulator = await startEmulator({ timeScale: 20, with: everything, ...emulated });
  const cwd = makeFolder({
    "here.dialect.yaml": JSON.stringify({ operations: dialectOperations({ with: everything }) }),
  });
  const { username, host, pathname } = new URL(server.url);
  const database = `postgres://${username}@${host}${pathname}`;
  const env = {
    PGPASSWORD: postgresPassword,
    RECONCILE_FLEET_DATABASE: database,
    RECONCILE_TOKEN: stageToken,
    ...more,
  };
  const services = `services: { here: { base_url: "${emulator.url}", dialect: ./here.dialect.yaml } }`;
  await before?.({ cwd, env, services, database });
  const session = await openFleet(server.url, { sendsOnly: true });
  const workers = new Set<WorkerProcess>();

  const until: FleetStage["until"] = (name, is) =>
    eventually(`the stack ${name} as wanted`, async () => {
      // A database that is away for a while, or a machine with other work, is asked again.
      const stack = await session.records.stack(name).catch(() => undefined);
      if (stack !== undefined && is(stack)) return stack;
      if (stack?.status.stalled === true && !/workers died/.test(stack.status.reason ?? ""))
        throw new Error(`${name} is stalled: ${stack.status.reason}`);
      await new Promise((resolve) => setTimeout(resolve, 250));
      return undefined;
    });

  async function untilSettled(name: string, isOver: (stack: StackRecord) => boolean): Promise<StackRecord> {
    const { revision } = await checkOutFolder({ folder: join(cwd, name) });
    return until(
      name,
      (stack) =>
        isOver(stack) ||
        (stack.status.ready && stack.status.appliedRevision === revision && stack.lastRun?.endedAt !== undefined),
    );
  }

  async function start(program: string, flags: readonly string[]): Promise<WorkerProcess> {
    const started = startCli(["fleet", "work", "--listen", "none", "--cache", join(cwd, "cache"), ...flags], {
      cwd,
      env,
      program,
    });
    await started.says("a worker that works", ({ stdout, stderr }) => /^Working on/m.exec(stderr + stdout));
    return adopt(started);
  }

  async function adopt(
    started: ReturnType<typeof startCli>,
    database: Session["database"] = session.database,
  ): Promise<WorkerProcess> {
    const process = `${hostname()}:${started.child.pid}`;
    // Behind the process its name has a random part.
    const name = await eventually(`the name of the worker ${process}`, async () => {
      const rows = await database.query(
        "SELECT name FROM reconcile_fleet.workers WHERE name = $1 OR starts_with(name, $1 || ':') ORDER BY alive_at DESC",
        [process],
      );
      return rows[0] === undefined ? undefined : String(rows[0]["name"]);
    });
    const worker = { ...started, name };
    workers.add(worker);
    return worker;
  }

  const write: FleetStage["write"] = (file, text) => {
    mkdirSync(join(cwd, file, ".."), { recursive: true });
    writeFileSync(join(cwd, file), text);
  };
  const run: FleetStage["run"] = (...args) => runCli(args, { cwd, env });

  return {
    server,
    emulator,
    cwd,
    env,
    database,
    services,
    session,
    workers,
    until,
    write,
    run,
    async sync(text) {
      write("fleet.yaml", text);
      const { exitCode, stderr, stdout } = await run("fleet", "sync", "fleet.yaml", "--auto-approve");
      if (exitCode !== 0) throw new Error(stdout + stderr);
    },
    worker: (...flags) => start(cliPath, flags),
    workerOf: (program, ...flags) => start(program, flags),
    adopt,
    async kill(worker) {
      worker.child.kill("SIGKILL");
      workers.delete(worker);
      await worker.finished;
    },
    async stop(worker) {
      worker.child.kill("SIGTERM");
      workers.delete(worker);
      await worker.finished;
    },
    async hasten(name) {
      const stack = await session.records.stack(name);
      if (stack === undefined) throw new Error(`no stack ${name}`);
      await session.queue.hasten({ stack: name, tenant: stack.spec.tenant, cause: "person" });
    },
    untilSettled: (name) => untilSettled(name, () => false),
    untilSettledOrGivenUp: (name) => untilSettled(name, ({ status }) => status.stalled),
    async close() {
      for (const { child } of workers) child.kill("SIGTERM");
      await Promise.all([...workers].map(({ finished }) => finished));
      await session.queue.close();
      await session.database.close();
      await emulator.close();
      await server.stop();
    },
  };
}

/** Twenty resources: many stacks of them cost a fleet what as many projects would. */
export const groupNames = Array.from({ length: 20 }, (_, index) => `group-${index}`);
export const twentyGroups = `version: 1
project: acme
groups:
${groupNames.map((name, index) => `  g${index}: { name: ${name}, rules: [ { protocol: tcp, dst_port: ${1000 + index}, remote_ip: 198.51.100.0/24 } ] }`).join("\n")}
`;

/** They stand on copies of the state of the stack `first`: each looks at what that one made, as it would in an account of its own. */
export async function standOnCopies({ session }: FleetStage, names: readonly string[]): Promise<void> {
  for (const [table, columns] of [
    ["states", "snapshot, epoch"],
    ["journal", "line, body"],
  ])
    await session.database.query(
      `INSERT INTO reconcile.${table} (name, ${columns}) SELECT n, ${columns} FROM reconcile.${table}, unnest($1::text[]) AS n WHERE name = 'first'`,
      [names],
    );
}
