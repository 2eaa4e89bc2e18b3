package host

import (
	"regexp"
	"strings"
)

const environmentLimit = 1 << 20 // bytes of an environment that are looked at

// environmentNames are the variables that change how a program runs. Only these
// are ever kept: others may hold secrets.
var environmentNames = map[string]bool{
	"LD_PRELOAD": true, "LD_LIBRARY_PATH": true, "LD_BIND_NOW": true, "LD_AUDIT": true, "LD_HWCAP_MASK": true,
	"GLIBC_TUNABLES": true, "TZ": true, "LANG": true, "LC_ALL": true, "TMPDIR": true,
	"GOMAXPROCS": true, "GODEBUG": true, "GOGC": true, "GOMEMLIMIT": true, "GOTRACEBACK": true, "GOAMD64": true,
	"JAVA_TOOL_OPTIONS": true, "JDK_JAVA_OPTIONS": true, "_JAVA_OPTIONS": true, "JAVA_OPTS": true,
	"NODE_OPTIONS": true, "NODE_ENV": true, "UV_THREADPOOL_SIZE": true, "NODE_DISABLE_COMPILE_CACHE": true,
	"DOTNET_gcServer": true, "DOTNET_TieredCompilation": true, "DOTNET_GCHeapCount": true,
	"RUBYOPT": true, "PERL5OPT": true, "JE_MALLOC_CONF": true, "TCMALLOC_SAMPLE_PARAMETER": true,
	"RUST_BACKTRACE": true, "RUST_LOG": true, "TOKIO_WORKER_THREADS": true, "RAYON_NUM_THREADS": true,
	"MKL_NUM_THREADS": true, "OPENBLAS_NUM_THREADS": true, "CUDA_VISIBLE_DEVICES": true,
	"FAKETIME": true, "VALGRIND_LIB": true, "ASAN_OPTIONS": true, "TSAN_OPTIONS": true, "UBSAN_OPTIONS": true,
}

// environmentPrefixes are families of such variables (PYTHONMALLOC, MALLOC_ARENA_MAX …).
var environmentPrefixes = []string{"MALLOC_", "PYTHON", "OMP_", "GOMP_", "KMP_", "RUBY_GC_", "TCMALLOC_"}

// environment keeps the named variables of a process.
func (collect *collector) environment(folder string) {
	source := folder + "/environ"
	// Of an environment beyond the limit the first part is still true.
	text, err := collect.files.read(source, environmentLimit)
	if err != nil && text == "" {
		return
	}
	seen := map[string]bool{}
	for _, entry := range strings.Split(text, "\x00") {
		name, value, found := strings.Cut(entry, "=")
		if !found || seen[name] || !wantedVariable(name) {
			continue
		}
		seen[name] = true // the first of several counts, as for getenv(3)
		if value == "" {
			value = "(empty)"
		}
		collect.add("target.environment."+clean(name, 64), redact(value), source)
	}
}

func wantedVariable(name string) bool {
	if environmentNames[name] {
		return true
	}
	for _, prefix := range environmentPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var (
	// secretWord matches an option or setting whose value is to be hidden: "--db-password=x",
	// "-Dapi.key=x", "TOKEN x".
	secretWord = regexp.MustCompile(
		`(?i)([\w.-]*(?:passw|passphrase|secret|token|api[_.-]?key|access[_.-]?key|credential|auth(?:orization)?\b)` +
			`[\w.-]*(?:\s*[=:]\s*|\s+))("[^"]*"|'[^']*'|[^\s,;]+)`)
	// secretAddress matches a password inside an address: "postgres://user:x@host".
	secretAddress = regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+@`)
)

// redact hides what looks like a secret in a command line or an option string.
func redact(text string) string {
	text = secretWord.ReplaceAllString(text, "${1}[hidden]")
	return secretAddress.ReplaceAllString(text, "${1}[hidden]@")
}
