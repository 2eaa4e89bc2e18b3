package unwind

import (
	"github.com/cilium/ebpf"
	"go.opentelemetry.io/ebpf-profiler/host"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/processmanager"
)

// Which code the kernel may enter for a process by itself: what was seen in two processes and is of
// no run time.

// learn tells the kernel of code that was seen before in another process.
func (b *book) learn(pid libpf.PID, mappings []processmanager.Mapping, files *heldFiles) {
	for i := range mappings {
		mapping := &mappings[i]
		key, modified := b.keyOf(mapping, files)
		if _, known := b.known[key]; modified < 0 || known && b.seen[key].modified == modified {
			continue
		}
		before := b.seen[key]
		if before.never || before.pid == 0 || before.modified != modified || before.pid == pid {
			b.notice(key, modified, pid)
			continue
		}
		b.enter(key, modified, mapping)
	}
}

// notice remembers code to be seen again.
func (b *book) notice(key codeKey, modified int64, pid libpf.PID) {
	if before := b.seen[key]; before.never && before.modified == modified {
		return
	}
	b.forget(key)
	if len(b.seen) >= maxSeenCode {
		for other := range b.seen {
			if _, known := b.known[other]; !known {
				delete(b.seen, other)
			}
		}
	}
	b.seen[key] = seenCode{modified: modified, pid: pid}
}

// keyOf is how the kernel knows the code; negative: when the file was modified is not known.
func (b *book) keyOf(mapping *processmanager.Mapping, files *heldFiles) (key codeKey, modified int64) {
	if mapping.Inode == vdsoInode && mapping.Device == 0 {
		return codeKey{Inode: vdsoInode}, 0
	}
	frame := mapping.FrameMapping.Value()
	// The kernel's number of a device has 20 bits for the minor one, the library's list 8: what has
	// more is not found.
	key = codeKey{mapping.Inode, frame.FileOffset, mapping.Device>>8<<20 | mapping.Device&0xff}
	if modified, asked := files.asked[fileNumber{mapping.Device, mapping.Inode}]; asked {
		return key, modified
	}
	return key, -1
}

// enter makes code known to the kernel, and has the library keep its rules.
func (b *book) enter(key codeKey, modified int64, mapping *processmanager.Mapping) {
	if len(b.known) >= maxKnownCode {
		return
	}
	frame := mapping.FrameMapping.Value()
	file := host.FileIDFromLibpf(frame.File.Value().FileID)
	info, err := b.files.AddOrIncRef(file, nil) // it is there: the process has it
	if err != nil {
		return
	}
	if info.Data != nil || runTimeOf(frame.File.Value().FileName.String()) >= 0 {
		_ = b.files.DecRef(file) // it was just counted
		b.seen[key] = seenCode{modified: modified, never: true}
		return
	}
	code := knownCode{uint64(modified / 1e9), uint64(modified % 1e9), uint64(file), uint64(frame.Start), 1}
	if err := b.codes.Update(&key, &code, ebpf.UpdateAny); err != nil {
		_ = b.files.DecRef(file)
		return
	}
	b.known[key] = *mapping
	b.seen[key] = seenCode{modified: modified}
	b.lend()
}

// forget takes code out again.
func (b *book) forget(key codeKey) {
	mapping, known := b.known[key]
	if !known {
		return
	}
	_ = b.codes.Delete(&key) // it is there
	delete(b.known, key)
	delete(b.seen, key)
	_ = b.files.DecRef(host.FileIDFromLibpf(mapping.FrameMapping.Value().File.Value().FileID)) // it was counted
	b.lend()
}

// sweep forgets code that was not used since the last time and that no booked process has.
func (b *book) sweep(needed map[uint64]bool) {
	for key := range b.known {
		var code knownCode
		if b.codes.Lookup(&key, &code) == nil && (code.Used != 0 || needed[code.File]) {
			code.Used = 0
			_ = b.codes.Update(&key, &code, ebpf.UpdateExist) // it stays as it is
			continue
		}
		b.forget(key)
	}
}
