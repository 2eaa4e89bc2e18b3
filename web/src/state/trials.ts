// What of the trials the dot plots show.
import type { Case, Run } from "../api/case";
import { known, visible } from "../lib/format";

export interface Dot {
  value: number;
  valid: boolean;
  text: string; // what the dot says when pointed at
}

export interface DotRow {
  side: "A" | "B";
  name: string;
  kind: string;
  dots: Dot[];
  median: number | null;
}

export interface PairDot extends Dot {
  pair: number;
}

function sideOf(run: Run): "A" | "B" {
  return run.side === "B" ? "B" : "A";
}

function dotOf(run: Run, metric: string): Dot | null {
  const value = run.metrics[metric];
  if (!known(value)) return null;
  const why = run.valid ? "" : `, left out: ${visible(run.why ?? "", 120) || "no reason given"}`;
  return { value, valid: run.valid, text: `${run.side}, ${run.kind}, trial ${run.order}${why}` };
}

function median(values: number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((x, y) => x - y);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const kindNames: Record<string, string> = { measure: "", evidence: "recorded", proof: "proof" };

// rowsOf puts the trials into rows: the ones that decide first, then the recorded
// ones, then each level of a proof.
export function rowsOf(found: Case, metric: string): DotRow[] {
  const rows = new Map<string, DotRow>();
  for (const kind of ["measure", "evidence", "proof"]) {
    for (const run of found.trials.filter((r) => r.kind === kind).sort(byPlace)) {
      const dot = dotOf(run, metric);
      if (!dot) continue;
      const level = kind === "proof" ? visible(run.level ?? "", 24) : "";
      const key = `${kind}|${level}|${run.side}`;
      let row = rows.get(key);
      if (!row) {
        const name = [kindNames[kind], level].filter(Boolean).join(" ");
        rows.set(key, (row = { side: sideOf(run), name, kind, dots: [], median: null }));
      }
      row.dots.push(dot);
    }
  }
  const all = [...rows.values()];
  for (const row of all) row.median = median(row.dots.filter((d) => d.valid).map((d) => d.value));
  return all;
}

function byPlace(x: Run, y: Run): number {
  return (x.level ?? "").localeCompare(y.level ?? "") || x.side.localeCompare(y.side) || x.order - y.order;
}

// pairsOf gives B against A within each pair that decides, as a part of A.
export function pairsOf(found: Case, metric: string): PairDot[] {
  const sides = new Map<number, { A?: Run; B?: Run }>();
  for (const run of found.trials) {
    if (run.kind !== "measure") continue;
    const pair = sides.get(run.pair) ?? {};
    pair[sideOf(run)] = run;
    sides.set(run.pair, pair);
  }
  const dots: PairDot[] = [];
  for (const [pair, { A, B }] of [...sides].sort(([x], [y]) => x - y)) {
    const a = A?.metrics[metric];
    const b = B?.metrics[metric];
    if (!known(a) || !known(b) || a === 0) continue;
    const valid = (A?.valid && B?.valid) ?? false;
    dots.push({ pair, value: b / a - 1, valid, text: `pair ${pair + 1}${valid ? "" : ", left out"}` });
  }
  return dots;
}
