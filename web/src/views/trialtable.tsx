// The table of the trials: all that ran, also what the pictures leave out.
import { useMemo } from "preact/hooks";
import type { Case, Metric, Run } from "../api/case";
import { amount, known, metricNoun, visible } from "../lib/format";
import { SideMark } from "./parts";
import { SortTable, type Column } from "./sorttable";

const kinds: Record<string, string> = { measure: "decides", evidence: "recorded", proof: "proof", warmup: "warm-up" };

// countsFor says what a trial is for, or why it was left out.
function countsFor(run: Run): string {
  const kind = kinds[run.kind] ?? visible(run.kind, 20);
  const told = run.level ? `${kind}, ${visible(run.level, 80)}` : kind;
  return run.valid ? told : `left out: ${visible(run.why ?? "", 200) || "no reason given"}`;
}

export function TrialTable({ found, metrics, kept }: { found: Case; metrics: Metric[]; kept: string }) {
  const columns = useMemo(() => columnsOf(metrics), [found]);
  if (found.trials.length === 0) return null;
  return (
    <details class="more">
      <summary>Table of the same data ({found.trials.length} {kept}{found.trials.length === 1 ? "" : "s"})</summary>
      <SortTable label="Trials" rows={found.trials} columns={columns} start={-1} limit={60}
        faint={(run) => !run.valid} id={(_, place) => place} />
    </details>
  );
}

function columnsOf(metrics: Metric[]): Column<Run>[] {
  return [
    { title: "Order", number: true, sort: (run) => run.order, cell: (run) => run.order },
    { title: "Side", sort: (run) => run.side, cell: (run) => <SideMark side={run.side === "B" ? "B" : "A"} /> },
    { title: "Pair", number: true, wide: true, sort: (run) => run.pair + 1, cell: (run) => run.pair + 1 },
    ...metrics.map(({ name, unit }): Column<Run> => ({
      title: metricNoun(name), number: true, sort: (run) => run.metrics[name] ?? NaN,
      cell: (run) => (known(run.metrics[name]) ? amount(run.metrics[name], unit) : ""),
    })),
    { title: "For", sort: countsFor, cell: countsFor },
  ];
}
