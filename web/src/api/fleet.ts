// Code generated from the Go types by `go generate`; DO NOT EDIT.
// A number is null where it is not finite.

export interface FleetAnswer {
  fleet: string;
  token: boolean;
  lines: boolean;
}

export interface Interval {
  value: number | null;
  low: number | null;
  high: number | null;
}

export interface Typed {
  question: string;
  service: string;
  since?: string;
  until?: string;
  metric?: string;
  a?: string;
  b?: string;
  before?: string;
  after?: string;
  baseline?: string;
  within?: string[];
  frame?: string;
  setting?: string;
  effect?: Interval;
  per_core_hour?: number | null;
  smallest?: number | null;
  most?: number;
}

export interface Band {
  value: number | null;
  share: number | null;
  hosts: string[];
}

export interface Lasts {
  lives: number;
  restarted: number;
  moved: number;
  same: number | null;
  hours: number;
}

export interface Name {
  fact: string;
  value: string;
}

export interface Finding {
  facts: Name[];
  with: number[];
  without: number;
  effect: number | null;
  t: number | null;
  p: number | null;
}

export interface FactsFound {
  findings: Finding[];
  nearest: Finding[];
  facts: number;
  partitions: number;
  left: number;
  strata: number;
  names: string[];
  banded: boolean;
}

export interface Difference {
  name: string;
  module: string;
  change: Interval;
  a: number | null;
  p: number | null;
  self: boolean;
}

export interface BandsFound {
  two: boolean;
  p: number | null;
  why: string;
  hosts: number;
  low: Band;
  high: Band;
  ratio: number | null;
  spread: number | null;
  separation: number | null;
  between: string[];
  outliers: string[];
  findable: number | null;
  load_taken: number | null;
  replicates: number;
  lasts?: Lasts;
  facts?: FactsFound;
  frames: Difference[];
  separated: boolean;
}

export interface ComparisonFound {
  change: Interval;
  p: number | null;
  a: number;
  b: number;
  adjusted: string[];
  units: string;
  smallest: number | null;
  residual: number | null;
  name_a: string;
  name_b: string;
  confounded: string[];
  frames: Difference[];
}

export interface Change {
  told: string;
  at: string;
  low: string;
  high: string;
  size: Interval;
  spreads: number | null;
}

export interface ChangesAnswer {
  changes: Change[];
  noise: number | null;
  findable: number | null;
  hosts: number;
  hours: number;
  missing: number;
}

export interface ChangesRollout {
  change: Interval;
  p: number | null;
  new: number;
  old: number;
  hours: number;
}

export interface Rollout {
  version: string;
  start: number;
  hosts: number;
  effect?: ChangesRollout;
  why?: string;
  told: boolean;
}

export interface Together {
  change: number;
  what: string;
  hosts: number;
}

export interface LevelHour {
  at: number;
  level: number | null;
  hosts: number;
}

export interface ChangesFound {
  watch?: ChangesAnswer;
  short?: string;
  rollouts: Rollout[];
  together: Together[];
  course: LevelHour[];
}

export interface Part {
  name: string;
  share: Interval;
  cores: Interval;
  hosts: number;
  most: string;
}

export interface TopFound {
  cores: number | null;
  self: Part[];
  total: Part[];
  setting?: string;
  values?: Part[];
  per_year?: number | null;
}

export interface WorthFound {
  what: string;
  cores: Interval;
  per_year: Interval;
  spent: Interval;
  effect: Interval;
}

export interface Service {
  service: string;
  hosts: number;
  windows: number;
  first: number;
  last: number;
}

export interface HostValue {
  host: string;
  value: number | null;
  load?: number | null;
  cores?: number | null;
  before?: number | null;
  group?: string;
  version?: string;
  labels?: Record<string, string>;
  windows: number;
  first: number;
  last: number;
}

export interface Look {
  host: string;
  why: string;
  commands: string[];
  sides?: string[][];
}

export interface Answer {
  question: string;
  service: string;
  from: number;
  until: number;
  unit: string;
  hosts: number;
  windows: number;
  bands?: BandsFound;
  compare?: ComparisonFound;
  changes?: ChangesFound;
  facts?: FactsFound;
  top?: TopFound;
  worth?: WorthFound;
  services?: Service[];
  each?: HostValue[];
  incomplete: string[];
  look: Look[];
  notes: string[];
}

export interface FleetLine {
  at: number | null;
  command?: string;
  stage?: string;
  answer?: Answer;
  error?: string;
}

export interface LinesRequest {
  service: string;
  hosts: string[];
}
