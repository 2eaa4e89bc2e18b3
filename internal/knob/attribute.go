package knob

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// attribute is a setting that each thread has for itself and that its children inherit.
type attribute struct {
	name   string
	about  About
	values []string // of a closed set; nil for an open-ended one
	check  func(value string) (string, error)
	read   func(tid int) (string, error)
	write  func(tid int, value string) error
	whole  bool // of a process, not of each of its threads
}

// attributes lists those that are not limits.
func attributes() []attribute {
	return []attribute{
		{name: "affinity", about: About{Text: "the CPUs that the target may use", Effect: AtOnce},
			check: checkCPUs, read: readAffinity, write: writeAffinity},
		{name: "nice", about: About{Text: "the target's share of a busy CPU", Effect: AtOnce, Numeric: true},
			check: checkNice, read: readNice, write: writeNice},
		{name: "policy", about: About{Text: "the target's scheduling class", Effect: AtOnce},
			values: []string{"other", "batch", "idle"}, read: readPolicy, write: writePolicy},
		{name: "timerslack", about: About{Text: "how late the kernel may wake the target, in ns", Effect: AtOnce,
			Numeric: true}, check: checkPositive, read: readTimerSlack, write: writeTimerSlack},
	}
}

// attributeOf finds the attribute of a name.
func attributeOf(name string) (attribute, bool) {
	for _, each := range append(attributes(), limits()...) {
		if each.name == name {
			return each, true
		}
	}
	return attribute{}, false
}

// spelled checks a value against what the attribute offers.
func (a attribute) spelled(value string) (string, error) {
	if a.values != nil && !slices.Contains(a.values, value) {
		return "", fmt.Errorf("set %s to %q: %w (available: %s)", a.name, value, ErrRefused, strings.Join(a.values, " "))
	}
	if a.check == nil {
		return value, nil
	}
	return a.check(value)
}

// onThread turns the error of a thread that has ended into errGone.
func onThread(verb string, tid int, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH), errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s of thread %d: %w", verb, tid, errGone)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("%s of thread %d: %w (run as root)", verb, tid, err)
	}
	return fmt.Errorf("%s of thread %d: %w", verb, tid, err)
}

func readAffinity(tid int) (string, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
		return "", onThread("read affinity", tid, err)
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return formatCPUs(cpus), nil
}

func writeAffinity(tid int, value string) error {
	cpus, err := parseCPUs(value)
	if err != nil {
		return err
	}
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return onThread("set affinity", tid, unix.SchedSetaffinity(tid, &set))
}

func checkNice(value string) (string, error) {
	number, err := strconv.Atoi(value)
	if err != nil || number < -20 || number > 19 {
		return "", errors.New("a number from -20 (most) to 19 (least) is needed")
	}
	return strconv.Itoa(number), nil
}

func readNice(tid int) (string, error) {
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, tid)
	if err != nil {
		return "", onThread("read nice", tid, err)
	}
	return strconv.Itoa(20 - raw), nil // the system call returns 20 - nice
}

func writeNice(tid int, value string) error {
	number, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("set nice to %q: %w", value, err)
	}
	return onThread("set nice", tid, unix.Setpriority(unix.PRIO_PROCESS, tid, number))
}

// policies by the kernel's number. The real-time ones are read so that a thread that
// has one is told and left alone: they can stop a machine, and are never set.
var policies = map[uint32]string{unix.SCHED_NORMAL: "other", unix.SCHED_BATCH: "batch", unix.SCHED_IDLE: "idle",
	unix.SCHED_FIFO: "fifo", unix.SCHED_RR: "rr", unix.SCHED_DEADLINE: "deadline"}

func readPolicy(tid int) (string, error) {
	got, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return "", onThread("read policy", tid, err)
	}
	if name, known := policies[got.Policy]; known {
		return name, nil
	}
	return fmt.Sprintf("policy-%d", got.Policy), nil
}

func writePolicy(tid int, value string) error {
	// What is there keeps its nice value and flags: only the class is exchanged.
	got, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return onThread("read policy", tid, err)
	}
	for number, name := range policies {
		if name == value {
			got.Policy = number
			return onThread("set policy", tid, unix.SchedSetAttr(tid, got, 0))
		}
	}
	return fmt.Errorf("set policy of thread %d: none is called %q", tid, value)
}

func checkPositive(value string) (string, error) {
	number, err := strconv.ParseUint(value, 10, 63)
	if err != nil || number == 0 {
		return "", errors.New("a whole number above 0 is needed")
	}
	return strconv.FormatUint(number, 10), nil
}

func timerSlackFile(tid int) Place {
	return Place{Root: "/proc", Path: fmt.Sprintf("/%d/timerslack_ns", tid)}
}

func readTimerSlack(tid int) (string, error) {
	value, err := readSetting(timerSlackFile(tid))
	return value, onThread("read timer slack", tid, err)
}

func writeTimerSlack(tid int, value string) error {
	return onThread("set timer slack", tid, writeSetting(timerSlackFile(tid), value))
}
