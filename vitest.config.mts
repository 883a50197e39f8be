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
  "campaigns/follower",
  "docs/commands",
  "docs/readme-lines",
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
  "e2e/accepted-not-seen",
  "e2e/rights-by-kind",
  "pulumi/random-worlds",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification): number => {
      const known = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      // A process is kept for the next file only where that is of the same project.
      return known >= 0 ? known : longest.length + projects.indexOf(project.name);
    };
    return files.sort((one, other) => place(one) - place(other));
  }
}

const filesIn = (...folders: readonly string[]): string[] => folders.map((folder) => `test/${folder}/**/*.test.ts`);

/**
 * Files that leave nothing behind in their process, so that many share one: those that run commands and programs, and
 * those of values and of services in this process.
 */
const commands = filesIn("conformance", "deployments", "docs", "e2e", "fleet", "pulumi", "rehearse");
const values = filesIn("core", "dialect", "engine", "golden", "properties", "service", "unit");
/** Needs a `pulumi` on PATH: npm run test:pulumi. */
const elsewhere = ["test/pulumi/real/**", "node_modules/**"];

/** In this order, apart from the longest. */
const projects = ["apart", "commands", "values"];

const common = {
  ...patience,
  // CI has two cores. Two thirds of what the long files take is waiting, for a lease, a lock or a service, so that more
  // of them have to be under way for both to have work.
  maxWorkers: 6,
};

export default defineConfig({
  test: {
    ...common,
    // Once, and not for each project, as it would be if they extended this.
    globalSetup: ["test/support/build-once.ts", "test/support/own-temp-folder.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...common, name: "values", include: values, isolate: false } },
      { test: { ...common, name: "commands", include: commands, exclude: elsewhere, isolate: false } },
      {
        test: {
          ...common,
          name: "apart",
          include: ["test/**/*.test.ts"],
          exclude: [...commands, ...values, ...elsewhere],
        },
      },
    ],
  },
});
