package record

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

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

// mostOfTarget bounds the processes of a command that are looked at.
const mostOfTarget = 4096

func tree(root int) []int { return host.Tree(root, mostOfTarget) }

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
	pids   []int // the tree that the facts are of
	used   *usage
	held   *heldFacts // is told what may change of a process that stays
}

// watchAt are the moments of the first looks; then once a second.
var watchAt = []time.Duration{15 * time.Millisecond, 60 * time.Millisecond, 250 * time.Millisecond}

// How many looks apart all facts are read again of a tree that is the same (3 ms of CPU time each;
// in between it is looked at who filters and traces it), and libraries and run-times: programs load
// more as they go.
const (
	wholeEvery    = 5
	thoroughEvery = 30
)

// look takes the facts of the processes as they are now; those of one that has ended since stay.
func (w *watch) look(roots []int, number int) {
	pids := treeOf(roots)
	busiest := busiestOf(pids)
	if busiest == 0 {
		return
	}
	first := number < len(watchAt)
	if w.used.hold(pids); first || number%thoroughEvery == 0 {
		w.used.look(pids)
	}
	if !first && number%wholeEvery != 0 && busiest == w.madeOf && slices.Equal(pids, w.pids) {
		w.facts = withFilters(w.facts, pids)
		w.held.note(thatMayChange(w.facts)...)
		return
	}
	facts := host.TargetFacts("/", busiest)
	if facts == nil {
		return
	}
	if first || number%thoroughEvery == 0 || busiest != w.madeOf {
		w.made, w.madeOf = host.RuntimeFacts("/", busiest), busiest
	}
	same := slices.Equal(pids, w.pids) // else they are those of others
	w.pids = pids
	if w.facts = append(withFilters(facts, pids), w.made...); same {
		w.held.note(thatMayChange(w.facts)...)
	}
}

func watchTarget(pids []int, held *heldFacts) *watch {
	w := &watch{done: make(chan struct{}), ended: make(chan struct{}), used: newUsage(), held: held}
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
				w.look(pids, look)
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

// treeOf lists the processes that a look is about.
func treeOf(roots []int) (pids []int) {
	for _, root := range roots {
		if len(pids) >= maxTree { // of a host with hundreds, each with its tree: a third of the recorder's CPU time
			break
		}
		pids = append(pids, tree(root)...)
	}
	return pids[:min(len(pids), maxTree)]
}

// busiestOf is the process that has used most CPU; 0 when all have ended.
func busiestOf(pids []int) (busiest int) {
	most := time.Duration(-1)
	for _, pid := range pids {
		// A program whose first thread waits for its workers has not used less than the shell above
		// it.
		if used, err := host.ProcessCPUTime(pid); err == nil && used > most {
			busiest, most = pid, used
		}
	}
	return busiest
}

// withFilters takes over into the facts of the busiest process, which names a tree, that any of it
// is traced or filtered: strace's own CPU must not hide its tracee.
func withFilters(facts []recording.Fact, pids []int) []recording.Fact {
	for _, pid := range pids {
		for _, fact := range host.FilterFacts("/", pid) {
			facts = override(facts, fact)
		}
	}
	return facts
}

// nobody are the values of facts of a process that is neither traced nor filtered.
var nobody = []string{"none", "off", "0"}

// override takes over that another process of the tree is traced or filtered.
func override(facts []recording.Fact, other recording.Fact) []recording.Fact {
	if other.Name != host.FactTargetTracer && other.Name != "target.seccomp" && other.Name != "target.seccomp_filters" {
		return facts
	}
	for i := range facts {
		if facts[i].Name == other.Name && slices.Contains(nobody, facts[i].Value) {
			facts[i] = other
		}
	}
	return facts
}
