import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { patience } from "./test/support/patience.mjs";

/** What takes minutes begins first: begun last, it would run alone. A file's size, Vitest's own measure, tells nothing here. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification): boolean =>
      /test\/(pulumi|campaigns|deployments)\/|test\/docs\/commands/.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Needs a `pulumi` on PATH: npm run test:pulumi.
    exclude: ["test/pulumi/real/**", "node_modules/**"],
    globalSetup: ["test/support/build-once.ts", "test/support/own-temp-folder.ts"],
    ...patience,
    sequence: { sequencer: SlowFirst },
    // Two cores are what CI has. The third fork has something to do while others wait for a timer or a lock.
    maxWorkers: 3,
  },
});
