import { defineConfig } from "vitest/config";
import { patience } from "../../support/patience.mjs";

// Needs a `pulumi` on PATH: not part of the default run. `npm run test:pulumi`.
export default defineConfig({
  test: {
    include: ["test/pulumi/real/*.test.ts"],
    globalSetup: "test/support/global-setup.ts",
    ...patience,
    maxWorkers: 2,
  },
});
