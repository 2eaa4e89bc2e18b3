package watchpoint

// arch/arm64/include/uapi/asm/perf_regs.h: x0 to x30, the stack pointer.
const (
	taskRegister     = 1 << 28 // R28, where Go keeps the task that runs
	generalRegisters = 1<<32 - 1
	codeLength       = 4
)

// numbered are the registers of generalRegisters by their numbers.
var numbered = [...]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
	26, 27, 28, 29, 30, 31}
