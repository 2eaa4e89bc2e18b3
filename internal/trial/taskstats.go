package trial

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// exits listens to what the kernel tells about each task that ends (taskstats,
// Documentation/accounting): without a recorder it is the only account of how long every thread of
// a tree, however short-lived, waited for a CPU. It costs an ending task about a microsecond.
type exits struct {
	socket int
	family uint16
	buffer []byte
	seen   []exit
	lost   bool // some did not fit into the socket's buffer since begin
}

// exit is the account of one task.
type exit struct {
	tid, pid, ppid int
	run            time.Duration // on a CPU
	runqueue       time.Duration // runnable, waiting for one
	peakKB         int64         // resident set of its process
}

// The limits of listening.
const (
	exitsBufferBytes = 16 << 20 // of the socket: about 10,000 tasks between two drains
	maxExits         = 1 << 20  // kept of one run
)

// brokenVersion of struct taskstats moved fields that programs read (Linux 6.14 and 6.15; put right
// by version 16).
const brokenVersion = 15

// listenExits registers for the exits on all CPUs, or says why the kernel does not allow it.
func listenExits(root string) (*exits, error) {
	cpus, err := os.ReadFile(filepath.Join(root, "sys/devices/system/cpu/possible"))
	if err != nil {
		return nil, fmt.Errorf("read CPU list: %w", err)
	}
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_GENERIC)
	if err != nil {
		return nil, fmt.Errorf("open taskstats: %w", err)
	}
	e := &exits{socket: socket, buffer: make([]byte, 64<<10)}
	if err := e.register(strings.TrimSpace(string(cpus))); err != nil {
		unix.Close(socket)
		return nil, err
	}
	return e, nil
}

func (e *exits) register(cpus string) error {
	if err := unix.Bind(e.socket, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("open taskstats: %w", err)
	}
	limit := unix.Timeval{Sec: 2}
	if err := unix.SetsockoptTimeval(e.socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return fmt.Errorf("open taskstats: %w", err)
	}
	// Refused without CAP_NET_ADMIN, and then so is registering.
	if err := unix.SetsockoptInt(e.socket, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, exitsBufferBytes); err != nil {
		return fmt.Errorf("listen to taskstats: %w", err)
	}
	name := attribute(unix.CTRL_ATTR_FAMILY_NAME, append([]byte(unix.TASKSTATS_GENL_NAME), 0))
	answer, err := e.ask(unix.GENL_ID_CTRL, unix.CTRL_CMD_GETFAMILY, 0, name)
	if err != nil {
		return fmt.Errorf("find taskstats in the kernel: %w", err)
	}
	for kind, value := range attributes(answer) {
		if kind == unix.CTRL_ATTR_FAMILY_ID && len(value) >= 2 {
			e.family = binary.NativeEndian.Uint16(value)
		}
	}
	self := binary.NativeEndian.AppendUint32(nil, uint32(os.Getpid()))
	answer, err = e.ask(e.family, unix.TASKSTATS_CMD_GET, 0, attribute(unix.TASKSTATS_CMD_ATTR_PID, self))
	if err != nil {
		return fmt.Errorf("read taskstats: %w", err)
	}
	if one, good := parseExit(answer); !good || one.tid != os.Getpid() {
		return errors.New("read taskstats: this kernel's layout is not known")
	}
	mask := attribute(unix.TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, append([]byte(cpus), 0))
	if _, err := e.ask(e.family, unix.TASKSTATS_CMD_GET, unix.NLM_F_ACK, mask); err != nil {
		return fmt.Errorf("listen to taskstats: %w", err)
	}
	return nil
}

// ask sends a request and returns the payload of its answer; nil for a bare acknowledgement.
func (e *exits) ask(family uint16, command byte, flags uint16, body []byte) ([]byte, error) {
	message := make([]byte, unix.SizeofNlMsghdr+genericHeaderBytes, 256)
	message = append(message, body...)
	binary.NativeEndian.PutUint32(message[0:], uint32(len(message)))
	binary.NativeEndian.PutUint16(message[4:], family)
	binary.NativeEndian.PutUint16(message[6:], unix.NLM_F_REQUEST|flags)
	message[16], message[17] = command, 1
	if err := unix.Sendto(e.socket, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	for {
		n, _, err := unix.Recvfrom(e.socket, e.buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for kind, payload := range messages(e.buffer[:n]) {
			switch {
			case kind == unix.NLMSG_ERROR && len(payload) >= 4:
				if code := int32(binary.NativeEndian.Uint32(payload)); code != 0 {
					return nil, unix.Errno(-code)
				}
				return nil, nil
			case kind == family && len(payload) >= genericHeaderBytes && flags&unix.NLM_F_ACK == 0:
				return slices.Clone(payload[genericHeaderBytes:]), nil
			}
		}
	}
}

// begin forgets what ended before a run.
func (e *exits) begin() {
	if e == nil {
		return
	}
	e.drain()
	e.seen, e.lost = e.seen[:0], false
}

// drain takes what has arrived. It is called now and then, not for each exit, so that culprit
// sleeps meanwhile.
func (e *exits) drain() {
	if e == nil {
		return
	}
	for {
		n, _, err := unix.Recvfrom(e.socket, e.buffer, unix.MSG_DONTWAIT)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOBUFS):
			e.lost = true
			continue
		case err != nil:
			return
		}
		for kind, payload := range messages(e.buffer[:n]) {
			if kind != e.family || len(payload) < genericHeaderBytes {
				continue
			}
			one, good := parseExit(payload[genericHeaderBytes:])
			if !good || len(e.seen) >= maxExits {
				e.lost = true
				continue
			}
			e.seen = append(e.seen, one)
		}
	}
}

// tree returns the exits that belong to the tree of a run: an ended process is below culprit itself
// or below another that ended later in the run, because culprit is the subreaper and nothing
// outlives a run.
func (e *exits) tree(self int, others map[int]bool) (found []exit, complete bool) {
	if e == nil {
		return nil, false
	}
	e.drain()
	parents := make(map[int]int, len(e.seen))
	for _, one := range e.seen {
		parents[one.pid] = one.ppid
	}
	belongs := map[int]bool{}
	for _, one := range e.seen {
		pid := one.pid
		for range len(parents) + 1 {
			parent, ended := parents[pid]
			if others[pid] || !ended {
				break
			}
			if parent == self || belongs[parent] {
				belongs[one.pid] = true
				break
			}
			pid = parent
		}
		if belongs[one.pid] {
			found = append(found, one)
		}
	}
	return found, !e.lost
}

func (e *exits) close() {
	if e != nil {
		unix.Close(e.socket)
	}
}

// parseExit reads one message about a task; the one about a whole thread group that may follow is
// not needed.
func parseExit(payload []byte) (exit, bool) {
	var stats []byte
	for kind, value := range attributes(payload) {
		if kind != unix.TASKSTATS_TYPE_AGGR_PID {
			continue
		}
		for inner, text := range attributes(value) {
			if inner == unix.TASKSTATS_TYPE_STATS {
				stats = text
			}
		}
	}
	var layout unix.Taskstats
	if len(stats) < int(unsafe.Offsetof(layout.Hiwater_vm)) {
		return exit{}, false
	}
	version := binary.NativeEndian.Uint16(stats)
	if version == brokenVersion {
		return exit{}, false
	}
	long := func(offset uintptr) uint64 { return binary.NativeEndian.Uint64(stats[offset:]) }
	word := func(offset uintptr) int { return int(binary.NativeEndian.Uint32(stats[offset:])) }
	one := exit{
		tid:      word(unsafe.Offsetof(layout.Ac_pid)),
		ppid:     word(unsafe.Offsetof(layout.Ac_ppid)),
		run:      time.Duration(long(unsafe.Offsetof(layout.Cpu_run_virtual_total))),
		runqueue: time.Duration(long(unsafe.Offsetof(layout.Cpu_delay_total))),
		peakKB:   int64(long(unsafe.Offsetof(layout.Hiwater_rss))),
	}
	one.pid = one.tid
	// Older kernels (before version 12) do not say which process a thread belongs to; its parent is
	// the same.
	if at := unsafe.Offsetof(layout.Ac_tgid); version >= 12 && len(stats) >= int(at)+4 {
		one.pid = word(at)
	}
	return one, true
}
