import { defineConfig } from "vitest/config";
import { patience } from "./test/support/patience.mjs";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Needs a `pulumi` on PATH: npm run test:pulumi.
    exclude: ["test/pulumi/real/**", "node_modules/**"],
    globalSetup: ["test/support/build-once.ts", "test/support/own-temp-folder.ts"],
    ...patience,
    // Two cores are what CI has; more forks only make processes that the tests start wait for each other.
    maxWorkers: 2,
  },
});
