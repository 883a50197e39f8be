// Makes the files of a release of its executables: an archive for each system, and of the archives a Debian package for
// each processor, a Homebrew formula and one list of checksums.
//
//   node scripts/release-files.mjs FOLDER
//
// FOLDER holds executables that are called reconcile-linux-x64, reconcile-linux-arm64, reconcile-macos-x64 and
// reconcile-macos-arm64; what is not there is left out. Completion comes from the command that runs this, so it needs a
// build. Debian packages need dpkg-deb.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = resolve(process.argv[2] ?? "dist/executable");
const { version, description, homepage, license, repository } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const from = `${repository.url.replace(/^git\+|\.git$/g, "")}/releases/download/v${version}`;

/** Debian has packages for Linux alone, by its own names of processors. */
const platforms = [
  { platform: "linux-x64", debian: "amd64", brew: ["on_linux", "on_intel"] },
  { platform: "linux-arm64", debian: "arm64", brew: ["on_linux", "on_arm"] },
  { platform: "macos-x64", brew: ["on_macos", "on_intel"] },
  { platform: "macos-arm64", brew: ["on_macos", "on_arm"] },
];

const scratch = mkdtempSync(join(tmpdir(), "reconcile-release-"));
const tar = (...words) => execFileSync("tar", words, { stdio: ["ignore", 2, 2] });
const sha256 = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");
/** The same files give the same archive, whenever and by whomever it is made. */
const steady = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];

try {
  const completions = Object.fromEntries(
    ["bash", "zsh", "fish"].map((shell) => [
      shell,
      execFileSync(process.execPath, [join(root, "bin/reconcile.js"), "completion", shell], { encoding: "utf8" }),
    ]),
  );
  const archives = platforms
    .filter(({ platform }) => existsSync(join(folder, `reconcile-${platform}`)))
    .map((one) => ({ ...one, ...archiveOf(one.platform, completions) }));
  if (archives.length === 0) throw new Error(`${folder} holds no reconcile-SYSTEM-PROCESSOR`);
  for (const { name, archive, debian } of archives) if (debian !== undefined) debianPackage(name, archive, debian);
  writeFileSync(join(folder, "reconcile.rb"), formula(archives));
  for (const { platform } of archives) rmSync(join(folder, `reconcile-${platform}`));
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "checksums.txt")
    .map(({ name }) => name)
    .sort();
  writeFileSync(
    join(folder, "checksums.txt"),
    files.map((name) => `${sha256(join(folder, name))}  ${name}\n`).join(""),
  );
  process.stdout.write(`Wrote ${[...files, "checksums.txt"].join(", ")}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function archiveOf(platform, completions) {
  const name = `reconcile-v${version}-${platform}`;
  const inside = join(scratch, name);
  mkdirSync(join(inside, "completions"), { recursive: true });
  cpSync(join(folder, `reconcile-${platform}`), join(inside, "reconcile"));
  chmodSync(join(inside, "reconcile"), 0o755);
  for (const file of ["LICENSE", "README.md", "CHANGELOG.md"]) cpSync(join(root, file), join(inside, file));
  for (const [shell, text] of Object.entries(completions))
    writeFileSync(join(inside, "completions", `reconcile.${shell}`), text);
  const archive = join(folder, `${name}.tar.gz`);
  tar("--create", "--gzip", ...steady, "--file", archive, "--directory", scratch, name);
  return { name, archive, checksum: sha256(archive) };
}

/** Of the archive as it will be downloaded, so that both hold the same bytes. */
function debianPackage(name, archive, debian) {
  const unpacked = join(scratch, `${name}-unpacked`);
  const tree = join(scratch, `${name}-debian`);
  mkdirSync(unpacked);
  tar("--extract", "--file", archive, "--directory", unpacked);
  const put = (file, to, mode = 0o644) => {
    mkdirSync(dirname(join(tree, to)), { recursive: true });
    cpSync(join(unpacked, name, file), join(tree, to));
    chmodSync(join(tree, to), mode);
  };
  put("reconcile", "usr/bin/reconcile", 0o755);
  put("completions/reconcile.bash", "usr/share/bash-completion/completions/reconcile");
  put("completions/reconcile.zsh", "usr/share/zsh/vendor-completions/_reconcile");
  put("completions/reconcile.fish", "usr/share/fish/vendor_completions.d/reconcile.fish");
  put("LICENSE", "usr/share/doc/reconcile/copyright");
  put("CHANGELOG.md", "usr/share/doc/reconcile/CHANGELOG.md");
  mkdirSync(join(tree, "DEBIAN"));
  writeFileSync(
    join(tree, "DEBIAN/control"),
    `Package: reconcile
Version: ${version}
Architecture: ${debian}
Maintainer: reconcile-cloud <reconcile-cloud@users.noreply.github.com>
Section: admin
Priority: optional
Depends: libc6, libstdc++6
Suggests: openssh-client
Homepage: ${homepage}
Description: ${description}
 One executable file with its runtime inside.
`,
  );
  execFileSync(
    "dpkg-deb",
    ["--root-owner-group", "-Zgzip", "--build", tree, join(folder, `reconcile_${version}_${debian}.deb`)],
    { stdio: ["ignore", 2, 2], env: { ...process.env, SOURCE_DATE_EPOCH: "0" } },
  );
}

function formula(archives) {
  const systems = [...new Set(archives.map(({ brew: [system] }) => system))];
  const places = systems.map(
    (system) => `  ${system} do
${archives
  .filter(({ brew }) => brew[0] === system)
  .map(
    ({ brew: [, processor], name, checksum }) => `    ${processor} do
      url "${from}/${name}.tar.gz"
      sha256 "${checksum}"
    end
`,
  )
  .join("")}  end
`,
  );
  return `class Reconcile < Formula
  desc "${description}"
  homepage "${homepage.replace(/#.*$/, "")}"
  version "${version}"
  license "${license}"

${places.join("\n")}
  def install
    bin.install "reconcile"
    bash_completion.install "completions/reconcile.bash" => "reconcile"
    zsh_completion.install "completions/reconcile.zsh" => "_reconcile"
    fish_completion.install "completions/reconcile.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/reconcile version")
  end
end
`;
}
