package oncpu

import (
	"cmp"
	"slices"
	"strings"

	"culprit/internal/probe/bpf"
	"culprit/internal/probe/unwind"
	"culprit/recording"
)

const (
	lineBytes    = 64
	maxOperands  = 1 << 16 // samples whose operand is looked for in one window
	maxLineRows  = 4096    // of the table
	joinWithinNs = 200_000 // from the registers of a sample to its stack: one program calls the other
)

// word is a place in memory that one thread touched from one place in the code.
type word struct {
	in       lineOf
	pid, tid int32
	task     uint64 // of Go, 0 for none
	block    uint64 // of access
	address  uint64
	size     int32
	write    bool
	behind   bool // the stack ends in what called the code that touches it
	stack    int32
}

// touched is how many samples had a word as operand, and during how many no other thread ran that
// could share it.
type touched struct{ samples, alone int64 }

// user is who touches a line: a thread or, where the memory is the running thread's own, that
// memory. It goes to another thread when its thread has ended: those two never share it.
type user struct {
	tid   int32
	block uint64
}

const (
	maxUsers = 8 // of a line that are told apart
	// othersLeast is the part of a line's samples that must be from others than whose own memory it
	// is. A thread that looks at it once, when its owner has ended, shares nothing.
	othersLeast = 0.05
)

// sharers are who touches a line.
type sharers struct {
	users   []userCount
	written bool
	owned   bool // some of it is a thread's own memory
	tid     int32
	several bool // threads, also those that had a user's memory one after the other
	count   int64
}

type userCount struct {
	user
	count int64
}

// lineOf is a line of one process by its address or, in memory that processes share, of that by its
// offset.
type lineOf struct {
	pid    int32 // 0 in shared memory
	memory int32 // number of the object; 0: of the process
	line   uint64
}

// collectLines fills the table of cache lines that several threads touch and at least one writes,
// and of a few that threads have each for itself. It looks at the code of each sample: lines that
// are hot show, whether they are shared at a cost or not.
func (s *Session) collectLines(window *bpf.Window) error {
	s.looker.end()
	s.looker.take(window.EndNs - 1)
	if s.looker.failed != nil {
		return s.looker.failed
	}
	window.Lose(recording.LossOperandsOver, s.looker.over)
	window.Lose("oncpu: shared lines not watched, for others hold the debug registers", s.looker.heldByOthers())
	if len(s.looker.seen) == 0 { // of one thread, as a rule: no stack need be put in order
		s.looker.places.close()
		return nil
	}
	words, lines, golang := map[word]touched{}, map[lineOf]*sharers{}, map[int32]bool{}
	leaves, moments := map[int32]string{}, []moment(nil) // innermost functions of stacks; when each word was touched
	stacks, running := stacksOf(window).of(window, s.looker.seen), runningIn(window, s.periodNs)
	locks := locksIn(s.looker.seen, stacks)
	for i := range s.looker.seen {
		one := &s.looker.seen[i]
		if one.observed || one.time < window.StartNs || one.time >= window.EndNs {
			continue
		}
		stack := &stacks[i]
		if locks.dropped(stack.innermost, one) || stack.golang && isOfTask(stack.innermost, &one.access) {
			continue
		}
		at := word{in: s.looker.common.lineOf(one.pid, one.address), pid: one.pid, tid: one.tid, block: one.block,
			address: one.address, size: one.size, write: one.write, behind: one.returned, stack: stack.stack}
		if stack.golang {
			at.task = one.task
			golang[one.pid] = true
		}
		if stack.stack != recording.NoStack {
			leaves[stack.stack] = stack.innermost
		}
		times := words[at]
		times.samples++
		if stack.trace != nil && running.alone(stack.trace, at.in) {
			times.alone++
		}
		words[at] = times
		lines[at.in] = lines[at.in].with(&at)
		moments = append(moments, moment{time: one.time, word: at})
	}
	s.looker.addObserved(window, words, lines, golang)
	rows := rowsOf(window, words, lines, leaves, nearOf(moments, leaves))
	rows = append(rows, s.looker.hitsOf(rows, golang)...)
	rows = s.looker.heaviestRows(window, rows, lines)
	s.looker.nameRows(rows)
	s.looker.places.close()
	window.Recording.Lines = append(window.Recording.Lines, rows...)
	return nil
}

func (w *word) user() user {
	if w.block != 0 {
		return user{block: w.block}
	}
	return user{tid: w.tid}
}

func (s *sharers) with(w *word) *sharers {
	if s == nil {
		s = &sharers{tid: w.tid}
	}
	by := w.user()
	at := slices.IndexFunc(s.users, func(one userCount) bool { return one.user == by })
	switch {
	case at >= 0:
		s.users[at].count++
	case len(s.users) < maxUsers:
		s.users = append(s.users, userCount{by, 1})
	}
	s.written = s.written || w.write
	s.owned = s.owned || w.block != 0
	s.several = s.several || w.tid != s.tid
	s.count++
	return s
}

// shared reports whether several touch the line, and one writes it.
func (s *sharers) shared() bool {
	if len(s.users) < 2 || !s.written {
		return false
	}
	most := int64(0)
	for _, one := range s.users {
		most = max(most, one.count)
	}
	return !s.owned || float64(s.count-most) >= othersLeast*float64(s.count)
}

// sparseAtMost is how many samples a line has that does not tell by itself who shares it.
const sparseAtMost = 8

// spreading are the functions that touch a line which is shared and hardly sampled: there may be
// many such lines, of which most have one sample. All that these functions touch tells how many.
func spreading(words map[word]touched, lines map[lineOf]*sharers, leaves map[int32]string) map[string]bool {
	found := map[string]bool{}
	for at := range words {
		if line := lines[at.in]; line.count <= sparseAtMost && line.shared() && leaves[at.stack] != "" {
			found[leaves[at.stack]] = true
		}
	}
	return found
}

// rowsOf are the rows of shared lines, and of those that are touched alike.
func rowsOf(window *bpf.Window, words map[word]touched, lines map[lineOf]*sharers,
	leaves map[int32]string, near map[word]nearness) (rows []recording.Line) {
	spread, own := spreading(words, lines, leaves), ownLines(words, lines, leaves)
	for at, times := range words {
		line := lines[at.in]
		if !line.shared() && !own[at.in] && (line.count > sparseAtMost || !spread[leaves[at.stack]]) {
			continue
		}
		rows = append(rows, recording.Line{Line: at.address &^ (lineBytes - 1), Offset: int32(at.address % lineBytes),
			Size: at.size, Pid: at.pid, Tid: at.tid, Task: at.task, Comm: window.Comm[at.pid],
			Write: at.write, Behind: at.behind, Count: times.samples, Alone: times.alone, Stack: at.stack, Near: near[at].seen,
			NearByChance: near[at].byChance})
	}
	slices.SortFunc(rows, func(a, b recording.Line) int {
		return cmp.Or(cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Tid, b.Tid), cmp.Compare(a.Task, b.Task),
			cmp.Compare(b.Count, a.Count), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Stack, b.Stack),
			cmp.Compare(wayOfTouching(&a), wayOfTouching(&b)))
	})
	return rows
}

// wayOfTouching is a number for the way in which a row's word is touched.
func wayOfTouching(row *recording.Line) (number int) {
	if row.Write {
		number++
	}
	if row.Behind {
		number += 2
	}
	return number
}

// heaviestRows puts those of the most sampled lines first, and drops what is over the limit.
func (l *looker) heaviestRows(window *bpf.Window, rows []recording.Line, lines map[lineOf]*sharers) []recording.Line {
	order := func(row *recording.Line) (behind int, count int64) {
		of := lines[l.common.lineOf(row.Pid, row.Line)]
		if !of.shared() {
			behind = 1
		}
		return behind, of.count
	}
	slices.SortStableFunc(rows, func(a, b recording.Line) int {
		behindA, countA := order(&a)
		behindB, countB := order(&b)
		return cmp.Or(cmp.Compare(behindA, behindB), cmp.Compare(countB, countA), cmp.Compare(a.Pid, b.Pid),
			cmp.Compare(a.Line, b.Line))
	})
	if len(rows) > maxLineRows {
		window.Lose("oncpu: rows of shared lines over the limit", int64(len(rows)-maxLineRows))
		rows = rows[:maxLineRows]
	}
	for i := range rows {
		l.common.tell(&rows[i])
	}
	return rows
}

// threadStacks are the unwound stacks of each thread by time, and what they were named.
type threadStacks struct {
	byThread bpf.ThreadTraces
	named    map[int]namedStack // by the unwinder's number
}

type namedStack struct {
	trace     *unwind.Trace // of the sample; nil when it did not arrive
	stack     int32
	innermost string
	golang    bool // the innermost function is one of a Go program
}

func stacksOf(window *bpf.Window) threadStacks {
	return threadStacks{byThread: window.SampledByThread(), named: map[int]namedStack{}}
}

// of gives the stack of each sample.
func (s threadStacks) of(window *bpf.Window, samples []seenOperand) []namedStack {
	found := make([]namedStack, len(samples))
	for i := range samples {
		found[i] = s.at(window, &samples[i])
	}
	return found
}

// at gives the stack of a sample, NoStack when it did not arrive.
func (s threadStacks) at(window *bpf.Window, sample *seenOperand) namedStack {
	trace := s.byThread.First(sample.tid, sample.time, sample.time+joinWithinNs)
	if trace == nil || window.Unwinder == nil {
		return namedStack{stack: recording.NoStack}
	}
	number := trace.Stack
	known, ok := s.named[number]
	if !ok {
		user, kernel := window.Unwinder.Frames(number)
		known.stack = window.Stack(user, kernel)
		if len(user) > 0 {
			leaf := user[len(user)-1]
			known.innermost, known.golang = leaf.Name, leaf.Kind == recording.KindGo
		}
		s.named[number] = known
	}
	known.trace = trace
	return known
}

// isOfTask tells what moves from thread to thread with a task of Go, or with the right to run one
// (P): the task itself, which each function looks at for the end of its stack, and what the run
// time keeps for each P. Threads use it one after the other.
func isOfTask(function string, found *access) bool {
	return found.base == taskRegister || strings.HasPrefix(function, "runtime.")
}
