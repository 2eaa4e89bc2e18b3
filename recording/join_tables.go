package recording

import "slices"

// stream writes one table part by part, of which each has the same share of what is left of the
// limit. change gives the rows of a part as they stand in the whole; weight says which of them to
// keep first.
func stream[T any](j *join, name string, limit int, change func(*part, []T) []T, weight func(*T) int64) error {
	out, err := newTable[T](j.archive, j.codec, name)
	if err != nil {
		return err
	}
	written := 0
	for i, p := range j.parts {
		rows, err := rowsOf[T](p, name, limit)
		if err != nil {
			return err
		}
		rows = change(p, rows)
		kept := heaviest(rows, (limit-written)/(len(j.parts)-i), weight)
		j.lose(name, len(rows)-len(kept))
		written += len(kept)
		if err := out.write(kept); err != nil {
			return err
		}
	}
	return out.close()
}

// heaviest keeps at most limit rows, in their order.
func heaviest[T any](rows []T, limit int, weight func(*T) int64) []T {
	if len(rows) <= limit {
		return rows
	}
	weights := make([]int64, len(rows))
	for i := range rows {
		weights[i] = weight(&rows[i])
	}
	sorted := slices.Sorted(slices.Values(weights))
	// Limit is at least 1: no table has fewer rows than a join has parts.
	least := sorted[len(sorted)-limit]
	atLeast := limit
	for _, w := range weights {
		if w > least {
			atLeast--
		}
	}
	kept := make([]T, 0, limit)
	for i := range rows {
		if weights[i] == least {
			atLeast--
		}
		if weights[i] > least || weights[i] == least && atLeast >= 0 {
			kept = append(kept, rows[i])
		}
	}
	return kept
}

// each gives every row of a part to change.
func each[T any](change func(*part, *T)) func(*part, []T) []T {
	return func(p *part, rows []T) []T {
		for i := range rows {
			change(p, &rows[i])
		}
		return rows
	}
}

func (j *join) samples() error {
	return stream(j, "samples", MaxSamples, each(func(p *part, s *Sample) {
		s.TimeNs += p.offsetNs
		p.stack(&s.Stack)
	}), func(s *Sample) int64 { return max(s.ValueNs, s.Count) })
}

func (j *join) waits() error {
	return stream(j, "waits", MaxWaits, each(func(p *part, w *Wait) {
		w.TimeNs += p.offsetNs
		p.stack(&w.Stack)
		p.stack(&w.WakerStack)
		p.stack(&w.HopStack) // of a wait without a hop it means nothing
	}), func(w *Wait) int64 { return w.BlockedNs + w.RunqueueNs })
}

func (j *join) slow() error {
	stalls := int32(0)
	return stream(j, "slow", MaxSlow, func(p *part, rows []Slow) []Slow {
		before := stalls
		for i := range rows {
			s := &rows[i]
			s.TimeNs += p.offsetNs
			p.stack(&s.Stack)
			p.stack(&s.WakerStack)
			p.stack(&s.HopStack)
			if s.Stall > 0 {
				s.Stall += before
				stalls = max(stalls, s.Stall)
			}
		}
		return rows
	}, func(s *Slow) int64 { return s.DurationNs })
}

func (j *join) metrics() error {
	return stream(j, "metrics", MaxMetrics, each(func(p *part, m *Metric) { m.TimeNs += p.offsetNs }),
		func(*Metric) int64 { return 0 })
}

// span is when a process or thread was there; 0: before the part, and after it.
type span struct{ startNs, endNs *int64 }

// lives writes a table of what can live over several parts: one row each, written when it has
// ended.
func lives[T any, K comparable](j *join, name string, limit int, key func(*T) K, when func(*T) span,
	add func(whole, later *T), weight func(*T) int64) error {
	open := map[K]*T{}
	return stream(j, name, limit, func(p *part, rows []T) []T {
		done := make([]T, 0, len(rows))
		still := map[K]*T{}
		for i := range rows {
			row := &rows[i]
			at := when(row)
			before := *at.startNs == 0
			*at.startNs += p.offsetNs // one that came up in the gap before this part came with it
			if *at.endNs > 0 {
				*at.endNs += p.offsetNs
			}
			if earlier := open[key(row)]; before && earlier != nil {
				delete(open, key(row))
				*at.startNs = *when(earlier).startNs
				*when(earlier).endNs = *at.endNs
				add(earlier, row)
				row = earlier
			}
			if *when(row).endNs > 0 || j.isLast(p) {
				done = append(done, *row)
			} else {
				kept := *row
				still[key(row)] = &kept
			}
		}
		for _, gone := range open { // in the gap before this part
			*when(gone).endNs = max(p.offsetNs, 1)
			done = append(done, *gone)
		}
		open = still
		return done
	}, weight)
}

func (j *join) processes() error {
	return lives(j, "processes", MaxProcesses, func(p *Process) int32 { return p.Pid },
		func(p *Process) span { return span{&p.StartNs, &p.EndNs} },
		func(whole, later *Process) {
			whole.CPUNs += later.CPUNs
			whole.Execs += later.Execs
			whole.Comm, whole.ExitCode, whole.EndedBy = later.Comm, later.ExitCode, later.EndedBy
			if later.Command != "" {
				whole.Command = later.Command
			}
		}, func(p *Process) int64 { return p.CPUNs })
}

func (j *join) threads() error {
	return lives(j, "threads", MaxThreads, func(t *Thread) [2]int32 { return [2]int32{t.Pid, t.Tid} },
		func(t *Thread) span { return span{&t.StartNs, &t.EndNs} },
		func(whole, later *Thread) {
			whole.CPUNs += later.CPUNs
			whole.RunqueueNs += later.RunqueueNs
			whole.Voluntary += later.Voluntary
			whole.Involuntary += later.Involuntary
			whole.Migrations += later.Migrations
			whole.Comm = later.Comm
		}, func(t *Thread) int64 { return t.CPUNs })
}
