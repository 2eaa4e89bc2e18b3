// The table of what each level does.
import type { Effect, ExperimentWords, Result } from "../api/experiment";
import type { EffectRow } from "../api/experiment";
import { digits, known, metricNoun, visible, type Num } from "../lib/format";
import { SortTable, type Column } from "./sorttable";

interface Told {
  effect: Effect;
  words: EffectRow;
}

export function effectsOf(found: Result, words: ExperimentWords, metric: string): Told[] {
  const rows = found.effects.map((effect, i) => ({ effect, words: words.effects[i]! }));
  return metric === "" ? rows : rows.filter(({ effect }) => effect.metric === metric);
}

export const times = (ratio: Num): string => (known(ratio) ? `${digits(ratio)}×` : "unknown");

const ratio = (title: string, of: (effect: Effect) => Num): Column<Told> => ({
  title, number: true, sort: ({ effect }) => of(effect) ?? NaN, cell: ({ effect }) => times(of(effect)),
});

const columns: Column<Told>[] = [
  { title: "Level", sort: ({ words }) => words.name, cell: ({ words }) => <bdi>{words.name}</bdi> },
  {
    title: "Against", sort: ({ effect }) => effect.against,
    cell: ({ effect }) => <bdi>{visible(effect.against, 80)}</bdi>,
  },
  { title: "Metric", sort: ({ effect }) => effect.metric, cell: ({ effect }) => metricNoun(effect.metric) },
  ratio("Ratio", (effect) => effect.ratio), ratio("Low", (effect) => effect.low),
  ratio("High", (effect) => effect.high),
  {
    title: "Verdict", sort: ({ effect }) => effect.verdict,
    cell: ({ words }) => (
      <><span class={`told told-${words.class}`}>{words.label}</span>
        {words.note && <span class="muted small"> {words.note}</span>}</>
    ),
  },
  { title: "Blocks", number: true, sort: ({ effect }) => effect.blocks, cell: ({ effect }) => effect.blocks },
];

export function EffectTable({ label, found, words, metric }: {
  label: string; found: Result; words: ExperimentWords; metric: string;
}) {
  const shown = metric === "" ? columns : columns.filter((column) => column.title !== "Metric");
  const rows = effectsOf(found, words, metric);
  if (rows.length === 0) return <p class="muted">No level was compared.</p>;
  return (
    <SortTable label={label} rows={rows} columns={shown} start={-1} limit={60}
      faint={({ effect }) => effect.verdict === "undecided"} id={(_, place) => place} />
  );
}
