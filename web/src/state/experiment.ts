// What the pictures of an experiment show: trials by condition, and a metric by the levels of one
// factor.
import type { Factor, Metric, Result, Spread, Trial } from "../api/experiment";
import { amount, known, visible } from "../lib/format";

export interface TrialDot {
  value: number;
  valid: boolean;
  text: string; // what the dot says when pointed at
}

export interface LevelRow {
  name: string;
  trials: number;
  levels: Record<string, string>;
  spread: Spread | undefined;
  dots: TrialDot[];
  more: number; // trials that are not drawn
}

const dotsMax = 400; // of one condition: more cannot be told apart

// levelRows gives a row of dots for each condition.
export function levelRows(r: Result, names: string[], metric: Metric): LevelRow[] {
  const rows: LevelRow[] = r.conditions.map((condition, i) => ({
    name: names[i] ?? "", trials: condition.trials, levels: condition.levels, spread: condition.metrics[metric.name],
    dots: [], more: 0,
  }));
  for (const trial of r.trials) {
    const row = rows[trial.condition];
    const dot = dotOf(trial, metric);
    if (!row || !dot) continue;
    if (row.dots.length < dotsMax) row.dots.push(dot);
    else row.more++;
  }
  return rows;
}

export function dotOf(trial: Trial, metric: Metric): TrialDot | null {
  const value = trial.metrics[metric.name];
  if (trial.kind !== "measure" || !known(value)) return null;
  const why = trial.valid ? "" : `, left out: ${visible(trial.why ?? "", 120) || "no reason given"}`;
  const shown = amount(value, visible(metric.unit ?? "", 20));
  return { value, valid: trial.valid, text: `trial ${trial.order}: ${shown}${why}` };
}

export interface Point {
  x: number; // the level as a number, or its place
  label: string;
  spread: Spread;
  dots: TrialDot[];
}

export interface Series {
  name: string; // the levels of the other factors
  points: Point[];
}

export interface Response {
  factor: string;
  numeric: boolean;
  labels: string[]; // of the levels, where they are no numbers
  series: Series[];
  more: number; // series that are not drawn
}

export const seriesMax = 8;

// doses are the levels of a factor as numbers; null where one is none.
function doses(factor: Factor): number[] | null {
  const values = factor.levels.map((level) => (level.name.trim() === "" ? NaN : Number(level.name)));
  return values.length > 2 && values.every(Number.isFinite) && new Set(values).size === values.length ? values : null;
}

// responses are the factors whose levels make a line: numbers, or any where another factor was
// varied with them.
export function responses(r: Result, rows: LevelRow[]): Response[] {
  const found: Response[] = [];
  for (const factor of r.factors) {
    const numbers = doses(factor);
    const series = seriesOf(r, rows, factor, numbers);
    if (series.length === 0 || (!numbers && (r.design !== "factorial" || series.length < 2))) continue;
    found.push({
      factor: factor.name, numeric: numbers !== null, labels: factor.levels.map((level) => visible(level.name, 40)),
      series: series.slice(0, seriesMax), more: Math.max(0, series.length - seriesMax),
    });
  }
  return found;
}

function seriesOf(r: Result, rows: LevelRow[], factor: Factor, numbers: number[] | null): Series[] {
  const others = r.factors.filter((other) => other !== factor && other.levels.length > 1);
  const series = new Map<string, Series>();
  rows.forEach((row, i) => {
    const place = factor.levels.findIndex((level) => level.name === row.levels[factor.name]);
    if (r.conditions[i]?.control || place < 0 || !row.spread || !known(row.spread.median)) return;
    const key = JSON.stringify(others.map((other) => row.levels[other.name] ?? ""));
    const name = others.map((other) => `${visible(other.name, 40)}=${visible(row.levels[other.name] ?? "", 60)}`);
    const line = series.get(key) ?? { name: name.join(", "), points: [] };
    line.points.push({
      x: numbers?.[place] ?? place, label: visible(factor.levels[place]!.name, 60), spread: row.spread, dots: row.dots,
    });
    series.set(key, line);
  });
  const lines = [...series.values()].filter((line) => line.points.length > 1);
  for (const line of lines) line.points.sort((p, q) => p.x - q.x);
  return lines;
}

// trialsAt are the trials of one level of the load, and of one side of the change.
export function trialsAt(r: Result, metric: string, levels: [string, string | number][]): TrialDot[] {
  const of = r.metrics.find((m) => m.name === metric);
  if (!of) return [];
  const matches = (trial: Trial) => !trial.control && levels.every(([name, level]) => {
    const own = trial.levels[name];
    return own !== undefined && (typeof level === "number" ? Number(own) === level : own === level);
  });
  return r.trials.filter(matches).flatMap((trial) => dotOf(trial, of) ?? []).slice(0, dotsMax);
}
