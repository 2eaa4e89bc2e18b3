package record

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
	"culprit/internal/probe/beat"
	"culprit/recording"
)

// maxTree bounds the processes looked at for facts of the target.
const maxTree = 64

// targetPids lists the processes that a window begins with.
func targetPids(target Target) ([]int, error) {
	switch {
	case target.Cgroup != "":
		return cgroupPids(target.Cgroup)
	case target.Pid > 0:
		return tree(target.Pid), nil
	case target.Kind == "host":
		return nil, nil
	}
	return nil, fmt.Errorf("record: no target given; name a command, a pid, a cgroup or the host")
}

// tree lists a process and its descendants.
func tree(root int) []int {
	pids := []int{root}
	for i := 0; i < len(pids) && len(pids) < 4096; i++ {
		pids = append(pids, host.Children(pids[i])...)
	}
	return pids
}

// cgroupPids lists the processes of a cgroup and those below it.
func cgroupPids(directory string) ([]int, error) {
	if _, err := os.Stat(filepath.Join(directory, "cgroup.procs")); err != nil {
		return nil, fmt.Errorf("record cgroup %s: not a cgroup directory; give one below /sys/fs/cgroup", directory)
	}
	var pids []int
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "cgroup.procs" {
			return nil // a cgroup that was removed meanwhile
		}
		file, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			if pid, err := strconv.Atoi(lines.Text()); err == nil {
				pids = append(pids, pid)
			}
		}
		return lines.Err()
	})
	if err == nil && len(pids) == 0 {
		err = fmt.Errorf("record cgroup %s: no process is in it", directory)
	}
	return pids, err
}

// watch reads facts of the target while it lives: a command is only known after
// its exec, and gone at the end of the window.
type watch struct {
	done  chan struct{}
	ended chan struct{}
	facts []recording.Fact

	made   []recording.Fact // what the process madeOf is made of
	madeOf int
}

// watchAt are the moments of the first looks; then once a second.
var watchAt = []time.Duration{15 * time.Millisecond, 60 * time.Millisecond, 250 * time.Millisecond}

// thoroughEvery is how many looks apart libraries and run-times are read again: programs load more as they go.
const thoroughEvery = 30

// look takes the facts of the processes as they are now; those of one that has ended since stay.
func (w *watch) look(roots []int, thorough bool) {
	facts, busiest := treeFacts(roots)
	if facts == nil {
		return
	}
	if thorough || busiest != w.madeOf {
		w.made, w.madeOf = host.RuntimeFacts("/", busiest), busiest
	}
	w.facts = append(facts, w.made...)
}

func watchTarget(pids []int) *watch {
	w := &watch{done: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		if len(pids) == 0 {
			return
		}
		for look := 0; ; look++ {
			pause := time.Second
			if look < len(watchAt) {
				pause = watchAt[look]
			}
			select {
			case <-w.done:
				return
			case <-beat.After(pause):
				w.look(pids, look < len(watchAt) || look%thoroughEvery == 0)
			}
		}
	}()
	return w
}

// stop ends the watching and returns the last facts seen.
func (w *watch) stop() []recording.Fact {
	close(w.done)
	<-w.ended
	return w.facts
}

// treeFacts reads the facts of the process that has used most CPU, names that, and of any
// other whether it is traced or filtered: strace's own CPU must not hide its tracee.
func treeFacts(roots []int) (facts []recording.Fact, busiest int) {
	var pids []int
	for _, root := range roots {
		if len(pids) >= maxTree { // of a host with hundreds, each with its tree: a third of the recorder's CPU time
			break
		}
		pids = append(pids, tree(root)...)
	}
	pids = pids[:min(len(pids), maxTree)]
	most := int64(-1)
	for _, pid := range pids {
		if used := cpuOf(pid); used > most {
			busiest, most = pid, used
		}
	}
	if most < 0 {
		return nil, 0
	}
	facts = host.TargetFacts("/", busiest)
	for _, pid := range pids {
		if pid == busiest {
			continue
		}
		for _, fact := range host.FilterFacts("/", pid) {
			facts = override(facts, fact)
		}
	}
	return facts, busiest
}

// override takes over that another process of the tree is traced or filtered.
func override(facts []recording.Fact, other recording.Fact) []recording.Fact {
	if other.Name != "target.tracer_pid" && other.Name != "target.seccomp" && other.Name != "target.seccomp_filters" {
		return facts
	}
	for i := range facts {
		if facts[i].Name == other.Name && (facts[i].Value == "0" || facts[i].Value == "none") {
			facts[i] = other
		}
	}
	return facts
}

// cpuOf is the CPU time of all threads of a process in ns; -1 when it is gone. It is the process's CPU clock, made as
// the kernel's make_process_cpuclock does (include/linux/posix-timers_types.h): /proc has it in ticks of 10 ms, or for
// one thread, and a program whose first thread waits for its workers would have used less than the shell above it.
func cpuOf(pid int) int64 {
	const scheduled = 2 // CPUCLOCK_SCHED
	var used unix.Timespec
	if err := unix.ClockGettime(^int32(pid)<<3|scheduled, &used); err != nil {
		return -1
	}
	return used.Nano()
}
