// Rows of the report: a figure, its floor, how they compare, what is aimed for, and whether that is met.
const round = (value, digits = 2) => (value === undefined ? undefined : Number(value.toFixed(digits)));
const seconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`);
const spreadText = ({ min, max }) => `${seconds(min)} to ${seconds(max)}`;

/** A time, compared with its floor as a multiple. */
export const limit = (what, figure, floor, floorName, most) => ({
  what,
  figure: seconds(figure.ms),
  spread: spreadText(figure),
  floor: `${seconds(floor.ms)} (${floorName})`,
  ratio: round(figure.ms / floor.ms),
  goal: most === undefined ? "" : `≤ ${most}x`,
  met: most === undefined ? undefined : figure.ms / floor.ms <= most,
});

/**
 * A number; `most` or `least` is what is aimed for, `ratio` how it compares with its floor.
 *
 * @param {string} what
 * @param {number} value
 * @param {string} unit
 * @param {{ most?: number, least?: number, floor?: string, spread?: string, ratio?: number }} [more]
 */
export const number = (what, value, unit, { most, least, floor = "", spread = "", ratio } = {}) => ({
  what,
  figure: `${round(value)}${unit === "" ? "" : ` ${unit}`}`,
  spread,
  floor,
  ratio: round(ratio),
  goal:
    most !== undefined
      ? `≤ ${most}${unit === "" ? "" : ` ${unit}`}`
      : least !== undefined
        ? `≥ ${least}${unit === "" ? "" : ` ${unit}`}`
        : "",
  met: most !== undefined ? value <= most : least !== undefined ? value >= least : undefined,
});

export const remark = (what, figure) => ({
  what,
  figure,
  spread: "",
  floor: "",
  ratio: undefined,
  goal: "",
  met: undefined,
});

const columns = ["what", "figure", "min to max", "floor", "ratio", "goal", "met"];
const cells = ({ what, figure, spread, floor, ratio, goal, met }) => [
  what,
  figure,
  spread,
  floor,
  ratio === undefined ? "" : `${ratio.toFixed(2)}x`,
  goal,
  met === undefined ? "" : met ? "yes" : "NO",
];

export function tableText(rows) {
  const lines = [columns, ...rows.map(cells)];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
