package spent

import (
	"cmp"
	"math"
	"slices"

	"culprit/internal/compare/names"
	"culprit/internal/compare/timeline"
	"culprit/recording"
)

// CPU are all CPU samples of the target, scaled so that they add up to the exact CPU time of each
// thread and of the run, where these were measured.
func CPU(r *timeline.Run) []Piece {
	return cpuOf(r, func(*timeline.Thread) bool { return true })
}

// cpuOf is the part of it that some threads have.
func cpuOf(r *timeline.Run, of func(*timeline.Thread) bool) []Piece {
	samples := cpuSamples(r)
	exact, measured := exactCPU(r)
	if scaled := byThread(r, samples); scaled != nil {
		samples = scaled
	}
	total := 0.0
	for i := range samples {
		total += samples[i].weight
	}
	if total == 0 {
		if !measured || exact == 0 {
			return nil
		}
		return []Piece{{Key: Key{Kind: Running, Process: r.ProcessName(r.Root)}, Seconds: exact}}
	}
	scale := 1.0
	if measured {
		scale = exact / total
	}
	samples = slices.DeleteFunc(samples, func(one weighted) bool { return !of(one.thread) })
	pieces := make([]Piece, 0, len(samples))
	for _, one := range shareLost(samples) {
		pieces = append(pieces, Piece{Key: one.key, Seconds: one.weight * scale})
	}
	return pieces
}

// cpuSamples are the target's CPU samples; those without a stack carry no thread, only a process.
func cpuSamples(r *timeline.Run) (samples []weighted) {
	for i := range r.Recording.Samples {
		sample := &r.Recording.Samples[i]
		t := r.Thread(sample.Tid)
		if sample.Signal != recording.SignalCPU || !sample.Target || sample.ValueNs == 0 ||
			!recording.Plausible(sample.ValueNs) || t == nil || t.Pid != sample.Pid {
			continue
		}
		key := keyOf(r, t, Running, r.Stack(sample.Stack))
		if sample.Comm != "" {
			key.Comm = sample.Comm
		}
		samples = append(samples, weighted{key: key, weight: float64(sample.ValueNs) / 1e9, thread: t})
	}
	return samples
}

func exactCPU(r *timeline.Run) (seconds float64, measured bool) {
	exact, measured := r.Recording.Manifest.Metrics[recording.MetricCPU]
	return exact, measured && exact >= 0 && exact <= recording.MaxSeconds
}

// accountsAgree is how far the threads' own accounts may be from the run's exact CPU time for the
// threads to be trusted one by one, as a part of it. Chosen.
const accountsAgree = 0.2

// byThread scales samples to the scheduler's exact account of each thread. A sampling clock is
// itself a timer: threads that timers wake for a few microseconds are seen too seldom or too often
// by it, and what it misses of one thread would otherwise be booked to the others. nil without
// accounts.
func byThread(r *timeline.Run, samples []weighted) (scaled []weighted) {
	accounts, sum := accountsOf(r)
	exact, measured := exactCPU(r)
	if sum <= 0 || measured && math.Abs(sum-exact) > accountsAgree*exact {
		return nil
	}
	lost, all := map[int32]float64{}, map[int32]float64{}
	for i := range samples {
		one := &samples[i]
		all[one.thread.Pid] += one.weight
		if one.key.Stack == names.None {
			lost[one.thread.Pid] += one.weight
		} else if account := accounts[one.thread]; account != nil {
			account.seen += one.weight
		}
	}
	for _, one := range samples {
		if one.key.Stack == names.None {
			continue // of no thread in particular: the accounts hold its time
		}
		if account := accounts[one.thread]; account != nil {
			known := 1 - lost[one.thread.Pid]/all[one.thread.Pid]
			one.weight *= account.seconds * known / account.seen
		}
		scaled = append(scaled, one)
	}
	for _, t := range r.Threads {
		account := accounts[t]
		if account == nil || account.told {
			continue
		}
		account.told = true
		unknown := account.seconds
		if account.seen > 0 {
			unknown *= lost[t.Pid] / all[t.Pid]
		}
		if unknown > 0 {
			key := keyOf(r, t, Running, names.None)
			scaled = append(scaled, weighted{key: key, weight: unknown, thread: t})
		}
	}
	return scaled
}

// account is the exact CPU time of one thread, or of all of a name that were too short to be
// sampled.
type account struct {
	seconds float64
	seen    float64 // what the samples with a stack weigh
	told    bool    // what has no stack is booked
}

// accountsOf are the exact CPU seconds of the threads, and their sum. Threads that lived within the
// recording for less CPU time than lies between two samples share an account with their like: of a
// thread for each connection nine of ten are never sampled, and what the tenth did they all did.
func accountsOf(r *timeline.Run) (accounts map[*timeline.Thread]*account, sum float64) {
	type kind struct {
		pid, tid int32 // tid is 0 for those that share an account
		comm     string
	}
	accounts, pooled := map[*timeline.Thread]*account{}, map[kind]*account{}
	for i := range r.Recording.Threads {
		known := &r.Recording.Threads[i]
		t := r.Thread(known.Tid)
		if t.Pid != known.Pid || known.CPUNs <= 0 || !recording.Plausible(known.CPUNs) {
			continue
		}
		alike := kind{known.Pid, known.Tid, known.Comm}
		if tooShort(r, known) {
			alike.tid = 0
		}
		own := cmp.Or(accounts[t], pooled[alike], &account{})
		accounts[t], pooled[alike] = own, own
		own.seconds += float64(known.CPUNs) / 1e9
		sum += float64(known.CPUNs) / 1e9
	}
	return accounts, sum
}

// tooShort reports whether a thread lived within the recording, and for less than a sample's time.
func tooShort(r *timeline.Run, t *recording.Thread) bool {
	hz := r.Recording.Manifest.Hz
	return hz > 0 && t.StartNs > 0 && t.EndNs > t.StartNs && t.CPUNs < 1e9/int64(hz)
}
