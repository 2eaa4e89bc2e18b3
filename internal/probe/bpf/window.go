package bpf

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"culprit/internal/probe/unwind"
	"culprit/recording"
)

// Window is what the probes fill when a stretch of recording has ended.
type Window struct {
	Recording *recording.Recording
	Builder   *recording.Builder
	StartNs   int64 // CLOCK_MONOTONIC, the clock of all probes
	EndNs     int64
	SliceNs   int64
	Unwinder  *unwind.Unwinder    // nil: no user stacks
	Traces    []unwind.Trace      // all stacks taken in the window
	Kernel    func(uint64) string // name of a kernel address, "" when unknown
	Comm      map[int32]string    // names of processes seen in the window
	Opened    []OpenedFile        // files of code that the target opened, each once

	kernel map[uint64]*recording.Frame // by address; nil: the recorder's own
	ids    map[*recording.Frame]int32  // the builder's
	stack  []int32                     // scratch
}

// OpenedFile is a file of code that the target opened.
type OpenedFile struct {
	Path   string // below the root of the mount namespace
	Mounts uint32 // number of the mount namespace that the path is of
}

// Since gives a time of the window's clock as nanoseconds since its start.
func (w *Window) Since(ktimeNs uint64) int64 { return int64(ktimeNs) - w.StartNs }

// Slice rounds a time since the window's start down to its slice.
func (w *Window) Slice(sinceNs int64) int64 {
	if w.SliceNs <= 0 || sinceNs < 0 {
		return max(sinceNs, 0)
	}
	return sinceNs / w.SliceNs * w.SliceNs
}

// Lose counts events that were dropped at a named place.
func (w *Window) Lose(what string, count int64) {
	if count <= 0 {
		return
	}
	for i := range w.Recording.Manifest.Losses {
		if w.Recording.Manifest.Losses[i].What == what {
			w.Recording.Manifest.Losses[i].Count += count
			return
		}
	}
	w.Recording.Manifest.Losses = append(w.Recording.Manifest.Losses, recording.Loss{What: what, Count: count})
}

// KernelFrames names kernel addresses, given leaf first, root first.
func (w *Window) KernelFrames(addresses []uint64) []*recording.Frame {
	frames := make([]*recording.Frame, 0, len(addresses))
	for _, address := range slices.Backward(addresses) {
		if frame := w.kernelFrame(address); frame != nil {
			frames = append(frames, frame)
		}
	}
	return frames
}

// kernelFrame names a kernel address; nil for none, and for the recorder's own programs.
func (w *Window) kernelFrame(address uint64) *recording.Frame {
	if address == 0 {
		return nil
	}
	if known, ok := w.kernel[address]; ok {
		return known
	}
	name := ""
	if w.Kernel != nil {
		name = w.Kernel(address)
	}
	if name == "" {
		name = "[kernel]"
	}
	var frame *recording.Frame
	if !strings.HasPrefix(name, "bpf_prog_") && !strings.HasPrefix(name, "bpf_trace_run") &&
		!strings.HasPrefix(name, "__bpf_trace") {
		frame = &recording.Frame{Name: name, Kind: recording.KindKernel}
	}
	if w.kernel == nil {
		w.kernel = map[uint64]*recording.Frame{}
	}
	w.kernel[address] = frame
	return frame
}

// Stack interns a stack of user and kernel frames, which are not to change after it; NoStack when
// both are empty.
func (w *Window) Stack(user, kernel []*recording.Frame) int32 {
	w.stack = w.stack[:0]
	for _, frames := range [][]*recording.Frame{user, kernel} {
		for _, frame := range frames {
			w.stack = append(w.stack, w.frameID(frame))
		}
	}
	return w.Builder.Stack(w.stack)
}

// frameID asks the builder for each frame once: it hashes the strings.
func (w *Window) frameID(frame *recording.Frame) int32 {
	if id, ok := w.ids[frame]; ok {
		return id
	}
	if w.ids == nil {
		w.ids = map[*recording.Frame]int32{}
	}
	id := w.Builder.Frame(*frame)
	w.ids[frame] = id
	return id
}

// Now reads the clock of the probes.
func Now() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return time.Now().UnixNano() // cannot fail for this clock
	}
	return now.Nano()
}

// TakeLosses adds the counters of a probe's losses map to the window and clears
// them. names are by slot.
func (w *Window) TakeLosses(losses *ebpf.Map, names ...string) error {
	for slot, name := range names {
		var perCPU []uint64
		if err := losses.Lookup(uint32(slot), &perCPU); err != nil {
			return fmt.Errorf("read losses: %w", err)
		}
		var total int64
		for _, count := range perCPU {
			total += int64(count)
		}
		w.Lose(name, total)
		if err := losses.Update(uint32(slot), make([]uint64, len(perCPU)), ebpf.UpdateAny); err != nil {
			return fmt.Errorf("clear losses: %w", err)
		}
	}
	return nil
}

// Text gives a C string of a fixed-size field, cleaned.
func Text(field []int8) string {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(field))), len(field))
	text := string(bytes)
	if end := strings.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	return Clean(text)
}

// Clean replaces control characters and broken UTF-8 of a name by "?": names of
// processes and files are whatever their owner chose.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return '?'
		}
		return r
	}, text)
}
