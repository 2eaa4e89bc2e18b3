package host

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// ProgramCost is what a BPF program that watches others took in a while, measured by the kernel's own account of it.
// Its mean is what it adds to each of the events that it is attached to: a switch, a system call, a fault.
type ProgramCost struct {
	Name     string  `json:"name"` // as its owner called it, up to 15 characters
	Runs     uint64  `json:"runs"`
	MeanNs   float64 `json:"mean_ns"`
	CPUShare float64 `json:"cpu_share"` // of one CPU
}

// String says it in words.
func (c ProgramCost) String() string {
	if c.Runs == 0 {
		return fmt.Sprintf("program %s did not run", c.Name)
	}
	return fmt.Sprintf("program %s ran %d times and added %.0f ns to each: %.2f %% of a CPU", c.Name, c.Runs, c.MeanNs,
		100*c.CPUShare)
}

// PricePrograms measures for a while what the BPF programs of tracers take, and fills it in. The kernel keeps that
// account (bpf_stats_enabled) only as long as somebody asks, for it costs each run of each program some 20 ns; so it is
// off again behind this. It needs CAP_SYS_ADMIN and Linux 5.8, and says why it could not.
func PricePrograms(tracers []Tracer, lasts time.Duration) error {
	programs := map[ebpf.ProgramID]*ebpf.Program{}
	defer func() {
		for _, program := range programs {
			_ = program.Close() // it is only read
		}
	}()
	for _, tracer := range tracers {
		for _, id := range tracer.programs {
			if program, err := ebpf.NewProgramFromID(id); err == nil && programs[id] == nil {
				programs[id] = program
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
		for _, id := range tracers[i].programs {
			if program := programs[id]; program != nil {
				tracers[i].Costs = append(tracers[i].Costs, costBetween(before[id], after[id], took))
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
