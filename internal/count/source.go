package count

import (
	"culprit/internal/probe/counters"
	"culprit/internal/probe/counters/event"
)

// metered is a meter: counts booked to who ran.
type metered struct {
	meter *counters.Meter
	pids  []int
}

func openMeter(options Options) (*metered, error) {
	by := map[string]counters.By{ByCgroup: counters.ByCgroup, ByProcess: counters.ByProcess, ByThread: counters.ByThread}
	meter, err := counters.Open(counters.Options{By: by[options.By], Events: options.Events, Some: len(options.Pids) > 0})
	if err != nil {
		return nil, err
	}
	return &metered{meter, options.Pids}, nil
}

// begin follows the targets only when their children are followed.
func (m *metered) begin() error {
	if err := m.meter.Begin(); err != nil {
		return err
	}
	for _, pid := range m.pids {
		if err := m.meter.Follow(pid); err != nil {
			return err
		}
	}
	return nil
}

func (m *metered) read() (map[identity]*counters.Row, error) { return m.meter.Read() }
func (m *metered) cpus() (map[int][]counters.Count, error)   { return m.meter.CPUs(), nil }
func (m *metered) lost() (map[string]int64, error)           { return m.meter.Lost() }
func (m *metered) forget(who identity) error                 { return m.meter.Forget(who) }
func (m *metered) close()                                    { m.meter.Close() }

// whole are the CPUs: nothing is booked, no program runs.
type whole struct{ events *counters.Events }

func openCPUs(list event.List) (*whole, error) {
	events, err := counters.OpenEvents(list)
	if err != nil {
		return nil, err
	}
	return &whole{events}, nil
}

func (w *whole) begin() error                            { return nil }
func (w *whole) cpus() (map[int][]counters.Count, error) { return w.events.Read() }
func (w *whole) lost() (map[string]int64, error)         { return nil, nil }
func (w *whole) forget(identity) error                   { return nil }
func (w *whole) close()                                  { w.events.Close() }

func (w *whole) read() (map[identity]*counters.Row, error) {
	counted, err := w.events.Read()
	if err != nil {
		return nil, err
	}
	rows := map[identity]*counters.Row{}
	for cpu, counts := range counted {
		rows[identity{ID: uint64(cpu)}] = &counters.Row{Counts: counts}
	}
	return rows, nil
}
