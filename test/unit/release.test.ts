import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = join(__dirname, "../..");
const workflow = readFileSync(join(root, ".github/workflows/release.yml"), "utf8");

describe("what a release holds", () => {
  it("is the plugin for every system that Pulumi has plugins for, and the script makes each of them", () => {
    const { jobs } = parse(workflow) as {
      jobs: Record<string, { strategy?: { matrix: { include: { target: string }[] } }; needs: string | string[] }>;
    };
    const targets = jobs["plugin"]?.strategy?.matrix.include.map(({ target }) => target) ?? [];
    const every = ["linux", "darwin", "windows"].flatMap((system) => [`${system}-amd64`, `${system}-arm64`]);
    expect(targets.toSorted()).toEqual(every.toSorted());
    const script = readFileSync(join(root, "scripts/plugin-archive.mjs"), "utf8");
    const permitted = new RegExp(/\/(\^\(linux.*?\$)\/\.test\(target\)/.exec(script)?.[1] ?? "none");
    for (const target of targets) expect(target).toMatch(permitted);
    expect(jobs["checksums"]?.needs).toEqual(expect.arrayContaining(["files", "plugin", "sdks"]));
  });

  it("is an executable for each system that the script makes files of, installed once before it is published", () => {
    const { jobs } = parse(workflow) as {
      jobs: Record<string, { strategy?: { matrix: { include: { name: string }[] } }; steps: { run?: string }[] }>;
    };
    const script = readFileSync(join(root, "scripts/release-files.mjs"), "utf8");
    const known = [...script.matchAll(/\{ platform: "([\w-]+)"/g)].map(([, platform]) => platform);
    expect(jobs["executable"]?.strategy?.matrix.include.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
    const installs = jobs["files"]?.steps.map(({ run }) => run ?? "").join("\n");
    for (const word of ["release-files.mjs", "dpkg --install", "brew install", "brew test"])
      expect(installs).toContain(word);
    for (const word of ["npm publish --provenance", "npm sbom", "attest-build-provenance", "linux/amd64,linux/arm64"])
      expect(workflow).toContain(word);
  });
});

describe("the workflows", () => {
  const folder = join(root, ".github/workflows");
  const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")] as const);

  it.each(files)("%s names every action by its digest, with the version beside it", (_, text) => {
    const uses = [...text.matchAll(/uses: (.*)/g)].map(([, one]) => one);
    expect(uses.filter((one) => !/^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(one ?? ""))).toEqual([]);
    expect(uses.length).toBeGreaterThan(0);
  });

  it("check a pull request with what CI runs, on every Node that a release is tested on", () => {
    const check = parse(readFileSync(join(folder, "check.yml"), "utf8"));
    expect(Object.keys(check.on)).toContain("pull_request");
    expect(check.jobs.check.steps.at(-1)).toEqual({ run: "bash .ci/run" });
    expect(check.jobs.check.strategy.matrix.node).toEqual(parse(workflow).jobs.test.strategy.matrix.node);
  });
});
