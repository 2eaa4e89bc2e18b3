package host

import (
	"fmt"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// ProgramCost is what a BPF program that watches others took in a while, measured by the kernel's
// own account of it. Its mean is what it adds to each of the events that it is attached to: a
// switch, a system call, a fault.
type ProgramCost struct {
	Name     string  `json:"name"`         // as its owner called it, up to 15 characters
	At       string  `json:"at,omitempty"` // where it is attached, "sched_switch"; "" where that is not known
	Runs     uint64  `json:"runs"`
	MeanNs   float64 `json:"mean_ns"`
	CPUShare float64 `json:"cpu_share"` // of one CPU
}

// String says it in words.
func (c ProgramCost) String() string {
	name := "program " + c.Name
	if c.At != "" {
		name += " at " + c.At
	}
	if c.Runs == 0 {
		return name + " did not run"
	}
	return fmt.Sprintf("%s ran %d times and added %.0f ns to each %s: %.2f %% of a CPU", name, c.Runs, c.MeanNs,
		passed(c.At), 100*c.CPUShare)
}

// passed is what passes a tracepoint.
func passed(place string) string {
	for _, each := range []struct{ part, word string }{{"sched_switch", "switch"}, {"sys_enter", "system call"},
		{"sys_exit", "system call"}, {"page_fault", "page fault"}, {"sched_wak", "waking"}} {
		if strings.Contains(place, each.part) {
			return each.word
		}
	}
	return "run"
}

// PricePrograms measures for a while what the BPF programs of tracers take, and fills it in. The
// kernel keeps that account (bpf_stats_enabled) only as long as somebody asks, for it costs each
// run of each program some 20 ns; so it is off again behind this. It needs CAP_SYS_ADMIN and Linux
// 5.8, and says why it could not.
func PricePrograms(tracers []Tracer, lasts time.Duration) error {
	programs := map[ebpf.ProgramID]*ebpf.Program{}
	defer func() {
		for _, program := range programs {
			_ = program.Close() // it is only read
		}
	}()
	for _, tracer := range tracers {
		for _, held := range tracer.programs {
			if programs[held.id] != nil {
				continue
			}
			if program, err := ebpf.NewProgramFromID(held.id); err == nil {
				programs[held.id] = program
			}
		}
	}
	if len(programs) == 0 {
		return nil
	}
	stats, err := ebpf.EnableStats(unix.BPF_STATS_RUN_TIME)
	if err != nil {
		return fmt.Errorf("measure what BPF programs cost: %w", err)
	}
	defer func() { _ = stats.Close() }()
	before := runsOf(programs)
	began := time.Now()
	time.Sleep(lasts)
	after, took := runsOf(programs), time.Since(began)
	for i := range tracers {
		for _, held := range tracers[i].programs {
			if programs[held.id] != nil {
				cost := costBetween(before[held.id], after[held.id], took)
				cost.At = held.place
				tracers[i].Costs = append(tracers[i].Costs, cost)
			}
		}
	}
	return nil
}

// runs of a program up to a moment.
type runs struct {
	name  string
	count uint64
	took  time.Duration
}

func runsOf(programs map[ebpf.ProgramID]*ebpf.Program) map[ebpf.ProgramID]runs {
	seen := map[ebpf.ProgramID]runs{}
	for id, program := range programs {
		information, err := program.Info()
		if err != nil {
			continue
		}
		stats, err := program.Stats()
		if err != nil {
			continue
		}
		seen[id] = runs{clean(information.Name, 64), stats.RunCount, stats.Runtime}
	}
	return seen
}

func costBetween(before, after runs, lasted time.Duration) ProgramCost {
	cost := ProgramCost{Name: after.name, Runs: after.count - before.count}
	if took := after.took - before.took; cost.Runs > 0 && lasted > 0 {
		cost.MeanNs = float64(took) / float64(cost.Runs)
		cost.CPUShare = float64(took) / float64(lasted)
	}
	return cost
}
