package bpf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// maxWalkBytes bounds what a walk over all threads of the host may show: a million threads.
const maxWalkBytes = 256 << 20

// Walk runs an iter/task program over all threads of the host and returns the
// structs that it wrote.
func Walk[T any](collection *ebpf.Collection, name string) ([]T, error) {
	return walk[T](name, link.IterOptions{Program: collection.Programs[name]})
}

// WalkMap runs a program over the elements of a map and returns the structs that it wrote.
func WalkMap[T any](collection *ebpf.Collection, name string, over *ebpf.Map) ([]T, error) {
	return walk[T](name, link.IterOptions{Program: collection.Programs[name], Map: over})
}

func walk[T any](name string, options link.IterOptions) ([]T, error) {
	attached, err := link.AttachIter(options)
	if err != nil {
		return nil, fmt.Errorf("attach %s: %w", name, explain(err))
	}
	defer attached.Close()
	reader, err := attached.Open()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	defer reader.Close()
	// Not io.ReadAll: its growing steps cut the kernel's buffer into many small reads.
	var all bytes.Buffer
	if _, err := io.CopyBuffer(&all, io.LimitReader(reader, maxWalkBytes), make([]byte, 64<<10)); err != nil {
		return nil, fmt.Errorf("walk threads with %s: %w", name, err)
	}
	return decodeAll[T](all.Bytes())
}

func decodeAll[T any](raw []byte) ([]T, error) {
	var one T
	size := int(unsafe.Sizeof(one))
	if size == 0 || len(raw)%size != 0 {
		return nil, errors.New("walk threads: the kernel wrote half an event")
	}
	events := make([]T, 0, len(raw)/size)
	for ; len(raw) > 0; raw = raw[size:] {
		event, _ := Decode[T](raw)
		events = append(events, event)
	}
	return events, nil
}

// Decode copies a struct that a BPF program of this host wrote; false when it is too short.
func Decode[T any](raw []byte) (event T, ok bool) {
	size := int(unsafe.Sizeof(event))
	if len(raw) < size {
		return event, false
	}
	// bpf2go lays T out as the compiler laid out the C struct, padding spelled out.
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&event)), size), raw)
	return event, true
}

// Misses counts how often programs did not run because they interrupted themselves.
type Misses struct {
	before map[string]uint64
}

// Take adds the misses since the last call to the window.
func (m *Misses) Take(window *Window, probe string, collection *ebpf.Collection) {
	if m.before == nil {
		m.before = map[string]uint64{}
	}
	for name, program := range collection.Programs {
		stats, err := program.Stats()
		if err != nil {
			continue // a kernel before 5.12 does not count them
		}
		window.Lose(fmt.Sprintf("%s: %s could not run", probe, name), int64(stats.RecursionMisses-m.before[name]))
		m.before[name] = stats.RecursionMisses
	}
}
