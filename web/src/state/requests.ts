// Requests of one side: the histogram of each kind, and those kept in full with their stretches of
// time.
import type { RequestKind, RequestPage, RequestSide } from "../api/page";
import { Growing, type Columns } from "./columns";

const subs = 5; // a bucket is a 32nd of its power of two, as in recording.LatencyOf
const heatShift = 2; // a cell of the heat map is four buckets high

// boundsOf gives the bounds of a bucket in seconds.
export function boundsOf(bucket: number): [number, number] {
  if (bucket < 1 << subs) return [bucket / 1e9, (bucket + 1) / 1e9];
  const log = (bucket >> subs) - 1;
  const low = ((1 << subs) + (bucket & ((1 << subs) - 1))) * 2 ** log;
  return [low / 1e9, (low + 2 ** log) / 1e9];
}

// cellBounds gives the bounds of a cell of the heat map.
export function cellBounds(cell: number): [number, number] {
  const first = cell << heatShift;
  return [boundsOf(first)[0], boundsOf(first + (1 << heatShift) - 1)[1]];
}

// quantile is the middle of the bucket that holds it, as culprit tells it everywhere.
export function quantile(kind: RequestKind, part: number): number {
  const rank = Math.floor(part * (kind.count - 1)) + 1;
  let seen = 0;
  for (let i = 0; i < kind.buckets.length; i++) {
    seen += kind.counts[i]!;
    if (seen >= rank) {
      const [low, high] = boundsOf(kind.buckets[i]!);
      return (low + high) / 2;
    }
  }
  return 0;
}

export interface KindPair {
  key: string;
  name: string;
  side: string;
  kinds: (RequestKind | null)[]; // by side
  places: number[]; // in the kinds of each side, -1 for none
}

// pairsOfKinds puts the kinds of A and B together by what is asked: the same service may listen
// elsewhere on B.
export function pairsOfKinds(page: RequestPage): KindPair[] {
  const pairs = new Map<string, KindPair>();
  page.sides.forEach((side, s) => {
    const seen = new Map<string, number>();
    side.kinds.forEach((kind, place) => {
      const name = `${kind.side}|${kind.name}`;
      const nth = seen.get(name) ?? 0;
      seen.set(name, nth + 1);
      const key = `${name}|${nth}`;
      let pair = pairs.get(key);
      if (!pair) {
        const none = page.sides.map(() => null);
        pairs.set(key, (pair = { key, name: kind.name, side: kind.side, kinds: none, places: none.map(() => -1) }));
      }
      pair.kinds[s] = kind;
      pair.places[s] = place;
    });
  });
  return [...pairs.values()];
}

// Range is a part of the heat map: time since the recording began, and latency, both in seconds.
export interface Range {
  from: number;
  to: number;
  low: number;
  high: number;
}

export interface Stretch {
  at: number;
  long: number;
  kind: string;
  before: boolean;
  where: string;
  heldBy: string;
  stack: number;
  holder: number;
}

// Kept reads the columns of the requests in full.
export class Kept {
  readonly size: number;
  private readonly first: Int32Array; // stretch of each request

  constructor(readonly side: RequestSide) {
    const { kept } = side;
    this.size = kept.kind.length;
    this.first = new Int32Array(this.size + 1);
    for (let i = 0; i < this.size; i++) this.first[i + 1] = this.first[i]! + kept.parts[i]!;
  }

  start = (i: number): number => this.side.kept.start[i] ?? 0;
  seconds = (i: number): number => this.side.kept.seconds[i] ?? 0;
  weight = (i: number): number => this.side.kept.weight[i] ?? 1;

  // of lists the requests of a kind.
  of(kind: number): number[] {
    const found: number[] = [];
    for (let i = 0; i < this.size; i++) if (this.side.kept.kind[i] === kind) found.push(i);
    return found;
  }

  inside(i: number, range: Range): boolean {
    const at = this.start(i);
    const long = this.seconds(i);
    return at >= range.from && at < range.to && long >= range.low && long < range.high;
  }

  stretches(i: number): Stretch[] {
    const { kept, texts } = this.side;
    const all: Stretch[] = [];
    for (let p = this.first[i]!; p < this.first[i + 1]!; p++) {
      all.push({
        at: kept.at[p] ?? 0, long: kept.long[p] ?? 0, kind: texts[kept.class[p]!] ?? "", before: kept.before[p] === 1,
        where: texts[kept.where[p]!] ?? "", heldBy: texts[kept.held_by[p]!] ?? "",
        stack: kept.stack[p] ?? -1, holder: kept.holder[p] ?? -1,
      });
    }
    return all;
  }

  // frames are the names of a stack, the outermost first.
  frames(node: number): string[] {
    const { stacks } = this.side;
    const names: string[] = [];
    for (let at = node; at >= 0; at = stacks.parent[at] ?? -1) names.push(stacks.names[stacks.name[at]!] ?? "");
    return names.reverse();
  }
}

export interface Spent {
  kind: string;
  before: boolean;
  where: string;
  heldBy: string;
  inside: number; // seconds per request
  rest: number;
}

export interface RangeSum {
  inside: number; // requests in full that are in the range
  weight: number; // that these stand for
  rest: number;
  rows: Spent[]; // what these spent more than the rest first
}

// sumRange adds up what the requests of a range spent their time at, against all others of their
// kind.
export function sumRange(kept: Kept, kind: number, range: Range): RangeSum {
  const rows = new Map<string, Spent>();
  const sum: RangeSum = { inside: 0, weight: 0, rest: 0, rows: [] };
  for (const i of kept.of(kind)) {
    const inside = kept.inside(i, range);
    const weight = kept.weight(i);
    if (inside) sum.inside++;
    if (inside) sum.weight += weight;
    else sum.rest += weight;
    for (const s of kept.stretches(i)) {
      const key = [s.kind, s.before, s.where, s.heldBy].join("\n");
      let row = rows.get(key);
      if (!row) {
        rows.set(key, (row = { kind: s.kind, before: s.before, where: s.where, heldBy: s.heldBy, inside: 0, rest: 0 }));
      }
      if (inside) row.inside += weight * s.long;
      else row.rest += weight * s.long;
    }
  }
  for (const row of rows.values()) {
    row.inside /= Math.max(1, sum.weight);
    row.rest /= Math.max(1, sum.rest);
    sum.rows.push(row);
  }
  sum.rows.sort((x, y) => y.inside - y.rest - (x.inside - x.rest));
  return sum;
}

// rangeTree is the call tree of what the requests of a range did and waited for, per request. Its
// innermost frames say what a wait was for and who held it.
export function rangeTree(kept: Kept, kind: number, range: Range): Columns | null {
  const { stacks } = kept.side;
  const own = new Map<string, { parent: number; text: string; seconds: number }>();
  let weights = 0;
  for (const i of kept.of(kind)) {
    if (!kept.inside(i, range)) continue;
    const weight = kept.weight(i);
    weights += weight;
    for (const s of kept.stretches(i)) {
      if (s.kind === "idle") continue; // whoever was to read it slept, as it should
      const text = `[${s.before ? "unread, " : ""}${s.kind === "cpu" ? "on the CPU" : s.kind}` +
        `${s.heldBy ? ` of ${s.heldBy}` : ""}]`;
      const key = `${s.stack}\n${text}`;
      const leaf = own.get(key) ?? { parent: s.stack, text, seconds: 0 };
      leaf.seconds += weight * s.long;
      own.set(key, leaf);
    }
  }
  if (weights === 0 || own.size === 0) return null;
  const below = new Map<number, number[]>(); // frames by the frame they are called from
  const leaves = new Map<number, { text: string; seconds: number }[]>();
  const used = new Set<number>();
  for (const { parent, text, seconds } of own.values()) {
    leaves.set(parent, [...(leaves.get(parent) ?? []), { text, seconds: seconds / weights }]);
    for (let at = parent; at >= 0 && !used.has(at); at = stacks.parent[at] ?? -1) {
      used.add(at);
      const above = stacks.parent[at] ?? -1;
      below.set(above, [...(below.get(above) ?? []), at]);
    }
  }
  return flatten(kept, below, leaves);
}

function flatten(
  kept: Kept, below: Map<number, number[]>, leaves: Map<number, { text: string; seconds: number }[]>,
): Columns {
  const { stacks } = kept.side;
  const columns = new Growing([...stacks.names], [...stacks.kinds, "other"]);
  const added = new Map<string, number>();
  const nameOf = (text: string): number => {
    let at = added.get(text);
    if (at === undefined) added.set(text, (at = columns.names.push(text) - 1));
    return at;
  };
  const add = (name: number, kind: number, depth: number, seconds: number) =>
    columns.add(name, kind, depth, seconds, 0);
  const other = stacks.kinds.length;
  const walk = (node: number, depth: number): void => {
    if (node < 0) add(nameOf("all"), other, 0, 0);
    else add(stacks.name[node]!, stacks.kind[node]!, depth, 0);
    for (const { text, seconds } of leaves.get(node) ?? []) add(nameOf(text), other, depth + 1, seconds);
    for (const child of below.get(node) ?? []) walk(child, depth + 1);
  };
  walk(-1, 0);
  return columns;
}
