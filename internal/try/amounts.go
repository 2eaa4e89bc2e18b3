package try

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"culprit/recording"
)

// value reads a metric out of a recording: seconds, bytes, counts.
func (r recorded) value(rec *recording.Recording) (float64, error) {
	switch r.probe {
	case "processes":
		return r.ofThreads(rec), nil
	case "offcpu":
		_, ns := signal(rec, recording.SignalOffCPU)
		return seconds(ns), nil
	case "faults":
		return r.ofFaults(rec), nil
	case "block":
		return r.ofDisks(rec), nil
	case "network":
		return r.ofNetwork(rec), nil
	case "syscalls":
		return r.ofCalls(rec), nil
	}
	return r.ofNumbers(rec)
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// signal adds up a signal of the target.
func signal(rec *recording.Recording, name string) (count, ns int64) {
	for i := range rec.Samples {
		if sample := &rec.Samples[i]; sample.Target && sample.Signal == name {
			count, ns = count+sample.Count, ns+sample.ValueNs
		}
	}
	return count, ns
}

func (r recorded) ofThreads(rec *recording.Recording) float64 {
	if r.name == "processes" {
		started := 0
		for i := range rec.Processes {
			if rec.Processes[i].StartNs > 0 {
				started++
			}
		}
		return float64(started)
	}
	total := 0.0
	for i := range rec.Threads {
		thread := &rec.Threads[i]
		switch r.name {
		case "cpu":
			total += seconds(thread.CPUNs)
		case "runqueue":
			total += seconds(thread.RunqueueNs)
		case "voluntary":
			total += float64(thread.Voluntary)
		case "involuntary":
			total += float64(thread.Involuntary)
		case "switches":
			total += float64(thread.Voluntary + thread.Involuntary)
		}
	}
	return total
}

func (r recorded) ofFaults(rec *recording.Recording) float64 {
	switch r.name {
	case "reclaim":
		_, ns := signal(rec, recording.SignalReclaim)
		return seconds(ns)
	case "major_faults":
		count, _ := signal(rec, recording.SignalMajor)
		return float64(count)
	}
	count, _ := signal(rec, recording.SignalFault)
	return float64(count)
}

func (r recorded) ofNetwork(rec *recording.Recording) float64 {
	event := map[string]string{"retransmits": recording.NetRetransmit, "connects": recording.NetConnect,
		"resets": recording.NetReset}[r.name]
	total := int64(0)
	for _, row := range rec.Network {
		// A lost segment is seldom anybody's: the kernel sends it again in an interrupt.
		if row.Event == event && (row.Target || event != recording.NetConnect) {
			total += row.Count
		}
	}
	return float64(total)
}

func (r recorded) ofCalls(rec *recording.Recording) float64 {
	switch r.name {
	case "slow":
		count := 0
		for i := range rec.Slow {
			if r.tooSlow(&rec.Slow[i]) {
				count++
			}
		}
		return float64(count)
	case "stalls", "stalled":
		count, stalled := r.stalls(rec)
		if r.name == "stalls" {
			return float64(count)
		}
		return stalled
	case "lock_time":
		total := int64(0)
		for _, lock := range rec.Locks {
			total += lock.TotalNs
		}
		return seconds(total)
	}
	total := 0.0
	for i := range rec.Syscalls {
		call := &rec.Syscalls[i]
		if r.of != "" && r.of != call.Name {
			continue
		}
		switch r.name {
		case "calls":
			total += float64(call.Count)
		case "errors":
			total += float64(call.Errors)
		case "call_time":
			total += seconds(call.TotalNs)
		case "call_bytes":
			total += float64(call.Bytes)
		}
	}
	return total
}

// tooSlow tells whether an operation counts: one that waited for work, or for a time of its own
// choice, does not.
func (r recorded) tooSlow(call *recording.Slow) bool {
	return call.DurationNs > r.limit.Nanoseconds() && !call.Idle()
}

// stalls counts the stalls with an operation beyond the limit, and the time from the first begin to
// the last end of each one's.
func (r recorded) stalls(rec *recording.Recording) (count int, stalled float64) {
	type span struct{ from, to int64 }
	spans := map[int32]span{}
	for i := range rec.Slow {
		call := &rec.Slow[i]
		if call.Stall == 0 || call.DurationNs <= r.limit.Nanoseconds() {
			continue
		}
		of, known := spans[call.Stall]
		if !known {
			of = span{math.MaxInt64, 0}
		}
		spans[call.Stall] = span{min(of.from, call.TimeNs), max(of.to, call.TimeNs+call.DurationNs)}
	}
	stalledNs := int64(0) // a sum of integers does not depend on the order
	for _, of := range spans {
		stalledNs += of.to - of.from
	}
	return len(spans), seconds(stalledNs)
}

// ofDisks reads the requests of one device, or of all. Who waits for a request is often not who
// submitted it, so all of the host count.
func (r recorded) ofDisks(rec *recording.Recording) float64 {
	var count, bytes, total, longest int64
	var buckets []int64
	for _, row := range rec.Block {
		if r.of != "" && r.of != row.Device {
			continue
		}
		count, bytes, total = count+row.Count, bytes+row.Bytes, total+row.TotalNs
		longest = max(longest, row.MaxNs)
		for len(buckets) < len(row.Buckets) {
			buckets = append(buckets, 0)
		}
		for i, more := range row.Buckets {
			buckets[i] += more
		}
	}
	switch r.name {
	case "block_requests":
		return float64(count)
	case "block_bytes":
		return float64(bytes)
	case "block_mean":
		return seconds(total) / float64(max(count, 1))
	case "block_p50":
		return bucketQuantile(buckets, 0.50)
	case "block_p99":
		return bucketQuantile(buckets, 0.99)
	}
	return seconds(longest)
}

// bucketQuantile reads a percentile in seconds out of latencies in buckets of [2^i, 2^(i+1)) ns, as
// if each bucket's were spread evenly over its logarithm: right within a factor of two. It is 0 of
// none.
func bucketQuantile(buckets []int64, part float64) float64 {
	total := int64(0)
	for _, count := range buckets {
		total += count
	}
	before, wanted := 0.0, part*float64(total)
	for i, count := range buckets {
		if count > 0 && before+float64(count) >= wanted {
			return math.Exp2(float64(i)+(wanted-before)/float64(count)) / 1e9
		}
		before += float64(count)
	}
	return 0
}

// ofNumbers reads the growth of a number of the host over the window, or a counter.
func (r recorded) ofNumbers(rec *recording.Recording) (float64, error) {
	if r.name == "counter" {
		at := slices.IndexFunc(rec.Counters, func(row recording.Counter) bool { return row.Name == r.of })
		if at < 0 {
			return 0, fmt.Errorf("read %s: this host's recordings have no counter of that name", r.metricName())
		}
		total := 0.0
		for _, row := range rec.Counters[at:] {
			if value, counted := row.Estimated(); row.Name == r.of && counted && row.Scope != recording.ScopeProcess {
				total += value // those of processes are in the target's
			}
		}
		return total, nil
	}
	type ends struct{ first, last recording.Metric }
	scopes := map[string]ends{}
	for _, row := range rec.Metrics {
		if row.Name != r.of {
			continue
		}
		known, found := scopes[row.Scope]
		if !found {
			known.first = row
		}
		known.last = row
		scopes[row.Scope] = known
	}
	if len(scopes) == 0 {
		return 0, fmt.Errorf("read %s: this host's recordings have no number of that name; `culprit export` and the table "+
			"metrics show which there are", r.metricName())
	}
	total := 0.0
	for _, scope := range slices.Sorted(maps.Keys(scopes)) { // a sum depends on the order
		of := scopes[scope]
		total += of.last.Value - of.first.Value
	}
	return total, nil
}
