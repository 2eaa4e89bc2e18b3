// Colours by cycles per instruction: how long an instruction takes in a frame, against the whole of
// its side or, with two sides, against the other one. What lies within the intervals of both has
// the colour of what cannot be told apart.
import type { Tree } from "../state/tree";

export interface Ratio {
  value: number;
  low: number;
  high: number;
}

// cpiOf gives the ratio of a node; null where too few samples tell.
export function cpiOf(tree: Tree, node: number, side: "a" | "b"): Ratio | null {
  const columns = tree.columns.cpi;
  const value = columns?.[side][node] ?? 0;
  if (!columns || !(value > 0)) return null;
  return { value, low: columns[`${side}_low`][node] ?? 0, high: columns[`${side}_high`][node] ?? 0 };
}

const steps = 4; // of factors of the square root of two

// cpiStep returns -4…4: how much longer or shorter an instruction takes; null where nothing is
// known.
export function cpiStep(tree: Tree, node: number, oneSided: boolean): number | null {
  const from = oneSided ? cpiOf(tree, 0, "a") : cpiOf(tree, node, "a");
  const to = cpiOf(tree, node, oneSided ? "a" : "b");
  if (!from || !to) return null;
  if (to.low <= from.high && from.low <= to.high) return 0;
  const strength = Math.ceil(Math.abs(Math.log2(to.value / from.value)) * 2);
  return Math.sign(to.value - from.value) * Math.min(steps, Math.max(1, strength));
}
