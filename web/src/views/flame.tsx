// The differential flame graph with its controls, legend and table.
import { useMemo, useRef, useState } from "preact/hooks";
import type { Report } from "../api/load";
import { metricNoun, pattern, percent, amounts } from "../lib/format";
import { useSlash, type Theme } from "../lib/hooks";
import type { View } from "../draw/flame";
import type { Mode, Tree } from "../state/tree";
import { link, readLink, zoomOf, zoomText, type Linked } from "../state/link";
import { byClass, inverted } from "../state/merge";
import { byProcess, byThread, processesOf } from "../state/threads";
import { Graph, type Shown } from "./graph";
import { Legend } from "./legend";
import { Choice, Section } from "./parts";
import { Sandwich } from "./sandwich";

interface Props {
  report: Report;
  theme: Theme;
  search: string;
  onSearch: (text: string) => void;
}

export function FlameSection({ report, theme, search, onSearch }: Props) {
  const [signal, setSignal] = useState<"profile" | "waits">(
    report.profile && !(readLink().time === "waits" && report.waits) ? "profile" : "waits");
  const tree = report[signal];
  const options: [string, string][] = [];
  if (report.profile) options.push(["profile", "On CPU"]);
  if (report.waits) options.push(["waits", "Waiting"]);
  const oneSided = !report.found.b;
  return (
    <Section id="flame" title={oneSided ? "Where the time goes" : "Where the time went, A against B"}>
      {tree ? (
        <FlameGraph
          key={signal} tree={tree} per={report.words.per} oneSided={oneSided} theme={theme}
          search={search} onSearch={onSearch} linked
          label={signal === "profile" ? "CPU time" : "time spent waiting"}
          signals={options.length > 1 ? (
            <Choice label="Time" value={signal} options={options}
              onChange={(v) => { setSignal(v as "profile" | "waits"); link({ time: v, zoom: "" }); }} />
          ) : null}
        />
      ) : (
        <p class="muted">
          No call tree: nothing was recorded with stacks, so {metricNoun(report.found.metric.name)} cannot be
          shown by function. See the blind spots below.
        </p>
      )}
    </Section>
  );
}

interface GraphProps {
  tree: Tree;
  per: string;
  oneSided: boolean;
  theme: Theme;
  label: string;
  search: string;
  onSearch: (text: string) => void;
  signals: preact.JSX.Element | null;
  linked?: boolean; // what is chosen stands in the address
}

const shapes: [string, string][] = [
  ["flame", "as called"], ["inverted", "inverted"], ["sandwich", "around one function"], ["class", "by kind of code"],
];

// shapesOf are those that a tree can have: by whom where several spent the time.
function shapesOf(tree: Tree): [string, string][] {
  const more: [string, string][] = tree.columns.threads ? [["thread", "by thread"]] : [];
  if (processesOf(tree) > 1) more.push(["process", "by process"]);
  return [...shapes, ...more];
}

const nameOf = (options: [string, string][], shape: string) => options.find(([name]) => name === shape)?.[1] ?? "";

const merged: Record<string, (tree: Tree) => Tree> = {
  inverted, class: byClass, thread: byThread, process: byProcess,
};

const modes = ["diff", "a", "b"];

export function FlameGraph({ tree, per, oneSided, theme, label, search, onSearch, signals, linked }: GraphProps) {
  const from = useMemo(() => (linked ? readLink() : {}), []);
  const tell = (changed: Linked) => linked && link(changed);
  const [mode, setMode] = useState<Mode>(
    oneSided ? "a" : modes.includes(from.width ?? "") ? from.width as Mode : "diff");
  const [perShare, setPerShare] = useState(from.in === "share");
  const [colours, setColours] = useState(from.colours === "cpi" && tree.columns.cpi ? "cpi" : "time");
  const options = useMemo(() => shapesOf(tree), [tree]);
  const [shape, setShape] = useState(options.some(([name]) => name === from.shape) ? from.shape! : "flame");
  const [of, setOf] = useState(from.of ?? "");
  const shaped = useMemo(() => merged[shape]?.(tree) ?? tree, [tree, shape]);
  const [zoom, setZoom] = useState(() => zoomOf(from.zoom, shaped.size, (node) => shaped.name(node)));
  const field = useRef<HTMLInputElement>(null);
  useSlash(linked ? field : null);
  const hits = useMemo(() => {
    const regex = pattern(search);
    return regex ? shaped.matching(regex) : null;
  }, [shaped, search]);
  const zoomTo = (node: number) => {
    setZoom(node);
    tell({ zoom: zoomText(node, shaped.name(node)) });
  };
  const byCPI = colours === "cpi" && shape === "flame"; // of shapes merged anew it is not known
  const shown: Shown = { per, mode, perShare, oneSided, byCPI, theme, onFind: () => field.current?.focus() };
  return (
    <>
      <div class="toolbar">
        {signals}
        <Choice label="Shape" value={shape} options={options}
          onChange={(v) => { setShape(v); setZoom(0); tell({ shape: v, zoom: "" }); }} />
        {!oneSided && (
          <Choice label="Widths of" value={mode} onChange={(v) => { setMode(v as Mode); tell({ width: v }); }}
            options={[["diff", "B + gone"], ["a", "A"], ["b", "B"]]} />
        )}
        {!oneSided && (
          <Choice label="In" value={perShare ? "share" : "seconds"}
            onChange={(v) => { setPerShare(v === "share"); tell({ in: v }); }}
            options={[["seconds", "seconds"], ["share", "share of its side"]]} />
        )}
        {tree.columns.cpi && shape === "flame" && (
          <Choice label="Colours" value={colours} onChange={(v) => { setColours(v); tell({ colours: v }); }}
            options={[["time", oneSided ? "kind of code" : "change"], ["cpi", "cycles per instruction"]]} />
        )}
        <span class="grow" />
        <input ref={field} type="search" class="field" placeholder="search frames, key /" value={search}
          aria-label={`Search the frames of ${label} by regular expression`}
          onInput={(event) => { onSearch(event.currentTarget.value); tell({ search: event.currentTarget.value }); }} />
        {shape !== "sandwich" && (
          <button type="button" class="button" disabled={zoom === 0} onClick={() => zoomTo(0)}>Reset zoom</button>
        )}
      </div>
      <Legend oneSided={oneSided || shape !== "flame"} per={per} tree={shaped} theme={theme} mode={mode}
        byCPI={byCPI} />
      {shape === "sandwich" ? (
        <Sandwich {...shown} tree={tree} of={of} hits={hits}
          onChoose={(name) => { setOf(name); tell({ of: name }); }} />
      ) : (
        <Graph {...shown} key={shape} tree={shaped} hits={hits} zoom={zoom} onZoom={zoomTo}
          label={shape === "flame" ? label : `${label}, ${nameOf(options, shape)}`}
          onSelect={(node) => { if (node >= 0 && shape !== "class") setOf(shaped.name(node)); }} />
      )}
      {hits && shape !== "sandwich" && (
        <SearchSum view={{ tree: shaped, per, zoom, mode, perShare, oneSided, byCPI }} hits={hits} />
      )}
    </>
  );
}

function SearchSum({ view: { tree, per, oneSided }, hits }: { view: View; hits: Uint8Array }) {
  const sum = tree.matched(hits);
  const [a, b] = amounts([sum.a, sum.b], "s");
  const part = (value: number, whole: number) => percent(whole > 0 ? value / whole : 0);
  return (
    <p class="muted small" role="status">
      {sum.count === 0 ? "No frame matches." : (
        <>
          The outermost matches cover {a} ({part(sum.a, tree.a[0]!)}){!oneSided && <> of A and {b} (
            {part(sum.b, tree.b[0]!)}) of B</>} per {per}.
        </>
      )}
    </p>
  );
}
