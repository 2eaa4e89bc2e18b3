// The table of the same data as the flame graph, for those who read numbers or
// cannot see the picture.
import { useMemo } from "preact/hooks";
import type { View } from "../draw/flame";
import { cpiOf } from "../draw/cpi";
import { amounts, digits, signedAmount, visible, visiblePath } from "../lib/format";
import { largestOf } from "../state/largest";
import { SortTable, type Column } from "./sorttable";

interface Props {
  view: View;
  hits: Uint8Array | null;
  selected: number;
  label: string;
  onSelect: (node: number) => void;
}

const rowsMax = 200;

export function CallTable({ view, hits, selected, label, onSelect }: Props) {
  const { tree, oneSided } = view;
  const rows = useMemo(() => largest(view, hits), [view, hits]);
  const name: Column<number> = {
    title: "Frame", sort: (node) => tree.name(node),
    cell: (node) => (
      <button type="button" class="link frame" aria-pressed={node === selected}
        title={visiblePath(tree.path(node), 600)} onClick={() => onSelect(node)}>
        <bdi>{visible(tree.name(node), 80)}</bdi>
        <span class="muted small"> in {visiblePath(tree.path(node).slice(0, -1), 60)}</span>
      </button>
    ),
  };
  const one: Column<number>[] = [
    name,
    { title: "Time", number: true, sort: (n) => tree.a[n]!, cell: (n) => amounts([tree.a[n]], "s")[0] },
    { title: "Own time", number: true, sort: (n) => tree.ownA(n), cell: (n) => amounts([tree.ownA(n)], "s")[0] },
  ];
  const two: Column<number>[] = [
    name,
    { title: "A", number: true, sort: (n) => tree.a[n]!, cell: (n) => amounts([tree.a[n], tree.b[n]], "s")[0] },
    { title: "B", number: true, sort: (n) => tree.b[n]!, cell: (n) => amounts([tree.a[n], tree.b[n]], "s")[1] },
    {
      title: "Change", number: true, sort: (n) => Math.abs(tree.change(n)),
      cell: (n) => signedAmount(tree.change(n), "s"),
    },
    {
      title: "Own change", number: true, sort: (n) => Math.abs(tree.ownB(n) - tree.ownA(n)),
      cell: (n) => signedAmount(tree.ownB(n) - tree.ownA(n), "s"),
    },
    {
      title: "Decided", sort: (n) => Number(tree.decided(n)),
      cell: (n) => (!tree.tested ? "not tested" : tree.decided(n) ? "yes" : "no"),
    },
  ];
  const cpi = (side: "a" | "b"): Column<number> => ({
    title: oneSided ? "Cycles/instruction" : `Cycles/instruction ${side.toUpperCase()}`, number: true,
    sort: (n) => cpiOf(tree, n, side)?.value ?? 0,
    cell: (n) => { const ratio = cpiOf(tree, n, side); return ratio ? digits(ratio.value) : ""; },
  });
  if (tree.columns.cpi) {
    one.push(cpi("a"));
    two.push(cpi("a"), cpi("b"));
  }
  return (
    <details class="more">
      <summary>Table of the same data ({rows.length} frames{hits ? " that match" : ""})</summary>
      <SortTable label={`Frames by ${label}, per ${view.per}`} rows={rows} columns={oneSided ? one : two}
        start={oneSided ? 1 : 3}
        faint={(node) => !oneSided && tree.tested && !tree.decided(node)} id={(node) => node} />
    </details>
  );
}

// largest picks the frames below the zoom that changed most, or cost most with one side.
function largest({ tree, zoom, oneSided }: View, hits: Uint8Array | null): number[] {
  const names = tree.columns.name;
  const changed = (i: number) => Math.abs(tree.change(i)) + (tree.decided(i) ? tree.changeMax : 0);
  const weight = (i: number) => (oneSided ? tree.a[i]! : tree.tested ? changed(i) : tree.a[i]! + tree.b[i]!);
  return largestOf(Math.max(1, zoom), tree.end[zoom]!, rowsMax, (i) => (hits && !hits[names[i]!] ? NaN : weight(i)));
}
