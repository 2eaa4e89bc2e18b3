package unwind

import (
	"hash/maphash"
	"slices"
	"unique"
	"unsafe"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/reporter/samples"
	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/times"
)

var seed = maphash.MakeSeed()

// handle keeps one trace, as it is in the ring, and gives its time. Equal raw stacks of one
// process, of known code (book.go) those of all processes, are named once; fresh is called when one
// was not known and more of its kind can be named only while the process lives.
func (u *Unwinder) handle(record []byte, fresh func()) times.KTime {
	const header = unsafe.Offsetof(support.Trace{}.Frame_data)
	if len(record) < int(header) {
		return 0
	}
	raw := (*support.Trace)(unsafe.Pointer(unsafe.SliceData(record)))
	length := int(raw.Frame_data_len) * 8
	if len(record) < int(header)+length || raw.Num_kernel_frames > raw.Frame_data_len {
		return 0
	}
	comm := libpf.NewComm(raw.Comm)
	stack := u.stackOf(raw, record[header:][:length], comm, fresh)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.traces = append(u.traces, Trace{KtimeNs: int64(raw.Ktime), Pid: int32(raw.Pid), Tid: int32(raw.Tid),
		CPU: int32(raw.Cpu_id), Comm: comm.String(), Stack: stack})
	return times.KTime(raw.Ktime)
}

// stackOf gives a raw stack its number, and names it where it is not known; frames are those of
// raw, as they are in memory.
func (u *Unwinder) stackOf(raw *support.Trace, frames []byte, comm libpf.Comm, fresh func()) int {
	u.naming.Lock()
	defer u.naming.Unlock()
	known := u.monitor != nil && u.monitor.book != nil &&
		u.monitor.book.knows(raw.Frame_data[raw.Num_kernel_frames:raw.Frame_data_len])
	whose := raw.Pid
	if known { // processes that come and go by the hundred have the same stacks
		whose = 0
	}
	hash := hashOf(whose, frames)
	u.mu.Lock()
	stack, kept := u.byHash[hash]
	u.mu.Unlock()
	if kept {
		return stack
	}
	pid := libpf.PID(raw.Pid)
	u.current = nil
	u.bear(func() { u.convert(pid, known, u.traceOf(raw, comm)) }) // calls ReportTraceEvent before it returns
	u.made.saw(pid, u.current)
	if endedAtUnknown(u.current) {
		u.monitor.endedAt(libpf.PIDTID(uint64(raw.Pid)<<32 | uint64(raw.Tid)))
	}
	if slices.ContainsFunc(u.current, readFromProcess) {
		fresh()
	}
	return u.keep(hash, pid, u.current)
}

// convert has the library name a stack, and report it.
func (u *Unwinder) convert(pid libpf.PID, known bool, trace *libpf.EbpfTrace) {
	if u.monitor.book == nil {
		u.tracer.HandleTrace(trace)
		return
	}
	u.monitor.book.naming(pid, known, func() { u.tracer.HandleTrace(trace) })
}

// hashOf is by what equal raw stacks of one process are told.
func hashOf(pid uint32, frames []byte) uint64 {
	return maphash.Bytes(seed, frames) ^ uint64(pid)*0x9e3779b97f4a7c15
}

// readFromProcess tells whether a frame gets its name out of the process rather than out of a file.
func readFromProcess(frame unique.Handle[libpf.Frame]) bool {
	kind := frame.Value().Type
	return !kind.IsError() && kind != libpf.KernelFrame && kind != libpf.GoFrame &&
		(kind != libpf.NativeFrame || !frame.Value().Mapping.Valid())
}

// traceOf makes of a record what the library names: its own loadBpfTrace, without labels of
// requests.
func (u *Unwinder) traceOf(raw *support.Trace, comm libpf.Comm) *libpf.EbpfTrace {
	var trace *libpf.EbpfTrace
	if u.pool != nil {
		trace, _ = u.pool.Get().(*libpf.EbpfTrace)
	}
	if trace == nil {
		trace = &libpf.EbpfTrace{}
	}
	trace.CustomLabels, trace.Comm, trace.Value, trace.KTime = nil, comm, int64(raw.Value), int64(raw.Ktime)
	trace.CpuID, trace.PID, trace.TID, trace.Origin = raw.Cpu_id, libpf.PID(raw.Pid), libpf.PID(raw.Tid), raw.Origin
	trace.NumFrames, trace.NumKernelFrames = raw.Num_frames, raw.Num_kernel_frames
	trace.FrameData = trace.FrameDataBuf[:copy(trace.FrameDataBuf[:], raw.Frame_data[:raw.Frame_data_len])]
	return trace
}

func (u *Unwinder) keep(hash uint64, pid libpf.PID, frames libpf.Frames) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.stacks) >= maxStacks {
		u.lost++
		return -1
	}
	u.stacks = append(u.stacks, keptStack{pid, frames})
	stack := len(u.stacks) - 1
	if !broken(frames) { // a broken stack may come out whole the next time: the mappings are known by then
		u.byHash[hash] = stack
	}
	return stack
}

// ReportTraceEvent is called by the library with the named frames of a trace.
func (u *Unwinder) ReportTraceEvent(trace *libpf.Trace, _ *samples.TraceEventMeta) error {
	u.current = append(libpf.Frames(nil), trace.Frames...)
	return nil
}
