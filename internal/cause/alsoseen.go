package cause

import (
	"cmp"
	"slices"

	"culprit/internal/compare"
	"culprit/recording"
)

// Seen is something strange that is too small to be a suspect: stalls of one kind in one kernel
// function.
type Seen struct {
	Cause    ID      `json:"cause"`    // what it would be a suspect of, were it larger
	Function string  `json:"function"` // of the kernel, where it waited
	Call     string  `json:"call"`     // the system call that stalled longest
	Object   string  `json:"object"`   // a file or device of it, "" when not known
	Stalls   int     `json:"stalls"`
	Seconds  float64 `json:"seconds"` // asleep, of all threads and all stalls
	Shortest float64 `json:"shortest_s"`
	Longest  float64 `json:"longest_s"`
	Share    float64 `json:"share"` // Seconds as a part of the recording's wall time
}

// alsoSeenMost bounds what is listed.
const alsoSeenMost = 8

// AlsoSeen lists the stalls of one recording whose kernel stack tells what they waited for, the
// dearest kind first, but for the causes that are suspects already: those are told in full. It
// needs the table of slow operations.
func AlsoSeen(rec *recording.Recording, suspects []Suspect) []Seen {
	told := map[ID]bool{}
	for _, suspect := range suspects {
		told[suspect.Cause] = true
	}
	type kind struct {
		cause    ID
		function string
	}
	kinds, numbers := map[kind]*Seen{}, map[kind]map[int32]bool{}
	for i := range rec.Slow {
		slow := &rec.Slow[i]
		cause, function := stallOf(rec, slow)
		if slow.Stall == 0 || cause == "" || told[cause] {
			continue
		}
		key, seconds := kind{cause, function}, float64(slow.BlockedNs)/1e9
		seen := kinds[key]
		if seen == nil {
			seen = &Seen{Cause: cause, Function: function, Shortest: seconds}
			kinds[key], numbers[key] = seen, map[int32]bool{}
		}
		numbers[key][slow.Stall] = true
		seen.Stalls, seen.Seconds = len(numbers[key]), seen.Seconds+seconds
		seen.Shortest = min(seen.Shortest, seconds)
		if seconds > seen.Longest {
			seen.Longest, seen.Call, seen.Object = seconds, slow.Name, slow.Object
		}
	}
	list := make([]Seen, 0, len(kinds))
	for _, seen := range kinds {
		if wall := rec.Manifest.Metrics[compare.MetricWall]; wall > 0 {
			seen.Share = seen.Seconds / wall
		}
		list = append(list, *seen)
	}
	slices.SortFunc(list, func(x, y Seen) int {
		return cmp.Or(cmp.Compare(y.Seconds, x.Seconds), cmp.Compare(x.Cause, y.Cause), cmp.Compare(x.Function, y.Function))
	})
	return list[:min(len(list), alsoSeenMost)]
}

// stallOf is the cause and the kernel function that the stack of a slow operation tells, "" where
// it tells none.
func stallOf(rec *recording.Recording, slow *recording.Slow) (cause ID, function string) {
	cause, function = StallOf(rec.StackFrames(slow.Stack), rec.StackFrames(slow.WakerStack))
	if cause != "" && cause != MemoryReclaim && syncCalls[slow.Name] {
		cause = FileSync
	}
	return cause, function
}

// StallOf is what the kernel's functions tell that a sleeping thread waits for, by its own stack
// and by that of whoever woke it, with the function that tells; "" where they tell nothing.
func StallOf(frames, waker []recording.Frame) (cause ID, function string) {
	path := compare.Path{Kind: compare.Blocked, Frames: frames, WakerStack: waker}
	if one := stallOn(&path); one != nil {
		return one.cause, one.deepest(&path)
	}
	return "", ""
}

// WorkOf is the stall that a running thread works for in the kernel, by its stack: the pages that
// it has read, or makes room for, a lock that it spins for. "" for none.
func WorkOf(frames []recording.Frame) ID {
	if one := stallOn(&compare.Path{Kind: compare.Running, Frames: frames}); one != nil {
		return one.cause
	}
	return ""
}
