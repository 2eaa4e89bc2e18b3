// A call tree of both sides in typed arrays, in preorder: no object per node, so
// that a hundred thousand nodes cost megabytes and milliseconds.
import type { ProfileNode } from "../api/case";
import type { Columns } from "./columns";

export type Mode = "diff" | "a" | "b";

// own is an own time: what is less than nothing, or no number, is none.
const own = (seconds: number | undefined): number => (seconds! > 0 ? seconds! : 0);

function amounts(times: ArrayLike<number>): Float64Array {
  const values = new Float64Array(times);
  for (let i = 0; i < values.length; i++) values[i] = own(values[i]);
  return values;
}

export class Tree {
  readonly size: number;
  readonly depth: Uint32Array;
  readonly parent: Int32Array; // -1 for the root
  readonly end: Int32Array; // the first node after the subtree
  readonly a: Float64Array; // inclusive seconds per run
  readonly b: Float64Array;
  readonly gone: Float64Array; // the part of a under frames that B no longer has
  readonly changeMax: number; // the largest decided change below the root

  // tested: of each node it is known whether its change can be told from zero. Trees merged out of
  // another have sums alone.
  constructor(readonly columns: Columns, readonly tested = true) {
    const n = columns.name.length;
    this.size = n;
    this.depth = new Uint32Array(columns.depth);
    this.parent = new Int32Array(n).fill(-1);
    this.end = new Int32Array(n);
    this.a = amounts(columns.self_a);
    this.b = amounts(columns.self_b);
    this.gone = new Float64Array(n);
    this.link();
    this.sum();
    let largest = 0;
    for (let i = 1; i < n; i++) if (columns.decided[i]) largest = Math.max(largest, Math.abs(columns.change[i] || 0));
    this.changeMax = largest;
  }

  private link(): void {
    const open: number[] = [];
    for (let i = 0; i < this.size; i++) {
      const depth = this.depth[i]!;
      while (open.length > depth) this.end[open.pop()!] = i;
      this.parent[i] = open.length > 0 ? open[open.length - 1]! : -1;
      open.push(i);
    }
    for (const i of open) this.end[i] = this.size;
  }

  private sum(): void {
    // Children stand behind their parents, so from the back each is whole when it is added.
    for (let i = this.size - 1; i >= 0; i--) {
      if (this.b[i]! <= 0) this.gone[i] = this.a[i]!;
      const parent = this.parent[i]!;
      if (parent < 0) continue;
      this.a[parent]! += this.a[i]!;
      this.b[parent]! += this.b[i]!;
      this.gone[parent]! += this.gone[i]!;
    }
  }

  name(i: number): string {
    return this.columns.names[this.columns.name[i]!] ?? "";
  }
  kind(i: number): string {
    return this.columns.kinds[this.columns.kind[i]!] ?? "";
  }
  ownA(i: number): number {
    return own(this.columns.self_a[i]);
  }
  ownB(i: number): number {
    return own(this.columns.self_b[i]);
  }
  decided(i: number): boolean {
    return this.columns.decided[i] === 1;
  }
  change(i: number): number {
    return this.tested ? this.columns.change[i] || 0 : this.b[i]! - this.a[i]!;
  }
  // low and high are the ends of the interval of its change; not a number where none is known.
  low(i: number): number {
    return (this.columns.change[i] ?? NaN) - (this.columns.below[i] ?? NaN);
  }
  high(i: number): number {
    return (this.columns.change[i] ?? NaN) + (this.columns.above[i] ?? NaN);
  }
  // vanished: A spends time here and B spends none.
  vanished(i: number): boolean {
    return this.b[i]! <= 0 && this.a[i]! > 0;
  }
  appeared(i: number): boolean {
    return this.a[i]! <= 0 && this.b[i]! > 0;
  }

  // width is what a node's box stands for in a mode, in seconds.
  width(i: number, mode: Mode): number {
    if (mode === "a") return this.a[i]!;
    return mode === "b" ? this.b[i]! : this.b[i]! + this.gone[i]!;
  }

  path(i: number): string[] {
    const names: string[] = [];
    for (let at = i; at >= 0; at = this.parent[at]!) names.push(this.name(at));
    return names.reverse();
  }

  children(i: number): number[] {
    const found: number[] = [];
    for (let at = i + 1; at < this.end[i]!; at = this.end[at]!) found.push(at);
    return found;
  }

  // matching marks the names that a search finds; each name is tried once.
  matching(pattern: RegExp): Uint8Array {
    return Uint8Array.from(this.columns.names, (name) => (pattern.test(name) ? 1 : 0));
  }

  // matched sums the outermost frames that match: recursion counts once.
  matched(hits: Uint8Array): { a: number; b: number; count: number } {
    const sum = { a: 0, b: 0, count: 0 };
    for (let i = 0; i < this.size; ) {
      if (!hits[this.columns.name[i]!]) {
        i++;
        continue;
      }
      sum.a += this.a[i]!;
      sum.b += this.b[i]!;
      sum.count++;
      i = this.end[i]!;
    }
    return sum;
  }

  nodes(): ProfileNode[] {
    const c = this.columns;
    return Array.from({ length: this.size }, (_, i) => ({
      name: this.name(i), kind: this.kind(i), depth: this.depth[i]!,
      self_a: c.self_a[i] ?? null, self_b: c.self_b[i] ?? null, change: c.change[i] ?? null,
      low: this.low(i), high: this.high(i), decided: this.decided(i),
    }));
  }
}
