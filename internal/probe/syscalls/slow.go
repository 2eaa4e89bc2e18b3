package syscalls

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"culprit/internal/code"
	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// slowCalls turns what the kernel told of slow calls into rows, in order of time.
func slowCalls(events []syscallsSlowEvent, paths map[syscallsPathKey]*syscallsPathNames,
	window *bpf.Window) []recording.Slow {
	table := make([]recording.Slow, 0, len(events)) // nearly all are the window's
	for i := range events {
		event := &events[i]
		start, end := int64(event.Start), int64(event.Start+event.DurationNs)
		if start < window.StartNs || end > window.EndNs+int64(event.DurationNs)/2 {
			continue // a straggler of the window before
		}
		call := recording.Slow{
			TimeNs: window.Since(event.Start), DurationNs: int64(event.DurationNs), Pid: int32(event.Tgid),
			Tid: int32(event.Tid), Comm: bpf.Text(event.Comm[:]), Name: Name(event.Call), Result: event.Result,
			BlockedNs: int64(event.SleptNs), RunqueueNs: int64(event.QueuedNs), Waits: int32(event.Waits),
			LongestNs: int64(event.LongestNs), Stack: recording.NoStack, WakerStack: recording.NoStack,
			HopStack: recording.NoStack,
		}
		if at, ok := sizes[call.Name]; ok && event.Call&compat == 0 { // else the arguments are in other registers
			call.Size = max(int64(event.Args[at]), 0)
		}
		call.ObjectKind, call.Object = objectOf(event, call.Name, paths[event.Path])
		table = append(table, call)
	}
	slices.SortFunc(table, func(a, b recording.Slow) int { return int(min(max(a.TimeNs-b.TimeNs, -1), 1)) })
	if over := len(table) - recording.MaxSlow; over > 0 {
		window.Lose("syscalls: slow calls over the limit of a recording", int64(over))
		table = table[:recording.MaxSlow]
	}
	return table
}

func (s *Session) takePaths() (map[syscallsPathKey]*syscallsPathNames, error) {
	paths := map[syscallsPathKey]*syscallsPathNames{}
	err := bpf.Drain(s.collection.Maps["paths"], func(key syscallsPathKey, names *syscallsPathNames) {
		kept := *names
		paths[key] = &kept
	})
	if err != nil {
		return nil, fmt.Errorf("read names of files: %w", err)
	}
	return paths, nil
}

// byName are further calls whose name says what they wait for.
var byName = map[string]string{
	"nanosleep": recording.ObjectTimer, "clock_nanosleep": recording.ObjectTimer,
	"wait4": recording.ObjectProcess, "waitid": recording.ObjectProcess, "waitpid": recording.ObjectProcess,
	"vfork": recording.ObjectProcess, // until the child runs a program of its own
}

// objectOf says what a call was on.
func objectOf(event *syscallsSlowEvent, name string, names *syscallsPathNames) (kind, object string) {
	if strings.HasPrefix(name, "futex") && event.Call&compat == 0 {
		return recording.ObjectLock, fmt.Sprintf("%#x", event.Args[0])
	}
	if code.Polls(name) {
		return recording.ObjectPoll, ""
	}
	if kind := byName[name]; kind != "" {
		return kind, ""
	}
	text := pathOf(names)
	switch {
	case event.Mode == 0 && names == nil: // no descriptor and no path
		return recording.ObjectOther, ""
	case event.Mode == 0: // a path that was given
		return recording.ObjectFile, text
	case names != nil && bpf.Text(names.Fstype[:]) == anonymous: // its inodes are of any type
		return recording.ObjectOther, text
	}
	switch event.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		return recording.ObjectSocket, socketOf(event, names)
	case unix.S_IFIFO:
		return recording.ObjectPipe, text // "" without a name in a directory
	case unix.S_IFREG, unix.S_IFDIR, unix.S_IFBLK, unix.S_IFLNK:
		return recording.ObjectFile, text
	}
	return recording.ObjectOther, text
}

// anonymous is the file system of what has a descriptor and is no file: "[eventfd]", "[timerfd]".
const anonymous = "anon_inodefs"

// pathOf joins the names of a path, which the kernel tells from the file upwards. A path that was
// given up below the root, for its length, begins with "…"; one that the program gave as an
// argument is left as it gave it.
func pathOf(names *syscallsPathNames) string {
	if names == nil {
		return ""
	}
	if names.Given != 0 {
		const places = len(names.Names) * len(names.Names[0])
		return bpf.Text((*[places]int8)(unsafe.Pointer(&names.Names))[:])
	}
	var parts []string
	for i := range names.Names {
		if part := bpf.Text(names.Names[i][:]); part != "" {
			parts = append(parts, part)
		}
	}
	slices.Reverse(parts)
	joined := strings.Join(parts, "/")
	switch filesystem := bpf.Text(names.Fstype[:]); {
	case filesystem == "pipefs":
		return ""
	case filesystem == anonymous:
		return strings.TrimPrefix(joined, "/")
	case names.Cut != 0:
		return path.Join("…", joined)
	}
	return "/" + strings.TrimPrefix(joined, "/")
}

// Of include/net/tcp_states.h and the numbers of protocols.
const tcpListen = 10

var protocols = map[uint16]string{1: "icmp", 6: "tcp", 17: "udp", 58: "icmp6", 132: "sctp",
	136: "udplite", 262: "mptcp"}

var families = map[uint16]string{16: "netlink", 17: "packet", 40: "vsock", 38: "alg", 44: "xdp"}

// socketOf names a socket by its peer.
func socketOf(event *syscallsSlowEvent, names *syscallsPathNames) string {
	socket := &event.Socket
	var peer netip.Addr
	switch socket.Family {
	case unixFamily:
		return unixOf(socket.Dials == dialled, socket.State == tcpListen, pathOf(names))
	case inetFamily:
		peer = netip.AddrFrom4([4]byte(socket.Peer[:4]))
	case inet6Family:
		peer = netip.AddrFrom16(socket.Peer).Unmap()
	default:
		if name := families[socket.Family]; name != "" {
			return name
		}
		return fmt.Sprintf("family %d", socket.Family)
	}
	protocol := protocols[socket.Protocol]
	if protocol == "" {
		protocol = fmt.Sprintf("protocol %d", socket.Protocol)
	}
	port := socket.PeerPort<<8 | socket.PeerPort>>8 // it is in network order
	switch {
	case socket.State == tcpListen && protocol == "tcp", port == 0:
		return fmt.Sprintf("%s port %d", protocol, socket.OwnPort)
	case protocol == "tcp" && wasTaken(socket.Dials, socket.OwnPort, port):
		return fmt.Sprintf("%s from %s", protocol, netip.AddrPortFrom(peer, port))
	}
	return fmt.Sprintf("%s %s", protocol, netip.AddrPortFrom(peer, port))
}

// As in object.h.
const (
	dialled = 1
	taken   = 2
)

// wasTaken tells a TCP connection that somebody else made. Where the kernel's books do not tell,
// its ports do: who makes one has a port out of ip_local_port_range, above most of those that are
// listened on.
func wasTaken(dials uint32, own, peer uint16) bool {
	return dials == taken || dials != dialled && own != 0 && peer > own
}

const (
	unixFamily  = 1
	inetFamily  = 2
	inet6Family = 10
)

func unixOf(dials, listens bool, name string) string {
	switch {
	case name == "":
		return "unix" // a pair, or neither end has a name
	case listens:
		return "unix port " + name
	case dials:
		return "unix " + name
	}
	return "unix from " + name
}
