// Functions by what they take themselves and with all that they call, wherever they stand.
import type { Tree } from "./tree";

export interface Func {
  name: number;
  ownA: number;
  ownB: number;
  a: number; // recursion counts once
  b: number;
}

export function functions(tree: Tree): Func[] {
  const found: Func[] = [];
  const inside = new Int32Array(tree.columns.names.length); // up to where an outer call of it reaches
  const place = new Int32Array(tree.columns.names.length).fill(-1);
  for (let i = 1; i < tree.size; i++) {
    const name = tree.columns.name[i]!;
    if (place[name]! < 0) {
      place[name] = found.length;
      found.push({ name, ownA: 0, ownB: 0, a: 0, b: 0 });
    }
    const one = found[place[name]!]!;
    one.ownA += tree.ownA(i);
    one.ownB += tree.ownB(i);
    if (inside[name]! > i) continue;
    inside[name] = tree.end[i]!;
    one.a += tree.a[i]!;
    one.b += tree.b[i]!;
  }
  return found;
}

// mostItself is the function that takes most itself: where a reader begins.
export function mostItself(list: Func[]): number {
  let best = list[0];
  for (const one of list) if (best && one.ownA + one.ownB > best.ownA + best.ownB) best = one;
  return best?.name ?? 0;
}
