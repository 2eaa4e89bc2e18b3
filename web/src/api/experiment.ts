// Code generated from the Go types by `go generate`; DO NOT EDIT.
// A number is null where it is not finite.

export interface Level {
  name: string;
  value: string;
}

export interface Factor {
  name: string;
  kind: string;
  levels: Level[];
  negative?: boolean;
}

export interface Metric {
  name: string;
  unit?: string;
  higher?: boolean;
  pattern?: string;
  add?: number | null;
}

export interface Spread {
  median: number | null;
  low: number | null;
  high: number | null;
}

export interface Summary {
  label: string;
  levels: Record<string, string>;
  control?: boolean;
  trials: number;
  metrics: Record<string, Spread>;
}

export interface Effect {
  factor: string;
  level: string;
  against: string;
  metric: string;
  ratio: number | null;
  low: number | null;
  high: number | null;
  confidence: number | null;
  verdict: string;
  blocks: number;
  more?: number;
  control?: boolean;
  negative?: boolean;
  interaction?: boolean;
  why?: string;
}

export interface Trend {
  factor: string;
  metric: string;
  tau: number | null;
  p: number | null;
  verdict: string;
}

export interface Disturbance {
  steal_s: number | null;
  others_s: number | null;
  runqueue_s: number | null;
}

export interface Exclusion {
  kind: string;
  seconds?: number | null;
  usual_s?: number | null;
  side?: string;
  partner?: boolean;
  text?: string;
}

export interface Trial {
  order: number;
  kind: string;
  stage: number;
  block: number;
  condition: number;
  levels: Record<string, string>;
  control?: boolean;
  start: string;
  metrics: Record<string, number | null>;
  disturbance: Disturbance;
  valid: boolean;
  left_out?: Exclusion;
  why?: string;
  took_s: number | null;
  stdout?: string;
  stderr?: string;
}

export interface Setting {
  name: string;
  original: string;
  tried: string[];
  now: string;
  restored: boolean;
}

export interface Drift {
  name: string;
  before: string;
  after: string;
  source: string;
}

export interface Loss {
  what: string;
  count: number;
}

export interface Recorded {
  start_cpu_s: number | null;
  cpu_s: number | null;
  losses: Loss[];
  folder: string;
}

export interface BlindReason {
  why: string;
  count: number;
}

export interface BlindSpot {
  kind: string;
  what?: string;
  why?: string;
  count?: number;
  of?: number;
  reasons?: BlindReason[];
  recordings?: number;
  text: string;
}

export interface HostSummary {
  Name: string;
  Kernel: string;
  CPU: string;
  CPUs: number;
  MemoryBytes: number;
  Hypervisor: string;
  ClockSource: string;
}

export interface Result {
  schema: string;
  outcome: string;
  command: string;
  design: string;
  factors: Factor[];
  metrics: Metric[];
  conditions: Summary[];
  effects: Effect[];
  trends: Trend[];
  trials: Trial[];
  excluded: number;
  smallest: number | null;
  allowed?: number | null;
  restored: boolean;
  settings: Setting[];
  drift: Drift[];
  recorder?: Recorded;
  warnings: string[];
  unseen: BlindSpot[];
  blind_spots: string[];
  host: HostSummary;
  seed: number;
  elapsed_s: number | null;
  dir: string;
}

export interface CostView {
  name: string;
  label: string;
  class: string;
  lines: string[];
}

export interface EffectRow {
  name: string;
  label: string;
  class: string;
  note: string;
}

export interface ListView {
  name: string;
  lines: string[];
}

export interface ExperimentWords {
  title: string;
  label: string;
  class: string;
  headlines: string[];
  costs: CostView[];
  trials: string;
  host: string;
  seed: string;
  conditions: string[];
  effects: EffectRow[];
  lists: ListView[];
}
