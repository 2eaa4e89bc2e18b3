package cause

import (
	"testing"

	"culprit/internal/compare"
	"culprit/internal/compare/counts"
	"culprit/recording"
)

// Segments that a full accept queue drops are no fault of a link: told where what waits is a
// connection, in connect or in an event loop, and only where the drops explain what was sent again.
// The stacks of wakers were recorded on 2026-11-22, of a server and clients in C and in Python's
// asyncio.
func TestFullQueue(t *testing.T) {
	kernel := func(names ...string) (frames []recording.Frame) {
		for _, name := range names {
			frames = append(frames, recording.Frame{Name: name, Kind: recording.KindKernel})
		}
		return frames
	}
	softirq := func(names ...string) []recording.Frame {
		return kernel(append([]string{"handle_softirqs", "net_rx_action", "tcp_v4_rcv", "tcp_v4_do_rcv"}, names...)...)
	}
	wait := func(process, call string, waker []recording.Frame, names ...string) compare.Path {
		return compare.Path{Kind: compare.Blocked, Process: process, Syscall: call, WakerStack: waker,
			A: []float64{0}, B: []float64{2}, Frames: append([]recording.Frame{
				{Name: "visit", Kind: recording.KindNative}}, kernel(names...)...)}
	}
	opened := softirq("tcp_rcv_state_process", "sock_def_wakeup", "ep_poll_callback")
	accepted := softirq("tcp_child_process", "sock_def_readable", "ep_poll_callback")
	data := softirq("tcp_rcv_established", "tcp_data_queue", "sock_def_readable", "ep_poll_callback")
	blocking := wait("client", "connect", softirq("tcp_rcv_state_process", "sock_def_wakeup"), "inet_stream_connect")
	inLoop := wait("client", "epoll_wait", opened, "do_epoll_wait")
	inPoll := wait("client", "poll", opened, "do_sys_poll")
	server := wait("server", "epoll_wait", accepted, "do_epoll_wait")
	for _, c := range []struct {
		name         string
		path         compare.Path // on the way to the end
		drops, again sides
		first        string // "": not told
	}{
		{"connect waits and connections were dropped", blocking, sides{0, 4}, sides{0, 4}, "visit;connect"},
		{"an event loop waits for what it connects", inLoop, sides{0, 9}, sides{0, 12}, "visit;epoll_wait"},
		{"poll waits for it", inPoll, sides{0, 9}, sides{0, 12}, "visit;poll"},
		{"the server waits for who comes", server, sides{0, 9}, sides{0, 12}, "process server"},
		{"what was sent again was not counted", blocking, sides{0, 4}, sides{0, 0}, "visit;connect"},
		{"both sides drop as many", blocking, sides{4, 4}, sides{0, 4}, ""},
		{"far more is sent again than was dropped", inLoop, sides{0, 2}, sides{0, 40}, ""},
		{"somebody else's were dropped, data waits", wait("client", "recvfrom", data, "tcp_recvmsg"), sides{0, 4},
			sides{0, 4}, ""},
		{"the same in an event loop", wait("client", "epoll_wait", data, "do_epoll_wait"), sides{0, 4}, sides{0, 4}, ""},
	} {
		count := func(name string, of sides) compare.Count {
			return compare.Count{Name: name, A: []float64{of.a}, B: []float64{of.b}}
		}
		s := &scene{growth: 2, paths: []compare.Path{c.path}, waits: []compare.Wait{{Path: c.path}},
			counts: []compare.Count{count(counts.ListenDrops, c.drops),
				count(counts.Network+recording.NetRetransmit, c.again)}}
		claim := &claim{cause: NetLoss, members: []int{0}, places: []Place{{Kind: InPeer, Name: "127.0.0.1:80"}}}
		s.fullQueue(claim)
		told := claim.remedy == queueRemedy && claim.claim == queueClaim && len(claim.evidence) == 1
		if told != (c.first != "") || told && claim.where()[0] != c.first {
			t.Errorf("%s: told %v, where %q, want %q first", c.name, told, claim.where(), c.first)
		}
		if last := claim.where()[len(claim.places)-1]; last != "peer 127.0.0.1:80" {
			t.Errorf("%s: the peer is lost: %q", c.name, claim.where())
		}
	}
}
