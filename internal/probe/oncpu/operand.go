package oncpu

// What memory an instruction works on, from a sample's registers. A sample's address is that of the
// instruction to come: behind a locked instruction or a load that took long, the one before is
// meant; it is found in the bytes before, and behind a call in the function that returned.
// accessOf, instructionsBefore, returns and taskRegister are of each machine: operand_amd64.go,
// returned_amd64.go, operand_arm64.go.

const (
	stackDown = 256     // below the stack pointer: the red zone and what a call pushed
	stackUp   = 1 << 16 // above it: the frames of the callers

	// A thread's own memory (__thread, thread_local) lies around its thread pointer, on the stack's
	// upper end where libc made the stack. On x86-64 variables are below it, on arm64 above; what
	// libc keeps is on the other side.
	threadBelow = 1 << 12
	threadAbove = 1 << 12
)

// access is one operand in memory.
type access struct {
	address uint64
	code    uint64 // address of the instruction
	size    int32
	write   bool
	locked  bool
	base    int   // number of the register that the address is counted from; -1: of none
	offset  int64 // from what that register holds
	indexed bool  // and from an index, which offset leaves out
	// block is the thread pointer where the memory is the running thread's own, else 0. Others may
	// have a pointer to it.
	block uint64
	// returned tells that the code is of a function that has returned to where the sample was taken.
	returned bool
}

// placed completes an access to an address by whose memory it is; false where that is the thread's
// stack, or none. own: the instruction counts from the thread pointer.
func (a access) placed(stack, thread uint64, own bool) (access, bool) {
	if thread != 0 && (own || a.address+threadBelow >= thread && a.address < thread+threadAbove) {
		a.block = thread
	}
	onStack := a.address+stackDown >= stack && a.address < stack+stackUp
	if a.address < 1<<16 || onStack && a.block == 0 {
		return access{}, false
	}
	return a, true
}
