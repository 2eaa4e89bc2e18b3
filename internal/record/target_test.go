package record

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A tree that stays the same is told of as it is now when it is looked at whole, and its filters at
// every look: here the process begins to filter itself between two looks.
func TestWatchTellsOfFiltersAtOnce(t *testing.T) {
	child := hold(t, "sleep", "60")
	w := &watch{used: newUsage()}
	defer w.used.close()
	for number := range len(watchAt) {
		w.look([]int{child.pid()}, number)
	}
	told := func(name string) string {
		for _, fact := range w.facts {
			if fact.Name == name {
				return fact.Value
			}
		}
		return ""
	}
	if told("target.tracer") != "none" || told("target.oom_score_adj") == "" {
		t.Fatalf("facts %v: want an untraced process", w.facts)
	}
	detach := trace(t, child.pid())
	w.look([]int{child.pid()}, wholeEvery+1)
	if got := told("target.tracer"); got == "none" {
		t.Error("a look does not tell that the process is traced by now")
	}
	detach()
	w.look([]int{child.pid()}, 2*wholeEvery)
	if got := told("target.tracer"); got != "none" {
		t.Errorf("a whole look tells of the tracer %s, which is gone", got)
	}
	before := len(w.facts)
	w.look([]int{1 << 28}, 2*wholeEvery+1) // it has ended
	if len(w.facts) != before {
		t.Errorf("%d facts are left of %d", len(w.facts), before)
	}
}

// trace has a thread of this process trace another process until detach.
func trace(t *testing.T, pid int) (detach func()) {
	t.Helper()
	stop, began, ended := make(chan struct{}), make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // only the thread that began to trace may end it
		defer runtime.UnlockOSThread()
		if err := unix.PtraceSeize(pid); err != nil {
			began <- err
			return
		}
		close(began)
		<-stop
		if err := unix.PtraceInterrupt(pid); err == nil {
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
		if err := unix.PtraceDetach(pid); err != nil {
			t.Error(err)
		}
	}()
	if err := <-began; err != nil {
		t.Fatalf("trace process %d: %v", pid, err)
	}
	return func() {
		close(stop)
		<-ended
	}
}
