package bench

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
)

// codeBytes bounds the machine code that is read of one function.
const codeBytes = 4096

// codeProof reads the machine code of the loop that times the vDSO: a compiler may merge or drop
// calls whose results look alike.
func codeProof() string {
	calls := callsOf(reflect.ValueOf(readVDSO).Pointer())
	clock := 0
	for _, name := range calls {
		if strings.Contains(name, "nanotime") || strings.Contains(name, "runtimeNano") ||
			strings.HasSuffix(name, "time.Since") {
			clock++
		}
	}
	if clock < unrolled {
		return fmt.Sprintf("MACHINE CODE: only %d reads of the clock in a loop that should make %d", clock, unrolled)
	}
	return fmt.Sprintf("machine code checked: %d reads of the clock each time round", unrolled)
}

// callsOf names the functions that the machine code of a function calls.
func callsOf(entry uintptr) []string {
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil
	}
	defer memory.Close()
	code := make([]byte, codeBytes)
	read, _ := memory.ReadAt(code, int64(entry)) // what is there of it: the code may end before
	var names []string
	function := runtime.FuncForPC(entry)
	for at := 0; at < read && runtime.FuncForPC(entry+uintptr(at)) == function; {
		length, target, calls := decodeCall(code[at:read])
		if length == 0 {
			break
		}
		if called := runtime.FuncForPC(entry + uintptr(at+target)); calls && called != nil {
			names = append(names, called.Name())
		}
		at += length
	}
	return names
}
