package compare

import (
	"path"
	"regexp"
	"strings"

	"culprit/recording"
)

// goStandard are the first elements of the import paths of Go's standard library.
var goStandard = wordSet(`archive bufio builtin bytes cmp compress container context crypto database debug embed
	encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin
	reflect regexp runtime slices sort strconv strings structs sync syscall testing text time type unicode unique
	unsafe vendor weak _cgo golang.org`)

// jvmLibraries are the packages that come with a JVM or its languages.
var jvmLibraries = []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "scala.", "groovy.", "clojure."}

// libraryModules are the beginnings of files whose code belongs to the C library, a language runtime or an interpreter.
var libraryModules = []string{"libc.", "libc-", "libpthread", "libm.", "libm-", "libdl.", "librt.", "libstdc++",
	"libc++",
	"libgcc_s", "ld-linux", "ld-musl", "ld-2", "libmvec", "libresolv", "libnss_", "[vdso]", "linux-vdso", "linux-gate",
	"libjvm", "libjli", "libjava", "libjimage", "libnio", "libnet.", "libzip", "libverify", "libpython", "python",
	"libnode", "node", "libuv", "java", "ruby", "libruby", "perl", "libperl", "php", "libphp", "libcrypto", "libssl",
	"libz.", "libzstd", "liblzma", "libtcmalloc", "libjemalloc", "libmimalloc", "libasan", "libtsan", "libubsan",
	"busybox", "dash", "bash"}

// variant is what stands behind the name of a string function that was chosen for a CPU.
const variant = `(_(avx|sse|ssse|evex|erms|unaligned|generic|chk|asimd|sve|mops|nt|l).*)?`

// librarySymbols are functions of the C library and of language runtimes, for binaries that are linked statically.
var librarySymbols = regexp.MustCompile(`^(__.*|_start|_init|_fini|_dl_.*|_IO_.*|_int_(malloc|free|realloc|memalign)|` +
	`(mem|wmem)(cpy|move|set|cmp|chr|pcpy|rchr|mem)` + variant + `|(str|wcs)n?(len|cpy|cmp|cat|chr|rchr|str|dup|` +
	`casecmp|casestr|spn|cspn|pbrk|tok|tok_r|to(l|ll|ul|ull|d|f|ld|imax|umax)|coll|sep|error)` + variant + `|` +
	`malloc.*|free|calloc|realloc|posix_memalign|aligned_alloc|` +
	`operator (new|delete).*|std::.*|core::.*|alloc::.*|hashbrown::.*|` +
	// Only the standard library may implement its own traits for every type (Rust's orphan rule): <R as std::io::Read>.
	`<&?(mut )?(dyn )?(std|core|alloc|hashbrown)::.*|<&?(mut )?[A-Z] as (std|core|alloc)::.*|` +
	`<&?(mut )?(u8|u16|u32|u64|usize|str|\[.*|(unsafe )?(extern ".*" )?fn\(.*) as (std|core|alloc)::.*|` +
	`pthread_.*|start_thread|clone3?|syscall|v?s?n?printf|v?fprintf|f?(write|read|puts|putc|getc|gets)(_unlocked)?|` +
	`qsort(_r)?|msort_with_tmp.*|bsearch|lll_.*|futex_.*|v8::.*|node::.*|uv_.*|Builtins_.*|_Py.*|Py[A-Z].*|` +
	`runtime\..*|rust_begin_unwind|lang_start.*)$`)

// wrapperSymbols are C functions that do little but a system call or a clock read.
var wrapperSymbols = wordSet(`write read open openat close pread pread64 pwrite pwrite64 readv writev lseek lseek64 stat
	fstat lstat stat64 fstat64 fstatat fstatat64 access faccessat poll ppoll select pselect epoll_wait epoll_pwait send
	recv sendto recvfrom sendmsg recvmsg connect accept accept4 socket bind listen fsync fdatasync msync mmap munmap
	mprotect madvise brk sbrk fork vfork execve posix_spawn posix_spawnp popen pclose system waitpid wait4 wait nanosleep
	clock_nanosleep usleep sleep sched_yield clock_gettime gettimeofday time getpid gettid getppid getrandom ioctl fcntl
	dup dup2 pipe pipe2 kill raise exit _exit opendir readdir readdir64 closedir getdents64 unlink rename mkdir rmdir
	ftruncate fopen fopen64 fclose fflush fseek ftell open64 fputs fgets fgetc fputc getline getenv setenv ptrace`)

// pythonFrozen are standard modules that CPython carries inside and names without a folder.
var pythonFrozen = wordSet(`_bootstrap.py _bootstrap_external.py zipimport.py abc.py codecs.py io.py _collections_abc.py
	_sitebuiltins.py genericpath.py ntpath.py posixpath.py os.py site.py stat.py runpy.py`)

// pythonLibrary tells source files that come with CPython or its packages.
var pythonLibrary = regexp.MustCompile(`^<frozen|/lib(64)?/(python|pypy)[0-9.]*/|` +
	`/site-packages/|/dist-packages/|\.zip/`)

// scriptLibrary tells source files that come with Ruby or PHP or their packages; "<" begins what is built in.
var scriptLibrary = regexp.MustCompile(`^<|/ruby/[0-9.]+/|/rubygems/|/gems/|/vendor_ruby/|/share/php|/vendor/|^phar:`)

// perlLibrary tells source files that come with Perl or its packages; "(" begins what was made at run time.
var perlLibrary = regexp.MustCompile(`^\(|/(share|lib|lib/[^/]+)/perl(5|-base|/)|/(lib|site)/perl5/|/site_perl/`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// IsApplication tells, frame by frame, which functions of a stack are the
// application's own: not the kernel's, a language runtime's, an interpreter's or a
// system library's. In a stack with frames of a managed language only those count.
func IsApplication(frames []recording.Frame) []bool {
	managed, files, perl := false, false, false
	for _, frame := range frames {
		perl = perl || inPerl(frame)
		switch frame.Kind {
		case recording.KindJVM, recording.KindPython, recording.KindNode, recording.KindRuby, recording.KindPHP:
			managed = true
			files = files || frame.Kind == recording.KindNode && frame.File != ""
		case recording.KindOther:
			managed = managed || perl && frame.File != ""
		}
	}
	own := make([]bool, len(frames))
	for i, frame := range frames {
		switch frame.Kind {
		case recording.KindGo:
			own[i] = goApplication(frame.Name)
		case recording.KindJVM:
			own[i] = jvmApplication(frame.Name)
		case recording.KindPython:
			own[i] = pythonApplication(frame)
		case recording.KindNode:
			own[i] = nodeApplication(frame, files)
		case recording.KindRuby, recording.KindPHP:
			own[i] = frame.File != "" && !scriptLibrary.MatchString(frame.File)
		case recording.KindOther:
			own[i] = perl && frame.File != "" && !perlLibrary.MatchString(frame.File)
		case recording.KindNative:
			own[i] = !managed && nativeApplication(frame)
		}
	}
	return own
}

// inPerl reports whether a frame is perl's interpreter running a script: the frames of its subs stand below it.
func inPerl(frame recording.Frame) bool {
	return frame.Kind == recording.KindNative && strings.HasPrefix(frame.Name, "Perl_runops_")
}

func pythonApplication(frame recording.Frame) bool {
	return !pythonLibrary.MatchString(frame.File) && !pythonFrozen[frame.File] && !strings.HasPrefix(frame.Name, "<frozen")
}

func goApplication(name string) bool {
	first, _, found := strings.Cut(name, "/")
	if !found {
		if first, _, found = strings.Cut(name, "."); !found {
			return false // assembly: memeqbody, aeshashbody …
		}
	}
	return !goStandard[first]
}

func jvmApplication(name string) bool {
	name = strings.ReplaceAll(name, "/", ".")
	if !strings.ContainsAny(name, ".#:") || strings.ContainsAny(name, "[ ") {
		return false // stubs: Interpreter, call_stub …
	}
	for _, library := range jvmLibraries {
		if strings.HasPrefix(name, library) {
			return false
		}
	}
	return true
}

func nodeApplication(frame recording.Frame, files bool) bool {
	if strings.HasPrefix(frame.Name, "V8::") || strings.HasPrefix(frame.File, "node:") ||
		strings.HasPrefix(frame.File, "internal/") ||
		strings.Contains(frame.Name, "node:internal") {
		return false
	}
	// V8's builtins have no file where scripts have one.
	return frame.File != "" || !files
}

func nativeApplication(frame recording.Frame) bool {
	module := path.Base(frame.Module)
	if frame.Name == module || strings.HasPrefix(frame.Name, "[") {
		return false // no symbol
	}
	for _, library := range libraryModules {
		if strings.HasPrefix(module, library) {
			return false
		}
	}
	return !librarySymbols.MatchString(frame.Name) && !wrapperSymbols[frame.Name]
}

// perlMain is a Perl script outside of its subs, and those of its package main that were declared with a plain sub, as
// whose name perl keeps where the unwinder does not look.
const perlMain = "<top-level>"

// IsEntry reports whether a function is where a program begins: everything is
// below it, so that it explains nothing.
func IsEntry(frame recording.Frame) bool {
	name := frame.Name
	switch frame.Kind {
	case recording.KindGo:
		return name == "main.main" || name == "runtime.main" || name == "runtime.goexit"
	case recording.KindJVM:
		return strings.HasSuffix(name, ".main") || strings.HasSuffix(name, "#main")
	case recording.KindPython:
		return name == "<module>" || name == "<interpreter trampoline>" || name == "main"
	case recording.KindNode:
		return name == "" || name == "main" || name == "<anonymous>" || name == "(anonymous)" ||
			strings.HasPrefix(name, "<module>")
	case recording.KindRuby, recording.KindPHP:
		return name == "<main>" || name == "<top-level>" || name == "main" || strings.HasPrefix(name, "<top (required)>")
	case recording.KindOther:
		return name == perlMain
	default:
		return name == "main" || strings.HasSuffix(name, "::main") || name == "_start"
	}
}
