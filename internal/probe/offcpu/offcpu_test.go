package offcpu

import (
	"os"
	"slices"
	"testing"

	"github.com/cilium/ebpf"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// The programs also load as they are on a kernel that does not pass the state at a switch.
func TestLoadsWithoutSwitchState(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("loading BPF programs needs root")
	}
	spec, err := loadOffcpu()
	if err != nil {
		t.Fatal(err)
	}
	if err := bpf.Set(spec, map[string]any{"switch_shows_state": uint32(0), "unwind": uint32(1)}); err != nil {
		t.Fatal(err)
	}
	collection, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatal(err)
	}
	collection.Close()
}

// Without a free debug register the unwinder is behind the event of context switches.
func TestUnwindsWithoutBreakpoints(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("loading BPF programs needs root")
	}
	spec, err := loadOffcpu()
	if err != nil {
		t.Fatal(err)
	}
	collection, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer collection.Close()
	s := &Session{collection: collection}
	program := collection.Programs["unwind_switch"]
	var taken []*bpf.PerfEvents
	defer func() {
		for _, events := range taken {
			events.Close()
		}
	}()
	for range 16 { // more than any processor has
		events, err := s.openTrigger(program)
		if err != nil {
			break
		}
		taken = append(taken, events)
	}
	if err := collection.Variables["by_breakpoint"].Set(uint32(0)); err != nil {
		t.Fatal(err)
	}
	if err := s.openUnwinding(program); err != nil {
		t.Fatal(err)
	}
	defer s.events.Close()
	var by uint32
	if err := collection.Variables["by_breakpoint"].Get(&by); err != nil || by != 0 {
		t.Errorf("with %d breakpoints taken there is another (%v)", len(taken), err)
	}
	if err := s.events.Enable(); err != nil {
		t.Error(err)
	}
}

// Who ended a wait is told by the kernel stack that woke it.
func TestWakerKind(t *testing.T) {
	named := func(names ...string) (frames []*recording.Frame) {
		for _, name := range names {
			frames = append(frames, &recording.Frame{Name: name, Kind: recording.KindKernel})
		}
		return frames
	}
	asleep := offcpuWaitEvent{State: 1, WakerTid: 7, BlockedNs: 1000}
	by := func(change func(*offcpuWaitEvent)) offcpuWaitEvent {
		event := asleep
		change(&event)
		return event
	}
	for _, c := range []struct {
		name  string
		event offcpuWaitEvent
		waker []*recording.Frame
		want  string
	}{
		{"another thread", asleep, named("entry_SYSCALL_64_after_hwframe", "do_futex", "futex_wake"),
			recording.WakerThread},
		{"a timer", asleep, named("asm_sysvec_apic_timer_interrupt", "__hrtimer_run_queues", "hrtimer_wakeup"),
			recording.WakerTimer},
		{"a device", asleep, named("asm_common_interrupt", "handle_irq_event", "blk_mq_complete_request"),
			recording.WakerInterrupt},
		{"idle CPU", by(func(e *offcpuWaitEvent) { e.WakerTid = 0 }), nil, recording.WakerInterrupt},
		{"loopback: the sender runs the softirq", asleep,
			named("entry_SYSCALL_64_after_hwframe", "tcp_sendmsg", "__local_bh_enable_ip", "do_softirq", "sock_def_readable"),
			recording.WakerThread},
		{"kernel thread", by(func(e *offcpuWaitEvent) { e.WakerKernel = 1 }), named("kthread", "worker_thread"),
			recording.WakerKernel},
		{"preempted", by(func(e *offcpuWaitEvent) { e.State, e.WakerTid, e.BlockedNs = 0, 0, 0 }), nil,
			recording.WakerNone},
		{"woken before the switch was seen", by(func(e *offcpuWaitEvent) { e.WakerTid, e.BlockedNs = 0, 0 }), nil,
			recording.WakerNone},
		{"still asleep", by(func(e *offcpuWaitEvent) { e.Still, e.WakerTid = 1, 0 }), nil, recording.WakerPending},
		{"woken, still waiting for a CPU", by(func(e *offcpuWaitEvent) { e.Still, e.RunqueueNs = 1, 5 }),
			named("do_futex", "futex_wake"), recording.WakerThread},
	} {
		if got := wakerKind(&c.event, c.waker); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestStateName(t *testing.T) {
	for state, want := range map[uint32]string{0: "R", 1: "S", 2: "D", 0x402: "D", 0x102: "D", 4: "T", 8: "T", 0x80: "X"} {
		if got := stateName(state); got != want {
			t.Errorf("state %#x: %s, want %s", state, got, want)
		}
	}
}

// Stays that began within the window are kept, and end with it: first the time on the run queue is
// cut, then the rest.
func TestWithin(t *testing.T) {
	events := []offcpuWaitEvent{
		{Start: 90, BlockedNs: 50},                  // of the window before
		{Start: 100, BlockedNs: 30, RunqueueNs: 20}, // over before the end
		{Start: 150, BlockedNs: 30, RunqueueNs: 40},
		{Start: 150, BlockedNs: 80, RunqueueNs: 40},
		{Start: 200, BlockedNs: 10}, // after it
	}
	var got [][3]uint64
	for _, event := range within(events, &bpf.Window{StartNs: 100, EndNs: 200}) {
		got = append(got, [3]uint64{event.Start, event.BlockedNs, event.RunqueueNs})
	}
	if want := [][3]uint64{{100, 30, 20}, {150, 30, 20}, {150, 50, 0}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
