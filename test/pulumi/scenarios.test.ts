import { afterEach, describe, it } from "vitest";
import { startInProcessStack } from "../support/in-process-stack";
import { scenarios } from "./shared-scenarios";

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
