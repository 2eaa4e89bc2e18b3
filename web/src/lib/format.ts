// Numbers as people read them; the same rules as internal/report/number.go.
export type Num = number | null | undefined;

const seconds: [number, number, string][] = [
  [600, 1 / 60, "min"], [1, 1, "s"], [1e-3, 1e3, "ms"], [1e-6, 1e6, "µs"], [0, 1e9, "ns"],
];
const bytes: [number, number, string][] = [
  [2 ** 30, 2 ** -30, "GiB"], [2 ** 20, 2 ** -20, "MiB"], [2 ** 10, 2 ** -10, "KiB"], [0, 1, "B"],
];

export const minus = "−";

export function known(value: Num): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

export function digits(value: Num): string {
  if (!known(value)) return "unknown";
  if (value < 0) return minus + digits(-value);
  if (value >= 1e15 || (value !== 0 && value < 1e-4)) return value.toExponential(2);
  if (value >= 1000) return Math.round(value).toLocaleString("en-US");
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 0.1 ? value.toFixed(2) : String(Number(value.toPrecision(2)));
}

function scale(unit: string, largest: number): [number, string] {
  const [of, ...per] = unit.split("/"); // "s/request" is scaled as "s"
  const table = of === "s" || of === "seconds" ? seconds : of === "bytes" || of === "B" ? bytes : null;
  if (!table || largest === 0) return [1, unit];
  const found = table.find(([from]) => largest >= from) ?? table[table.length - 1]!;
  return [found[1], [found[2], ...per].join("/")];
}

// amounts formats values in one unit, that of the largest.
export function amounts(values: Num[], unit: string): string[] {
  const largest = Math.max(0, ...values.filter(known).map(Math.abs));
  const [factor, name] = scale(unit, largest);
  return values.map((v) => (known(v) ? (name ? `${digits(v * factor)}\u00a0${name}` : digits(v * factor)) : "unknown"));
}

export function amount(value: Num, unit: string): string {
  return amounts([value], unit)[0]!;
}

export function signedAmount(value: Num, unit: string): string {
  return known(value) && value > 0 ? "+" + amount(value, unit) : amount(value, unit);
}

export function percent(fraction: Num): string {
  if (!known(fraction)) return "unknown";
  const value = Math.abs(fraction * 100);
  const text = value.toFixed(value >= 9.95 ? 0 : 1).replace(/\.0$/, "");
  if (Number(text) === 0) return "0\u00a0%";
  return `${fraction < 0 ? minus : ""}${text}\u00a0%`;
}

export function signedPercent(fraction: Num): string {
  const text = percent(fraction);
  return known(fraction) && fraction > 0 && text !== percent(0) ? "+" + text : text;
}

export function metricNoun(name: string): string {
  return name === "wall" ? "wall time" : name === "cpu" ? "CPU time" : visible(name, 60);
}

// visible spells out what would not show, or would change how other text shows.
export function visible(text: string, limit = 200): string {
  const shown = text.length > limit ? text.slice(0, limit) + "…" : text;
  return shown.replace(/[\p{C}\p{Zl}\p{Zp}]|(?<=\p{M}{2})\p{M}/gu, (c) => {
    const code = c.codePointAt(0) ?? 0;
    if (c === "\n") return "\\n";
    if (c === "\t") return "\\t";
    return code < 0x100 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0");
  });
}

// visiblePath shows "main;loop;write" with arrows, the outer frames left out where it is long.
export function visiblePath(path: string | string[], limit = 160): string {
  const frames = typeof path === "string" ? path.split(";") : path;
  let text = "";
  for (let i = frames.length - 1; i >= 0; i--) {
    const name = visible(frames[i]!);
    if (text && name.length + text.length + 3 > limit) return "… › " + text;
    text = text ? `${name} › ${text}` : name;
  }
  return text;
}

// pattern makes a regular expression of what was typed; what is none is searched as it stands.
export function pattern(text: string): RegExp | null {
  if (!text) return null;
  try {
    return new RegExp(text, "i");
  } catch {
    return new RegExp(literal(text), "i");
  }
}

export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
