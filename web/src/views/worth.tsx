// Is it worth it: the load at which a change breaks even, and how far more workers help.
import { useState } from "preact/hooks";
import type { Result } from "../api/experiment";
import type { Answer, Level, Scaling, ScalingView, ScalingWorker, WeighedView } from "../api/worth";
import { pathOf, spansMuch } from "../draw/plane";
import { amount, digits, known, metricNoun, percent, signedAmount, visible, type Num } from "../lib/format";
import { trialsAt } from "../state/experiment";
import { Section } from "./parts";
import { Plane, SeriesLegend, Spot, type Frame } from "./plane";
import { SortTable, type Column } from "./sorttable";

export function Worth({ found, views }: { found: Result; views: WeighedView[] }) {
  const [chosen, setChosen] = useState(0);
  const view = views[chosen] ?? views[0]!;
  const { answer } = view;
  return (
    <Section id="worth" title="Is it worth it?">
      {views.length > 1 && (
        <p class="toolbar">
          <select class="field" aria-label="Metric and load" value={chosen}
            onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {views.map(({ title }, i) => <option key={i} value={i}>{title}</option>)}
          </select>
        </p>
      )}
      {views.length === 1 && <p class="muted note">{view.title}</p>}
      {(answer.levels?.length ?? 0) > 0 && <BreakEvenPlot answer={answer} />}
      {view.saving.map((line, i) => <p key={i} class="detail">{line}</p>)}
      {answer.scaling?.map((scaling, i) => (
        <ScalingPlot key={`${chosen} ${i}`} found={found} answer={answer} scaling={scaling} words={view.scaling[i]!} />
      ))}
      {answer.warnings.map((warning, i) => <p key={i} class="muted small">{visible(warning, 1000)}</p>)}
    </Section>
  );
}

const numbers = (values: Num[]): number[] => values.filter(known);

function BreakEvenPlot({ answer }: { answer: Answer }) {
  const levels = answer.levels ?? [];
  const unit = visible(answer.unit ?? "", 20);
  const load = visible(answer.load, 60);
  const change = visible(answer.change ?? "", 60);
  const loads = numbers(levels.map((level) => level.load));
  const bounds = numbers(levels.flatMap(({ difference: d }) => [d.value, d.low, d.high]));
  const even = answer.break_even;
  const text = visible(even?.text ?? "", 300);
  const told = levels.map((level) => `${digits(level.load)}: ${signedAmount(level.difference.value, unit)}, ` +
    visible(level.verdict, 20));
  return (
    <div class="response">
      <h3>Break-even</h3>
      {even && <p class="detail">{even.found ? `It breaks even ${text}.` : text}</p>}
      <p class="muted small">
        A is {change}=<bdi>{visible(answer.a ?? "", 80)}</bdi>,
        B is {change}=<bdi>{visible(answer.b ?? "", 80)}</bdi>; {answer.blocks} blocks.
      </p>
      <Plane caption={`What B costs more than A, ${metricNoun(answer.metric)}, by ${load}, with 95 % intervals` +
        `${even?.found ? "; shaded upright: where the crossing lies" : ""}`}
        summary={`What B costs by ${load}. ${told.join("; ")}. ${text}`}
        tall={280} x={{ values: loads, log: spansMuch(loads), title: load }}
        y={{ values: [...bounds, 0], log: false, title: "B costs", unit }}>
        {(frame) => <Crossing answer={answer} frame={frame} unit={unit} />}
      </Plane>
      <details class="more" open>
        <summary>Table of the same data</summary>
        <SortTable label={`Break-even of ${change} by ${load}`} rows={levels} columns={levelColumns(load, unit)}
          start={-1} id={(_, place) => place} />
      </details>
    </div>
  );
}

function Crossing({ answer, frame, unit }: { answer: Answer; frame: Frame; unit: string }) {
  const levels = (answer.levels ?? []).filter(({ load, difference }) => known(load) && known(difference.value));
  const even = answer.break_even;
  const at = (pick: (level: Level) => Num) => levels.map((level): [number, number] =>
    [frame.x.at(level.load!), frame.y.at(pick(level) ?? level.difference.value!)]);
  const from = even?.found ? (known(even.low) ? frame.x.at(even.low) : frame.left) : 0;
  const to = even?.found ? (known(even.high) ? frame.x.at(even.high) : frame.right) : 0;
  const upper = at((level) => level.difference.high);
  const lower = at((level) => level.difference.low).reverse();
  return (
    <>
      {to > from && (
        <rect class="crossing" x={from} width={to - from} y={frame.top} height={frame.bottom - frame.top} />
      )}
      <path class="belt" d={`${pathOf([...upper, ...lower])}Z`} />
      <line class="zero" x1={frame.left} x2={frame.right} y1={frame.y.at(0)} y2={frame.y.at(0)} />
      <path class="line series0" d={pathOf(at((level) => level.difference.value))} />
      {even?.found && known(even.load) && (
        <line class="mark" x1={frame.x.at(even.load)} x2={frame.x.at(even.load)} y1={frame.top} y2={frame.bottom}>
          <title>{`breaks even at ${digits(even.load)}`}</title>
        </line>
      )}
      {levels.map((level, i) => {
        const x = frame.x.at(level.load!);
        const { value, low, high } = level.difference;
        return (
          <g key={i}>
            {known(low) && known(high) && (
              <path class="bar95 series0" d={`M${x} ${frame.y.at(low)}V${frame.y.at(high)}`} />
            )}
            <Spot series={0} x={x} y={frame.y.at(value!)} hollow={level.verdict === "undecided"}
              text={`${digits(level.load)}: ${signedAmount(value, unit)}, ${visible(level.verdict, 20)}`} />
          </g>
        );
      })}
      <text class="tick" x={frame.right} y={frame.top + 10} text-anchor="end">↑ B costs</text>
      <text class="tick" x={frame.right} y={frame.bottom - 5} text-anchor="end">↓ B saves</text>
    </>
  );
}

function levelColumns(load: string, unit: string): Column<Level>[] {
  const value = (title: string, of: (level: Level) => Num, text: (value: Num, unit: string) => string): Column<Level> =>
    ({ title, number: true, sort: (level) => of(level) ?? NaN, cell: (level) => text(of(level), unit) });
  return [
    { title: load, number: true, sort: (level) => level.load ?? NaN, cell: (level) => digits(level.load) },
    value("A", (level) => level.a, amount), value("B", (level) => level.b, amount),
    value("B costs", (level) => level.difference.value, signedAmount),
    value("Low", (level) => level.difference.low, signedAmount),
    value("High", (level) => level.difference.high, signedAmount),
    {
      title: "Verdict", sort: (level) => level.verdict,
      cell: ({ verdict }) => <span class={`told told-${verdict}`}>{visible(verdict, 20)}</span>,
    },
    { title: "Pairs", number: true, sort: (level) => level.pairs, cell: (level) => level.pairs },
  ];
}

const stepsOfCurve = 120;
// A job that is the same with each number of workers is weighed by how many would run in a second
// of wall time.
const runsPerSecond = "runs/s";
const wall = "wall";

function ScalingPlot({ found, answer, scaling, words }: {
  found: Result; answer: Answer; scaling: Scaling; words: ScalingView;
}) {
  const load = visible(answer.load, 60);
  const jobs = scaling.metric === runsPerSecond;
  const noun = metricNoun(scaling.metric);
  const unit = jobs ? runsPerSecond : visible(answer.unit ?? "", 20);
  const levels = scaling.levels.filter((level) => known(level.workers) && known(level.measured));
  const workers = levels.map((level) => level.workers!);
  const law = lawOf(scaling);
  const at = (n: number): [string, string | number][] =>
    [[answer.load, n], ...(answer.change ? [[answer.change, scaling.side ?? ""] as [string, string]] : [])];
  const dots = levels.flatMap((level) => trialsAt(found, jobs ? wall : scaling.metric, at(level.workers!)).map((dot) =>
    ({ ...dot, value: jobs ? 1 / dot.value : dot.value, n: level.workers! })));
  const tops = numbers([...levels.flatMap((level) => [level.measured, level.law]), ...dots.map((dot) => dot.value)]);
  const most = Math.max(...workers);
  const peak = known(scaling.peak) && scaling.peak > 0 && scaling.peak <= most ? scaling.peak : null;
  const first = levels[0];
  const side = scaling.side ? `, ${visible(scaling.side, 60)}` : "";
  return (
    <div class="response">
      <h3>Scaling {words.head}</h3>
      {words.terms && <p class="muted small">{words.terms}.</p>}
      <SeriesLegend names={["measured", law ? "by the law" : "", "perfect"].filter(Boolean)} />
      <Plane caption={`${noun} by ${load}${side}: medians and a dot for each trial`}
        summary={`${noun} by ${load}. ${levels.map((level) => `${digits(level.workers)}: ` +
          `${digits(level.measured)} of ${digits(level.perfect)} expected`).join("; ")}. ${words.head}. ${words.terms}`}
        tall={290} x={{ values: workers, log: spansMuch(workers), title: load }}
        y={{ values: [0, ...tops], log: false, title: noun, unit }}>
        {(frame) => (
          <>
            {first && known(first.perfect) && <Perfect levels={levels} frame={frame} />}
            {law && <path class="line series1" d={pathOf(curve(law, Math.min(...workers), most).map(([n, value]) =>
              [frame.x.at(n), frame.y.at(value)]))} />}
            {peak !== null && (
              <line class="mark" x1={frame.x.at(peak)} x2={frame.x.at(peak)} y1={frame.top} y2={frame.bottom}>
                <title>{`the most by the law, with ${digits(peak)}`}</title>
              </line>
            )}
            {dots.filter((dot) => dot.valid).map((dot, i) => (
              <circle key={i} class="speck series0" cx={frame.x.at(dot.n) + ((i * 5) % 9) - 4}
                cy={frame.y.at(dot.value)} r={2}><title>{dot.text}</title></circle>
            ))}
            {levels.map((level, i) => (
              <Spot key={i} series={0} x={frame.x.at(level.workers!)} y={frame.y.at(level.measured!)}
                hollow={level.beyond ?? false}
                text={`${digits(level.workers)}: ${amount(level.measured, unit)}` +
                  (level.beyond ? ", all CPUs busy" : "")} />
            ))}
          </>
        )}
      </Plane>
      {words.loss && <p class="small">Loss: {words.loss}.</p>}
      <details class="more" open>
        <summary>Table of the same data</summary>
        <SortTable label={`Scaling ${words.head}`} rows={levels} columns={workerColumns(load, unit)} start={-1}
          faint={(level) => level.beyond ?? false} id={(_, place) => place} />
      </details>
    </div>
  );
}

// Perfect is the line of workers that do not slow each other, as far as the picture reaches.
function Perfect({ levels, frame }: { levels: ScalingWorker[]; frame: Frame }) {
  const places = levels.filter((level) => known(level.perfect)).map((level): [number, number] =>
    [frame.x.at(level.workers!), frame.y.at(level.perfect!)]);
  const inside: [number, number][] = [];
  for (const [i, [x, y]] of places.entries()) {
    const before = places[i - 1];
    if (y >= frame.top) {
      inside.push([x, y]);
    } else {
      if (before) inside.push([before[0] + ((frame.top - before[1]) / (y - before[1])) * (x - before[0]), frame.top]);
      break;
    }
  }
  return <path class="line series2" d={pathOf(inside)} />;
}

type Law = (n: number) => number;

// lawOf is the Universal Scalability Law with the terms that were fitted.
function lawOf({ law }: Scaling): Law | null {
  if (!law || !known(law.one) || !known(law.contention) || !known(law.coherence)) return null;
  const { one, contention, coherence } = law;
  return (n) => (one * n) / (1 + contention * (n - 1) + coherence * n * (n - 1));
}

function curve(law: Law, from: number, to: number): [number, number][] {
  return Array.from({ length: stepsOfCurve + 1 }, (_, i) => {
    const n = from + ((to - from) * i) / stepsOfCurve;
    return [n, law(n)];
  });
}

function workerColumns(load: string, unit: string): Column<ScalingWorker>[] {
  type Worker = Column<ScalingWorker>;
  const value = (title: string, of: (level: ScalingWorker) => Num, text: (value: Num) => string): Worker => ({
    title, number: true, sort: (level) => of(level) ?? NaN,
    cell: (level) => (known(of(level)) ? text(of(level)) : ""),
  });
  const much = (value: Num) => amount(value, unit);
  return [
    value(load, (level) => level.workers, digits), value("Measured", (level) => level.measured, much),
    value("Perfect", (level) => level.perfect, much),
    value("Of perfect", (level) => (level.perfect ? (level.measured ?? NaN) / level.perfect : null), percent),
    value("By the law", (level) => level.law || null, much),
    value("CPU time a unit", (level) => level.cpu_cost || null, (cost) => `${digits(cost)}×`),
    value("CPUs used", (level) => level.cores || null, digits),
    {
      title: "CPUs", sort: (level) => (level.beyond ? 1 : 0),
      cell: (level) => (level.beyond ? "all busy" : "to spare"),
    },
  ];
}
