// The flame graph: root on top, one row a level. layout is pure; paintFlame draws
// what of it is in view.
import type { Mode, Tree } from "../state/tree";
import { paintOf, stepOf, type Palette } from "./palette";
import { minus, visible } from "../lib/format";

export const rowHeight = 20;
const boxMin = 0.6; // CSS pixels; narrower boxes and all below them are left out
const textMin = 28;
const font = "11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

// View is what of the tree is shown and how.
export interface View {
  per: string; // what the seconds are of: "run"
  tree: Tree;
  zoom: number;
  mode: Mode;
  perShare: boolean;
  oneSided: boolean;
  byCPI: boolean; // colours tell cycles per instruction
}

export interface Boxes {
  count: number;
  rows: number;
  node: Int32Array;
  x: Float32Array;
  w: Float32Array;
  rest: Rest[]; // where boxes too narrow to draw stand side by side
}

interface Rest {
  depth: number;
  x: number;
  w: number;
}

// sizeOf gives the seconds, or the part of its side, that a node's box stands for.
export function sizeOf(view: View, node: number): number {
  const { tree, mode, perShare } = view;
  if (!perShare) return tree.width(node, mode);
  const part = (amount: number, whole: number) => (whole > 0 ? amount / whole : 0);
  if (mode === "a") return part(tree.a[node]!, tree.a[0]!);
  if (mode === "b") return part(tree.b[node]!, tree.b[0]!);
  return part(tree.b[node]!, tree.b[0]!) + part(tree.gone[node]!, tree.a[0]!);
}

// fullSize is what the whole width stands for. Absolute, A and B share one scale,
// so that the smaller side is shorter.
function fullSize(view: View): number {
  const { tree, zoom, mode, perShare, oneSided } = view;
  if (perShare || oneSided || mode === "diff") return sizeOf(view, zoom);
  return Math.max(tree.a[zoom]!, tree.b[zoom]!);
}

export function layout(view: View, width: number): Boxes {
  const { tree, zoom } = view;
  const boxes: Boxes = {
    count: 0, rows: 0, node: new Int32Array(1024), x: new Float32Array(1024), w: new Float32Array(1024),
    rest: [],
  };
  const lastRest: Rest[] = []; // by depth
  const full = fullSize(view);
  const scale = full > 0 ? width / full : 0;
  const above: number[] = [];
  for (let at = tree.parent[zoom]!; at >= 0; at = tree.parent[at]!) above.push(at);
  for (const node of above.reverse()) add(boxes, node, 0, width, tree.depth[node]!);
  const cursor = new Float64Array(tree.size); // where the next child of a node starts
  const end = tree.end[zoom]!;
  for (let i = zoom; i < end; ) {
    const wide = sizeOf(view, i) * scale;
    const parent = tree.parent[i]!;
    const x = i === zoom ? 0 : cursor[parent]!;
    if (i !== zoom) cursor[parent] = x + wide;
    if (wide < boxMin) {
      addRest(boxes, lastRest, { depth: tree.depth[i]!, x, w: wide });
      i = tree.end[i]!;
      continue;
    }
    cursor[i] = x;
    add(boxes, i, x, wide, tree.depth[i]!);
    i++;
  }
  return boxes;
}

// addRest joins a box too narrow to draw with its neighbour of the same row.
function addRest(boxes: Boxes, last: Rest[], rest: Rest): void {
  const before = last[rest.depth];
  if (before && Math.abs(before.x + before.w - rest.x) < 1e-6) {
    before.w += rest.w;
    return;
  }
  last[rest.depth] = rest;
  boxes.rest.push(rest);
}

function add(boxes: Boxes, node: number, x: number, w: number, depth: number): void {
  if (boxes.count === boxes.node.length) {
    const grow = <T extends Int32Array | Float32Array>(old: T, wider: T): T => (wider.set(old), wider);
    const size = boxes.count * 2;
    boxes.node = grow(boxes.node, new Int32Array(size));
    boxes.x = grow(boxes.x, new Float32Array(size));
    boxes.w = grow(boxes.w, new Float32Array(size));
  }
  boxes.node[boxes.count] = node;
  boxes.x[boxes.count] = x;
  boxes.w[boxes.count] = w;
  boxes.count++;
  boxes.rows = Math.max(boxes.rows, depth + 1);
}

export interface Marks {
  hits: Uint8Array | null; // by name, what the search matches
  selected: number; // -1 for none
}

export function paintFlame(
  context: CanvasRenderingContext2D, view: View, boxes: Boxes, marks: Marks, palette: Palette, top: number,
  height: number,
): void {
  context.font = font;
  context.textBaseline = "middle";
  const charWidth = context.measureText("mmmmmmmmmm").width / 10;
  const hatch = hatching(context, palette);
  const { tree } = view;
  context.fillStyle = palette.rest;
  for (const { depth, x, w } of boxes.rest) {
    const y = depth * rowHeight - top;
    if (w >= boxMin && y + rowHeight >= 0 && y <= height) context.fillRect(x, y, w, rowHeight - 1);
  }
  for (let i = 0; i < boxes.count; i++) {
    const node = boxes.node[i]!;
    const y = tree.depth[node]! * rowHeight - top;
    if (y + rowHeight < 0 || y > height) continue;
    paintBox(context, view, { node, x: boxes.x[i]!, y, w: boxes.w[i]! }, marks, palette, hatch, charWidth);
  }
}

function paintBox(
  context: CanvasRenderingContext2D, view: View, box: { node: number; x: number; y: number; w: number },
  marks: Marks, palette: Palette, hatch: CanvasPattern | string, charWidth: number,
): void {
  const { tree } = view;
  const { node, x, y } = box;
  const w = Math.max(0.5, box.w - (box.w > 3 ? 1 : 0)); // a gap between neighbours, where there is room
  const paint = paintOf(palette, tree, node, view.oneSided, view.byCPI);
  const hit = marks.hits?.[tree.columns.name[node]!] === 1;
  const faded = (marks.hits !== null && !hit) || tree.depth[node]! < tree.depth[view.zoom]!;
  context.globalAlpha = faded ? 0.4 : 1;
  context.fillStyle = paint.fill;
  context.fillRect(x, y, w, rowHeight - 1);
  if (!view.oneSided && tree.vanished(node)) {
    context.fillStyle = hatch;
    context.fillRect(x, y, w, rowHeight - 1);
  }
  if (box.w > textMin) {
    const room = Math.floor((box.w - 8) / charWidth);
    // The sign says without colour, and on paper, which way a change goes.
    const step = view.oneSided || view.byCPI ? 0 : stepOf(tree, node);
    const sign = step > 0 ? "+ " : step < 0 ? `${minus} ` : "";
    const name = sign + visible(tree.name(node), Math.max(1, room));
    context.globalAlpha = faded ? 0.75 : 1;
    context.fillStyle = faded ? palette.same.ink : paint.ink; // ink for a strong fill is lost on a faded one
    context.fillText(name.length > room ? name.slice(0, Math.max(0, room - 1)) + "…" : name, x + 4, y + rowHeight / 2);
  }
  context.globalAlpha = 1;
  if (hit || node === marks.selected) {
    context.lineWidth = 2;
    context.strokeStyle = node === marks.selected ? palette.edge : palette.found;
    context.strokeRect(x + 1, y + 1, Math.max(1, w - 2), rowHeight - 3);
  }
}

function hatching(context: CanvasRenderingContext2D, palette: Palette): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const pen = tile.getContext("2d");
  if (!pen) return palette.hatch;
  pen.strokeStyle = palette.hatch;
  pen.lineWidth = 1.2;
  pen.beginPath();
  for (const start of [-8, 0, 8]) {
    pen.moveTo(start, 8);
    pen.lineTo(start + 8, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat") ?? palette.hatch;
}

// boxAt finds the node under a point, -1 for none.
export function boxAt(tree: Tree, boxes: Boxes, x: number, y: number): number {
  const row = Math.floor(y / rowHeight);
  for (let i = 0; i < boxes.count; i++) {
    const node = boxes.node[i]!;
    if (tree.depth[node] === row && x >= boxes.x[i]! && x < boxes.x[i]! + boxes.w[i]!) return node;
  }
  return -1;
}
