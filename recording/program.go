package recording

import "strings"

// BPFProgram begins the kernel's symbol of a BPF program. The recorder writes behind it who holds
// the program, where that is not a recorder: "bpf_prog_6deef7357e7b4530_sys_enter of bpftrace".
const BPFProgram = "bpf_prog_"

const heldBy = " of "

// Held is the name of a BPF program's frame with the process that holds the program.
func Held(symbol, holder string) string { return symbol + heldBy + holder }

// HolderOf is the process that holds the BPF program which a frame is; "" for the recorder's own,
// and all other frames.
func HolderOf(frame Frame) string {
	if frame.Kind != KindKernel || !strings.HasPrefix(frame.Name, BPFProgram) {
		return ""
	}
	_, holder, _ := strings.Cut(frame.Name, heldBy)
	return holder
}
