package unwind

import (
	"reflect"
	"slices"

	"go.opentelemetry.io/ebpf-profiler/host"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
)

// What the library is lent to name the stacks of processes that it does not know.

// lend makes the list that booked processes are lent, in the library's order.
func (b *book) lend() {
	list, files := make([]processmanager.Mapping, 0, len(b.known)), map[host.FileID]bool{}
	for _, mapping := range b.known {
		list = append(list, mapping)
		files[host.FileIDFromLibpf(mapping.FrameMapping.Value().File.Value().FileID)] = true
	}
	b.named.Store(&files)
	slices.SortFunc(list, func(one, other processmanager.Mapping) int {
		first, second := one.FrameMapping.Value(), other.FrameMapping.Value()
		files := [2]host.FileID{host.FileIDFromLibpf(first.File.Value().FileID),
			host.FileIDFromLibpf(second.File.Value().FileID)}
		switch {
		case files[0] < files[1] || files[0] == files[1] && first.Start < second.Start:
			return -1
		case files == [2]host.FileID{files[1], files[0]} && first.Start == second.Start:
			return 0
		}
		return 1
	})
	mappings, err := mappingsIn(b.lent)
	if err != nil {
		return // it was there at the start
	}
	b.mutex.Lock()
	*mappings = list
	b.mutex.Unlock()
}

// naming has the library name a stack. Where all its code is known to the kernel the process is
// lent the mappings of such code: the library may not know it, or know what it ran before.
func (b *book) naming(pid libpf.PID, known bool, library func()) {
	b.turn.Lock()
	defer b.turn.Unlock()
	if !known {
		library()
		return
	}
	id := reflect.ValueOf(pid)
	b.mutex.Lock()
	own := b.infos.MapIndex(id) // not valid, which takes it out again, where there is none
	b.infos.SetMapIndex(id, b.lent)
	b.mutex.Unlock()
	defer func() {
		b.mutex.Lock()
		b.infos.SetMapIndex(id, own)
		b.mutex.Unlock()
	}()
	library()
}

// knows tells whether all native frames are in code that the kernel knows: the names of such a
// stack are the same in every process.
func (b *book) knows(frames libpf.EbpfFrame) bool {
	files := b.named.Load()
	if files == nil {
		return false
	}
	for len(frames) > 0 {
		length := int(frames.Length())
		if length == 0 || length > len(frames) {
			return false
		}
		if !frames.Flags().Error() &&
			(frames.Type().Interpreter() != libpf.Native || !(*files)[host.FileID(frames.Variable(0))]) {
			return false
		}
		frames = frames[length:]
	}
	return true
}
