package compare

import (
	"cmp"
	"maps"
	"regexp"
	"slices"

	"culprit/internal/compare/names"
	"culprit/internal/stat"
)

// threadsMax is how many threads a profile tells apart. Chosen: more rows than that nobody reads,
// and each may repeat a part of the tree.
const threadsMax = 100

// ProfileThread is who spent time: threads of one name in processes of one name.
type ProfileThread struct {
	Process string `json:"process"`
	Name    string `json:"name"`
}

// ThreadShare is the part of a node's own time that one thread has.
type ThreadShare struct {
	Node   int     `json:"node"`   // of Profile.Nodes
	Thread int     `json:"thread"` // of Profile.Threads
	SelfA  float64 `json:"self_a"`
	SelfB  float64 `json:"self_b"`
}

// ownTime is what a node has of one thread, on average.
type ownTime struct{ a, b float64 }

// number stands for digits in the names of threads, which count those of a pool.
var number = regexp.MustCompile(`[0-9]+`)

// others are threads of which there are too many to tell apart.
var others = ProfileThread{Name: "[other threads]"}

// threadsOf are the threads that spent time, the largest first, and for each path which of them it
// is. Too many are told apart by less: without the numbers in their names, then by process, then
// the largest alone.
func threadsOf(paths []Path) (threads []ProfileThread, of []int) {
	ways := []func(path *Path) ProfileThread{
		func(path *Path) ProfileThread { return ProfileThread{path.Process, path.Comm} },
		func(path *Path) ProfileThread {
			return ProfileThread{path.Process, number.ReplaceAllString(path.Comm, "#")}
		},
		func(path *Path) ProfileThread { return ProfileThread{Process: path.Process} },
	}
	named := make([]ProfileThread, len(paths))
	seconds := map[ProfileThread]float64{}
	for _, way := range ways {
		clear(seconds)
		for i := range paths {
			named[i] = way(&paths[i])
			seconds[named[i]] += stat.Average(paths[i].A) + stat.Average(paths[i].B)
		}
		if len(seconds) <= threadsMax {
			break
		}
	}
	threads = slices.SortedFunc(maps.Keys(seconds), func(x, y ProfileThread) int {
		return cmp.Or(cmp.Compare(seconds[y], seconds[x]), cmp.Compare(x.Process, y.Process),
			cmp.Compare(x.Name, y.Name))
	})
	if len(threads) > threadsMax {
		threads = append(threads[:threadsMax-1:threadsMax-1], others)
	}
	at := map[ProfileThread]int{}
	for i, thread := range threads {
		at[thread] = i
	}
	of = make([]int, len(paths))
	for i := range named {
		place, known := at[named[i]]
		if !known {
			place = len(threads) - 1
		}
		of[i] = place
	}
	return threads, of
}

// give books own time to a thread.
func (n *callNode) give(thread int, a, b float64) {
	if n.threads == nil {
		n.threads = map[int]ownTime{}
	}
	own := n.threads[thread]
	n.threads[thread] = ownTime{own.a + a, own.b + b}
}

// giveAll books to a node's threads what they spent in another one and below it.
func (n *callNode) giveAll(from *callNode) {
	for thread, own := range from.threads {
		n.give(thread, own.a, own.b)
	}
	for _, key := range slices.SortedFunc(maps.Keys(from.children), names.Key.Compare) {
		n.giveAll(from.children[key])
	}
}

// shares lists who spent a node's own time, by thread.
func (n *callNode) shares(node int) (list []ThreadShare) {
	for _, thread := range slices.Sorted(maps.Keys(n.threads)) {
		if own := n.threads[thread]; own.a != 0 || own.b != 0 {
			list = append(list, ThreadShare{Node: node, Thread: thread, SelfA: own.a, SelfB: own.b})
		}
	}
	return list
}
