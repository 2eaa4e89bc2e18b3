// The differential flame graph with its controls, legend and table.
import { useMemo, useRef, useState } from "preact/hooks";
import type { Report } from "../api/load";
import { metricNoun, pattern, percent, amounts } from "../lib/format";
import type { Theme } from "../lib/hooks";
import type { View } from "../draw/flame";
import type { Mode, Tree } from "../state/tree";
import { CallTable } from "./calltable";
import { FlameCanvas } from "./flamecanvas";
import { Legend } from "./legend";
import { Choice, Section } from "./parts";

interface Props {
  report: Report;
  theme: Theme;
  search: string;
  onSearch: (text: string) => void;
}

export function FlameSection({ report, theme, search, onSearch }: Props) {
  const [signal, setSignal] = useState<"profile" | "waits">(report.profile ? "profile" : "waits");
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
          search={search} onSearch={onSearch}
          label={signal === "profile" ? "CPU time" : "time spent waiting"}
          signals={options.length > 1 ? (
            <Choice label="Time" value={signal} options={options}
              onChange={(v) => setSignal(v as "profile" | "waits")} />
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
}

export function FlameGraph({ tree, per, oneSided, theme, label, search, onSearch, signals }: GraphProps) {
  const [mode, setMode] = useState<Mode>(oneSided ? "a" : "diff");
  const [perShare, setPerShare] = useState(false);
  const [zoom, setZoom] = useState(0);
  const [selected, setSelected] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  const view = useMemo<View>(
    () => ({ tree, per, zoom, mode, perShare, oneSided }), [tree, per, zoom, mode, perShare, oneSided],
  );
  const hits = useMemo(() => {
    const regex = pattern(search);
    return regex ? tree.matching(regex) : null;
  }, [tree, search]);
  return (
    <>
      <div class="toolbar">
        {signals}
        {!oneSided && (
          <Choice label="Widths of" value={mode} onChange={(v) => setMode(v as Mode)}
            options={[["diff", "B + gone"], ["a", "A"], ["b", "B"]]} />
        )}
        {!oneSided && (
          <Choice label="In" value={perShare ? "share" : "seconds"} onChange={(v) => setPerShare(v === "share")}
            options={[["seconds", "seconds"], ["share", "share of its side"]]} />
        )}
        <span class="grow" />
        <input ref={field} type="search" class="field" placeholder="search frames, key /" value={search}
          aria-label={`Search the frames of ${label} by regular expression`}
          onInput={(event) => onSearch(event.currentTarget.value)} />
        <button type="button" class="button" disabled={zoom === 0} onClick={() => setZoom(0)}>Reset zoom</button>
      </div>
      <Legend oneSided={oneSided} per={per} tree={tree} theme={theme} mode={mode} />
      <FlameCanvas view={view} hits={hits} theme={theme} selected={selected} label={label}
        onSelect={setSelected} onZoom={setZoom} onFind={() => field.current?.focus()} />
      {hits && <SearchSum view={view} hits={hits} />}
      <CallTable view={view} hits={hits} selected={selected} label={label}
        onSelect={(node) => { setSelected(node); setZoom(node); }} />
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
