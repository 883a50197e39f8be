// The rows that have a floor as bars, and a tick where the goal is; plain SVG, readable on light and dark.
const rowHeight = 26;
const left = 330;
const barWidth = 420;

export function chartSvg(rows) {
  const bars = rows.filter(({ ratio }) => ratio !== undefined);
  const most = Math.max(2, ...bars.map(({ ratio }) => ratio));
  const x = (ratio) => left + (Math.min(ratio, most) / most) * barWidth;
  const height = bars.length * rowHeight + 60;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + barWidth + 110} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="Figures as multiples of their floors">`,
    "<style>text{fill:#1f2328}.q{fill:#59636e}.bar{fill:#3b82c4}.no{fill:#c4463b}.one{stroke:#59636e;stroke-dasharray:3 3}.goal{stroke:#1a7f37;stroke-width:3}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.q{fill:#9198a1}}</style>",
    `<text x="8" y="20" font-weight="600">As a multiple of the floor</text><text x="${left}" y="20" class="q">dashed: the floor itself; green: the goal</text>`,
    `<line class="one" x1="${x(1)}" x2="${x(1)}" y1="30" y2="${height - 24}"/>`,
  ];
  for (const [index, { what, ratio, met, goal, figure }] of bars.entries()) {
    const y = 34 + index * rowHeight;
    parts.push(`<text x="8" y="${y + 15}">${xmlText(what.trim())}</text>`);
    parts.push(
      `<rect class="${met === false ? "no" : "bar"}" x="${left}" y="${y + 3}" width="${(x(ratio) - left).toFixed(1)}" height="${rowHeight - 9}" rx="2"/>`,
    );
    const aim = /^≤ ([\d.]+)x$/.exec(goal)?.[1];
    if (aim !== undefined && Number(aim) <= most)
      parts.push(
        `<line class="goal" x1="${x(Number(aim))}" x2="${x(Number(aim))}" y1="${y}" y2="${y + rowHeight - 3}"/>`,
      );
    parts.push(
      `<text class="q" x="${(x(ratio) + 6).toFixed(1)}" y="${y + 15}">${ratio.toFixed(2)}x, ${xmlText(figure)}</text>`,
    );
  }
  return `${parts.join("\n")}\n</svg>\n`;
}

const xmlText = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
