package lines

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"culprit/internal/compare/perrun"
	"culprit/internal/stat"
	"culprit/recording"
)

// merged are lines of all recordings that the same code touches, with amounts in one list.
type merged struct {
	Line
	samples   []float64
	beside    []float64 // of those
	lines     []float64
	functions map[recording.Frame][]float64 // seconds
	touches   map[recording.Frame]float64   // samples
	behind    map[recording.Frame]float64   // of those, right behind a call of what touches the line
	objects   map[string]bool               // that words are called by, without their fields
	spread    bool                          // over many lines, of which none tells anything alone
	named     float64                       // samples of the use that gave the name
	drawn     float64                       // and of the one that is drawn
}

// window is a recording with what its lines show.
type window struct {
	*recording.Recording
	at      int // among all recordings
	uses    []*use
	seats   seatings
	unmaps  map[int32]int64
	seconds float64 // that a sample stands for
}

// Find merges the lines of all recordings, the most sampled first; scales multiply their times.
func Find(a, b []*recording.Recording, scales []float64) []Line {
	sides, found := perrun.Sides{A: len(a), B: len(b)}, map[string]*merged{}
	windows := [2][]*window{windowsOf(a, 0, scales), windowsOf(b, len(a), scales)}
	handed := handedOn(windows)
	spread := spreads(windows, len(a)+len(b), handed)
	for i, side := range windows {
		for _, w := range side {
			for _, use := range w.uses {
				handed := !use.isMonitor() && use.handedBy(handed) // a lock is had one after the other by design
				if !use.told(spread[i]) && !handed && w.shares(use) {
					mergedOf(found, sides, use.key(), use.apart()).take(w, use)
				}
			}
		}
		for _, key := range inOrderOfKeys(spread[i]) {
			one := spread[i][key]
			mergedOf(found, sides, fmt.Sprint("spread", one.isApart, key), one.isApart).takeSpread(side, key, one)
		}
	}
	list, seconds := gathered(found), secondsAt(windows, len(a)+len(b))
	for _, line := range list {
		line.layOut(windows, sides)
	}
	return inOrder(list, seconds, sides)
}

// windowsOf are the recordings of one side that have lines: few; samples are many.
func windowsOf(side []*recording.Recording, first int, scales []float64) (list []*window) {
	for i, rec := range side {
		if len(rec.Lines) == 0 {
			continue
		}
		collects := collectors(rec)
		list = append(list, &window{Recording: rec, at: first + i, uses: usesOf(rec, collects),
			seats: seatingsOf(rec, collects), unmaps: unmapping(rec), seconds: secondsPerOperand(rec) * scales[first+i]})
	}
	return list
}

// shares reports whether a line is shared by threads that ran at the same time.
func (w *window) shares(u *use) bool {
	return u.written && !u.oneUser() && w.seats.meet(u.pids, u.threads) &&
		(u.count >= fewestStaying || !u.moving(w.unmaps))
}

func mergedOf(found map[string]*merged, sides perrun.Sides, key string, apart bool) *merged {
	if found[key] == nil {
		found[key] = &merged{Line: Line{False: apart}, samples: sides.Amounts(),
			beside: sides.Amounts(), lines: sides.Amounts(),
			functions: map[recording.Frame][]float64{}, touches: map[recording.Frame]float64{},
			behind: map[recording.Frame]float64{}, objects: map[string]bool{}}
	}
	return found[key]
}

// take adds a line of a recording.
func (m *merged) take(w *window, u *use) {
	m.describe(w, u)
	m.Threads = max(m.Threads, len(u.threads))
	m.samples[w.at] += u.count
	m.beside[w.at] += u.beside()
	m.lines[w.at]++
	for frame, samples := range u.functions {
		m.spend(w, frame, samples, u.fought[frame])
		m.behind[frame] += u.behind[frame]
	}
}

// describe takes from a line what is told of all: the words, the drawing, what debug registers saw.
func (m *merged) describe(w *window, u *use) {
	m.Words, m.Processes = max(m.Words, len(u.words)), max(m.Processes, len(u.pids))
	m.Confirmed, m.Watched = m.Confirmed || u.confirmed(), m.Watched || u.watched
	m.Monitor = m.Monitor || u.isMonitor()
	if name := u.name(); name != "" && u.count > m.named {
		m.Name, m.named = name, u.count
	}
	for _, row := range u.rows {
		if row.Name != "" {
			m.objects[row.Name] = true
		}
	}
	if u.count > m.drawn {
		m.Drawing, m.Languages, m.drawn = u.drawing(w.Recording), languages(w.Recording, u), u.count
		m.Memory = u.path()
	}
}

// spend adds samples of a function, and the time of those that the line can have cost.
func (m *merged) spend(w *window, frame recording.Frame, samples, fought float64) {
	if m.functions[frame] == nil {
		m.functions[frame] = make([]float64, len(m.samples))
	}
	m.functions[frame][w.at] += fought * w.seconds
	m.touches[frame] += samples
}

// takeSpread adds lines of one side that tell together what none tells alone.
func (m *merged) takeSpread(side []*window, key spreadKey, s *spread) {
	for _, w := range side {
		users := map[int32]bool{}
		for user := range s.users {
			if user.run == w.at {
				users[user.tid] = true
			}
		}
		m.Threads = max(m.Threads, len(users))
		m.samples[w.at] += s.part * s.mass[w.at]
		if s.isApart {
			m.beside[w.at] += s.part * s.mass[w.at]
		}
		m.lines[w.at] += s.lines[w.at]
		m.spend(w, key.function, s.part*s.mass[w.at], s.part*s.fought[w.at])
	}
	m.spread = true
	for i, u := range s.uses {
		m.describe(s.windows[i], u)
	}
}

// gathered joins lines of code that is the same in its greater part: which functions were sampled
// at a line is chance where there are many. Objects of other names stay apart.
func gathered(found map[string]*merged) (list []*merged) {
	all := make([]*merged, 0, len(found))
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if found[key].all() > 0 {
			all = append(all, found[key])
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].all() > all[j].all() })
	for _, one := range all {
		at := slices.IndexFunc(list, func(of *merged) bool { return of.holds(one) })
		if at < 0 {
			list = append(list, one)
			continue
		}
		list[at].join(one)
	}
	return list
}

func (m *merged) all() float64 { return sum(m.samples) }

// mostlyHeld is the part of a line's samples that is of functions which touch another, too, to be
// told with it.
const mostlyHeld = 0.5

// holds reports whether another is of the same code and objects.
func (m *merged) holds(other *merged) bool {
	if m.Monitor != other.Monitor { // beside a lock the same code may fight for what it does not guard
		return false
	}
	common, all := 0.0, 0.0
	for frame, samples := range other.touches {
		all += samples
		if m.touches[frame] > 0 {
			common += samples
		}
	}
	named := len(m.objects) > 0 && len(other.objects) > 0
	alike := !named
	for object := range other.objects {
		alike = alike || m.objects[object]
	}
	if m.spread && other.spread && named { // one class, whose functions touch the objects by turns
		return m.False == other.False && alike
	}
	return m.False == other.False && alike && all > 0 && common >= mostlyHeld*all
}

// join adds what another is, whose samples are fewer.
func (m *merged) join(other *merged) {
	m.Threads, m.Words = max(m.Threads, other.Threads), max(m.Words, other.Words)
	m.Processes = max(m.Processes, other.Processes)
	m.Confirmed, m.Watched = m.Confirmed || other.Confirmed, m.Watched || other.Watched
	if m.Name == "" {
		m.Name = other.Name
	}
	for at := range m.samples {
		m.samples[at] += other.samples[at]
		m.beside[at] += other.beside[at]
		m.lines[at] += other.lines[at]
	}
	for frame, seconds := range other.functions {
		if m.functions[frame] == nil {
			m.functions[frame] = make([]float64, len(m.samples))
		}
		for at := range seconds {
			m.functions[frame][at] += seconds[at]
		}
		m.touches[frame] += other.touches[frame]
		m.behind[frame] += other.behind[frame]
	}
	maps.Copy(m.objects, other.objects)
}

func sum(values []float64) (all float64) {
	for _, value := range values {
		all += value
	}
	return all
}

// key is the same for a line in all recordings: the code that touches it. Not its name: which of
// its words were sampled differs from run to run.
func (u *use) key() string {
	return fmt.Sprint(u.apart(), u.isMonitor(), slices.SortedFunc(maps.Keys(u.functions), byFrame))
}

// inOrder lists the most sampled first.
func inOrder(found []*merged, at map[recording.Frame][]float64, sides perrun.Sides) []Line {
	list := make([]Line, 0, len(found))
	for _, line := range found {
		line.A, line.B = sides.Split(line.samples)
		line.BesideA, line.BesideB = sides.Split(line.beside)
		line.Lines = int(slices.Max(line.lines))
		for frame, seconds := range line.functions {
			function := Function{Frame: frame, Calls: line.behind[frame] > line.touches[frame]/2}
			function.A, function.B = sides.Split(seconds)
			if at[frame] != nil {
				function.AtA, function.AtB = sides.Split(at[frame])
			}
			line.Functions = append(line.Functions, function)
		}
		slices.SortFunc(line.Functions, func(x, y Function) int { return byFrame(x.Frame, y.Frame) })
		list = append(list, line.Line)
	}
	samples := func(l *Line) float64 { return stat.Average(l.A) + stat.Average(l.B) }
	sort.SliceStable(list, func(i, j int) bool { return samples(&list[i]) > samples(&list[j]) })
	return list
}
