// The slowest requests of a range as lines of time: what each waited for, and who held it.
import { useMemo, useState } from "preact/hooks";
import { axis, widthMin } from "../draw/axis";
import { amount, digits, visible } from "../lib/format";
import { useWidth } from "../lib/hooks";
import type { Kept, Range, Stretch } from "../state/requests";
import { classWords } from "./range";
import { SortTable, type Column } from "./sorttable";

const linesMax = 10;
const rowTall = 30;
const barTall = 18;
const charWide = 6.2;

interface Chosen {
  row: number;
  part: number;
}

export function TimeLines({ kept, kind, range }: { kept: Kept; kind: number; range: Range }) {
  const rows = useMemo(() =>
    kept.of(kind).filter((i) => kept.inside(i, range)).sort((x, y) => kept.seconds(y) - kept.seconds(x))
      .slice(0, linesMax).map((request) => ({ request, parts: kept.stretches(request) })), [kept, kind, range]);
  const [ref, width] = useWidth<HTMLDivElement>();
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const most = rows[0] ? kept.seconds(rows[0].request) : 1;
  const left = 66;
  const scale = axis([0, most], left, width - 10, Math.floor((width - left) / 90));
  const at = (seconds: number) => scale.at(Math.max(0, seconds));
  const shown = chosen ? rows[chosen.row]?.parts[chosen.part] : undefined;
  const names = [...new Set(rows.flatMap(({ parts }) => parts.map((part) => part.kind)))];
  return (
    <figure ref={ref} class="plot lines" hidden={rows.length === 0}>
      <figcaption>The slowest {rows.length} of the range, as lines of time</figcaption>
      <p class="legend">
        {names.map((name) => (
          <span key={name} class="swatch">
            <svg width="15" height="15" aria-hidden="true">
              <rect class={`part part-${partName(name)}`} width="15" height="15" />
            </svg>{classWords(name, false)}
          </span>
        ))}
        <span class="muted">Half as tall: before it was read.</span>
      </p>
      {width > widthMin && rows.length > 0 && (
        <div class="linerows">
          {rows.map(({ request, parts }, row) => (
            <div key={request} tabIndex={0} role="img"
              aria-label={lineWords(kept, request, parts)}
              onKeyDown={(event) => {
                const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
                if (by === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
                event.preventDefault();
                const part = chosen?.row === row ? chosen.part + by : by > 0 ? 0 : parts.length - 1;
                setChosen({ row, part: Math.max(0, Math.min(parts.length - 1, part)) });
              }}>
              <svg width={width} height={rowTall} aria-hidden="true">
                <text class="tick" x={left - 7} y={rowTall / 2 + 4} text-anchor="end">
                  {amount(kept.seconds(request), "s")}
                </text>
                {parts.map((part, i) => (
                  <Bar key={i} part={part} x={at(part.at)} end={at(part.at + part.long)}
                    on={chosen?.row === row && chosen.part === i} onChoose={() => setChosen({ row, part: i })} />
                ))}
              </svg>
            </div>
          ))}
          <svg width={width} height={18} aria-hidden="true">
            {scale.ticks.filter((tick) => tick >= 0).map((tick) => (
              <text key={tick} class="tick" x={at(tick)} y={13} text-anchor="middle">{amount(tick, "s")}</text>
            ))}
          </svg>
        </div>
      )}
      <div class="status" role="status" aria-live="polite">
        {shown ? <PartDetail kept={kept} part={shown} /> : (
          <span class="muted">Click a stretch for its stacks; keys: Tab to a line, then left and right.</span>
        )}
      </div>
      <LineTable kept={kept} rows={rows} />
    </figure>
  );
}

const drawn = ["cpu", "queued", "lock", "sleep", "disk", "fault", "downstream", "net", "handover", "idle"];

function partName(kind: string): string {
  return drawn.includes(kind) ? kind : "rest";
}

function Bar({ part, x, end, on, onChoose }: {
  part: Stretch; x: number; end: number; on: boolean; onChoose: () => void;
}) {
  const wide = Math.max(1, end - x);
  const tall = part.before ? barTall / 2 : barTall;
  const text = [classWords(part.kind, part.before), part.where && visible(part.where, 60),
    part.heldBy && `held by ${visible(part.heldBy, 60)}`].filter(Boolean).join(", ");
  const room = Math.floor((wide - 8) / charWide);
  const inside = part.before ? "" : [part.kind, visible(part.heldBy || part.where, 60)].filter(Boolean).join(": ");
  return (
    <g class="bar" onClick={onChoose}>
      <rect class={`part part-${partName(part.kind)}${on ? " on" : ""}`} x={x} width={wide}
        y={(rowTall - barTall) / 2 + barTall - tall} height={tall} />
      <title>{`${text}: ${amount(part.long, "s")}`}</title>
      {room >= 3 && !part.before && (
        <text class="parttext" x={x + 4} y={rowTall / 2 + 4}>
          {inside.length > room ? `${inside.slice(0, room - 1)}…` : inside}
        </text>
      )}
    </g>
  );
}

function lineWords(kept: Kept, request: number, parts: Stretch[]): string {
  const longest = [...parts].sort((x, y) => y.long - x.long)[0];
  const held = longest?.heldBy ? `, held by ${visible(longest.heldBy, 60)}` : "";
  const words = longest
    ? ` Longest stretch: ${classWords(longest.kind, longest.before)} ${amount(longest.long, "s")}${held}.` : "";
  return `${amount(kept.seconds(request), "s")} at ${digits(kept.start(request))} s.${words}`;
}

function PartDetail({ kept, part }: { kept: Kept; part: Stretch }) {
  return (
    <div class="partdetail">
      <p>
        <b>{classWords(part.kind, part.before)}</b>, {amount(part.long, "s")}, from {amount(part.at, "s")} on
        {part.where && <>, in <code><bdi>{visible(part.where, 120)}</bdi></code></>}
        {part.heldBy && <>, held by <bdi>{visible(part.heldBy, 120)}</bdi></>}.
      </p>
      <div class="columns">
        <StackList title="Its own thread was at" names={kept.frames(part.stack)}
          empty="No stack: the stretch was short." />
        {(part.heldBy || part.holder >= 0) && (
          <StackList title="Who held it was at" names={kept.frames(part.holder)} empty="No stack of it." />
        )}
      </div>
    </div>
  );
}

function StackList({ title, names, empty }: { title: string; names: string[]; empty: string }) {
  return (
    <div>
      <h3>{title}</h3>
      {names.length === 0 ? <p class="muted small">{empty}</p> : (
        <ol class="stacklist">
          {[...names].reverse().map((name, i) => <li key={i}><code><bdi>{visible(name, 160)}</bdi></code></li>)}
        </ol>
      )}
    </div>
  );
}

interface LineRow {
  line: number;
  request: number;
  part: Stretch;
}

function LineTable({ kept, rows }: { kept: Kept; rows: { request: number; parts: Stretch[] }[] }) {
  const all = rows.flatMap(({ request, parts }, line): LineRow[] => parts.map((part) => ({ line, request, part })));
  const columns: Column<LineRow>[] = [
    { title: "Line", number: true, sort: (row) => row.line + 1, cell: (row) => row.line + 1 },
    {
      title: "Began", number: true, wide: true, sort: (row) => kept.start(row.request),
      cell: (row) => <>{digits(kept.start(row.request))}&nbsp;s</>,
    },
    { title: "After", number: true, wide: true, sort: (row) => row.part.at, cell: (row) => amount(row.part.at, "s") },
    { title: "Length", number: true, sort: (row) => row.part.long, cell: (row) => amount(row.part.long, "s") },
    {
      title: "What", sort: (row) => classWords(row.part.kind, row.part.before),
      cell: (row) => classWords(row.part.kind, row.part.before),
    },
    {
      title: "Where", sort: (row) => visible(row.part.where),
      cell: (row) => <code><bdi>{visible(row.part.where, 90)}</bdi></code>,
    },
    {
      title: "Held by", sort: (row) => visible(row.part.heldBy),
      cell: (row) => <bdi>{visible(row.part.heldBy, 90)}</bdi>,
    },
  ];
  return (
    <details class="more">
      <summary>Table of the same data ({all.length} stretches)</summary>
      <SortTable label="The slowest requests" rows={all} columns={columns} start={-1} limit={60}
        id={(_, place) => place} />
    </details>
  );
}
