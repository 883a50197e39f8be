// Draws the pictures of the README from what the program really prints: a terminal with a plan in colour, and the graph
// of the quickstart. Needs a build, and the `script` command for a terminal to print on. Written to docs/pictures/.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { steady } from "./documents/steady.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const command = `"${process.execPath}" "${join(root, "bin/reconcile.js")}"`;
const columns = 88;

const folder = mkdtempSync(join(tmpdir(), "reconcile-pictures-"));
try {
  for (const name of ["examples", "schemas"]) cpSync(join(root, name), join(folder, name), { recursive: true });
  const { NO_COLOR: _, ...environment } = process.env;
  const env = { ...environment, RECONCILE_TIME_SCALE: "200", TERM: "xterm-256color" };
  const shell = (line) =>
    execFileSync("bash", ["-c", line], { cwd: join(folder, "examples/quickstart"), env, encoding: "utf8" });
  const pictures = join(root, "docs/pictures");
  mkdirSync(pictures, { recursive: true });

  const file = "reconcile.yaml";
  shell(`${command} apply --auto-approve > first.log 2>&1`);
  // One change of each weight: nothing lost, a moment's outage, a word needed, data lost.
  shell(
    `sed -i -e 's/size: 100,/size: 200,/' -e 's/flavor_id: m1.large/flavor_id: m1.xlarge/' -e '/redirects to HTTPS/a\\      - { protocol: tcp, dst_port: 8443, remote_ip: 10.0.0.0/8, description: admin }' -e 's/for_each: \\[a, b\\]/for_each: [a, c]/' ${file}`,
  );
  const printed = shell(
    `stty cols ${columns} 2>/dev/null; script -qec 'stty cols ${columns}; ${command} plan --log-level silent' /dev/null`,
  );
  const text = steady()(printed.replaceAll("\r", "")).trimEnd();
  writeFileSync(join(pictures, "plan.svg"), terminal(`$ reconcile plan\n${text}`));
  shell(`${command} graph --format svg --out graph.svg`);
  cpSync(join(folder, "examples/quickstart/graph.svg"), join(pictures, "resources.svg"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Text with colour codes as a picture that follows the reader's light or dark. */
function terminal(text) {
  const lines = text.split("\n");
  const [cell, line, margin, bar] = [8.43, 19, 18, 34];
  const width = Math.ceil(columns * cell + 2 * margin);
  const height = lines.length * line + 2 * margin + bar;
  const rows = lines.map((row, index) => {
    const y = bar + margin + (index + 0.75) * line;
    return `<text x="${margin}" y="${y}">${spans(row)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-labelledby="title">
<title id="title">A plan as the terminal shows it</title>
<style>
  svg { --paper: #ffffff; --edge: #d0d7de; --ink: #1f2328; --quiet: #656d76; --good: #116329; --change: #7d4e00; --danger: #b3141f; --note: #0a5f73; }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #0d1117; --edge: #30363d; --ink: #e6edf3; --quiet: #8b949e; --good: #56d364; --change: #e3b341; --danger: #ff7b72; --note: #76e3ea; }
  }
  rect { fill: var(--paper); stroke: var(--edge); }
  circle { fill: var(--edge); }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--ink); white-space: pre; }
  .c2 { fill: var(--quiet); } .c1 { font-weight: 600; } .c32 { fill: var(--good); } .c33 { fill: var(--change); } .c36 { fill: var(--note); } .c31 { fill: var(--danger); font-weight: 600; }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<circle cx="22" cy="18" r="6"/><circle cx="42" cy="18" r="6"/><circle cx="62" cy="18" r="6"/>
${rows.join("\n")}
</svg>
`;
}

function spans(row) {
  const xml = (piece) => piece.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(" ", "\u00a0");
  let result = "";
  let hue = "";
  for (const piece of row.split(/(\u001b\[[0-9;]*m)/)) {
    const codes = /^\u001b\[([0-9;]*)m$/.exec(piece)?.[1];
    if (codes !== undefined) hue = codes === "0" || codes === "" ? "" : `c${codes.split(";").at(-1)}`;
    else if (piece !== "") result += hue === "" ? xml(piece) : `<tspan class="${hue}">${xml(piece)}</tspan>`;
  }
  return result;
}
