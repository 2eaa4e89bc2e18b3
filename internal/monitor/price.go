package monitor

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/probe/monitors"
	"culprit/internal/stat"
)

// rounds are measured by turns with and without the events of a monitor: more than the six that an
// interval takes.
const rounds = 9

// confidence of the intervals.
const confidence = 0.95

// leastRounds are enough where the time is over before all of them.
const leastRounds = 6

// pricedWithin bounds how long all of it may take.
const pricedWithin = 30 * time.Second

// eventsAgain bounds how many events are opened once more for one process.
const eventsAgain = 256

// Price measures what each monitor that only counts adds to a switch, a call and a fault. What
// cannot be measured is said in the monitor; an error is one of the measurement itself.
func Price(ctx context.Context, found []Monitor) error {
	wanted := false
	for i := range found {
		switch found[i].Does {
		case Counts:
			wanted = true
		case Samples:
			found[i].Why = "what a sample costs depends on what is taken with it: `culprit overhead --monitor` measures that"
		}
	}
	if !wanted {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pricedWithin)
	defer cancel()
	p, err := newPair(ctx)
	if err != nil {
		return fmt.Errorf("measure what monitors cost: %w", err)
	}
	defer p.close()
	for i := range found {
		if found[i].Does != Counts {
			continue
		}
		if err := p.price(ctx, &found[i]); err != nil {
			return fmt.Errorf("measure what monitors cost: %w", err)
		}
	}
	return nil
}

// price measures one monitor.
func (p *pair) price(ctx context.Context, m *Monitor) error {
	events := m.changed()
	if m.Scope == ScopeCgroup {
		if err := p.grouped(); err != nil {
			m.Why = "not measured: its cgroups cannot be made like: " + err.Error()
			return nil
		}
	}
	if len(events) > eventsAgain {
		m.Why = fmt.Sprintf("not measured: %d events at once are more than culprit opens", len(events))
		return nil
	}
	var more [3][]float64
	for round := range rounds {
		added, refused, err := p.round(events, round%2 == 0)
		if ctx.Err() != nil && (err != nil || refused != nil) {
			break // the processes were killed when the time was over
		}
		if refused != nil {
			m.Why = "not measured: the same events cannot be opened once more: " + refused.Error()
			return nil
		}
		if err != nil {
			return err
		}
		for at := range more {
			more[at] = append(more[at], added[at])
		}
	}
	if len(more[0]) < leastRounds {
		m.Why = fmt.Sprintf("not measured: in %v the two processes that it takes had too little of a CPU; try again "+
			"when this host does less", pricedWithin)
		return nil
	}
	m.Costs = &Costs{}
	for at, to := range []*stat.Interval{&m.Costs.Switch, &m.Costs.Call, &m.Costs.Fault} {
		interval, err := stat.HodgesLehmann(more[at], confidence)
		if err != nil {
			return err
		}
		*to = interval
	}
	return nil
}

// round measures once with the events and once without, and gives what they add.
func (p *pair) round(events []monitors.Event, first bool) (added [3]float64, refused, err error) {
	var took [2][3]float64 // without, with
	for _, with := range []bool{first, !first} {
		var opened []int
		at := 0
		if with {
			at = 1
			if opened, refused = p.again(events); refused != nil {
				closeAll(opened)
				return added, refused, nil
			}
		}
		took[at], err = p.measure()
		closeAll(opened)
		if err != nil {
			return added, nil, err
		}
	}
	for i := range added {
		added[i] = took[1][i] - took[0][i]
	}
	return added, nil, nil
}

// again opens events once more: for both processes, or for the CPU that they run on.
func (p *pair) again(events []monitors.Event) (opened []int, err error) {
	for i := range events {
		for number, one := range p.one {
			group := -1
			if p.cgroups[number] != nil {
				group = int(p.cgroups[number].Fd())
			}
			descriptor, err := events[i].Again(p.cpu, one.thread, group)
			if err != nil {
				return opened, fmt.Errorf("%s: %w", events[i].Name, err)
			}
			opened = append(opened, descriptor)
			if events[i].Cgroup == 0 && events[i].Target == 0 {
				break // one for the CPU
			}
		}
	}
	return opened, nil
}

func closeAll(descriptors []int) {
	for _, descriptor := range descriptors {
		_ = unix.Close(descriptor)
	}
}
