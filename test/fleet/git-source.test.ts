/** The files of a stack from a repository: whole or not at all, whoever dies or does the same meanwhile. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type * as sources from "../../reconciler/fleet/sources/git";

/** Each has its own memory, as each worker process does. */
async function worker(): Promise<typeof sources> {
  vi.resetModules();
  return import("../../reconciler/fleet/sources/git.js");
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
    process.env["PATH"] = path;
    rmSync(folder, { recursive: true, force: true });
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
  *"worktree add"*)
    for word; do case "$word" in */trees/*) tree="$word";; esac; done
    ${real} "$@" && rm "$tree"/app/file-1*
    exit 137;;
esac
exec ${real} "$@"
`,
    );
    chmodSync(join(bin, "git"), 0o755);
    process.env["PATH"] = `${bin}:${path}`;
    await expect((await worker()).checkOutGit(source, join(folder, "cache"))).rejects.toThrow("git worktree");
    process.env["PATH"] = path;
    const { folder: found } = await (await worker()).checkOutGit(source, join(folder, "cache"));
    expect(readdirSync(found).sort()).toEqual([...files].sort());
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

  it("is looked at again after a push, however lately it was fetched", async () => {
    const { checkOutGit } = await worker();
    const cache = join(folder, "cache");
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
    await Promise.all([tidyTrees(cache), tidyBeside(cache), tidyTrees(cache)]);
    expect(readdirSync(join(cache, "trees"))).toEqual([]);
    expect(readdirSync((await checkOutGit(source, cache)).folder)).toHaveLength(files.length);
  });
});
