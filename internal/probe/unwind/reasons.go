package unwind

import (
	"fmt"

	"go.opentelemetry.io/ebpf-profiler/libpf"
)

// reasons say in words why the library's unwinder stopped (errors.json of
// go.opentelemetry.io/ebpf-profiler).
var reasons = map[uint64]string{
	2:              "deeper than the unwinder goes",
	3:              "nothing could be unwound",
	5:              "too many steps for one stack",
	4000:           "no unwind rules for this code",
	4001:           "no unwind rules for this code",
	4002:           "no unwind rules for this code",
	4003:           "no unwind rules for this code",
	4004:           "no unwind rules for this code",
	4005:           "its unwind rule is one that the unwinder does not know",
	4006:           "its unwind rules end here",
	4007:           "its memory could not be read",
	4009:           "registers could not be read",
	4011:           "a kernel address among user frames",
	errNoMapping:   "its mappings were not known yet",
	4013:           "a return address of 0",
	4014:           "a return address that is none",
	4017:           "32-bit code",
	errUnsupported: "code without a file",
	4019:           "an address without a mapping",
	4020:           "an address that is not code",
}

// ofRunTimes are whose frames the library's codes above 1000 are about, by the thousand.
var ofRunTimes = map[uint64]string{1: "the JVM", 2: "Python", 3: "Ruby", 5: "V8", 6: ".NET", 7: "BEAM", 8: "LuaJIT"}

// reason says why a frame is the end of a stack that is not whole.
func reason(frame libpf.Frame) string {
	code := uint64(frame.AddressOrLineno)
	if words, known := reasons[code]; known {
		return words
	}
	if of, known := ofRunTimes[code/1000]; known {
		return fmt.Sprintf("a frame of %s could not be read (%d)", of, code)
	}
	return fmt.Sprintf("%s %d", frame.Type.Interpreter(), code)
}
