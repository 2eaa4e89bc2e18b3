package host

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// userHz is the unit of /proc/stat: the kernel's USER_HZ is 100 on every
// architecture that Go runs on, whatever CONFIG_HZ is.
const userHz = 100

// CPUTimes is the CPU time of the whole host since boot, in seconds summed over
// its CPUs. The split of user and system comes from ticks; differences shorter
// than some ticks (10 ms) mean little.
type CPUTimes struct {
	User   float64 // with nice; guests are part of it
	System float64 // with interrupts
	Idle   float64
	IOWait float64 // idle while I/O is under way
	Steal  float64 // the hypervisor ran something else
	Total  float64 // all of the above
}

// Busy is the time that something ran.
func (times CPUTimes) Busy() float64 { return times.User + times.System }

// Since returns the time that has passed since an earlier reading. The kernel's
// idle and I/O-wait times may step back by a tick; such differences count as none.
func (times CPUTimes) Since(earlier CPUTimes) CPUTimes {
	passed := func(now, then float64) float64 { return max(0, now-then) }
	return CPUTimes{
		User: passed(times.User, earlier.User), System: passed(times.System, earlier.System),
		Idle: passed(times.Idle, earlier.Idle), IOWait: passed(times.IOWait, earlier.IOWait),
		Steal: passed(times.Steal, earlier.Steal), Total: passed(times.Total, earlier.Total),
	}
}

// ReadCPUTimes reads the first line of /proc/stat below root.
func ReadCPUTimes(root string) (CPUTimes, error) {
	const source = "/proc/stat"
	file, err := os.Open(tree{root}.path(source))
	if err != nil {
		return CPUTimes{}, fmt.Errorf("read CPU times: %w", err)
	}
	defer file.Close()
	// Only the first line: those of the interrupts are long and dear on large hosts.
	line, err := bufio.NewReader(io.LimitReader(file, 1024)).ReadString('\n')
	if err != nil {
		return CPUTimes{}, fmt.Errorf("read CPU times: first line of %s: %w", source, err)
	}
	return parseCPUTimes(line)
}

func parseCPUTimes(line string) (CPUTimes, error) {
	words := strings.Fields(line)
	// user nice system idle iowait irq softirq steal; guest times are inside user.
	const columns = 8
	if len(words) < 1+columns || words[0] != "cpu" {
		return CPUTimes{}, fmt.Errorf("read CPU times: /proc/stat begins with %q, not with a line of CPU times",
			clean(line, 80))
	}
	var seconds [columns]float64
	for i := range seconds {
		ticks, err := strconv.ParseUint(words[i+1], 10, 63)
		if err != nil {
			return CPUTimes{}, fmt.Errorf("read CPU times: column %d of /proc/stat: %w", i+1, err)
		}
		seconds[i] = float64(ticks) / userHz
	}
	times := CPUTimes{User: seconds[0] + seconds[1], System: seconds[2] + seconds[5] + seconds[6],
		Idle: seconds[3], IOWait: seconds[4], Steal: seconds[7]}
	times.Total = times.User + times.System + times.Idle + times.IOWait + times.Steal
	return times, nil
}
