package cause

import (
	"testing"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/internal/compare/blame"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// loopSituations have an event loop that waits for segments.
func loopSituations() []situation {
	const inLoop = "_start;main;serve;loop;libc.so.6!epoll_pwait;k:__x64_sys_epoll_pwait;do_epoll_wait"
	const onTick = "k:asm_sysvec_apic_timer_interrupt;__irq_exit_rcu;handle_softirqs;net_rx_action;process_backlog;" +
		"tcp_v4_rcv;tcp_data_queue;sock_def_readable"
	polls := func(waits int, length float64, calls int64, ended string) plan {
		p := held(wait{count: waits, ms: length, call: "epoll_pwait", waker: recording.WakerInterrupt, ended: ended,
			stack: inLoop})
		p.calls = map[string][2]int64{"epoll_pwait": {calls, 0}}
		return p
	}
	return []situation{
		{name: "what Nagle kept back for a loop that served others meanwhile", metric: "wall",
			a: polls(100, 0.2, 800, arrival), b: polls(20, 22, 2000, onTick),
			cause: "net.delayed", place: "loop;epoll_pwait", low: 0.9, high: 1, level: Explains},
		{name: "an event loop that waits as often, and longer", metric: "wall",
			a: polls(100, 0.5, 800, arrival), b: polls(120, 4, 2000, arrival),
			cause: "downstream.slow", place: "loop", low: 0.9, high: 1, level: Explains},
		{name: "an event loop that waits more often, and as long", metric: "wall",
			a: polls(20, 0.5, 100, arrival), b: polls(600, 0.6, 2000, arrival),
			cause: "syscall.chatty", place: "loop;epoll_pwait", low: 0.9, high: 1, level: Explains},
	}
}

// A variable that the command sets and the process was seen with is one difference.
func TestChangedOnce(t *testing.T) {
	s := &scene{commandA: "tree 5", commandB: "target=1 GOGC=10 tree 5",
		changes: []compare.FactChange{{Name: "target.environment.GOGC", B: "10"}}}
	if got := s.changed("target.environment.GOGC"); len(got) != 1 {
		t.Errorf("%d differences, want one: %v", len(got), got)
	}
}

// Node connects on the stack of the name's answer: that was looked up, but what connects is the
// socket.
func TestOpenerIsNotTheLookup(t *testing.T) {
	native, node := recording.KindNative, recording.KindNode
	s := &scene{growth: 1, traits: []trait{{call: "connect", place: -1}},
		paths: []compare.Path{{Kind: compare.Running, A: []float64{0}, B: []float64{1}, Frames: []recording.Frame{
			{Name: "uv_run", Kind: native}, {Name: "MakeLibuvRequestCallback<uv_getaddrinfo_s>::Wrapper", Kind: native},
			{Name: "internalConnect", Kind: node, File: "node:net"}, {Name: "node::TCPWrap::Connect", Kind: native}}}}}
	c := &claim{cause: NetReconnect, members: []int{0}}
	s.tree = blame.New(s.paths, code.Own)
	s.locateOpener(c)
	if len(c.where()) == 0 || c.where()[0] != "internalConnect;connect" {
		t.Errorf("where is %q, want internalConnect first", c.where())
	}
}

// Where some runs lose a segment and others do not, the mean may have less than one: those that did
// are to be the slow ones.
func TestLostInSlowRuns(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, b    []float64
		seconds []float64
		want    bool
	}{
		{"the slow ones", []float64{0, 0}, []float64{0, 1, 1, 0, 1, 0}, []float64{0.19, 1.25, 1.2, 0.18, 2.2, 0.2}, true},
		{"one in each", []float64{0, 0}, []float64{1, 1}, []float64{1.2, 1.2}, true},
		{"one slow run", []float64{0, 0}, []float64{0, 1, 0, 0}, []float64{0.19, 1.25, 0.2, 0.2}, false},
		{"a quick run has one as well", []float64{0, 0}, []float64{0, 1, 1, 1, 0, 0, 0},
			[]float64{0.19, 1.25, 1.2, 0.18, 0.2, 0.2, 0.2}, false},
		{"a slow run has none", []float64{0, 0}, []float64{0, 1, 1, 0, 0}, []float64{1.3, 1.25, 1.2, 0.18, 0.2}, false},
		{"the other side has some, too", []float64{0, 1}, []float64{0, 1, 1, 0, 0}, []float64{0.19, 1.25, 1.2, 0.18, 0.2},
			false},
		{"none", []float64{0, 0}, []float64{0, 0}, []float64{1, 2}, false},
	} {
		s := &scene{metricB: c.seconds, counts: []compare.Count{{Name: counts.ListenDrops, A: c.a, B: c.b},
			{Name: counts.ListenDrops, Key: "server", A: []float64{9}, B: c.b}}}
		if got := s.lost(counts.ListenDrops); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
