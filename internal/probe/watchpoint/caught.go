package watchpoint

import "time"

// catches of one thread at an instruction: a few tell whether it goes to one place or to many.
const catches = 4

// caughtPerHit is how many further hits of one arming cost what the first does: 12 to 14 µs each.
const caughtPerHit = 4

// Caught is what a thread's registers held right before it ran an instruction, by their numbers in
// the instruction set.
type Caught struct {
	Tid       int32
	Registers [len(numbered)]uint64
}

// Catch asks what registers hold right before an instruction that overwrites them, which no sample
// behind it can tell. Each thread is caught a few times at most, within what it can bear. An error
// that wraps ErrHeld or ErrSpent: nobody was caught.
func (w *Watcher) Catch(pid int, tids []int32, code uint64) ([]Caught, error) {
	if err := Free(pid); err != nil {
		return nil, err
	}
	tids = w.bearing(tids)
	if len(tids) == 0 {
		return nil, ErrSpent
	}
	watches := newWatches(len(tids))
	defer watches.close()
	for i, tid := range tids {
		if err := watches.open(i, tid, executing(code), catches); err != nil {
			return nil, err
		}
	}
	if watches.none() {
		return nil, watches.held
	}
	watches.during(armedAtMost)
	var caught []Caught
	for i, one := range watches.registers {
		if one == nil {
			continue
		}
		hits, _ := one.count()
		if hits > 0 { // else it did not run, or not there
			w.spent[tids[i]] += w.caughtCost(int(hits))
		}
		for _, values := range one.values() {
			caught = append(caught, caughtOf(tids[i], values))
		}
	}
	return caught, nil
}

func caughtOf(tid int32, values []uint64) Caught {
	one := Caught{Tid: tid}
	for at, value := range values[:min(len(values), len(numbered))] {
		one.Registers[numbered[at]] = value
	}
	return one
}

// bearing leaves out threads that can bear no more.
func (w *Watcher) bearing(tids []int32) (list []int32) {
	w.measure()
	for _, tid := range tids[:min(len(tids), MaxThreads)] {
		if w.caughtCost(catches) <= w.each-w.spent[tid] {
			list = append(list, tid)
		}
	}
	return list
}

func (w *Watcher) caughtCost(hits int) time.Duration {
	return w.cost(1, 1) + time.Duration(hits-1)*w.hit/caughtPerHit
}
