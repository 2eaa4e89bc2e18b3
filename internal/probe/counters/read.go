package counters

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"culprit/internal/probe/bpf"
)

// The places where something can be lost: as in reading.h.
var lossNames = []string{"rows that did not fit", "readings that failed", "threads that could not be followed",
	"switches that were not seen"}

// onCPU is BPF_F_TEST_RUN_ON_CPU.
const onCPU = 1

// Begin starts to count. With Options.Some nobody is counted before Follow.
func (m *Meter) Begin() error {
	if err := m.attach(); err != nil {
		return err
	}
	return m.book()
}

// attach attaches the programs, which count nothing before the first booking.
func (m *Meter) attach() error {
	if err := m.keepRests(); err != nil {
		return err
	}
	names := []string{"switched"}
	if m.options.Some && m.options.Shared == nil { // else the recorder follows children
		names = append(names, "forked")
	}
	links, err := bpf.AttachTracing(m.collection, names...)
	m.links = links
	return err
}

// book has each CPU book what it counted up to now, and looks at what it counted in all.
func (m *Meter) book() (err error) {
	if err := m.control(commandRead); err != nil {
		return err
	}
	if m.counted, err = m.events.Read(); err != nil {
		return err
	}
	return m.countSwitches()
}

// keepRests makes the rows that take what does not fit.
func (m *Meter) keepRests() error {
	for _, cpu := range m.events.CPUs {
		key := countersKey{Id: Rest, Cpu: uint32(cpu)}
		if err := m.collection.Maps["rows"].Update(key, countersRow{}, ebpf.UpdateAny); err != nil {
			return fmt.Errorf("make a row for what does not fit: %w", err)
		}
	}
	return nil
}

// control has each CPU book what it counted up to now.
func (m *Meter) control(command uint32) error {
	if err := m.collection.Variables["command"].Set(command); err != nil {
		return fmt.Errorf("tell the programs of counters what to do: %w", err)
	}
	for _, cpu := range m.events.CPUs {
		options := &ebpf.RunOptions{CPU: uint32(cpu), Flags: onCPU}
		if _, err := m.collection.Programs["control"].Run(options); err != nil {
			if errors.Is(err, unix.ENXIO) {
				continue // it went offline: its counts stand still
			}
			return fmt.Errorf("read counters on CPU %d: %w", cpu, err)
		}
	}
	return nil
}

// Follow counts a process with all of its threads, and what they start from now on.
func (m *Meter) Follow(pid int) error {
	threads, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	if err != nil {
		return fmt.Errorf("no process %d; `ps` lists those that run", pid)
	}
	for _, thread := range threads {
		tid, err := strconv.Atoi(thread.Name())
		if err != nil {
			continue
		}
		if err := m.followThread(tid); err != nil && !errors.Is(err, unix.ESRCH) { // it has ended meanwhile
			return fmt.Errorf("follow thread %d: %w", tid, err)
		}
	}
	return nil
}

// pidfdThread is PIDFD_THREAD, since Linux 6.9; before, only first threads have descriptors.
const pidfdThread = unix.O_EXCL

func (m *Meter) followThread(tid int) error {
	descriptor, err := unix.PidfdOpen(tid, pidfdThread)
	if errors.Is(err, unix.EINVAL) {
		descriptor, err = unix.PidfdOpen(tid, 0)
	}
	if err != nil {
		return err
	}
	defer unix.Close(descriptor)
	return m.collection.Maps["tasks"].Update(uint32(descriptor), uint8(1), ebpf.UpdateAny)
}

// Read books what runs right now and returns what was counted since Begin. The rows belong to the
// meter and change with the next Read.
func (m *Meter) Read() (map[Key]*Row, error) {
	if m.links == nil {
		return nil, errNotBegun
	}
	if err := m.book(); err != nil {
		return nil, err
	}
	return m.rows, m.sum()
}

// readBatch is how many rows are read with one system call.
const readBatch = 256

// sum adds up the rows of the CPUs.
func (m *Meter) sum() error {
	for _, row := range m.rows {
		row.RanNs = 0
		clear(row.Counts)
	}
	keys, values := make([]countersKey, readBatch), make([]countersRow, readBatch)
	var cursor ebpf.MapBatchCursor
	for {
		n, err := m.collection.Maps["rows"].BatchLookup(&cursor, keys, values, nil)
		for i := range n {
			m.add(keys[i], &values[i])
		}
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read rows of counters: %w", err)
		}
	}
}

func (m *Meter) add(key countersKey, from *countersRow) {
	who := Key{key.Id, key.Born}
	row := m.rows[who]
	if row == nil {
		if who.ID == Rest && from.RanNs == 0 {
			return
		}
		row = &Row{Pid: int32(from.Tgid), Counts: make([]Count, len(m.options.Events))}
		m.rows[who] = row
	}
	if from.NamedNs >= row.namedNs {
		row.Comm, row.namedNs = bpf.Text(from.Comm[:]), from.NamedNs
	}
	row.RanNs += int64(from.RanNs)
	for i := range row.Counts {
		count := &row.Counts[i]
		count.Value += from.Values[i]
		if m.options.Events[i].Multiplexed() {
			count.Enabled += from.Times[i].Enabled
			count.Running += from.Times[i].Running
		} else {
			count.Enabled, count.Running = uint64(row.RanNs), uint64(row.RanNs)
		}
	}
}

// CPUs gives what each CPU had counted since the opening when the rows were last read.
func (m *Meter) CPUs() map[int][]Count { return m.counted }

// Forget frees the rows of who is gone for good.
func (m *Meter) Forget(who Key) error {
	delete(m.rows, who)
	for _, cpu := range m.events.CPUs {
		key := countersKey{Id: who.ID, Born: who.Born, Cpu: uint32(cpu)}
		if err := m.collection.Maps["rows"].Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return fmt.Errorf("forget a row of counters: %w", err)
		}
	}
	return nil
}

// Lost says what could not be kept, by place.
func (m *Meter) Lost() (map[string]int64, error) {
	lost := map[string]int64{}
	for slot, name := range lossNames {
		var perCPU []uint64
		if err := m.collection.Maps["losses"].Lookup(uint32(slot), &perCPU); err != nil {
			return nil, fmt.Errorf("read losses of counters: %w", err)
		}
		for _, count := range perCPU {
			lost[name] += int64(count)
		}
	}
	return lost, nil
}
