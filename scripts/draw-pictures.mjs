// Draws the pictures of the README from the program's real output: a terminal with a plan in colour, and the graph of
// the quickstart. Needs a build, and the `script` command as the terminal. Writes docs/pictures/.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { steady } from "./documents/steady.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const command = `"${process.execPath}" "${join(root, "bin/reconcile.js")}"`;
const columns = 88;

/**
 * Colours as attributes, for viewers that ignore style sheets; the style sheet has the second of each pair, for dark
 * pages.
 */
const colours = {
  paper: ["#ffffff", "#0d1117"],
  edge: ["#d0d7de", "#30363d"],
  ink: ["#1f2328", "#e6edf3"],
  c2: ["#656d76", "#8b949e"],
  c1: ["#1f2328", "#e6edf3"],
  c32: ["#116329", "#56d364"],
  c33: ["#7d4e00", "#e3b341"],
  c36: ["#0a5f73", "#76e3ea"],
  c31: ["#b3141f", "#ff7b72"],
};
const strong = ["c1", "c31"];

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
  // One change of each weight: nothing lost, a short outage, a consent needed, data lost.
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

/** Text with colour codes as a picture that follows the reader's light or dark setting. */
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
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }
  @media (prefers-color-scheme: dark) {
    ${Object.entries(colours)
      .map(([name, [, dark]]) => `.${name} { fill: ${dark}; }`)
      .join(" ")}
    .paper { stroke: #30363d; }
  }
</style>
<rect class="paper" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${colours.paper[0]}" stroke="#d0d7de"/>
${[22, 42, 62].map((x) => `<circle class="edge" cx="${x}" cy="18" r="6" fill="${colours.edge[0]}"/>`).join("")}
<g class="ink" fill="${colours.ink[0]}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
${rows.join("\n")}
</g>
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
    else if (piece !== "") result += hue === "" ? xml(piece) : toned(hue, xml(piece));
  }
  return result;
}

function toned(hue, text) {
  const weight = strong.includes(hue) ? ' font-weight="600"' : "";
  return `<tspan class="${hue}" fill="${(colours[hue] ?? colours.ink)[0]}"${weight}>${text}</tspan>`;
}
