// One function with all that calls it and all that it calls, wherever it stands, and the table to
// choose it from.
import { useMemo } from "preact/hooks";
import { amounts, visible } from "../lib/format";
import { functions, mostItself, type Func } from "../state/functions";
import { callees, callers } from "../state/merge";
import type { Tree } from "../state/tree";
import { Graph, type Shown } from "./graph";
import { SortTable, type Column } from "./sorttable";

interface Props extends Shown {
  tree: Tree;
  of: string; // the function's name; "" where none is chosen
  hits: Uint8Array | null;
  onChoose: (name: string) => void;
}

const rowsMax = 40;

export function Sandwich({ tree, of, hits, onChoose, ...shown }: Props) {
  const list = useMemo(() => functions(tree), [tree]);
  const chosen = tree.columns.names.indexOf(of);
  const name = chosen > 0 && list.some((one) => one.name === chosen) ? chosen : mostItself(list);
  const above = useMemo(() => callers(tree, name), [tree, name]);
  const below = useMemo(() => callees(tree, name), [tree, name]);
  const rows = hits ? list.filter((one) => hits[one.name]) : list;
  const title = visible(tree.columns.names[name] ?? "", 80);
  return (
    <>
      <h3>What calls <bdi>{title}</bdi></h3>
      <Graph {...shown} key={`up ${name}`} tree={above} hits={hits} label={`callers of ${title}`} />
      <h3>What <bdi>{title}</bdi> calls</h3>
      <Graph {...shown} key={`down ${name}`} tree={below} hits={hits} label={`what ${title} calls`} />
      <h3>Another function</h3>
      <SortTable label="Functions" rows={rows} columns={columnsOf(tree, shown.oneSided, name, onChoose)} start={2}
        limit={rowsMax} id={(one) => one.name} />
    </>
  );
}

function columnsOf(tree: Tree, oneSided: boolean, chosen: number, onChoose: (name: string) => void): Column<Func>[] {
  const time = (title: string, value: (one: Func) => number): Column<Func> => ({
    title, number: true, sort: value, cell: (one) => amounts([value(one)], "s")[0],
  });
  const name: Column<Func> = {
    title: "Function", sort: (one) => tree.columns.names[one.name] ?? "",
    cell: (one) => (
      <button type="button" class="link frame" aria-pressed={one.name === chosen}
        onClick={() => onChoose(tree.columns.names[one.name] ?? "")}>
        <bdi>{visible(tree.columns.names[one.name] ?? "", 80)}</bdi>
      </button>
    ),
  };
  if (oneSided) return [name, time("Time", (one) => one.a), time("Own time", (one) => one.ownA)];
  return [name, time("Own time A", (one) => one.ownA), time("Own time B", (one) => one.ownB),
    time("Time A", (one) => one.a), time("Time B", (one) => one.b)];
}
