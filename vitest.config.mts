import { readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { join, relative } from "node:path";
import { defineConfig, type Plugin } from "vitest/config";
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
    // Those of a process of their own last: they would end one that is kept for the next file.
    const place = ({ moduleId, project }: TestSpecification): number =>
      project.name === "apart" ? 1 : -(seconds[nameOf(moduleId)] ?? 0);
    return files.sort((one, other) => place(one) - place(other));
  }
}

// The fleet's processes for one stack have this priority, below that of others. Where the tests kept both cores busy at a
// higher one, a round would wait for minutes: with the same, they take turns.
if (getPriority() < 10) setPriority(10);

/** Files that add kinds to those of the program: nothing else may run in their processes, before or after. */
const apart = ["test/kinds/**/*.test.ts"];
/** Needs a `pulumi` on PATH: npm run test:pulumi. */
const elsewhere = ["test/pulumi/real/**", "node_modules/**"];

const common = {
  ...patience,
  // CI has two cores. Two thirds of what the long files take is waiting, for a lease, a lock or a service, so that more
  // of them have to be under way for both to have work.
  maxWorkers: 10,
};

/**
 * What the tests import of the program is what was built of it, which Node loads by itself. Compiled by each process of
 * Vitest it would take ten times as long to load. SKIP_BUILD=1 is for work on a test: the sources, as they are now.
 */
const fromSources = process.env["SKIP_BUILD"] === "1";
/** Loads a module anew for each of the workers that it plays. */
const loadsAnew = "test/fleet/git-source.test.ts";
const built: Plugin = {
  name: "built",
  enforce: "pre",
  async resolveId(source, importer, options) {
    if (!/^[./]/.test(source) || importer === join(import.meta.dirname, loadsAnew)) return undefined;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    const [, name] =
      /^((?:reconciler|emulator|provider)\/.*)\.ts$/.exec(relative(import.meta.dirname, found?.id ?? "")) ?? [];
    return name === undefined ? undefined : { id: join(import.meta.dirname, "dist", `${name}.js`), external: true };
  },
};

export default defineConfig({
  test: {
    ...common,
    // Once, and not for each project, as it would be if they extended this.
    globalSetup: "test/support/global-setup.ts",
    sequence: { sequencer: LongestFirst },
    reporters: ["default", ...(process.env["KEEP_SECONDS"] === undefined ? [] : [keepSeconds])],
    projects: [
      // All others leave nothing behind, so that a process runs many and loads what they share once.
      {
        plugins: fromSources ? [] : [built],
        test: {
          ...common,
          // Otherwise a file that is imported here would be another than the one that its neighbours require.
          server: { deps: { external: [/\/dist\//] } },
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...apart, ...elsewhere],
          isolate: false,
          setupFiles: ["test/support/own-environment.ts"],
        },
      },
      { test: { ...common, name: "apart", include: apart } },
    ],
  },
});
