// Package block adds up what was asked of block devices: per device, operation
// and submitter how many requests, how many bytes, how long they waited in the
// queue and how long the device took, by powers of two.
//
// A request is its submitter's, which for written-back data is a kernel thread. What a cgroup's
// limit holds back has not become a request yet: how long it was held is told apart, for whoever
// asked for it (throttle.go). Devices without requests (zram, md, dm) show through those below
// them.
package block

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

//go:generate ../bpf/generate.sh block -type total_key -type total -type flight -type let_go

// buckets are those of a latency.
const buckets = len(blockTotal{}.Buckets)

// Session is the loaded probe.
type Session struct {
	misses     bpf.Misses
	collection *ebpf.Collection
	links      []link.Link
	letGo      *bpf.Ring[blockLetGo]
	failed     error // the window could not be ended
}

// Start loads the probe.
func Start(shared *bpf.Shared) (*Session, error) {
	spec, err := loadBlock()
	if err != nil {
		return nil, fmt.Errorf("read program of block: %w", err)
	}
	collection, err := shared.Load(spec, nil)
	if err != nil {
		withoutThrottle(spec)
		collection, err = shared.Load(spec, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("load block: %w", err)
	}
	letGo, err := bpf.NewRing[blockLetGo](collection.Maps["lets_go"], maxLetGo, shared.Options.Pause())
	if err != nil {
		collection.Close()
		return nil, err
	}
	return &Session{collection: collection, letGo: letGo}, nil
}

// Name of the probe.
func (s *Session) Name() string { return "block" }

// Attach begins to add up.
func (s *Session) Attach() error {
	if err := bpf.NotBegun(s.collection); err != nil {
		return err
	}
	programs := []string{"request_completed", "request_merged", "request_inserted", "request_issued"}
	if s.collection.Programs[queuedProgram] != nil {
		programs = append(programs, queuedProgram)
	}
	links, err := bpf.AttachTracing(s.collection, programs...)
	s.links = links
	if err == nil {
		s.letGo.Start()
	}
	return err
}

// Begins lets it count.
func (s *Session) Begins() error { return bpf.Begins(s.collection) }

// Ends leaves what is under way for Collect.
func (s *Session) Ends() { s.failed = bpf.Ends(s.collection) }

// Detach ends the adding up.
func (s *Session) Detach() {
	bpf.CloseLinks(s.links)
	s.links = nil
	s.letGo.Stop()
}

// Collect moves the totals into the window's table of block devices. Requests
// that were not completed count with the time that they took so far.
func (s *Session) Collect(window *bpf.Window) error {
	if s.failed != nil {
		return s.failed
	}
	t := table{rows: map[rowKey]*recording.Block{}, names: map[uint32]string{}}
	if err := bpf.Drain(s.collection.Maps["totals"], t.add); err != nil {
		return fmt.Errorf("read totals: %w", err)
	}
	err := bpf.Drain(s.collection.Maps["flights"], func(_ uint64, flight *blockFlight) {
		if issued := int64(flight.Issued); issued >= window.StartNs && issued <= window.EndNs {
			t.addFlight(flight, uint64(window.EndNs-issued))
		}
	})
	if err != nil {
		return fmt.Errorf("read requests: %w", err)
	}
	if err := bpf.Drain(s.collection.Maps["depths"], func(uint32, *uint32) {}); err != nil {
		return fmt.Errorf("clear depths: %w", err)
	}
	if err := s.collectThrottle(window, &t); err != nil {
		return err
	}
	window.Recording.Block = append(window.Recording.Block, t.sorted()...)
	s.misses.Take(window, "block", s.collection)
	return window.TakeLosses(s.collection.Maps["losses"], "block: requests that did not fit",
		"block: totals that did not fit", "block: devices whose depth was not kept",
		"block: waits at a limit that did not fit")
}

// Close unloads the probe.
func (s *Session) Close() error {
	s.Detach()
	err := s.letGo.Close()
	s.collection.Close()
	return err
}

// rowKey tells the rows apart.
type rowKey struct {
	device, operation, pid uint32
	heldBy                 string // of what a cgroup's limit held back and no process is known for
}

// table are the rows in the making.
type table struct {
	rows  map[rowKey]*recording.Block
	names map[uint32]string // of devices
}

// row finds the row of a key, or makes it.
func (t *table) row(key rowKey, comm string) *recording.Block {
	row := t.rows[key]
	if row == nil {
		row = &recording.Block{Device: t.name(key.device), Operation: operation(key.operation), Pid: int32(key.pid),
			Comm: comm, Buckets: make([]int64, buckets)}
		t.rows[key] = row
	}
	return row
}

// add adds what one CPU counted.
func (t *table) add(key blockTotalKey, part *blockTotal) {
	row := t.row(rowKey{device: key.Device, operation: key.Operation, pid: key.Tgid}, bpf.Text(part.Comm[:]))
	row.Target = row.Target || part.Target != 0
	row.Bytes += int64(part.Bytes)
	row.TotalNs += int64(part.TotalNs)
	row.MaxNs = max(row.MaxNs, int64(part.MaxNs))
	row.QueueNs += int64(part.QueueNs)
	row.MaxDepth = max(row.MaxDepth, int32(part.MaxDepth))
	for i, count := range part.Buckets {
		row.Buckets[i] += int64(count)
		row.Count += int64(count)
	}
}

// addFlight adds a request that is still under way.
func (t *table) addFlight(flight *blockFlight, tookNs uint64) {
	part := blockTotal{Bytes: uint64(flight.Bytes), TotalNs: tookNs, MaxNs: tookNs, Target: flight.Target,
		MaxDepth: flight.Depth, Comm: flight.Comm}
	if flight.Inserted != 0 {
		part.QueueNs = flight.Issued - flight.Inserted
	}
	part.Buckets[bpf.Bucket(tookNs, len(part.Buckets))] = 1
	t.add(blockTotalKey{Device: flight.Device, Operation: flight.Operation, Tgid: flight.Tgid}, &part)
}

func (t *table) sorted() []recording.Block {
	var rows []recording.Block
	for _, row := range t.rows {
		rows = append(rows, *row)
	}
	slices.SortFunc(rows, func(a, b recording.Block) int {
		return cmp.Or(cmp.Compare(b.TotalNs+b.ThrottledNs, a.TotalNs+a.ThrottledNs), cmp.Compare(a.Device, b.Device),
			cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Pid, b.Pid))
	})
	return rows
}

// name gives a device's name by its number, once.
func (t *table) name(device uint32) string {
	if name, known := t.names[device]; known {
		return name
	}
	number := fmt.Sprintf("%d:%d", device>>20, device&0xfffff)
	name := number
	if target, err := os.Readlink("/sys/dev/block/" + number); err == nil {
		name = filepath.Base(target)
	}
	t.names[device] = name
	return name
}

// operation names the operations of requests (enum req_op of include/linux/blk_types.h).
func operation(number uint32) string {
	switch number {
	case 0:
		return "read"
	case 1:
		return "write"
	case 2:
		return "flush"
	case 3:
		return "discard"
	}
	return "other"
}
