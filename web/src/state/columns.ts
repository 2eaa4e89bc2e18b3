// The fields of a call tree, one array of numbers each, in preorder. Those of the page's own data
// are typed arrays over the memory that was unpacked: nothing is parsed or copied, however many
// nodes there are.
import type { CallColumns, ProfileThread } from "../api/page";

export interface Columns {
  names: string[];
  kinds: string[];
  name: ArrayLike<number>; // index into names
  kind: ArrayLike<number>;
  depth: ArrayLike<number>;
  self_a: ArrayLike<number>;
  self_b: ArrayLike<number>;
  change: ArrayLike<number>; // not a number where it is not known, as the next two
  below: ArrayLike<number>; // how far its interval reaches to either side
  above: ArrayLike<number>;
  decided: ArrayLike<number>; // 0 or 1
  cpi?: CPIColumns;
  threads?: ThreadColumns;
}

export type CPIColumns = Record<"a" | "a_low" | "a_high" | "b" | "b_low" | "b_high", ArrayLike<number>>;

// ThreadColumns tell whose the own time of nodes is.
export interface ThreadColumns {
  threads: ProfileThread[]; // the largest first
  alone: ArrayLike<number>; // by node, whose all of it is, from 1 on; 0 where it is told below, or there is none
  node: ArrayLike<number>; // the shares of the others, by node
  thread: ArrayLike<number>;
  a: ArrayLike<number>;
  b: ArrayLike<number>;
}

interface Values {
  new (memory: ArrayBuffer, at: number, count: number): ArrayLike<number>;
  readonly BYTES_PER_ELEMENT: number;
}

const types: Record<string, Values> = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array };

// readColumns takes apart what internal/report/columns.go wrote; null where that is nothing.
export function readColumns(memory: ArrayBuffer): Columns | null {
  if (memory.byteLength === 0) return null;
  const length = new DataView(memory).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(memory, 4, length))) as CallColumns;
  const found = new Map<string, ArrayLike<number>>();
  let at = 4 + length;
  for (const { name, type, count } of header.columns) {
    const Numbers = types[type];
    if (!Numbers) throw new Error(`The column "${name}" of the call tree has the unknown type "${type}".`);
    found.set(name, new Numbers(memory, at, count));
    at = Math.ceil((at + count * Numbers.BYTES_PER_ELEMENT) / 4) * 4;
  }
  const of = (name: string): ArrayLike<number> => {
    const values = found.get(name);
    if (!values) throw new Error(`The column "${name}" of the call tree is missing.`);
    return values;
  };
  const columns: Columns = {
    names: header.names, kinds: header.kinds, name: of("name"), kind: of("kind"), depth: of("depth"),
    self_a: of("self_a"), self_b: of("self_b"), change: of("change"), below: of("below"), above: of("above"),
    decided: of("decided"),
  };
  if (found.has("cpi_a")) {
    columns.cpi = {
      a: of("cpi_a"), a_low: of("cpi_a_low"), a_high: of("cpi_a_high"),
      b: of("cpi_b"), b_low: of("cpi_b_low"), b_high: of("cpi_b_high"),
    };
  }
  if (found.has("share_node")) {
    columns.threads = {
      threads: header.threads, alone: of("thread"), node: of("share_node"), thread: of("share_thread"),
      a: of("share_a"), b: of("share_b"),
    };
  }
  return columns;
}

// Growing is a call tree that is put together node by node; of its changes nothing is known but the
// sums.
export class Growing implements Columns {
  readonly name: number[] = [];
  readonly kind: number[] = [];
  readonly depth: number[] = [];
  readonly self_a: number[] = [];
  readonly self_b: number[] = [];
  readonly change = [];
  readonly below = [];
  readonly above = [];
  readonly decided = [];

  constructor(readonly names: string[], readonly kinds: string[]) {}

  // add returns the place of the new node.
  add(name: number, kind: number, depth: number, a: number, b: number): number {
    this.name.push(name);
    this.kind.push(kind);
    this.depth.push(depth);
    this.self_a.push(a);
    return this.self_b.push(b) - 1;
  }
}
