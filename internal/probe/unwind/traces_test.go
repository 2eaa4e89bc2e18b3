package unwind

import (
	"testing"
	"unsafe"

	"go.opentelemetry.io/ebpf-profiler/support"
)

// recordOf is a record as it is in the ring: cut off behind its frames, in memory for the largest
// one.
func recordOf(frames []uint64, change func(*support.Trace)) []byte {
	raw := &support.Trace{Pid: 7, Tid: 8, Ktime: 9, Cpu_id: 1, Comm: [16]byte{'a', 'b'}}
	raw.Frame_data_len = uint16(copy(raw.Frame_data[:], frames))
	if change != nil {
		change(raw)
	}
	whole := unsafe.Slice((*byte)(unsafe.Pointer(raw)), unsafe.Sizeof(*raw))
	return whole[:int(unsafe.Offsetof(raw.Frame_data))+8*len(frames)]
}

// A stack that is known by its bytes and process is kept without asking the library, which is not
// there; a record that says more than it holds is no stack.
func TestHandleOfKnownAndBrokenRecords(t *testing.T) {
	frames := []uint64{1, 2, 3}
	good := recordOf(frames, nil)
	const header = unsafe.Offsetof(support.Trace{}.Frame_data)
	u := &Unwinder{byHash: map[uint64]int{hashOf(7, good[header:]): 5}}
	fresh := func() { t.Error("a known stack is told to be new") }
	if taken := u.handle(good, fresh); taken != 9 {
		t.Errorf("taken at %d, want 9", taken)
	}
	want := Trace{KtimeNs: 9, Pid: 7, Tid: 8, CPU: 1, Comm: "ab", Stack: 5}
	if len(u.traces) != 1 || u.traces[0] != want {
		t.Errorf("kept %+v, want %+v", u.traces, want)
	}
	for name, bad := range map[string][]byte{
		"empty":                  good[:0],
		"no header":              good[:header-1],
		"a frame less":           good[:len(good)-1],
		"frames without end":     recordOf(frames, func(raw *support.Trace) { raw.Frame_data_len = 1<<16 - 1 }),
		"more frames of kernels": recordOf(frames, func(raw *support.Trace) { raw.Num_kernel_frames = 4 }),
	} {
		if taken := u.handle(bad, fresh); taken != 0 || len(u.traces) != 1 {
			t.Errorf("%s: taken at %d, %d kept", name, taken, len(u.traces))
		}
	}
}
