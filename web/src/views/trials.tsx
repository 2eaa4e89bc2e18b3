// The trials as dots: what was measured, before any statistics.
import { useState } from "preact/hooks";
import type { Case, Metric } from "../api/case";
import type { Verdict } from "../api/page";
import { axis, widthMin, type Axis } from "../draw/axis";
import { amount, amounts, known, metricNoun, percent } from "../lib/format";
import { useWidth } from "../lib/hooks";
import { pairsOf, rowsOf, type Dot, type DotRow } from "../state/trials";
import { Choice, Section } from "./parts";
import { PairPlot } from "./pairs";
import { TrialTable } from "./trialtable";

export function Trials({ found, words }: { found: Case; words: Verdict }) {
  const metrics: Metric[] = [found.metric];
  for (const { metric } of found.metrics) if (!metrics.some((m) => m.name === metric.name)) metrics.push(metric);
  const [name, setName] = useState(found.metric.name);
  const metric = metrics.find((m) => m.name === name) ?? found.metric;
  const rows = rowsOf(found, metric.name);
  const pairs = found.b ? pairsOf(found, metric.name) : [];
  const tested = found.metrics.find((m) => m.metric.name === metric.name)?.effect;
  const effect = metric.name === found.metric.name ? (found.effect ?? tested) : tested;
  const better = metric.better === "higher" ? "more is better" : "less is better";
  return (
    <Section id="trials" title="Trials">
      <div class="toolbar">
        {metrics.length > 1 && (
          <Choice label="Metric" value={metric.name} onChange={setName}
            options={metrics.map((m) => [m.name, metricNoun(m.name)])} />
        )}
        {rows.length > 0 && (
          <span class="muted small">One dot is one {words.kept}; {better}. Hollow dots were left out.</span>
        )}
      </div>
      {rows.length === 0 ? <p class="muted">None: nothing was run to be compared.</p> : (
        <div class="plots">
          <RunPlot rows={rows} metric={metric} words={words} />
          {pairs.length > 0 && (
            <PairPlot pairs={pairs} effect={effect} smallest={found.smallest}
              higherIsBetter={metric.better === "higher"} />
          )}
        </div>
      )}
      <TrialTable found={found} metrics={metrics} kept={words.kept} />
      {words.left_out.count && (
        <p class="small">{words.left_out.count}{words.left_out.why && `: ${words.left_out.why}`}.</p>
      )}
      {effect && known(effect.confidence) && pairs.length > 0 && (
        <p class="muted small">
          A and B ran in random order within each pair. The bar is the {percent(effect.confidence)} interval of the
          effect: were the whole investigation repeated, such intervals would hold the true effect that often.
        </p>
      )}
    </Section>
  );
}

const rowTall = 34;
const charWide = 6.6;

function RunPlot({ rows, metric, words }: { rows: DotRow[]; metric: Metric; words: Verdict }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const labelWide = Math.min(width * 0.4, 44 + charWide * Math.max(...rows.map((row) => row.name.length)));
  const values = rows.flatMap((row) => row.dots.map((dot) => dot.value));
  const scale = axis(values, labelWide, width - 20, Math.floor((width - labelWide) / 80));
  const height = rows.length * rowTall + 34;
  const labels = amounts([...scale.ticks, Math.max(...values)], metric.unit)
    .map((label) => label.replace(/(\.\d*?)0+(?=\s)/, "$1").replace(/\.(?=\s)/, ""));
  return (
    <figure ref={ref} class="plot">
      <figcaption>{metricNoun(metric.name)} per {words.per}</figcaption>
      {width > widthMin && (
        <svg width={width} height={height} role="img" aria-label={summary(rows, metric, words.kept)}>
          {scale.ticks.map((tick, i) => (
            <g key={tick}>
              <line class="grid" x1={scale.at(tick)} x2={scale.at(tick)} y1={0} y2={height - 26} />
              <text class="tick" x={scale.at(tick)} y={height - 10} text-anchor="middle">{labels[i]}</text>
            </g>
          ))}
          {rows.map((row, i) => (
            <Row key={i} row={row} y={i * rowTall + rowTall / 2 + 2} scale={scale} unit={metric.unit} />
          ))}
        </svg>
      )}
    </figure>
  );
}

function summary(rows: DotRow[], metric: Metric, kept: string): string {
  const parts = rows.map(({ side, name, dots, median }) =>
    `${side} ${name}: ${dots.length} ${kept}${dots.length === 1 ? "" : "s"}, median ${amount(median, metric.unit)}`);
  return `${metricNoun(metric.name)}. ${parts.join(". ")}`;
}

function Row({ row, y, scale, unit }: { row: DotRow; y: number; scale: Axis; unit: string }) {
  const letter = row.side;
  return (
    <g class={`row row${letter} ${row.kind === "measure" ? "" : "apart"}`}>
      <rect class="badge" x={0} y={y - 9} width={18} height={18} rx={letter === "A" ? 9 : 3} />
      <text class="badgetext" x={9} y={y + 4} text-anchor="middle">{letter}</text>
      <text class="rowname" x={25} y={y + 4}>{fitted(row.name, scale.left - 34)}</text>
      {row.dots.map((dot, i) => (
        <Mark key={i} side={letter} x={scale.at(dot.value)} y={y + jitter(i, row.dots.length)} dot={dot}
          text={`${dot.text}: ${amount(dot.value, unit)}`} />
      ))}
      {row.median !== null && (
        <line class="median" x1={scale.at(row.median)} x2={scale.at(row.median)} y1={y - 13} y2={y + 13}>
          <title>{`median ${amount(row.median, unit)}`}</title>
        </line>
      )}
    </g>
  );
}

function fitted(name: string, room: number): string {
  const letters = Math.floor(room / charWide);
  return name.length > letters ? name.slice(0, Math.max(0, letters - 1)) + "…" : name;
}

// jitter spreads the dots downwards in the order they ran, so that drift shows as a slant.
function jitter(place: number, count: number): number {
  return count < 2 ? 0 : (place / (count - 1) - 0.5) * 16;
}

// Mark is round for A and square for B: the shape says the side without colour.
export function Mark({ side, x, y, dot, text }: { side: "A" | "B"; x: number; y: number; dot: Dot; text: string }) {
  const kind = `dot dot${side}${dot.valid ? "" : " out"}`;
  return side === "A"
    ? <circle class={kind} cx={x} cy={y} r={4}><title>{text}</title></circle>
    : <rect class={kind} x={x - 3.6} y={y - 3.6} width={7.2} height={7.2}><title>{text}</title></rect>;
}

