// A table that sorts by any of its columns.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { csvOf, download, jsonOf } from "../lib/download";

export interface Column<T> {
  title: string;
  number?: boolean;
  wide?: boolean; // left out where there is little room
  plain?: boolean; // a cell shows as text what it is sorted by
  sort: (row: T) => number | string;
  cell: (row: T) => ComponentChildren;
}

interface Props<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  start: number; // the column sorted by at first; -1 keeps the order given
  limit?: number; // of rows that are drawn at first
  faint?: (row: T) => boolean;
  id: (row: T, place: number) => string | number;
}

// onPaper is how many rows of a table are printed: the others are on the screen.
export const onPaper = 40;

export function SortTable<T>({ label, rows, columns, start, limit, faint, id }: Props<T>) {
  const [by, setBy] = useState(start);
  const [up, setUp] = useState(false);
  const [most, setMost] = useState(limit ?? Infinity);
  const sorted = useMemo(() => {
    const column = columns[by];
    if (!column) return rows;
    return [...rows].sort((x, y) => compare(column.sort(x), column.sort(y)) * (up ? 1 : -1));
  }, [rows, by, up]);
  const choose = (place: number) => {
    setUp(place === by ? !up : columns[place]?.number !== true);
    setBy(place);
  };
  const save = (type: "csv" | "json") => {
    const titles = columns.map((column) => column.title);
    const values = sorted.map((row) => columns.map((column) => column.sort(row)));
    const name = label.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
    if (type === "csv") download(`${name}.csv`, "text/csv", csvOf(titles, values));
    else download(`${name}.json`, "application/json", jsonOf(titles, values));
  };
  return (
    <>
    <div class="tablescroll" tabIndex={0} role="region" aria-label={`Table: ${label}`}>
      <table>
        <thead>
          <tr>
            {columns.map((column, place) => (
              <th key={place} scope="col" class={classOf(column)}
                aria-sort={place === by ? (up ? "ascending" : "descending") : "none"}>
                <button type="button" class="sort" onClick={() => choose(place)}>
                  <Title text={column.title} mark={place !== by ? "" : up ? " ↑" : " ↓"} />
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, most).map((row, place) => (
            <tr key={id(row, place)} class={`${faint?.(row) ? "faint" : ""}${place < onPaper ? "" : " screenonly"}`}>
              {columns.map((column, at) => (
                <Cell key={at} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > most && (
        <button type="button" class="link small noprint" onClick={() => setMost(most * 2)}>
          {sorted.length - most} more rows
        </button>
      )}
    </div>
    <Printed rows={Math.min(most, onPaper)} of={sorted.length} />
    {rows.length > 0 && (
      <p class="tablesave noprint small">
        <button type="button" class="link small" aria-label={`${label} as CSV`} onClick={() => save("csv")}>CSV</button>
        {" · "}
        <button type="button" class="link small" aria-label={`${label} as JSON`} onClick={() => save("json")}>
          JSON
        </button>
      </p>
    )}
    </>
  );
}

// Title is a title in two halves. Neither is broken where there is little room: a narrow column of
// numbers would break its title into as many lines as it has words, and the row of titles would be
// as tall, whatever the reader's fonts.
function Title({ text, mark }: { text: string; mark: string }) {
  const [first, second] = halves(text);
  const arrow = <span aria-hidden="true">{mark}</span>;
  if (second === "") return <span class="half">{first}{arrow}</span>;
  return (
    <>
      <span class="half">{first}</span> <span class="half">{second}{arrow}</span>
    </>
  );
}

// halves breaks a title at the space that leaves the shorter lines; a word alone stays whole.
function halves(title: string): [string, string] {
  const longer = (at: number) => Math.max(at, title.length - at - 1);
  let best = -1;
  for (let at = title.indexOf(" "); at >= 0; at = title.indexOf(" ", at + 1)) {
    if (best < 0 || longer(at) < longer(best)) best = at;
  }
  return best < 0 ? [title, ""] : [title.slice(0, best), title.slice(best + 1)];
}

// shortMost is how many characters a text has that is better not broken.
const shortMost = 16;

function Cell<T>({ column, row }: { column: Column<T>; row: T }) {
  const content = column.cell(row);
  const text = typeof content === "string" ? content : column.plain ? String(column.sort(row)) : "";
  const isShort = text !== "" && text.length <= shortMost;
  return <td class={`${classOf(column)}${isShort ? " short" : ""}`}>{content}</td>;
}

// Printed says on paper what of a table is not on it.
export function Printed({ rows, of }: { rows: number; of: number }) {
  if (of <= rows) return null;
  return <p class="paperonly small">The first {rows} of {of} rows: the page and its download hold all.</p>;
}

function classOf<T>(column: Column<T>): string {
  return `${column.number ? "number" : ""}${column.wide ? " wide" : ""}`;
}

function compare(x: number | string, y: number | string): number {
  return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
}
