// The heat map with its range: by the pointer, by keys, or by numbers.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RequestKind, RequestSide } from "../api/page";
import { widthMin } from "../draw/axis";
import {
  countIn, heatBottom, heatLeft, heatScale, heatTall, heatTop, paintHeat, type HeatScale,
} from "../draw/heat";
import { shortTime } from "../draw/logaxis";
import { amount, digits, visible } from "../lib/format";
import { useWidth, type Theme } from "../lib/hooks";
import { cellBounds, type Range } from "../state/requests";
import { SortTable, type Column } from "./sorttable";

interface Props {
  side: RequestSide;
  kind: RequestKind;
  range: Range;
  isSlow: boolean; // the range is what is slow, as nothing else was chosen
  theme: Theme;
  onRange: (range: Range | null) => void;
}

interface Corner {
  slice: number;
  value: number; // latency
}

export function HeatMap({ side, kind, range, isSlow, theme, onRange }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const start = useRef<Corner | null>(null);
  const scale = useMemo(() => heatScale(side, kind, Math.max(width, widthMin)), [side, kind, width]);
  useLayoutEffect(() => {
    if (canvas.current && width > widthMin) draw(canvas.current, kind, scale, range, width);
  }, [kind, scale, range, width, theme]);
  const at = (event: PointerEvent): Corner => {
    const place = canvas.current!.getBoundingClientRect();
    const y = Math.max(heatTop, Math.min(heatBottom, event.clientY - place.top));
    return { slice: scale.slice(event.clientX - place.left), value: scale.latency.value(y) };
  };
  const drag = (event: PointerEvent) => {
    if (start.current) onRange(between(scale, start.current, at(event)));
  };
  const { inside, all } = countIn(kind, scale, range);
  return (
    <figure ref={ref} class="plot heat">
      <figcaption>{visible(kind.name, 80)} over time{side.recordings > 1 && " (the first recording)"}</figcaption>
      <canvas ref={canvas} tabIndex={0} role="application" style={{ width: `${width}px`, height: `${heatTall}px` }}
        aria-label={`Heat map of ${visible(kind.name, 80)}: time from left to right, latency upwards. ` +
          "Arrow keys move the range, with Shift they change its end, Escape chooses the slow ones again. " +
          "The fields and the table below hold the same."}
        onPointerDown={(event) => {
          start.current = at(event);
          event.currentTarget.setPointerCapture(event.pointerId);
          drag(event);
        }}
        onPointerMove={drag} onPointerUp={() => { start.current = null; }}
        onPointerCancel={() => { start.current = null; }}
        onKeyDown={(event) => onKey(event, scale, range, onRange)} />
      <p class="small" role="status">
        {isSlow ? `Slow ones, of ${amount(range.low, "s")} and more: ` : `Range: ${rangeWords(range)}: about `}
        {digits(isSlow ? kind.slow : inside)} of {digits(all)} requests.{" "}
        <span class="muted noprint">Drag over the picture, or use the arrow keys, for another range.</span>
      </p>
      <RangeFields scale={scale} range={range} onRange={onRange} isSlow={isSlow} />
      <SliceTable kind={kind} scale={scale} onRange={onRange} />
    </figure>
  );
}

export function rangeWords(range: Range): string {
  const time = range.from <= 0 && range.to === Infinity ? "all the time"
    : `${digits(range.from)} s to ${range.to === Infinity ? "the end" : `${digits(range.to)} s`}`;
  const high = range.high === Infinity ? "" : amount(range.high, "s");
  if (range.low <= 0) return high ? `${time}, below ${high}` : time;
  return high ? `${time}, ${amount(range.low, "s")} to ${high}` : `${time}, ${amount(range.low, "s")} and more`;
}

function between(scale: HeatScale, from: Corner, to: Corner): Range {
  const first = Math.min(from.slice, to.slice);
  const last = Math.max(from.slice, to.slice);
  const [low, high] = from.value < to.value ? [from.value, to.value] : [to.value, from.value];
  // A click chooses a slice of time with all latencies.
  const flat = high / low < 1.08;
  return {
    from: scale.edges[first]!, to: scale.edges[last + 1]!,
    low: flat || low <= scale.latency.low * 1.01 ? 0 : low,
    high: flat || high >= scale.latency.high / 1.01 ? Infinity : high,
  };
}

const latencyStep = 2 ** 0.25;

function onKey(event: KeyboardEvent, scale: HeatScale, range: Range, onRange: (range: Range | null) => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") onRange(null);
  else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    onRange(movedTime(scale, range, event.key === "ArrowRight" ? 1 : -1, event.shiftKey));
  } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    const by = event.key === "ArrowUp" ? latencyStep : 1 / latencyStep;
    const top = Math.min(range.high, scale.latency.high);
    const high = event.shiftKey ? top * by : range.high;
    const low = event.shiftKey ? range.low : Math.max(range.low, scale.latency.low) * by;
    if (low >= top || high <= range.low) return;
    onRange({ ...range, low: low <= scale.latency.low ? 0 : low, high: high >= scale.latency.high ? Infinity : high });
  } else return;
  event.preventDefault();
}

// movedTime moves the slices of a range; of all the time the first slice comes first.
function movedTime(scale: HeatScale, range: Range, by: number, end: boolean): Range {
  const slices = scale.edges.length - 1;
  const whole = range.from <= 0 && range.to === Infinity;
  const place = (seconds: number) => {
    const found = scale.edges.findIndex((edge) => edge >= seconds);
    return found < 0 ? slices : found;
  };
  let first = whole ? (by > 0 ? 0 : slices - 1) : place(range.from);
  let last = whole ? first + 1 : place(range.to);
  if (!whole && end) last = Math.max(first + 1, Math.min(slices, last + by));
  else if (!whole) {
    const wide = last - first;
    first = Math.max(0, Math.min(slices - wide, first + by));
    last = first + wide;
  }
  return { ...range, from: scale.edges[first]!, to: scale.edges[last]! };
}

function draw(canvas: HTMLCanvasElement, kind: RequestKind, scale: HeatScale, range: Range, width: number): void {
  const sharpness = Math.max(1, devicePixelRatio || 1);
  canvas.width = Math.round(width * sharpness);
  canvas.height = Math.round(heatTall * sharpness);
  const context = canvas.getContext("2d");
  if (!context) return;
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  context.setTransform(sharpness, 0, 0, sharpness, 0, 0);
  context.clearRect(0, 0, width, heatTall);
  paintHeat(context, kind, scale, range,
    { fill: colour("--accent"), line: colour("--line"), dim: colour("--muted"), edge: colour("--ink") });
  context.fillStyle = colour("--muted");
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of scale.latency.ticks) context.fillText(shortTime(tick), heatLeft - 7, scale.latency.at(tick));
  context.textAlign = "center";
  const end = scale.edges[scale.edges.length - 1]!;
  const step = timeStep(end, (scale.right - heatLeft) / 70);
  for (let seconds = 0; seconds <= end * 1.001; seconds += step) {
    context.fillText(`${Number(seconds.toPrecision(4))} s`, scale.x(seconds), heatBottom + 15);
  }
  canvas.dataset.cells = String(kind.cell.length);
}

function timeStep(end: number, wanted: number): number {
  const rough = end / Math.max(2, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * (rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10);
}

function RangeFields({ scale, range, isSlow, onRange }: {
  scale: HeatScale; range: Range; isSlow: boolean; onRange: (range: Range | null) => void;
}) {
  const end = scale.edges[scale.edges.length - 1]!;
  const [told, setTold] = useState("");
  const set = (name: keyof Range, factor: number) => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement;
    const number = value.trim() === "" ? NaN : Number(value) * factor;
    const none = name === "from" || name === "low" ? 0 : Infinity;
    const next = { ...range, [name]: Number.isNaN(number) ? none : number };
    const valid = next.from < next.to && next.low < next.high && next.from >= 0 && next.low >= 0;
    setTold(valid ? "" : "The range would be empty: its end must be above its beginning.");
    if (valid) onRange(next);
  };
  const shown = (value: number) => (value === Infinity ? "" : String(Number(value.toPrecision(5))));
  const fields: [keyof Range, string, number, string][] = [
    ["from", "from second", 1, "0"], ["to", "to second", 1, digits(end)],
    ["low", "from ms", 1e-3, "0"], ["high", "to ms", 1e-3, "any"],
  ];
  return (
    <div class="rangefields noprint">
      {fields.map(([name, label, factor, hint]) => (
        <label key={name} class="check small">
          <span class="muted">{label}</span>
          <input class="field number" type="text" inputMode="decimal" placeholder={hint}
            value={shown(range[name] / factor)} onChange={set(name, factor)} />
        </label>
      ))}
      <button type="button" class="button" disabled={isSlow} onClick={() => onRange(null)}>Slow ones</button>
      {told && <span class="small" role="alert">{told}</span>}
    </div>
  );
}

interface Slice {
  from: number;
  to: number;
  count: number;
  median: number;
  most: number;
}

function SliceTable({ kind, scale, onRange }: {
  kind: RequestKind; scale: HeatScale; onRange: (range: Range) => void;
}) {
  const rows = useMemo(() => slicesOf(kind, scale), [kind, scale]);
  const columns: Column<Slice>[] = [
    {
      title: "From", number: true, sort: (row) => row.from,
      cell: (row) => (
        <button type="button" class="link"
          onClick={() => onRange({ from: row.from, to: row.to, low: 0, high: Infinity })}>
          {digits(row.from)}&nbsp;s
        </button>
      ),
    },
    { title: "Requests", number: true, sort: (row) => row.count, cell: (row) => digits(row.count) },
    { title: "Half up to", number: true, sort: (row) => row.median, cell: (row) => amount(row.median, "s") },
    { title: "Longest up to", number: true, sort: (row) => row.most, cell: (row) => amount(row.most, "s") },
  ];
  return (
    <details class="more">
      <summary>Table of the same data ({rows.length} slices of time)</summary>
      <SortTable label={`${visible(kind.name, 40)} over time`} rows={rows} columns={columns} start={-1} limit={60}
        id={(row) => row.from} />
    </details>
  );
}

function slicesOf(kind: RequestKind, scale: HeatScale): Slice[] {
  const slices = scale.edges.slice(0, -1).map((from, i): Slice =>
    ({ from, to: scale.edges[i + 1]!, count: 0, median: 0, most: 0 }));
  kind.slice.forEach((slice, i) => {
    slices[slice]!.count += kind.in_cell[i]!;
    slices[slice]!.most = Math.max(slices[slice]!.most, cellBounds(kind.cell[i]!)[1]);
  });
  const seen = slices.map(() => 0);
  kind.slice.forEach((slice, i) => { // cells stand in order of latency
    if (seen[slice]! * 2 < slices[slice]!.count) slices[slice]!.median = cellBounds(kind.cell[i]!)[1];
    seen[slice]! += kind.in_cell[i]!;
  });
  return slices.filter((slice) => slice.count > 0);
}
