package unwind

import (
	"fmt"
	"io"
	"os"

	"go.opentelemetry.io/ebpf-profiler/host"
	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/libpf/pfelf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/processmanager/execinfomanager"
)

// readRules has the library read how the functions of a program are left, and whether it is a run
// time, before a look asks for it: path is that of the process's mapping, by which run times are
// told. What was read stays though no process is known to have it: the library forgets what nobody
// uses after a minute.
func readRules(rules *execinfomanager.ExecutableInfoManager, target process.Process, path string, file *os.File) {
	info, err := file.Stat()
	if err != nil {
		return // a look will find the same
	}
	id, err := libpf.FileIDFromExecutableReader(io.NewSectionReader(file, 0, info.Size()))
	if err != nil {
		return
	}
	program := pfelf.NewReferenceWithOpenFunc(path, target, func() (*pfelf.File, error) {
		opened, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", file.Fd())) // the process may have ended
		if err != nil {
			return nil, err
		}
		return pfelf.NewFileOwned(opened)
	})
	defer program.Close()
	if _, err := rules.AddOrIncRef(host.FileIDFromLibpf(id), program); err == nil {
		_ = rules.DecRef(host.FileIDFromLibpf(id)) // it was just counted
	}
}
