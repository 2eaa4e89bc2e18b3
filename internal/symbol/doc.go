// Package symbol turns addresses into names: of ELF files with their separate
// and embedded debug files, of the kernel, of the vDSO and of JIT maps. It also
// makes names readable (Demangle) and equal between two builds (Normalise).
//
//	table, err := symbol.Open("/proc/42/root", "/usr/bin/server", symbol.Options{})
//	name, offset, ok := table.Lookup(address) // an address as the ELF file counts it
//	fmt.Println(symbol.Demangle(name))
//
// Every file it reads may be hostile, for the target chose it: sizes are
// limited before memory is given, damage is an error and never a panic, and
// names are raw until Demangle has taken control characters out of them.
//
// It refuses to guess: an address outside every symbol's size has no name.
// Go's own tables are not read here: the unwinder names Go frames.
package symbol
