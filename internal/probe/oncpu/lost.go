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
	asked   bool
	caught  map[int32][]access // where it went, by thread
	given   map[int32]int      // samples that were taken for one of those
}

// lose keeps a sample whose instruction overwrote its operand, or takes it for an access where its
// thread was caught.
func (l *looker) lose(sample *oncpuOperand) {
	code := lostAt(sample, l.lengths)
	if code == 0 {
		return
	}
	at := codeOf{int32(sample.Tgid), code}
	if places := l.located[at][int32(sample.Tid)]; len(places) > 0 {
		l.keep(sample, places[sample.Time%uint64(len(places))])
		return
	}
	if !l.confirm {
		return
	}
	of := l.lost[at]
	if of == nil {
		if len(l.lost) == maxLostInCodes {
			return
		}
		of = &lostCode{threads: map[int32]int{}, given: map[int32]int{}}
		l.lost[at] = of
	}
	of.threads[int32(sample.Tid)]++
	switch {
	case of.asked:
		l.regain(of, sample)
	case l.lostKept < maxLost:
		l.lostKept++
		of.samples = append(of.samples, *sample)
	}
}

// regain takes a sample for an access to where its thread went when it was caught, to one place
// after the other.
func (l *looker) regain(of *lostCode, sample *oncpuOperand) {
	tid := int32(sample.Tid)
	places := of.caught[tid]
	if len(places) == 0 {
		return
	}
	one := places[of.given[tid]%len(places)]
	of.given[tid]++
	l.keep(sample, one)
}

// catch asks the threads at the instructions at which most is lost.
func (l *looker) catch() {
	counts := map[codeOf]int{}
	for at, of := range l.lost {
		if !of.asked && len(of.samples) >= worthACatch {
			counts[at] = len(of.samples)
		}
	}
	for i, at := range mostFirst(counts, byCodeOf) {
		if i == codesAtOnce || l.caught == codesInAll {
			return
		}
		l.caught++
		of := l.lost[at]
		threads := mostFirst(of.threads, func(a, b int32) int { return cmp.Compare(a, b) })
		caught, err := l.watcher.Catch(int(at.pid), threads, at.address)
		if err != nil { // the process has ended, or others hold the registers: what is lost stays so
			continue
		}
		of.asked, of.caught = true, l.placesOf(of, at.address, caught)
		l.lostKept -= len(of.samples)
		for i := range of.samples {
			l.regain(of, &of.samples[i])
		}
		of.samples = nil
	}
}

// placesOf are the accesses of an instruction with the registers that threads were caught with.
func (l *looker) placesOf(of *lostCode, code uint64, caught []watchpoint.Caught) map[int32][]access {
	places, latest := map[int32][]access{}, map[int32]*oncpuOperand{}
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
		if found, ok := accessAt(&sample, code); ok {
			places[caught[i].Tid] = append(places[caught[i].Tid], found)
		}
	}
	return places
}

func byCodeOf(a, b codeOf) int {
	return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.address, b.address))
}
