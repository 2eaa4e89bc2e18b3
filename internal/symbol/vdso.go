package symbol

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

const maxVDSO = 1 << 20

// VDSO reads the symbols of the vDSO, the code that the kernel maps into every
// process, out of this process. All 64-bit processes of a host share it;
// addresses count from the start of the mapping. Of its aliases the name is
// taken that tells it from libc's function: __vdso_clock_gettime (x86-64),
// __kernel_clock_gettime (arm64).
func VDSO() (*Table, error) {
	image, err := ownVDSO()
	if err != nil {
		return nil, fmt.Errorf("read vDSO: %w", err)
	}
	prefer := "__vdso_"
	if !bytes.Contains(image, []byte(prefer)) {
		prefer = "__kernel_"
	}
	table, err := load(bytes.NewReader(image), Options{NoDebugFiles: true}, prefer)
	if err != nil {
		return nil, fmt.Errorf("read symbols of vDSO: %w", err)
	}
	return table, nil
}

func ownVDSO() ([]byte, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			continue
		}
		var start, end int64
		if _, err := fmt.Sscanf(line, "%x-%x ", &start, &end); err != nil {
			return nil, fmt.Errorf("parse mapping %q: %w", line, err)
		}
		if end-start <= 0 || end-start > maxVDSO {
			return nil, fmt.Errorf("mapping of %d bytes", end-start)
		}
		memory, err := os.Open("/proc/self/mem")
		if err != nil {
			return nil, err
		}
		defer memory.Close()
		image := make([]byte, end-start)
		if _, err := memory.ReadAt(image, start); err != nil && err != io.EOF {
			return nil, err
		}
		return image, nil
	}
	return nil, fmt.Errorf("this process has none (booted with vdso=0?)")
}
