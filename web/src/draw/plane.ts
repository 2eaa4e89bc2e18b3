// Two axes of a picture of points and lines.
import { axis } from "./axis";
import { logAxis } from "./logaxis";

export interface Scale {
  ticks: number[];
  at: (value: number) => number;
}

// scaleOf covers values between two places in pixels; log where they span much and none is zero or
// less.
export function scaleOf(values: number[], from: number, to: number, wanted: number, log: boolean): Scale {
  const even = axis(values, from, to, wanted);
  if (!log || values.length === 0 || Math.min(...values) <= 0) return even;
  const low = Math.min(...values);
  const high = Math.max(...values);
  const spare = Math.max(1.02, (high / low) ** 0.05);
  const scale = logAxis(low / spare, high * spare, from, to, Math.abs(to - from) / Math.max(2, wanted));
  const inside = even.ticks.filter((tick) => tick >= scale.low && tick <= scale.high);
  const ticks = scale.ticks.length > 1 ? scale.ticks : inside;
  return { ticks, at: scale.at };
}

// spansMuch tells values that crowd at one end of an even axis.
export function spansMuch(values: number[]): boolean {
  return values.length > 0 && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 12;
}

// pathOf joins places by straight lines.
export function pathOf(places: [number, number][]): string {
  return places.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}
