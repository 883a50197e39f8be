// The rows that have a floor as bars, and a tick where the goal is; plain SVG, readable on light and dark. A row's words
// stand above its bar and its figures in a column of their own, so that neither ever lies on the bar or on a tick.
const rowHeight = 44;
const left = 16;
const barWidth = 520;
const figures = left + barWidth + 20;
const width = figures + 180;

/** The colours are attributes, for viewers that ignore style sheets; the style sheet changes them for dark pages. */
export function chartSvg(rows) {
  const bars = rows.filter(({ ratio }) => ratio !== undefined);
  const most = Math.max(2, ...bars.map(({ ratio }) => ratio));
  const x = (ratio) => Number((left + (Math.min(ratio, most) / most) * barWidth).toFixed(1));
  const top = 56;
  const height = top + bars.length * rowHeight + 12;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13" fill="#1f2328" role="img" aria-label="Figures as multiples of their floors">`,
    "<style>@media(prefers-color-scheme:dark){.paper{fill:#0d1117}.ink{fill:#e6edf3}.q{fill:#9198a1}.one{stroke:#e6edf3}.goal{stroke:#3fb950}}</style>",
    `<rect class="paper" width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text class="ink" x="${left}" y="22" font-weight="600">As a multiple of the floor: shorter is better</text>`,
    `<text class="q" x="${left}" y="40" fill="#59636e">dashed: the floor itself · green: the goal · red: goal not met</text>`,
  ];
  for (const [index, { what, ratio, met, goal, figure }] of bars.entries()) {
    const y = top + index * rowHeight;
    const bar = y + 20;
    parts.push(
      `<text class="ink" x="${left}" y="${y + 14}">${xmlText(what.trim())}</text>`,
      `<rect x="${left}" y="${bar}" width="${(x(ratio) - left).toFixed(1)}" height="14" rx="2" fill="${met === false ? "#c4463b" : "#3b82c4"}"/>`,
      `<line class="one" x1="${x(1)}" x2="${x(1)}" y1="${bar - 3}" y2="${bar + 17}" stroke="#1f2328" stroke-dasharray="3 2"/>`,
    );
    const aim = /^≤ ([\d.]+)x$/.exec(goal)?.[1];
    if (aim !== undefined && Number(aim) <= most)
      parts.push(
        `<line class="goal" x1="${x(Number(aim))}" x2="${x(Number(aim))}" y1="${bar - 3}" y2="${bar + 17}" stroke="#1a7f37" stroke-width="3"/>`,
      );
    parts.push(
      `<text class="q" x="${figures}" y="${bar + 12}" fill="#59636e">${ratio.toFixed(2)}x, ${xmlText(figure)}</text>`,
    );
  }
  return `${parts.join("\n")}\n</svg>\n`;
}

const xmlText = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
