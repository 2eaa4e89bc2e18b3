// Values of hosts, in words and numbers.
import type { HostValue, Interval } from "../api/fleet";
import { amount, digits, known, minus, percent, type Num } from "../lib/format";

// unitOf is the unit of a host's value as it is shown: times come in nanoseconds.
export function unitOf(unit: string): string {
  return unit.endsWith(", ns") ? "s" : unit.endsWith(", cores") ? "cores" : "";
}

// unitTitle heads a column of such values, as they are in a file: "CPU time per request, s".
export function unitTitle(unit: string): string {
  return unitOf(unit) === "s" ? unit.replace(/, ns$/, ", s") : unit || "Value";
}

// unitName is what is measured, where the unit stands at each value.
export function unitName(unit: string): string {
  return unit.replace(/, (ns|cores)$/, "");
}

// shown is a value in the unit that it is shown in.
export function shown(value: Num, unit: string): number | null {
  if (!known(value)) return null;
  return unitOf(unit) === "s" ? value / 1e9 : value;
}

export function valueText(value: Num, unit: string): string {
  const name = unitOf(unit);
  return name === "s" ? amount(shown(value, unit), "s") : name ? `${digits(value)} ${name}` : digits(value);
}

export function utc(second: number): string {
  const at = new Date(second * 1000);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().slice(0, 16).replace("T", " ");
}

// points is a small change: half a per cent of a fleet has two digits behind the point.
export function points(fraction: Num): string {
  if (!known(fraction)) return "unknown";
  const sign = fraction < 0 ? minus : "+";
  if (Math.abs(fraction) >= 0.1) return sign + percent(Math.abs(fraction));
  return `${sign}${(Math.abs(fraction) * 100).toFixed(2)}\u00a0%`;
}

export function between({ low, high }: Interval, text: (value: Num) => string): string {
  return known(low) && known(high) ? `95 % between ${text(low)} and ${text(high)}` : "no interval";
}

export function labelsOf(host: HostValue): string {
  return Object.entries(host.labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `${key}=${value}`)
    .join(" ");
}
