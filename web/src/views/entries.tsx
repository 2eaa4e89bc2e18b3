// The table of entries: cases, experiments and recordings.
import { pathOf } from "../api/ask";
import type { Entry } from "../api/library";
import { amount, digits, known, visible } from "../lib/format";
import { choose, type Change, type Sides } from "./compare";
import { SideMark } from "./parts";
import { SortTable, type Column } from "./sorttable";

interface Props {
  entries: Entry[];
  sides: Sides;
  onSides: Change;
}

const rowsMax = 200;

export function Entries({ entries, sides, onSides }: Props) {
  const columns: Column<Entry>[] = [
    { title: "Name", sort: (e) => e.path, cell: (e) => <Name entry={e} /> },
    {
      title: "Compare", sort: (e) => place(sides, e),
      cell: (e) => (comparable(e)
        ? <Pick paths={[e.path]} name={visible(e.path, 120)} sides={sides} onSides={onSides} /> : null),
    },
    { title: "Kind", wide: true, sort: (e) => e.kind, cell: (e) => <span class="tag">{visible(e.kind, 20)}</span> },
    { title: "Answer", sort: (e) => order(e), cell: (e) => <Answer entry={e} /> },
    {
      title: "When", number: true, wide: true, sort: (e) => Date.parse(e.started) || 0,
      cell: (e) => <time dateTime={e.started}>{when(e.started)}</time>,
    },
    { title: "Took", number: true, wide: true, sort: (e) => e.seconds ?? 0, cell: (e) => took(e) },
    { title: "Size", number: true, wide: true, sort: (e) => e.size, cell: (e) => amount(e.size, "B") },
  ];
  return (
    <SortTable label="Library" rows={entries} columns={columns} start={4} limit={rowsMax}
      faint={(e) => e.damaged !== undefined} id={(e) => `${e.kind} ${e.path}`} />
  );
}

const places: Record<string, string> = { case: "/case/", experiment: "/case/", recording: "/recording/" };

function Name({ entry }: { entry: Entry }) {
  const begin = entry.damaged === undefined ? places[entry.kind] : undefined;
  const shown = entry.path === "." ? "this directory" : visible(entry.path, 120);
  const path = entry.path === "." ? "" : entry.path;
  return (
    <div class="entry">
      {begin ? <a href={pathOf(begin, path)}><bdi>{shown}</bdi></a> : <bdi>{shown}</bdi>}
      {entry.damaged !== undefined
        ? <div class="small">damaged: {visible(entry.damaged, 200)}</div>
        : <div class="small muted"><Commands entry={entry} /></div>}
      {entry.labels && (
        <div>{Object.entries(entry.labels).map(([key, value]) => (
          <span key={key} class="tag">{visible(key, 40)}={visible(value, 60)}</span>
        ))}</div>
      )}
    </div>
  );
}

function Commands({ entry }: { entry: Entry }) {
  const host = entry.host ? ` on ${visible(entry.host, 60)}` : "";
  if (!entry.against) return <><bdi>{visible(entry.title, 120)}</bdi>{host}</>;
  return (
    <>
      <SideMark side="A" /> <bdi>{visible(entry.title, 100)}</bdi><br />
      <SideMark side="B" /> <bdi>{visible(entry.against, 100)}</bdi>{host}
    </>
  );
}

const signs: Record<string, string> = { worse: "✗", better: "✓", same: "=", undecided: "?" };

function Answer({ entry }: { entry: Entry }) {
  if (!entry.outcome) return null;
  const { effect } = entry;
  return (
    <div class={`answer answer-${signs[entry.outcome] ? entry.outcome : "other"}`}>
      <b>
        {signs[entry.outcome] && <span aria-hidden="true">{signs[entry.outcome]} </span>}
        {visible(entry.outcome, 20)}
      </b>
      {effect && known(effect.ratio) && ` ${digits(effect.ratio)}×`}
      {effect && known(effect.low) && known(effect.high) && (
        <span class="small muted"> ({digits(effect.low)} to {digits(effect.high)})</span>
      )}
      {entry.suspect && <div><code class="cause">{visible(entry.suspect, 60)}</code></div>}
    </div>
  );
}

// order puts what is worse first, by how much.
function order(entry: Entry): number {
  const rank = ["worse", "better", "undecided", "same"].indexOf(entry.outcome ?? "");
  return (rank < 0 ? 0 : (4 - rank) * 1e6) + Math.min(entry.effect?.ratio ?? 0, 1e5);
}

function took(entry: Entry): string {
  return entry.damaged === undefined ? amount(entry.seconds, "s") : "";
}

export function when(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()) || time.getFullYear() < 1971) return "";
  const two = (n: number) => String(n).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ` +
    `${two(time.getHours())}:${two(time.getMinutes())}`;
}

function place(sides: Sides, entry: Entry): string {
  return sides.a.includes(entry.path) ? "2" : sides.b.includes(entry.path) ? "1" : "0";
}

export function comparable(entry: Entry): boolean {
  return entry.kind === "recording" && entry.damaged === undefined;
}

// Pick is the two buttons that put recordings on a side.
export function Pick({ paths, name, sides, onSides }: {
  paths: string[]; name: string; sides: Sides; onSides: Change;
}) {
  return (
    <span class="pick">
      {(["a", "b"] as const).map((side) => (
        <button key={side} type="button" class={`pickside pick${side.toUpperCase()}`}
          aria-pressed={paths.every((path) => sides[side].includes(path))} aria-label={`${side.toUpperCase()}: ${name}`}
          onClick={() => onSides((now) => choose(now, side, paths))}>{side.toUpperCase()}</button>
      ))}
    </span>
  );
}
