package watchpoint

// arch/x86/include/uapi/asm/perf_regs.h: ax, bx, cx, dx, si, di, bp, sp, ip, flags, six segments,
// r8 to r15.
const (
	taskRegister     = 1 << 22 // R14, where Go keeps the task that runs
	generalRegisters = 0xff00ff
	codeLength       = 8 // sizeof(long), which the kernel asks for
)

// numbered are the registers of generalRegisters, in the order of their bits, by their numbers in
// the instruction set: rax 0, rcx 1, rdx 2, rbx 3, rsp 4, rbp 5, rsi 6, rdi 7, r8 8 …
var numbered = [...]int{0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15}
