// Call trees merged anew out of another one: from the frames that took the time to their callers,
// around one function, and by the kind of code. Sums are of both sides; whether a change can be
// told from zero is known of frames as they were called, so that it is not told here. Groups too
// narrow to see are not divided further: that keeps the work within what can be drawn, also of a
// million nodes.
import { Growing } from "./columns";
import { Tree } from "./tree";

const leastShare = 2e-4; // of the whole: a fifth of a pixel on a wide screen
const deepest = 500;

// Rows collects nodes in preorder.
class Rows {
  readonly columns: Growing;
  readonly least: number;

  constructor(tree: Tree, names = tree.columns.names) {
    this.columns = new Growing(names, tree.columns.kinds);
    this.least = (tree.a[0]! + tree.b[0]!) * leastShare;
  }

  add(name: number, kind: number, depth: number, a: number, b: number): void {
    this.columns.add(name, kind, depth, a, b);
  }

  tree(): Tree {
    return new Tree(this.columns, false);
  }
}

// Group is stacks that share the frames up to here, each at the node that comes next, with its
// seconds.
interface Group {
  at: number[];
  a: number[];
  b: number[];
}

const newGroup = (): Group => ({ at: [], a: [], b: [] });

function join(groups: Map<number, Group>, key: number, at: number, a: number, b: number): void {
  let group = groups.get(key);
  if (!group) groups.set(key, (group = newGroup()));
  group.at.push(at);
  group.a.push(a);
  group.b.push(b);
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

const weight = (group: Group): number => sum(group.a) + sum(group.b);

function largestFirst<T>(of: Map<number, T>, size: (group: T) => number): [number, T][] {
  return [...of].map((entry) => ({ entry, size: size(entry[1]) })).sort((x, y) => y.size - x.size)
    .map(({ entry }) => entry);
}

// growUp adds the callers of a group: what stands above "all" is nobody.
function growUp(tree: Tree, rows: Rows, group: Group, name: number, kind: number, depth: number): void {
  const a = sum(group.a);
  const b = sum(group.b);
  if (a + b < rows.least || depth >= deepest) {
    rows.add(name, kind, depth, a, b);
    return;
  }
  const above = new Map<number, Group>();
  let ownA = 0;
  let ownB = 0;
  group.at.forEach((node, i) => {
    if (node > 0) return join(above, tree.columns.name[node]!, tree.parent[node]!, group.a[i]!, group.b[i]!);
    ownA += group.a[i]!;
    ownB += group.b[i]!;
  });
  const kinds = new Map<number, number>();
  for (const node of group.at) if (node > 0) kinds.set(tree.columns.name[node]!, tree.columns.kind[node]!);
  rows.add(name, kind, depth, ownA, ownB);
  for (const [caller, next] of largestFirst(above, weight)) {
    growUp(tree, rows, next, caller, kinds.get(caller) ?? 0, depth + 1);
  }
}

// inverted begins at the frames that took the time themselves; their callers stand below them.
export function inverted(tree: Tree): Tree {
  const rows = new Rows(tree);
  const all = newGroup();
  for (let i = 1; i < tree.size; i++) {
    const a = tree.ownA(i);
    const b = tree.ownB(i);
    if (a + b <= 0) continue;
    all.at.push(i);
    all.a.push(a);
    all.b.push(b);
  }
  growUp(tree, rows, all, tree.columns.name[0]!, tree.columns.kind[0]!, 0);
  return rows.tree();
}

// outermost finds the nodes of a function that no other node of it stands above: recursion counts
// once.
export function outermost(tree: Tree, name: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < tree.size; ) {
    if (tree.columns.name[i] === name) {
      found.push(i);
      i = tree.end[i]!;
    } else i++;
  }
  return found;
}

// callers are the ways to a function, it at the root.
export function callers(tree: Tree, name: number): Tree {
  const rows = new Rows(tree);
  const group = newGroup();
  for (const node of outermost(tree, name)) {
    group.at.push(tree.parent[node]!);
    group.a.push(tree.a[node]!);
    group.b.push(tree.b[node]!);
  }
  growUp(tree, rows, group, name, kindOf(tree, name), 0);
  return rows.tree();
}

function kindOf(tree: Tree, name: number): number {
  return tree.columns.kind[Array.prototype.indexOf.call(tree.columns.name, name)] ?? 0;
}

// growDown adds what nodes do together; key says what is one frame. Nodes below with the key of the
// group are the group's own where same is set.
function growDown(
  tree: Tree, rows: Rows, nodes: number[], key: ArrayLike<number>, at: { name: number; kind: number; depth: number },
  same: boolean,
): void {
  const below = new Map<number, number[]>();
  const open = nodes.slice();
  let [ownA, ownB, wholeA, wholeB] = [0, 0, 0, 0];
  for (const node of nodes) {
    wholeA += tree.a[node]!;
    wholeB += tree.b[node]!;
  }
  if (wholeA + wholeB < rows.least || at.depth >= deepest) {
    rows.add(at.name, at.kind, at.depth, wholeA, wholeB);
    return;
  }
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    ownA += tree.ownA(node);
    ownB += tree.ownB(node);
    for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) {
      if (same && key[child] === key[node]) open.push(child);
      else if (below.has(key[child]!)) below.get(key[child]!)!.push(child);
      else below.set(key[child]!, [child]);
    }
  }
  rows.add(at.name, at.kind, at.depth, ownA, ownB);
  const size = (list: number[]) => list.reduce((total, node) => total + tree.a[node]! + tree.b[node]!, 0);
  for (const [, list] of largestFirst(below, size)) {
    const first = list[0]!;
    const name = same ? rows.columns.names.length - tree.columns.kinds.length + tree.columns.kind[first]!
      : tree.columns.name[first]!;
    growDown(tree, rows, list, key, { name, kind: tree.columns.kind[first]!, depth: at.depth + 1 }, same);
  }
}

// callees are what a function does, wherever it was called from.
export function callees(tree: Tree, name: number): Tree {
  const rows = new Rows(tree);
  growDown(tree, rows, outermost(tree, name), tree.columns.name, { name, kind: kindOf(tree, name), depth: 0 }, false);
  return rows.tree();
}

// byClass joins neighbours of one kind of code: where the kernel, a language, native code takes the
// time.
export function byClass(tree: Tree): Tree {
  const rows = new Rows(tree, [...tree.columns.names, ...tree.columns.kinds.map((kind) => kind || "not known")]);
  const root = { name: tree.columns.name[0]!, kind: tree.columns.kind[0]!, depth: 0 };
  const key = Int32Array.from(tree.columns.kind);
  key[0] = -1;
  growDown(tree, rows, [0], key, root, true);
  return rows.tree();
}
