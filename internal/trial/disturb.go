package trial

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
)

// look is what the host had done at one moment.
type look struct {
	at     time.Time
	idle   time.Duration // of all CPUs, waiting for I/O included
	steal  time.Duration
	own    time.Duration // CPU time of culprit itself
	spared map[int]time.Duration
}

// lookAtHost reads the host's times. The idle time is exact to a tick of output on a kernel with
// NO_HZ, other than the busy times there, which are sampled: busy time is therefore taken as what
// is not idle.
func lookAtHost(root string, spared []int) (look, error) {
	seen := look{at: time.Now(), spared: map[int]time.Duration{}}
	times, err := host.ReadCPUTimes(root)
	if err != nil {
		return look{}, err
	}
	seen.idle, seen.steal = seconds(times.Idle+times.IOWait), seconds(times.Steal)
	if seen.own, err = clockTime(unix.CLOCK_PROCESS_CPUTIME_ID); err != nil {
		return look{}, fmt.Errorf("read own CPU time: %w", err)
	}
	for _, pid := range spared {
		// One that has ended is left out; its time then counts as others', which is where it ends
		// up for the target.
		if used, err := host.ProcessCPUTime(pid); err == nil {
			seen.spared[pid] = used
		}
	}
	return seen, nil
}

func seconds(value float64) time.Duration { return time.Duration(value * float64(time.Second)) }

// countCPUs counts the CPUs in a list of the kernel's, such as "0-3,8".
func countCPUs(list string) (int, error) {
	const most = 1 << 16
	count := 0
	for _, part := range strings.Split(strings.TrimSpace(list), ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, errFrom := strconv.ParseUint(low, 10, 16)
		to, errTo := strconv.ParseUint(high, 10, 16)
		if err := first(errFrom, errTo); err != nil || to < from {
			return 0, fmt.Errorf("count CPUs: %q is no list of CPUs", oneLine(list, 60))
		}
		if count += int(to-from) + 1; count > most {
			return 0, fmt.Errorf("count CPUs: %q names too many", oneLine(list, 60))
		}
	}
	return count, nil
}

func clockTime(clock int32) (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(clock, &now); err != nil {
		return 0, err
	}
	return time.Duration(now.Nano()), nil
}

// between returns what came from outside between two looks at a host with so many CPUs, given the
// CPU time of the tree meanwhile.
func between(before, after look, cpus int, tree time.Duration) Disturbance {
	steal := max(0, after.steal-before.steal)
	busy := after.at.Sub(before.at)*time.Duration(cpus) - (after.idle - before.idle) - steal
	known := tree + after.own - before.own
	for pid, used := range after.spared {
		if earlier, found := before.spared[pid]; found {
			known += used - earlier
		}
	}
	return Disturbance{StealS: steal.Seconds(), OthersS: max(0, busy-known).Seconds()}
}

// baseline is what the gate's shell had used when the gate opened: it is not the command's.
type baseline struct {
	run, runqueue          time.Duration
	voluntary, involuntary int64
	minor, major           int64
	groupCPU               time.Duration
	ownPeakKB              int64
}

// readBaseline reads the account of the gate's shell, which has one thread.
func readBaseline(pid int, group *group) (baseline, error) {
	var b baseline
	var err error
	if b.run, b.runqueue, err = schedstat(pid); err != nil {
		return b, err
	}
	if fields := host.StatFields(pid); len(fields) > 9 {
		b.minor, _ = strconv.ParseInt(fields[7], 10, 64)
		b.major, _ = strconv.ParseInt(fields[9], 10, 64)
	}
	b.voluntary = statusNumber(strconv.Itoa(pid), "voluntary_ctxt_switches")
	b.involuntary = statusNumber(strconv.Itoa(pid), "nonvoluntary_ctxt_switches")
	b.ownPeakKB = statusNumber("self", "VmHWM")
	b.groupCPU, _ = group.cpu()
	return b, nil
}

// schedstat returns how long a process's first thread ran and how long it waited for a CPU; a
// zombie still has it.
func schedstat(pid int) (run, runqueue time.Duration, err error) {
	run, runqueue, err = taskTimes(strconv.Itoa(pid))
	if errors.Is(err, os.ErrNotExist) {
		// A kernel without CONFIG_SCHED_INFO: the clock still tells the run time.
		run, err = host.ProcessCPUTime(pid)
		return run, 0, err
	}
	return run, runqueue, err
}

// taskTimes is schedstat of a thread, given as PID or PID/task/TID.
func taskTimes(task string) (run, runqueue time.Duration, err error) {
	text, err := os.ReadFile("/proc/" + task + "/schedstat")
	if err != nil {
		return 0, 0, fmt.Errorf("read run time: %w", err)
	}
	if _, err := fmt.Sscan(string(text), &run, &runqueue); err != nil {
		return 0, 0, fmt.Errorf("read run time of process %s: %w", task, err)
	}
	return run, runqueue, nil
}

// statusNumber returns a number out of /proc/PID/status, 0 when it is not there.
func statusNumber(pid, name string) int64 {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			fields := strings.Fields(value)
			if len(fields) == 0 {
				return 0
			}
			number, _ := strconv.ParseInt(fields[0], 10, 64)
			return number
		}
	}
	return 0
}
