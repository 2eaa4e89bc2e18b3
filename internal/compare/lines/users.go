package lines

import (
	"maps"
	"math"
	"slices"

	"culprit/recording"
)

// users tells who touched which word of a line: offset → thread or task → samples.
type users[K comparable] map[int32]map[K]float64

// What a run time that moves its tasks between threads (Go, virtual threads of Java) leaves of "a
// thread a word": one goroutine's word was seen with a second thread in 10 to 22 % of its samples,
// a word that two threads both write in 26 to 50 %.
const (
	movedAtMost  = 0.15 // of the samples are not of the word's usual thread: the line alone is shared
	mixedAtMost  = 0.30 // up to here the words must at least differ in who uses them
	usersDiffers = 0.45 // by this part: half of the sum of differences between the threads' shares
	// Chosen: no verdict of the corpus changes a quarter below or above.
	tasksKnown  = 0.9  // of a line's samples must tell the task for the tasks to decide
	othersLeast = 0.05 // of a line's samples must come from others than the usual user
)

func (u users[K]) add(offset int32, user K, samples float64) {
	if u[offset] == nil {
		u[offset] = map[K]float64{}
	}
	u[offset][user] += samples
}

// each is what each user did in all words.
func (u users[K]) each() (all map[K]float64, total float64) {
	all = map[K]float64{}
	for _, word := range u {
		for user, count := range word {
			all[user] += count
			total += count
		}
	}
	return all, total
}

// apart tells whether different users use different words.
func (u users[K]) apart() bool {
	if len(u) < 2 {
		return false
	}
	all, total := u.each()
	var busiest, second map[K]float64
	foreign := 0.0
	for _, offset := range slices.Sorted(maps.Keys(u)) {
		word, usual := u[offset], 0.0
		for _, count := range word {
			usual = max(usual, count)
		}
		foreign += samplesOf(word) - usual
		switch {
		case samplesOf(word) > samplesOf(busiest):
			busiest, second = word, busiest
		case samplesOf(word) > samplesOf(second):
			second = word
		}
	}
	differ := 0.0
	for user := range all {
		differ += math.Abs(busiest[user]/samplesOf(busiest)-second[user]/samplesOf(second)) / 2
	}
	mixed := foreign / total
	return mixed <= movedAtMost || mixed <= mixedAtMost && differ >= usersDiffers
}

// one reports whether hardly any sample is from another user than the one that has most of them.
func (u users[K]) one() bool {
	all, total := u.each()
	most := 0.0
	for _, count := range all {
		most = max(most, count)
	}
	return total-most < othersLeast*total
}

// byTask reports whether the tasks of Go are known that touched a line.
func (u *use) byTask() bool {
	_, known := u.tasks.each()
	return known >= tasksKnown*u.count
}

// apart tells whether the threads, or the tasks that change threads, use different words. What
// debug registers saw decides before what samples make likely.
func (u *use) apart() bool {
	if !u.confirmed() {
		return u.words.apart() || u.byTask() && u.tasks.apart()
	}
	common, total := 0.0, 0.0
	for offset, word := range u.words {
		total += samplesOf(word)
		if u.hits.common(offset, u.byTask()) {
			common += samplesOf(word)
		}
	}
	return common <= movedAtMost*total
}

// beside counts the samples of words that are not written in common: only what is written beside
// them takes the line away from who touches them.
func (u *use) beside() (samples float64) {
	if u.apart() {
		return u.count
	}
	written := map[int32]bool{}
	for _, row := range u.rows {
		written[row.Offset] = written[row.Offset] || row.Write && row.Count+row.Hits > 0
	}
	for offset, word := range u.words {
		alone := users[int32]{offset: word}
		if !written[offset] || alone.one() {
			samples += samplesOf(word)
		}
	}
	return samples
}

// oneUser reports whether hardly any sample is from another thread, or task, than the usual one.
func (u *use) oneUser() bool { return u.words.one() || u.byTask() && u.tasks.one() }

func samplesOf[K comparable](word map[K]float64) float64 {
	sum := 0.0
	for _, count := range word {
		sum += count
	}
	return sum
}

// togetherLeast is the part of the time slices of a line's threads in which two of them must have
// been seen on different CPUs: threads that take turns (a task that its run time moves from thread
// to thread, one CPU for all) never have the line at the same time, and pass it on as seldom as
// they are switched. Two threads that shared a line had 2 to 20 of a hundred slices in common where
// ten others wanted the same two CPUs; one goroutine 0.4.
const togetherLeast = 0.01

// seat is a thread that was seen on a CPU.
type seat struct{ tid, cpu int32 }

// seatings are the seats in each time slice of each process.
type seatings map[int32]map[int64][]seat

func seatingsOf(rec *recording.Recording, collects collecting) seatings {
	seen := seatings{}
	for i := range rec.Samples {
		sample := &rec.Samples[i]
		if sample.Signal != recording.SignalCPU || !sample.Target || sample.CPU < 0 ||
			sample.Stack == recording.NoStack || collects(sample.Tid, sample.Stack) {
			continue
		}
		if seen[sample.Pid] == nil {
			seen[sample.Pid] = map[int64][]seat{}
		}
		at := seen[sample.Pid]
		at[sample.TimeNs] = append(at[sample.TimeNs], seat{sample.Tid, sample.CPU})
	}
	return seen
}

// meet reports whether threads were seen on different CPUs at the same time; true where the samples
// do not say on which CPU they were taken.
func (s seatings) meet(pids, threads map[int32]bool) bool {
	ran, both := 0, 0
	for _, seats := range s.together(pids, threads) {
		ran++
		if slices.ContainsFunc(seats, func(one seat) bool {
			return slices.ContainsFunc(seats, func(other seat) bool {
				return other.tid != one.tid && other.cpu != one.cpu
			})
		}) {
			both++
		}
	}
	return ran == 0 || float64(both) >= togetherLeast*float64(ran)
}

// together are the seats of some threads in each time slice, of all their processes.
func (s seatings) together(pids, threads map[int32]bool) map[int64][]seat {
	all := map[int64][]seat{}
	for pid := range pids {
		for slice, seats := range s[pid] {
			for _, one := range seats {
				if threads[one.tid] {
					all[slice] = append(all[slice], one)
				}
			}
		}
	}
	return all
}
