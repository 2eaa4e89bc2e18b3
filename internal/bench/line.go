package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"culprit/internal/stat"
)

const (
	lineBytes = 64 // of a cache line, on x86 and most of arm64
	// lineAdds is how many additions a repetition makes: long against starting the threads.
	lineAdds = 400_000
	// linePasses is how often a line goes there and back in a round.
	linePasses = 5_000
	// passPatience bounds the waiting for the other CPU: where one of the two does not run, the
	// round is given up.
	passPatience = 60 * time.Millisecond
	// A thread that had the CPU for less of its time was not at work beside the other one.
	besidePart = 0.8
	// mostFailures is how many rounds may fail before there is no result.
	mostFailures = 25
)

// errNoPartner is what a round says whose other thread got no CPU.
var errNoPartner = errors.New("the thread on the other CPU did not run meanwhile: too much else does; try again")

// words returns two words of one cache line and one that is two lines away; nothing else stands on
// their lines.
func words() (first, near, far *atomic.Uint64) {
	const word = 8
	block := make([]atomic.Uint64, 8*lineBytes/word)
	at := 2 * lineBytes / word
	for uintptr(unsafe.Pointer(&block[at]))%lineBytes != 0 {
		at++
	}
	return &block[at], &block[at+1], &block[at+2*lineBytes/word]
}

// adders are threads that add at the same time.
type adders struct{ ready, done, count atomic.Int32 }

// adds makes its additions while all others make theirs, and takes the CPU time for each. It goes
// on adding until the last one is through, so that nobody is alone in the end.
func (a *adders) adds(word *atomic.Uint64, cost *float64) func() error {
	return func() error {
		begun := time.Now()
		for spins := a.ready.Add(1); a.ready.Load() < a.count.Load(); spins++ {
			if spins%(1<<16) == 0 && time.Since(begun) > passPatience {
				return errNoPartner
			}
		}
		begin := time.Now()
		start, err := threadCPUNs()
		if err != nil {
			return err
		}
		for range lineAdds / unrolled {
			eightAdds(word)
		}
		end, err := threadCPUNs()
		*cost = float64(end-start) / lineAdds
		if err == nil && float64(end-start) < besidePart*float64(time.Since(begin).Nanoseconds()) {
			err = errNoPartner
		}
		for a.done.Add(1); a.done.Load() < a.count.Load() && time.Since(begun) < passPatience; {
			eightAdds(word)
		}
		return err
	}
}

func eightAdds(word *atomic.Uint64) {
	word.Add(1)
	word.Add(1)
	word.Add(1)
	word.Add(1)
	word.Add(1)
	word.Add(1)
	word.Add(1)
	word.Add(1)
}

func sharingAlone(ctx context.Context, s Settings) (*measurement, error) {
	cpus, err := allowedCPUs(1)
	if err != nil {
		return nil, err
	}
	first, _, _ := words()
	return rounds(ctx, s, func() (float64, error) {
		var cost float64
		alone := &adders{}
		err := <-onCPU(cpus[0], alone.adds(first, &cost))
		return cost, err
	})
}

// pairAdds lets two threads add at once and takes the mean of both costs.
func pairAdds(ctx context.Context, s Settings, first, second *atomic.Uint64) (*measurement, error) {
	cpus, err := allowedCPUs(2)
	if err != nil {
		return nil, err
	}
	if len(cpus) < 2 {
		return nil, errOneCPU
	}
	return rounds(ctx, s, func() (float64, error) {
		var one, two float64
		pair := &adders{}
		pair.count.Store(2)
		err := together(cpus, pair.adds(first, &one), pair.adds(second, &two))
		return (one + two) / 2, err
	})
}

func sharingFalse(ctx context.Context, s Settings) (*measurement, error) {
	first, near, _ := words()
	return pairAdds(ctx, s, first, near)
}

func sharingPadded(ctx context.Context, s Settings) (*measurement, error) {
	first, _, far := words()
	return pairAdds(ctx, s, first, far)
}

// sharingPass hands a line to and fro: each side waits for the other's number and writes the next.
func sharingPass(ctx context.Context, s Settings) (*measurement, error) {
	cpus, err := allowedCPUs(2)
	if err != nil {
		return nil, err
	}
	if len(cpus) < 2 {
		return nil, errOneCPU
	}
	m, err := rounds(ctx, s, func() (float64, error) {
		line, _, _ := words()
		var cost float64
		err := together(cpus, passes(line, 0, &cost), passes(line, 1, new(float64)))
		return cost, err
	})
	if err == nil {
		m.path = append(m.path, fmt.Sprintf("CPUs %d and %d", cpus[0], cpus[1]))
	}
	return m, err
}

// passes waits for even or odd numbers and writes the next one, and returns the time for one way.
func passes(word *atomic.Uint64, odd uint64, cost *float64) func() error {
	return func() error {
		start := time.Now()
		for next := odd; next < 2*linePasses; next += 2 {
			for spins := 1; word.Load() != next; spins++ {
				if spins%(1<<16) == 0 && time.Since(start) > passPatience {
					return errNoPartner
				}
			}
			word.Store(next + 1)
		}
		*cost = float64(time.Since(start).Nanoseconds()) / (2 * linePasses)
		return nil
	}
}

// rounds repeats a measurement for as long as the time allows; one that fails now and then is left
// out.
func rounds(ctx context.Context, s Settings, once func() (float64, error)) (*measurement, error) {
	m := &measurement{}
	failures := 0
	for end := time.Now().Add(s.Time); len(m.rounds) < fewestRounds || time.Now().Before(end); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cost, err := once()
		if err != nil {
			if failures++; failures == mostFailures {
				return nil, err
			}
			continue
		}
		if len(m.rounds) < mostRounds {
			m.rounds = append(m.rounds, cost)
		} else {
			break
		}
	}
	if median, err := stat.Median(m.rounds); err != nil || median <= 0 {
		return nil, fmt.Errorf("take rounds: median %v: %w", median, err)
	}
	return m, nil
}
