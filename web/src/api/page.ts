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
}

export interface Columns {
  names: string[];
  kinds: string[];
  name: number[];
  kind: number[];
  depth: number[];
  self_a: (number | null)[];
  self_b: (number | null)[];
  change: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
  decided: number[];
}
