// A logarithmic axis of times.
export interface LogAxis {
  low: number;
  high: number;
  ticks: number[]; // where there is room for a label
  minor: number[];
  at: (value: number) => number;
  value: (at: number) => number; // back from a place in pixels
}

export function logAxis(low: number, high: number, from: number, to: number, labelWide: number): LogAxis {
  const least = Math.max(low, 1e-9);
  const most = Math.max(high, least * 1.5);
  const wide = Math.log(most / least);
  const at = (value: number) => from + (Math.log(Math.max(value, 1e-12) / least) / wide) * (to - from);
  const decades = wide / Math.LN10;
  const room = Math.abs(to - from) / Math.max(decades, 0.1);
  const leads = room > labelWide * 3.4 ? [1, 2, 5] : room > labelWide * 2.2 ? [1, 3] : [1];
  const every = Math.max(1, Math.ceil(labelWide / room)); // decades between labels
  const ticks: number[] = [];
  const minor: number[] = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power++) {
    for (let lead = 1; lead < 10; lead++) {
      const value = lead * 10 ** power;
      if (value < least * 0.999 || value > most * 1.001) continue;
      if (leads.includes(lead) && (lead > 1 || power % every === 0)) ticks.push(value);
      else minor.push(value);
    }
  }
  const value = (x: number) => least * Math.exp(((x - from) / (to - from)) * wide);
  return { low: least, high: most, ticks, minor, at, value };
}

// shortTime labels a tick: round values in the largest unit that keeps them at one or more.
export function shortTime(seconds: number): string {
  const units: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
  const [factor, name] = units.find(([from]) => seconds >= from * 0.9995) ?? units[3]!;
  return `${Number((seconds / factor).toPrecision(3))}\u00a0${name}`;
}
