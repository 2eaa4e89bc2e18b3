package unwind

import (
	"slices"
	"unsafe"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/support"
)

// NameGiven names a stack that somebody else read out of a process: the leaf's address, and those
// that its callers are returned to. It numbers it as one of a trace is, for Frames; NoStack where
// none of its code is known.
func (u *Unwinder) NameGiven(pid int32, addresses []uint64) int {
	raw := &support.Trace{Pid: uint32(pid), Tid: uint32(pid)}
	known := 0
	for i, address := range addresses {
		frame, ok := u.frameAt(libpf.PID(pid), address, i > 0)
		if int(raw.Frame_data_len)+len(frame) > len(raw.Frame_data) {
			break
		}
		if ok {
			known++
		}
		copy(raw.Frame_data[raw.Frame_data_len:], frame)
		raw.Frame_data_len += uint16(len(frame))
		raw.Num_frames++
	}
	if known == 0 {
		return NoStack
	}
	data := unsafe.Slice((*byte)(unsafe.Pointer(&raw.Frame_data)), int(raw.Frame_data_len)*8)
	return u.stackOf(raw, data, libpf.NewComm(raw.Comm), func() {})
}

// NoStack is the number of none.
const NoStack = -1

// frameAt is a frame as the library's programs write it: the file's number and the address in it,
// by their own table of what is mapped where.
func (u *Unwinder) frameAt(pid libpf.PID, address uint64, returned bool) (frame []uint64, known bool) {
	var mapping support.PIDPageMappingInfo
	key := pidPage(pid, address, 64)
	if u.loader.maps["pid_page_to_mapping_info"].Lookup(&key, &mapping) != nil {
		return libpf.NewEbpfFrame(libpf.UnknownFrame, support.FrameFlagError, 1, 0), false
	}
	bias, _ := support.DecodeBiasAndUnwindProgram(mapping.Bias_and_unwind_program)
	flags := libpf.FrameFlags(0)
	if returned {
		flags = support.FrameFlagReturnAddress
	}
	frame = libpf.NewEbpfFrame(libpf.NativeFrame, flags, 2, address-bias)
	frame[1] = mapping.File_id
	return slices.Clip(frame), true
}
