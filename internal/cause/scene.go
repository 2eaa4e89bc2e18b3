package cause

import (
	"slices"
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/blame"
	"culprit/internal/compare/differs"
	"culprit/internal/compare/lines"
	"culprit/internal/stat"
	"culprit/recording"
)

// Input is what a judgement rests on.
type Input struct {
	// Result explains the metric that changed; CPU and Wall are those of both metrics, nil where
	// not available.
	Result, CPU, Wall   *compare.Result
	FactsA, FactsB      []recording.Fact
	CommandA, CommandB  string
	Costs               Costs
	Differs             []differs.Difference // all that the sides are not the same in; nil in older judgements
	Tracers             []string             // who else traces or counts on this host, in words
	OneSided            []string             // disturbances of trials without the recorder that come with one side only
	Confidence          float64              // 0 means 0.95
	MeasuredChange      compare.Interval
	MeasuredChangeKnown bool // MeasuredChange: B − A in the metric's unit, in trials without the recorder
}

// Cost is what one operation takes on this host, in nanoseconds. Zero: not measured.
type Cost struct{ Ns, Low, High float64 }

// Costs are the unit costs that predictions are made of.
type Costs struct {
	ClockVDSO Cost // one clock read through the vDSO
	ClockRaw  Cost // one clock_gettime by a real system call
	Syscall   Cost // one bare system call
	Fault     Cost // the first touch of a page of new memory
	Spawn     Cost // fork, exec and wait for a trivial program
	Switch    Cost // one context switch between two threads on one CPU, with the calls that bring it about
}

// scene is the input seen from the dearer side: paths and counts have their sides exchanged when A
// is the dearer one, so that recognisers look for growth only. One-sided, side A is empty and
// everything is growth. It is not changed after newScene: what a recogniser answers does not depend
// on which others were asked before.
type scene struct {
	in         Input
	confidence float64
	swapped    bool
	oneSided   bool
	metric     string
	metricA    []float64
	metricB    []float64
	growth     float64
	paths      []compare.Path
	code       code.Memo   // whose code the stacks of all tables are
	tree       *blame.Tree // of paths
	traits     []trait
	ran        map[recording.FrameKind]bool // the kinds of code seen in paths
	counts     []compare.Count
	retired    []compare.Retired
	waits      []compare.Wait
	lines      []compare.SharedLine
	hops       []compare.Hop
	cpu        []compare.Path // running paths of the CPU metric, for places that the wall metric does not show
	cpuGrowth  float64
	factsA     map[string]string
	factsB     map[string]string
	changes    []compare.FactChange
	commandA   string
	commandB   string

	// Worked out before anything is recognised.

	// partners is how often, of a process and a thread's name, one wakes the other.
	partners map[[2]string]float64
	// tracers, when not nil, are the processes that trace both sides alike: none where it is a
	// filter in the kernel.
	tracers map[string]bool
	stalls  []*stall // by path: the kind of wait in the kernel, nil for none
	sleeps  sleeps   // what the program sleeps on purpose, and whether its sleepers wait for each other
}

// claim is a cause that owns paths: what a finding became.
type claim struct {
	cause    ID
	rule     Rule // that recognised it
	members  []int
	places   []Place
	evidence []Evidence
	against  []Doubt
	knob     string
	claim    string // "": the catalogue's
	remedy   string // "": the catalogue's
	line     *SharedLine
	// prediction is what count × cost says, per run; nil where no cost is known.
	prediction *Prediction
	place      []recording.Frame // the way to the function that the claim is about
	// consequence marks a cause that follows from code doing more (garbage, page faults): code
	// ranks before it.
	consequence bool
	// changed is the dependency that the place is in, where the sides run different versions of it.
	changed string
	// came is a dependency below the place that the other side never ran, where that is what grew.
	came string
	// silent is why the claim is not told, "" where it is.
	silent string
	// ofSetting marks what the same program does more of where a setting differs that no cause is
	// known for.
	ofSetting bool
	// onlySetting marks what follows from a setting that is the only difference of the sides.
	onlySetting bool
	// tests is the cause that it is instead where trials say so; "" for none.
	tests ID
	// absorbs is the part of its place's growth from which the claim takes the rest of the
	// place's own code too: loops around calls are there because of the calls. 0: never.
	absorbs float64
}

func newScene(in Input) *scene {
	s := &scene{in: in, confidence: in.Confidence, metric: in.Result.Metric, oneSided: in.Result.OneSided,
		metricA: in.Result.A, metricB: in.Result.B, commandA: in.CommandA, commandB: in.CommandB,
		factsA: tightest(in, in.FactsA, compare.A), factsB: tightest(in, in.FactsB, compare.B), changes: in.Result.Facts}
	if s.confidence == 0 {
		s.confidence = 0.95
	}
	s.swapped = !s.oneSided && mean(s.metricB) < mean(s.metricA)
	exchange(s, &s.metricA, &s.metricB)
	exchange(s, &s.factsA, &s.factsB)
	exchange(s, &s.commandA, &s.commandB)
	s.growth = mean(s.metricB) - mean(s.metricA)
	s.changes = turned(in.Result.Facts, func(change *compare.FactChange) { exchange(s, &change.A, &change.B) })
	s.paths = turned(in.Result.Paths, s.turnPath)
	s.counts = turned(in.Result.Counts, func(count *compare.Count) { exchange(s, &count.A, &count.B) })
	s.retired = turned(in.Result.Retired, s.turnRetired)
	s.waits = turned(in.Result.Waits, func(wait *compare.Wait) {
		s.turnPath(&wait.Path)
		exchange(s, &wait.CountA, &wait.CountB)
	})
	s.hops = turned(in.Result.Hops, func(hop *compare.Hop) { exchange(s, &hop.A, &hop.B) })
	s.lines = turned(in.Result.Lines, func(line *compare.SharedLine) {
		exchange(s, &line.A, &line.B)
		exchange(s, &line.BesideA, &line.BesideB)
		exchange(s, &line.Layout.A, &line.Layout.B)
		line.Functions = turned(line.Functions, func(f *lines.Function) {
			exchange(s, &f.A, &f.B)
			exchange(s, &f.AtA, &f.AtB)
		})
	})
	s.cpu = s.paths
	if in.CPU != nil && in.CPU != in.Result {
		s.cpu = turned(in.CPU.Paths, s.turnPath)
	}
	s.cpuGrowth = s.spent(in.CPU).more()
	s.tree = blame.New(s.paths, s.code.Own)
	s.traits, s.ran = s.traitsOf(s.paths)
	s.partners = s.findPartners()
	s.stalls = s.stalledOn()
	s.tracers = s.tracersOfBoth()
	s.sleeps = s.lookAtSleeps()
	return s
}

func (s *scene) turned() bool { return s.swapped || s.oneSided }

// exchange turns two values round where the scene is.
func exchange[T any](s *scene, a, b *T) {
	if s.turned() {
		*a, *b = *b, *a
	}
}

// turned is a copy of a table, each row of it turned.
func turned[T any](rows []T, turn func(*T)) []T {
	rows = slices.Clone(rows)
	for i := range rows {
		turn(&rows[i])
	}
	return rows
}

func (s *scene) turnPath(path *compare.Path) { exchange(s, &path.A, &path.B) }

func (s *scene) turnRetired(one *compare.Retired) {
	for _, counted := range []*compare.Counted{&one.Cycles, &one.Instructions} {
		exchange(s, &counted.A, &counted.B)
		exchange(s, &counted.SeenA, &counted.SeenB)
	}
}

// mean is short for what stands in most formulas here.
func mean(values []float64) float64 { return stat.Average(values) }

// wall is the mean wall time of both sides in seconds, 0 where it is not known.
func (s *scene) wall() sides { return s.spent(s.in.Wall) }

// spent is the mean of a metric on both sides, nothing where it is not known.
func (s *scene) spent(result *compare.Result) sides {
	if result == nil {
		return sides{}
	}
	a, b := result.A, result.B
	exchange(s, &a, &b)
	return means(a, b)
}

// grown is the growth of one path in seconds per run.
func (s *scene) grown(i int) float64 { return mean(s.paths[i].B) - mean(s.paths[i].A) }

// count returns the mean of a count on both sides; key "" is the whole tree.
func (s *scene) count(name, key string) sides {
	if count := s.counted(name, key); count != nil {
		return means(count.A, count.B)
	}
	return sides{}
}

// counted is a count by run, nil where there is none.
func (s *scene) counted(name, key string) *compare.Count {
	for i := range s.counts {
		if s.counts[i].Name == name && s.counts[i].Key == key {
			return &s.counts[i]
		}
	}
	return nil
}

// keys lists the processes that have a count, without the whole tree.
func (s *scene) keys(name string) []string {
	var keys []string
	for i := range s.counts {
		if s.counts[i].Name == name && s.counts[i].Key != "" {
			keys = append(keys, s.counts[i].Key)
		}
	}
	return keys
}

// atKeys adds as places those of the two keys of a count that grew most.
func (s *scene) atKeys(c *claim, kind PlaceKind, count string) {
	grown := map[string]float64{}
	for _, key := range s.keys(count) {
		grown[key] = s.count(count, key).more()
	}
	for _, key := range most(grown, 2) {
		c.at(Place{Kind: kind, Name: key})
	}
}

// add notes evidence; an amount that neither side has is none.
func (c *claim) add(signal, text string, amount sides, unit string) {
	if amount != (sides{}) {
		c.evidence = append(c.evidence, Evidence{Signal: signal, Text: text, A: amount.a, B: amount.b, Unit: unit})
	}
}

// note notes evidence without an amount.
func (c *claim) note(signal, text string) {
	c.evidence = append(c.evidence, Evidence{Signal: signal, Text: text})
}

// addSetting notes a setting that differs.
func (c *claim) addSetting(setting compare.FactChange) {
	c.evidence = append(c.evidence, Evidence{Signal: "facts", Text: describe(setting), Setting: setting.Name})
}

// tellSettings notes settings that differ, and that the cause is there.
func (c *claim) tellSettings(settings []compare.FactChange) {
	for _, setting := range settings {
		c.addSetting(setting)
		c.at(inSetting(setting))
	}
}

func containsAny(name string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
