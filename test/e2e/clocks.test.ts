/** The command as a process whose clock is wrong, or is set while it runs: it may wait longer, and never does anything for it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Ran, startCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { ownMeddledPlace, said } from "../support/own-place";

const place = ownMeddledPlace({ with: ["volume.list", "group.list"], timeScale: 20 });
const list = (path: string) => ({ method: "GET", path });
const dialect = {
  operations: { "volume.list": list("/api/v1/volume/list"), "group.list": list("/api/v1/security-group") },
};
const hour = 3_600_000;

/** `clock`: as wrong-clock.cjs reads it; it is set so long after the first create was sent. */
function apply(clock: string) {
  const { cwd, env } = place.surroundings();
  const sent = join(cwd, "a-create-was-sent");
  if (clock.includes(":")) void eventually("the create is sent", noted(sent));
  const preload = `--require ${join(__dirname, "wrong-clock.cjs")}`;
  return startCli(["apply", "-y"], {
    cwd,
    env: { ...env, WRONG_CLOCK: clock, WRONG_CLOCK_FROM: sent, NODE_OPTIONS: preload },
  });
}

const creates = (): number => place.proxy.writes.filter((write) => /\/(volume|vm)\/create/.test(write)).length;

const noted = (file: string) => (): true | undefined => {
  if (creates() === 0) return undefined;
  writeFileSync(file, "");
  return true;
};

describe("a create whose answer was lost, in a list that shows it late", () => {
  const timing = { poll_interval: "50ms", discovery_window: "4s", vm_create_timeout: "60s" };

  /** The effect is there, the answer never comes, and the list does not show it for two seconds. */
  async function loseTheAnswer(): Promise<void> {
    place.declare({ volumes: { data: { size: 5 } } }, { timing, dialect });
    await place.ask("POST", "/_control/faults", { kind: "stale-list", ms: 2000 });
    place.proxy.meddle(async ({ path }, forward) => {
      const answer = await forward();
      if (path.endsWith("/volume/create")) throw new Error("nothing is heard");
      return answer;
    });
  }

  const foundAgain = (ran: Ran): void => {
    expect([ran.exitCode, creates()], said(ran)).toEqual([0, 1]);
    const made = place.emulator.dump().volumes.filter(({ name }) => name === "data");
    expect(made.map(({ id }) => id)).toEqual([place.state().resources["volume.data"].id]);
  };

  it.each([
    ["an hour forward", `0,100:${hour}`],
    ["an hour back", `0,100:${-hour}`],
    ["a day forward and back again", `0,100:${24 * hour},700:${-24 * hour}`],
  ])("is found by a run whose clock is set %s meanwhile", async (_, clock) => {
    await loseTheAnswer();
    foundAgain(await apply(clock).finished);
  });

  it.each([
    ["10 minutes behind", -600_000],
    ["an hour behind", -hour],
    ["an hour ahead", hour],
  ])("is found by the run after one that was killed, and whose clock was %s", async (_, by) => {
    await loseTheAnswer();
    const first = apply(String(by));
    await eventually("the create is sent", () => (creates() === 1 ? true : undefined));
    first.child.kill("SIGKILL");
    await first.finished;
    foundAgain(await apply("0").finished);
  });
});

describe("a run that waits for its VMs", () => {
  const timing = { poll_interval: "50ms", discovery_window: "4s", vm_create_timeout: "10m" };

  it.each([
    ["15 seconds back", -15_000],
    ["a minute back", -60_000],
    ["an hour back", -hour],
    ["a minute forward", 60_000],
    ["an hour forward", hour],
    ["a day forward", 24 * hour],
  ])("goes on when its clock is set %s", async (_, by) => {
    place.declare({ vms: { web: {}, api: {} } }, { timing, dialect });
    const ran = await apply(`0,500:${by}`).finished;
    expect([ran.exitCode, creates()], said(ran)).toEqual([0, 2]);
    expect(said(ran)).toContain("Done");
  });
});
