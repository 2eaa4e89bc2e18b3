package corpus

import (
	"errors"
	"fmt"
	"regexp"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/lines"
	"culprit/internal/explain"
	"culprit/internal/stat"
	"culprit/recording"
)

// decoder makes a document a pair again.
type decoder struct {
	doc        *document
	frames     []recording.Frame
	stacks     [][]recording.Frame
	runsA      int
	runsB      int
	outOfRange bool
}

func decode(doc *document) (*Pair, error) {
	if doc.Version != version {
		return nil, fmt.Errorf("version %d is not read: this is %d", doc.Version, version)
	}
	if _, err := regexp.Compile(doc.Truth.Place); err != nil {
		return nil, fmt.Errorf("place of the truth: %w", err)
	}
	explained := doc.Seconds[doc.Explained]
	if explained == nil {
		return nil, fmt.Errorf("the seconds of %q are missing", doc.Explained)
	}
	d := &decoder{doc: doc, runsA: len(explained.A), runsB: len(explained.B)}
	d.readStacks()
	p := &Pair{Name: doc.Name, Source: doc.Source, Truth: doc.Truth,
		Outcome: stat.Outcome(doc.Outcome)}
	for _, one := range doc.Metrics {
		change := one.Change.interval()
		p.Measured = append(p.Measured, explain.Measured{Metric: one.Name,
			Outcome: stat.Outcome(one.Outcome), Change: &change})
	}
	in := &p.Input
	in.CommandA, in.CommandB, in.Tracers, in.OneSided = doc.Commands[0], doc.Commands[1], doc.Tracers,
		doc.OneSided
	in.Differs = doc.Differs
	in.Confidence, in.FactsA, in.FactsB = doc.Confidence, facts(doc.Facts[0]), facts(doc.Facts[1])
	if doc.Measured != nil {
		in.MeasuredChange, in.MeasuredChangeKnown = doc.Measured.interval(), true
	}
	if err := readCosts(doc.Costs, &in.Costs); err != nil {
		return nil, err
	}
	tables := d.tables()
	for name, of := range doc.Seconds {
		if of == nil || len(of.A) != d.runsA || len(of.B) != d.runsB {
			return nil, fmt.Errorf("the seconds of %q are not those of the same runs", name)
		}
		result := d.result(tables, name, of)
		switch name {
		case compare.MetricCPU:
			in.CPU = result
		case compare.MetricWall:
			in.Wall = result
		default:
			return nil, fmt.Errorf("no seconds of metric %q are known", name)
		}
		if name == doc.Explained {
			in.Result = result
		}
	}
	if d.outOfRange {
		return nil, errors.New("a stack, a frame or a vector does not fit to the tables")
	}
	return p, nil
}

func readCosts(from map[string]vector, costs *cause.Costs) error {
	known := unitCosts(costs)
	for name, values := range from {
		cost := known[name]
		if cost == nil || len(values) != 3 {
			return fmt.Errorf("cost %q is unknown or not three numbers", name)
		}
		cost.Ns, cost.Low, cost.High = values[0], values[1], values[2]
	}
	return nil
}

func facts(list []fact) []recording.Fact {
	var read []recording.Fact
	for _, f := range list {
		read = append(read, f.fact())
	}
	return read
}

func (d *decoder) readStacks() {
	for _, f := range d.doc.Frames {
		d.frames = append(d.frames, recording.Frame{Name: f.Name, Kind: recording.FrameKind(f.Kind),
			Module: f.Module, BuildID: f.BuildID, File: f.File, Line: f.Line, Changed: f.Changed})
	}
	for _, numbers := range d.doc.Stacks {
		var frames []recording.Frame
		if len(numbers) > 0 {
			frames = make([]recording.Frame, len(numbers))
		}
		for i, at := range numbers {
			frames[i] = d.frame(at)
		}
		d.stacks = append(d.stacks, frames)
	}
}

func (d *decoder) frame(at int) recording.Frame {
	if at < 0 || at >= len(d.frames) {
		d.outOfRange = true
		return recording.Frame{}
	}
	return d.frames[at]
}

func (d *decoder) stack(at int) []recording.Frame {
	if at < 0 || at >= len(d.stacks) {
		d.outOfRange = true
		return nil
	}
	return d.stacks[at]
}

// vector is a side of zeros where it was left out.
func (d *decoder) vector(values vector, runs int) []float64 {
	switch len(values) {
	case runs:
		return values
	case 0:
		return make([]float64, runs)
	}
	d.outOfRange = true
	return nil
}

func (d *decoder) sides(s sides) (a, b []float64) {
	return d.vector(s.A, d.runsA), d.vector(s.B, d.runsB)
}

// result is the comparison by one metric. The tables that do not depend on the metric are shared.
func (d *decoder) result(tables compare.Result, metric string, of *seconds) *compare.Result {
	tables.Metric, tables.A, tables.B = metric, of.A, of.B
	tables.Paths = make([]compare.Path, 0, len(of.Paths))
	for i := range of.Paths {
		tables.Paths = append(tables.Paths, d.path(&of.Paths[i]))
	}
	return &tables
}

func (d *decoder) tables() compare.Result {
	result := compare.Result{Unit: "s", OneSided: d.doc.NoBaseline}
	for _, c := range d.doc.Counts {
		a, b := d.sides(c.sides)
		result.Counts = append(result.Counts, compare.Count{Name: c.Name, Key: c.Key, Unit: c.Unit, A: a,
			B: b})
	}
	for _, c := range d.doc.Changes {
		result.Facts = append(result.Facts, compare.FactChange(c))
	}
	for _, v := range d.doc.Varying {
		result.Varying = append(result.Varying, compare.FactVaries{Name: v.Name, Called: v.Called,
			Side: compare.Side(v.Side), Values: v.Values})
	}
	for i := range d.doc.Waits {
		w := compare.Wait{Path: d.path(&d.doc.Waits[i].path)}
		w.CountA, w.CountB = d.sides(d.doc.Waits[i].Stays)
		result.Waits = append(result.Waits, w)
	}
	for _, h := range d.doc.Hops {
		a, b := d.sides(h.sides)
		result.Hops = append(result.Hops, compare.Hop{Process: h.Process, WakerComm: h.Waker,
			HopComm: h.Hop, Frames: d.stack(h.Stack), A: a, B: b})
	}
	for _, l := range d.doc.Lines {
		one := compare.SharedLine{Name: l.Name, False: l.False, Threads: l.Threads, Words: l.Words,
			Confirmed: l.Confirmed, Watched: l.Watched, Monitor: l.Monitor}
		one.A, one.B = d.sides(l.sides)
		one.BesideA, one.BesideB = d.sides(l.Beside)
		one.Layout.Shifted = l.Shifted
		one.Layout.A, one.Layout.B = d.sides(l.Apart)
		for _, f := range l.Functions {
			function := lines.Function{Frame: d.frame(f.Frame)}
			function.A, function.B = d.sides(f.sides)
			function.AtA, function.AtB = d.sides(f.At)
			one.Functions = append(one.Functions, function)
		}
		result.Lines = append(result.Lines, one)
	}
	for i := range d.doc.Retired {
		r := &d.doc.Retired[i]
		result.Retired = append(result.Retired, compare.Retired{Frames: d.stack(r.Stack), Cycles: d.counted(&r.Cycles),
			Instructions: d.counted(&r.Instructions)})
	}
	return result
}

func (d *decoder) counted(c *counted) compare.Counted {
	a, b := d.sides(c.sides)
	return compare.Counted{A: a, B: b, SeenA: c.Seen[0], SeenB: c.Seen[1]}
}

func (d *decoder) path(p *path) compare.Path {
	one := compare.Path{Kind: compare.PathKind(p.Kind), Frames: d.stack(p.Stack), Comm: p.Comm,
		Process: p.Process, Parent: p.Parent, Syscall: p.Syscall, WakerKind: p.WakerKind,
		WakerComm: p.WakerComm, WakerOwn: p.WakerOwn, WakerStack: d.stack(p.WakerStack),
		Object: p.Object, Short: p.Short, Ticking: p.Ticking, Lock: p.Lock, Turn: p.Turn, Nap: p.Nap,
		Holder: d.stack(p.Holder), Around: d.stack(p.Around), For: d.stack(p.For)}
	one.A, one.B = d.sides(p.sides)
	return one
}
