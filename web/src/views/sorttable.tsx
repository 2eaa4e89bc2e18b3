// A table that sorts by any of its columns.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";

export interface Column<T> {
  title: string;
  number?: boolean;
  wide?: boolean; // left out where there is little room
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
  return (
    <div class="tablescroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column, place) => (
              <th key={column.title} scope="col" class={classOf(column)}
                aria-sort={place === by ? (up ? "ascending" : "descending") : "none"}>
                <button type="button" class="sort" onClick={() => choose(place)}>
                  {column.title}<span aria-hidden="true">{place === by ? (up ? " ↑" : " ↓") : ""}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, most).map((row, place) => (
            <tr key={id(row, place)} class={faint?.(row) ? "faint" : ""}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > most && (
        <button type="button" class="link small" onClick={() => setMost(most * 2)}>
          {sorted.length - most} more rows
        </button>
      )}
    </div>
  );
}

function classOf<T>(column: Column<T>): string {
  return `${column.number ? "number" : ""}${column.wide ? " wide" : ""}`;
}

function compare(x: number | string, y: number | string): number {
  return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
}
