package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

// attachEmpty attaches programs that do nothing and returns what takes them away.
func attachEmpty(hooks []string) (detach func(), err error) {
	var all []io.Closer
	detach = func() {
		for _, one := range all {
			_ = one.Close() // the kernel has let go of it all the same
		}
	}
	for _, hook := range hooks {
		program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp,
			AttachTo: hook, Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}, License: "GPL"})
		if err != nil {
			detach()
			return nil, fmt.Errorf("load an empty program for %s: %w", hook, err)
		}
		all = append(all, program)
		attached, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			detach()
			return nil, fmt.Errorf("attach to %s: %w", hook, err)
		}
		all = append(all, attached)
	}
	return detach, nil
}

// programRun is how often programs of one name ran, and for how long.
type programRun struct {
	count uint64
	ns    uint64
}

// programRuns reads the kernel's account of all programs that are loaded.
func programRuns() (map[string]programRun, error) {
	runs := map[string]programRun{}
	for id, err := ebpf.ProgramGetNextID(0); err == nil; id, err = ebpf.ProgramGetNextID(id) {
		program, err := ebpf.NewProgramFromID(id)
		if err != nil {
			continue // it was unloaded meanwhile
		}
		info, unknown := program.Info()
		stats, unread := program.Stats()
		if unknown == nil && unread == nil {
			sum := runs[info.Name]
			runs[info.Name] = programRun{sum.count + stats.RunCount, sum.ns + uint64(stats.Runtime)}
		}
		if err := program.Close(); err != nil {
			return nil, fmt.Errorf("read programs: %w", err)
		}
	}
	return runs, nil
}

// printPrograms prints what the programs took for a request, by the kernel's account, which takes
// some 50 ns of each run itself.
func printPrograms(out io.Writer, before, after map[string]programRun, requests int) {
	for _, name := range slices.Sorted(maps.Keys(after)) {
		count, ns := after[name].count-before[name].count, after[name].ns-before[name].ns
		if float64(count) < 0.2*float64(requests) {
			continue
		}
		fmt.Fprintf(out, "%-16s %6.2f runs and %6.0f ns for a request, %4.0f ns a run\n", name,
			float64(count)/float64(requests), float64(ns)/float64(requests), float64(ns)/float64(count))
	}
}
