/**
 * Clocks that are wrong and that somebody sets, in virtual time: a run whose creates are lost, which may die at any
 * durable write, and runs after it until nothing is left to do. Each has a clock of its own, an hour off or right, and at
 * random moments clocks are set by up to a day. The same bad luck with right clocks has to look the same to the service:
 * what changes something is sent at the same moments, and no more is looked at than once in a run, where a date says that
 * a VM is new.
 */
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import type { Desired } from "../../reconciler/core/model/desired";
import { hasErrors } from "../../reconciler/core/model/diagnostic";
import { instantAt } from "../../reconciler/core/model/time";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { seededRandom } from "../../reconciler/rehearse/chaos";
import { countCampaign } from "../support/campaign-count";
import { awaitOpenOn, prepareOn } from "../support/engine-on";
import { type Fate, virtualWorld } from "../support/virtual-world";

const trials = Number(process.env["CLOCK_TRIALS"] ?? 16);
const lists = { with: ["volume.list", "group.list", "group.get", "group.rule.delete"] };
const second = 1000;
const steps = [second, 60 * second, 3600 * second, 86_400 * second].flatMap((ms) => [ms, -ms]);
const wrongBy = [0, 3600 * second, -3600 * second, 600 * second, -600 * second];

const text = `version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: 00000000-0000-4000-8003-000000000001, flavor_id: m1.small, size: 10 } }
vms: { web: {} }
volumes: { data: { size: 5 } }
groups: { wall: { rules: [ { protocol: tcp, dst_port: 22, remote_ip: 10.0.0.0/8 } ] } }
`;

const changes = (heard: readonly string[]): string => heard.filter((one) => !/list|get/.test(one)).join("\n");
const isCreate = (operation: string): boolean => operation.endsWith(".create") && !operation.includes("rule");

interface Trial {
  readonly fates: readonly Fate[];
  /** The durable write at which the first run dies. */
  readonly cutAt: number | undefined;
  /** How late lists show what was made. */
  readonly lateMs: number;
  readonly clocks: readonly number[];
  readonly sets: readonly { readonly afterMs: number; readonly byMs: number }[];
}

function trialOf(seed: number): Trial {
  const random = seededRandom(seed);
  const upTo = (count: number): number => Math.floor(random() * count);
  const oneOf = <T>(some: readonly T[]): T => some[upTo(some.length)]!;
  return {
    fates: Array.from({ length: 4 }, () => oneOf<Fate>(["lost-after", "lost-after", "lost-before", "arrives"])),
    cutAt: upTo(3) === 0 ? undefined : upTo(9),
    lateMs: upTo(80) * second,
    clocks: Array.from({ length: 4 }, () => oneOf(wrongBy)),
    sets: Array.from({ length: 1 + upTo(4) }, () => ({ afterMs: upTo(150) * second, byMs: oneOf(steps) })),
  };
}

interface Told {
  /** Every request that reached the service, with its moment, sorted. */
  readonly heard: readonly string[];
  readonly runs: number;
  readonly lost: number;
  readonly problems: readonly string[];
}

async function play(trial: Trial, desired: Desired, areClocksRight: boolean): Promise<Told> {
  const stage = virtualWorld(lists);
  const { emulated, store, ports } = stage;
  let wrongByMs = 0;
  // What has passed stays as it was where somebody sets the clock; only dates change.
  const right = stage.clock.instant;
  const clock = Object.assign(stage.clock, { instant: () => instantAt(Date.parse(right()) + wrongByMs) });
  const set = (byMs: number): void => {
    wrongByMs += byMs;
  };
  const from = clock.now();
  const heard: string[] = [];
  const made = new Map<string, number>();
  const reach = emulated.call;
  emulated.call = (operation, body, options) => {
    const name = (body as { name?: string } | undefined)?.name ?? "";
    heard.push(`${clock.now() - from} ${operation} ${options?.id ?? name}`);
    if (isCreate(operation)) made.set(`${operation} ${name}`, (made.get(`${operation} ${name}`) ?? 0) + 1);
    return reach(operation, body, { ...options, staleMs: trial.lateMs });
  };
  if (!areClocksRight) for (const { afterMs, byMs } of trial.sets) void clock.sleep(afterMs).then(() => set(byMs));
  const problems: string[] = [];
  let wrong = 0;
  let isDone = false;
  let run = 0;
  for (; run < 4 && !isDone; run++) {
    if (!areClocksRight) set(trial.clocks[run]! - wrong);
    wrong = trial.clocks[run]!;
    stage.setFates(run === 0 ? trial.fates : []);
    stage.cutAfterWrites(run === 0 ? trial.cutAt : undefined);
    // A client of its own, as every process has.
    const client: typeof stage.client = Object.create(stage.client);
    await store.breakLock();
    try {
      const on = { store, ports: { ...ports, client, clock } };
      await awaitOpenOn(on);
      const { discoveryWindowMs } = ports.timing;
      const prepared = await prepareOn(on, desired, { discoveryWindowMs });
      if (hasErrors(prepared.plan.diagnostics))
        problems.push(`run ${run + 1}: ${prepared.plan.diagnostics.map(({ summary }) => summary).join("; ")}`);
      isDone = run > 0 && hasNothingToDo(prepared.plan);
      const report = await stage.applyWith(client, prepared);
      if (run > 0 && report !== undefined)
        for (const { step, result } of report.steps)
          if (result.end !== "done") problems.push(`run ${run + 1}: ${step.id} ended as ${result.end}`);
    } catch (error) {
      if (run > 0 || trial.cutAt === undefined) throw error;
    }
  }
  if (!isDone) problems.push("four runs have not done it");
  for (const [what, times] of made) if (times > 1) problems.push(`${what} reached the service ${times} times`);
  const state = await stage.state();
  const { tables } = emulated.world;
  for (const kind of ["vm", "group"] as const)
    for (const { id, name } of tables[kind].values())
      if (name !== "default" && ![...state.resources.values()].some((record) => record.id === id))
        problems.push(`${kind} ${name} is not in the state`);
  const lost = trial.fates.filter((fate) => fate === "lost-after").length;
  // What is asked at one moment has no order.
  return { heard: heard.sort(), runs: run, lost, problems };
}

describe("clocks that are wrong, and that somebody sets while a run waits", () => {
  it("make no twin, end no wait early, hang nothing and change no request", async () => {
    const { desired } = readDesired([{ file: "reconcile.yaml", text }]);
    let lost = 0;
    const violations: string[] = [];
    for (let seed = 1; seed <= trials; seed++) {
      const trial = trialOf(seed);
      const right = await play(trial, desired!, true);
      const wrong = await play(trial, desired!, false);
      lost += wrong.lost;
      for (const problem of [...right.problems, ...wrong.problems]) violations.push(`seed ${seed}: ${problem}`);
      if (changes(wrong.heard) !== changes(right.heard))
        violations.push(`seed ${seed}:\n${changes(wrong.heard)}\nin place of\n${changes(right.heard)}`);
      if (Math.abs(wrong.heard.length - right.heard.length) > wrong.runs)
        violations.push(`seed ${seed}: ${wrong.heard.length} requests in place of ${right.heard.length}`);
    }
    console.log(`clocks: ${trials} trials twice, ${lost} lost creates, ${violations.length} violations`);
    countCampaign("clocks that are wrong or set", trials, violations.length);
    expect(violations.join("\n")).toBe("");
    expect(lost).toBeGreaterThan(trials / 2);
  });
});
