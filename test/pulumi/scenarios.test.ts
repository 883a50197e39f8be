import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createFakeEngine, type EngineRun } from "./fake-engine";
import { makeProgramFolder } from "./provider-process";
import { everything, type Outcome, type ProgramStack, scenarios, timing, token } from "./shared-scenarios";

/** Needs what this engine lacks: aliases, and secrets in what it keeps of dynamic resources. The real one runs them all. */
const needsRealEngine = (mode: string, name: string): boolean =>
  name.startsWith("an automatic name stays") || (mode === "dynamic" && name.startsWith("a secret input is nowhere"));

describe.each(["dynamic", "plugin"] as const)("on the in-process engine, %s", (mode) => {
  let stack: Awaited<ReturnType<typeof startInProcessStack>> | undefined;
  afterEach(async () => {
    await stack?.close();
    stack = undefined;
  });

  for (const [name, scenario] of Object.entries(scenarios))
    it.skipIf(needsRealEngine(mode, name))(name, async () => {
      stack = await startInProcessStack(mode);
      await scenario(stack);
    });
});

/* A program in a folder of its own on the in-process engine, with an emulated service beside it. */

const secretMark = "4dabf18193072939515e22adb298388d";

async function startInProcessStack(mode: "dynamic" | "plugin"): Promise<ProgramStack & { close(): Promise<void> }> {
  const start = () => startEmulator({ timeScale: 0, with: everything });
  const emulator = await start();
  const others: RunningEmulator[] = [];
  const folder = makeProgramFolder();
  const engine = createFakeEngine({
    folder,
    main: "index.js",
    config: { "demo:mode": mode },
    environment: { RECONCILE_BASE_URL: emulator.url, RECONCILE_TOKEN: token },
  });
  let outputs: EngineRun["outputs"] = {};
  const outcome = async (running: Promise<EngineRun>): Promise<Outcome> => {
    const run = await running;
    outputs = run.outputs;
    return { ok: run.ok, text: [...run.steps, ...run.errors].join("\n"), changes: count(run.steps) };
  };
  const stack: ProgramStack & { close(): Promise<void> } = {
    emulator,
    write(files) {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    },
    async set(key, value) {
      engine.config[`demo:${key}`] = value;
    },
    async configure(key, value) {
      engine.config[`demo:${key}`] = value;
      engine.config[`reconcile-cloud:${key}`] = value;
    },
    preview: () => outcome(engine.preview()),
    up: () => outcome(engine.up()),
    refresh: () => outcome(engine.refresh()),
    destroy: () => outcome(engine.destroy()),
    output: async (name) => outputs[name],
    // As the real engine keeps it: what is secret is ciphertext.
    state: async () =>
      JSON.stringify([...engine.state.values()], (_, value) =>
        typeof value === "object" && value !== null && secretMark in value ? "(secret)" : value,
      ),
    async startOther() {
      const other = await start();
      others.push(other);
      return other;
    },
    async close() {
      for (const one of [emulator, ...others]) await one.close();
    },
  };
  stack.write({ "package.json": JSON.stringify({ name: "demo", private: true }) });
  await stack.configure("timing", timing);
  return stack;
}

const words: Readonly<Record<string, string>> = {
  create: "created",
  update: "updated",
  drift: "updated",
  replace: "replaced",
  delete: "deleted",
  gone: "deleted",
};

/** A resource that is deleted to be made again is one replacement. */
function count(steps: readonly string[]): Record<string, number> {
  const replaced = new Set(steps.filter((step) => step.startsWith("replace ")).map((step) => step.slice(8)));
  const counts: Record<string, number> = {};
  for (const step of steps) {
    const [verb = ""] = step.split(" ", 1);
    const word = words[verb];
    if (word === undefined || (verb === "delete" && replaced.has(step.slice(7)))) continue;
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}
