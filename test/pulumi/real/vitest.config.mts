import { defineConfig } from "vitest/config";

// Needs a `pulumi` on PATH: not part of the default run. `npm run test:pulumi`.
export default defineConfig({
  test: {
    include: ["test/pulumi/real/*.test.ts"],
    globalSetup: ["test/support/build-once.ts", "test/support/own-temp-folder.ts"],
    testTimeout: 240_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
