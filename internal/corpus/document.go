package corpus

import (
	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/differs"
	"culprit/recording"
)

// version is that of the documents which this package writes and reads.
const version = 1

// document is a pair as it stands in its file. Frames and stacks are written once and referred to
// by number.
type document struct {
	Version    int                  `json:"version"`
	Name       string               `json:"name"`
	Source     string               `json:"source"`
	Truth      Truth                `json:"truth"`
	Outcome    string               `json:"outcome"`
	Metrics    []tested             `json:"metrics"`
	Commands   [2]string            `json:"commands"`
	Facts      [2][]fact            `json:"facts"`
	Differs    []differs.Difference `json:"differs,omitempty"`
	Costs      map[string]vector    `json:"costs"` // nanoseconds, lowest, highest
	Tracers    []string             `json:"tracers,omitempty"`
	OneSided   []string             `json:"disturbed_one_side,omitempty"`
	Confidence float64              `json:"confidence,omitempty"`
	Measured   *interval            `json:"measured_change,omitempty"`
	Explained  string               `json:"explained"` // the metric whose seconds explain
	NoBaseline bool                 `json:"no_baseline,omitempty"`
	Seconds    map[string]*seconds  `json:"seconds"` // by metric
	Counts     []count              `json:"counts"`
	Changes    []change             `json:"changes"`
	Varying    []varying            `json:"varying,omitempty"`
	Waits      []wait               `json:"waits"`
	Hops       []hop                `json:"hops,omitempty"`
	Lines      []line               `json:"lines,omitempty"`
	Retired    []retired            `json:"retired,omitempty"`
	Frames     []frame              `json:"frames"`
	Stacks     [][]int              `json:"stacks"` // numbers of frames, root first
}

type interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

type tested struct {
	Name    string   `json:"name"`
	Outcome string   `json:"outcome"`
	Change  interval `json:"change"`
}

type fact struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source,omitempty"`
}

// vector is one value a run, rounded to what a judgement needs.
type vector []float64

// sides are one value a run. A side of zeros only is left out.
type sides struct {
	A vector `json:"a,omitempty"`
	B vector `json:"b,omitempty"`
}

// seconds are the metric of each run, and the paths that add up to it.
type seconds struct {
	sides
	Paths []path `json:"paths"`
}

type frame struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Module  string `json:"module,omitempty"`
	BuildID string `json:"build,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int32  `json:"line,omitempty"`
	Changed string `json:"changed,omitempty"`
}

type path struct {
	sides
	Kind       string `json:"kind"`
	Stack      int    `json:"stack"`
	Comm       string `json:"comm,omitempty"`
	Process    string `json:"process,omitempty"`
	Parent     string `json:"parent,omitempty"`
	Syscall    string `json:"syscall,omitempty"`
	WakerKind  string `json:"waker_kind,omitempty"`
	WakerComm  string `json:"waker,omitempty"`
	WakerOwn   bool   `json:"waker_own,omitempty"`
	WakerStack int    `json:"waker_stack,omitempty"`
	Object     string `json:"object,omitempty"`
	Short      bool   `json:"short,omitempty"`
	Ticking    bool   `json:"ticking,omitempty"`
	Lock       bool   `json:"lock,omitempty"`
	Turn       bool   `json:"turn,omitempty"`
	Nap        bool   `json:"nap,omitempty"`
	Holder     int    `json:"holder,omitempty"`
	Around     int    `json:"around,omitempty"`
	For        int    `json:"for,omitempty"`
}

type wait struct {
	path
	Stays sides `json:"stays"`
}

type count struct {
	sides
	Name string `json:"name"`
	Key  string `json:"key,omitempty"`
	Unit string `json:"unit"`
}

type change struct {
	Name   string `json:"name"`
	A      string `json:"a"`
	B      string `json:"b"`
	Source string `json:"source,omitempty"`
}

type varying struct {
	Name   string   `json:"name"`
	Called string   `json:"called"`
	Side   string   `json:"side"`
	Values []string `json:"values"`
}

type hop struct {
	sides
	Process string `json:"process"`
	Waker   string `json:"waker"`
	Hop     string `json:"hop,omitempty"`
	Stack   int    `json:"stack"`
}

type line struct {
	sides
	Name      string     `json:"name,omitempty"`
	False     bool       `json:"false,omitempty"`
	Threads   int        `json:"threads"`
	Words     int        `json:"words"`
	Confirmed bool       `json:"confirmed,omitempty"`
	Watched   bool       `json:"watched,omitempty"`
	Monitor   bool       `json:"monitor,omitempty"`
	Shifted   bool       `json:"shifted,omitempty"`
	Beside    sides      `json:"beside,omitzero"`
	Apart     sides      `json:"apart,omitzero"` // samples of its code in lines that threads have each for itself
	Functions []function `json:"functions"`
}

type function struct {
	sides
	At    sides `json:"at,omitzero"`
	Frame int   `json:"frame"`
}

// retired is what samples by cycles and by instructions say of a stack.
type retired struct {
	Stack        int     `json:"stack"`
	Cycles       counted `json:"cycles"`
	Instructions counted `json:"instructions"`
}

// counted are events of the CPU, and how many samples tell of them.
type counted struct {
	sides
	Seen [2]float64 `json:"seen"`
}

// unitCosts names the costs of operations.
func unitCosts(costs *cause.Costs) map[string]*cause.Cost {
	return map[string]*cause.Cost{"clock_vdso": &costs.ClockVDSO, "clock_raw": &costs.ClockRaw,
		"syscall": &costs.Syscall, "fault": &costs.Fault, "spawn": &costs.Spawn, "switch": &costs.Switch}
}

func toInterval(i compare.Interval) interval {
	return interval{round(i.Value), round(i.Low), round(i.High)}
}
func (i interval) interval() compare.Interval {
	return compare.Interval{Value: i.Value, Low: i.Low, High: i.High}
}
func toFact(f recording.Fact) fact { return fact{f.Name, f.Value, f.Source} }
func (f fact) fact() recording.Fact {
	return recording.Fact{Name: f.Name, Value: f.Value, Source: f.Source}
}
