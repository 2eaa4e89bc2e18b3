package comparability

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"syscall"

	"culprit/internal/compare/perrun"
	"culprit/recording"
)

// failuresNamed is how many programs that failed are told of. Chosen: each is a line.
const failuresNamed = 3

// crashes are the signals by which a program ends that did something wrong; the others are sent by
// whoever no longer wants it.
var crashes = []syscall.Signal{syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE,
	syscall.SIGSEGV, syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGSYS}

// Failed warns of programs of a command that fail in each recording of one side, and in none of the
// other: a shell tells the status of the last program of a pipe alone, and one that failed did not
// do what it is compared for.
func Failed(a, b []*recording.Recording) (list []string) {
	for _, side := range []struct {
		of, other    perrun.Side
		fails, rests []*recording.Recording
	}{{perrun.A, perrun.B, a, b}, {perrun.B, perrun.A, b, a}} {
		if len(side.fails) == 0 || len(side.rests) == 0 {
			continue
		}
		other := map[string]bool{}
		for _, rec := range side.rests {
			for name := range failures(rec) {
				other[name] = true
			}
		}
		each := failures(side.fails[0])
		for _, rec := range side.fails[1:] {
			found := failures(rec)
			for name := range each {
				if found[name] == "" {
					delete(each, name)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(each)) {
			if !other[name] && len(list) < failuresNamed {
				list = append(list, fmt.Sprintf("%s %s in each recorded run of %s and in none of %s: it may not "+
					"have done its work there (a pipe tells the status of its last program only)",
					name, each[name], side.of, side.other))
			}
		}
	}
	return list
}

// failures says of each program of a command how the last process of it ended that failed.
func failures(rec *recording.Recording) map[string]string {
	found := map[string]string{}
	if rec.Manifest.Target.Kind != "command" {
		return found
	}
	for i := range rec.Processes {
		process := &rec.Processes[i]
		name := path.Base(cmp.Or(process.Command, process.Comm))
		switch code := process.ExitCode; {
		case process.EndNs == 0 || name == ".":
		case code > 0:
			found[name] = fmt.Sprintf("ended with exit status %d", code)
		case slices.Contains(crashes, syscall.Signal(-code)):
			found[name] = fmt.Sprintf("was killed by signal %d (%s)", -code, syscall.Signal(-code))
		}
	}
	return found
}
