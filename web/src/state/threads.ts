// A call tree apart by who spent the time: a row for each process where there are several, below it
// one for each of its threads, and below that what these did. Sums alone, as in state/merge.ts.
import { Growing, type ThreadColumns } from "./columns";
import { Tree } from "./tree";

// Shares are the parts of own times that threads have, by node.
interface Shares {
  node: Int32Array;
  thread: Int32Array;
  a: Float64Array;
  b: Float64Array;
}

// Owner is one row, with the places of its shares.
interface Owner {
  name: string;
  shares: number[];
  seconds: number;
}

type NameOf = (thread: ThreadColumns["threads"][number]) => string;

// processesOf counts the processes by name; 0 where it is not known whose the time is.
export function processesOf(tree: Tree): number {
  return new Set(tree.columns.threads?.threads.map((thread) => thread.process)).size;
}

export function byProcess(tree: Tree): Tree {
  return apart(tree, (grown, told, shares, all) => {
    for (const process of owners(told, shares, all, (thread) => thread.process)) add(grown, tree, shares, process, 1);
  });
}

export function byThread(tree: Tree): Tree {
  const several = processesOf(tree) > 1;
  return apart(tree, (grown, told, shares, all) => {
    for (const process of owners(told, shares, all, (thread) => thread.process)) {
      if (several) row(grown, process.name, 1);
      for (const thread of owners(told, shares, process.shares, (one) => one.name)) {
        add(grown, tree, shares, thread, several ? 2 : 1);
      }
    }
  });
}

function apart(
  tree: Tree, fill: (grown: Growing, told: ThreadColumns, shares: Shares, all: number[]) => void,
): Tree {
  const told = tree.columns.threads;
  if (!told) return tree;
  const grown = new Growing([...tree.columns.names], [...tree.columns.kinds, ""]);
  grown.add(tree.columns.name[0]!, tree.columns.kind[0]!, 0, 0, 0);
  const shares = sharesOf(tree, told);
  fill(grown, told, shares, Array.from(shares.node, (_, share) => share));
  return new Tree(grown, false);
}

function sharesOf(tree: Tree, told: ThreadColumns): Shares {
  let count = told.node.length;
  for (let node = 0; node < tree.size; node++) if (told.alone[node]! > 0) count++;
  const shares: Shares = {
    node: new Int32Array(count), thread: new Int32Array(count), a: new Float64Array(count), b: new Float64Array(count),
  };
  let at = 0;
  const put = (node: number, thread: number, a: number, b: number) => {
    shares.node[at] = node;
    shares.thread[at] = thread;
    shares.a[at] = a;
    shares.b[at++] = b;
  };
  let next = 0; // of those that are told one by one
  for (let node = 0; node < tree.size; node++) {
    if (told.alone[node]! > 0) put(node, told.alone[node]! - 1, tree.ownA(node), tree.ownB(node));
    for (; next < told.node.length && told.node[next] === node; next++) {
      put(node, told.thread[next]!, told.a[next]!, told.b[next]!);
    }
  }
  return shares;
}

// owners groups shares, the largest first.
function owners(told: ThreadColumns, shares: Shares, some: number[], nameOf: NameOf): Owner[] {
  const found = new Map<string, Owner>();
  const of = told.threads.map((thread): Owner => {
    const name = nameOf(thread);
    let owner = found.get(name);
    if (!owner) found.set(name, (owner = { name, shares: [], seconds: 0 }));
    return owner;
  });
  for (const share of some) {
    const owner = of[shares.thread[share]!]!;
    owner.shares.push(share);
    owner.seconds += shares.a[share]! + shares.b[share]!;
  }
  return [...found.values()].filter((owner) => owner.shares.length > 0).sort((x, y) => y.seconds - x.seconds);
}

function row(grown: Growing, name: string, depth: number): number {
  return grown.add(grown.names.push(name || "[no name]") - 1, grown.kinds.length - 1, depth, 0, 0);
}

// add adds an owner's row and below it the part of the tree that it spent its time in. Shares stand
// in the order of their nodes, which is preorder: a path is left for good once a node beside it
// comes.
function add(grown: Growing, tree: Tree, shares: Shares, owner: Owner, depth: number): void {
  const { name, kind } = tree.columns;
  const open: number[] = []; // by depth, the node that was added last
  const missing: number[] = [];
  let last = row(grown, owner.name, depth);
  for (const share of owner.shares) {
    const node = shares.node[share]!;
    for (let at = node; at > 0 && open[tree.depth[at]!] !== at; at = tree.parent[at]!) missing.push(at);
    for (let at = missing.pop(); at !== undefined; at = missing.pop()) {
      open[tree.depth[at]!] = at;
      last = grown.add(name[at]!, kind[at]!, depth + tree.depth[at]!, 0, 0);
    }
    grown.self_a[last]! += shares.a[share]!;
    grown.self_b[last]! += shares.b[share]!;
  }
}
