// Latency of one kind, A and B over each other: how many took no longer, how many took longer, and
// how they spread.
import { useState } from "preact/hooks";
import { widthMin } from "../draw/axis";
import { logAxis, shortTime, type LogAxis } from "../draw/logaxis";
import type { RequestKind } from "../api/page";
import { amount, digits, percent, visible } from "../lib/format";
import { useWidth } from "../lib/hooks";
import { boundsOf, quantile, type KindPair } from "../state/requests";
import { Choice } from "./parts";
import { letters } from "./requests";

type Shape = "ecdf" | "longer" | "histogram";

const shapes: [string, string][] = [["ecdf", "ECDF"], ["longer", "share that took longer"], ["histogram", "histogram"]];
const told: Record<Shape, string> = {
  ecdf: "The part of the requests that took no longer.",
  longer: "The part of the requests that took longer, on a log axis: each rung is a tenth.",
  histogram: "Requests by latency, as shares of all of their side, an eighth of a power of two a step.",
};
const tall = 240;
const left = 58;
const top = 8;
const bottom = tall - 30;

export function LatencyPlot({ pair, twoSided }: { pair: KindPair; twoSided: boolean }) {
  const [shape, setShape] = useState<Shape>("ecdf");
  const [ref, width] = useWidth<HTMLDivElement>();
  const kinds = pair.kinds.map((kind) => (kind && kind.count > 0 ? kind : null));
  const bounds = kinds.flatMap((kind) => (kind ? [span(kind)] : []));
  const low = Math.min(...bounds.map(([from]) => from));
  const high = Math.max(...bounds.map(([, to]) => to));
  const scale = logAxis(low / 1.1, high * 1.1, left, width - 14, 54);
  const rungs = rungsOf(shape, kinds);
  return (
    <figure ref={ref} class="plot latency">
      <figcaption>Latency of {visible(pair.name, 80)}</figcaption>
      <div class="toolbar">
        <Choice label="As" value={shape} options={shapes} onChange={(value) => setShape(value as Shape)} />
        {twoSided && (
          <span class="legend">
            {kinds.map((kind, s) => kind && (
              <span key={s} class="swatch">
                <svg width="26" height="10" aria-hidden="true">
                  <line class={`curve curve${letters[s]}`} x1="1" x2="25" y1="5" y2="5" />
                </svg>{letters[s]}
              </span>
            ))}
          </span>
        )}
      </div>
      {width > widthMin && bounds.length > 0 && (
        <svg width={width} height={tall} role="img" aria-label={summary(pair, kinds)}>
          <Frame scale={scale} rungs={rungs} width={width} />
          {kinds.map((kind, s) => kind && (
            <path key={s} class={`curve curve${letters[s]}${shape === "histogram" ? " filled" : ""}`}
              d={curve(shape, kind, scale, rungs)} />
          ))}
          {shape !== "histogram" && kinds.map((kind, s) => kind && (
            <Marks key={s} kind={kind} letter={letters[s]!} scale={scale} rungs={rungs} shape={shape} />
          ))}
        </svg>
      )}
      <p class="muted small">
        {told[shape]}{shape !== "histogram" && " Marks: p50, p95, p99, p99.9."}{unsent(kinds, twoSided)}
      </p>
    </figure>
  );
}

const unsentFrom = 1e-3; // seconds; less may be a tick of the kernel's clock, now and then

// unsent tells what the curves do not have: what answers lie in the socket for after the last call.
function unsent(kinds: (RequestKind | null)[], twoSided: boolean): string {
  if (!kinds.some((kind) => (kind?.unsent ?? 0) >= unsentFrom)) return "";
  const each = kinds.flatMap((kind, s) =>
    kind ? [(twoSided ? `${letters[s]} ` : "") + amount(kind.unsent, "s")] : []);
  return ` Not in it: what an answer then lay in the socket for, in the mean ${each.join(", ")}.`;
}

function span(kind: RequestKind): [number, number] {
  const [low] = boundsOf(Math.max(1, kind.buckets[0] ?? 1));
  return [low, boundsOf(kind.buckets[kind.buckets.length - 1] ?? 1)[1]];
}

interface Rung {
  at: number; // in pixels
  text: string;
}
interface Rungs {
  marks: Rung[];
  y: (part: number) => number;
}

const step = 4; // buckets that a bar of the histogram has

// rungsOf is the upright axis: shares, on a log axis for those that took longer.
function rungsOf(shape: Shape, kinds: (RequestKind | null)[]): Rungs {
  if (shape === "longer") {
    const most = Math.max(10, ...kinds.map((kind) => kind?.count ?? 0));
    const decades = Math.max(1, Math.ceil(Math.log10(most)));
    const y = (part: number) =>
      top + (Math.min(decades, -Math.log10(Math.max(part, 1e-12))) / decades) * (bottom - top);
    const marks = Array.from({ length: decades + 1 }, (_, i) => ({ at: y(10 ** -i), text: percentShort(10 ** -i) }));
    return { marks, y };
  }
  let high = 1;
  if (shape === "histogram") {
    high = Math.max(0.01, ...kinds.flatMap((kind) => (kind ? bars(kind).map(([, part]) => part) : [])));
  }
  const y = (part: number) => bottom - (part / high) * (bottom - top);
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => ({ at: y(part * high), text: percent(part * high) }));
  return { marks, y };
}

function percentShort(part: number): string {
  return `${Number((part * 100).toPrecision(1))}\u00a0%`;
}

// bars are the shares by cell of four buckets, empty ones between them left in as zero.
function bars(kind: RequestKind): [number, number][] {
  const sums = new Map<number, number>();
  kind.buckets.forEach((bucket, i) => {
    const cell = Math.floor(bucket / step);
    sums.set(cell, (sums.get(cell) ?? 0) + kind.counts[i]! / kind.count);
  });
  const cells = [...sums.keys()];
  const from = Math.min(...cells);
  return Array.from({ length: Math.max(...cells) - from + 1 }, (_, i) => [from + i, sums.get(from + i) ?? 0]);
}

function curve(shape: Shape, kind: RequestKind, scale: LogAxis, { y }: Rungs): string {
  const p = (x: number, up: number) => `${x.toFixed(1)} ${up.toFixed(1)}`;
  if (shape === "histogram") {
    let path = "";
    for (const [cell, part] of bars(kind)) {
      const [from] = boundsOf(Math.max(1, cell * step));
      const to = boundsOf(cell * step + step - 1)[1];
      path += `${path ? "L" : `M${p(scale.at(from), bottom)}L`}${p(scale.at(from), y(part))}`;
      path += `L${p(scale.at(to), y(part))}`;
      if (cell === bars(kind).at(-1)![0]) path += `L${p(scale.at(to), bottom)}Z`;
    }
    return path;
  }
  let seen = 0;
  let path = "";
  kind.buckets.forEach((bucket, i) => {
    const [low, high] = boundsOf(Math.max(1, bucket));
    const at = (n: number) => y(shape === "ecdf" ? n / kind.count : 1 - n / kind.count);
    path += `${path ? "L" : "M"}${p(scale.at(low), at(seen))}`;
    seen += kind.counts[i]!;
    if (shape === "ecdf" || seen < kind.count) path += `L${p(scale.at(high), at(seen))}`;
    else path += `L${p(scale.at(high), at(seen - kind.counts[i]!))}V${bottom}`;
  });
  return path;
}

function Frame({ scale, rungs, width }: { scale: LogAxis; rungs: Rungs; width: number }) {
  return (
    <>
      {rungs.marks.map(({ at, text }) => (
        <g key={text}>
          <line class="grid" x1={left} x2={width - 14} y1={at} y2={at} />
          <text class="tick" x={left - 7} y={at + 4} text-anchor="end">{text}</text>
        </g>
      ))}
      {scale.minor.map((value) => (
        <line key={value} class="grid" x1={scale.at(value)} x2={scale.at(value)} y1={bottom} y2={bottom + 3} />
      ))}
      {scale.ticks.map((value) => (
        <g key={value}>
          <line class="grid" x1={scale.at(value)} x2={scale.at(value)} y1={top} y2={bottom + 6} />
          <text class="tick" x={scale.at(value)} y={bottom + 20} text-anchor="middle">{shortTime(value)}</text>
        </g>
      ))}
    </>
  );
}

const marked: [number, string][] = [[0.5, "p50"], [0.95, "p95"], [0.99, "p99"], [0.999, "p99.9"]];

function Marks({ kind, letter, scale, rungs, shape }: {
  kind: RequestKind; letter: "A" | "B"; scale: LogAxis; rungs: Rungs; shape: Shape;
}) {
  return (
    <>
      {marked.map(([part, name]) => {
        const value = quantile(kind, part);
        const x = scale.at(value);
        const y = rungs.y(shape === "ecdf" ? part : 1 - part);
        const text = `${letter}, ${name}: ${amount(value, "s")}`;
        return letter === "A"
          ? <circle key={name} class="dot dotA" cx={x} cy={y} r={4.5}><title>{text}</title></circle>
          : <rect key={name} class="dot dotB" x={x - 4} y={y - 4} width={8} height={8}><title>{text}</title></rect>;
      })}
    </>
  );
}

function summary(pair: KindPair, kinds: (RequestKind | null)[]): string {
  const parts = kinds.flatMap((kind, s) => (kind
    ? [`${letters[s]}: ${digits(kind.count)} requests, ${marked.map(([part, name]) =>
      `${name} ${amount(quantile(kind, part), "s")}`).join(", ")}`] : []));
  return `Latency of ${visible(pair.name, 80)}. ${parts.join(". ")}. The table below holds the same.`;
}
