// The heat map of requests: time from left to right, latency upwards on a log axis.
import type { RequestKind, RequestSide } from "../api/page";
import { cellBounds, type Range } from "../state/requests";
import { logAxis, type LogAxis } from "./logaxis";

export const heatTall = 230;
export const heatLeft = 58;
export const heatTop = 6;
export const heatBottom = heatTall - 28;

export interface HeatScale {
  latency: LogAxis;
  right: number;
  edges: number[]; // of the slices of time, in seconds
  most: number; // requests in the fullest cell
  x: (seconds: number) => number;
  slice: (x: number) => number; // the slice under a place
}

export function heatScale(side: RequestSide, kind: RequestKind, width: number): HeatScale {
  const right = width - 14;
  const edges = [...side.starts.map((start) => start ?? 0), side.seconds ?? 0];
  const end = Math.max(edges[edges.length - 1]!, ...edges, 1e-9);
  edges[edges.length - 1] = end;
  const [low] = cellBounds(Math.max(1, Math.min(...kind.cell)));
  const [, high] = cellBounds(Math.max(1, ...kind.cell));
  const x = (seconds: number) =>
    heatLeft + (Math.max(0, Math.min(seconds, end)) / end) * (right - heatLeft);
  const slice = (at: number) => {
    const seconds = ((at - heatLeft) / (right - heatLeft)) * end;
    let found = 0;
    while (found < edges.length - 2 && edges[found + 1]! <= seconds) found++;
    return found;
  };
  return {
    latency: logAxis(low, high * 1.1, heatBottom, heatTop, 22), right, edges,
    most: Math.max(1, ...kind.in_cell), x, slice,
  };
}

export interface HeatColours {
  fill: string;
  line: string;
  dim: string;
  edge: string;
}

// paintHeat draws the cells; what is outside of the range is dimmed, and the range gets an edge.
export function paintHeat(
  context: CanvasRenderingContext2D, kind: RequestKind, scale: HeatScale, range: Range, colours: HeatColours,
): void {
  context.strokeStyle = colours.line;
  context.strokeRect(heatLeft - 0.5, heatTop - 0.5, scale.right - heatLeft + 1, heatBottom - heatTop + 1);
  for (let i = 0; i < kind.cell.length; i++) {
    const slice = kind.slice[i]!;
    const [low, high] = cellBounds(kind.cell[i]!);
    const from = scale.edges[slice] ?? 0;
    const to = scale.edges[slice + 1] ?? from;
    const x = scale.x(from);
    const wide = scale.x(to) - x;
    const y = scale.latency.at(high);
    const tall = scale.latency.at(Math.max(low, scale.latency.low)) - y;
    const inside = high > range.low && low < range.high && from < range.to && to > range.from;
    // One request must still be seen: the square root keeps small numbers apart.
    context.globalAlpha = 0.25 + 0.75 * Math.sqrt(kind.in_cell[i]! / scale.most);
    context.fillStyle = inside ? colours.fill : colours.dim;
    context.fillRect(x, y, Math.max(1, wide - (wide > 4 ? 1 : 0)), Math.max(1.5, tall - (tall > 4 ? 1 : 0)));
  }
  context.globalAlpha = 1;
  const { x, y, w, h } = rangeBox(scale, range);
  context.strokeStyle = colours.edge;
  context.lineWidth = 2;
  context.strokeRect(x, y, w, h);
  context.lineWidth = 1;
}

// rangeBox is where a range lies in the picture.
export function rangeBox(scale: HeatScale, range: Range): { x: number; y: number; w: number; h: number } {
  const x = scale.x(range.from);
  const upright = (value: number) => Math.max(heatTop, Math.min(heatBottom, scale.latency.at(value)));
  const y = upright(Math.min(range.high, scale.latency.high));
  const bottom = upright(Math.max(range.low, scale.latency.low));
  return { x, y, w: Math.max(2, scale.x(range.to) - x), h: Math.max(2, bottom - y) };
}

// countIn adds up the requests of a range, cells that it cuts as a whole, and those of all.
export function countIn(kind: RequestKind, scale: HeatScale, range: Range): { inside: number; all: number } {
  const sum = { inside: 0, all: 0 };
  for (let i = 0; i < kind.cell.length; i++) {
    const [low, high] = cellBounds(kind.cell[i]!);
    const from = scale.edges[kind.slice[i]!] ?? 0;
    const to = scale.edges[kind.slice[i]! + 1] ?? from;
    sum.all += kind.in_cell[i]!;
    if ((low + high) / 2 >= range.low && (low + high) / 2 < range.high && to > range.from && from < range.to) {
      sum.inside += kind.in_cell[i]!;
    }
  }
  return sum;
}
