package syscalls

import (
	"maps"
	"runtime"
	"slices"
	"testing"

	"culprit/recording"
)

func TestNames(t *testing.T) {
	numbered := map[string]map[int32]string{
		"amd64": {0: "read", 230: "clock_nanosleep", compat | 7: "waitpid"},
		"arm64": {63: "read", 115: "clock_nanosleep", 56: "openat", 79: "newfstatat", compat | 3: "read"},
	}[runtime.GOARCH]
	maps.Copy(numbered, map[int32]string{-1: "", 449: "futex_waitv", 511: "syscall_511", compat | 1: "exit",
		compat | 407: "clock_nanosleep_time64", compat | 500: "syscall32_500"})
	for number, want := range numbered {
		if got := Name(number); got != want {
			t.Errorf("call %#x: %q, want %q", number, got, want)
		}
	}
	for number, want := range map[int32]string{2: "ENOENT", 11: "EAGAIN", 512: "ERESTARTSYS", 999: "errno 999"} {
		if got := errnoName(number); got != want {
			t.Errorf("error %d: %q, want %q", number, got, want)
		}
	}
}

// Calls that were not timed take the distribution of the quick ones that were, and every call is in
// a bucket.
func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		name          string
		count, quick  int64
		timed, want   []int64
		total, wanted int64
	}{
		{"all timed", 4, 300, []int64{0, 3, 1}, []int64{0, 3, 1}, 300, 300},
		{"two in three untimed", 12, 400, []int64{0, 3, 1}, []int64{0, 9, 3}, 400, 1200},
		{"they do not divide", 10, 300, []int64{1, 1, 1}, []int64{3, 4, 3}, 300, 1000},
		{"nothing quick was timed", 10, 0, []int64{0, 0, 0}, []int64{0, 0, 0}, 0, 0},
	} {
		counts := counted{count: c.count, quickNs: c.quick, totalNs: c.total}
		buckets := slices.Clone(c.timed)
		counts.estimate(buckets)
		if !slices.Equal(buckets, c.want) || counts.totalNs != c.wanted {
			t.Errorf("%s: %v, %d ns; want %v, %d ns", c.name, buckets, counts.totalNs, c.want, c.wanted)
		}
	}
	slow := counted{count: 101, quickNs: 1000, totalNs: 1000 + 5_000_000}
	buckets := make([]int64, 23)
	buckets[7], buckets[22] = 10, 1 // ten quick ones, and one that slept
	slow.estimate(buckets)
	if buckets[7] != 100 || buckets[22] != 1 || slow.totalNs != 10_000+5_000_000 {
		t.Errorf("with a slow one: %v, %+v", buckets, slow)
	}
}

// A row has the buckets of all CPUs, none behind the last that counts, however many rows there are.
func TestCountsOfCPUs(t *testing.T) {
	rows := counts{places: map[row]int32{}}
	part := func(bucket int, count uint32) *syscallsCallTotal {
		total := &syscallsCallTotal{Count: uint64(count), Bytes: 3}
		total.Buckets[bucket] = count
		return total
	}
	const many = 3 * pieceRows
	for tid := range uint32(many) {
		rows.add(row{1, tid, 2}, part(9, 5))
		rows.add(row{1, tid, 2}, part(int(7+tid%30), 2))
		rows.add(row{1, tid, 2}, part(8, 1))
	}
	for tid := range uint32(many) {
		of := rows.of(row{1, tid, 2})
		want := make([]int64, max(10, 8+tid%30))
		want[9] += 5
		want[7+tid%30] += 2
		want[8]++
		if got := rows.bucketsOf(of); !slices.Equal(got, want) || of.count != 8 || of.bytes != 9 {
			t.Fatalf("thread %d: %+v with %v, want %v", tid, of, got, want)
		}
	}
}

// pathNames makes what the kernel tells of a path: the file first.
func pathNames(filesystem string, given, cut uint32, parts ...string) *syscallsPathNames {
	path := &syscallsPathNames{Given: given, Cut: cut}
	copy(path.Fstype[:], chars(filesystem))
	for i, part := range parts {
		copy(path.Names[i][:], chars(part))
	}
	return path
}

func chars(text string) []int8 {
	var list []int8
	for _, b := range []byte(text) {
		list = append(list, int8(b))
	}
	return list
}

func TestObjects(t *testing.T) {
	const fileKind, socketKind, pipeKind = recording.ObjectFile, recording.ObjectSocket, recording.ObjectPipe
	const otherKind, pollKind = recording.ObjectOther, recording.ObjectPoll
	const file, socket, pipe, device = 0o100644, 0o140777, 0o010600, 0o020666
	tcp := func(own, peer uint16, state uint16) syscallsSlowEvent {
		event := syscallsSlowEvent{Mode: socket}
		event.Socket.Family, event.Socket.Protocol, event.Socket.State = inetFamily, 6, state
		event.Socket.OwnPort, event.Socket.PeerPort = own, peer<<8|peer>>8
		copy(event.Socket.Peer[:], []byte{10, 0, 0, 1})
		return event
	}
	dialling := func(event syscallsSlowEvent, dials uint32) syscallsSlowEvent {
		event.Socket.Dials = dials
		return event
	}
	unix := func(dials uint32, state uint16) syscallsSlowEvent {
		event := syscallsSlowEvent{Mode: socket}
		event.Socket.Family, event.Socket.Dials, event.Socket.State = unixFamily, dials, state
		return event
	}
	six := tcp(40000, 443, 1)
	six.Socket.Family, six.Socket.Peer = inet6Family, [16]uint8{0x20, 1, 0xd, 0xb8, 15: 7}
	other := syscallsSlowEvent{Mode: socket}
	other.Socket.Family = 16
	bound := pathNames("sockfs", 1, 0, "/run/x")
	for _, c := range []struct {
		event        syscallsSlowEvent
		call         string
		path         *syscallsPathNames
		kind, object string
	}{
		{syscallsSlowEvent{Mode: file}, "fsync", pathNames("ext4", 0, 0, "data", "", "lib", "var"), fileKind,
			"/var/lib/data"},
		{syscallsSlowEvent{Mode: file}, "write", pathNames("ext4", 0, 1, "f", "b", "a"), fileKind, "…/a/b/f"},
		{syscallsSlowEvent{Mode: file}, "write", pathNames("ext4", 0, 0, "a\nb\x1b"), fileKind, "/a?b?"},
		{syscallsSlowEvent{Mode: file}, "write", nil, fileKind, ""},
		{syscallsSlowEvent{}, "unlink", pathNames("", 1, 0, "some/file"), fileKind, "some/file"},
		{syscallsSlowEvent{Mode: pipe}, "read", pathNames("pipefs", 0, 0), pipeKind, ""},
		{syscallsSlowEvent{Mode: pipe}, "read", pathNames("ext4", 0, 0, "fifo", "tmp"), pipeKind, "/tmp/fifo"},
		{syscallsSlowEvent{Mode: device}, "read", pathNames("devtmpfs", 0, 0, "tty", "dev"), otherKind, "/dev/tty"},
		{syscallsSlowEvent{Mode: 0o600}, "read", pathNames("anon_inodefs", 0, 0, "[eventfd]"), otherKind, "[eventfd]"},
		{syscallsSlowEvent{Args: [4]uint64{0x7f00}}, "futex", nil, recording.ObjectLock, "0x7f00"},
		{syscallsSlowEvent{Mode: 0o600}, "epoll_wait", pathNames("anon_inodefs", 0, 0, "[eventpoll]"), pollKind, ""},
		{syscallsSlowEvent{}, "clock_nanosleep", nil, recording.ObjectTimer, ""},
		{syscallsSlowEvent{}, "wait4", nil, recording.ObjectProcess, ""},
		{syscallsSlowEvent{}, "membarrier", nil, otherKind, ""},
		{tcp(40000, 443, 1), "recvfrom", nil, socketKind, "tcp 10.0.0.1:443"},
		{tcp(443, 40000, 1), "recvfrom", nil, socketKind, "tcp from 10.0.0.1:40000"},
		{dialling(tcp(40000, 50000, 1), dialled), "recvfrom", nil, socketKind, "tcp 10.0.0.1:50000"},
		{dialling(tcp(50000, 40000, 1), taken), "recvfrom", nil, socketKind, "tcp from 10.0.0.1:40000"},
		{tcp(443, 0, tcpListen), "accept4", nil, socketKind, "tcp port 443"},
		{six, "recvfrom", nil, socketKind, "tcp [2001:db8::7]:443"},
		{unix(1, 1), "connect", bound, socketKind, "unix /run/x"},
		{unix(0, 1), "read", bound, socketKind, "unix from /run/x"},
		{unix(0, tcpListen), "accept", bound, socketKind, "unix port /run/x"},
		{unix(0, 1), "read", nil, socketKind, "unix"},
		{other, "recvmsg", nil, socketKind, "netlink"},
	} {
		if kind, object := objectOf(&c.event, c.call, c.path); kind != c.kind || object != c.object {
			t.Errorf("%s: %s %q, want %s %q", c.call, kind, object, c.kind, c.object)
		}
	}
}
