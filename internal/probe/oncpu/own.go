package oncpu

import (
	"cmp"
	"slices"
)

// Where the same program has words of several threads in one line in another process, it is worth
// knowing that here they lie in lines of their own, and how often the code that works on them was
// there: so much of the other's samples is no cost of sharing.

const (
	// mostOwnLines are kept of a window: one for each of eight threads, of two kinds.
	mostOwnLines = 16
	// fewestOwners is how many threads must have a line of their own that the same function is at.
	fewestOwners = 2
)

// ownLines are the most sampled lines that one thread has for itself, of functions that have such
// of several threads.
func ownLines(words map[word]touched, lines map[lineOf]*sharers, leaves map[int32]string) map[lineOf]bool {
	owners, touching := map[string]map[user]bool{}, map[lineOf]map[string]bool{}
	for at := range words {
		function := leaves[at.stack]
		if !lines[at.in].isOwn() || function == "" {
			continue
		}
		if owners[function] == nil {
			owners[function] = map[user]bool{}
		}
		owners[function][at.user()] = true
		if touching[at.in] == nil {
			touching[at.in] = map[string]bool{}
		}
		touching[at.in][function] = true
	}
	var found []lineOf
	for at, functions := range touching {
		for function := range functions {
			if len(owners[function]) >= fewestOwners {
				found = append(found, at)
				break
			}
		}
	}
	slices.SortFunc(found, func(a, b lineOf) int {
		return cmp.Or(cmp.Compare(lines[b].count, lines[a].count), cmp.Compare(a.pid, b.pid), cmp.Compare(a.memory, b.memory),
			cmp.Compare(a.line, b.line))
	})
	kept := map[lineOf]bool{}
	for _, at := range found[:min(len(found), mostOwnLines)] {
		kept[at] = true
	}
	return kept
}

// isOwn reports whether one thread alone was seen at a line, often enough to tell. That it writes
// there need not show: of a word that is read and written back, nearly all samples are at the
// reading. Threads that have a stack one after the other are several: a reader cannot tell them
// from threads that share it.
func (s *sharers) isOwn() bool {
	return len(s.users) == 1 && !s.several && s.count > sparseAtMost
}
