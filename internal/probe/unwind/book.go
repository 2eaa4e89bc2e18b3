package unwind

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/host"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/lpm"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
	"go.opentelemetry.io/ebpf-profiler/processmanager/execinfomanager"
	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/times"
)

// Most processes of a busy host live for milliseconds and run the same few programs and libraries.
// To look at each of them was half of what recording such a host took, and came too late for many.
// So code that was seen in two processes is told to the kernel by its file: a process that is all
// of such code is entered into the library's table where it maps it, by culprit's own programs
// (bpf/book.h), and is never announced. The library does not know it then: while a stack of it is
// named it is lent the mappings of all such code, for a file's frames are named by the file alone.
// Code of run times is left out: the library reads each process that has it.

const (
	maxKnownCode = 4096 // mappings of files: 8 MB of the kernel's at most, most hosts run some hundreds
	maxBooked    = 4096 // processes at a time
	maxSeenCode  = 8192 // that wait to be seen again
	mostRanges   = 16   // of a process, as in book.h
	unusedFor    = time.Minute
)

// As in book.h.
type (
	codeKey   struct{ Inode, Offset, Device uint64 }
	knownCode struct {
		Seconds, Nanoseconds uint64
		File                 uint64
		Start                uint64
		Used                 uint64
	}
	codeRange struct{ Start, End uint64 }
	booked    struct {
		Since  uint64
		Count  uint64
		Ranges [mostRanges]codeRange
	}
)

// book is what the kernel may enter by itself.
type book struct {
	// turn is held while the library looks at a process, and while one is lent mappings that are
	// not its own.
	turn    sync.Mutex
	manager *processmanager.ProcessManager
	mutex   *sync.RWMutex // the manager's
	infos   reflect.Value // of processes, the manager's
	lent    reflect.Value // what a booked process is lent
	files   *execinfomanager.ExecutableInfoManager
	queue   *ebpf.Map
	table   *ebpf.Map // the library's: code by process and address
	codes   *ebpf.Map // known to the kernel
	booked  *ebpf.Map // by the kernel
	known   map[codeKey]processmanager.Mapping
	named   atomic.Pointer[map[host.FileID]bool] // files of known; replaced, never changed
	seen    map[codeKey]seenCode
	swept   time.Time
}

// seenCode is code that was seen once; never: it is of a run time.
type seenCode struct {
	modified int64
	pid      libpf.PID
	never    bool
}

func newBook(manager *processmanager.ProcessManager, maps map[string]*ebpf.Map) (*book, error) {
	b := &book{manager: manager, queue: maps["pid_events"], table: maps["pid_page_to_mapping_info"],
		known: map[codeKey]processmanager.Mapping{}, seen: map[codeKey]seenCode{}, swept: time.Now()}
	var err error
	if b.mutex, err = fieldAt[sync.RWMutex](manager, "mu"); err != nil {
		return nil, err
	}
	if b.files, err = fieldOf[*execinfomanager.ExecutableInfoManager](manager, "eim"); err != nil {
		return nil, err
	}
	if err := b.findInfos(); err != nil {
		return nil, err
	}
	b.codes, err = ebpf.NewMap(&ebpf.MapSpec{Name: "known_code", Type: ebpf.Hash, MaxEntries: maxKnownCode,
		KeySize: uint32(unsafe.Sizeof(codeKey{})), ValueSize: uint32(unsafe.Sizeof(knownCode{}))})
	if err != nil {
		return nil, fmt.Errorf("make the table of known code: %w", err)
	}
	b.booked, err = ebpf.NewMap(&ebpf.MapSpec{Name: "booked_code", Type: ebpf.Hash, MaxEntries: maxBooked, KeySize: 4,
		ValueSize: uint32(unsafe.Sizeof(booked{}))})
	if err != nil {
		b.codes.Close()
		return nil, fmt.Errorf("make the table of booked processes: %w", err)
	}
	return b, nil
}

// findInfos finds what the library keeps of each process, and makes one of the kind that booked
// processes are lent.
func (b *book) findInfos() error {
	infos := reflect.ValueOf(b.manager).Elem().FieldByName("pidToProcessInfo")
	if !infos.IsValid() || infos.Kind() != reflect.Map || infos.Type().Key() != reflect.TypeFor[libpf.PID]() ||
		infos.Type().Elem().Kind() != reflect.Pointer {
		return errors.New("the unwinder library has no field pidToProcessInfo")
	}
	b.infos = reflect.NewAt(infos.Type(), unsafe.Pointer(infos.UnsafeAddr())).Elem()
	b.lent = reflect.New(infos.Type().Elem().Elem())
	if _, err := mappingsIn(b.lent); err != nil {
		return err
	}
	return nil
}

// mappingsIn points to the mappings in what the library keeps of a process.
func mappingsIn(info reflect.Value) (*[]processmanager.Mapping, error) {
	found, ok := pointerTo[[]processmanager.Mapping](fieldOfValue(info, "mappings"))
	if !ok {
		return nil, errors.New("the unwinder library has no mappings of processes")
	}
	return found, nil
}

// mappingsOf are those that the library knows of a process.
func (b *book) mappingsOf(pid libpf.PID) []processmanager.Mapping {
	b.mutex.RLock()
	defer b.mutex.RUnlock()
	info := b.infos.MapIndex(reflect.ValueOf(pid))
	if !info.IsValid() || info.IsNil() {
		return nil
	}
	found, err := mappingsIn(info)
	if err != nil {
		return nil
	}
	return *found
}

// has tells whether a process was booked after the queue was asked for. It was announced by what it
// ran before, as a shell's child is that has a stack before its exec, and needs no look.
func (b *book) has(pid libpf.PID, asked times.KTime) bool {
	var had booked
	return b != nil && b.booked.Lookup(uint32(pid), &had) == nil && times.KTime(had.Since) > asked
}

// look has the library look at a process, which is no longer booked then: it enters and takes away
// the same itself.
func (b *book) look(pid libpf.PID, files *heldFiles, library func()) {
	b.turn.Lock()
	defer b.turn.Unlock()
	var had booked
	clear(files.asked)
	was := b.booked.Lookup(uint32(pid), &had) == nil && b.booked.Delete(uint32(pid)) == nil
	library()
	mappings := b.mappingsOf(pid)
	if was && len(mappings) == 0 { // it has ended meanwhile
		b.leave(pid, &had)
	}
	b.learn(pid, mappings, files)
}

// leave takes out of the library's table what the kernel had entered for a process.
func (b *book) leave(pid libpf.PID, had *booked) {
	keys := []support.PIDPage{pidPage(pid, 0, 64)}
	for _, one := range had.Ranges[:min(had.Count, mostRanges)] {
		prefixes, err := lpm.CalculatePrefixList(one.Start, one.End)
		if err != nil {
			continue // it was not entered
		}
		for _, prefix := range prefixes {
			keys = append(keys, pidPage(pid, prefix.Key, prefix.Length))
		}
	}
	for i := range keys {
		_ = b.table.Delete(&keys[i]) // it may be gone
	}
}

// cleanup has the library forget processes that are gone.
func (b *book) cleanup() {
	b.turn.Lock()
	defer b.turn.Unlock()
	b.manager.CleanupPIDs()
}

// handOver ends what was booked: between two windows nobody sees a process call exec or end. Those
// that live are announced to the library. Code that no process had for a while is forgotten.
func (b *book) handOver() {
	b.turn.Lock()
	defer b.turn.Unlock()
	var pid uint32
	var had booked
	all, needed := map[uint32]booked{}, map[uint64]bool{}
	for entries := b.booked.Iterate(); entries.Next(&pid, &had); {
		all[pid] = had
	}
	for pid, had := range all {
		if alive(libpf.PID(pid)) && b.queue.Update(uint64(pid)<<32|uint64(pid), true, ebpf.UpdateAny) == nil {
			b.filesOf(libpf.PID(pid), &had, needed)
			continue // its entries hold until it is looked at
		}
		_ = b.booked.Delete(pid) // it is there
		b.leave(libpf.PID(pid), &had)
	}
	if now := time.Now(); now.Sub(b.swept) >= unusedFor {
		b.swept = now
		b.sweep(needed)
	}
}

// filesOf adds the files of a booked process.
func (b *book) filesOf(pid libpf.PID, had *booked, files map[uint64]bool) {
	for _, one := range had.Ranges[:min(had.Count, mostRanges)] {
		key := pidPage(pid, one.Start, 64)
		var place support.PIDPageMappingInfo
		if b.table.Lookup(&key, &place) == nil {
			files[place.File_id] = true
		}
	}
}

func (b *book) close() {
	b.codes.Close()
	b.booked.Close()
}
