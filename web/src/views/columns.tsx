// Columns of tables that show names and numbers.
import { digits, visible, type Num } from "../lib/format";
import type { Column } from "./sorttable";

interface Look {
  wide?: boolean; // left out where there is little room
  limit?: number; // of characters
  none?: string; // where there is no number
}

// nameColumn shows a text that came from a host.
export function nameColumn<T>(title: string, of: (row: T) => string, look: Look = {}): Column<T> {
  const { wide = false, limit = 120 } = look;
  return { title, wide, plain: true, sort: of, cell: (row) => <bdi>{visible(of(row), limit)}</bdi> };
}

// numberColumn shows a number in its words.
export function numberColumn<T>(title: string, of: (row: T) => Num | undefined, words: (value: Num) => string = digits,
  look: Look = {}): Column<T> {
  const { wide = false, none = "" } = look;
  return {
    title, number: true, wide, sort: (row) => of(row) ?? NaN,
    cell: (row) => (of(row) === null || of(row) === undefined ? none : words(of(row)!)),
  };
}
