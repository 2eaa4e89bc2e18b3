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
		for kind, at := range m.timesOfKinds(tid, from, to) {
			part := at.ns / float64(to-from)
			if kind == "" || kind == own || at.seen < fewestSeen || part < max(besideLeast, rare*usual[kind]) {
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

// usualOfKinds is the part of the window in which goroutines of each kind were at work.
func (m *maker) usualOfKinds(pid int32) map[string]float64 {
	if known := m.usualKinds[pid]; known != nil {
		return known
	}
	parts, window := map[string]float64{}, m.window.EndNs-m.window.StartNs
	for _, tid := range m.tids[pid] {
		for kind, at := range m.timesOfKinds(tid, 0, window) {
			parts[kind] += at.ns / float64(max(1, window))
		}
	}
	m.usualKinds[pid] = parts
	return parts
}

// timeOfKind is a thread's time with one kind of goroutines, and how often it was sampled at that.
type timeOfKind struct {
	seen int
	ns   float64
}

// timesOfKinds gives what a thread had its CPU for, by its samples, and what it was about to go on
// with when it had lost it.
func (m *maker) timesOfKinds(tid int32, from, to int64) map[string]timeOfKind {
	times, lost := map[string]timeOfKind{}, m.lostWithin(tid, from, to)
	traces := m.traces.Within(tid, m.window.StartNs+from, m.window.StartNs+to)
	for _, trace := range traces {
		kind := m.startOf(trace.Stack)
		at := times[kind]
		times[kind] = timeOfKind{at.seen + 1, at.ns + float64(m.period) + float64(lost)/float64(len(traces))}
	}
	return times
}
