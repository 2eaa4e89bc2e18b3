package recording

import (
	"cmp"
	"slices"
)

// total adds up the rows of equal key over all parts and writes the heaviest.
func total[T any, K comparable](j *join, name string, limit int, key func(*T) K, change func(*part, *T),
	add func(whole, later *T), weight func(*T) int64) error {
	at := map[K]int{}
	var whole []T
	dropped := 0
	for _, p := range j.parts {
		rows, err := rowsOf[T](p, name, limit)
		if err != nil {
			return err
		}
		for i := range rows {
			change(p, &rows[i])
			if k, known := at[key(&rows[i])]; known {
				add(&whole[k], &rows[i])
				continue
			}
			at[key(&rows[i])] = len(whole)
			whole = append(whole, rows[i])
		}
		if len(whole) > limit { // the next part may bring as many again
			kept := heaviest(whole, limit, weight)
			dropped += len(whole) - len(kept)
			whole = slices.Clone(kept)
			clear(at)
			for i := range whole {
				at[key(&whole[i])] = i
			}
		}
	}
	j.lose(name, dropped)
	slices.SortStableFunc(whole, func(a, b T) int { return cmp.Compare(weight(&b), weight(&a)) })
	return writeTable(j.archive, j.codec, name, whole)
}

// trimmed are the buckets up to the last that counts, in memory of their own: calls of up to 16 µs
// fill 14 of 41, and half a million rows are kept.
func trimmed(buckets []int64) []int64 {
	end := len(buckets)
	for end > 0 && buckets[end-1] == 0 {
		end--
	}
	return slices.Clone(buckets[:end:end])
}

// addBuckets adds up counts by latency; the slices may differ in length.
func addBuckets(whole, later []int64) []int64 {
	for len(whole) < len(later) {
		whole = append(whole, 0)
	}
	for i, count := range later {
		whole[i] += count
	}
	return whole
}

// totals writes the tables that have no time.
func (j *join) totals() error {
	for _, write := range []func() error{j.syscalls, j.errors, j.locks, j.wakeups, j.block, j.network, j.lines,
		j.counters} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

func asItIs[T any](*part, *T) {}

func (j *join) syscalls() error {
	type key struct {
		pid, tid   int32
		comm, name string
	}
	return totalOfProcesses(j, "syscalls", MaxSyscalls, func(s *Syscall) int32 { return s.Pid },
		func(s *Syscall) key { return key{s.Pid, s.Tid, s.Comm, s.Name} },
		func(_ *part, s *Syscall) { s.Buckets = trimmed(s.Buckets) },
		func(whole, later *Syscall) {
			whole.Count += later.Count
			whole.Errors += later.Errors
			whole.Bytes += later.Bytes
			whole.TotalNs += later.TotalNs
			whole.Buckets = addBuckets(whole.Buckets, later.Buckets)
		}, func(s *Syscall) int64 { return max(s.TotalNs, s.Count) })
}

func (j *join) errors() error {
	return totalOfProcesses(j, "errors", MaxEvidence, func(e *SyscallError) int32 { return e.Pid },
		func(e *SyscallError) SyscallError { return SyscallError{Pid: e.Pid, Name: e.Name, Errno: e.Errno} },
		asItIs[SyscallError], func(whole, later *SyscallError) { whole.Count += later.Count },
		func(e *SyscallError) int64 { return e.Count })
}

// locks keeps the stacks and the holder of the part in which the lock was waited for longest.
func (j *join) locks() error {
	type key struct {
		kind    string
		address uint64
		pid     int32
	}
	longest := map[key]int64{}
	keyOf := func(l *Lock) key { return key{l.Kind, l.Address, l.Pid} }
	return total(j, "locks", MaxEvidence, keyOf,
		func(p *part, l *Lock) { p.stack(&l.WaiterStack); p.stack(&l.HolderStack) },
		func(whole, later *Lock) {
			sum := *whole
			if later.TotalNs > max(longest[keyOf(later)], 0) {
				longest[keyOf(later)] = later.TotalNs
				*whole = *later
			}
			whole.Waits, whole.TotalNs = sum.Waits+later.Waits, sum.TotalNs+later.TotalNs
			whole.MaxNs, whole.Waiters = max(sum.MaxNs, later.MaxNs), max(sum.Waiters, later.Waiters)
		}, func(l *Lock) int64 { return l.TotalNs })
}

// wakeups keeps the interval of the part with most of them.
func (j *join) wakeups() error {
	type key struct {
		pid, tid, stack     int32
		comm, syscall, kind string
	}
	return total(j, "wakeups", MaxEvidence,
		func(w *Wakeup) key { return key{w.Pid, w.Tid, w.Stack, w.Comm, w.Syscall, w.WakerKind} },
		func(p *part, w *Wakeup) { p.stack(&w.Stack) },
		func(whole, later *Wakeup) {
			if later.Count > whole.Count {
				whole.IntervalNs, whole.SpreadNs = later.IntervalNs, later.SpreadNs
			}
			whole.Count += later.Count
			whole.CPUNs += later.CPUNs
		}, func(w *Wakeup) int64 { return w.Count })
}

func (j *join) block() error {
	type key struct {
		device, operation, comm string
		pid                     int32
		target                  bool
		// heldBy keeps rows without a process apart: those of several cgroups are several.
		heldBy string
	}
	keyOf := func(b *Block) key {
		found := key{b.Device, b.Operation, b.Comm, b.Pid, b.Target, ""}
		if b.Pid == 0 {
			found.heldBy = b.ThrottledBy
		}
		return found
	}
	return total(j, "block", MaxEvidence,
		keyOf, func(_ *part, b *Block) { b.Buckets = trimmed(b.Buckets) },
		func(whole, later *Block) {
			whole.Count += later.Count
			whole.Bytes += later.Bytes
			whole.TotalNs += later.TotalNs
			whole.QueueNs += later.QueueNs
			whole.MaxNs, whole.MaxDepth = max(whole.MaxNs, later.MaxNs), max(whole.MaxDepth, later.MaxDepth)
			whole.Buckets = addBuckets(whole.Buckets, later.Buckets)
			whole.Throttled += later.Throttled
			whole.ThrottledNs += later.ThrottledNs
			whole.ThrottledBy = cmp.Or(later.ThrottledBy, whole.ThrottledBy)
		}, func(b *Block) int64 { return b.TotalNs + b.ThrottledNs })
}

func (j *join) network() error {
	return total(j, "network", MaxEvidence,
		func(n *Network) Network {
			return Network{Event: n.Event, Pid: n.Pid, Comm: n.Comm, Peer: n.Peer, Target: n.Target}
		}, asItIs[Network],
		func(whole, later *Network) {
			whole.Count += later.Count
			whole.TotalNs += later.TotalNs
		}, func(n *Network) int64 { return n.Count })
}

func (j *join) lines() error {
	return total(j, "lines", MaxEvidence,
		func(l *Line) Line {
			key := *l
			key.Count, key.Hits, key.WatchedNs = 0, 0, 0
			return key
		}, func(p *part, l *Line) {
			p.stack(&l.Stack)
			if l.BlockSize != 0 {
				p.stack(&l.BlockStack)
			}
		}, func(whole, later *Line) {
			whole.Count += later.Count
			whole.Hits += later.Hits
			whole.WatchedNs += later.WatchedNs
		}, func(l *Line) int64 { return l.Count })
}

func (j *join) counters() error {
	return total(j, "counters", MaxEvidence,
		func(c *Counter) Counter {
			return Counter{Name: c.Name, Scope: c.Scope, Pid: c.Pid, Comm: c.Comm, Group: c.Group, Unit: c.Unit}
		}, asItIs[Counter],
		func(whole, later *Counter) {
			whole.Value += later.Value
			whole.Low += later.Low
			whole.High += later.High
			whole.EnabledNs += later.EnabledNs
			whole.RunningNs += later.RunningNs
		}, func(c *Counter) int64 { return c.Value })
}
