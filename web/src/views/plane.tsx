// A picture with two axes, as wide as its place.
import type { ComponentChildren } from "preact";
import { widthMin } from "../draw/axis";
import { scaleOf, type Scale } from "../draw/plane";
import { amounts, digits } from "../lib/format";
import { useWidth } from "../lib/hooks";

const left = 76;
const top = 10;
const spareRight = 18;
const spareBottom = 44;
const letterWidth = 7; // at most, of the words of an axis

export interface Side {
  values: number[]; // that must be within
  log: boolean;
  title: string;
  unit?: string;
  labels?: string[]; // of the places 0, 1, … instead of numbers
  ticks?: number[]; // instead of round numbers, with their words
  text?: (tick: number) => string;
}

export interface Frame {
  x: Scale;
  y: Scale;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export function Plane({ caption, summary, x, y, tall, children }: {
  caption: string; summary: string; x: Side; y: Side; tall: number; children: (frame: Frame) => ComponentChildren;
}) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const bottom = tall - spareBottom;
  const right = width - spareRight;
  const frame: Frame = {
    left, right, top, bottom, x: scaleOf(x.values, left + 8, right - 8, Math.floor((right - left) / 80), x.log),
    y: scaleOf(y.values, bottom, top, Math.floor((bottom - top) / 44), y.log),
  };
  const xTicks = x.labels ? x.labels.map((_, i) => i) : (x.ticks ?? frame.x.ticks);
  const room = Math.floor((right - left) / Math.max(1, x.labels?.length ?? 1) / letterWidth);
  const labels = amounts(frame.y.ticks, y.unit ?? "");
  const words = xTicks.map((tick) => x.labels ? fitted(x.labels[tick] ?? "", room) : (x.text ?? digits)(tick));
  const spoken = spaced(xTicks.map((tick) => frame.x.at(tick)), words);
  return (
    <figure ref={ref} class="plot plane">
      <figcaption>{caption}</figcaption>
      {width > widthMin && (
        <svg width={width} height={tall} role="img" aria-label={summary}>
          {frame.y.ticks.map((tick, i) => (
            <g key={`y${tick}`}>
              <line class="grid" x1={left} x2={right} y1={frame.y.at(tick)} y2={frame.y.at(tick)} />
              <text class="tick" x={left - 7} y={frame.y.at(tick) + 4} text-anchor="end">{labels[i]}</text>
            </g>
          ))}
          {xTicks.map((tick, i) => (
            <g key={`x${tick}`}>
              <line class="grid" x1={frame.x.at(tick)} x2={frame.x.at(tick)} y1={top} y2={bottom + 5} />
              <text class="tick" x={frame.x.at(tick)} y={bottom + 18} text-anchor="middle">
                {spoken[i] ? words[i] : ""}
              </text>
            </g>
          ))}
          <text class="tick" x={(left + right) / 2} y={tall - 6} text-anchor="middle">{x.title}</text>
          {children(frame)}
        </svg>
      )}
    </figure>
  );
}

function fitted(text: string, letters: number): string {
  return text.length > letters ? text.slice(0, Math.max(1, letters - 1)) + "…" : text;
}

// spaced tells which words of an axis leave room for those before them: on a telephone not all do.
function spaced(at: number[], words: string[]): boolean[] {
  let end = -Infinity;
  return words.map((text, i) => {
    const half = (text.length * letterWidth) / 2;
    if (at[i]! - half < end) return false;
    end = at[i]! + half + letterWidth;
    return true;
  });
}

// Spot is the mark of a series: its shape tells it without colour.
export function Spot({ series, x, y, text, hollow }: {
  series: number; x: number; y: number; text: string; hollow?: boolean;
}) {
  const kind = `spot series${series % 4}${hollow ? " hollow" : ""}`;
  const paths = [
    `M${x - 5} ${y}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z`, `M${x - 4.5} ${y - 4.5}h9v9h-9Z`,
    `M${x} ${y - 6}l6 6l-6 6l-6 -6Z`, `M${x} ${y - 6}l5.6 10h-11.2Z`,
  ];
  return <path class={kind} d={paths[series % 4]!}><title>{text}</title></path>;
}

export function SeriesLegend({ names }: { names: string[] }) {
  return (
    <div class="legend">
      {names.map((name, i) => (
        <span key={i} class="swatch">
          <svg width="34" height="14" aria-hidden="true">
            <path class={`line series${i % 4}${i > 3 ? " again" : ""}`} d="M1 7H33" />
            <Spot series={i} x={17} y={7} text="" />
          </svg>
          <bdi>{name}</bdi>
        </span>
      ))}
    </div>
  );
}
