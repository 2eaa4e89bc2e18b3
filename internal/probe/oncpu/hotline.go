package oncpu

import (
	"cmp"
	"maps"
	"slices"

	"culprit/internal/probe/watchpoint"
)

// processesAtOnce are watched of a line that several share.
const processesAtOnce = 4

// hotLine is a line while a window is open.
type hotLine struct {
	sharers
	words map[watchpoint.Word]map[int32]int // samples by thread; addresses count from the line's begin
	at    map[int32]uint64                  // where the line is in each process
	of    map[int32]int32                   // the process of each thread
	code  map[codeOf]int
	// objects are the begins of what words lie in as fields, by process and address, as the operands
	// of their code have it.
	objects map[codeOf]uint64
	tries   int
	hits    []watchpoint.Seen
	held    bool // others had the debug registers
}

// codeOf is an instruction of a process.
type codeOf struct {
	pid     int32
	address uint64
}

func newHotLine() *hotLine {
	return &hotLine{words: map[watchpoint.Word]map[int32]int{}, at: map[int32]uint64{}, of: map[int32]int32{},
		code: map[codeOf]int{}, objects: map[codeOf]uint64{}}
}

// mostOfObject bounds the offset of a field, firstField is behind an object's header (HotSpot's).
const mostOfObject, firstField = 4096, 8

func (l *looker) add(one *seenOperand) {
	in := l.common.lineOf(one.pid, one.address)
	line := l.lines[in]
	if line == nil {
		line = newHotLine()
		l.lines[in] = line
	}
	line.with(&word{tid: one.tid, block: one.block, write: one.write})
	line.at[one.pid], line.of[one.tid] = one.address&^(lineBytes-1), one.pid
	at := watchpoint.Word{Address: one.address % lineBytes, Size: int(one.size)}
	if line.words[at] == nil {
		line.words[at] = map[int32]int{}
	}
	line.words[at][one.tid]++
	line.code[codeOf{one.pid, one.code}]++
	if one.offset >= firstField && one.offset < mostOfObject && len(line.objects) < maxHitsOfLine {
		line.objects[codeOf{one.pid, one.address}] = one.address - uint64(one.offset)
	}
}

// joinLines gathers the lines anew, for some turned out to be of memory that processes share.
func (l *looker) joinLines() {
	before := l.lines
	l.lines = map[lineOf]*hotLine{}
	for i := range l.seen {
		l.add(&l.seen[i])
	}
	for in, old := range before {
		line := l.lines[in]
		for pid, address := range old.at {
			if line == nil {
				line = l.lines[l.common.lineOf(pid, address)]
			}
		}
		if line != nil {
			line.tries, line.held = max(line.tries, old.tries), line.held || old.held
			line.hits = append(line.hits, old.hits...)
		}
	}
}

// shown reports whether two threads were seen at the line, one of them writing; where several
// processes share it threads of two.
func (h *hotLine) shown() bool {
	threads, processes, written := map[int32]bool{}, map[int32]bool{}, false
	for _, hit := range h.hits {
		written = written || hit.Writes > 0
		if hit.Touches > 0 {
			threads[hit.Tid], processes[h.of[hit.Tid]] = true, true
		}
	}
	return written && len(threads) > 1 && (len(h.at) < 2 || len(processes) > 1)
}

// processes are those that touch the line, the most sampled first.
func (h *hotLine) processes() []int32 {
	samples := map[int32]int{}
	for _, users := range h.words {
		for tid, count := range users {
			samples[h.of[tid]] += count
		}
	}
	list := mostFirst(samples, func(a, b int32) int { return cmp.Compare(a, b) })
	return list[:min(len(list), processesAtOnce)]
}

// plan is which words to watch in which threads of a process: in each its own first, then those of
// the others.
func (h *hotLine) plan(pid int32) (threads []watchpoint.Thread) {
	all, each := map[watchpoint.Word]int{}, map[int32]map[watchpoint.Word]int{}
	total := map[int32]int{}
	for at, users := range h.words {
		at.Address += h.at[pid]
		for tid, samples := range users {
			all[at] += samples
			if h.of[tid] != pid {
				continue
			}
			if each[tid] == nil {
				each[tid] = map[watchpoint.Word]int{}
			}
			each[tid][at] += samples
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
