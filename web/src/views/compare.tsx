// The two sides that were picked in the library, and the way to their comparison.
import { useEffect, useState } from "preact/hooks";
import { compare } from "../api/ask";
import type { Job } from "../api/library";
import { visible } from "../lib/format";
import { SideMark } from "./parts";

export interface Sides {
  a: string[];
  b: string[];
}

export const noSides: Sides = { a: [], b: [] };

export type Change = (change: (sides: Sides) => Sides) => void;

// choose puts recordings on a side, or takes them away again where all are there; each stands on
// one side at most.
export function choose(sides: Sides, side: keyof Sides, paths: string[]): Sides {
  const had = paths.every((path) => sides[side].includes(path));
  const without = { a: sides.a.filter((p) => !paths.includes(p)), b: sides.b.filter((p) => !paths.includes(p)) };
  return had ? without : { ...without, [side]: [...without[side], ...paths].sort() };
}

interface Props {
  sides: Sides;
  onSides: Change;
  onStart: () => void;
  jobs: Job[];
}

export function Compare({ sides, onSides, onStart, jobs }: Props) {
  const [failure, setFailure] = useState("");
  const [waits, setWaits] = useState("");
  const job = jobs.find((one) => one.id === waits);
  useEffect(() => {
    if (!job) return;
    if (job.state === "done" && job.href) location.assign(job.href);
    if (job.state === "failed" || job.state === "stopped") {
      setWaits("");
      setFailure(job.error ?? "");
    }
  }, [job?.state]);
  if (sides.a.length + sides.b.length === 0) return null;
  const start = async () => {
    try {
      setFailure("");
      setWaits((await compare(sides)).id);
      onStart();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  const missing = sides.a.length === 0 ? "A" : sides.b.length === 0 ? "B" : "";
  return (
    <aside class="comparebar" aria-label="Comparison">
      <Side side="A" paths={sides.a} />
      <Side side="B" paths={sides.b} />
      <span class="grow" />
      {failure && <span role="alert" class="small">{visible(failure, 300)}</span>}
      {missing && <span class="small muted">Pick a recording for {missing}.</span>}
      <button type="button" class="button strong" disabled={missing !== "" || waits !== ""}
        onClick={() => void start()}>
        {waits ? "Comparing …" : "Compare"}
      </button>
      <button type="button" class="button" onClick={() => onSides((now) => ({ a: now.b, b: now.a }))}>Swap</button>
      <button type="button" class="button" onClick={() => onSides(() => noSides)}>Clear</button>
    </aside>
  );
}

function Side({ side, paths }: { side: "A" | "B"; paths: string[] }) {
  const [first] = paths;
  const name = first === undefined ? "none" : visible(first.slice(first.lastIndexOf("/") + 1), 40);
  return (
    <span class="sidepicks" title={paths.map((path) => visible(path, 120)).join("\n")}>
      <SideMark side={side} /> <bdi>{name}</bdi>{paths.length > 1 && ` and ${paths.length - 1} more`}
    </span>
  );
}
