package unwind

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/ebpf-profiler/kallsyms"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/tracer"
)

// Fails when a new version of the library keeps elsewhere what monitor.go does its work with: look
// at its StartMapMonitors then.
func TestLibraryHasTheManager(t *testing.T) {
	if _, err := managerOf(&tracer.Tracer{}); err != nil {
		t.Error(err)
	}
	if _, err := fieldOf[*kallsyms.Symbolizer](&tracer.Tracer{}, "kernelSymbolizer"); err != nil {
		t.Error(err)
	}
	if pool, err := fieldAt[sync.Pool](&tracer.Tracer{}, "tracePool"); pool == nil || err != nil {
		t.Errorf("%v, %v", pool != nil, err)
	}
}

// What fails because a process is gone must be told apart from a file that is no ELF file, or the
// library counts that file as broken for as long as it lives.
func TestMappingOfAnEndedProcess(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("/proc/PID/map_files is for root")
	}
	sleeper := exec.Command("sleep", "60")
	in, err := sleeper.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	id := sleeper.Process.Pid
	looked := mortal{Process: process.New(libpf.PID(id), libpf.PID(id))}
	var file, vdso *process.RawMapping
	for tries := 0; (file == nil || vdso == nil) && tries < 1000; tries++ { // Start returns before all is mapped
		// A process within its exec has no mappings.
		_, err = looked.IterateMappings(func(m process.RawMapping) bool {
			switch {
			case m.IsVDSO():
				vdso = &m
			case m.IsExecutable() && m.IsFileBacked() && file == nil:
				file = &m
			}
			return true
		})
		time.Sleep(time.Millisecond)
	}
	if file == nil || vdso == nil {
		t.Fatal(file, vdso, err)
	}
	if got, err := looked.CalculateMappingFileID(file); err != nil {
		t.Errorf("alive: %v, %v", got, err)
	}
	before := looked.GetMappingFileLastModified(file)
	if again := looked.GetMappingFileLastModified(file); before <= 0 || again != before {
		t.Errorf("alive: modified %d, then %d", before, again)
	}
	if vdsoTime := looked.GetMappingFileLastModified(vdso); vdsoTime != 0 {
		t.Errorf("the vDSO was modified at %d", vdsoTime)
	}
	_ = sleeper.Process.Kill()
	_ = sleeper.Wait()
	if _, err := looked.CalculateMappingFileID(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ended: %v", err)
	}
	for _, mapping := range []*process.RawMapping{file, vdso} {
		first, second := looked.GetMappingFileLastModified(mapping), looked.GetMappingFileLastModified(mapping)
		if first == second || first == before || first >= 0 {
			t.Errorf("ended: %s modified at %d, then %d; before %d", mapping.Path, first, second, before)
		}
	}
}
