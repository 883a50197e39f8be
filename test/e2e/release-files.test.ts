/**
 * What scripts/release-files.mjs makes of executables: each file of a release is installed once in a root of its own. The
 * executables are small ones that start the build, unless RELEASE_EXECUTABLE names a whole one for this machine.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { cliPath, root } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const here = `linux-${process.arch}`;
const platforms = ["linux-x64", "linux-arm64", "macos-x64", "macos-arm64"];
const hasDebian = spawnSync("dpkg-deb", ["--version"]).status === 0;
const folder = makeFolder();
const run = (program: string, words: readonly string[], cwd = folder): string =>
  execFileSync(program, words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

describe.runIf(hasDebian)("the files of a release", () => {
  beforeAll(() => {
    const whole = process.env["RELEASE_EXECUTABLE"];
    for (const platform of platforms) {
      const file = join(folder, `reconcile-${platform}`);
      if (platform === here && whole !== undefined) copyFileSync(whole, file);
      else writeFileSync(file, `#!/bin/sh\n# ${platform}\nexec ${process.execPath} ${cliPath} "$@"\n`);
      chmodSync(file, 0o755);
    }
    writeFileSync(join(folder, "reconcile-cloud.cdx.json"), "{}");
    run(process.execPath, [join(root, "scripts/release-files.mjs"), folder]);
  });

  it("are an archive for each system and processor, two Debian packages, a formula, and checksums over all", () => {
    expect(readdirSync(folder).sort()).toEqual(
      [
        ...platforms.map((platform) => `reconcile-v${version}-${platform}.tar.gz`),
        ...["amd64", "arm64"].map((processor) => `reconcile_${version}_${processor}.deb`),
        "checksums.txt",
        "reconcile-cloud.cdx.json",
        "reconcile.rb",
      ].sort(),
    );
    expect(run("sha256sum", ["--check", "--strict", "checksums.txt"]).match(/: OK$/gm)).toHaveLength(8);
    writeFileSync(join(folder, "reconcile-cloud.cdx.json"), "{ }");
    expect(() => run("sha256sum", ["--check", "--strict", "checksums.txt"])).toThrow(/1 computed checksum/);
  });

  it("the archive unpacks to a command that makes a first world, with its licence and completion", () => {
    const place = makeFolder();
    run("tar", ["--extract", "--file", join(folder, `reconcile-v${version}-${here}.tar.gz`)], place);
    const unpacked = join(place, `reconcile-v${version}-${here}`);
    expect(readdirSync(unpacked).sort()).toEqual(["CHANGELOG.md", "LICENSE", "README.md", "completions", "reconcile"]);
    expect(readFileSync(join(unpacked, "completions/reconcile.bash"), "utf8")).toContain("complete ");
    const work = makeFolder();
    run(join(unpacked, "reconcile"), ["init"], work);
    expect(run(join(unpacked, "reconcile"), ["apply", "--auto-approve", "--time-scale", "1000"], work)).toContain(
      "Done",
    );
    expect(run(join(unpacked, "reconcile"), ["plan", "--detailed-exitcode"], work)).toContain("Nothing to do");
  });

  it.each([
    ["amd64", "linux-x64"],
    ["arm64", "linux-arm64"],
  ])("the Debian package for %s is installed in a clean root, and taken away again", (processor, platform) => {
    const place = makeFolder();
    const file = join(folder, `reconcile_${version}_${processor}.deb`);
    const asRoot = process.getuid?.() === 0;
    if (asRoot) {
      mkdirSync(join(place, "var/lib/dpkg/info"), { recursive: true });
      mkdirSync(join(place, "var/lib/dpkg/updates"));
      writeFileSync(join(place, "var/lib/dpkg/status"), "");
      // A root that has nothing in it has no C library either, and may be of another processor than this machine.
      run("dpkg", [
        `--root=${place}`,
        "--force-depends",
        "--force-architecture",
        "--force-script-chrootless",
        "--install",
        file,
      ]);
    }
    // Only root may install; what is in the package is seen all the same.
    else run("dpkg-deb", ["--extract", file, place]);
    const installed = join(place, "usr/bin/reconcile");
    const unpacked = makeFolder();
    const name = `reconcile-v${version}-${platform}`;
    run("tar", ["--extract", "--file", join(folder, `${name}.tar.gz`)], unpacked);
    expect(readFileSync(installed).equals(readFileSync(join(unpacked, name, "reconcile")))).toBe(true);
    if (platform === here || process.env["RELEASE_EXECUTABLE"] === undefined)
      expect(run(installed, ["version"])).toContain(version);
    for (const completion of ["bash-completion/completions/reconcile", "zsh/vendor-completions/_reconcile"])
      expect(existsSync(join(place, "usr/share", completion))).toBe(true);
    if (!asRoot) return;
    run("dpkg", [`--root=${place}`, "--force-script-chrootless", "--purge", "reconcile"]);
    expect(existsSync(installed)).toBe(false);
  });

  it("the Homebrew formula names each archive with its checksum, and what it installs runs from a clean prefix", () => {
    const formula = readFileSync(join(folder, "reconcile.rb"), "utf8");
    const named = [...formula.matchAll(/url "([^"]+)"\n\s+sha256 "([0-9a-f]{64})"/g)];
    expect(named.map(([, url]) => url!.split("/").at(-1))).toEqual(
      ["linux-x64", "linux-arm64", "macos-x64", "macos-arm64"].map((one) => `reconcile-v${version}-${one}.tar.gz`),
    );
    for (const [, url, checksum] of named) {
      expect(url).toContain(`/releases/download/v${version}/`);
      expect(run("sha256sum", [url!.split("/").at(-1)!])).toMatch(new RegExp(`^${checksum} `));
    }
    // Homebrew unpacks an archive, goes into its one folder, and does the lines of `install` there.
    const place = makeFolder();
    run("tar", ["--extract", "--file", join(folder, `reconcile-v${version}-${here}.tar.gz`)], place);
    const inside = join(place, `reconcile-v${version}-${here}`);
    const places = {
      bin: "bin",
      bash_completion: "etc/bash_completion.d",
      zsh_completion: "share/zsh/site-functions",
      fish_completion: "share/fish/vendor_completions.d",
    };
    const lines = [...formula.matchAll(/^ {4}(\w+)\.install "([^"]+)"(?: => "([^"]+)")?$/gm)];
    expect(lines).toHaveLength(4);
    for (const [, where, file, as] of lines) {
      const to = join(place, "prefix", places[where as keyof typeof places], as ?? file!.split("/").at(-1)!);
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(join(inside, file!), to);
    }
    expect(run(join(place, "prefix/bin/reconcile"), ["version"])).toContain(version);
    const ruby = spawnSync("ruby", ["-c", join(folder, "reconcile.rb")], { encoding: "utf8" });
    if (ruby.error === undefined) expect(ruby.stdout).toContain("Syntax OK");
  });
});

it("the files of a release can be made here", () => {
  if (!hasDebian) process.stderr.write("dpkg-deb is not there: the files of a release were not tried\n");
});
