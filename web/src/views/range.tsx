// What the requests of a range did, against all others of their kind: a ranking and a flame graph.
import { useMemo, useState } from "preact/hooks";
import { amount, digits, signedAmount, visible } from "../lib/format";
import type { Theme } from "../lib/hooks";
import { rangeTree, sumRange, type Kept, type Range, type Spent } from "../state/requests";
import { Tree } from "../state/tree";
import { FlameGraph } from "./flame";
import { SortTable, type Column } from "./sorttable";

export function classWords(kind: string, before: boolean): string {
  const words: Record<string, string> = {
    cpu: "runs", queued: "waits for a CPU", disk: "disk and file", fault: "page fault", net: "network",
    handover: "between threads", other: "other wait", unknown: "not known", idle: "nobody ready",
    upload: "upload", answer: "sends the answer",
  };
  const text = words[kind] ?? visible(kind, 40);
  return before ? `unread; its thread: ${text}` : text;
}

const columns: Column<Spent>[] = [
  { title: "What", sort: (row) => classWords(row.kind, row.before), cell: (row) => classWords(row.kind, row.before) },
  {
    title: "Where", sort: (row) => visible(row.where),
    cell: (row) => <code><bdi>{visible(row.where, 90)}</bdi></code>,
  },
  { title: "Held by", sort: (row) => visible(row.heldBy), cell: (row) => <bdi>{visible(row.heldBy, 90)}</bdi> },
  { title: "In the range", number: true, sort: (row) => row.inside, cell: (row) => amount(row.inside, "s") },
  { title: "In the others", number: true, wide: true, sort: (row) => row.rest, cell: (row) => amount(row.rest, "s") },
  {
    title: "More", number: true, sort: (row) => row.inside - row.rest,
    cell: (row) => signedAmount(row.inside - row.rest, "s"),
  },
];

export function RangePanel({ kept, kind, range, theme }: { kept: Kept; kind: number; range: Range; theme: Theme }) {
  const [search, setSearch] = useState("");
  const sum = useMemo(() => sumRange(kept, kind, range), [kept, kind, range]);
  const tree = useMemo(() => {
    const found = rangeTree(kept, kind, range);
    return found ? new Tree(found) : null;
  }, [kept, kind, range]);
  return (
    <div class="rangepanel">
      <h3>What the requests of the range did</h3>
      {sum.inside === 0 ? (
        <p class="muted small">
          None of them was kept in full. All slow ones are, once what is slow was learned, and a sample of the others.
        </p>
      ) : (
        <>
          <p class="muted small">
            {digits(sum.inside)} of them were kept in full. Amounts are those of one request, against all others of
            their kind; the same recording is no test of a difference.
            {kept.side.kept_left > 0 && ` ${digits(kept.side.kept_left)} that were kept are left out of this page.`}
          </p>
          <SortTable label="What the requests of the range did" rows={sum.rows} columns={columns} start={5} limit={8}
            id={(row) => [row.kind, row.before, row.where, row.heldBy].join("|")}
            faint={(row) => row.inside < row.rest} />
          {tree && (
            <FlameGraph key={`${range.from}|${range.to}|${range.low}|${range.high}`} tree={tree} per="request" oneSided
              theme={theme} search={search} onSearch={setSearch} signals={null} label="the requests of the range" />
          )}
        </>
      )}
    </div>
  );
}
