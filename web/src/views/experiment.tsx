// The page of an experiment from top to bottom.
import { useEffect, useMemo } from "preact/hooks";
import type { Experiment } from "../api/load";
import type { Metric } from "../api/experiment";
import { download } from "../lib/download";
import { amount, known, metricNoun, visible } from "../lib/format";
import { useTheme } from "../lib/hooks";
import { EffectTable } from "./effects";
import { Levels } from "./levels";
import { Origin } from "./origin";
import { Notes, Section } from "./parts";
import { SortTable, type Column } from "./sorttable";
import { Top } from "./top";
import { Worth } from "./worth";

export function ExperimentPage({ experiment }: { experiment: Experiment }) {
  const [theme, setTheme] = useTheme();
  const { found, words, worth } = experiment;
  useEffect(() => {
    document.title = `culprit: ${words.title}`;
  }, []);
  const places: [string, string][] = found.metrics.slice(0, 4).map((m, i) => [`metric-${i}`, metricNoun(m.name)]);
  if (worth.length > 0) places.push(["worth", "Worth it?"]);
  places.push(["effects", "Effects"], ["trials", "Trials"]);
  if (words.lists.length > 0) places.push(["limits", "Limits"]);
  const save = () => download("result.json", "application/json", experiment.text);
  return (
    <>
      <Top places={places} theme={theme} onTheme={setTheme} onSave={save} />
      <main class="page">
        <Answer experiment={experiment} />
        {found.metrics.map((metric, i) => (
          <Levels key={i} id={`metric-${i}`} found={found} words={words} metric={metric} />
        ))}
        {worth.length > 0 && <Worth found={found} views={worth} />}
        <Section id="effects" title="Effects">
          <EffectTable label="Effects" found={found} words={words} metric="" />
        </Section>
        <Trials experiment={experiment} />
        {words.lists.length > 0 && (
          <Section id="limits" title="What goes with this answer">
            <div class="columns">
              {words.lists.map((list) => <Notes key={list.name} title={list.name} notes={list.lines} empty="" />)}
            </div>
          </Section>
        )}
        <Origin host={words.host} schema={found.schema} seed={words.seed} seconds={found.elapsed_s} />
      </main>
    </>
  );
}

function Answer({ experiment: { found, words } }: { experiment: Experiment }) {
  const [first, ...rest] = words.headlines;
  return (
    <section class={`card verdict verdict-${words.class}`} id="verdict" aria-labelledby="headline">
      <p class="outcome">{words.label}</p>
      <h1 id="headline">{first}</h1>
      {rest.map((line, i) => <p key={i} class="detail">{line}</p>)}
      {words.costs.map((cost, i) => (
        <div key={i} class="monitor">
          <h2><span class={`told told-${cost.class}`}>{cost.label}</span> <code><bdi>{cost.name}</bdi></code></h2>
          <ul>{cost.lines.map((line, k) => <li key={k}>{line}</li>)}</ul>
        </div>
      ))}
      {found.command && (
        <p class="detail"><span class="muted">Command </span><code><bdi>{visible(found.command, 600)}</bdi></code></p>
      )}
      <p class="muted small">{words.trials}</p>
    </section>
  );
}

interface TrialRow {
  order: number;
  name: string;
  values: (number | null | undefined)[];
  told: string;
}

// Trials is each trial as it ran.
function Trials({ experiment: { found, words } }: { experiment: Experiment }) {
  const rows = useMemo(
    () => found.trials.map((trial): TrialRow => ({
      order: trial.order, name: words.conditions[trial.condition] ?? "",
      values: found.metrics.map((metric) => trial.metrics[metric.name]),
      told: trial.kind !== "measure" ? visible(trial.kind, 20)
        : trial.valid ? "counts" : `left out: ${visible(trial.why ?? "", 200)}`,
    })), [found]);
  const value = (metric: Metric, i: number): Column<TrialRow> => ({
    title: metricNoun(metric.name) + (found.metrics.findIndex((m) => m.name === metric.name) < i ? ` ${i}` : ""),
    number: true, sort: (row) => row.values[i] ?? NaN,
    cell: (row) => (known(row.values[i]) ? amount(row.values[i], visible(metric.unit ?? "", 20)) : ""),
  });
  const columns: Column<TrialRow>[] = [
    { title: "Trial", number: true, sort: (row) => row.order, cell: (row) => row.order },
    { title: "Level", sort: (row) => row.name, cell: (row) => <bdi>{row.name}</bdi> },
    ...found.metrics.map(value),
    { title: "Counts", sort: (row) => row.told, cell: (row) => row.told },
  ];
  return (
    <Section id="trials" title="Trials" note="In the order in which they ran.">
      <SortTable label="Trials" rows={rows} columns={columns} start={-1} limit={30}
        faint={(row) => row.told !== "counts"} id={(_, place) => place} />
    </Section>
  );
}
