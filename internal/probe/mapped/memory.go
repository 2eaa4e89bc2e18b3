package mapped

import "golang.org/x/sys/unix"

// Copy copies memory of a process; false where not all of it is there, or it has ended.
func Copy(pid int, address uint64, to []byte) bool {
	local := []unix.Iovec{{Base: &to[0], Len: uint64(len(to))}}
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: len(to)}}, 0)
	return err == nil && n == len(to)
}
