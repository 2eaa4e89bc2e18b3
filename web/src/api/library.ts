// Code generated from the Go types by `go generate`; DO NOT EDIT.
// A number is null where it is not finite.

export interface Effect {
  ratio: number | null;
  low: number | null;
  high: number | null;
}

export interface Entry {
  path: string;
  kind: string;
  title: string;
  against?: string;
  outcome?: string;
  metric?: string;
  effect?: Effect;
  suspect?: string;
  level?: string;
  host?: string;
  labels?: Record<string, string>;
  started: string;
  seconds: number | null;
  size: number;
  of?: string;
  damaged?: string;
}

export interface LibraryAnswer {
  schema: string;
  dir: string;
  entries: Entry[];
  left_out?: string;
  read_only: boolean;
  token: boolean;
  fleet?: string;
}

export interface ProgressEffect {
  metric: string;
  outcome: string;
  ratio: number | null;
  low: number | null;
  high: number | null;
  pairs: number;
}

export interface ProgressSuspect {
  cause: string;
  level: string;
  share: number | null;
}

export interface News {
  at: number | null;
  state?: string;
  stage?: string;
  budget_s?: number | null;
  estimate?: ProgressEffect;
  suspects?: ProgressSuspect[];
}

export interface Job {
  id: string;
  kind: string;
  title: string;
  state: string;
  error?: string;
  href?: string;
  name?: string;
  started: string;
  seconds: number | null;
  expected?: number | null;
  progress: News;
}

export interface JobsAnswer {
  schema: string;
  jobs: Job[];
}

export interface RecordingRequest {
  pid: number;
  cgroup: string;
  all: boolean;
  command: string;
  seconds: number | null;
  name: string;
}

export interface TailRequest {
  pid: number;
  cgroup: string;
  service: string;
  seconds: number | null;
  over_s: number | null;
  name: string;
}

export interface InvestigationRequest {
  a: string;
  b: string;
  pid: number;
  cgroup: string;
  budget_s: number | null;
  metric: string;
  smallest: string;
  prove: string;
  name: string;
}

export interface Comparison {
  a: string[];
  b: string[];
  metric: string;
  per: string;
}
