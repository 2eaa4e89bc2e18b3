package trial

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"culprit/internal/host"
)

// usage is what processes that run on have used so far.
type usage struct {
	at                     time.Time
	cpu, runqueue          time.Duration
	voluntary, involuntary float64
	minor, major           float64
	peakKB                 int64
	threads                map[int]time.Duration // by tid: on a CPU or waiting for one
	calls                  map[int]float64       // read and write calls, by process
}

// maxThreads bounds the threads that are looked at one by one.
const maxThreads = 1 << 15

// usageOf adds up processes; what ends meanwhile counts for nothing. A cgroup counts the CPU time
// of those as well.
func usageOf(pids []int, group *group) usage {
	u := usage{at: time.Now(), threads: map[int]time.Duration{}, calls: map[int]float64{}}
	for _, pid := range pids {
		u.addProcess(pid)
	}
	if used, counts := group.cpu(); counts {
		u.cpu = used
	}
	return u
}

func (u *usage) addProcess(pid int) {
	if used, err := host.ProcessCPUTime(pid); err == nil {
		u.cpu += used
	}
	if fields := host.StatFields(pid); len(fields) > 10 {
		for at, into := range map[int]*float64{7: &u.minor, 8: &u.minor, 9: &u.major, 10: &u.major} {
			number, _ := strconv.ParseFloat(fields[at], 64) // what is no number counts nothing
			*into += number
		}
	}
	u.calls[pid] = host.ReadWriteCalls(pid)
	u.cpu += childrenTime(pid)
	u.peakKB = max(u.peakKB, statusNumber(strconv.Itoa(pid), "VmHWM"))
	folder := filepath.Join("/proc", strconv.Itoa(pid), "task")
	directory, err := os.Open(folder)
	if err != nil {
		return
	}
	defer directory.Close()
	names, _ := directory.Readdirnames(maxThreads) // those that were read
	for _, name := range names {
		task := strconv.Itoa(pid) + "/task/" + name
		tid, err := strconv.Atoi(name)
		run, runqueue, errRead := taskTimes(task)
		if err != nil || errRead != nil || len(u.threads) >= maxThreads {
			continue
		}
		u.threads[tid] = run + runqueue
		u.runqueue += runqueue
		u.voluntary += float64(statusNumber(task, "voluntary_ctxt_switches"))
		u.involuntary += float64(statusNumber(task, "nonvoluntary_ctxt_switches"))
	}
}

// childrenTime is the CPU time of the children that a process has waited for: without it what a
// service's short-lived processes did would be lost with them. The kernel tells it in ticks.
func childrenTime(pid int) time.Duration {
	const user, system, ticksPerSecond = 13, 14, 100 // of proc_pid_stat(5), from its third field on; USER_HZ
	fields, ticks := host.StatFields(pid), 0.0
	if len(fields) <= system {
		return 0
	}
	for _, at := range []int{user, system} {
		number, _ := strconv.ParseFloat(fields[at], 64) // what is no number counts nothing
		ticks += number
	}
	return time.Duration(ticks / ticksPerSecond * float64(time.Second))
}

// CallsSurely is how many read and write calls there have to be in a window for the CPU time of one
// to tell of the work: what one call more or less at its edges makes is then a fifth of a per cent.
const CallsSurely = 500

// callsBetween is how many read and write calls were made between two looks; 0 where a process of
// the first has ended, for the kernel counts them by process and forgets them with it.
func callsBetween(before, after usage) (calls float64) {
	for pid := range before.calls {
		if now, runs := after.calls[pid]; !runs || now < before.calls[pid] {
			return 0
		}
	}
	for pid, now := range after.calls {
		calls += now - before.calls[pid]
	}
	return calls
}

// busiest is the largest part of a time that one thread was on a CPU or waiting for one.
func busiest(before, after map[int]time.Duration, wall time.Duration) float64 {
	most := time.Duration(0)
	for tid, used := range after {
		most = max(most, used-before[tid])
	}
	if wall <= 0 {
		return 0
	}
	return min(1, most.Seconds()/wall.Seconds())
}

// busyWatch follows how busy the threads of a command are while it runs: when it has ended, they
// cannot be told any more.
type busyWatch struct {
	stop, over chan struct{}
	threads    map[int]time.Duration
}

// busyLook is how often it looks. A thread's last moments are missing from its account.
const busyLook = 50 * time.Millisecond

func watchBusy(pid int) *busyWatch {
	w := &busyWatch{make(chan struct{}), make(chan struct{}), map[int]time.Duration{}}
	go func() {
		defer close(w.over)
		for {
			for _, one := range host.Tree(pid, maxBeside) {
				w.look(one)
			}
			select {
			case <-w.stop:
				return
			case <-time.After(busyLook):
			}
		}
	}()
	return w
}

func (w *busyWatch) look(pid int) {
	directory, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	if err != nil {
		return
	}
	defer directory.Close()
	names, _ := directory.Readdirnames(1024) // those that were read
	for _, name := range names {
		tid, err := strconv.Atoi(name)
		if run, runqueue, errRead := taskTimes(strconv.Itoa(pid) + "/task/" + name); err == nil && errRead == nil {
			w.threads[tid] = max(w.threads[tid], run+runqueue)
		}
	}
}

func (w *busyWatch) end() map[int]time.Duration {
	close(w.stop)
	<-w.over
	return w.threads
}
