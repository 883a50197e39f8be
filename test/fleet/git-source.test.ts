/** The files of a stack from a repository: whole or not at all, whoever dies or does the same meanwhile. */
import { execFileSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { allStacks } from "../../reconciler/fleet/generate";
import { checkOutArtifact } from "../../reconciler/fleet/sources/artifact";
import type * as sources from "../../reconciler/fleet/sources/git";
import { eventually } from "../support/eventually";
import { stackSpec } from "../support/fleet-stage";

/** Each has its own memory, as each worker process does. */
async function worker(): Promise<typeof sources> {
  vi.resetModules();
  return import("../../reconciler/fleet/sources/git.js");
}

/** By the clock that nobody sets. */
function passAnHour(): void {
  const before = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => before() + 3_600_000);
}

describe("a repository that several workers of a machine read", () => {
  const files = Array.from({ length: 60 }, (_, index) => `file-${index}.yaml`);
  let folder: string;
  let source: { url: string; ref: string; path: string };
  const path = process.env["PATH"];

  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...words], {
      cwd: source.url,
      encoding: "utf8",
    }).trim();
  function commit(text: string): string {
    for (const file of files) writeFileSync(join(source.url, "app", file), text);
    git("add", "--all");
    git("commit", "--quiet", "--message", "x");
    return git("rev-parse", "HEAD");
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "git-source-"));
    source = { url: join(folder, "repository"), ref: "main", path: "app" };
    mkdirSync(join(source.url, "app"), { recursive: true });
    git("init", "--quiet", "--initial-branch", "main");
    commit("one");
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    process.env["PATH"] = path;
    rmSync(folder, { recursive: true, force: true });
  });

  it("is read although git-lfs is installed, which finds no remote in a mirror", async () => {
    // As git-lfs does: what is large is asked for, unless it is told to leave it.
    const smudge = 'if [ "$GIT_LFS_SKIP_SMUDGE" = 1 ]; then cat; else exit 2; fi';
    const settings = { "filter.lfs.smudge": smudge, "filter.lfs.required": "true" };
    for (const [index, [name, value]] of Object.entries(settings).entries()) {
      vi.stubEnv(`GIT_CONFIG_KEY_${index}`, name);
      vi.stubEnv(`GIT_CONFIG_VALUE_${index}`, value);
    }
    writeFileSync(join(source.url, ".gitattributes"), "*.png filter=lfs\n");
    writeFileSync(join(source.url, "app", "large.png"), "version https://git-lfs.github.com/spec/v1\n");
    commit("two");
    vi.stubEnv("GIT_CONFIG_COUNT", "2");
    const { folder: at } = await (await worker()).checkOutGit(source, join(folder, "cache"));
    expect(readFileSync(join(at, "large.png"), "utf8")).toContain("git-lfs");
  });

  it("is read at the commit that is meant, also where a branch has the commit's name", async () => {
    const meant = git("rev-parse", "HEAD");
    const other = commit("two");
    const names = [meant, meant.toUpperCase()];
    for (const name of names) git("update-ref", `refs/heads/${name}`, other);
    const { checkOutGit } = await worker();
    // The mirror is made for the first one, and has each of the others.
    for (const ref of [...names, ...names]) {
      const { folder: at, revision } = await checkOutGit({ ...source, ref }, join(folder, "cache"));
      expect(revision).toBe(meant);
      expect(readFileSync(join(at, "file-1.yaml"), "utf8")).toBe("one");
    }
  });

  it("is not read from a tree that a worker died over", async () => {
    // A git that dies with half of the tree written.
    const bin = join(folder, "bin");
    mkdirSync(bin);
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    writeFileSync(
      join(bin, "git"),
      `#!/bin/sh
case "$*" in
  *checkout-index*)
    for word; do case "$word" in --work-tree=*) tree="\${word#--work-tree=}";; esac; done
    ${real} "$@" && rm "$tree"/app/file-1*
    exit 137;;
esac
exec ${real} "$@"
`,
    );
    chmodSync(join(bin, "git"), 0o755);
    process.env["PATH"] = `${bin}:${path}`;
    await expect((await worker()).checkOutGit(source, join(folder, "cache"))).rejects.toThrow("git checkout-index");
    process.env["PATH"] = path;
    const { folder: found } = await (await worker()).checkOutGit(source, join(folder, "cache"));
    expect(readdirSync(found).sort()).toEqual([...files].sort());
  });

  const spoiled: Readonly<Record<string, (mirror: string) => void>> = {
    "half of a work tree of an earlier version": (mirror) => {
      mkdirSync(join(mirror, "worktrees/dead"), { recursive: true });
      writeFileSync(join(mirror, "worktrees/dead/HEAD"), `${"0".repeat(40)}\n`);
      writeFileSync(join(mirror, "worktrees/dead/commondir"), "../..\n");
      writeFileSync(join(mirror, "worktrees/dead/gitdir"), "/nowhere/.git\n");
    },
    "the lock of a reference": (mirror) => writeFileSync(join(mirror, "refs/heads/main.lock"), ""),
    "half of a reference": (mirror) => writeFileSync(join(mirror, "refs/heads/main"), "0123"),
    "no configuration": (mirror) => writeFileSync(join(mirror, "config"), "["),
    "no objects": (mirror) => rmSync(join(mirror, "objects"), { recursive: true }),
  };
  it.each(Object.keys(spoiled))("is made anew when a worker that died left %s", async (what) => {
    const cache = join(folder, "cache");
    await (await worker()).checkOutGit(source, cache);
    const newest = commit("after");
    const mirrors = join(cache, "mirrors");
    const [name = ""] = readdirSync(mirrors).filter((each) => /^[0-9a-f]{16}$/.test(each));
    spoiled[what]?.(join(mirrors, name));
    const found = await (await worker()).checkOutGit(source, cache);
    expect(found.revision).toBe(newest);
    expect(readFileSync(join(found.folder, "file-1.yaml"), "utf8")).toBe("after");
    expect(readdirSync(mirrors)).toEqual([name]);
  });

  it("is fetched although a worker that had the turn died", async () => {
    const cache = join(folder, "cache");
    const { checkOutGit } = await worker();
    await checkOutGit(source, cache);
    const [name = ""] = readdirSync(join(cache, "mirrors"));
    writeFileSync(join(cache, "mirrors", `${name}.turn`), "");
    const newest = commit("after");
    expect((await checkOutGit(source, cache, { now: true })).revision).toBe(newest);
  });

  it("is given up when it is silent, together with what git started", async () => {
    const silent = createServer(() => undefined);
    const sockets = new Set<Socket>();
    silent.on("connection", (socket) => sockets.add(socket.resume()));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { runGit } = await import("../../reconciler/fleet/sources/run-git.js");
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/x`;
    try {
      await expect(runGit(["ls-remote", "--", url], { cwd: folder, silentMs: 1000 })).rejects.toThrow(
        "git ls-remote: no answer for 1 s",
      );
      // The helper that holds the connection has ended as well.
      await eventually("closed connections", () => [...sockets].every(({ destroyed }) => destroyed) || undefined);
      const stop = new AbortController();
      const { fetchCommit } = await worker();
      const asked = fetchCommit({ url, ref: "main" }, join(folder, "cache"), { signal: stop.signal });
      setTimeout(() => stop.abort(), 300);
      await expect(asked).rejects.toThrow("it was stopped");
    } finally {
      silent.close();
    }
  });

  it("says of a folder in a submodule that its files are in another repository", async () => {
    git("update-index", "--add", "--cacheinfo", `160000,${git("rev-parse", "HEAD")},parts/sub`);
    git("commit", "--quiet", "--message", "sub");
    const { checkOutGit } = await worker();
    for (const path of ["parts/sub", "parts/sub/shop"])
      await expect(checkOutGit({ ...source, path }, join(folder, "cache"))).rejects.toThrow(
        /: parts\/sub is a submodule/,
      );
    await expect(checkOutGit({ ...source, path: "none" }, join(folder, "cache"))).rejects.toThrow(
      /none at main \(\w+\)$/,
    );
  });

  it("is no program: addresses that start one are refused by git", async () => {
    const { fetchCommit } = await worker();
    for (const url of [`ext::sh -c "touch ${folder}/ran"`, "fd::17", "--upload-pack=touch ran"])
      await expect(fetchCommit({ url, ref: "main" }, join(folder, "cache"))).rejects.toThrow("git fetch: ");
    expect(readdirSync(folder)).not.toContain("ran");
  });

  it("is whole for each of them when all ask at once", async () => {
    const workers = await Promise.all([1, 2, 3].map(worker));
    for (const text of ["two", "three", "four"]) {
      const newest = commit(text);
      const found = await Promise.all(
        workers.map(({ checkOutGit }) => checkOutGit(source, join(folder, "cache"), { now: true })),
      );
      for (const { revision, folder: app } of found) {
        expect(revision).toBe(newest);
        expect(readdirSync(app).sort()).toEqual([...files].sort());
        for (const file of files) expect(readFileSync(join(app, file), "utf8")).toBe(text);
      }
    }
  });

  it("tells when files outside of a stack's folder, which it reads, are others", async () => {
    const { checkOutGit } = await worker();
    const { contentAt } = await import("../../reconciler/fleet/sources/merge.js");
    const cache = join(folder, "cache");
    const { signal } = new AbortController();
    const contents = async (...texts: readonly string[]) => {
      const found: (string | undefined)[] = [];
      for (const text of texts) {
        writeFileSync(join(source.url, ":beside*.yaml"), text);
        writeFileSync(join(source.url, "nobodys.yaml"), randomUUID());
        const seen = commit("one");
        await checkOutGit(source, cache, { seen });
        found.push(await contentAt(source, cache, seen, { files: [":beside*.yaml", "gone.yaml"], signal }));
      }
      return found;
    };
    const [one, same, other] = await contents("one", "one", "other");
    expect(one).toEqual(expect.any(String));
    expect([same === one, other === one]).toEqual([true, false]);
    expect(
      await contentAt({ ...source, path: "none" }, cache, git("rev-parse", "HEAD"), { files: [], signal }),
    ).toBeUndefined();
  });

  it.each([
    ["", "*/file-1.yaml", "app"],
    ["", "root.yaml", "repository"],
    ["app", "file-1.yaml", "app"],
  ])("generates in %j of %s a stack that each commit calls %s", async (inside, folders, name) => {
    const template = stackSpec("x", { state: "s-${stack}" });
    const generator = {
      source: { kind: "git", ...source, path: inside },
      folders,
      stack: "${folder}",
      template,
    } as const;
    for (const text of ["one", "two"]) {
      writeFileSync(join(source.url, "root.yaml"), text);
      commit(text);
      const made = await allStacks({ stacks: [], generators: [generator] }, join(folder, "cache"), { now: true });
      expect(made.map((one) => one.name)).toEqual([name]);
    }
  });

  it("is looked at again after a push, however lately it was fetched", async () => {
    const { checkOutGit } = await worker();
    const cache = join(folder, "cache");
    // Each look at the clock is a millisecond later, so that "lately" holds however slow the machine is.
    let steadyMs = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => ++steadyMs);
    const before = await checkOutGit(source, cache);
    const pushed = commit("pushed");
    expect((await checkOutGit(source, cache)).revision).toBe(before.revision);
    expect((await checkOutGit(source, cache, { seen: pushed })).revision).toBe(pushed);
    // Who has that commit asks nobody: the repository could be away.
    rmSync(source.url, { recursive: true });
    expect((await (await worker()).checkOutGit(source, cache, { seen: pushed })).revision).toBe(pushed);
  });

  it("gives up trees that nobody used for a day, from their name on", async () => {
    const { checkOutGit, tidyTrees } = await worker();
    const cache = join(folder, "cache");
    const { root } = await checkOutGit(source, cache);
    const longAgo = new Date(Date.now() - 2 * 86_400_000);
    utimesSync(root, longAgo, longAgo);
    const { tidyTrees: tidyBeside } = await worker();
    const tidy = () => Promise.all([tidyTrees(cache), tidyBeside(cache), tidyTrees(cache)]);
    // A clock that was set forward makes everything old at once: a tree that is in use is not taken away from its round.
    await tidy();
    expect(readdirSync(join(cache, "trees"))).toHaveLength(1);
    passAnHour();
    await tidy();
    expect(readdirSync(join(cache, "trees"))).toEqual([]);
    expect(readdirSync((await checkOutGit(source, cache)).folder)).toHaveLength(files.length);
  });

  it("names no user of an artifact's address, who may be a token", async () => {
    const artifact = { url: "https://canary@127.0.0.1/a.tgz", digest: `sha256:${"0".repeat(64)}`, path: "" };
    const failed = await checkOutArtifact(artifact, join(folder, "cache")).catch((error: Error) => error.message);
    expect(failed).toMatch(/^the artifact https:\/\/\*\*\*@127\.0\.0\.1\/a\.tgz cannot be fetched/);
    expect(failed).not.toContain("canary");
  });

  it("says of an artifact which folder it does not have", async () => {
    const [cache, hex] = [join(folder, "cache"), "0".repeat(64)];
    mkdirSync(join(cache, "artifacts", hex, "app"), { recursive: true });
    const artifact = { url: "https://127.0.0.1/a.tgz", digest: `sha256:${hex}` };
    const root = join(cache, "artifacts", hex);
    expect(await checkOutArtifact({ ...artifact, path: "app" }, cache)).toMatchObject({ folder: join(root, "app") });
    expect(await checkOutArtifact({ ...artifact, path: "" }, cache)).toMatchObject({ folder: root });
    await expect(checkOutArtifact({ ...artifact, path: "nope" }, cache)).rejects.toThrow(
      "the artifact https://127.0.0.1/a.tgz has no folder nope",
    );
  });

  it("gives up artifacts in the same way, and what a worker left that died while it unpacked one", async () => {
    const { tidyTrees } = await worker();
    const cache = join(folder, "cache");
    const [used, unused] = ["a".repeat(64), "b".repeat(64)];
    const longAgo = new Date(Date.now() - 2 * 86_400_000);
    for (const name of [used, unused, `.${unused}-left`]) {
      mkdirSync(join(cache, "artifacts", name), { recursive: true });
      utimesSync(join(cache, "artifacts", name), longAgo, longAgo);
    }
    await checkOutArtifact({ url: "http://127.0.0.1:9/a.tgz", digest: `sha256:${used}`, path: "" }, cache);
    await tidyTrees(cache);
    passAnHour();
    await tidyTrees(cache);
    expect(readdirSync(join(cache, "artifacts"))).toEqual([used]);
  });

  it("gives up nothing that no worker has made, where the cache is in a folder of somebody's own", async () => {
    const { tidyTrees } = await worker();
    const own = ["trees/oaks", "artifacts/release-1", "mirrors/of-packages"].map((name) => join(folder, name));
    const longAgo = new Date(Date.now() - 2 * 86_400_000);
    for (const path of own) {
      mkdirSync(path, { recursive: true });
      utimesSync(path, longAgo, longAgo);
    }
    await tidyTrees(folder);
    passAnHour();
    await tidyTrees(folder);
    expect(own.filter((path) => !existsSync(path))).toEqual([]);
  });

  it.skipIf(process.platform !== "linux")("keeps nothing of an artifact that cannot be written", async () => {
    // The folder that is unpacked into is named as long as a path may be, so that the archive cannot be beside it.
    const long = 4089 - `/artifacts/.${"a".repeat(64)}-${randomUUID()}`.length;
    let cache = folder;
    while (cache.length < long) cache = join(cache, "c".repeat(Math.min(200, Math.max(1, long - cache.length - 1))));
    const digest = `sha256:${createHash("sha256").update("x").digest("hex")}`;
    await expect(checkOutArtifact({ url: "data:,x", digest, path: "" }, cache)).rejects.toThrow("ENAMETOOLONG");
    expect(readdirSync(join(cache, "artifacts"))).toEqual([]);
  });
});
