package compare

import (
	"math"

	"culprit/recording"
)

// cpuPieces are all CPU samples of the target, scaled so that they add up to
// the exact CPU time of each thread and of the run, where these were measured.
func (r *run) cpuPieces() []piece {
	samples := r.cpuSamples()
	if byThread := r.byThread(samples); byThread != nil {
		samples = byThread
	}
	total := 0.0
	for i := range samples {
		total += samples[i].weight
	}
	exact, measured := r.exactCPU()
	if total == 0 {
		if !measured || exact == 0 {
			return nil
		}
		return []piece{r.nowhere(exact)}
	}
	scale := 1.0
	if measured {
		scale = exact / total
	}
	pieces := make([]piece, 0, len(samples))
	for _, one := range shareLost(samples) {
		pieces = append(pieces, piece{key: one.key, seconds: one.weight * scale, holder: recording.NoStack})
	}
	return pieces
}

// cpuSamples are the target's CPU samples; those without a stack carry no thread, only a process.
func (r *run) cpuSamples() []weighted {
	var samples []weighted
	for i := range r.rec.Samples {
		sample := &r.rec.Samples[i]
		t := r.thread[sample.Tid]
		if sample.Signal != recording.SignalCPU || !sample.Target || sample.ValueNs == 0 ||
			!plausible(sample.ValueNs) || t == nil || t.pid != sample.Pid {
			continue
		}
		key := r.key(t, Running, r.stackOf(sample.Stack))
		if sample.Comm != "" {
			key.comm = sample.Comm
		}
		samples = append(samples, weighted{key: key, weight: float64(sample.ValueNs) / 1e9, thread: t})
	}
	return samples
}

func (r *run) exactCPU() (seconds float64, measured bool) {
	exact, measured := r.rec.Manifest.Metrics[MetricCPU]
	return exact, measured && exact >= 0 && exact <= maxSeconds
}

// accountsAgree is how far the threads' own accounts may be from the run's exact
// CPU time for the threads to be trusted one by one.
const accountsAgree = 0.2

// byThread scales samples to the scheduler's exact account of each thread. A
// sampling clock is itself a timer: threads that timers wake for a few
// microseconds are seen too seldom or too often by it, and what it misses of
// one thread would otherwise be booked to the others. nil without accounts.
func (r *run) byThread(samples []weighted) []weighted {
	accounts, sum := r.accounts()
	if exact, measured := r.exactCPU(); sum <= 0 || measured && math.Abs(sum-exact) > accountsAgree*exact {
		return nil
	}
	lost, all := map[int32]float64{}, map[int32]float64{}
	for i := range samples {
		one := &samples[i]
		all[one.thread.pid] += one.weight
		if one.key.stack < 0 {
			lost[one.thread.pid] += one.weight
		} else if account := accounts[one.thread]; account != nil {
			account.seen += one.weight
		}
	}
	var scaled []weighted
	for _, one := range samples {
		if one.key.stack < 0 {
			continue // of no thread in particular: the accounts hold its time
		}
		if account := accounts[one.thread]; account != nil {
			known := 1 - lost[one.thread.pid]/all[one.thread.pid]
			one.weight *= account.seconds * known / account.seen
		}
		scaled = append(scaled, one)
	}
	for _, t := range r.threads() {
		account := accounts[t]
		if account == nil || account.told {
			continue
		}
		account.told = true
		unknown := account.seconds
		if account.seen > 0 {
			unknown *= lost[t.pid] / all[t.pid]
		}
		if unknown > 0 {
			scaled = append(scaled, weighted{key: r.key(t, Running, recording.NoStack), weight: unknown, thread: t})
		}
	}
	return scaled
}

// account is the exact CPU time of one thread, or of all of a name in one process that were too short to be sampled one
// by one.
type account struct {
	seconds float64
	seen    float64 // what the samples with a stack weigh
	told    bool    // what has no stack is booked
}

// accounts are the exact CPU seconds of the threads, and their sum. Threads that lived within the recording for less
// than one sample's worth of CPU time share one account with their like: of a thread for each connection nine of ten
// are never sampled, and what the tenth did is what they all did. By themselves they would take nine tenths of the
// stacks away.
func (r *run) accounts() (byThread map[*thread]*account, sum float64) {
	type kind struct {
		pid  int32
		comm string
	}
	byThread, pooled := map[*thread]*account{}, map[kind]*account{}
	for i := range r.rec.Threads {
		known := &r.rec.Threads[i]
		t := r.thread[known.Tid]
		if t == nil || t.pid != known.Pid || known.CPUNs <= 0 || !plausible(known.CPUNs) {
			continue
		}
		own := byThread[t]
		if own == nil && r.tooShort(known) {
			own = pooled[kind{known.Pid, known.Comm}]
		}
		if own == nil {
			own = &account{}
			if r.tooShort(known) {
				pooled[kind{known.Pid, known.Comm}] = own
			}
		}
		byThread[t] = own
		own.seconds += float64(known.CPUNs) / 1e9
		sum += float64(known.CPUNs) / 1e9
	}
	return byThread, sum
}

// tooShort reports whether a thread began and ended within the recording and used less CPU time than lies between two
// samples.
func (r *run) tooShort(t *recording.Thread) bool {
	hz := r.rec.Manifest.Hz
	return hz > 0 && t.StartNs > 0 && t.EndNs > t.StartNs && t.CPUNs < 1e9/int64(hz)
}

// nowhere is time of the root process without any stack.
func (r *run) nowhere(seconds float64) piece {
	key := pathKey{kind: Running, stack: recording.NoStack, wakerStack: recording.NoStack,
		forStack: recording.NoStack}
	if root := r.process[r.root]; root != nil {
		key.process = root.name
	}
	return piece{key: key, seconds: seconds, holder: recording.NoStack}
}

// waitPieces are all waits of all threads, and the short ones that are known as totals only.
func (r *run) waitPieces() []piece {
	var pieces []piece
	for _, t := range r.threads() {
		for _, wait := range t.waits {
			if wait.BlockedNs > 0 {
				pieces = append(pieces, r.blockedPiece(t, wait, wait.BlockedNs))
			}
			if wait.RunqueueNs > 0 {
				woken := wait.TimeNs + wait.BlockedNs
				pieces = append(pieces, r.runnablePiece(t, wait, woken, woken+wait.RunqueueNs))
			}
		}
		for _, sample := range t.short {
			p := piece{key: r.shortKey(t, sample), seconds: float64(sample.ValueNs) / 1e9,
				count: float64(sample.Count), holder: recording.NoStack}
			pieces = append(pieces, p)
		}
	}
	return pieces
}
