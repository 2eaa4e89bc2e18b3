// Requests: how long they took on A and B, their course over time, what a range of them did, and
// the slowest.
import { useMemo, useState } from "preact/hooks";
import type { RequestPage, RequestSide } from "../api/page";
import { amount, digits, known, visible } from "../lib/format";
import type { Theme } from "../lib/hooks";
import { Kept, pairsOfKinds, quantile, type KindPair, type Range } from "../state/requests";
import { HeatMap } from "./heatmap";
import { LatencyPlot } from "./latencyplot";
import { Choice, Section, SideMark } from "./parts";
import { RangePanel } from "./range";
import { SortTable, type Column } from "./sorttable";
import { TimeLines } from "./timelines";

export const letters = ["A", "B"] as const;

interface Props {
  page: RequestPage;
  told: boolean; // tell in words what was slow
  theme: Theme;
}

export function Requests({ page, told, theme }: Props) {
  const pairs = useMemo(() => pairsOfKinds(page), [page]);
  const [key, setKey] = useState(pairs[0]?.key ?? "");
  const pair = pairs.find((one) => one.key === key) ?? pairs[0];
  if (!pair) return null;
  const twoSided = page.sides.length > 1;
  return (
    <Section id="requests" title={twoSided ? "Requests, A against B" : "Requests"}>
      {told && page.sides.map((side, s) => <Told key={s} side={side} letter={twoSided ? letters[s] : undefined} />)}
      <div class="toolbar">
        <label class="check">
          <span class="muted small">Kind</span>
          <select class="field" value={pair.key} onChange={(event) => setKey(event.currentTarget.value)}>
            {pairs.map((one) => <option key={one.key} value={one.key}>{titleOf(one)}</option>)}
          </select>
        </label>
      </div>
      <LatencyPlot pair={pair} twoSided={twoSided} />
      <KindTable pairs={pairs} twoSided={twoSided} onPick={setKey} picked={pair.key} />
      <Course key={pair.key} page={page} pair={pair} theme={theme} />
    </Section>
  );
}

function titleOf(pair: KindPair): string {
  const kind = pair.kinds.find((one) => one !== null)!;
  return `${visible(pair.name, 60)}, ${visible(kind.service, 60)}`;
}

function Told({ side, letter }: { side: RequestSide; letter: "A" | "B" | undefined }) {
  if (side.told.length === 0) {
    return letter ? <p class="small muted"><SideMark side={letter} /> has no requests recorded.</p> : null;
  }
  return (
    <p class="small">
      {letter && <><SideMark side={letter} /> </>}
      {side.told.map((text) => visible(text, 400)).join(" ")}
      {side.recordings > 1 && ` Latencies are of ${side.recordings} recordings, all else of the first.`}
    </p>
  );
}

interface KindRow {
  pair: KindPair;
  side: number;
}

function KindTable({ pairs, twoSided, picked, onPick }: {
  pairs: KindPair[]; twoSided: boolean; picked: string; onPick: (key: string) => void;
}) {
  const rows = pairs.flatMap((pair): KindRow[] =>
    pair.kinds.flatMap((kind, side) => (kind ? [{ pair, side }] : [])));
  const of = (row: KindRow) => row.pair.kinds[row.side]!;
  const time = (title: string, part: number, wide = false): Column<KindRow> => ({
    title, number: true, wide, sort: (row) => quantile(of(row), part),
    cell: (row) => amount(quantile(of(row), part), "s"),
  });
  const columns: Column<KindRow>[] = [
    {
      title: "Kind", sort: (row) => visible(row.pair.name),
      cell: (row) => (
        <button type="button" class="link" aria-pressed={row.pair.key === picked} onClick={() => onPick(row.pair.key)}>
          <bdi>{visible(row.pair.name, 80)}</bdi>
        </button>
      ),
    },
    ...(twoSided ? [{
      title: "Side", sort: (row: KindRow) => letters[row.side]!,
      cell: (row: KindRow) => <SideMark side={letters[row.side]!} />,
    }] : []),
    { title: "Service", wide: true, sort: (row) => visible(of(row).service), cell: (row) => visible(of(row).service) },
    { title: "Count", number: true, sort: (row) => of(row).count, cell: (row) => digits(of(row).count) },
    {
      title: "Requests/s", number: true, wide: true, sort: (row) => of(row).rate ?? 0,
      cell: (row) => digits(of(row).rate),
    },
    { title: "Errors", number: true, wide: true, sort: (row) => of(row).errors, cell: (row) => digits(of(row).errors) },
    time("p50", 0.5), time("p95", 0.95, true), time("p99", 0.99), time("p99.9", 0.999, true), time("max", 1),
  ];
  return (
    <details class="more" open={pairs.length <= 6}>
      <summary>Table of all kinds ({pairs.length})</summary>
      <SortTable label="Latency by kind of request" rows={rows} columns={columns} start={-1} limit={40}
        id={(row) => `${row.pair.key}|${row.side}`} />
    </details>
  );
}

// Course is what is known of one side over time: the heat map, a range of it, the slowest of the
// range.
function Course({ page, pair, theme }: { page: RequestPage; pair: KindPair; theme: Theme }) {
  const there = page.sides.flatMap((side, s) => (pair.places[s]! >= 0 && side.starts.length > 0 ? [s] : []));
  const [side, setSide] = useState(there[there.length - 1] ?? 0);
  const of = page.sides[side]!;
  const place = pair.places[side] ?? -1;
  const kind = of.kinds[place];
  const kept = useMemo(() => new Kept(of), [of]);
  const over = kind?.over ?? 0;
  const slow = useMemo<Range>(() => ({ from: 0, to: Infinity, low: over, high: Infinity }), [over]);
  const [ranges, setRanges] = useState<Record<number, Range>>({});
  if (!kind || of.starts.length === 0) return null;
  const range = ranges[side] ?? slow;
  const setRange = (next: Range | null) => setRanges({ ...ranges, [side]: next ?? slow });
  return (
    <>
      {there.length > 1 && (
        <div class="toolbar apartbar">
          <Choice label="Over time, of" value={String(side)} options={there.map((s) => [String(s), letters[s]!])}
            onChange={(value) => setSide(Number(value))} />
        </div>
      )}
      <HeatMap key={`heat${side}`} side={of} kind={kind} range={range} theme={theme} onRange={setRange}
        isSlow={ranges[side] === undefined && known(kind.over) && kind.over > 0} />
      {pair.side === "server" && (
        <>
          <RangePanel key={`range${side}`} kept={kept} kind={place} range={range} theme={theme} />
          <TimeLines key={`lines${side}`} kept={kept} kind={place} range={range} />
        </>
      )}
    </>
  );
}
