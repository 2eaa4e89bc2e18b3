package watchpoint

import (
	"os"
	"reflect"
	"sync/atomic"
	"testing"
	"time"
)

// chase reads through a pointer until the end; what it reads is where it reads.
//
//go:noinline
func chase(at *node, stop *atomic.Bool) *node {
	for !stop.Load() {
		at = step(at)
	}
	return at
}

type node struct{ next *node }

//go:noinline
func step(at *node) *node { return at.next }

// A thread is caught right before an instruction, with what its registers hold then: the first
// argument of a function of Go is in RAX, or R0.
func TestCatch(t *testing.T) {
	here := &node{}
	here.next = here
	var shared line
	var stop atomic.Bool
	idle := busy(t, &shared.word[0], nil, &stop)
	tid := running(t, &stop, func() { chase(here, &stop) })
	watched(t, Thread{tid, []Word{wordOf(&shared.word[0])}}) // or it skips
	watcher, caught := New(time.Second), []Caught(nil)
	for range 50 { // on CPUs that others want, too, it may not run for milliseconds
		got, err := watcher.Catch(os.Getpid(), []int32{tid, idle}, uint64(reflect.ValueOf(step).Pointer()))
		if err != nil {
			t.Fatal(err)
		}
		if caught = append(caught, got...); len(caught) > 0 {
			break
		}
	}
	if len(caught) == 0 || len(caught) > catches {
		t.Fatalf("caught %d times", len(caught))
	}
	for _, one := range caught {
		if one.Tid != tid || one.Registers[0] != uint64(reflect.ValueOf(here).Pointer()) {
			t.Errorf("thread %d with %#x, want thread %d with %#x", one.Tid, one.Registers, tid, reflect.ValueOf(here).Pointer())
		}
	}
	if spent := watcher.spent[tid]; spent < watcher.hit || watcher.spent[idle] != 0 {
		t.Errorf("charged %v and %v", spent, watcher.spent[idle])
	}
}

// What registers held is told by their numbers in the instruction set.
func TestCaughtOf(t *testing.T) {
	values := make([]uint64, len(numbered))
	for i := range values {
		values[i] = uint64(100 + i)
	}
	got := caughtOf(7, values)
	seen := map[uint64]bool{}
	for _, value := range got.Registers {
		seen[value] = true
	}
	if got.Tid != 7 || len(seen) != len(numbered) || got.Registers[0] != 100 {
		t.Errorf("%+v", got)
	}
	if short := caughtOf(7, values[:1]); short.Registers[0] != 100 || short.Registers[1] != 0 {
		t.Errorf("of a short sample %+v", short)
	}
}
