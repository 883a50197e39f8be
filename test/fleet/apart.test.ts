/**
 * Stacks that are much work, in processes of their own: a round sees the same project, whoever plans it, and one that
 * does not end is ended, with its reason, while the worker's own loop goes on.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createHereOpener } from "../../reconciler/cli/fleet/open-project";
import { createProjectOpener } from "../../reconciler/cli/fleet/opener";
import { errorOf, thrownOf } from "../../reconciler/cli/fleet/peer";
import { noGrants } from "../../reconciler/core/plan/consent";
import type { EngineEvent } from "../../reconciler/engine/events";
import type { OpenProject, Planned, ProjectInput } from "../../reconciler/fleet/project";
import { profileTo, tracing } from "../../reconciler/outside/tracing";
import { StateLocked, StateSealed } from "../../reconciler/store/store";
import { stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";

const never = new AbortController().signal;
let emulator: RunningEmulator;
beforeAll(async () => {
  vi.stubEnv("RECONCILE_TOKEN", "t0ken");
  emulator = await startEmulator({ timeScale: 20, with: ["group.list", "volume.list"] });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await emulator.close();
});

/** A file that reads elsewhere is planned apart until somebody has seen how much work it is. */
const text = (rest: string): string => `version: 1\nproject: acme\nreads: { n: { state: ./n.json } }\n${rest}`;

function inputOf(folder: string, more: Partial<ProjectInput> = {}): ProjectInput {
  return {
    stack: stackSpec("shop", { source: { kind: "folder", folder }, state: join(folder, "state.json") }),
    checkout: { folder, root: folder, revision: "r", content: "c" },
    inputs: {},
    destroy: false,
    worker: "w",
    service: { name: "here", baseUrl: emulator.url, insecureHttp: false },
    mayRead: async (location) => ({ state: location }),
    siblings: async () => [],
    ...more,
  };
}

async function planned(open: OpenProject, input: ProjectInput): Promise<Planned> {
  const project = await open(input);
  try {
    return await project.plan(never);
  } finally {
    await project.close();
  }
}

const groups = `groups:
  web: { name: web-group, rules: [ { protocol: tcp, dst_port: 443, remote_ip: "\${read.n.office}" } ] }
  idle: { name: idle-group }
outputs: { web: "\${group.web.id}" }
`;

async function withState(rest: string): Promise<string> {
  const folder = makeFolder({ "reconcile.yaml": text(rest) });
  const other = makeFolder({
    "reconcile.yaml": "version: 1\nproject: acme\ngroups: { n: { name: n-group } }\noutputs: { office: 10.0.0.0/8 }\n",
  });
  const project = await createHereOpener({ cache: makeFolder() })(
    inputOf(other, {
      stack: stackSpec("n", { source: { kind: "folder", folder: other }, state: join(folder, "n.json") }),
    }),
  );
  await project.underLock(never, (plan) => plan.apply(noGrants, { soft: never, hard: never }, () => undefined));
  await project.close();
  return folder;
}

test("a plan made apart is the plan made here, is carried out under the lock, and asks the worker's budget", async () => {
  const folder = await withState(groups);
  const cache = makeFolder();
  let taken = 0;
  const budget = {
    take: async () => {
      taken += 1;
      return true;
    },
    refused: async () => undefined,
    look: async () => undefined,
    waits: undefined,
  };
  const here = await planned(createHereOpener({ cache }), inputOf(folder));
  const open = createProjectOpener({ cache });
  const apart = await planned(open, inputOf(folder, { budget }));
  const shown = ({ picture, apply: _, ...rest }: Planned) => ({ ...rest, picture: picture() });
  expect(shown(apart)).toEqual(shown(here));
  expect(here.facts.steps).toBe(2);

  const project = await createProjectOpener({ cache })(inputOf(folder, { budget }));
  const events: EngineEvent[] = [];
  const applied = await project.underLock(never, async (plan) => {
    // The lock is held: whoever comes beside it is told by whom.
    const beside = await createProjectOpener({ cache })(inputOf(folder));
    await expect(beside.underLock(never, async () => undefined)).rejects.toThrow(StateLocked);
    await beside.close();
    return plan.apply(noGrants, { soft: never, hard: never }, (event) => events.push(event));
  });
  await project.close();
  expect(applied.report.counts).toMatchObject({ done: 2, failed: 0 });
  expect(taken).toBeGreaterThan(1);
  expect(applied.outputs).toHaveProperty("web");
  expect(events.some(({ type }) => type === "step")).toBe(true);
  expect((await planned(open, inputOf(folder))).facts.empty).toBe(true);
});

test("a state that is sealed is told with what to do about it, also by a process of its own", () => {
  const sealed = new StateSealed("state/key-wrong", "another key", "give the former one as well");
  const told = errorOf(thrownOf(sealed));
  expect(told).toBeInstanceOf(StateSealed);
  expect(told).toMatchObject({ code: "state/key-wrong", message: "another key", fix: "give the former one as well" });
});

/** Three million questions about who reaches what: minutes of any processor. */
function muchToJudge(): string {
  const many = (count: number, one: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => one(at)).join("\n");
  return `groups:
${many(400, (at) => `  g${at}: { name: grp-${at}, rules: [ { protocol: tcp, dst_port: ${at + 1}, remote_ip: 10.${at % 250}.0.0/24 }, { protocol: tcp, dst_port: 1, remote_ip: "\${read.n.office}" } ] }`)}
reachability:
${many(8000, (at) => `  - never: { from: 192.168.${at % 250}.0/24, to: group.*, tcp: [${(at % 60_000) + 2}] }`)}
`;
}

/** Of the processes that this one started and that run. */
const nicenessOfChildren = (): number[] =>
  readdirSync("/proc").flatMap((pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      return Number(fields[1]) === process.pid ? [Number(fields[16])] : [];
    } catch {
      // No process, or one that ended meanwhile.
      return [];
    }
  });

test("a plan that does not end is ended with its reason, and at once when nobody wants it any more", async () => {
  const folder = await withState(groups);
  writeFileSync(join(folder, "reconcile.yaml"), text(muchToJudge()));
  // What is little work is waited for, however little of the machine it gets.
  const limits = {
    timeMs: 6000,
    longestMs: 1_200_000,
    memoryMb: 768,
    most: 1,
    slowMs: 0,
    niceness: 10,
    givesWayMs: 1000,
  };
  const open = createProjectOpener({ cache: makeFolder() }, { apart: limits });
  let turns = 0;
  const loop = setInterval(() => {
    turns += 1;
  }, 10);
  await expect(planned(open, inputOf(folder))).rejects.toThrow(
    /its plan (could not be made within 6 s, and was given up|cannot be made with 768 MB of memory)/,
  );
  clearInterval(loop);
  expect(turns).toBeGreaterThan(100);

  // The next time it comes behind everything else that the machine does.
  const stop = new AbortController();
  const project = await open(inputOf(folder, { signal: stop.signal }));
  expect(nicenessOfChildren().sort()).toContain(19);
  // A change of it that nobody merged is another matter, as the stack is to a change that did not end.
  const change = await open(inputOf(folder, { base: inputOf(folder).checkout }));
  expect(nicenessOfChildren().filter((one) => one === 19)).toHaveLength(1);
  await change.close();
  const light = await withState(groups);
  writeFileSync(join(light, "reconcile.yaml"), text(groups));
  expect(
    (
      await planned(open, {
        ...inputOf(light),
        stack: stackSpec("light", { source: { kind: "folder", folder: light }, state: join(light, "state.json") }),
      })
    ).errors,
  ).toEqual([]);
  const plan = project.plan(stop.signal).then(
    ({ errors }) => errors.join("\n"),
    (error: Error) => error.message,
  );
  setTimeout(() => stop.abort(), 1000);
  // On a busy machine it has not come to judging by then, and hears that it is to stop.
  expect(await plan).toMatch(/its planning was stopped|cancelled/);
  await project.close();
});

test("a sensitive value is in no text and no span that a round hands on", async () => {
  const quick = await startEmulator({ timeScale: 0 });
  const vm = (flavor: string): string => `version: 1
project: acme
vars: { pw: { sensitive: true } }
vms:
  one: { owner: ops@acme.example, user_id: "1042", region: in-west-1, image_id: ubuntu-24.04, flavor_id: ${flavor},
    size: 10, lifecycle: { verify_resize: { timeout: 10ms, on_failure: leave,
    check: { http: "http://127.0.0.1:9/\${var.pw}" } } } }
`;
  const folder = makeFolder();
  const service = { name: "here", baseUrl: quick.url, insecureHttp: false };
  const { stack } = inputOf(folder);
  const input = inputOf(folder, { service, stack: { ...stack, vars: { pw: "hunter2 and more" } } });
  const said: unknown[] = [];
  const spans = join(makeFolder(), "spans.json");
  profileTo(spans, "test");
  for (const flavor of ["m1.small", "m1.large"]) {
    writeFileSync(join(folder, "reconcile.yaml"), vm(flavor));
    const project = await createHereOpener({ cache: makeFolder() })(input);
    await project.underLock(never, async (plan) => {
      const { report } = await plan.apply(noGrants, { soft: never, hard: never }, (event) => said.push(event));
      said.push(plan.body, plan.errors, ...report.steps.map(({ step, result }) => [step.title, result]));
    });
    await project.close();
  }
  await quick.close();
  tracing()?.start("GET hunter2 and more", "client", {}).end({}, undefined);
  await tracing()?.flush();
  said.push(readFileSync(spans, "utf8"));
  expect(said.at(-1)).toContain("GET ");
  expect(JSON.stringify(said)).toContain("check VM one");
  expect(JSON.stringify(said)).toContain("did not pass");
  expect(JSON.stringify(said)).not.toContain("hunter2");
});
