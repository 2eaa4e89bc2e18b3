package corpus

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/compare"
	"culprit/recording"
)

// digits are those that amounts keep: a millionth moves no verdict.
const digits = 6

// leastWait is the part of the metric below which a wait is left out: ten microseconds of a second.
// Paths are all kept, because they add up to the metric.
const leastWait = 1e-5

// encoder makes a pair a document.
type encoder struct {
	doc    document
	frames map[frame]int
	stacks map[string]int
}

func encode(p *Pair) (*document, error) {
	in := &p.Input
	result := in.Result
	e := &encoder{frames: map[frame]int{}, stacks: map[string]int{}}
	e.stack(nil) // number 0: no stack
	e.doc = document{Version: version, Name: p.Name, Source: p.Source, Truth: p.Truth,
		Outcome: string(p.Outcome), Commands: [2]string{in.CommandA, in.CommandB}, Tracers: in.Tracers,
		Differs:  in.Differs,
		OneSided: in.OneSided, Confidence: in.Confidence, Explained: result.Metric,
		NoBaseline: result.OneSided, Costs: map[string]vector{}, Seconds: map[string]*seconds{},
		Stacks: e.doc.Stacks}
	d := &e.doc
	for _, measured := range p.Measured {
		if measured.Change != nil {
			d.Metrics = append(d.Metrics, tested{measured.Metric, string(measured.Outcome),
				toInterval(*measured.Change)})
		}
	}
	for at, facts := range [][]recording.Fact{in.FactsA, in.FactsB} {
		for _, f := range facts {
			d.Facts[at] = append(d.Facts[at], toFact(f))
		}
	}
	for name, cost := range unitCosts(&in.Costs) {
		d.Costs[name] = rounded([]float64{cost.Ns, cost.Low, cost.High})
	}
	if in.MeasuredChangeKnown {
		change := toInterval(in.MeasuredChange)
		d.Measured = &change
	}
	for _, of := range []*compare.Result{result, in.CPU, in.Wall} {
		if of == nil || d.Seconds[of.Metric] != nil {
			continue
		}
		if err := sameTables(result, of); err != nil {
			return nil, fmt.Errorf("write judgement of %s: %w", p.Name, err)
		}
		d.Seconds[of.Metric] = e.seconds(of)
	}
	e.tables(result)
	return d, nil
}

// sameTables makes sure that comparisons of the same recordings by two metrics differ in their
// paths only.
func sameTables(a, b *compare.Result) error {
	if !reflect.DeepEqual(a.Counts, b.Counts) || !reflect.DeepEqual(a.Waits, b.Waits) ||
		!reflect.DeepEqual(a.Facts, b.Facts) || !reflect.DeepEqual(a.Varying, b.Varying) ||
		!reflect.DeepEqual(a.Hops, b.Hops) || !reflect.DeepEqual(a.Lines, b.Lines) ||
		!reflect.DeepEqual(a.Retired, b.Retired) || a.OneSided != b.OneSided {
		return fmt.Errorf("the tables of %s and %s differ", a.Metric, b.Metric)
	}
	return nil
}

func (e *encoder) seconds(result *compare.Result) *seconds {
	of := &seconds{sides: sides{rounded(result.A), rounded(result.B)}, Paths: []path{}}
	for i := range result.Paths {
		if one := e.path(&result.Paths[i]); one.some() {
			of.Paths = append(of.Paths, one)
		}
	}
	return of
}

// tables takes over what does not depend on the metric.
func (e *encoder) tables(result *compare.Result) {
	d := &e.doc
	for _, c := range result.Counts {
		if one := (count{toSides(c.A, c.B), c.Name, c.Key, c.Unit}); one.some() {
			d.Counts = append(d.Counts, one)
		}
	}
	for _, c := range result.Facts {
		d.Changes = append(d.Changes, change(c))
	}
	for _, v := range result.Varying {
		d.Varying = append(d.Varying, varying{v.Name, v.Called, string(v.Side), v.Values})
	}
	for i := range result.Waits {
		w := &result.Waits[i]
		if max(sum(w.A), sum(w.B)) >= leastWait*max(sum(result.A), sum(result.B)) {
			d.Waits = append(d.Waits, wait{e.path(&w.Path), toSides(w.CountA, w.CountB)})
		}
	}
	for _, h := range result.Hops {
		d.Hops = append(d.Hops, hop{toSides(h.A, h.B), h.Process, h.WakerComm, h.HopComm,
			e.stack(h.Frames)})
	}
	for _, l := range result.Lines {
		one := line{sides: toSides(l.A, l.B), Name: l.Name, False: l.False, Threads: l.Threads,
			Words: l.Words, Confirmed: l.Confirmed, Watched: l.Watched, Monitor: l.Monitor, Shifted: l.Layout.Shifted,
			Beside: toSides(l.BesideA, l.BesideB), Apart: toSides(l.Layout.A, l.Layout.B)}
		for _, f := range l.Functions {
			one.Functions = append(one.Functions, function{toSides(f.A, f.B), toSides(f.AtA, f.AtB), e.frame(f.Frame)})
		}
		d.Lines = append(d.Lines, one)
	}
	for i := range result.Retired {
		r := &result.Retired[i]
		d.Retired = append(d.Retired, retired{e.stack(r.Frames), toCounted(&r.Cycles), toCounted(&r.Instructions)})
	}
}

func toCounted(c *compare.Counted) counted {
	return counted{toSides(c.A, c.B), [2]float64{round(c.SeenA), round(c.SeenB)}}
}

func (e *encoder) path(p *compare.Path) path {
	return path{sides: toSides(p.A, p.B), Kind: string(p.Kind), Stack: e.stack(p.Frames),
		Comm: p.Comm, Process: p.Process, Parent: p.Parent, Syscall: p.Syscall, WakerKind: p.WakerKind,
		WakerComm: p.WakerComm, WakerOwn: p.WakerOwn, WakerStack: e.stack(p.WakerStack),
		Object: p.Object, Short: p.Short, Ticking: p.Ticking, Lock: p.Lock, Turn: p.Turn, Nap: p.Nap,
		Holder: e.stack(p.Holder), Around: e.stack(p.Around), For: e.stack(p.For)}
}

func (e *encoder) frame(f recording.Frame) int {
	one := frame{f.Name, string(f.Kind), f.Module, f.BuildID, f.File, f.Line, f.Changed}
	at, known := e.frames[one]
	if !known {
		at = len(e.frames)
		e.frames[one] = at
		e.doc.Frames = append(e.doc.Frames, one)
	}
	return at
}

func (e *encoder) stack(frames []recording.Frame) int {
	numbers := make([]int, len(frames))
	var key strings.Builder
	for i, f := range frames {
		numbers[i] = e.frame(f)
		key.WriteString(strconv.Itoa(numbers[i]) + ",")
	}
	at, known := e.stacks[key.String()]
	if !known {
		at = len(e.doc.Stacks)
		e.stacks[key.String()] = at
		e.doc.Stacks = append(e.doc.Stacks, numbers)
	}
	return at
}

func sum(values []float64) (total float64) {
	for _, value := range values {
		total += value
	}
	return total
}

// some says whether any run has an amount.
func (s sides) some() bool { return s.A != nil || s.B != nil }

func toSides(a, b []float64) sides { return sides{unlessZero(a), unlessZero(b)} }

func unlessZero(values []float64) vector {
	if !slices.ContainsFunc(values, func(value float64) bool { return value != 0 }) {
		return nil
	}
	return rounded(values)
}

func rounded(values []float64) vector {
	short := make(vector, len(values))
	for i, value := range values {
		short[i] = round(value)
	}
	return short
}

func round(value float64) float64 {
	if value == math.Trunc(value) && math.Abs(value) < 1<<53 {
		return value // counts stay what they are
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', digits, 64), 64)
	if err != nil {
		return value
	}
	return short
}
