package knob

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limitNumbers are the resource limits by the names of setrlimit(2), in small letters.
var limitNumbers = map[string]int{"as": unix.RLIMIT_AS, "core": unix.RLIMIT_CORE, "cpu": unix.RLIMIT_CPU,
	"data": unix.RLIMIT_DATA, "fsize": unix.RLIMIT_FSIZE, "memlock": unix.RLIMIT_MEMLOCK,
	"msgqueue": unix.RLIMIT_MSGQUEUE, "nofile": unix.RLIMIT_NOFILE, "nproc": unix.RLIMIT_NPROC,
	"rss": unix.RLIMIT_RSS, "sigpending": unix.RLIMIT_SIGPENDING, "stack": unix.RLIMIT_STACK}

// limits are the attributes "rlimit.nofile" and so on. The hard limit stays as it is
// unless the value names it: "1024" is a soft limit, "1024:4096" is both.
func limits() []attribute {
	var all []attribute
	for name, number := range limitNumbers {
		all = append(all, attribute{name: "rlimit." + name, whole: true, check: checkLimit,
			about: About{Text: "the target's limit " + name + ", soft or soft:hard", Effect: AtOnce, Numeric: true},
			read:  func(pid int) (string, error) { return readLimit(pid, number) },
			write: func(pid int, value string) error { return writeLimit(pid, number, value) }})
	}
	slices.SortFunc(all, func(a, b attribute) int { return strings.Compare(a.name, b.name) })
	return all
}

const unlimited = "unlimited"

func parseLimit(text string) (uint64, error) {
	if text == unlimited {
		return unix.RLIM_INFINITY, nil
	}
	return strconv.ParseUint(text, 10, 64)
}

func formatLimit(value uint64) string {
	if value == unix.RLIM_INFINITY {
		return unlimited
	}
	return strconv.FormatUint(value, 10)
}

func checkLimit(value string) (string, error) {
	soft, hard, both := strings.Cut(value, ":")
	low, err := parseLimit(soft)
	if err == nil && both {
		var high uint64
		if high, err = parseLimit(hard); err == nil && low > high {
			err = errors.New("the soft limit is above the hard one")
		}
	}
	if err != nil {
		return "", fmt.Errorf("a number, %q, or two of them as soft:hard are needed (%w)", unlimited, err)
	}
	return value, nil
}

// readLimit gives soft:hard.
func readLimit(pid, number int) (string, error) {
	var found unix.Rlimit
	if err := unix.Prlimit(pid, number, nil, &found); err != nil {
		return "", onThread("read limit", pid, err)
	}
	return formatLimit(found.Cur) + ":" + formatLimit(found.Max), nil
}

func writeLimit(pid, number int, value string) error {
	soft, hard, both := strings.Cut(value, ":")
	var wanted unix.Rlimit
	if err := unix.Prlimit(pid, number, nil, &wanted); err != nil {
		return onThread("read limit", pid, err)
	}
	var err error
	if wanted.Cur, err = parseLimit(soft); err == nil && both {
		wanted.Max, err = parseLimit(hard)
	}
	if err != nil {
		return fmt.Errorf("set limit to %q: %w", value, err)
	}
	if wanted.Cur > wanted.Max {
		return fmt.Errorf("set limit to %q: the hard limit is %s", value, formatLimit(wanted.Max))
	}
	return onThread("set limit", pid, unix.Prlimit(pid, number, &wanted, nil))
}
