import { readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type Reporter, type TestSpecification } from "vitest/node";
import { patience } from "./test/support/patience.mjs";

/**
 * Seconds by file of the last whole run that kept them (KEEP_SECONDS=1 npm test), where they are many: what takes longest
 * begins first, for begun last it would run alone. A file's size, Vitest's own measure, tells nothing here.
 */
const kept = join(import.meta.dirname, "test/seconds.json");
const seconds: Readonly<Record<string, number>> = JSON.parse(readFileSync(kept, "utf8"));
const nameOf = (path: string): string => path.replace(/^.*\/test\//, "").replace(/\.test\.ts$/, "");

const keepSeconds: Reporter = {
  onTestRunEnd(files) {
    const taken = files
      .map((file) => [nameOf(file.moduleId), Math.round(file.diagnostic().duration / 1000)] as const)
      .filter(([, took]) => took >= 5)
      .sort(([one, long], [other, longer]) => longer - long || one.localeCompare(other));
    writeFileSync(kept, `${JSON.stringify(Object.fromEntries(taken), undefined, 2)}\n`);
  },
};

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // A process is kept for the next file only where that is of the same project.
    const place = ({ moduleId, project }: TestSpecification): number =>
      -(seconds[nameOf(moduleId)] ?? 0) || 1 + projects.indexOf(project.name);
    return files.sort((one, other) => place(one) - place(other));
  }
}

// The fleet's processes for one stack have this priority, below that of others. Where the tests kept both cores busy at a
// higher one, a round would wait for minutes: with the same, they take turns.
setPriority(10);

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
  maxWorkers: 7,
};

export default defineConfig({
  test: {
    ...common,
    // Once, and not for each project, as it would be if they extended this.
    globalSetup: ["test/support/build-once.ts", "test/support/own-temp-folder.ts"],
    sequence: { sequencer: LongestFirst },
    reporters: ["default", ...(process.env["KEEP_SECONDS"] === undefined ? [] : [keepSeconds])],
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
