package record

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"culprit/internal/stat"
	"culprit/recording"
)

const (
	pilotReadings   = 7 // the first of which is a start
	checkConfidence = 0.95
	// checkSmallest is the difference that is called the same.
	checkSmallest = 0.01
)

// CheckLeast is how long a recording must be that checks its own effect: six pairs of blocks and
// what lies between.
const CheckLeast = 20 * time.Second

// blockOf is how long the recorder stays attached, or detached, in one block.
func (r *Run) blockOf() time.Duration {
	if r.block > 0 {
		return r.block
	}
	return max(500*time.Millisecond, min(2*time.Second, r.Duration/30))
}

// watchChecked records in blocks and leaves blocks out, in pairs of random order, and compares a
// rate of the target over them. Attaching and detaching lie between the blocks: they happen once in
// a usual recording.
func (r *Run) watchChecked(ctx context.Context) error {
	block := r.blockOf()
	r.check = &recording.SelfCheck{Outcome: string(stat.Undecided), Rejected: []string{}, BlockNs: int64(block),
		Confidence: checkConfidence}
	if !r.wait(ctx, block) { // the first part sees how the target starts
		r.check.Why = "the target ended before its rate could be looked at"
		return nil
	}
	if err := r.parts.End(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	rate, going := r.pilot(ctx, block)
	var ratios []float64
	for going && rate != "" {
		ratio, whole, err := r.pair(ctx, rate, block)
		if err != nil {
			return err
		}
		if !whole {
			break
		}
		if !math.IsNaN(ratio) {
			ratios = append(ratios, ratio)
		}
		going = time.Until(r.until) > 0
	}
	if rate == "" && going {
		if err := r.resume(ctx, "looked for a steady rate of the target"); err != nil {
			return err
		}
		return r.watchPlain(ctx)
	}
	judgeCheck(r.check, ratios, time.Since(r.began)/time.Duration(max(1, len(ratios))))
	return nil
}

// pilot chooses the rate, with the recorder detached, so that what is chosen cannot depend on what
// it does.
func (r *Run) pilot(ctx context.Context, block time.Duration) (rate string, going bool) {
	readings := []reading{r.read()}
	for len(readings) < pilotReadings {
		if !r.wait(ctx, block/2) {
			r.check.Why = "the target ended before its rate was known"
			return "", false
		}
		readings = append(readings, r.read())
	}
	if r.Printed != nil {
		for _, one := range readings[1:] {
			if len(one.printed) > 0 {
				r.check.Rate = printedRate
				return printedRate, true
			}
		}
		r.check.Rejected = append(r.check.Rejected, printedRate+": none matched")
	}
	name, rejected := chooseRate(readings)
	r.check.Rate, r.check.Rejected = name, append(r.check.Rejected, rejected...)
	if name == "" {
		r.check.Why = "no rate of the target was steady; give --check-rate REGEXP for a number that it prints"
	}
	return name, true
}

// pair runs a block with and a block without the recorder, and returns ln(rate with / rate
// without); NaN when one had no rate. whole is false when the recording ended meanwhile.
func (r *Run) pair(ctx context.Context, rate string, block time.Duration) (ratio float64, whole bool, err error) {
	var values [2]float64
	first := rand.IntN(2)
	for _, with := range []int{first, 1 - first} {
		if with == 1 {
			if err := r.resume(ctx, "self-check: the recorder was off"); err != nil {
				return 0, false, err
			}
		}
		before := r.read()
		going := r.wait(ctx, block)
		after := r.read()
		if with == 1 {
			if err := r.parts.End(context.WithoutCancel(ctx)); err != nil {
				return 0, false, err
			}
		}
		if !going {
			return 0, false, nil
		}
		rates, _ := before.rates(after)
		values[with] = rates[rate]
	}
	if !(values[0] > 0 && values[1] > 0) || math.IsInf(values[0]+values[1], 0) {
		return math.NaN(), true, nil
	}
	return math.Log(values[1] / values[0]), true, nil
}

// judgeCheck says what the pairs show; pair is how long one took.
func judgeCheck(check *recording.SelfCheck, ratios []float64, pair time.Duration) {
	check.Pairs = len(ratios)
	interval, err := stat.HodgesLehmann(ratios, checkConfidence)
	if err != nil {
		if check.Why == "" {
			check.Why = fmt.Sprintf("%d pairs of blocks are too few", len(ratios))
			check.MoreNs = int64(pair) * int64(leastPairs-len(ratios))
		}
		return
	}
	ratio := interval.Exp()
	check.Ratio, check.Low, check.High = ratio.Value, ratio.Low, ratio.High
	same := math.Log1p(checkSmallest)
	switch {
	case interval.Low > -same && interval.High < same:
		check.Outcome = "same"
	case interval.High < 0:
		check.Outcome = "slower"
	case interval.Low > 0:
		check.Outcome = "faster"
	default:
		width := (interval.High - interval.Low) / 2
		distance := max(math.Abs(interval.Value), same-math.Abs(interval.Value))
		needed := float64(len(ratios)) * (width / distance) * (width / distance)
		check.MoreNs = int64(min(24*time.Hour, time.Duration((max(1, needed-float64(len(ratios))))*float64(pair))))
	}
}

// leastPairs are the fewest of which an interval can be given at checkConfidence.
const leastPairs = 6

// read takes the target's numbers as they stand.
func (r *Run) read() reading {
	pids, err := targetPids(r.parts.target)
	if err != nil || r.Target.Kind == "host" {
		pids = hostPids()
	}
	now := readTarget(pids)
	if r.Printed != nil {
		now.printed = r.Printed.take()
	}
	return now
}

// hostPids lists every process but the recorder and its owner.
func hostPids() (pids []int) {
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	own := tree(os.Getpid())
	for _, path := range paths {
		if pid, err := strconv.Atoi(filepath.Base(path)); err == nil && !slices.Contains(own, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
