package lines

import "culprit/recording"

// hits are what debug registers saw of a line.
type hits struct {
	threads users[int32]
	pids    map[int32]bool
	tasks   users[uint64] // of Go, where they are known
	written map[int32]bool
}

func (h *hits) add(row *recording.Line) {
	if row.Hits <= 0 {
		return
	}
	h.threads.add(row.Offset, row.Tid, float64(row.Hits))
	h.pids[row.Pid] = true
	if row.Task != 0 {
		h.tasks.add(row.Offset, row.Task, float64(row.Hits))
	}
	h.written[row.Offset] = h.written[row.Offset] || row.Write
}

// confirmed reports whether debug registers saw several threads, or tasks, at the line, and one
// write; in memory that processes share threads of several, for a process may not let itself be
// watched.
func (u *use) confirmed() bool {
	users, _ := u.hits.threads.each()
	tasks, _ := u.hits.tasks.each()
	return len(u.hits.written) > 0 && anyWritten(u.hits.written) &&
		len(users) > 1 && (!u.byTask() || len(tasks) > 1) && (len(u.pids) < 2 || len(u.hits.pids) > 1)
}

func anyWritten(words map[int32]bool) bool {
	for _, written := range words {
		if written {
			return true
		}
	}
	return false
}

// common reports whether several touch the word at an offset, and one writes it.
func (h *hits) common(offset int32, byTask bool) bool {
	if byTask {
		return h.written[offset] && len(h.tasks[offset]) > 1
	}
	return h.written[offset] && len(h.threads[offset]) > 1
}
