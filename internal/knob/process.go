package knob

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"culprit/internal/host"
)

// treeLimit is the most threads of a tree that are changed: more would not fit into the journal.
const treeLimit = 8000

// findAttribute makes the knob of an attribute for a running tree of processes: each
// thread of each process is a part of it, which is put back to what itself had.
// For a command that is not yet there Launch is the way.
func findAttribute(name string, target Target) (Knob, bool, error) {
	attribute, ours := attributeOf(name)
	if !ours {
		return Knob{}, false, nil
	}
	if target.Pid <= 0 {
		return Knob{}, true, errors.New("it is a knob of processes: name one (-p PID), or a command to start")
	}
	if target.Born == 0 { // otherwise it comes from the journal, and may have ended
		born, err := startTicks(target.Pid)
		if err != nil {
			return Knob{}, true, err
		}
		target.Born = born
	}
	about := attribute.about
	about.Place = Place{Root: target.Root, Path: fmt.Sprintf("/proc/%d", target.Pid)}
	knob := Knob{name: name, target: target, about: about,
		parts: func() ([]part, error) { return treeParts(attribute, target) },
		byID:  func(id string) (part, error) { return threadByID(attribute, id) },
		check: func(value string) (string, error) { return attribute.undoable(value) }}
	return knob, true, nil
}

const capSysNice = 1 << 23

// undoable refuses what could be set and then not be put back.
func (a attribute) undoable(value string) (string, error) {
	if _, _, both := strings.Cut(value, ":"); a.whole && both {
		return "", errors.New("the hard limit of a running process cannot be put back: give the soft one only")
	}
	if a.name == "nice" || a.name == "policy" {
		held, err := host.EffectiveCapabilities()
		if err != nil {
			return "", err
		}
		if held&capSysNice == 0 {
			return "", errors.New("without CAP_SYS_NICE it could not be put back (run as root)")
		}
	}
	return a.spelled(value)
}

// treeParts lists the threads of a tree as parts: of the top process first.
func treeParts(attribute attribute, target Target) ([]part, error) {
	if born, err := startTicks(target.Pid); err != nil || born != target.Born {
		return nil, fmt.Errorf("read process %d: %w", target.Pid, errGone)
	}
	var parts []part
	seen := map[int]bool{}
	for queue := []int{target.Pid}; len(queue) > 0; queue = queue[1:] {
		pid := queue[0]
		if seen[pid] {
			continue
		}
		seen[pid] = true
		queue = append(queue, host.Children(pid)...)
		for _, tid := range threads(pid, attribute.whole) {
			born, err := startTicks(tid)
			if err != nil {
				continue // it has ended
			}
			parts = append(parts, threadPart(attribute, tid, born))
		}
		if len(parts) > treeLimit {
			return nil, fmt.Errorf("process %d has more than %d threads below it", target.Pid, treeLimit)
		}
	}
	return parts, nil
}

// threads lists the threads of a process, or only the process where it has one value for all.
func threads(pid int, whole bool) []int {
	if whole {
		return []int{pid}
	}
	listed, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil // it has ended
	}
	var tids []int
	for _, each := range listed {
		if tid, err := strconv.Atoi(each.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// threadPart is the attribute of one thread, as long as it is that thread.
func threadPart(attribute attribute, tid int, born uint64) part {
	still := func() error {
		if now, err := startTicks(tid); err != nil || now != born {
			return fmt.Errorf("thread %d: %w", tid, errGone)
		}
		return nil
	}
	made := part{id: fmt.Sprintf("%d/%d/%s", tid, born, attribute.name), path: fmt.Sprintf("/proc/%d", tid),
		read: func() (string, error) {
			if err := still(); err != nil {
				return "", err
			}
			return attribute.read(tid)
		},
		write: func(value string) error {
			if err := still(); err != nil {
				return err
			}
			return attribute.write(tid, value)
		},
		fix: func(original string) string {
			return fmt.Sprintf("give thread %d %s %s", tid, attribute.name, original)
		}}
	if attribute.whole { // the soft limit is given, both are read
		made.want = func(value string) string {
			now, err := attribute.read(tid)
			if _, hard, both := strings.Cut(now, ":"); err == nil && both {
				return value + ":" + hard
			}
			return value
		}
	}
	return made
}

// threadByID finds a thread that a journal names.
func threadByID(attribute attribute, id string) (part, error) {
	first, rest, _ := strings.Cut(id, "/")
	second, _, _ := strings.Cut(rest, "/")
	tid, err := strconv.Atoi(first)
	born, bornErr := strconv.ParseUint(second, 10, 64)
	if err != nil || bornErr != nil || tid <= 0 {
		return part{}, fmt.Errorf("find thread %.40q: no thread's number and start", id)
	}
	return threadPart(attribute, tid, born), nil
}
