package explain

import (
	"fmt"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/compare"
	"culprit/internal/compare/comparability"
	"culprit/internal/compare/differs"
	"culprit/internal/compare/rank"
	"culprit/internal/compare/settings"
	"culprit/internal/compare/units"
	"culprit/internal/host"
	"culprit/internal/stat"
	"culprit/recording"
)

// itemsPerSignal bounds the ranked differences that a judgement keeps.
const itemsPerSignal = 40

// Judgement is what recordings and their context come to. Amounts are per unit of work.
type Judgement struct {
	Metric   string          // explained: the context's, or CPU time where wall time gave way
	Result   *compare.Result // of that metric, per recording
	Unit     units.Unit
	Suspects []cause.Suspect // best first; none where nothing is shown to differ
	Why      *cause.Why      // how they came about; nil where nothing was judged
	AlsoSeen []cause.Seen    // stalls too small for a suspect; of one recording only
	Items    []rank.Difference
	Profile  compare.Profile // of CPU time
	Waits    compare.Profile // of time off the CPU
	Facts    []recording.Fact
	Differs  []differs.Difference // all that the sides are not the same in
	// Unseen and Warnings limit the judgement.
	Unseen   []recording.BlindSpot
	Warnings []string
}

// Sure reports whether the first suspect's part of the change is surely more than nothing.
func (j *Judgement) Sure() bool { return len(j.Suspects) > 0 && j.Suspects[0].Share.Low > 0 }

// Judge names suspects.
func (e *Evidence) Judge(c Context) (*Judgement, error) {
	in, judged, err := Ask(c, func(metric string) (cause.Input, error) { return e.Input(c, metric) })
	if err != nil {
		return nil, err
	}
	j := &Judgement{Unit: e.Unit(), Facts: in.FactsA}
	if c.Judged() {
		why := judged.Why.InUnit(j.Unit)
		j.Suspects, j.Why = cause.InUnit(judged.Suspects, j.Unit), &why
		if in.Result.Metric != c.Metric && !e.knowsSlow(c) {
			j.warn("nothing explains the change of the wall time; told is that of the CPU time")
		}
		if cause.Opposed(in) && !e.knowsSlow(c) {
			j.warn("the recorded runs changed the other way than those that decided, " +
				"so that they explain nothing: repeat it on a quieter host or with a larger --budget")
		}
	}
	j.Result, j.Metric = in.Result, in.Result.Metric
	if e.OneSided() {
		j.alone(e)
	}
	for _, text := range slices.Concat(e.changedWithin(), comparability.Failed(e.A, e.B)) {
		j.warn(text)
	}
	j.judgeSlow(e, c)
	e.follow(j.Suspects, in.Differs, in.Result)
	if c.Judged() && len(c.Costs) == 0 {
		j.warn("recorded on another host or kernel: counts are not turned into predicted costs")
	}
	j.Items = rank.Of(j.Result, e.Work, Confidence).Differences(itemsPerSignal)
	j.Profile = j.Result.Profile.Per(j.Unit)
	j.Waits = compare.WaitProfile(j.Result, Confidence).Per(j.Unit)
	j.Differs = in.Differs
	j.Unseen = blindSpots(e.both(), j.Result)
	return j, nil
}

// Judged reports whether there may be suspects: where nothing is shown to have changed there is no
// culprit.
func (c *Context) Judged() bool { return c.Outcome != stat.Same && c.Outcome != stat.Undecided }

func (j *Judgement) warn(text string) { j.Warnings = append(j.Warnings, text) }

// Ask is the one call of the catalogue, about the metric of the context. It returns what the answer
// is about as well. Where nothing explains the change of the wall time, but the CPU time is known
// to have changed the same way, and that has a cause, the judgement is about the CPU time: on a
// busy host most of the wall time's change is waiting for a CPU, wherever the program stood, which
// hides its use.
func Ask(c Context, of func(metric string) (cause.Input, error)) (cause.Input, cause.Judgement, error) {
	in, err := of(c.Metric)
	if err != nil || !c.Judged() {
		return in, cause.Judgement{}, err
	}
	judged := cause.Judge(in)
	if len(judged.Suspects) > 0 || !c.givesWay(in) {
		return in, judged, nil
	}
	cpu, err := of(compare.MetricCPU)
	if err != nil {
		return in, judged, nil // the wall time's answer stands
	}
	if instead := cause.Judge(cpu); len(instead.Suspects) > 0 {
		return cpu, instead, nil
	}
	return in, judged, nil
}

// givesWay reports whether a wall time without a cause may be told as CPU time: both were tested,
// with the same outcome.
func (c *Context) givesWay(in cause.Input) bool {
	wall, cpu := c.measured(compare.MetricWall), c.measured(compare.MetricCPU)
	if in.Result.Metric != compare.MetricWall || in.CPU == nil || wall == nil || cpu == nil {
		return false
	}
	grown := func(r *compare.Result) bool { return mean(r.B) > mean(r.A) }
	return wall.Outcome == cpu.Outcome && grown(in.Wall) == grown(in.CPU)
}

// Input is what the catalogue judges: the evidence and its context, of one metric.
func (e *Evidence) Input(c Context, metric string) (cause.Input, error) {
	result, err := e.Of(metric)
	if err != nil {
		return cause.Input{}, err
	}
	in := cause.Input{Result: result, CPU: e.CPU, Wall: e.Wall,
		CommandA: commandOf(e.A), CommandB: commandOf(e.B),
		FactsA: settings.Of(e.A), FactsB: settings.Of(e.B),
		Differs: e.Differs(result),
		Costs:   CostsOf(c.Costs), Tracers: e.tracers(), OneSided: c.OneSided, Confidence: Confidence}
	if known := c.measured(metric); known != nil && known.Change != nil {
		in.MeasuredChange, in.MeasuredChangeKnown = *known.Change, true
	}
	return in, nil
}

// Differs is all that the sides are not the same in, by what a comparison of a metric shows.
func (e *Evidence) Differs(result *compare.Result) []differs.Difference {
	return differs.Find(e.A, e.B, result.Facts, differs.Weights{Metric: result.Metric, A: e.Work.A, B: e.Work.B,
		Change: e.Unit().Amount(mean(result.B) - mean(result.A))})
}

// tracers are who else traced or counted on the host, in words, but for those that a difference of
// the sides tells: as the recorder saw them when each recording ended, so that a later judgement is
// the same.
func (e *Evidence) tracers() []string {
	told := map[string]bool{}
	for _, change := range e.anyResult().Facts {
		told[change.Name] = true
	}
	var facts []recording.Fact
	for _, rec := range e.both() {
		for _, fact := range rec.Facts {
			if !told[fact.Name] {
				facts = append(facts, fact)
			}
		}
	}
	var texts []string
	for _, tracer := range host.TracersIn(facts) {
		texts = append(texts, tracer.String())
	}
	return texts
}

func (e *Evidence) anyResult() *compare.Result {
	if e.CPU != nil {
		return e.CPU
	}
	return e.Wall
}

// alone tells what is told of one side only.
func (j *Judgement) alone(e *Evidence) {
	if len(e.A) == 1 {
		j.AlsoSeen = cause.AlsoSeen(e.A[0], j.Suspects)
		j.warn("one recording has no spread between runs: no interval is known, and no share is more " +
			"than observed")
	}
	for _, watcher := range watchersOf(e.A) {
		j.warn("while it was recorded, " + watcher + "; what that adds to its switches and calls is in these times: " +
			"`culprit doctor` and `culprit overhead -p` say how much it is")
	}
	if j.Metric != compare.MetricCPU || e.Wall == nil || !e.commands() {
		return
	}
	if waited := e.waitedForStrangers(); waited >= notableWait*mean(e.Wall.A) {
		j.warn(fmt.Sprintf("it waited %.2g s per %s for a CPU that others on this host had: that is "+
			"about the host, and --metric wall lists it", j.Unit.Amount(waited), j.Unit.Name))
	}
}

// watchersOf tells, each once, what others did to a target that runs on while it was recorded,
// where that was for the target alone.
func watchersOf(side []*recording.Recording) (list []string) {
	for _, rec := range side {
		for _, fact := range rec.Facts {
			if fact.Name == host.FactTargetCounted && fact.Value != "none" && fact.Value != "" &&
				!slices.Contains(list, fact.Value) {
				list = append(list, fact.Value)
			}
		}
	}
	return list
}
