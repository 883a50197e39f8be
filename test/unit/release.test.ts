import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { packageSchema } from "../../provider/plugin/schema";

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

  it("is an SDK for each language that has a registry, packed by one script, of the one version", () => {
    const { jobs } = parse(workflow) as { jobs: Record<string, { steps: { run?: string; uses?: string }[] }> };
    const steps = (jobs["sdks"]?.steps ?? []).map(({ run, uses }) => run ?? uses ?? "").join("\n");
    expect(steps).toContain("node scripts/sdk-archives.mjs");
    for (const to of ["npm publish", "twine upload", "nuget push", 'git tag "sdk/go/']) expect(steps).toContain(to);
    const { language, version } = packageSchema() as { language: Record<string, object>; version: string };
    expect(version).toBe((JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version);
    for (const one of ["nodejs", "python", "go", "csharp"])
      expect(language[one]).toMatchObject({ respectSchemaVersion: true });
  });

  it("holds zip archives that another program can read", () => {
    const folder = mkdtempSync(join(tmpdir(), "reconcile-zip-"));
    const script = `import("${pathToFileURL(join(root, "scripts/zip.mjs")).href}").then(({ zipOf }) =>
      require("node:fs").writeFileSync("a.zip", zipOf([["x@v1/a.txt", Buffer.from("hello")], ["x@v1/b/é.txt", Buffer.from("")]])))`;
    try {
      execFileSync(process.execPath, ["--eval", script], { cwd: folder });
      const bytes = readFileSync(join(folder, "a.zip"));
      expect(namesIn(bytes)).toEqual(["x@v1/a.txt", "x@v1/b/é.txt"]);
      expect(bytes.includes(Buffer.from("hello"))).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
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

/** By the directory at the end, as a reader finds them. */
function namesIn(bytes: Buffer): string[] {
  const end = bytes.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  let at = bytes.readUInt32LE(end + 16);
  return Array.from({ length: bytes.readUInt16LE(end + 10) }, () => {
    expect(bytes.subarray(at, at + 4).toString("latin1")).toBe("PK\x01\x02");
    const length = bytes.readUInt16LE(at + 28);
    const name = bytes.subarray(at + 46, at + 46 + length).toString("utf8");
    // Its file begins where the directory says.
    expect(
      bytes
        .subarray(bytes.readUInt32LE(at + 42))
        .subarray(30, 30 + length)
        .toString("utf8"),
    ).toBe(name);
    at += 46 + length;
    return name;
  });
}
