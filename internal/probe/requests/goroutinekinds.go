package requests

import "culprit/recording"

// A goroutine that waits for another one, over a channel say, does not say for which. Goroutines of
// another kind that are on a CPU for most of that time, and more than they usually are, are what it
// waited for: a kind is the function that they began with. Those of the request's own kind serve
// others. Those that are as busy at any time are told as who was at work meanwhile, no more.

// startOf is the function that the goroutine of a stack began with; "" where that is not known.
func (m *maker) startOf(stack int) string {
	if name, known := m.starts[stack]; known {
		return name
	}
	user, _ := m.window.Unwinder.Frames(stack)
	name := startIn(user)
	m.starts[stack] = name
	return name
}

// startIn finds it in frames, root first.
func startIn(user []*recording.Frame) string {
	for _, frame := range user {
		if frame.Kind != recording.KindGo {
			return ""
		}
		if frame.Name != "runtime.goexit" {
			return frame.Name
		}
	}
	return ""
}

// workOfKind finds what a thread ran of one kind of goroutines but that of a request, where it was
// at that for besideLeast of a time, and for rare times as much of it as usual.
func (m *maker) workOfKind(pid int32, own string, from, to int64, rare float64) *stint {
	if m.window.Unwinder == nil {
		return nil
	}
	usual := m.usualOfKinds(pid)
	var best *stint
	most := 0.0
	for _, tid := range m.tids[pid] {
		counts := map[string]int{}
		for _, trace := range m.traces.Within(tid, m.window.StartNs+from, m.window.StartNs+to) {
			counts[m.startOf(trace.Stack)]++
		}
		for kind, count := range counts {
			part := float64(int64(count)*m.period) / float64(to-from)
			if kind == "" || kind == own || count < fewestSeen || part < max(besideLeast, rare*usual[kind]) {
				continue
			}
			if part > most {
				most, best = part, &stint{work{fromNs: from, toNs: to}, tid}
			}
		}
	}
	return best
}

// fewestSeen are so many samples that they are no chance.
const fewestSeen = 3

// usualOfKinds is the part of the window in which goroutines of each kind were on a CPU.
func (m *maker) usualOfKinds(pid int32) map[string]float64 {
	if known := m.usualKinds[pid]; known != nil {
		return known
	}
	parts := map[string]float64{}
	each := float64(m.period) / float64(max(1, m.window.EndNs-m.window.StartNs))
	for _, tid := range m.tids[pid] {
		for _, trace := range m.traces[tid] {
			parts[m.startOf(trace.Stack)] += each
		}
	}
	m.usualKinds[pid] = parts
	return parts
}
