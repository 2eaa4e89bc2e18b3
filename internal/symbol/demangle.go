package symbol

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

const (
	maxMangledBytes   = 4096
	maxReadableBytes  = 512 // of a readable name; longer ones are cut
	longTemplateBytes = 160 // above, template arguments are left out
	demangledPower    = 14  // the library stops at 2^14 bytes: names can expand exponentially
	cutMark           = "…"
)

// Demangle makes a raw name readable: C++ and Rust names without parameters
// (and, when still long, without template arguments), anything else as it is.
// The result is short, valid UTF-8 without control characters, and does not
// share memory with a table.
func Demangle(name string) string {
	if mangled, ok := mangledName(name); ok {
		if readable, ok := demangled(mangled); ok {
			return clean(readable)
		}
	}
	return clean(name)
}

// mangledName says whether a name can be a mangled one, so that the many plain
// names cost nothing. Stubs carry a suffix that is none of the name's.
func mangledName(name string) (string, bool) {
	if len(name) > maxMangledBytes || len(name) < 3 {
		return "", false
	}
	return name, strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R")
}

func demangled(name string) (string, bool) {
	raw, stub := strings.CutSuffix(name, stubSuffix)
	options := []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams, demangle.MaxLength(demangledPower)}
	readable, err := demangle.ToString(raw, options...)
	if err != nil {
		return "", false
	}
	if len(readable) > longTemplateBytes {
		if short, err := demangle.ToString(raw, append(options, demangle.NoTemplateParams)...); err == nil {
			readable = short
		}
	}
	if strings.HasPrefix(raw, "_R") {
		readable = plainRust(readable)
	}
	if stub {
		readable += stubSuffix
	}
	return readable, true
}

// clean cuts a name to its limit and takes out what could steer a terminal or
// turn the reading direction round.
func clean(name string) string {
	if len(name) > maxReadableBytes {
		end := maxReadableBytes - len(cutMark)
		for end > 0 && !utf8.RuneStart(name[end]) {
			end--
		}
		name = name[:end] + cutMark
	}
	if !needsCleaning(name) {
		return strings.Clone(name)
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.C, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
}

func needsCleaning(name string) bool {
	for i := range len(name) {
		if name[i] < ' ' || name[i] >= 0x7F {
			return true
		}
	}
	return false
}

// Demangler is Demangle with a memory for a number of names. It is not safe
// for use by several goroutines at a time.
type Demangler struct {
	known map[string]string
	limit int
}

// NewDemangler returns a demangler that remembers up to limit names.
func NewDemangler(limit int) *Demangler {
	return &Demangler{known: map[string]string{}, limit: max(limit, 1)}
}

// Name returns Demangle(name).
func (d *Demangler) Name(name string) string {
	if readable, ok := d.known[name]; ok {
		return readable
	}
	// Emptied when full: no order of use has to be kept, and a recorder that
	// meets more names than this names each of them once anyway.
	if len(d.known) >= d.limit {
		clear(d.known)
	}
	readable := Demangle(name)
	if len(name) > maxMangledBytes { // not worth its memory
		return readable
	}
	d.known[strings.Clone(name)] = readable
	return readable
}
