import { afterEach, describe, it } from "vitest";
import { startInProcessStack } from "../support/in-process-stack";
import { scenarios } from "./shared-scenarios";

describe.each(["dynamic", "plugin"] as const)("on the in-process engine, %s", (mode) => {
  let stack: Awaited<ReturnType<typeof startInProcessStack>> | undefined;
  afterEach(async () => {
    await stack?.close();
    stack = undefined;
  });

  it.each(Object.entries(scenarios))("%s", async (_, scenario) => {
    stack = await startInProcessStack(mode);
    await scenario(stack);
  });
});
