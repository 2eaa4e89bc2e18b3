// A call tree apart by who spent the time: a row for each process where there are several, below it one for each of its
// threads, and below that what these did. Sums alone, as in state/merge.ts.
import { Growing, type ThreadColumns } from "./columns";
import { Tree } from "./tree";

// Owner is one row, with the places of its shares.
interface Owner {
  name: string;
  shares: number[];
  seconds: number;
}

// processesOf counts the processes by name; 0 where it is not known whose the time is.
export function processesOf(tree: Tree): number {
  return new Set(tree.columns.threads?.threads.map((thread) => thread.process)).size;
}

export function byProcess(tree: Tree): Tree {
  return apart(tree, (grown, told, all) => {
    for (const process of owners(told, all, (thread) => thread.process)) add(grown, tree, told, process, 1);
  });
}

export function byThread(tree: Tree): Tree {
  const several = processesOf(tree) > 1;
  return apart(tree, (grown, told, all) => {
    for (const process of owners(told, all, (thread) => thread.process)) {
      if (several) row(grown, process.name, 1);
      for (const thread of owners(told, process.shares, (one) => one.name)) {
        add(grown, tree, told, thread, several ? 2 : 1);
      }
    }
  });
}

function apart(tree: Tree, fill: (grown: Growing, told: ThreadColumns, all: number[]) => void): Tree {
  const told = tree.columns.threads;
  if (!told) return tree;
  const grown = new Growing([...tree.columns.names], [...tree.columns.kinds, ""]);
  grown.add(tree.columns.name[0]!, tree.columns.kind[0]!, 0, 0, 0);
  fill(grown, told, Array.from(told.node, (_, share) => share));
  return new Tree(grown, false);
}

// owners groups shares, the largest first.
function owners(told: ThreadColumns, shares: number[], nameOf: (thread: ThreadColumns["threads"][number]) => string) {
  const found = new Map<string, Owner>();
  for (const share of shares) {
    const name = nameOf(told.threads[told.thread[share]!]!);
    let owner = found.get(name);
    if (!owner) found.set(name, (owner = { name, shares: [], seconds: 0 }));
    owner.shares.push(share);
    owner.seconds += told.a[share]! + told.b[share]!;
  }
  return [...found.values()].sort((x, y) => y.seconds - x.seconds);
}

function row(grown: Growing, name: string, depth: number): number {
  return grown.add(grown.names.push(name || "[no name]") - 1, grown.kinds.length - 1, depth, 0, 0);
}

// add adds an owner's row and below it the part of the tree that it spent its time in. Shares stand in the order of
// their nodes, which is preorder: a path is left for good once a node beside it comes.
function add(grown: Growing, tree: Tree, told: ThreadColumns, owner: Owner, depth: number): void {
  const { name, kind } = tree.columns;
  const open: number[] = []; // by depth, the node that was added last
  let last = row(grown, owner.name, depth);
  for (const share of owner.shares) {
    const node = told.node[share]!;
    const missing: number[] = [];
    for (let at = node; at > 0 && open[tree.depth[at]!] !== at; at = tree.parent[at]!) missing.push(at);
    for (const at of missing.reverse()) {
      open[tree.depth[at]!] = at;
      last = grown.add(name[at]!, kind[at]!, depth + tree.depth[at]!, 0, 0);
    }
    grown.self_a[last]! += told.a[share]!;
    grown.self_b[last]! += told.b[share]!;
  }
}
