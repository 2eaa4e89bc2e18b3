package oncpu

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"culprit/internal/probe/beat"
	"culprit/internal/probe/bpf"
	"culprit/internal/probe/watchpoint"
)

// While a window is open, the operands that were sampled so far are looked at from time to time:
// where that is wanted, debug registers watch the lines that threads seem to share while they do.

const (
	firstLook    = 3  // beats: short commands are over soon
	youngBeats   = 20 // in which each beat is looked at: a program that lives for a second can be asked only while it does
	lookEvery    = 5 * beat.Length
	patientLook  = 5 * time.Second // of a recorder that stays: each look reads the samples of all processes
	worthKnowing = 5               // samples of a line before its process is asked for names
	worthAsking  = 2               // the same, while young
	watchBeats   = 5               // between two tries while young: threads may sleep
	worthAWatch  = 10              // samples of a line before it is watched: ten name the line that matters in 98 %
	linesAtOnce  = 3
	linesInAll   = 8 // watched in one window
	triesOfLine  = 3 // its threads may have slept
	// watchesCost is what all watches of a window may take of one thread, by what a hit costs one
	// of the recorder's own: those of the target are to lose a millisecond at most. See
	// benchmark/sharing/RESULTS.md.
	watchesCost = 500 * time.Microsecond
)

// seenOperand is an operand in memory that a thread was sampled with.
type seenOperand struct {
	time     int64
	pid, tid int32
	task     uint64 // what the register held where Go keeps its task
	access
	observed bool // by the processor: it stands for no time
}

// looker gathers the operands of one window.
type looker struct {
	operands *bpf.Ring[oncpuOperand]
	packets  *packetReader // nil: the processor writes none
	confirm  bool
	every    time.Duration // between two looks, but for the first ones
	young    int           // beats with a look each
	before   instructionsBefore
	returns  returns
	seen     []seenOperand
	over     int64
	failed   error
	lines    map[lineOf]*hotLine
	places   *places
	common   *common
	watcher  *watchpoint.Watcher
	watched  int // lines
	lost     map[codeOf]*lostCode
	lostKept int // samples in lost
	caught   int // instructions
	went     went
	observed int // samples of the processor
	ending   sync.Once
	stop     chan struct{}
	done     chan struct{} // nil: it does not run
}

func newLooker(operands *bpf.Ring[oncpuOperand], shared *common, confirm bool) *looker {
	return &looker{operands: operands, common: shared, confirm: confirm, every: lookEvery, young: youngBeats,
		before: instructionsBefore{}, returns: returns{}, lines: map[lineOf]*hotLine{}, lost: map[codeOf]*lostCode{},
		went:    went{},
		watcher: watchpoint.New(watchesCost), places: newPlaces(),
		stop: make(chan struct{})}
}

// start looks from time to time until the end.
func (l *looker) start() {
	l.done = make(chan struct{})
	go l.run(l.done)
}

func (l *looker) run(done chan struct{}) {
	defer close(done)
	for beats := 1; ; beats++ {
		pause := beat.Length // who shares memory is to be known early: what was sampled before is not kept
		if beats > l.young {
			pause = l.every
		}
		select {
		case <-l.stop:
			return
		case <-beat.After(pause):
			if l.common.look() {
				l.joinLines()
			}
			if beats >= firstLook {
				l.look(beats)
			}
		}
	}
}

// leave has the looks stop.
func (l *looker) leave() { l.ending.Do(func() { close(l.stop) }) }

// end waits until the looks have stopped; what is in the ring then is taken by the caller.
func (l *looker) end() {
	l.leave()
	if l.done != nil {
		<-l.done
	}
}

func (l *looker) look(beats int) {
	l.take(bpf.Now())
	if beats > l.young {
		l.know(worthKnowing)
	} else {
		l.know(worthAsking)
	}
	if l.confirm && (beats > l.young || (beats-firstLook)%watchBeats == 0) {
		l.catch()
		l.watch()
	}
}

// take decodes what was sampled since the last time, until then.
func (l *looker) take(until int64) {
	samples, over, err := l.operands.Take()
	l.over, l.failed = l.over+over, cmp.Or(l.failed, err)
	for i := range samples {
		sample := &samples[i]
		if sample.Data != 0 {
			l.observe(sample)
		} else if found, ok := accessOf(sample, l.before); ok {
			l.keep(sample, found)
		} else if found, ok := l.returns.accessOf(sample, l.before); ok {
			l.keep(sample, found)
		} else {
			l.lose(sample)
		}
		l.packets.knows(int32(sample.Tid), int32(sample.Tgid))
	}
	l.packets.take(until, l.observe)
}

// keep takes over what a sample touched.
func (l *looker) keep(sample *oncpuOperand, found access) {
	if len(l.seen) == maxOperands {
		l.over++
		return
	}
	l.places.thread(int32(sample.Tgid), sample.Thread)
	l.seen = append(l.seen, seenOperand{time: int64(sample.Time), pid: int32(sample.Tgid), tid: int32(sample.Tid),
		task: sample.Regs[taskRegister], access: found})
	l.add(&l.seen[len(l.seen)-1])
}

// hottest are the lines that several threads touch and one writes, the most sampled first.
func (l *looker) hottest(least int64) []lineOf {
	var hot []lineOf
	for at, line := range l.lines {
		if line.count >= least && line.shared() {
			hot = append(hot, at)
		}
	}
	slices.SortFunc(hot, func(a, b lineOf) int {
		return cmp.Or(cmp.Compare(l.lines[b].count, l.lines[a].count), cmp.Compare(a.pid, b.pid),
			cmp.Compare(a.memory, b.memory), cmp.Compare(a.line, b.line))
	})
	return hot
}

// fewestAlike is how many lines the same instruction must touch that threads share, to be worth a
// look with few samples each.
const fewestAlike = 3

// likely are lines that are sampled enough, or of which there are many with a few samples each.
func (l *looker) likely(least int64) []lineOf {
	all, alike := l.hottest(2), map[codeOf]int{}
	for _, at := range all {
		for code := range l.lines[at].code {
			alike[code]++
		}
	}
	return slices.DeleteFunc(all, func(at lineOf) bool {
		if l.lines[at].count >= least {
			return false
		}
		for code := range l.lines[at].code {
			if alike[code] >= fewestAlike {
				return false
			}
		}
		return true
	})
}

// watch has the hottest lines watched that were not yet seen to be shared.
func (l *looker) watch() {
	tried := 0
	for _, at := range l.likely(worthAWatch) {
		line := l.lines[at]
		if line.shown() || line.tries == triesOfLine || line.tries == 0 && l.watched == linesInAll {
			continue
		}
		if tried++; tried > linesAtOnce {
			return
		}
		if line.tries == 0 {
			l.watched++
		}
		line.tries++
		for _, pid := range line.processes() {
			seen, err := l.watcher.Watch(int(pid), line.plan(pid))
			line.held = line.held || errors.Is(err, watchpoint.ErrHeld)
			line.hits = append(line.hits, seen...)
			select {
			case <-l.stop: // a window that ends waits for one watch, not for all
				return
			default:
			}
		}
	}
}

// heldByOthers counts the lines that could not be watched.
func (l *looker) heldByOthers() (count int64) {
	for _, line := range l.lines {
		if line.held && len(line.hits) == 0 {
			count++
		}
	}
	return count
}
