// Code generated from the Go types by `go generate`; DO NOT EDIT.
// A number is null where it is not finite.

export interface Interval {
  value: number | null;
  low: number | null;
  high: number | null;
}

export interface Level {
  load: number | null;
  pairs: number;
  a: number | null;
  b: number | null;
  difference: Interval;
  verdict: string;
}

export interface BreakEven {
  found: boolean;
  load?: number | null;
  low: number | null;
  high: number | null;
  above?: string;
  text: string;
}

export interface Load {
  load: number | null;
  share: number | null;
}

export interface Fleet {
  hosts: number | null;
  cores: Interval;
  money_per_year?: Interval;
  kwh_per_year?: Interval;
}

export interface Saving {
  loads: Load[];
  per_host: Interval;
  relative?: Interval;
  verdict: string;
  fleet?: Fleet;
}

export interface ScalingLaw {
  one: number | null;
  contention: number | null;
  coherence: number | null;
}

export interface ScalingWorker {
  workers: number | null;
  measured: number | null;
  perfect: number | null;
  law?: number | null;
  cpu_cost?: number | null;
  cores?: number | null;
  beyond?: boolean;
}

export interface Scaling {
  metric: string;
  side?: string;
  law?: ScalingLaw;
  unfitted?: string;
  contention?: Interval;
  coherence?: Interval;
  peak: number | null;
  levels: ScalingWorker[];
  loss?: string;
}

export interface Answer {
  schema: string;
  load: string;
  change?: string;
  a?: string;
  b?: string;
  metric: string;
  unit?: string;
  blocks: number;
  levels?: Level[];
  break_even?: BreakEven;
  saving?: Saving;
  scaling?: Scaling[];
  warnings: string[];
}

export interface ScalingView {
  head: string;
  terms: string;
  loss: string;
}

export interface WeighedView {
  answer: Answer;
  title: string;
  saving: string[];
  scaling: ScalingView[];
}
