// Package syscalls counts the target's system calls per process and call: how
// often, how many failed, how many bytes, how long by powers of two. Everything
// is added up in the kernel; nothing per call reaches user space.
package syscalls

import (
	"cmp"
	"fmt"
	"sort"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

//go:generate ../bpf/generate.sh syscalls -type call_key -type call_total
//go:generate ./names.sh

// Session is the loaded probe.
type Session struct {
	misses     bpf.Misses
	collection *ebpf.Collection
	links      []link.Link
}

// Start loads the probe.
func Start(shared *bpf.Shared) (*Session, error) {
	spec, err := loadSyscalls()
	if err != nil {
		return nil, fmt.Errorf("read program of syscalls: %w", err)
	}
	replace, err := shared.Announce(spec)
	if err != nil {
		return nil, err
	}
	collection, err := shared.Load(spec, replace)
	if err != nil {
		return nil, fmt.Errorf("load syscalls: %w", err)
	}
	return &Session{collection: collection}, nil
}

// Name of the probe.
func (s *Session) Name() string { return "syscalls" }

// Attach begins to count.
func (s *Session) Attach() error {
	links, err := bpf.AttachTracing(s.collection, "call_entered", "call_left")
	s.links = links
	return err
}

// Detach ends the counting.
func (s *Session) Detach() {
	bpf.CloseLinks(s.links)
	s.links = nil
}

// Collect moves the counts into the window's table of system calls and clears them.
func (s *Session) Collect(window *bpf.Window) error {
	rows := map[syscallsCallKey]*recording.Syscall{}
	err := bpf.Drain(s.collection.Maps["calls"], func(key syscallsCallKey, total *syscallsCallTotal) {
		key.Cpu = 0
		if rows[key] == nil {
			rows[key] = &recording.Syscall{Pid: int32(key.Tgid), Comm: window.Comm[int32(key.Tgid)],
				Name: Name(key.Call), Buckets: make([]int64, len(total.Buckets))}
		}
		add(rows[key], total)
	})
	if err != nil {
		return fmt.Errorf("read calls: %w", err)
	}
	table := window.Recording.Syscalls
	for _, row := range rows {
		table = append(table, *row)
	}
	sort.Slice(table, func(i, j int) bool {
		a, b := &table[i], &table[j]
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.Name, b.Name)) < 0
	})
	window.Recording.Syscalls = table
	s.misses.Take(window, "syscalls", s.collection)
	return window.TakeLosses(s.collection.Maps["losses"], "syscalls: calls of processes that did not fit")
}

// add adds what one CPU counted.
func add(row *recording.Syscall, part *syscallsCallTotal) {
	row.Errors += int64(part.Errors)
	row.TotalNs += int64(part.TotalNs)
	if transfers[row.Name] { // else the result is a descriptor, an address or a count of something else
		row.Bytes += int64(part.Bytes)
	}
	for i, count := range part.Buckets {
		row.Buckets[i] += int64(count)
		row.Count += int64(count)
	}
}

// transfers are the calls whose result is a number of bytes.
var transfers = map[string]bool{
	"read": true, "write": true, "pread64": true, "pwrite64": true, "readv": true, "writev": true,
	"preadv": true, "pwritev": true, "preadv2": true, "pwritev2": true, "sendto": true, "recvfrom": true,
	"sendmsg": true, "recvmsg": true, "sendfile": true, "splice": true, "tee": true, "vmsplice": true,
	"copy_file_range": true, "getrandom": true, "getdents": true, "getdents64": true, "readlink": true,
	"readlinkat": true, "process_vm_readv": true, "process_vm_writev": true,
}

// Name of a system call by its number; "" outside of any call.
func Name(call int32) string {
	if call < 0 {
		return ""
	}
	if name, ok := names[call]; ok {
		return name
	}
	return fmt.Sprintf("syscall_%d", call)
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	s.collection.Close()
	return nil
}
