import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { patience } from "./test/support/patience.mjs";

/**
 * What takes longest begins first, in this order: begun last, it would run alone. A file's size, Vitest's own measure,
 * tells nothing here.
 */
const longest = [
  "pulumi/scenarios",
  "campaigns/fleet-outages",
  "campaigns/fleet-flow",
  "pulumi/programs",
  "docs/commands",
  "e2e/reads-and-lookups",
  "e2e/evidence",
  "e2e/computed-values",
  "store/s3",
  "campaigns/faults",
  "e2e/stores",
  "campaigns/deployments",
  "campaigns/fleet-deaths",
  "campaigns/fleet-load",
  "pulumi/provider-process",
  "properties/cut-off",
  "properties/converge",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const known = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      if (known >= 0) return known;
      return longest.length + (/\/test\/(campaigns|deployments|e2e|pulumi|store)\//.test(moduleId) ? 0 : 1);
    };
    return files.sort((one, other) => place(one) - place(other));
  }
}

/** Tests of values and of services in this process, which leave nothing behind: many files share one process. */
const together = ["core", "dialect", "engine", "golden", "properties", "service", "unit"].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    globalSetup: ["test/support/build-once.ts", "test/support/own-temp-folder.ts"],
    ...patience,
    sequence: { sequencer: LongestFirst },
    // CI has two cores. Two thirds of what the long files take is waiting, for a lease, a lock or a service, so that more
    // of them have to be under way for both to have work.
    maxWorkers: 6,
    projects: [
      { extends: true, test: { name: "together", include: together, isolate: false } },
      {
        extends: true,
        test: {
          name: "apart",
          include: ["test/**/*.test.ts"],
          // Needs a `pulumi` on PATH: npm run test:pulumi.
          exclude: [...together, "test/pulumi/real/**", "node_modules/**"],
        },
      },
    ],
  },
});
