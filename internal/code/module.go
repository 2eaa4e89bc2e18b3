package code

import (
	"regexp"
	"strings"
)

// interpreters are the files, without versions, that run programs written in another language, as
// their makers, Debian, Fedora and Alpine install them: CPython and PyPy; Node, Deno and Bun;
// OpenJDK; Ruby; Perl; PHP; Lua; shells; awk; Tcl; Guile; R; Erlang; Mono and .NET.
var interpreters = wordSet(`python pypy node nodejs deno bun java javaw jspawnhelper ruby perl php
	php-fpm php-cgi phpdbg lua luajit sh ash dash bash zsh ksh mksh tcsh fish busybox toybox awk mawk
	gawk tclsh guile R beam.smp mono mono-sgen dotnet`)

// interpreterFile takes apart the name of an interpreter's file: a version (node20, bash-5.2,
// php-fpm8.2), then how it was built (python3.13t, python3.8-dbg, perl5.36-x86_64-linux-gnu).
var interpreterFile = regexp.MustCompile(`^([a-zA-Z.-]*[a-zA-Z])` +
	`(-?[0-9]+(\.[0-9]+)*)?([dmtu]|-dbg|-c|-beta[0-9]+)?(-[a-z0-9_]+-linux-[a-z]+)?$`)

// runtimeLibraries are the same as shared libraries: those of a JVM come without a version.
var runtimeLibraries = wordSet(`libpython libpypy libnode libuv libjvm libjli libjava libjimage
	libnio libnet libzip libverify libmanagement libinstrument libruby libperl libphp liblua
	libluajit libtcl libguile libR libmonosgen libcoreclr libclrjit libhostpolicy libSystem.Native`)

// standardLibraries are those of C, C++ and their compilers, the allocators that take their place,
// and what nearly every program is linked with for compression and encryption.
var standardLibraries = wordSet(`libc libpthread libm libdl librt libmvec libresolv libutil libanl
	libstdc++ libc++ libc++abi libgcc_s libatomic libunwind libasan libtsan libubsan liblsan libmsan
	libtcmalloc libtcmalloc_minimal libjemalloc libmimalloc libmimalloc-secure libz libzstd liblzma
	libcrypto libssl`)

// stem is the name of a module's file without version and build: "libpython" for
// libpython3.11d.so.1.0, "libc" for libc-2.31.so, "php-fpm" for php-fpm8.2. Shared tells a library.
func stem(module string) (name string, shared bool) {
	if at := strings.Index(module, ".so"); at >= 0 && (at+3 == len(module) || module[at+3] == '.') {
		built := strings.TrimRight(module[:at], "dmtu")
		if name := strings.TrimRight(built, "0123456789.-"); name != built {
			return name, true
		}
		return module[:at], true
	}
	if interpreters[module] || !strings.ContainsAny(module, "0123456789") {
		return module, false
	}
	if parts := interpreterFile.FindStringSubmatch(module); parts != nil {
		return parts[1], false
	}
	return module, false
}

// moduleOwner is whose all code of a file is, Program where the file's name does not tell.
func moduleOwner(module string) Owner {
	name, shared := stem(module)
	switch {
	case module == "[vdso]", shared && (standardLibraries[name] || beginsWithAny(module, loaders)):
		return Standard
	case shared && runtimeLibraries[name], !shared && interpreters[name]:
		return Runtime
	case isVersioned(module):
		return Package
	}
	return Program
}

// isVersioned tells a shared library that other programs are linked with too: ldconfig keeps such
// ones apart by the version behind ".so". What a program brings along for itself has none.
func isVersioned(module string) bool {
	at := strings.Index(module, ".so.")
	return at > 0 && at+4 < len(module) && module[at+4] >= '0' && module[at+4] <= '9' &&
		strings.HasPrefix(module[strings.LastIndexByte(module[:at], '/')+1:], "lib")
}

// loaders begin the names of the C library's files that have no name of their own.
var loaders = words(`ld-linux ld-musl ld-2 libc.musl- libnss_ linux-vdso linux-gate`)

// isPython tells the files of CPython.
func isPython(module string) bool {
	name, shared := stem(module)
	return shared && name == "libpython" || !shared && name == "python"
}
