/**
 * A graph as one SVG file that needs no other: its own styles for light and dark, texts wrapped into boxes that are
 * made to fit them, a title and a description for readers who do not see the picture. layout.ts places the nodes.
 */

import { itemAt, mustGet } from "../../core/text/invariant";
import { addAll, appendTo } from "../../core/text/objects";
import { displayColumns, wrapText } from "../style";
import { byComponent, type Graph, type GraphEdge, type GraphNode, tones } from "./graph";
import { type Layout, layOut, type Point } from "./layout";

const column = 7.3;
const lineHeight = 17;
const paddingX = 14;
const paddingY = 10;
const margin = 24;
/** The longest name of the service (50 characters) fits on a line after the word before it. */
const widestText = 60;
const labelColumn = 6.8;
const widestLabel = 320;

interface Box extends GraphNode {
  readonly text: readonly { readonly words: string; readonly strong: boolean }[];
  readonly width: number;
  readonly height: number;
}

export function graphSvg(graph: Graph): string {
  const boxes = graph.nodes.map(boxOf);
  let labelColumns = 0;
  for (const { label } of graph.edges) labelColumns = Math.max(labelColumns, displayColumns(label ?? ""));
  const gapX = Math.min(widestLabel, Math.max(64, labelColumns * labelColumn + 36));
  const layout = layOutInside(boxes, graph.edges, gapX, 0);
  const both = new Set(graph.edges.map((edge) => `${edge.to}\n${edge.from}`));
  const boxById = new Map(boxes.map((box) => [box.id, box]));
  const place = (point: Point): Point => ({ x: roundTenth(point.x + margin), y: roundTenth(point.y + margin) });
  const legend = graph.edges.some((edge) => edge.conditional === true) ? 24 : 0;
  const width = Math.ceil(layout.width + 2 * margin);
  const height = Math.ceil(layout.height + 2 * margin + legend);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escapeXml(graph.title)}</title>`,
    `<desc id="desc">${escapeXml(graph.description)}</desc>`,
    `<style>${styles}${layout.frames.length === 0 ? "" : ".frame{fill:none;stroke:#8c959f;stroke-dasharray:2 3}"}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0.5 L7.5 4 L0 7.5 Z"/></marker></defs>',
    `<rect class="paper" width="${width}" height="${height}"/>`,
  ];
  for (const frame of layout.frames) lines.push(...frameLines(frame, place(frame)));
  const taken = areas();
  for (const box of boxes)
    taken.add({ ...place(mustGet(layout.places, box.id)), width: box.width, height: box.height });
  const labels: string[] = [];
  graph.edges.forEach((edge, index) => {
    const from = boxById.get(edge.from);
    const to = boxById.get(edge.to);
    if (from === undefined || to === undefined) return;
    const points = wayOf(edge, from, to, layout, index, both.has(`${edge.from}\n${edge.to}`)).map(place);
    lines.push(
      `<path class="edge${edge.conditional === true ? " maybe" : ""}" d="${curve(points)}" marker-end="url(#tip)"/>`,
    );
    if (edge.label !== undefined) labels.push(labelAt(edge.label, points, taken));
  });
  for (const box of boxes) lines.push(...boxLines(box, place(mustGet(layout.places, box.id))));
  addAll(lines, labels);
  if (legend > 0)
    lines.push(
      `<text class="quiet" x="${margin}" y="${height - margin + 6}">dashed: only if the step it comes from fails</text>`,
    );
  lines.push("</svg>");
  return `${lines.join("\n")}\n`;
}

/** The box around a component. */
interface DrawnFrame extends Point {
  readonly name: string;
  readonly width: number;
  readonly height: number;
}

const framePadding = 16;
const frameHead = 22;
/** Unconnected parts of a component are set side by side up to this width, then below each other. */
const framedWidth = 480;

/**
 * Each component is laid out by itself and then placed among its neighbours as one box. Edges into a component run
 * straight; edges between neighbours are laid out as usual.
 */
function layOutInside(
  boxes: readonly Box[],
  edges: readonly GraphEdge[],
  gapX: number,
  depth: number,
): Layout & { readonly frames: readonly DrawnFrame[] } {
  const components = [...byComponent(boxes, depth)].map(([name, its]) => {
    const ids = new Set(its.map(({ id }) => id));
    const own = edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
    return { name, its, own, inner: layOutInside(its, own, gapX, depth + 1) };
  });
  const preferredWidth = depth === 0 ? undefined : framedWidth;
  const options = { gapX, preferredWidth };
  if (components.length === 0) return { ...layOut(boxes, edges, options), frames: [] };
  const placeOf = new Map(boxes.map(({ id }) => [id, id]));
  for (const { name, its } of components) for (const { id } of its) placeOf.set(id, `component:${name}`);
  const nodes = [
    ...boxes.filter(({ within = [] }) => within.length === depth),
    ...components.map(({ name, inner }) => ({
      id: `component:${name}`,
      width: Math.max(inner.width + 2 * framePadding, displayColumns(name) * column + 2 * framePadding),
      height: inner.height + 2 * framePadding + frameHead,
    })),
  ];
  const nodeById = new Map(nodes.map((node) => [node.id, node]));
  const outer = edges.map(({ from, to }) => ({ from: placeOf.get(from) ?? from, to: placeOf.get(to) ?? to }));
  const around = layOut(nodes, outer, options);
  const places = new Map(around.places);
  const frames: DrawnFrame[] = [];
  const bends = edges.map((edge, index) => (placeOf.get(edge.from) === edge.from ? (around.bends[index] ?? []) : []));
  for (const { name, own, inner } of components) {
    const corner = mustGet(around.places, `component:${name}`);
    const moved = ({ x, y }: Point): Point => ({
      x: x + corner.x + framePadding,
      y: y + corner.y + framePadding + frameHead,
    });
    for (const [id, point] of inner.places) places.set(id, moved(point));
    own.forEach((edge, index) => {
      bends[edges.indexOf(edge)] = (inner.bends[index] ?? []).map(moved);
    });
    const { width, height } = mustGet(nodeById, `component:${name}`);
    frames.push({ name, ...corner, width, height }, ...inner.frames.map((frame) => ({ ...frame, ...moved(frame) })));
  }
  return { width: around.width, height: around.height, places, bends, frames };
}

const frameLines = ({ name, width, height }: DrawnFrame, { x, y }: Point): string[] => [
  `<rect class="frame" x="${x}" y="${y}" width="${roundTenth(width)}" height="${roundTenth(height)}" rx="10"/>`,
  `<text class="quiet" x="${roundTenth(x + framePadding)}" y="${roundTenth(y + frameHead)}">${escapeXml(name)}</text>`,
];

function boxOf(node: GraphNode): Box {
  const head = [tones[node.tone].sign ?? "", node.head].filter((part) => part !== "").join(" ");
  const text = [
    ...(head === "" ? [] : breakWords(head).map((words) => ({ words, strong: true }))),
    ...node.lines.flatMap((line) => breakWords(line).map((words) => ({ words, strong: false }))),
  ];
  let columns = 0;
  for (const { words } of text) columns = Math.max(columns, displayColumns(words));
  return {
    ...node,
    text,
    width: roundTenth(columns * column + 2 * paddingX),
    height: text.length * lineHeight + 2 * paddingY,
  };
}

/** A word that is wider than its box is broken, behind a sign where it has one. */
const breakWords = (text: string): string[] => wrapText(text, widestText).flatMap(breakWord);

function breakWord(line: string): string[] {
  const pieces: string[] = [];
  let rest = [...line];
  while (rest.length > widestText) {
    const sign = rest.slice(0, widestText).findLastIndex((character) => "-/._:, ".includes(character));
    const at = sign < widestText / 3 ? widestText : sign + 1;
    pieces.push(rest.slice(0, at).join(""));
    rest = rest.slice(at);
  }
  return [...pieces, rest.join("")];
}

function boxLines(box: Box, { x, y }: Point): string[] {
  const lines = [
    `<g class="${box.tone}"><title>${escapeXml([box.head, ...box.lines].filter((part) => part !== "").join(": "))}</title>`,
    `<rect class="box" x="${x}" y="${y}" width="${box.width}" height="${box.height}" rx="7"/>`,
    `<rect class="edge-mark" x="${x}" y="${roundTenth(y + 7)}" width="4" height="${roundTenth(box.height - 14)}" rx="2"/>`,
  ];
  for (const [index, { words, strong }] of box.text.entries())
    lines.push(
      `<text class="${strong ? "strong" : "plain-text"}" x="${roundTenth(x + paddingX)}" y="${roundTenth(y + paddingY + index * lineHeight + 12.5)}">${escapeXml(words)}</text>`,
    );
  return [...lines, "</g>"];
}

/** From the right side of one box to the left side of the other; an edge back, or to its own box, runs around. */
function wayOf(
  edge: GraphEdge,
  from: Box,
  to: Box,
  layout: ReturnType<typeof layOut>,
  index: number,
  paired: boolean,
): Point[] {
  const start = mustGet(layout.places, edge.from);
  const end = mustGet(layout.places, edge.to);
  const middle = (place: Point, box: Box): number => place.y + box.height / 2;
  if (edge.from === edge.to)
    return [
      { x: start.x + from.width, y: middle(start, from) - 8 },
      { x: start.x + from.width + 22, y: middle(start, from) - 8 },
      { x: start.x + from.width + 22, y: middle(start, from) + 8 },
      { x: start.x + from.width, y: middle(start, from) + 8 },
    ];
  const back = end.x < start.x;
  // Where two boxes have arrows both ways, the two arrows run beside each other.
  const aside = paired ? (back ? 9 : -9) : 0;
  return [
    { x: back ? start.x : start.x + from.width, y: middle(start, from) + aside },
    ...itemAt(layout.bends, index),
    { x: back ? end.x + to.width : end.x, y: middle(end, to) + aside },
  ];
}

function curve(points: readonly Point[]): string {
  let last = itemAt(points, 0);
  let path = `M${last.x} ${last.y}`;
  for (const point of points.slice(1)) {
    const half = roundTenth((last.x + point.x) / 2);
    path +=
      last.x === point.x ? ` L${point.x} ${point.y}` : ` C${half} ${last.y} ${half} ${point.y} ${point.x} ${point.y}`;
    last = point;
  }
  return path;
}

interface DrawnArea extends Point {
  readonly width: number;
  readonly height: number;
}

type Areas = ReturnType<typeof areas>;

/** The areas that are taken, found by the squares of the sheet that they touch. */
function areas() {
  const square = 128;
  const bySquare = new Map<string, DrawnArea[]>();
  const squaresOf = ({ x, y, width, height }: DrawnArea): string[] => {
    const squares: string[] = [];
    for (let column = Math.floor(x / square); column * square < x + width; column++)
      for (let row = Math.floor(y / square); row * square < y + height; row++) squares.push(`${column} ${row}`);
    return squares;
  };
  const meet = (a: DrawnArea, b: DrawnArea): boolean =>
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  return {
    add(area: DrawnArea): void {
      for (const name of squaresOf(area)) appendTo(bySquare, name, area);
    },
    isFree: (area: DrawnArea): boolean =>
      squaresOf(area).every((name) => !bySquare.get(name)?.some((other) => meet(area, other))),
  };
}

/** How far along a piece of its edge a label may stand, the best place first. */
const alongPiece = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9];

/**
 * The label stands in the middle of its edge; where a box or another label is in the way, elsewhere along the edge,
 * above the line or below it.
 */
function labelAt(label: string, points: readonly Point[], taken: Areas): string {
  const width = displayColumns(label) * labelColumn;
  const areaAt = ({ x, y }: Point): DrawnArea => ({ x: x - width / 2, y: y - 11, width, height: 14 });
  const candidates = [...placesOnEdge(points, width)];
  const at = candidates.find((one) => taken.isFree(areaAt(one))) ?? itemAt(candidates, 0);
  taken.add(areaAt(at));
  return `<text class="label" x="${roundTenth(at.x)}" y="${roundTenth(at.y)}" text-anchor="middle">${escapeXml(label)}</text>`;
}

function* placesOnEdge(points: readonly Point[], width: number): Iterable<Point> {
  const middle = Math.floor((points.length - 1) / 2);
  const pieces = points.slice(1).map((to, index) => ({ from: itemAt(points, index), to }));
  const byDistance = pieces
    .map((piece, index) => ({ piece, far: Math.abs(index - middle) }))
    .sort((a, b) => a.far - b.far);
  for (const { piece } of byDistance) {
    const { from, to } = piece;
    // An edge to its own box has no room above its line, so the label stands beside it.
    if (from.x === to.x) yield { x: from.x + 6 + width / 2, y: (from.y + to.y) / 2 + 4 };
    const sides = to.x < from.x ? [15, -5] : [-5, 15];
    for (const t of alongPiece)
      for (const side of sides) {
        // The curve leaves and arrives level, so both of its middle points are at the middle x.
        const bend = t * t * (3 - 2 * t);
        const across = 1.5 * t * (1 - t) + t * t * t;
        yield { x: from.x + (to.x - from.x) * across, y: from.y + (to.y - from.y) * bend + side };
      }
  }
}

const roundTenth = (value: number): number => Math.round(value * 10) / 10;

const escapeXml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`).replace(/[\ud800-\udfff]/gu, "\ufffd");

const toneStyles = (theme: "colour" | "onDark"): string =>
  Object.entries(tones)
    .map(([tone, row]) => `.${tone} .edge-mark{fill:${row[theme]}}.${tone} .box{stroke:${row[theme]}}`)
    .join("");

const styles = [
  "text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}",
  ".strong{font-weight:bold}.quiet,.label{fill:#59636e;font-size:11px}",
  ".label{paint-order:stroke;stroke:#ffffff;stroke-width:4px}",
  ".paper{fill:#ffffff}.box{fill:#f6f8fa;stroke-width:1.2}.wait .box{stroke-dasharray:4 3}",
  ".edge{fill:none;stroke:#8c959f;stroke-width:1.3}.maybe{stroke-dasharray:5 4}.tip{fill:#8c959f}",
  toneStyles("colour"),
  "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.quiet,.label{fill:#9198a1}.label{stroke:#0d1117}",
  ".paper{fill:#0d1117}.box{fill:#161b22}.edge{stroke:#6e7681}.tip{fill:#6e7681}",
  `${toneStyles("onDark")}}`,
].join("");
