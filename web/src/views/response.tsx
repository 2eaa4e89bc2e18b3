// Dose and response: a metric by the levels of one factor, a line for each combination of the
// others.
import type { Metric, Trend } from "../api/experiment";
import { pathOf, spansMuch } from "../draw/plane";
import { amount, digits, known, metricNoun, visible } from "../lib/format";
import type { Point, Response, Series } from "../state/experiment";
import { Plane, SeriesLegend, Spot, type Frame } from "./plane";
import { SortTable, type Column } from "./sorttable";

interface Row {
  series: string;
  point: Point;
}

export function ResponsePlot({ course, metric, trend }: {
  course: Response; metric: Metric; trend: Trend | undefined;
}) {
  const unit = visible(metric.unit ?? "", 20);
  const factor = visible(course.factor, 60);
  const name = metricNoun(metric.name);
  const doses = course.series.flatMap((line) => line.points.map((point) => point.x));
  const bounds = course.series.flatMap((line) => line.points.flatMap(({ spread, dots }) => [
    spread.median, ...dots.filter((dot) => dot.valid).map((dot) => dot.value),
  ])).filter(known);
  const several = course.series.length > 1;
  const log = bounds.every((value) => value > 0) && (several || spansMuch(bounds));
  const rows = course.series.flatMap((line) => line.points.map((point) => ({ series: line.name, point })));
  return (
    <div class="response">
      <h3>{name} by {factor}</h3>
      {several && <SeriesLegend names={course.series.map((line) => line.name)} />}
      <Plane caption={`Medians, their 95 % intervals, and a dot for each trial${log ? ", on a log axis" : ""}`}
        summary={`${name} by ${factor}. ${course.series.map((line) => toldOf(line, unit)).join(". ")}`.slice(0, 2000)}
        tall={260}
        x={{ values: doses, log: course.numeric && spansMuch(doses), title: factor,
          ...(course.numeric ? {} : { labels: course.labels }) }}
        y={{ values: bounds, log, title: name, unit }}>
        {(frame) => course.series.map((line, i) => <Line key={i} line={line} number={i} frame={frame} unit={unit} />)}
      </Plane>
      <p class="muted small">
        {several && log && "Lines that run side by side mean that the factors act apart; lines that close or part, " +
          "together. The effects “together more than apart?” test it. "}
        {trend && known(trend.tau) && `${verdictOf(trend, name, factor)} (Kendall’s tau ${digits(trend.tau)}, ` +
          `p ${trend.p === null ? "unknown" : trend.p.toPrecision(2)}).`}
        {course.more > 0 && ` ${course.more} more lines are not drawn: the table of levels has them.`}
      </p>
      <details class="more">
        <summary>Table of the same data</summary>
        <SortTable label={`${name} by ${factor}`} rows={rows} columns={columnsOf(factor, unit, several)} start={-1}
          id={(_, place) => place} />
      </details>
    </div>
  );
}

function verdictOf(trend: Trend, name: string, factor: string): string {
  if (trend.verdict === "undecided") return `${name} cannot be said to rise or fall with ${factor}`;
  return `${name} ${visible(trend.verdict, 20)} with ${factor}`;
}

function toldOf(line: Series, unit: string): string {
  return `${line.name ? line.name + ": " : ""}${line.points.map(({ label, spread }) =>
    `${label}, ${amount(spread.median, unit)}`).join("; ")}`;
}

function columnsOf(factor: string, unit: string, several: boolean): Column<Row>[] {
  const value = (title: string, of: (row: Row) => number | null): Column<Row> => ({
    title, number: true, sort: (row) => of(row) ?? NaN, cell: (row) => (known(of(row)) ? amount(of(row), unit) : ""),
  });
  const columns: Column<Row>[] = [
    { title: factor, number: true, sort: ({ point }) => point.x, cell: ({ point }) => <bdi>{point.label}</bdi> },
    value("Median", ({ point }) => point.spread.median), value("Low", ({ point }) => point.spread.low),
    value("High", ({ point }) => point.spread.high),
  ];
  const series: Column<Row> = { title: "With", sort: (row) => row.series, cell: (row) => <bdi>{row.series}</bdi> };
  if (several) columns.splice(1, 0, series);
  return columns;
}

function Line({ line, number, frame, unit }: { line: Series; number: number; frame: Frame; unit: string }) {
  const kind = `series${number % 4}${number > 3 ? " again" : ""}`;
  const places = line.points.map((point): [number, number] => [frame.x.at(point.x), frame.y.at(point.spread.median!)]);
  const inside = (value: number) => Math.max(frame.top, Math.min(frame.bottom, frame.y.at(value)));
  return (
    <g>
      <path class={`line ${kind}`} d={pathOf(places)} />
      {line.points.map((point, i) => {
        const { low, high, median } = point.spread;
        const [x, y] = places[i]!;
        const text = `${line.name ? line.name + ", " : ""}${point.label}: median ${amount(median, unit)}`;
        return (
          <g key={i}>
            {point.dots.filter((dot) => dot.valid).map((dot, k) => (
              <circle key={k} class={`speck ${kind}`} cx={x + ((k * 5) % 9) - 4} cy={inside(dot.value)} r={2}>
                <title>{dot.text}</title>
              </circle>
            ))}
            {known(low) && known(high) && <path class={`bar95 ${kind}`} d={`M${x} ${inside(low)}V${inside(high)}`} />}
            <Spot series={number} x={x} y={y} text={text} />
          </g>
        );
      })}
    </g>
  );
}
