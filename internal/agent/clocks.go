package agent

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// moment is a time on the three clocks that do not agree: that on the wall, which is set; that of
// the timers, which stands still in suspend; and that since boot, which does neither.
type moment struct {
	wall      time.Time
	monotonic time.Duration
	boot      time.Duration
}

func now() moment {
	return moment{wall: time.Now().Round(0), monotonic: clock(unix.CLOCK_MONOTONIC), boot: clock(unix.CLOCK_BOOTTIME)}
}

func clock(id int32) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(id, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// Differences below these are of the clocks' own wander.
const (
	leastStep    = 500 * time.Millisecond
	leastSuspend = 500 * time.Millisecond
)

// since tells what the clocks did between two moments: how long it was by the timers, by how much
// the clock was set, and how long the host was suspended.
func (m moment) since(before moment) (length, set, suspended time.Duration) {
	length = m.monotonic - before.monotonic
	lived := m.boot - before.boot
	if suspended = lived - length; suspended < leastSuspend {
		suspended = 0
	}
	if set = m.wall.Sub(before.wall) - lived; set.Abs() < leastStep {
		set = 0
	}
	return length, set, suspended
}

// untilEdge is how long a window is that ends where the clock on the wall begins a new stretch, so
// that those of all hosts do together. It is never shorter than half a stretch.
func untilEdge(wall time.Time, every time.Duration) time.Duration {
	past := time.Duration(wall.UnixNano()) % every
	if past < 0 {
		past += every
	}
	left := every - past
	if left < every/2 {
		left += every
	}
	return left
}

// bootID tells one boot of the host from the next.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
