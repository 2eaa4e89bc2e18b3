package unwind

import (
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/ebpf-profiler/interpreter"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
	"go.opentelemetry.io/ebpf-profiler/util"
)

// leaving counts how often it was let go of.
type leaving struct {
	interpreter.Instance
	times *int
}

func (l leaving) Detach(interpreter.EbpfHandler, libpf.PID) error {
	*l.times++
	return nil
}

// What was read of a process stays until it was dead at two looks: a stack of it may be in the ring
// at the first one. One whose number is in use again by then is another, or the same: it stays.
func TestBuryWhoIsGone(t *testing.T) {
	left, known := 0, instances{}
	for pid := libpf.PID(1); pid <= 3; pid++ {
		known[pid] = map[util.OnDiskFileIdentifier]interpreter.Instance{{}: leaving{times: &left}}
	}
	g := graves{codeHeaps: &codeHeaps{mutex: &sync.RWMutex{}, known: &known}, dead: map[libpf.PID]bool{}}
	now := time.Now()
	living := map[libpf.PID]bool{1: true}
	look := func(after time.Duration) {
		now = now.Add(after)
		g.bury(now, func(pid libpf.PID) bool { return living[pid] })
	}
	look(0)
	look(buryEvery / 2)
	if left != 0 || len(known) != 3 {
		t.Errorf("after one look %d were let go of, %d are left", left, len(known))
	}
	living[3] = true
	look(buryEvery)
	if left != 1 || known[1] == nil || known[2] != nil || known[3] == nil {
		t.Errorf("after the second %d were let go of, left are %v", left, known)
	}
	living[3] = false
	look(buryEvery)
	if left != 1 || known[3] == nil {
		t.Errorf("one that was alive the last time was let go of at once")
	}
}

// A new version of the library that keeps its processes otherwise is to be noticed.
func TestGravesOfTheLibrary(t *testing.T) {
	manager := &processmanager.ProcessManager{}
	heaps, err := findCodeHeaps(manager, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newGraves(manager, heaps); err != nil {
		t.Error(err)
	}
}
