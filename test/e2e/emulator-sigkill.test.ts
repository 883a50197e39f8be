import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Pool } from "undici";
import { expect, it } from "vitest";
import { makeFolder } from "../support/folder";
import { randomFrom } from "../support/hostile-inputs";

// SIGKILL_CYCLES=1000 for the whole campaign; SIGKILL_DIR for a folder in memory.
const cycles = Number(process.env["SIGKILL_CYCLES"] ?? 20);
const seed = Number(process.env["SIGKILL_SEED"] ?? 1);

it(`${cycles} SIGKILLs under write load (seed ${seed}) lose nothing that was acknowledged or shown`, async () => {
  const dir = join(process.env["SIGKILL_DIR"] ?? makeFolder(), "world");
  const result = await runSigkillCampaign(dir, cycles, randomFrom(seed));
  rmSync(dir, { recursive: true, force: true });
  if (process.env["SIGKILL_CYCLES"] !== undefined) process.stdout.write(`${JSON.stringify(result)}\n`);
  expect(result.violations).toEqual([]);
  expect(result.cycles).toBe(cycles);
  expect(result.acknowledged).toBeGreaterThan(cycles);
});

/*
 * Kills an emulator with SIGKILL under write load, starts it again on the same folder, and compares the world with what
 * had been acknowledged or shown. An item's size only grows, so that what may be there is an interval: at least what any
 * answer showed, at most what was sent. A group and its rules must be there together or not at all.
 */

interface CampaignResult {
  cycles: number;
  acknowledged: number;
  interrupted: number;
  shown: number;
  violations: string[];
}

interface Item {
  readonly kind: "volume" | "group";
  readonly name: string;
  id: string | undefined;
  /** What an answer, to a write or a read, has shown. */
  atLeast: number;
  sent: number;
  goneSent: boolean;
  goneShown: boolean;
}

const program = join(__dirname, "../../dist/emulator/main.js");
const writers = 8;
const keptPerWriter = 12;

async function runSigkillCampaign(dir: string, cycles: number, chance: () => number): Promise<CampaignResult> {
  const result: CampaignResult = { cycles: 0, acknowledged: 0, interrupted: 0, shown: 0, violations: [] };
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  let items: Item[] = [];
  let names = 0;

  for (let cycle = 0; cycle < cycles && result.violations.length === 0; cycle += 1) {
    const { child, port } = await startProgram(dir);
    const exited = once(child, "exit");
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: writers + 4 });
    let alive = true;
    const send = async (method: "GET" | "POST" | "DELETE", path: string, body?: unknown) => {
      const answer = await pool.request({
        method,
        path,
        headers: { authorization: "x", "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.statusCode, body: (await answer.body.json()) as { id?: string; size?: number } };
    };

    if (cycle > 0) result.violations.push(...compare(items, (await send("GET", "/_control/world")).body as never));
    items = items.filter((item) => item.id !== undefined && !item.goneShown);

    const write = async (mine: Item[]) => {
      if (mine.length < keptPerWriter && chance() < 0.6) {
        names += 1;
        const kind = chance() < 0.7 ? "volume" : "group";
        const item: Item = {
          kind,
          name: `item-${names}`,
          id: undefined,
          atLeast: 0,
          sent: 1,
          goneSent: false,
          goneShown: false,
        };
        mine.push(item);
        items.push(item);
        const rules = [
          { protocol: "tcp", dst_port: "1" },
          { protocol: "tcp", dst_port: "2" },
        ];
        const answer =
          kind === "volume"
            ? await send("POST", "/api/v1/volume/create", { name: item.name, size: "1" })
            : await send("POST", "/api/v1/security-group", { name: item.name, rules });
        if (answer.status !== 201) throw new Error(`create answered ${answer.status}`);
        item.id = answer.body.id;
        item.atLeast = 1;
      } else {
        const item = mine[Math.floor(chance() * mine.length)];
        if (item?.id === undefined) return;
        if (item.kind === "volume" && chance() < 0.6) {
          item.sent += 1;
          const answer = await send("POST", `/api/v1/volume/resize/${item.id}`, { size: String(item.sent) });
          if (answer.status !== 200) throw new Error(`resize answered ${answer.status}`);
          item.atLeast = item.sent;
        } else {
          item.goneSent = true;
          const answer = await send(
            "DELETE",
            `/api/v1/${item.kind === "volume" ? "volume" : "security-group"}/${item.id}`,
          );
          if (answer.status !== 200) throw new Error(`delete answered ${answer.status}`);
          item.goneShown = true;
          mine.splice(mine.indexOf(item), 1);
        }
      }
      result.acknowledged += 1;
    };
    const read = async () => {
      const item = items[Math.floor(chance() * items.length)];
      if (item?.id === undefined || item.kind !== "volume") return;
      const { status, body } = await send("GET", `/api/v1/volume/${item.id}`);
      if (status === 404) item.goneShown = true;
      else item.atLeast = Math.max(item.atLeast, body.size as number);
      result.shown += 1;
    };
    const loop = async (step: () => Promise<void>) => {
      while (alive) {
        try {
          await step();
        } catch (error) {
          if (alive) result.violations.push(`cycle ${cycle}: ${(error as Error).message}`);
          else result.interrupted += 1;
          return;
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const shares = Array.from({ length: writers }, (_, n) => items.filter((_, at) => at % writers === n));
    const load = [...shares.map((mine) => loop(() => write(mine))), loop(read), loop(read)];

    await new Promise((resolve) => setTimeout(resolve, 5 + chance() * 60));
    // Some die before they acknowledged anything, but not all: on a busy machine that takes longer.
    while (result.acknowledged <= result.cycles + 1 && result.violations.length === 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    alive = false;
    child.kill("SIGKILL");
    await exited;
    await Promise.all(load);
    await pool.destroy();
    result.cycles += 1;
  }
  return result;
}

async function startProgram(dir: string): Promise<{ child: ChildProcess; port: number }> {
  const argv = [program, "--dir", dir, "--port", "0", "--time-scale", "0", "--compact-after", "20000"];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<number>((resolve, reject) => {
    let out = "";
    child.stdout?.on("data", (chunk) => {
      out += chunk;
      const match = /^listening on http:\/\/127\.0\.0\.1:([0-9]+)\n/.exec(out);
      if (match !== null) resolve(Number(match[1]));
    });
    child.once("exit", (code) => reject(new Error(`the emulator did not start: exit ${code} ${out}`)));
  });
  return { child, port };
}

interface Dump {
  readonly volumes: readonly { id: string; name: string; size: number }[];
  readonly groups: readonly { id: string; name: string }[];
  readonly rules: readonly { security_group_id: string }[];
}

/** What is wrong with the world; each item is then set to what is really there. */
function compare(items: readonly Item[], dump: Dump): string[] {
  const violations: string[] = [];
  const volumes = new Map(dump.volumes.map((volume) => [volume.name, volume]));
  const groups = new Map(dump.groups.map((group) => [group.name, group]));
  const rules = new Map<string, number>();
  for (const rule of dump.rules) rules.set(rule.security_group_id, (rules.get(rule.security_group_id) ?? 0) + 1);
  for (const item of items) {
    const found = item.kind === "volume" ? volumes.get(item.name) : groups.get(item.name);
    if (found === undefined) {
      if (item.atLeast > 0 && !item.goneSent) violations.push(`${item.name} is lost`);
      item.goneShown = true;
      continue;
    }
    if (item.goneShown) violations.push(`${item.name} came back after its deletion was shown`);
    if (item.id !== undefined && item.id !== found.id) violations.push(`${item.name} has another id`);
    const size = (found as { size?: number }).size ?? 1;
    if (size < item.atLeast || size > item.sent)
      violations.push(`${item.name} has size ${size}, not ${item.atLeast} to ${item.sent}`);
    if (item.kind === "group" && rules.get(found.id) !== 4)
      violations.push(`${item.name} has ${rules.get(found.id)} rules`);
    Object.assign(item, { id: found.id, atLeast: size, sent: size, goneSent: false, goneShown: false });
  }
  const known = new Set(items.map((item) => item.name));
  for (const name of [...volumes.keys(), ...groups.keys()])
    if (!known.has(name) && name !== "default")
      violations.push(`${name} was never asked for, or is back from long ago`);
  return violations;
}
