package oncpu

// What memory an instruction works on, from a sample's registers. A sample's address is that of the instruction to
// come: behind a locked instruction or a load that took long, the one before is meant; it is found in the bytes before.
// accessOf, lengthsBefore and taskRegister are of each machine: operand_amd64.go, operand_arm64.go.

const (
	stackDown = 256     // below the stack pointer: the red zone and what a call pushed
	stackUp   = 1 << 16 // above it: the frames of the callers
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
}

// isOwn tells addresses that no other thread works on, or that are none.
func isOwn(address, stack uint64) bool {
	return address < 1<<16 || address+stackDown >= stack && address < stack+stackUp
}
