// A fleet's sweep: one worker that looks at many stacks again and again, beside `reconcile plan` of the same stacks as one
// process after the other. The same service and the same files; the fleet has its database on the same machine.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, startPostgres } from "../postgres.mjs";
import { cli, runOnce, spread, startService } from "../processes.mjs";
import { limit, number, remark } from "../table.mjs";

const stacks = 50;
const each = 20;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function measure({ scratch, full, note }) {
  const postgres = await startPostgres();
  if (postgres === undefined) return [remark("a fleet's sweep", "there is no PostgreSQL on PATH: not compared")];
  const cwd = join(scratch, "fleet");
  const service = await startService(join(scratch, "fleet-world"), ["--time-scale", "0"]);
  let worker;
  try {
    note(`fleet: building ${stacks} stacks of ${each} resources`);
    const names = Array.from({ length: stacks }, (_, n) => `stack-${n}`);
    for (const name of names) {
      mkdirSync(join(cwd, name), { recursive: true });
      writeFileSync(join(cwd, name, "reconcile.yaml"), groups(name));
    }
    writeFileSync(
      join(cwd, "fleet.yaml"),
      `version: 1
services: { here: { base_url: "${service.url}" } }
defaults: { service: here, interval: 1s, state: "./states/\${stack}.state.json" }
stacks:
${names.map((name) => `  ${name}: { source: { folder: ./${name} } }\n`).join("")}`,
    );
    const env = { RECONCILE_FLEET_DATABASE: postgres.url };
    const run = (...words) => runOnce({ argv: [process.execPath, cli, ...words], cwd, env });
    mkdirSync(join(cwd, "states"));
    await run("fleet", "sync", "fleet.yaml", "--auto-approve");
    const port = await freePort();
    worker = spawn(process.execPath, [cli, "fleet", "work", "--listen", `127.0.0.1:${port}`], {
      cwd,
      env: { ...process.env, RECONCILE_TOKEN: "ops-token", ...env },
      stdio: "ignore",
    });
    const rounds = async (result) => {
      const text = await fetch(`http://127.0.0.1:${port}/metrics`).then(
        (answer) => answer.text(),
        () => "",
      );
      const told = new RegExp(`^reconcile_fleet_worker_rounds_total\\{result="${result}"\\} (\\d+)`, "m").exec(text);
      return Number(told?.[1] ?? 0);
    };
    for (let left = 1200; (await rounds("applied")) < stacks; left--) {
      if (left === 0 || (await rounds("failed")) > 0)
        throw new Error(`the fleet did not get its stacks done: ${(await run("fleet", "show", "stack-0")).stdout}`);
      await pause(100);
    }
    note("fleet: sweeping");
    const looks = async () => (await rounds("all")) - (await rounds("applied")) - (await rounds("failed"));
    const sweeps = [];
    for (let turn = 0; turn < (full ? 5 : 3); turn++) {
      const before = await looks();
      const began = performance.now();
      let done = 0;
      while (done < stacks) {
        await pause(50);
        done = (await looks()) - before;
      }
      sweeps.push({ ms: ((performance.now() - began) / done) * stacks });
    }
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.kill("SIGTERM");
    await ended;
    worker = undefined;
    note("fleet: the same as commands");
    const plans = [];
    for (const name of names.slice(0, full ? stacks : 10)) {
      const state = join(cwd, "states", `${name}.state.json`);
      const words = ["plan", join(name, "reconcile.yaml"), "--state", state, "--base-url", service.url];
      const ran = await run(...words);
      if (!ran.stdout.includes("Nothing to do")) throw new Error(`not a no-op: ${ran.stdout.slice(0, 500)}`);
      plans.push(ran);
    }
    const command = spread(plans);
    const whole = { ...command, ms: command.ms * stacks, min: command.min * stacks, max: command.max * stacks };
    const sweep = spread(sweeps);
    return [
      limit(
        `a fleet's sweep of ${stacks} stacks of ${each} resources, one worker`,
        sweep,
        whole,
        `${stacks} times reconcile plan`,
        1,
      ),
      number("  its stacks a second", (stacks * 1000) / sweep.ms, "/s", {
        floor: `${((stacks * 1000) / whole.ms).toFixed(1)} /s (reconcile plan)`,
        ratio: whole.ms / sweep.ms,
      }),
    ];
  } finally {
    worker?.kill("SIGKILL");
    await service.close();
    await postgres.close();
  }
}

const groups = (name) => `version: 1
project: bench
groups:
${Array.from({ length: each }, (_, n) => `  sg-${n}: { name: ${name}-${n}, rules: [ { protocol: tcp, dst_port: ${8000 + n}, remote_ip: 10.0.0.0/8 } ] }\n`).join("")}`;
