/**
 * The doctor before services that are odd on purpose, in one process: its trial leaves nothing, also when it dies at a
 * request, and its file carries a project through three chapters of a life. The same through the command line, with runs
 * that are killed as well, is odd.test.ts.
 */
import { expect, test } from "vitest";
import { readTold, withTold } from "../../reconciler/cli/doctor-told";
import type { Dialect } from "../../reconciler/dialect/dialect";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { diagnoseService } from "../../reconciler/engine/doctor/diagnose";
import type { DoctorReport } from "../../reconciler/engine/doctor/report";
import { tryOut } from "../../reconciler/engine/doctor/trial";
import type { TrialWish } from "../../reconciler/engine/doctor/trial-act";
import { withTrial } from "../../reconciler/engine/doctor/trial-fit";
import type { TrialNotes } from "../../reconciler/engine/doctor/trial-notes";
import { dialectYaml } from "../../reconciler/report/doctor-text";
import { desiredOf, startBenchWorld } from "../support/bench-world";
import { type Death, Killed, trialStage } from "../support/deployments/trial-stage";
import { further } from "../support/odd/further";
import { chapters, projectAt } from "../support/odd/project";
import { type RunningOdd, startOdd } from "../support/odd/server";
import { type Odd, odds } from "../support/odd/shapes";

type Closers = (() => Promise<void>)[];

const servedBy = async (odd: Odd, closers: Closers): Promise<RunningOdd> => {
  // Each client of this process has connections of its own, and its waits are short.
  const { connections: _, ...shape } = odd.shape;
  const server = await startOdd({ ...shape, world: { ...shape.world, delayMs: 20 } });
  closers.push(() => server.close());
  return server;
};

const wishFor = ({ keepsVolumes }: Odd): TrialWish => ({
  vm: {
    flavor: "m1.small",
    image: "ubuntu-24.04",
    owner: "ops@acme.example",
    userId: "1042",
    project: "acme",
    region: "in-west-1",
    sizeGb: 1,
  },
  otherFlavor: "m1.medium",
  keepVolume: keepsVolumes,
});

interface Place {
  readonly server: RunningOdd;
  readonly closers: Closers;
  readonly notes: { kept: TrialNotes | undefined };
}

/** One doctor with a trial, as a person starts it. */
async function doctor(odd: Odd, { server, notes, closers }: Place, wish: TrialWish, death?: Death) {
  const { url } = server;
  const words = odd.told.map((word) => word.replaceAll("URL", url));
  const flagged = (flag: string): string[] => words.filter((_word, at) => words[at - 1] === flag);
  const told = readTold({ curl: flagged("--curl"), none: flagged("--none") });
  const { start } = withTold(readDialectText("", "").dialect, told, url, new Set());
  const stage = trialStage({ url, notes }, closers, death);
  const looked = await diagnoseService(stage.doctorIn(start), start, { none: new Set(told.none) });
  const authorization = { ...start.authorization, ...looked.authorization };
  const ports = { ...stage.ports, doctor: stage.doctorIn({ ...looked.dialect, authorization }) };
  const { report, findings } = await tryOut(ports, looked, wish);
  return { report: withTrial(report, findings), asked: stage.asked() };
}

const leftIn = ({ world }: RunningOdd, { keepsVolumes }: Odd): readonly string[] => {
  const { vms, volumes, groups } = world.left();
  const names = [...vms, ...(keepsVolumes === true ? [] : volumes), ...groups].map(({ name }) => name);
  return names.filter((name) => name !== "default");
};

const dialectOf = (report: DoctorReport) => {
  const { dialect, diagnostics } = readDialectText(dialectYaml(report), "my.yaml");
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return dialect;
};

/** Lines that the files of some have to say: without them a project may well live, and less well. */
const lines: Readonly<Record<string, object>> = {
  "versions that are sent, rules under two keys, a limit with an epoch": {
    fingerprint: { from: ["/etag"], send: "If-Match" },
    records: {
      group: {
        rules: [
          { value: "/ingress", direction: "ingress" },
          { value: "/egress", direction: "egress" },
        ],
      },
    },
  },
  "a list in each zone, and a sign-in in the place of a refusal": {
    operations: {
      "vm.list": { path: "/api/v1/zones/{region}/servers", for_each: "region" },
      "volume.delete": { path: "/api/v1/zones/{field:/zone}/volumes/{id}" },
    },
  },
  "tasks for every write, and failures that only they tell": {
    wait: { id: ["/task_id"], path: "/api/v1/tasks/{id}", done: ["succeeded"], failed: ["errored"] },
  },
  "one endpoint with commands": { wait: { query: { command: "queryAsyncJobResult", jobid: "{id}" }, done: ["1"] } },
  "slugs, actions and numbers": { retry_after: { header: "ratelimit-reset", as: "epoch" } },
  "names as references, sizes as 20G, states as numbers": {
    operations: { "volume.list": { pagination: { marker: ["/number"], param: "after" } } },
    records: { vm: { volumes: [] }, volume: { attached_to: [{ by: "name" }] } },
  },
};

const stride = Number(process.env["ODD_NEAR_STRIDE"] ?? 0);

/** A few requests of so many at which something dies, or as many as are asked for. */
function deaths(count: number, few: number): readonly Death[] {
  const step = stride > 0 ? stride : Math.ceil(count / few);
  return Array.from({ length: Math.floor(count / step) }, (_, at) => ({
    at: at * step + Math.floor(step / 2),
    after: at % 2 === 0,
  }));
}

const everyOdd = [...odds, ...further];
/** A few of them stand for all. */
const isShaken = (odd: Odd): boolean => stride > 0 || everyOdd.indexOf(odd) % 4 === 3;

async function lifeOf(odd: Odd, closers: Closers): Promise<void> {
  const placeOf = async (): Promise<Place> => ({
    server: await servedBy(odd, closers),
    closers,
    notes: { kept: undefined },
  });
  const worldFor = async (dialect: Dialect) => {
    const server = await servedBy(odd, closers);
    const world = await startBenchWorld({ dialect, front: async () => server });
    closers.push(() => world.close());
    return { world, server };
  };

  const place = await placeOf();
  const { report, asked } = await doctor(odd, place, wishFor(odd));
  expect([report.trial?.left, leftIn(place.server, odd), place.notes.kept]).toEqual([[], [], undefined]);
  const dialect = dialectOf(report);
  expect(dialect).toMatchObject(lines[odd.shape.title] ?? {});
  const { world, server } = await worldFor(dialect);
  for (const blocks of chapters) {
    const desired = desiredOf(projectAt(server.url, blocks));
    const { plan, report: run } = await world.apply(desired);
    expect([plan.diagnostics.filter(({ severity }) => severity === "error"), run?.counts.failed]).toEqual([[], 0]);
    expect((await world.plan(desired)).changes).toEqual([]);
  }

  if (!isShaken(odd)) return;
  for (const death of deaths(asked, 1)) {
    const other = await placeOf();
    await doctor(odd, other, wishFor(odd), death).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
    const { report: after } = await doctor(odd, other, odd.keepsVolumes === true ? wishFor(odd) : {});
    expect([death, after.trial?.left, leftIn(other.server, odd)]).toEqual([death, [], []]);
  }
}

// They mostly wait.
test.concurrent.each(everyOdd.map((odd) => [odd.shape.title, odd] as const))("%s", async (_, odd) => {
  const closers: Closers = [];
  try {
    await lifeOf(odd, closers);
  } finally {
    for (const close of closers.reverse()) await close();
  }
});
