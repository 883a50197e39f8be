// Runs the commands of one document the way a reader would type them, in a shell and a folder of its own, with the built
// program as `reconcile`, and answers with the document that has their real output in it.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blocksOf, commandsOf, replaceBodies } from "./blocks.mjs";
import { steady } from "./steady.mjs";

/** The port that documents show. The reader's service has it; the service started here takes any free port. */
const shownPort = "4010";

/** @returns {{ text: string, problems: string[] }} */
export function runDocument(root, name, text) {
  const blocks = blocksOf(text);
  if (!blocks.some(isRun)) return { text, problems: [] };
  const home = mkdtempSync(join(tmpdir(), "reconcile-document-"));
  const folder = join(home, "here");
  mkdirSync(folder);
  try {
    installCommands(root, join(home, "bin"));
    writeFileSync(join(home, "script.sh"), scriptOf(root, home, blocks));
    const ran = spawnSync("bash", [join(home, "script.sh")], {
      cwd: folder,
      env: environment(home),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      // As long as one test may take (test/support/patience.mts): on a busy machine a long document runs for minutes.
      timeout: Number(process.env.TEST_PATIENCE ?? 1) * 30 * 60_000,
    });
    const problems =
      ran.status === 0 ? [] : [`${name}: ${ran.stderr.trim() || `ended with ${ran.status ?? ran.signal}`}`];
    return { text: withOutputs(text, blocks, home), problems };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const isRun = ({ language, remark }) => language === "sh" && !remark.startsWith("not run");

/** The environment without the credentials of the person who runs this. */
function environment(home) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("RECONCILE_"));
  return {
    ...Object.fromEntries(kept),
    PATH: `${join(home, "bin")}:${process.env.PATH}`,
    HOME: home,
    NO_COLOR: "1",
    RECONCILE_TIME_SCALE: "200",
  };
}

function installCommands(root, bin) {
  mkdirSync(bin);
  const write = (name, lines) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  write("reconcile", `exec "${process.execPath}" "${join(root, "bin/reconcile.js")}" "$@"`);
  // Packages that a reader gets from a registry are here already.
  write("npx", 'shift_to=$1; shift; exec "$shift_to" "$@"');
  const link = (from, to) => `ln -sfn "${join(root, from)}" "node_modules/${to}"`;
  const install = ["mkdir -p node_modules", link("", "reconcile-cloud"), link("node_modules/@pulumi", "@pulumi")];
  // Compiles and links the SDK that `pulumi package add` writes, as npm does by the SDK's own script.
  const sdk = "sdks/reconcile-cloud";
  const compile = [
    `ln -sfn "${join(root, "node_modules")}" ${sdk}/node_modules`,
    `"${process.execPath}" "${join(root, "node_modules/typescript-native/bin/tsc")}" -p ${sdk} && cp ${sdk}/package.json ${sdk}/bin/`,
    `mkdir -p node_modules/@reconcile-cloud && ln -sfn ../../${sdk} node_modules/@reconcile-cloud/pulumi`,
  ];
  write(
    "npm",
    [
      `case "$1" in ci|install) ${install.join(" && ")} && if [ -d ${sdk} ]; then ${compile.join(" && ")}; fi ;;`,
      `pkg) ;; *) echo "npm $1 is not run from a document" >&2; exit 1 ;; esac`,
    ].join("\n"),
  );
}

function scriptOf(root, home, blocks) {
  const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const lines = ["trap 'kill $(jobs -p) 2>/dev/null' EXIT"];
  for (const [index, block] of blocks.entries()) {
    const { remark, body } = block;
    const file = /^file: (\S+)$/.exec(remark)?.[1];
    if (file !== undefined) {
      writeFileSync(join(home, `file-${index}`), body);
      lines.push(`mkdir -p "$(dirname ${quote(file)})" && cp ${quote(join(home, `file-${index}`))} ${quote(file)}`);
    }
    if (remark === "starter") lines.push("reconcile init > /dev/null || exit 1");
    if (remark === "examples")
      for (const name of ["examples", "schemas"])
        cpSync(join(root, name), join(home, "here", name), {
          recursive: true,
          filter: (path) => !path.includes(".reconcile"),
        });
    if (!isRun(block)) continue;
    const out = quote(join(home, `out-${index}`));
    for (const { line, exitCode } of commandsOf(body)) {
      if (line.endsWith("&")) {
        lines.push(
          `${line.slice(0, -1).replace(shownPort, "0")} >> ${out} 2>&1 &`,
          `for _ in $(seq 600); do grep -qs '^listening on .*:[0-9]*$' ${out} && break; sleep 0.1; done`,
          `sed -n 's/^listening on .*:\\([0-9]*\\)$/\\1/p' ${out} > ${quote(join(home, "port"))}`,
          `[ -s ${quote(join(home, "port"))} ] || { echo ${quote(`${line}\ndoes not listen:`)} >&2; cat ${out} >&2; exit 1; }`,
          `PORT=$(cat ${quote(join(home, "port"))})`,
        );
        continue;
      }
      lines.push(
        `{ ${line.replaceAll(shownPort, "$PORT")}\n} >> ${out} 2>&1; code=$?`,
        `[ $code -eq ${exitCode} ] || { printf '%s\\n' ${quote(`${line}\nshould end with ${exitCode}, ended with`)} $code >&2; cat ${out} >&2; exit 1; }`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}

function withOutputs(text, blocks, home) {
  const mask = steady();
  const asShown = existsSync(join(home, "port"))
    ? (output) => output.replaceAll(`:${readFileSync(join(home, "port"), "utf8").trim()}`, `:${shownPort}`)
    : (output) => output;
  const bodies = blocks.map((block, index) => {
    const before = blocks[index - 1];
    if (block.language !== "text" || before === undefined || !isRun(before) || !block.adjoins) return undefined;
    const path = join(home, `out-${index - 1}`);
    const raw = existsSync(path) ? readFileSync(path, "utf8") : "";
    return mask(asShown(raw.replaceAll(`${home}/here/`, "").replaceAll(home, "")));
  });
  return replaceBodies(text, blocks, bodies);
}
