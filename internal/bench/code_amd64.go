package bench

import (
	"golang.org/x/arch/x86/x86asm"
)

// decodeCall reads one instruction: its length, 0 when it is none, and where it calls to from its
// own place on.
func decodeCall(code []byte) (length, target int, calls bool) {
	instruction, err := x86asm.Decode(code, 64)
	if err != nil {
		return 0, 0, false
	}
	relative, yes := instruction.Args[0].(x86asm.Rel)
	return instruction.Len, instruction.Len + int(relative), yes && instruction.Op == x86asm.CALL
}
