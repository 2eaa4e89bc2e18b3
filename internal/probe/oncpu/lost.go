package oncpu

import (
	"cmp"

	"culprit/internal/probe/watchpoint"
)

// An instruction that overwrites the register of its own address (mov (%rax),%rax) is sampled when
// it has: where it read is lost. Where that happens often at one instruction, debug registers catch
// its threads right before it, a few times each, and those samples are taken for accesses to where
// they went then.

const (
	worthACatch    = 10 // samples that are lost at an instruction before it is caught
	codesAtOnce    = 2
	codesInAll     = 6       // in one window
	maxLost        = 1 << 14 // samples kept
	maxLostInCodes = 1024    // different instructions
)

// lostCode is an instruction whose operands are lost.
type lostCode struct {
	samples []oncpuOperand // that wait for a catch, of all threads
	threads map[int32]int  // samples by thread
	tries   int            // to catch them
	asked   bool           // they are not asked any more
}

// lose takes a sample whose instruction overwrote its operand for an access where its thread was
// seen to go, or keeps it until that is known.
func (l *looker) lose(sample *oncpuOperand) {
	code := lostAt(sample, l.before)
	if code == 0 {
		return
	}
	at := codeOf{int32(sample.Tgid), code}
	if l.regain(at, sample) || !l.confirm {
		return
	}
	of := l.lost[at]
	if of == nil {
		if len(l.lost) == maxLostInCodes {
			return
		}
		of = &lostCode{threads: map[int32]int{}}
		l.lost[at] = of
	}
	of.threads[int32(sample.Tid)]++
	if !of.asked && l.lostKept < maxLost {
		l.lostKept++
		of.samples = append(of.samples, *sample)
	}
}

// regain takes a sample for an access to where its thread was seen to go; false: it was not seen.
func (l *looker) regain(at codeOf, sample *oncpuOperand) bool {
	place, seen := l.went.next(at, int32(sample.Tid))
	if seen {
		l.keep(sample, place)
	}
	return seen
}

// catch asks the threads at the instructions at which most is lost. Threads of a busy host may not
// run while they are asked: they are asked again, a few times.
func (l *looker) catch() {
	counts := map[codeOf]int{}
	for at, of := range l.lost {
		if !of.asked && len(of.samples) >= worthACatch {
			counts[at] = len(of.samples)
		}
	}
	for i, at := range mostFirst(counts, byCodeOf) {
		of := l.lost[at]
		if i == codesAtOnce {
			return
		}
		if of.tries == 0 {
			if l.caught == codesInAll {
				continue
			}
			l.caught++
		}
		of.tries++
		threads := mostFirst(of.threads, func(a, b int32) int { return cmp.Compare(a, b) })
		caught, err := l.watcher.Catch(int(at.pid), threads, at.address)
		if (err != nil || len(caught) == 0) && of.tries < triesOfLine {
			continue
		}
		l.locate(at, caught)
	}
}

// locate adds where an instruction went with the registers that threads were caught with, and takes
// the samples that waited for it.
func (l *looker) locate(at codeOf, caught []watchpoint.Caught) {
	of, latest := l.lost[at], map[int32]*oncpuOperand{}
	for i := range of.samples {
		latest[int32(of.samples[i].Tid)] = &of.samples[i]
	}
	for i := range caught {
		like := latest[caught[i].Tid]
		if like == nil {
			continue // sampled before the others, and dropped
		}
		sample := *like // its code, and where its thread's own memory is
		copy(sample.Regs[:], caught[i].Registers[:])
		if found, ok := accessAt(&sample, at.address); ok {
			l.went.add(at, caught[i].Tid, found)
		}
	}
	for i := range of.samples {
		l.regain(at, &of.samples[i])
	}
	l.lostKept -= len(of.samples)
	of.asked, of.samples = true, nil
}

func byCodeOf(a, b codeOf) int {
	return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.address, b.address))
}
