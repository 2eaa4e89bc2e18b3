// Package top makes one look at what a live target does out of one window's recording: a row for
// each place of the program's own code and what it does there (runs, is in a system call, waits for
// a lock, a file, a CPU), requests where some were seen, who had the CPU meanwhile, and what the
// looking took.
//
//	view, err := top.Of(rec, before)
//	fmt.Println(view.Rows[0].Class, view.Rows[0].Name, view.Rows[0].Rate) // lock look_up 0.7
//
// Each second of a thread has one row: rates add up. A rate is seconds per second: of what runs,
// CPUs; of waits, threads.
package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/perrun"
	"culprit/internal/compare/rank"
	"culprit/internal/compare/units"
	"culprit/internal/explain"
	"culprit/internal/stat"
	"culprit/internal/tail"
	"culprit/recording"
)

// Schema names the JSON document: one line for each look.
const Schema = "culprit.top/1"

// Bounds of one look: names come from the target.
const (
	rowsMax   = 500
	stacksMax = 4 // of a row
	kindsMax  = 20
	hadMax    = 8
)

// View is one look.
type View struct {
	Schema   string      `json:"schema"`
	Time     time.Time   `json:"time"`    // when the window began
	Seconds  float64     `json:"seconds"` // its length
	Target   string      `json:"target"`
	CPUs     float64     `json:"cpus"` // that the target used
	Samples  int         `json:"samples"`
	Rows     []Row       `json:"rows"` // the largest first
	Requests []tail.Kind `json:"requests"`
	// Had are who had the CPU while threads of the target waited for one, in seconds per second.
	Had []Had `json:"had_the_cpu"`
	// Restart is that of the service since the look before; nil: there was none.
	Restart *recording.Restart `json:"restart,omitempty"`
	// Recorder is what recording took, in CPUs.
	Recorder   float64  `json:"recorder_cpus"`
	BlindSpots []string `json:"blind_spots"`
}

// Row is one thing that the target does in one place.
type Row struct {
	Class string `json:"class"` // a signal of a ranking: cpu, syscall, fault, kernel, wait, lock, runqueue
	// Name is the program's own function that it came through, or what was done where there is
	// none.
	Name  string `json:"name"`
	What  string `json:"what,omitempty"` // most of it: the function, the call, the wait
	Parts int    `json:"parts"`          // of how many such it is the sum; 0: of itself
	// Rate is seconds per second; Before is that of the look before, Known whether there was one.
	Rate   float64 `json:"rate"`
	Before float64 `json:"before"`
	Known  bool    `json:"known"`
	Stacks []Stack `json:"stacks"` // the heaviest ways to it
}

// Stack is one way to a row.
type Stack struct {
	Rate   float64  `json:"rate"`
	Comm   string   `json:"comm"`   // of the thread
	Frames []string `json:"frames"` // root first
	Call   string   `json:"call,omitempty"`
	Waker  string   `json:"waker,omitempty"` // who ended the wait, or had the CPU
	Holder []string `json:"holder,omitempty"`
}

// Had is somebody who had the CPU.
type Had struct {
	Comm string  `json:"comm"`
	Own  bool    `json:"own"` // of the target
	Rate float64 `json:"rate"`
}

// Key tells rows apart from look to look.
type Key struct{ Class, Name string }

// Key of a row.
func (r *Row) Key() Key { return Key{r.Class, r.Name} }

// Of makes a look. before, unless nil, is the one that changes are told against.
func Of(rec *recording.Recording, before *View) (*View, error) {
	evidence, err := explain.Read([]*recording.Recording{rec}, nil, units.PerSecond)
	if err != nil {
		return nil, fmt.Errorf("look at the window: %w", err)
	}
	m := &rec.Manifest
	seconds := float64(m.WindowNs) / 1e9
	if seconds <= 0 {
		return nil, fmt.Errorf("look at the window: it has no length")
	}
	v := &View{Schema: Schema, Time: m.StartedAt, Seconds: seconds, Target: m.Target.Words(), Samples: len(rec.Samples),
		Rows: []Row{}, Requests: []tail.Kind{}, Had: []Had{}, BlindSpots: []string{}}
	// Nobody waits for a host as a whole: on it what runs is shown, and who waits for a CPU.
	host := m.Target.Kind == "host"
	result := evidence.Wall
	if result == nil || host && evidence.CPU != nil {
		result = evidence.CPU
	}
	if result == nil {
		return nil, fmt.Errorf("look at the window: it holds no time")
	}
	if evidence.CPU != nil {
		v.CPUs = evidence.Unit().Amount(stat.Average(evidence.CPU.A))
	}
	paths := pathsOf(result, host)
	v.rows(paths, host, evidence.Unit(), before)
	v.had(paths, evidence.Unit())
	for _, kind := range tail.Summarize(rec) {
		if len(v.Requests) < kindsMax {
			v.Requests = append(v.Requests, kind)
		}
	}
	v.Recorder = recorderCPUs(m)
	v.BlindSpots = append(v.BlindSpots, recording.Words(result.Unseen)...)
	return v, nil
}

// recorderCPUs is what recording took of a CPU: the recorder's process while it was at it, which
// goes on beyond the window to name what was seen, and its BPF programs while the window was open.
// A window that is cut short is named for longer than it was open: by its own length a recorder of
// one thread took 34 CPUs.
func recorderCPUs(m *recording.Manifest) float64 {
	cpus := float64(m.Cost.RecorderCPUNs) / float64(max(m.Cost.RecorderNs, m.WindowNs))
	for _, ns := range m.Cost.BPFNs {
		cpus += float64(ns) / float64(m.WindowNs)
	}
	return cpus
}

// pathsOf are the paths of a look; those of a host are named after their process, and sleepers are
// left out.
func pathsOf(result *compare.Result, host bool) []compare.Path {
	paths := slices.Clone(result.Paths)
	if result.Metric == compare.MetricCPU {
		for i := range result.Waits {
			if !host || result.Waits[i].Kind == compare.Runnable {
				paths = append(paths, result.Waits[i].Path)
			}
		}
	}
	return paths
}

// rows adds up the paths by what was done and where: the program's own function that it came
// through, else what was done itself; on a host the process, too.
func (v *View) rows(paths []compare.Path, host bool, unit units.Unit, before *View) {
	rows, parts := map[Key]*Row{}, map[Key]map[string]float64{}
	for i, owner := range rank.Owners(paths) {
		path := &paths[i]
		rate := unit.Amount(stat.Average(path.A))
		if rate <= 0 {
			continue
		}
		name := cmp.Or(placeOf(path), owner.Name)
		key := Key{Class: owner.Signal, Name: name}
		if host {
			key.Name = path.Process + ": " + name
		}
		row := rows[key]
		if row == nil {
			row = &Row{Class: key.Class, Name: key.Name, Known: before != nil}
			rows[key], parts[key] = row, map[string]float64{}
		}
		row.Rate += rate
		if name != owner.Name {
			parts[key][owner.Name] += rate
		}
		row.Stacks = append(row.Stacks, Stack{Rate: rate, Comm: path.Comm, Frames: namesOf(path.Frames),
			Call: path.Syscall, Waker: path.WakerComm, Holder: namesOf(path.Holder)})
	}
	for key, row := range rows {
		slices.SortStableFunc(row.Stacks, func(a, b Stack) int { return cmp.Compare(b.Rate, a.Rate) })
		row.Stacks = row.Stacks[:min(len(row.Stacks), stacksMax)]
		row.Parts = len(parts[key])
		row.What, _ = perrun.Largest(parts[key])
		if before != nil {
			row.Before = before.rate(key)
		}
		v.Rows = append(v.Rows, *row)
	}
	slices.SortFunc(v.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Rate, a.Rate), strings.Compare(a.Class+a.Name, b.Class+b.Name))
	})
	v.Rows = v.Rows[:min(len(v.Rows), rowsMax)]
}

// placeOf is the program's own function that a path came through; "" where there is none, or
// everything is below it.
func placeOf(path *compare.Path) string {
	if path.Kind == compare.Runnable {
		return ""
	}
	at := code.Innermost(path.Frames)
	if at < 0 || code.IsEntry(path.Frames[at]) {
		return ""
	}
	return path.Frames[at].Name
}

// rate is that of a row; 0 where there is none.
func (v *View) rate(key Key) float64 {
	for i := range v.Rows {
		if v.Rows[i].Key() == key {
			return v.Rows[i].Rate
		}
	}
	return 0
}

func namesOf(frames []recording.Frame) []string {
	names := make([]string, len(frames))
	for i := range frames {
		names[i] = frames[i].Name
	}
	return names
}

// had adds up who had the CPU while the target waited for one.
func (v *View) had(paths []compare.Path, unit units.Unit) {
	type who struct {
		comm string
		own  bool
	}
	sums := map[who]float64{}
	for i := range paths {
		if path := &paths[i]; path.Kind == compare.Runnable {
			sums[who{path.WakerComm, path.WakerOwn}] += unit.Amount(stat.Average(path.A))
		}
	}
	for whose, rate := range sums {
		v.Had = append(v.Had, Had{Comm: whose.comm, Own: whose.own, Rate: rate})
	}
	slices.SortFunc(v.Had, func(a, b Had) int {
		return cmp.Or(cmp.Compare(b.Rate, a.Rate), strings.Compare(a.Comm, b.Comm))
	})
	v.Had = v.Had[:min(len(v.Had), hadMax)]
}

// IsRunning tells rows that used a CPU from those that waited.
func (r *Row) IsRunning() bool {
	switch r.Class {
	case rank.SignalCode, rank.SignalCall, rank.SignalFault, rank.SignalKernel:
		return true
	}
	return false
}
