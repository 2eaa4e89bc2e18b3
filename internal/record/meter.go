package record

import (
	"time"

	"culprit/internal/host"
	"culprit/internal/probe/beat"
	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// meterEvery is how often the host's numbers are read: 1 to 2 ms of CPU each time.
const meterEvery = time.Second

// lookEvery is how often, in the first second, it is looked at whether the process has gone into
// another cgroup, as commands do that make one for themselves: 30 µs of CPU each time.
const lookEvery = 100 * time.Millisecond

// maxMetrics bounds the rows of a window: beyond it every second reading is dropped and the pause
// doubles.
const maxMetrics = 200_000

// meter reads the host's numbers while a window is open: at its begin, once a second, and at its
// end.
type meter struct {
	source  func(timeNs int64) []recording.Metric
	moved   func() bool // into other cgroups, whose counters are to be known from then on
	startNs int64
	every   time.Duration
	limit   int
	done    chan struct{}
	ended   chan struct{}

	readings [][]recording.Metric // with what has changed since the reading before
	rows     int
	last     map[numberKey]float64
}

type numberKey struct{ name, scope string }

// meterHost begins to read the numbers of the host and of the first process's cgroups.
func meterHost(pids []int, startNs int64, every time.Duration) *meter {
	pid := 0
	if len(pids) > 0 {
		pid = pids[0]
	}
	numbers := host.NewMeter("/", pid)
	m := &meter{source: numbers.Read, moved: numbers.Moved, startNs: startNs, every: every, limit: maxMetrics,
		done: make(chan struct{}), ended: make(chan struct{}), last: map[numberKey]float64{}}
	m.read(0)
	go m.run()
	return m
}

func (m *meter) run() {
	defer close(m.ended)
	for range meterEvery/lookEvery - 1 {
		if pause(m.done, lookEvery) && m.moved() {
			m.read(bpf.Now() - m.startNs)
		}
	}
	for length := lookEvery; pause(m.done, length); length = m.every {
		m.read(bpf.Now() - m.startNs)
	}
}

// pause lets time go by, to a beat; false when the window has ended meanwhile.
func pause(ended <-chan struct{}, length time.Duration) bool {
	select {
	case <-ended:
		return false
	case <-beat.After(length):
		return true
	}
}

// read keeps what has changed: a number that stands still needs no row.
func (m *meter) read(timeNs int64) {
	var changed []recording.Metric
	for _, row := range m.source(timeNs) {
		key := numberKey{row.Name, row.Scope}
		if value, known := m.last[key]; known && value == row.Value {
			continue
		}
		m.last[key] = row.Value
		changed = append(changed, row)
	}
	m.readings = append(m.readings, changed)
	if m.rows += len(changed); m.rows > m.limit {
		m.thin()
	}
}

// thin drops every second reading. The first stays; what only a dropped one told is told by the
// next, or at the end.
func (m *meter) thin() {
	kept := m.readings[:1]
	pending := map[numberKey]recording.Metric{} // of a dropped reading
	for i, reading := range m.readings[1:] {
		if i%2 == 0 {
			for _, row := range reading {
				pending[numberKey{row.Name, row.Scope}] = row
			}
			continue
		}
		for _, row := range reading {
			delete(pending, numberKey{row.Name, row.Scope})
		}
		for _, row := range pending {
			reading = append(reading, row)
		}
		clear(pending)
		kept = append(kept, reading)
	}
	m.readings, m.rows = kept, 0
	for _, reading := range kept {
		m.rows += len(reading)
	}
	m.every *= 2
}

// stop ends the reading and returns all rows; at the end every number has one.
func (m *meter) stop(endNs int64) []recording.Metric {
	close(m.done)
	<-m.ended
	var rows []recording.Metric
	for _, reading := range m.readings {
		// A beat may fall between the window's end and this call. What it read is read once more
		// for the end.
		if len(reading) > 0 && reading[0].TimeNs < endNs-m.startNs {
			rows = append(rows, reading...)
		}
	}
	return append(rows, m.source(endNs-m.startNs)...)
}
