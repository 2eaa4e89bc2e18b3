package knob

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cpuLimit is more CPUs than any kernel is built for.
const cpuLimit = 8192

// parseCPUs reads a list such as "0-2,5", in any order.
func parseCPUs(text string) ([]int, error) {
	var cpus []int
	for _, each := range strings.Split(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(each), "-")
		first, err := strconv.Atoi(low)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(high)
		}
		if err != nil || first < 0 || last < first || last >= cpuLimit {
			return nil, fmt.Errorf("%q is no list of CPUs such as 0-2,5", text)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}

// formatCPUs writes a list as the kernel does.
func formatCPUs(cpus []int) string {
	var parts []string
	for i := 0; i < len(cpus); {
		last := i
		for last+1 < len(cpus) && cpus[last+1] == cpus[last]+1 {
			last++
		}
		text := strconv.Itoa(cpus[i])
		if last > i {
			text += "-" + strconv.Itoa(cpus[last])
		}
		parts = append(parts, text)
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// checkCPUs wants CPUs of this host that are online, and at least one.
func checkCPUs(value string) (string, error) {
	cpus, err := parseCPUs(value)
	if err != nil {
		return "", err
	}
	text, err := readSetting(Place{Root: "/", Path: "/sys/devices/system/cpu/online"})
	if err != nil {
		return "", err
	}
	online, err := parseCPUs(text)
	if err != nil {
		return "", errors.New("the kernel's list of online CPUs cannot be read")
	}
	for _, cpu := range cpus {
		if !slices.Contains(online, cpu) {
			return "", fmt.Errorf("CPU %d is not online: %w (available: %s)", cpu, ErrRefused, text)
		}
	}
	return formatCPUs(cpus), nil
}

// sameCPUs gives the kernel's spelling of a list, or the text as it is.
func sameCPUs(text string) string {
	cpus, err := parseCPUs(text)
	if err != nil {
		return text
	}
	return formatCPUs(cpus)
}
