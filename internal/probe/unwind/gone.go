package unwind

import (
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
	pmebpf "go.opentelemetry.io/ebpf-profiler/processmanager/ebpfapi"
)

// For each process of a run time the library keeps what it has read of it: 500 kB for one of Perl.
// It hears of ends by a program of its own, which is not attached here, or finds the dead once a
// minute. On a host that starts two Perl programs a second that was half of the recorder's heap,
// which ended its parts after ten seconds each. So that much of the dead is let go of soon. What
// else it knows of them stays until then: the unwind rules of a program that is run again and again
// would be read again and again.

// buryEvery is how often the dead are looked for. Stacks are fetched more often: none of a process
// that was dead the last time is still to be named.
const buryEvery = time.Second

// graves finds processes of run times that are gone.
type graves struct {
	*codeHeaps
	kernel pmebpf.EbpfHandler
	dead   map[libpf.PID]bool // the last time
	looked time.Time
}

func newGraves(manager *processmanager.ProcessManager, heaps *codeHeaps) (*graves, error) {
	kernel, err := fieldOf[pmebpf.EbpfHandler](manager, "ebpf")
	return &graves{codeHeaps: heaps, kernel: kernel, dead: map[libpf.PID]bool{}}, err
}

// bury lets go of what was read of processes that are gone, and were the last time.
func (g *graves) bury(now time.Time, alive func(libpf.PID) bool) {
	if now.Sub(g.looked) < buryEvery {
		return
	}
	g.looked = now
	dead := map[libpf.PID]bool{}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for pid, instances := range *g.known {
		if alive(pid) {
			continue
		}
		if !g.dead[pid] {
			dead[pid] = true
			continue
		}
		for _, instance := range instances {
			_ = instance.Detach(g.kernel, pid) // what of it is in the kernel's tables may be gone
		}
		delete(*g.known, pid)
	}
	g.dead = dead
}
