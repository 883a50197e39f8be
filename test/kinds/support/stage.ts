/** A folder, an emulated service that knows the kind, and the command run in this process from its sources. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../reconciler/cli/main";
import type { Handler } from "../../../reconciler/one/handler";
import { handlers } from "../../../reconciler/one/table";
import { startBenchWorld } from "../../support/bench-world";
import { contextFor } from "../../support/handler-program";

export interface Ran {
  readonly exitCode: number;
  readonly text: string;
}

export async function openStage() {
  const folder = mkdtempSync(join(tmpdir(), "kinds-"));
  const world = await startBenchWorld();
  const { emulator } = world;
  const timing = { poll_interval: "5ms", discovery_window: "100ms", vm_create_timeout: "3s" };
  const file = join(folder, "reconcile.yaml");
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: "Bearer ops-token", "content-type": "application/json" };
    const answer = await fetch(`${emulator.url}${path}`, { method, headers, body: body && JSON.stringify(body) });
    const told = (await answer.json()) as { data?: unknown };
    return "data" in told ? told.data : told;
  };
  return {
    ask,
    emulator,
    vms: () => emulator.dump().vms,
    /** What a program does with the resource of a type, as Pulumi's engine would ask for it. */
    context: contextFor(world),
    handler(type: string): Handler {
      const handler = new Map<string, Handler>(Object.entries(handlers)).get(type);
      if (handler === undefined) throw new Error(`there is no handler of ${type}`);
      return handler;
    },
    declare(blocks: object) {
      const head = { version: 1, project: "acme", region: "in-west-1" };
      const service = { base_url: emulator.url, timing };
      const vm = {
        owner: "ops@acme.example",
        user_id: "1042",
        image_id: "ubuntu-24.04",
        flavor_id: "m1.small",
        size: 10,
      };
      writeFileSync(file, JSON.stringify({ ...head, service, defaults: { vm }, ...blocks }));
    },
    /** Where the command is run. */
    async reconcile(...args: string[]): Promise<Ran> {
      let text = "";
      const catchAll = (piece: unknown): boolean => {
        text += String(piece);
        return true;
      };
      const { stdout, stderr } = process;
      const [out, err] = [stdout.write, stderr.write];
      stdout.write = catchAll as typeof out;
      stderr.write = catchAll as typeof err;
      const before = process.env["RECONCILE_TOKEN"];
      process.env["RECONCILE_TOKEN"] = "ops-token";
      try {
        const exitCode = await run([...args, "--file", file, "--state", join(folder, "state.json")]);
        return { exitCode, text };
      } finally {
        stdout.write = out;
        stderr.write = err;
        if (before === undefined) delete process.env["RECONCILE_TOKEN"];
        else process.env["RECONCILE_TOKEN"] = before;
      }
    },
    /** A run that has to succeed, with what it printed. */
    async done(...args: string[]): Promise<string> {
      const { exitCode, text } = await this.reconcile(...args);
      if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${text}`);
      return text;
    },
    async close() {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
