package recording

// Of a host that starts processes all the time most rows are of processes that come and go within
// one part: half a million of them took some hundred megabytes at the end of a recording of which
// no part is larger than a tenth of that.

// seenIn is in which parts a process has rows.
type seenIn struct {
	last    int
	several bool
}

// processesOf finds in which parts each process has rows of a table.
func (j *join) processesOf(name string, limit int) (map[int32]seenIn, error) {
	type ofProcess struct {
		Pid int32 `parquet:"pid"`
	}
	found := map[int32]seenIn{}
	for number, p := range j.parts {
		rows, err := rowsOf[ofProcess](p, name, limit)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			earlier, known := found[row.Pid]
			found[row.Pid] = seenIn{number, known && (earlier.several || earlier.last != number)}
		}
	}
	return found, nil
}

// totalOfProcesses adds up rows as total does, and writes those of a process with the last part
// that has any: in memory are one part's and those of processes that go on.
func totalOfProcesses[T any, K comparable](j *join, name string, limit int, pid func(*T) int32, key func(*T) K,
	change func(*part, *T), add func(whole, later *T), weight func(*T) int64) error {
	processes, err := j.processesOf(name, limit)
	if err != nil {
		return err
	}
	open := map[K]*T{}
	var order []K
	number := -1
	return stream(j, name, limit, func(p *part, rows []T) []T {
		number++
		var done []T
		for i := range rows {
			row := &rows[i]
			change(p, row)
			if !processes[pid(row)].several {
				done = append(done, *row)
				continue
			}
			k := key(row)
			if whole := open[k]; whole != nil {
				add(whole, row)
				continue
			}
			kept := *row // by itself: it is not to keep the whole part
			open[k] = &kept
			order = append(order, k)
		}
		var still []K
		for _, k := range order {
			if processes[pid(open[k])].last > number {
				still = append(still, k)
				continue
			}
			done = append(done, *open[k])
			delete(open, k)
		}
		order = still
		return done
	}, weight)
}
