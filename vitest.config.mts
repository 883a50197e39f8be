import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Needs a `pulumi` on PATH: npm run test:pulumi.
    exclude: ["test/pulumi/real/**", "node_modules/**"],
    globalSetup: ["test/support/build-once.ts", "test/support/own-temp-folder.ts"],
    testTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
    // Two cores are what CI has; more forks only make processes that the tests start wait for each other.
    maxWorkers: 2,
  },
});
