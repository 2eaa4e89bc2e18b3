// One call tree: its picture with what is selected and zoomed to, and its table.
import { useMemo, useState } from "preact/hooks";
import type { View } from "../draw/flame";
import type { Theme } from "../lib/hooks";
import type { Mode, Tree } from "../state/tree";
import { CallTable } from "./calltable";
import { FlameCanvas } from "./flamecanvas";

// Shown is what all pictures of a page have in common.
export interface Shown {
  per: string;
  mode: Mode;
  perShare: boolean;
  oneSided: boolean;
  byCPI: boolean;
  theme: Theme;
  onFind: () => void;
}

interface Props extends Shown {
  tree: Tree;
  hits: Uint8Array | null;
  label: string;
  zoom?: number;
  onZoom?: (node: number) => void;
  onSelect?: (node: number) => void;
}

export function Graph({ tree, per, mode, perShare, oneSided, byCPI, theme, hits, label, ...props }: Props) {
  const [own, setOwn] = useState(0);
  const [selected, setSelected] = useState(-1);
  const zoom = props.zoom ?? own;
  const setZoom = props.onZoom ?? setOwn;
  const view = useMemo<View>(
    () => ({ tree, per, zoom, mode, perShare, oneSided, byCPI }),
    [tree, per, zoom, mode, perShare, oneSided, byCPI],
  );
  const select = (node: number) => {
    setSelected(node);
    props.onSelect?.(node);
  };
  return (
    <>
      <FlameCanvas view={view} hits={hits} theme={theme} selected={selected} label={label}
        onSelect={select} onZoom={setZoom} onFind={props.onFind} />
      <CallTable view={view} hits={hits} selected={selected} label={label}
        onSelect={(node) => { select(node); setZoom(node); }} />
    </>
  );
}
