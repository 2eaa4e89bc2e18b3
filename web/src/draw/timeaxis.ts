// Ticks of an axis of time, in UTC: at round hours or days.
const hour = 3600;
const day = 24 * hour;
const steps = [
  hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day, 365 * day,
];
const ticksMax = 7;

// timeTicks are places in seconds since 1970, and their words.
export function timeTicks(from: number, to: number): { at: number[]; text: (at: number) => string } {
  const step = steps.find((one) => (to - from) / one <= ticksMax) ?? Math.max(day, (to - from) / ticksMax);
  const at: number[] = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) at.push(tick);
  const text = (tick: number) => {
    const shown = new Date(tick * 1000).toISOString();
    return step < day && tick % day !== 0 ? shown.slice(11, 16) : shown.slice(5, 10);
  };
  return { at, text };
}
