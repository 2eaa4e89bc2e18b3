package record

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"culprit/recording"
)

// leastHz is the lowest rate of samples to which a recording is thinned.
const leastHz = 12

// given is what a recording still does.
type given struct {
	without []string
	hz      int
	share   float64 // of the time in which requests are watched; 0: all of it
}

// sliced is the probe that is not given up but attached in slices of time: it is there because it
// was asked for. leastShare of the time is always watched.
const (
	slicedProbe = "requests"
	leastShare  = 0.1
)

// keeps are the probes that are never detached: the target's tree hangs on one; without samples
// nothing is explained.
var keeps = []string{"processes", "oncpu"}

// patienceOver is how many seconds in a row a budget may be exceeded: a burst is no reason to lose
// evidence.
const patienceOver = 2

// thin says what to give up when recording took more than the budget, both in seconds of CPU per
// second: the probe whose programs took most, as long as one took a tenth of what is over; then
// half of the samples. False: nothing is left to give up.
func thin(took load, budget float64, now given) (next given, probe, did string, ok bool) {
	over := took.total() - budget
	next = given{without: slices.Clone(now.without), hz: now.hz, share: now.share}
	dearest := took.dearest(now)
	if cost := took.BPF[slicedProbe]; now.canSlice() && (cost > budget || dearest == slicedProbe && cost >= over/10) {
		next.slice(cost, over, budget)
		return next, slicedProbe, next.shareText(), true
	}
	if dearest == slicedProbe { // it takes next to nothing, and so do all others
		dearest = ""
	}
	// offcpu's stacks are most of what the recorder's process does: its CPU goes with that probe.
	if dearest != "" && (took.BPF[dearest] >= over/10 || dearest == "offcpu") {
		next.without = append(next.without, dearest)
		return next, dearest, "detached", true
	}
	if now.hz/2 >= leastHz {
		next.hz = now.hz / 2
		return next, "oncpu", fmt.Sprintf("%d instead of %d samples a second", next.hz, now.hz), true
	}
	return now, "", "", false
}

// dearest is the probe of those that can be given up, or watched less, which takes most; "": none
// is left.
func (l *load) dearest(now given) (dearest string) {
	for _, name := range slices.Sorted(maps.Keys(l.BPF)) {
		if slices.Contains(keeps, name) || slices.Contains(now.without, name) || name == slicedProbe && !now.canSlice() {
			continue
		}
		if dearest == "" || l.BPF[name] > l.BPF[dearest] {
			dearest = name
		}
	}
	return dearest
}

// canSlice tells whether requests can be watched for less of the time.
func (g given) canSlice() bool { return g.share == 0 || g.share > leastShare }

// slice has requests watched for so much less of the time that what they take, cost, becomes
// smaller by over, or half of the budget where that is more.
func (g *given) slice(cost, over, budget float64) {
	share := cmp.Or(g.share, 1)
	to := 0.9 * share * max(cost-over, budget/2) / cost // a tenth less: costs go up and down
	g.share = max(leastShare, min(to, 0.8*share))
}

func (g *given) shareText() string { return fmt.Sprintf("watched %.0f %% of the time", 100*g.share) }

// total is what all of recording takes.
func (l *load) total() float64 {
	total := l.CPU
	for _, seconds := range l.BPF {
		total += seconds
	}
	return total
}

// text names the parts of a load, the dearest first.
func (l *load) text() string {
	names := slices.SortedFunc(maps.Keys(l.BPF), func(a, b string) int {
		switch {
		case l.BPF[a] > l.BPF[b]:
			return -1
		case l.BPF[a] < l.BPF[b]:
			return 1
		}
		return strings.Compare(a, b)
	})
	parts := []string{fmt.Sprintf("recorder %.2f %%", 100*l.CPU)}
	for _, name := range names[:min(3, len(names))] {
		parts = append(parts, fmt.Sprintf("%s %.2f %%", name, 100*l.BPF[name]))
	}
	return strings.Join(parts, ", ")
}

// keepBudget looks once a second whether recording took more than it may, and goes on with less
// when it did: a part ends, and the next begins without what is given up, so that every part is of
// one make.
func (r *Run) keepBudget(ctx context.Context) error {
	if r.MaxCost <= 0 || r.spent {
		return nil
	}
	took, err := r.Recorder.load(context.WithoutCancel(ctx))
	if err != nil || took == nil {
		return err
	}
	used := r.targetUse()
	budget := r.MaxCost * max(1, used)
	if took.total() <= budget {
		r.over = 0
		return nil
	}
	if r.over++; r.over < patienceOver {
		return nil
	}
	r.over = 0
	if r.now.hz == 0 {
		r.now.hz = r.Hz
	}
	next, probe, did, ok := thin(*took, budget, r.now)
	why := fmt.Sprintf("recording took %.2f %% of a core where %.2f %% are allowed: %s", 100*took.total(), 100*budget,
		took.text())
	if !ok {
		r.spent, probe, did = true, "all", "nothing is left to give up"
	}
	r.now = next
	return r.goOnWith(ctx, recording.Thinning{Probe: probe, Did: did, Why: why})
}

// goOnWith ends a part and begins the next with what is left.
func (r *Run) goOnWith(ctx context.Context, step recording.Thinning) error {
	if err := r.parts.EndToGoOn(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	r.parts.target.Share = r.now.share
	r.parts.target.Without, r.parts.thinned = r.now.without, []recording.Thinning{step}
	if r.now.hz != r.Hz {
		r.parts.target.Hz = r.now.hz
	}
	return r.resume(ctx, "--max-cost: "+step.Probe+": "+step.Did)
}

// targetUse is how many CPUs the target has used since it was asked before; 0 the first time.
func (r *Run) targetUse() float64 {
	now := r.read()
	before := r.last
	r.last = now
	if before.threads == nil {
		return 0
	}
	used := 0.0
	for tid, after := range now.threads {
		used += after.cpuNs - before.threads[tid].cpuNs // of a new thread: all of it
	}
	return max(0, used/1e9/now.at.Sub(before.at).Seconds())
}
