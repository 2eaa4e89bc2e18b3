package code

import (
	"path"
	"regexp"
	"strings"

	"culprit/recording"
)

// variant is what stands behind the name of a string function that was chosen for a CPU.
const variant = `(_(avx|sse|ssse|evex|erms|unaligned|generic|chk|asimd|sve|mops|nt|l).*)?`

// standardSymbols are functions of the C library (glibc 2.17 to 2.42, musl) and of the libraries of
// C++ and Rust, for binaries that are linked statically.
var standardSymbols = regexp.MustCompile(`^(__.*|_start|_init|_fini|_dl_.*|_IO_.*|` +
	`_int_(malloc|free|realloc|memalign)|` +
	`(mem|wmem)(cpy|move|set|cmp|chr|pcpy|rchr|mem)` + variant + `|` +
	`(str|wcs)n?(len|cpy|cmp|cat|chr|rchr|str|dup|casecmp|casestr|spn|cspn|pbrk|tok|tok_r|` +
	`to(l|ll|ul|ull|d|f|ld|imax|umax)|coll|sep|error)` + variant + `|` +
	`malloc.*|free|calloc|realloc|posix_memalign|aligned_alloc|` +
	`operator (new|delete).*|std::.*|core::.*|alloc::.*|hashbrown::.*|` +
	// Only the standard library may implement its own traits for every type (Rust's orphan rule):
	// <R as std::io::Read>.
	`<&?(mut )?(dyn )?(std|core|alloc|hashbrown)::.*|<&?(mut )?[A-Z] as (std|core|alloc)::.*|` +
	`<&?(mut )?(u8|u16|u32|u64|usize|str|\[.*|(unsafe )?(extern ".*" )?fn\(.*) ` +
	`as (std|core|alloc)::.*|` +
	// Nor may others add functions to Rust's primitive types: usize::unchecked_add.
	`([iu](8|16|32|64|128|size)|f(32|64)|bool|char|str)::.*|` +
	`pthread_.*|start_thread|clone3?|syscall|v?s?n?printf|v?fprintf|` +
	`f?(write|read|puts|putc|getc|gets)(_unlocked)?|` +
	`qsort(_r)?|msort_with_tmp.*|bsearch|lll_.*|futex_.*|` +
	`rust_begin_unwind|lang_start.*)$`)

// runtimeSymbols are those of V8, libuv, CPython and Go, for binaries that have them inside.
var runtimeSymbols = regexp.MustCompile(
	`^(v8::.*|Builtins_.*|uv__.*|uv_run|_Py.*|Py_.*|Py[A-Z][A-Za-z0-9]*_[A-Za-z0-9_]*|runtime\..*)$`)

// nodeSymbols begin those of Node and libuv that a program may have called alike: they are Node's
// where others show that it runs.
var nodeSymbols = []string{"node::", "uv_"}

// wrapperSymbols are C functions that do little but a system call or a clock read.
var wrapperSymbols = wordSet(`write read open openat close pread pread64 pwrite pwrite64 readv
	writev lseek lseek64 stat fstat lstat stat64 fstat64 fstatat fstatat64 access faccessat poll
	ppoll select pselect epoll_wait epoll_pwait send recv sendto recvfrom sendmsg recvmsg connect
	accept accept4 socket bind listen fsync fdatasync msync mmap munmap mprotect madvise brk sbrk
	fork vfork execve posix_spawn posix_spawnp popen pclose system waitpid wait4 wait nanosleep
	clock_nanosleep usleep sleep sched_yield clock_gettime gettimeofday time getpid gettid getppid
	getrandom ioctl fcntl dup dup2 pipe pipe2 kill raise exit _exit opendir readdir readdir64
	closedir getdents64 unlink rename mkdir rmdir ftruncate fopen fopen64 fclose fflush fseek ftell
	open64 fputs fgets fgetc fputc getline getenv setenv ptrace`)

func nativeOwner(frame *recording.Frame, around surroundings) Owner {
	module := path.Base(frame.Module)
	owner := moduleOwner(module)
	switch {
	case frame.Name == module || strings.HasPrefix(frame.Name, "["):
		return Unnamed
	case owner == Standard, owner == Runtime:
		return owner
	case runtimeSymbols.MatchString(frame.Name), around.node && beginsWithAny(frame.Name, nodeSymbols):
		return Runtime
	case standardSymbols.MatchString(frame.Name), wrapperSymbols[frame.Name]:
		return Standard
	case around.golang && strings.Contains(frame.Name, "."):
		return goOwner(frame)
	case around.managed:
		return Runtime // an extension, or what a run time made
	case owner == Package && around.named, isPackaged(frame), ofHeader(frame):
		return Package
	}
	return Program
}

// ofLibrary tells native functions that are a library's own, also where a run time has it as an
// extension: no interpreter's, and no copy of what every program has of C.
func ofLibrary(frame *recording.Frame) bool {
	return frame.Kind == recording.KindNative && moduleOwner(path.Base(frame.Module)) != Runtime &&
		!runtimeSymbols.MatchString(frame.Name) && !standardSymbols.MatchString(frame.Name) &&
		!wrapperSymbols[frame.Name] && !ByAddress(*frame) && !strings.HasPrefix(frame.Name, "[")
}

// ByAddress tells a function of a stripped file that has no name but its address: "gzip+0x4f5c()".
func ByAddress(frame recording.Frame) bool {
	return strings.HasPrefix(frame.Name, path.Base(frame.Module)+"+0x") &&
		strings.HasSuffix(frame.Name, "()")
}
