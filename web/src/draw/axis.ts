// Axes of the dot plots.

// While the page is being laid out a figure can be narrower than its axis: then nothing is drawn.
export const widthMin = 120;

export interface Axis {
  from: number;
  to: number;
  ticks: number[];
  left: number; // where it starts, in pixels
  at: (value: number) => number;
}

// axis covers the values with round ticks, between two places in pixels.
export function axis(values: number[], left: number, right: number, ticksWanted: number): Axis {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (!Number.isFinite(low) || !Number.isFinite(high)) [low, high] = [0, 1];
  const spare = high > low ? (high - low) * 0.06 : Math.max(Math.abs(high) * 0.05, 1e-9);
  low -= spare;
  high += spare;
  const step = roundStep((high - low) / Math.max(2, ticksWanted));
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push(k * step);
  return { from: low, to: high, ticks, left, at: (value) => left + ((value - low) / (high - low)) * (right - left) };
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}
