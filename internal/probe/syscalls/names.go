package syscalls

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// compat marks the number of a 32-bit program's call: COMPAT of syscalls.bpf.c.
const compat = 1 << 29

// Name of a system call by its number; "" outside of any call. The calls of 32-bit programs have
// the names of the 64-bit ones.
func Name(call int32) string {
	if call < 0 {
		return ""
	}
	if name, ok := names32[call&^compat]; ok && call&compat != 0 {
		return name
	}
	if call&compat != 0 {
		return fmt.Sprintf("syscall32_%d", call&^compat)
	}
	if name, ok := names[call]; ok {
		return name
	}
	return fmt.Sprintf("syscall_%d", call)
}

// internalErrors are results that the kernel replaces before the program sees them: the
// call is made again, or ends with EINTR (include/linux/errno.h).
var internalErrors = map[int32]string{512: "ERESTARTSYS", 513: "ERESTARTNOINTR", 514: "ERESTARTNOHAND",
	515: "ENOIOCTLCMD", 516: "ERESTART_RESTARTBLOCK"}

func errnoName(number int32) string {
	if name := unix.ErrnoName(syscall.Errno(number)); name != "" {
		return name
	}
	if name := internalErrors[number]; name != "" {
		return name
	}
	return fmt.Sprintf("errno %d", number)
}

// transfers are the calls whose result is a number of bytes.
var transfers = set(`read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 sendto recvfrom sendmsg
	recvmsg sendfile splice tee vmsplice copy_file_range getrandom getdents getdents64 readlink readlinkat
	process_vm_readv process_vm_writev`)

// sizes tells which of the first four arguments is the number of bytes that is asked for.
var sizes = map[string]int{"read": 2, "write": 2, "pread64": 2, "pwrite64": 2, "sendto": 2, "recvfrom": 2,
	"readahead": 2, "getdents": 2, "getdents64": 2, "getrandom": 1, "ftruncate": 1, "truncate": 1, "fallocate": 3,
	"sendfile": 3, "sync_file_range": 2, "mmap": 1, "munmap": 1, "mremap": 1, "msync": 1, "madvise": 1,
	"fadvise64": 2}

// What the arguments of a call mean: enum argument of syscalls.bpf.c.
const (
	argFD       = 1 // the first is a descriptor
	argConnect  = 2 // so it is, and the second an address
	argResult   = 3 // the result is a descriptor, the first a path
	argPath     = 4 // the first is a path
	argAtPath   = 5 // the second is
	argResultAt = 6 // the result is a descriptor, the second a path
)

const maxCall = 512 // MAX_CALL

// arguments says by number what the arguments of a call mean.
func arguments() (table [maxCall]uint8) {
	means := map[uint8]map[string]bool{
		argFD: set(`read write fstat lseek pread64 pwrite64 readv writev ioctl fsync fdatasync ftruncate fallocate flock
			fcntl getdents getdents64 fchdir fchmod fchown sendfile sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg
			shutdown bind listen accept accept4 getsockname getpeername setsockopt getsockopt epoll_wait epoll_pwait
			epoll_pwait2 epoll_ctl dup dup2 dup3 preadv pwritev preadv2 pwritev2 sync_file_range syncfs readahead
			fadvise64 splice tee vmsplice copy_file_range io_uring_enter fsetxattr fgetxattr flistxattr fremovexattr
			fstatfs cachestat`),
		argConnect: set("connect"),
		argResult:  set("open creat"),
		argPath: set(`stat lstat access rename mkdir rmdir link unlink symlink readlink chmod chown lchown truncate statfs
			umount2 swapon mknod setxattr getxattr listxattr removexattr chdir execve`),
		argAtPath: set(`mkdirat mknodat fchownat newfstatat unlinkat renameat renameat2 linkat readlinkat fchmodat
			faccessat faccessat2 utimensat statx execveat fchmodat2 mount`),
		argResultAt: set("openat openat2"),
	}
	for number, name := range names {
		for meaning, calls := range means {
			if number < maxCall && calls[name] {
				table[number] = meaning
			}
		}
	}
	return table
}

func set(words string) map[string]bool {
	members := map[string]bool{}
	for _, word := range strings.Fields(words) {
		members[word] = true
	}
	return members
}
