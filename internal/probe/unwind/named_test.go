package unwind

import (
	"testing"
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"
)

// nextWindow begins one, as Reset does.
func nextWindow(u *Unwinder) {
	stacks := u.stacks
	u.Release()
	u.mu.Lock()
	u.forgetModules()
	u.forgetStacks()
	u.names.forget(u.window)
	u.mu.Unlock()
	u.stacks = stacks // they come again
}

// A frame that comes again has its name without its file, which counts as seen all the same. One
// that has not come for some windows has not.
func TestNamesStay(t *testing.T) {
	u, traces := twoFiles(t, budget{bytes: 1 << 30, cpu: time.Hour, held: 1 << 30})
	nextWindow(u)
	u.Prepare(traces, false)
	before, _ := u.Frames(0)
	if len(before) != 2 || before[1].Name != "inner" || before[1].Line == 0 {
		t.Fatalf("frames %v", before)
	}
	for _, known := range u.tables { // as if all were read anew
		known.table, known.asked, known.lines, known.places = nil, true, nil, nil
	}
	nextWindow(u)
	again, _ := u.Frames(0)
	if len(again) != 2 || *again[1] != *before[1] {
		t.Errorf("frames %v", again)
	}
	if known := u.tables[libpf.NewFileID(1, 0)]; known.used != u.window {
		t.Errorf("the file was seen in window %d, this is %d", known.used, u.window)
	}
	for range keptUnused + 2 {
		nextWindow(u)
	}
	if len(u.names) != 0 {
		t.Errorf("%d frames are kept that came no more", len(u.names))
	}
}

// A name that went without its line to keep the cost down is looked for again.
func TestNamesOverTheBudgetDoNotStay(t *testing.T) {
	u, traces := twoFiles(t, budget{})
	nextWindow(u)
	u.Prepare(traces, false)
	without, _ := u.Frames(1)
	u.budget = budget{bytes: 1 << 30, cpu: time.Hour, held: 1 << 30}
	nextWindow(u)
	u.Prepare(traces, false)
	with, _ := u.Frames(1)
	if len(without) != 1 || without[0].Line != 0 || len(with) != 2 || with[1].Line == 0 {
		t.Errorf("over the budget %v, within it %v", without, with)
	}
}

// No more names are kept than there is room for.
func TestNamesAreBounded(t *testing.T) {
	u := &Unwinder{}
	for address := range libpf.AddressOrLineno(maxNamed + 10) {
		var frames libpf.Frames
		frames.Append(&libpf.Frame{Type: libpf.KernelFrame, AddressOrLineno: address, FunctionName: libpf.Intern("f")})
		u.named(frames[0])
	}
	if u.names.forget(u.window); len(u.names) != 0 {
		t.Errorf("%d names are kept", len(u.names))
	}
}
