/**
 * Where the nodes of a graph go: columns by the longest way from a start, the order within a column by the places of
 * the neighbours, and then places as close to the neighbours as the order allows. Connected parts are laid out by
 * themselves and set side by side. Deterministic, and near linear in nodes and edges.
 */

import { itemAt, mustGet } from "../../core/text/invariant";
import { appendTo } from "../../core/text/objects";

export interface LayoutNode {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

export interface LayoutEdge {
  readonly from: string;
  readonly to: string;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** The upper left corner of each node. */
  readonly places: ReadonlyMap<string, Point>;
  /** For each edge, in the order given: the middles of the gaps that it passes between its ends. */
  readonly bends: readonly (readonly Point[])[];
}

/** A node, or the place where a long edge passes a column. */
interface Cell {
  readonly node?: LayoutNode;
  readonly height: number;
  readonly column: number;
  readonly before: Cell[];
  readonly after: Cell[];
  rank: number;
  y: number;
}

const gapY = 18;
const gapParts = 40;
const sweeps = 6;
/** With more passing places than this, long edges are drawn straight: the picture is too dense to show more. */
const mostLayoutPasses = 20_000;

export interface LayoutOptions {
  /** The space between columns, which holds the labels of edges. */
  readonly gapX?: number;
  /** Parts are set side by side up to this width. */
  readonly preferredWidth?: number;
}

export function layOut(
  nodes: readonly LayoutNode[],
  edges: readonly LayoutEdge[],
  { gapX = 64, preferredWidth = 1400 }: LayoutOptions = {},
): Layout {
  const places = new Map<string, Point>();
  const bends: Point[][] = edges.map(() => []);
  const parts = connectedParts(nodes, edges).map((part) => layOutPart(part.nodes, part.edges, edges, gapX));
  // The parts fill a line from left to right, and then the next line.
  let x = 0;
  let y = 0;
  let shelf = 0;
  let width = 0;
  let lineWidth = preferredWidth;
  for (const part of parts) lineWidth = Math.max(lineWidth, part.width);
  for (const part of parts) {
    if (x > 0 && x + part.width > lineWidth) {
      x = 0;
      y += shelf + gapParts;
      shelf = 0;
    }
    for (const [id, place] of part.places) places.set(id, { x: place.x + x, y: place.y + y });
    for (const [edge, points] of part.bends) bends[edge] = points.map((point) => ({ x: point.x + x, y: point.y + y }));
    x += part.width + gapParts;
    shelf = Math.max(shelf, part.height);
    width = Math.max(width, x - gapParts);
  }
  return { width, height: y + shelf, places, bends };
}

/** The largest part first, then as given, so that single nodes end up in rows at the bottom. */
function connectedParts(nodes: readonly LayoutNode[], edges: readonly LayoutEdge[]) {
  const leader = new Map(nodes.map((node) => [node.id, node.id]));
  const find = (id: string): string => {
    let root = id;
    while (leader.get(root) !== root) root = mustGet(leader, root);
    for (let at = id; at !== root; ) {
      const next = mustGet(leader, at);
      leader.set(at, root);
      at = next;
    }
    return root;
  };
  for (const { from, to } of edges) leader.set(find(to), find(from));
  const parts = new Map<string, { nodes: LayoutNode[]; edges: number[] }>();
  for (const node of nodes) {
    const root = find(node.id);
    const part = parts.get(root);
    if (part === undefined) parts.set(root, { nodes: [node], edges: [] });
    else part.nodes.push(node);
  }
  edges.forEach(({ from }, index) => {
    mustGet(parts, find(from)).edges.push(index);
  });
  return [...parts.values()].sort((a, b) => b.nodes.length - a.nodes.length);
}

function layOutPart(
  nodes: readonly LayoutNode[],
  edgeIndexes: readonly number[],
  edges: readonly LayoutEdge[],
  gapX: number,
) {
  const columnOf = longestWays(nodes, edgeIndexes, edges);
  const columns: Cell[][] = [];
  const cellOf = new Map<string, Cell>();
  const addCell = (column: number, height: number, node?: LayoutNode): Cell => {
    while (columns.length <= column) columns.push([]);
    const cell: Cell = { node, height, column, before: [], after: [], rank: itemAt(columns, column).length, y: 0 };
    itemAt(columns, column).push(cell);
    return cell;
  };
  for (const node of nodes) cellOf.set(node.id, addCell(mustGet(columnOf, node.id), node.height, node));

  let passes = 0;
  for (const index of edgeIndexes) passes += Math.max(0, columnSpan(itemAt(edges, index), columnOf) - 1);
  const passing = new Map<number, Cell[]>();
  for (const index of edgeIndexes) {
    const { from, to } = itemAt(edges, index);
    if (from === to) continue;
    const [start, end] = mustGet(columnOf, from) <= mustGet(columnOf, to) ? [from, to] : [to, from];
    let last = mustGet(cellOf, start);
    const own: Cell[] = [];
    if (passes <= mostLayoutPasses)
      for (let column = last.column + 1; column < mustGet(columnOf, end); column++) {
        const cell = addCell(column, 0);
        joinCells(last, cell);
        own.push(cell);
        last = cell;
      }
    joinCells(last, mustGet(cellOf, end));
    passing.set(index, start === from ? own : own.reverse());
  }
  orderColumns(columns);
  placeColumns(columns);

  const widths = columns.map((cells) => cells.reduce((most, cell) => Math.max(most, cell.node?.width ?? 0), 0));
  const lefts: number[] = [];
  let x = 0;
  for (const width of widths) {
    lefts.push(x);
    x += width + gapX;
  }
  let top = Number.POSITIVE_INFINITY;
  let bottom = 0;
  for (const cell of columns.flat()) top = Math.min(top, cell.y - cell.height / 2);
  const places = new Map<string, Point>();
  for (const cell of columns.flat()) {
    cell.y -= top;
    bottom = Math.max(bottom, cell.y + cell.height / 2);
    if (cell.node !== undefined)
      places.set(cell.node.id, { x: itemAt(lefts, cell.column), y: cell.y - cell.height / 2 });
  }
  const bends = new Map<number, Point[]>();
  for (const [index, cells] of passing)
    bends.set(
      index,
      cells.map((cell) => ({ x: itemAt(lefts, cell.column) + itemAt(widths, cell.column) / 2, y: cell.y })),
    );
  return { width: x - gapX, height: bottom, places, bends };
}

const columnSpan = ({ from, to }: LayoutEdge, columnOf: ReadonlyMap<string, number>): number =>
  Math.abs(mustGet(columnOf, to) - mustGet(columnOf, from));

function joinCells(from: Cell, to: Cell): void {
  from.after.push(to);
  to.before.push(from);
}

/**
 * The column of each node: one more than the last column of its predecessors. An edge that closes a cycle is left out.
 */
function longestWays(nodes: readonly LayoutNode[], edgeIndexes: readonly number[], edges: readonly LayoutEdge[]) {
  const waitingFor = new Map(nodes.map((node) => [node.id, 0]));
  const next = new Map<string, string[]>();
  for (const index of edgeIndexes) {
    const { from, to } = itemAt(edges, index);
    if (from === to) continue;
    waitingFor.set(to, mustGet(waitingFor, to) + 1);
    appendTo(next, from, to);
  }
  const columns = new Map<string, number>();
  const reached = new Map<string, number>();
  const ready = nodes.filter((node) => waitingFor.get(node.id) === 0).map((node) => node.id);
  let unplaced = 0;
  for (let index = 0; columns.size < nodes.length; index++) {
    if (index === ready.length) {
      // Only nodes of cycles are left: the first of them is placed next.
      while (columns.has(itemAt(nodes, unplaced).id)) unplaced++;
      ready.push(itemAt(nodes, unplaced).id);
    }
    const id = itemAt(ready, index);
    if (columns.has(id)) continue;
    const column = reached.get(id) ?? 0;
    columns.set(id, column);
    for (const to of next.get(id) ?? []) {
      if (columns.has(to)) continue;
      reached.set(to, Math.max(reached.get(to) ?? 0, column + 1));
      const left = mustGet(waitingFor, to) - 1;
      waitingFor.set(to, left);
      if (left === 0) ready.push(to);
    }
  }
  return columns;
}

/** Moves each cell to the middle of its neighbours, column by column, forwards and then backwards. */
function orderColumns(columns: readonly Cell[][]): void {
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const forth = sweep % 2 === 0;
    for (const cells of forth ? columns : [...columns].reverse()) {
      const weights = new Map(
        cells.map((cell) => [cell, middleOf(forth ? cell.before : cell.after, "rank") ?? cell.rank]),
      );
      cells.sort((a, b) => mustGet(weights, a) - mustGet(weights, b) || a.rank - b.rank);
      for (const [rank, cell] of cells.entries()) cell.rank = rank;
    }
  }
}

function middleOf(cells: readonly Cell[], key: "rank" | "y"): number | undefined {
  let sum = 0;
  for (const cell of cells) sum += cell[key];
  return cells.length === 0 ? undefined : sum / cells.length;
}

function placeColumns(columns: readonly Cell[][]): void {
  for (const cells of columns) settleColumn(cells, (cell) => cell.y);
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const forth = sweep % 2 === 0;
    for (const cells of forth ? columns : [...columns].reverse())
      settleColumn(cells, (cell) => middleOf(forth ? cell.before : cell.after, "y") ?? cell.y);
  }
}

/**
 * The places closest to the wished ones that keep the order and the distances. With the distances subtracted, places
 * must not decrease; where wishes cross, those cells share their mean (pool adjacent violators).
 */
function settleColumn(cells: readonly Cell[], wish: (cell: Cell) => number): void {
  const blocks: { sum: number; count: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const [index, cell] of cells.entries()) {
    if (index > 0) offset += itemAt(cells, index - 1).height / 2 + gapY + cell.height / 2;
    offsets.push(offset);
    let block = { sum: wish(cell) - offset, count: 1 };
    for (
      let last = blocks.at(-1);
      last !== undefined && last.sum / last.count > block.sum / block.count;
      last = blocks.at(-1)
    ) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  let index = 0;
  for (const { sum, count } of blocks)
    for (let used = 0; used < count; used++, index++) itemAt(cells, index).y = sum / count + itemAt(offsets, index);
}
