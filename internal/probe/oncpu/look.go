package oncpu

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"culprit/internal/probe/beat"
	"culprit/internal/probe/bpf"
	"culprit/internal/probe/watchpoint"
)

// While a window is open, the operands that were sampled so far are looked at from time to time: where
// that is wanted, debug registers watch the lines that threads seem to share while they do.

const (
	firstLook    = 3 * beat.Length // short commands are over soon
	lookEvery    = 5 * beat.Length
	worthKnowing = 5  // samples of a line before its process is asked for names
	worthAWatch  = 10 // samples of a line before it is watched: ten name the line that matters in 98 %
	linesAtOnce  = 3
	linesInAll   = 8 // watched in one window
	triesOfLine  = 3 // its threads may have slept
	// watchesCost is what all watches of a window may take of one thread, by what a hit costs it. Where other
	// threads want the CPUs a hit costs more: see benchmark/sharing/RESULTS.md.
	watchesCost = time.Millisecond
)

// seenOperand is an operand in memory that a thread was sampled with.
type seenOperand struct {
	time     int64
	pid, tid int32
	task     uint64 // what the register held where Go keeps its task
	access
}

func (s *seenOperand) line() lineOf { return lineOf{s.pid, s.address &^ (lineBytes - 1)} }

// looker gathers the operands of one window.
type looker struct {
	operands *bpf.Ring[oncpuOperand]
	confirm  bool
	lengths  lengthsBefore
	seen     []seenOperand
	over     int64
	failed   error
	lines    map[lineOf]*hotLine
	places   *places
	watcher  *watchpoint.Watcher
	watched  int // lines
	ending   sync.Once
	stop     chan struct{}
	done     chan struct{} // nil: it does not run
}

// hotLine is a line while a window is open.
type hotLine struct {
	sharers
	words map[watchpoint.Word]map[int32]int // samples by thread
	tries int
	hits  []watchpoint.Seen
	held  bool // others had the debug registers
	code  map[uint64]int
}

func newLooker(operands *bpf.Ring[oncpuOperand], confirm bool) *looker {
	return &looker{operands: operands, confirm: confirm, lengths: lengthsBefore{}, lines: map[lineOf]*hotLine{},
		watcher: watchpoint.New(watchesCost), places: newPlaces(), stop: make(chan struct{})}
}

// start looks from time to time until the end.
func (l *looker) start() {
	l.done = make(chan struct{})
	go l.run(l.done)
}

func (l *looker) run(done chan struct{}) {
	defer close(done)
	for pause := firstLook; ; pause = lookEvery {
		select {
		case <-l.stop:
			return
		case <-beat.After(pause):
			l.look()
		}
	}
}

// end stops the looks; what is in the ring then is taken by the caller.
func (l *looker) end() {
	l.ending.Do(func() { close(l.stop) })
	if l.done != nil {
		<-l.done
	}
}

func (l *looker) look() {
	l.take()
	l.know()
	if l.confirm {
		l.watch()
	}
}

// take decodes what was sampled since the last time.
func (l *looker) take() {
	samples, over, err := l.operands.Take()
	l.over, l.failed = l.over+over, cmp.Or(l.failed, err)
	for i := range samples {
		sample := &samples[i]
		found, ok := accessOf(sample, l.lengths)
		if !ok {
			continue
		}
		if len(l.seen) == maxOperands {
			l.over++
			continue
		}
		l.places.thread(int32(sample.Tgid), sample.Thread)
		l.seen = append(l.seen, seenOperand{time: int64(sample.Time), pid: int32(sample.Tgid), tid: int32(sample.Tid),
			task: sample.Regs[taskRegister], access: found})
		l.add(&l.seen[len(l.seen)-1])
	}
}

func (l *looker) add(one *seenOperand) {
	line := l.lines[one.line()]
	if line == nil {
		line = &hotLine{words: map[watchpoint.Word]map[int32]int{}, code: map[uint64]int{}}
		l.lines[one.line()] = line
	}
	line.with(&word{tid: one.tid, block: one.block, write: one.write})
	at := watchpoint.Word{Address: one.address, Size: int(one.size)}
	if line.words[at] == nil {
		line.words[at] = map[int32]int{}
	}
	line.words[at][one.tid]++
	line.code[one.code]++
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
			cmp.Compare(a.line, b.line))
	})
	return hot
}

// watch has the hottest lines watched that were not yet seen to be shared.
func (l *looker) watch() {
	tried := 0
	for _, at := range l.hottest(worthAWatch) {
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
		seen, err := l.watcher.Watch(int(at.pid), line.plan())
		line.held = errors.Is(err, watchpoint.ErrHeld)
		line.hits = append(line.hits, seen...)
		select {
		case <-l.stop: // a window that ends waits for one watch, not for all
			return
		default:
		}
	}
}

// shown reports whether two threads were seen at the line, one of them writing.
func (h *hotLine) shown() bool {
	threads, written := map[int32]bool{}, false
	for _, hit := range h.hits {
		written = written || hit.Writes > 0
		if hit.Touches > 0 {
			threads[hit.Tid] = true
		}
	}
	return written && len(threads) > 1
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

// plan is which words to watch in which threads: in each its own first, then those of the others.
func (h *hotLine) plan() (threads []watchpoint.Thread) {
	all, each := map[watchpoint.Word]int{}, map[int32]map[watchpoint.Word]int{}
	total := map[int32]int{}
	for at, users := range h.words {
		for tid, samples := range users {
			if each[tid] == nil {
				each[tid] = map[watchpoint.Word]int{}
			}
			each[tid][at] += samples
			all[at] += samples
			total[tid] += samples
		}
	}
	for _, tid := range mostFirst(total, func(a, b int32) int { return cmp.Compare(a, b) }) {
		if len(threads) == watchpoint.MaxThreads {
			break
		}
		words := mostFirst(each[tid], byAddress)
		words = words[:min(len(words), watchpoint.Slots/2)]
		for _, other := range mostFirst(all, byAddress) {
			if len(words) < watchpoint.Slots && !slices.Contains(words, other) {
				words = append(words, other)
			}
		}
		threads = append(threads, watchpoint.Thread{Tid: tid, Words: words})
	}
	return threads
}

func byAddress(a, b watchpoint.Word) int {
	return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Size, b.Size))
}

// mostFirst lists what was counted, in a fixed order.
func mostFirst[K comparable](counts map[K]int, compare func(a, b K) int) []K {
	keys := slices.Collect(maps.Keys(counts))
	slices.SortFunc(keys, func(a, b K) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), compare(a, b)) })
	return keys
}
