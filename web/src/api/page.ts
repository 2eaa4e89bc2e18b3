// Code generated from the Go types by `go generate`; DO NOT EDIT.
// A number is null where it is not finite.

export interface LeftOutWords {
  count: string;
  why: string;
}

export interface WhyWords {
  head: string;
  rest: string;
  passed: string[];
  ordered_by: string;
}

export interface Verdict {
  label: string;
  headline: string;
  detail: string;
  others: string[];
  next: string;
  also_seen: string[];
  left_out: LeftOutWords;
  cost: string[];
  host: string;
  differs?: string;
  follows: string[];
  per: string;
  kept: string;
  seed: string;
  why?: WhyWords;
  whole: string;
  only?: string[];
}

export interface RequestKind {
  side: string;
  service: string;
  name: string;
  count: number;
  errors: number;
  rate: number | null;
  over: number | null;
  slow: number;
  unsent: number | null;
  buckets: number[];
  counts: number[];
  slice: number[];
  cell: number[];
  in_cell: number[];
}

export interface StackColumns {
  names: string[];
  kinds: string[];
  name: number[];
  kind: number[];
  parent: number[];
}

export interface KeptColumns {
  kind: number[];
  start: (number | null)[];
  seconds: (number | null)[];
  slow: number[];
  weight: number[];
  status: number[];
  parts: number[];
  class: number[];
  at: (number | null)[];
  long: (number | null)[];
  before: number[];
  where: number[];
  held_by: number[];
  stack: number[];
  holder: number[];
}

export interface RequestSide {
  title: string;
  recordings: number;
  told: string[];
  seconds: number | null;
  starts: (number | null)[];
  kinds: RequestKind[];
  more_kinds: number;
  stacks: StackColumns;
  texts: string[];
  kept: KeptColumns;
  kept_left: number;
}

export interface RequestPage {
  sides: RequestSide[];
}

export interface ProfileThread {
  process: string;
  name: string;
}

export interface CallColumn {
  name: string;
  type: string;
  count: number;
}

export interface CallColumns {
  names: string[];
  kinds: string[];
  threads: ProfileThread[];
  columns: CallColumn[];
}
