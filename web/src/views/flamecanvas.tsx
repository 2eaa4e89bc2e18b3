// The canvas: drawing, pointer, keys and the box that explains one frame.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { boxAt, layout, paintFlame, rowHeight, sizeOf, type Boxes, type View } from "../draw/flame";
import { paletteFor } from "../draw/palette";
import { useWidth, type Theme } from "../lib/hooks";
import type { Tree } from "../state/tree";
import { FrameDetail } from "./framedetail";

interface Props {
  view: View;
  hits: Uint8Array | null;
  theme: Theme;
  selected: number;
  label: string;
  onSelect: (node: number) => void;
  onZoom: (node: number) => void;
  onFind: () => void;
}

interface Hover {
  node: number;
  x: number;
  y: number;
}

const heightMax = 560;

export function FlameCanvas(props: Props) {
  const { view, hits, theme, selected, label } = props;
  const [scroller, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [top, setTop] = useState(0);
  const [hover, setHover] = useState<Hover | null>(null);
  const boxes = useMemo(() => layout(view, width), [view, width]);
  const full = boxes.rows * rowHeight;
  const height = Math.min(heightMax, Math.max(rowHeight * 4, full));
  useLayoutEffect(() => {
    if (canvas.current && width > 0) {
      draw(canvas.current, props, boxes, { width, height, top: scroller.current?.scrollTop ?? 0 });
    }
  }, [view, hits, theme, selected, boxes, width, height, top]);
  useEffect(() => reveal(scroller.current, view.tree, selected, height), [selected]);
  const at = (event: MouseEvent): Hover => {
    const place = canvas.current!.getBoundingClientRect();
    const x = event.clientX - place.left;
    const y = event.clientY - place.top;
    return { node: boxAt(view.tree, boxes, x, y + (scroller.current?.scrollTop ?? 0)), x, y };
  };
  return (
    <div class="flame">
      <div class="flamescroll" ref={scroller} style={{ height: `${height}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <div style={{ height: `${full}px` }}>
          <canvas ref={canvas} class="flamecanvas" tabIndex={0} role="application"
            style={{ width: `${width}px`, height: `${height}px` }}
            aria-label={`Flame graph of ${label}. Arrow keys move, Enter zooms, Escape zooms out, slash searches. ` +
              "The table below holds the same data."}
            onMouseMove={(event) => setHover(at(event))} onMouseLeave={() => setHover(null)}
            onClick={(event) => click(at(event).node, props)}
            onKeyDown={(event) => onKey(event, props)} />
        </div>
      </div>
      {hover && hover.node >= 0 && <Tooltip view={view} hover={hover} width={width} />}
      <div class="status" role="status" aria-live="polite">
        {selected >= 0 ? <FrameDetail view={view} node={selected} /> : (
          <span class="muted">Click a frame to zoom; point at it for its numbers. Keys: arrows, Enter, Esc, /</span>
        )}
      </div>
    </div>
  );
}

function Tooltip({ view, hover, width }: { view: View; hover: Hover; width: number }) {
  const wide = Math.min(420, width - 16);
  const left = Math.max(0, Math.min(hover.x + 14, width - wide - 4));
  return (
    <div class="tooltip" style={{ left: `${left}px`, top: `${hover.y + 22}px`, width: `${wide}px` }}>
      <FrameDetail view={view} node={hover.node} />
    </div>
  );
}

function click(node: number, props: Props): void {
  if (node < 0) return;
  props.onSelect(node);
  props.onZoom(node);
}

function draw(
  canvas: HTMLCanvasElement, props: Props, boxes: Boxes, place: { width: number; height: number; top: number },
): void {
  const started = performance.now();
  const sharpness = Math.max(1, devicePixelRatio || 1);
  canvas.width = Math.round(place.width * sharpness);
  canvas.height = Math.round(place.height * sharpness);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(sharpness, 0, 0, sharpness, 0, 0);
  context.clearRect(0, 0, place.width, place.height);
  const marks = { hits: props.hits, selected: props.selected };
  paintFlame(context, props.view, boxes, marks, paletteFor(props.theme), place.top, place.height);
  const now = performance.now();
  canvas.dataset.drawMs = (now - started).toFixed(1);
  canvas.dataset.readyMs ??= now.toFixed(0);
  canvas.dataset.boxes = String(boxes.count);
  canvas.dataset.draws = String(Number(canvas.dataset.draws ?? 0) + 1);
}

// reveal scrolls to the row of what the keys or the table chose.
function reveal(scroller: HTMLElement | null, tree: Tree, node: number, height: number): void {
  if (!scroller || node < 0) return;
  const y = tree.depth[node]! * rowHeight;
  if (y < scroller.scrollTop || y + rowHeight > scroller.scrollTop + height) scroller.scrollTop = y - height / 2;
}

function onKey(event: KeyboardEvent, props: Props): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { view, selected } = props;
  const at = selected < 0 ? view.zoom : selected;
  const next = move(view, at, event.key);
  if (next >= 0) props.onSelect(selected < 0 ? view.zoom : next);
  else if (event.key === "Enter") props.onZoom(at);
  else if (event.key === "Escape") {
    if (view.zoom === 0) props.onSelect(-1);
    props.onZoom(0);
  } else if (event.key === "/") props.onFind();
  else return;
  event.preventDefault();
}

// move returns the node that an arrow key leads to, -1 for another key.
function move(view: View, at: number, key: string): number {
  const { tree } = view;
  const parent = tree.parent[at]!;
  if (key === "ArrowUp") return parent < 0 ? at : parent;
  if (key === "ArrowDown") {
    const sizes = tree.children(at).filter((child) => sizeOf(view, child) > 0);
    return sizes.reduce((best, child) => (best === at || sizeOf(view, child) > sizeOf(view, best) ? child : best), at);
  }
  if (key !== "ArrowLeft" && key !== "ArrowRight") return -1;
  if (parent < 0) return at;
  const row = tree.children(parent).filter((child) => sizeOf(view, child) > 0);
  const place = row.indexOf(at) + (key === "ArrowRight" ? 1 : -1);
  return row[Math.max(0, Math.min(row.length - 1, place))] ?? at;
}
