// Code generated from the Go types by `go generate`; DO NOT EDIT.
// A number is null where it is not finite.

export interface Metric {
  name: string;
  unit: string;
  better: string;
}

export interface SideSummary {
  command: string;
  median: number | null;
  trials: number;
  earlier?: boolean;
}

export interface Effect {
  ratio: number | null;
  low: number | null;
  high: number | null;
  confidence: number | null;
}

export interface RunKinds {
  slow_a: number;
  slow_b: number;
  pairs: number;
  usual: number | null;
  slow: number | null;
  mean_a: number | null;
  mean_b: number | null;
  decides: boolean;
}

export interface MetricResult {
  metric: Metric;
  outcome: string;
  effect: Effect;
  median_a: number | null;
  median_b: number | null;
  kinds?: RunKinds;
}

export interface Interval {
  value: number | null;
  low: number | null;
  high: number | null;
}

export interface Place {
  kind: string;
  role?: string;
  name: string;
  value?: string;
  starts?: string;
}

export interface Evidence {
  signal: string;
  text: string;
  a: number | null;
  b: number | null;
  unit: string;
  setting?: string;
}

export interface Doubt {
  kind: string;
  text: string;
}

export interface Prediction {
  operation: string;
  count: number | null;
  cost_ns: Interval;
  predicted: Interval;
  observed: Interval;
  at_least?: boolean;
  agrees: boolean;
}

export interface Proof {
  knob: string;
  from: string;
  to: string;
  verdict: string;
  trials: number;
  effect: Effect;
  why?: string;
}

export interface User {
  name: string;
  writes: number | null;
  reads: number | null;
  hits: number | null;
}

export interface Block {
  size: number;
  offset: number;
  by?: string;
  file?: string;
  line?: number;
}

export interface Word {
  offset: number;
  size: number;
  name?: string;
  users: User[];
  more?: number;
  apart?: boolean;
  block?: Block;
}

export interface Separation {
  language: string;
  how: string;
}

export interface SharedLine {
  words: Word[];
  separate: Separation[];
}

export interface Price {
  verdict: string;
  gain: Effect;
}

export interface Follows {
  from: string;
  answer: string;
  part: number | null;
}

export interface Suspect {
  cause: string;
  level: string;
  share: Interval;
  seconds: Interval;
  where: string[];
  places: Place[];
  evidence: Evidence[];
  against?: string[];
  doubts?: Doubt[];
  prediction?: Prediction;
  proof?: Proof;
  remedy: string;
  gain?: boolean;
  claim: string;
  knob?: string;
  line?: SharedLine;
  price?: Price;
  follows?: Follows;
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

export interface Loss {
  what: string;
  count: number;
}

export interface RecorderCost {
  start_cpu_s: number | null;
  cpu_s: number | null;
  of_target_cpu_s?: number | null;
  of_target_wall_s?: number | null;
  losses: Loss[];
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

export interface Run {
  side: string;
  pair: number;
  order: number;
  kind: string;
  level?: string;
  start: string;
  metrics: Record<string, number | null>;
  disturbance: Disturbance;
  valid: boolean;
  left_out?: Exclusion;
  why?: string;
  exit_code: number;
  stdout?: string;
  stderr?: string;
  outlived?: number;
}

export interface Seen {
  cause: string;
  function: string;
  call: string;
  object: string;
  stalls: number;
  seconds: number | null;
  shortest_s: number | null;
  longest_s: number | null;
  share: number | null;
}

export interface Entry {
  rule: string;
  action: string;
  cause: string;
  place?: string;
  from?: string[];
  seconds: number | null;
  because?: string;
}

export interface Move {
  rule: string;
  first: string;
  first_place?: string;
  before: string;
  before_place?: string;
  because: string;
}

export interface LeftOut {
  cause: string;
  place?: string;
  because: string;
}

export interface Second {
  cause: string;
  place?: string;
  needs: string;
}

export interface Why {
  growth: number | null;
  nobody: number | null;
  entries: Entry[];
  moves: Move[];
  left_out?: LeftOut[];
  second?: Second;
}

export interface Item {
  signal: string;
  name: string;
  where?: string;
  a: number | null;
  b: number | null;
  unit: string;
  change: Interval;
  share: Interval;
  decided: boolean;
}

export interface FactChange {
  name: string;
  a: string;
  b: string;
  source: string;
}

export interface Difference {
  kind: string;
  of?: string;
  name: string;
  a: string;
  b: string;
  place_a?: string;
  place_b?: string;
  evidence?: string;
  through: number | null;
  grown: boolean;
  follows?: string;
}

export interface Fact {
  name: string;
  value: string;
  source: string;
}

export interface ProfileNode {
  name: string;
  kind: string;
  depth: number;
  self_a: number | null;
  self_b: number | null;
  change: number | null;
  low: number | null;
  high: number | null;
  decided: boolean;
  cpi_a?: Interval;
  cpi_b?: Interval;
}

export interface ProfileThread {
  process: string;
  name: string;
}

export interface ThreadShare {
  node: number;
  thread: number;
  self_a: number | null;
  self_b: number | null;
}

export interface Profile {
  nodes: ProfileNode[];
  threads?: ProfileThread[];
  by_thread?: ThreadShare[];
}

export interface Host {
  name: string;
  kernel: string;
  cpu: string;
  cpus: number;
  memory_bytes: number;
  hypervisor: string;
  clock_source: string;
}

export interface Case {
  schema: string;
  outcome: string;
  metric: Metric;
  per?: string;
  a: SideSummary;
  b?: SideSummary;
  effect?: Effect;
  metrics: MetricResult[];
  suspects: Suspect[];
  unseen: BlindSpot[];
  blind_spots: string[];
  warnings: string[];
  recording_cost?: Effect;
  recorder: RecorderCost;
  need_trials?: number;
  need_budget_s?: number | null;
  smallest: number | null;
  trials: Run[];
  excluded: number;
  also_seen?: Seen[];
  why?: Why;
  items: Item[];
  settings: FactChange[];
  differs?: Difference[];
  facts: Fact[];
  profile?: Profile;
  waits?: Profile;
  host: Host;
  seed: number;
  elapsed_s: number | null;
  dir: string;
}
