// One metric of an experiment: its trials by level, the ratios with their intervals, and its course
// by a factor.
import { useMemo } from "preact/hooks";
import type { ExperimentWords, Metric, Result } from "../api/experiment";
import { axis, widthMin } from "../draw/axis";
import { scaleOf } from "../draw/plane";
import { amount, amounts, digits, known, metricNoun, percent, visible } from "../lib/format";
import { useWidth } from "../lib/hooks";
import { levelRows, responses, type LevelRow } from "../state/experiment";
import { effectsOf, EffectTable, times } from "./effects";
import { Section } from "./parts";
import { ResponsePlot } from "./response";
import { SortTable, type Column } from "./sorttable";

export function Levels({ id, found, words, metric }: {
  id: string; found: Result; words: ExperimentWords; metric: Metric;
}) {
  const rows = useMemo(() => levelRows(found, words.conditions, metric), [found, metric]);
  const courses = useMemo(() => responses(found, rows), [rows]);
  const name = metricNoun(metric.name);
  return (
    <Section id={id} title={name} note={metric.higher ? "Higher is better." : "Lower is better."}>
      <div class="plots">
        <Dots rows={rows} metric={metric} />
        <Ratios found={found} words={words} metric={metric} />
      </div>
      <details class="more" open>
        <summary>Tables of the same data</summary>
        <LevelTable rows={rows} metric={metric} />
        <EffectTable label={`Effects on ${name}`} found={found} words={words} metric={metric.name} />
      </details>
      {courses.map((course, i) => (
        <ResponsePlot key={i} course={course} metric={metric}
          trend={found.trends.find((t) => t.factor === course.factor && t.metric === metric.name)} />
      ))}
    </Section>
  );
}

function LevelTable({ rows, metric }: { rows: LevelRow[]; metric: Metric }) {
  const unit = visible(metric.unit ?? "", 20);
  const value = (title: string, of: (row: LevelRow) => number | null | undefined): Column<LevelRow> => ({
    title, number: true, sort: (row) => of(row) ?? NaN, cell: (row) => (known(of(row)) ? amount(of(row), unit) : ""),
  });
  const columns: Column<LevelRow>[] = [
    { title: "Level", sort: (row) => row.name, cell: (row) => <bdi>{row.name}</bdi> },
    { title: "Trials", number: true, sort: (row) => row.trials, cell: (row) => row.trials },
    value("Median", (row) => row.spread?.median), value("Low", (row) => row.spread?.low),
    value("High", (row) => row.spread?.high),
  ];
  return (
    <SortTable label={`Levels by ${metricNoun(metric.name)}`} rows={rows} columns={columns} start={-1}
      id={(_, place) => place} />
  );
}

const rowTall = 40;

// Dots is a row for each condition, a dot for each trial.
function Dots({ rows, metric }: { rows: LevelRow[]; metric: Metric }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const unit = visible(metric.unit ?? "", 20);
  const counted = rows.flatMap((row) => row.dots.filter((dot) => dot.valid).map((dot) => dot.value));
  const scale = axis(counted, 10, width - 10, Math.floor(width / 90));
  const labels = amounts(scale.ticks, unit);
  const bounded = (value: number) => Math.max(4, Math.min(width - 4, scale.at(value)));
  const height = rows.length * rowTall + 24;
  return (
    <figure ref={ref} class="plot">
      <figcaption>Trials: a dot is one, a hollow one was left out, the line is the median</figcaption>
      {width > widthMin && (
        <svg width={width} height={height} role="img"
          aria-label={`${metricNoun(metric.name)} by level. ${rows.map(told(unit)).join(". ")}`.slice(0, 2000)}>
          {scale.ticks.map((tick, i) => (
            <g key={tick}>
              <line class="grid" x1={scale.at(tick)} x2={scale.at(tick)} y1={0} y2={height - 20} />
              <text class="tick" x={scale.at(tick)} y={height - 6} text-anchor="middle">{labels[i]}</text>
            </g>
          ))}
          {rows.map((row, i) => (
            <g key={i} class="rowA">
              <text class="rowname" x={2} y={i * rowTall + 13}>{row.name.slice(0, Math.floor(width / 7))}</text>
              {row.dots.map((dot, k) => (
                <circle key={k} class={`dot dotA${dot.valid ? "" : " out"}`} cx={bounded(dot.value)}
                  cy={i * rowTall + 20 + ((k * 5) % 15)} r={4}><title>{dot.text}</title></circle>
              ))}
              {known(row.spread?.median) && (
                <line class="median" x1={bounded(row.spread.median)} x2={bounded(row.spread.median)}
                  y1={i * rowTall + 16} y2={i * rowTall + 38} />
              )}
            </g>
          ))}
        </svg>
      )}
      {rows.some((row) => row.more > 0) && <p class="muted small">Some trials are not drawn: the table has all.</p>}
    </figure>
  );
}

const told = (unit: string) => (row: LevelRow) => {
  const trials = `${row.trials} trial${row.trials === 1 ? "" : "s"}`;
  return `${row.name}: ${row.spread ? `median ${amount(row.spread.median, unit)}, ` : ""}${trials}`;
};

const ratioMax = 1e9; // what is beyond stands at the edge

// Ratios is a row for each effect: its interval against no change.
function Ratios({ found, words, metric }: { found: Result; words: ExperimentWords; metric: Metric }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const rows = effectsOf(found, words, metric.name);
  const smallest = known(found.smallest) && found.smallest > 0 ? found.smallest : 0.001;
  const allowed = known(found.allowed) ? found.allowed : 0;
  const inside = (value: number | null): number[] =>
    known(value) && value > 0 ? [Math.min(ratioMax, Math.max(1 / ratioMax, value))] : [];
  const values = rows.flatMap(({ effect: e }) => [...inside(e.ratio), ...inside(e.low), ...inside(e.high)]);
  const limits = [1 / (1 + smallest), 1 + Math.max(smallest, allowed)];
  const scale = scaleOf([...values, ...limits], 10, width - 10, Math.floor(width / 80), true);
  const at = (value: number) => Math.max(2, Math.min(width - 2, scale.at(Math.max(1 / ratioMax, value))));
  const height = rows.length * rowTall + 24;
  const from = allowed > 0 ? 2 : at(limits[0]!);
  const band = allowed > 0 ? `within the ${percent(allowed)} allowed`
    : `less than ${percent(smallest)}, too small to count`;
  const summary = rows.map(({ effect, words: w }) => `${w.name}: ${w.label}, ${span(effect)}`).join(". ");
  return (
    <figure ref={ref} class="plot">
      <figcaption>Ratio to the baseline with its interval, on a log axis; shaded: {band}</figcaption>
      {width > widthMin && (
        <svg width={width} height={height} role="img" aria-label={`Ratios. ${summary}`.slice(0, 2000)}>
          <rect class="same" x={from} width={Math.max(0, at(limits[1]!) - from)} y={0} height={height - 20} />
          {scale.ticks.map((tick) => (
            <g key={tick}>
              <line class="grid" x1={at(tick)} x2={at(tick)} y1={0} y2={height - 20} />
              <text class="tick" x={at(tick)} y={height - 6} text-anchor="middle">{Number(tick.toPrecision(4))}×</text>
            </g>
          ))}
          <line class="zero" x1={at(1)} x2={at(1)} y1={0} y2={height - 20} />
          {rows.map(({ effect, words: w }, i) => (
            <g key={i} class={`effect effect-${w.class}`}>
              <text class="rowname" x={2} y={i * rowTall + 13}>
                {`${w.name}: ${span(effect)}`.slice(0, Math.floor(width / 7))}
              </text>
              {known(effect.low) && known(effect.high) && (
                <line class="span" x1={at(effect.low)} x2={at(effect.high)} y1={i * rowTall + 27}
                  y2={i * rowTall + 27} />
              )}
              {known(effect.ratio) && effect.ratio > 0 && (
                <circle class="ring" cx={at(effect.ratio)} cy={i * rowTall + 27} r={5}>
                  <title>{`${w.name}: ${w.label}, ${span(effect)}`}</title>
                </circle>
              )}
            </g>
          ))}
        </svg>
      )}
    </figure>
  );
}

function span({ ratio, low, high }: { ratio: number | null; low: number | null; high: number | null }): string {
  return times(ratio) + (known(low) && known(high) ? ` (${digits(low)}× to ${digits(high)}×)` : "");
}
