package host

import (
	"path"
	"slices"
	"strings"
)

// quotas lists the cgroups above a process, its own first, that can hold its CPU time back.
func quotas(files tree, member membership) (found []ancestor) {
	folder, below := member.folder, member.path
	for range meteredGroups {
		if below == "/" || folder == member.mount {
			break
		}
		if files.exists(path.Join(folder, "cpu.max")) || files.exists(path.Join(folder, "cpu.cfs_quota_us")) {
			found = append(found, ancestor{folder, below})
		}
		folder, below = path.Dir(folder), path.Dir(below)
	}
	return found
}

// throttling adds how often and how long a quota stopped a cgroup; v1 counts in ns, v2 in µs.
func (meter *Meter) throttling(group ancestor) {
	text, _ := meter.files.read(path.Join(group.folder, "cpu.stat"), fileLimit)
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "nr_periods":
			meter.number("cgroup.cpu.periods", group.path, value, 1)
		case "nr_throttled":
			meter.number("cgroup.cpu.throttled_periods", group.path, value, 1)
		case "throttled_time":
			meter.number("cgroup.cpu.throttled_s", group.path, value, 1e-9)
		case "throttled_usec":
			meter.number("cgroup.cpu.throttled_s", group.path, value, 1e-6)
		}
	}
}

// groupCPU adds the CPU time that a cgroup has used.
func (meter *Meter) groupCPU(member membership) {
	if used := meter.files.line(path.Join(member.folder, "cpuacct.usage")); used != "" {
		meter.number("cgroup.cpu.used_s", member.path, used, 1e-9)
		return
	}
	accounts := func(member membership) bool { return strings.Contains(member.controllers, "cpuacct") }
	if member.controllers != "" || slices.ContainsFunc(meter.members, accounts) {
		return // v1 tells it
	}
	text, _ := meter.files.read(path.Join(member.folder, "cpu.stat"), fileLimit)
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, "usage_usec "); found {
			meter.number("cgroup.cpu.used_s", member.path, strings.TrimSpace(value), 1e-6)
		}
	}
}

// groupMemoryLines are lines of memory.stat: v2's, and v1's that have another name (total_… is with
// those below).
var groupMemoryLines = map[string]string{"anon": "cgroup.memory.anonymous_bytes", "file": "cgroup.memory.file_bytes",
	"file_dirty": "cgroup.memory.dirty_bytes", "file_writeback": "cgroup.memory.writeback_bytes",
	"pgmajfault": "cgroup.memory.major_faults", "pgfault": "cgroup.memory.faults",
	"pgscan_direct": "cgroup.memory.scanned_directly_pages", "pgsteal_direct": "cgroup.memory.reclaimed_directly_pages",
	"pgscan":                  "cgroup.memory.scanned_pages",
	"workingset_refault_file": "cgroup.memory.refaulted_file_pages"}

var groupMemoryLinesV1 = map[string]string{"total_rss": "cgroup.memory.anonymous_bytes",
	"total_cache": "cgroup.memory.file_bytes", "total_dirty": "cgroup.memory.dirty_bytes",
	"total_writeback": "cgroup.memory.writeback_bytes", "total_pgmajfault": "cgroup.memory.major_faults",
	"total_pgfault": "cgroup.memory.faults", "total_workingset_refault_file": "cgroup.memory.refaulted_file_pages"}

func (meter *Meter) groupMemory(member membership) {
	read := func(name string) string { return meter.files.line(path.Join(member.folder, name)) }
	if used := read("memory.usage_in_bytes"); used != "" { // v1
		meter.number("cgroup.memory.used_bytes", member.path, used, 1)
		meter.number("cgroup.memory.limit_hits", member.path, read("memory.failcnt"), 1)
		text, _ := meter.files.read(path.Join(member.folder, "memory.stat"), fileLimit)
		meter.lines(text, member.path, groupMemoryLinesV1)
		return
	}
	used := read("memory.current")
	if used == "" {
		return
	}
	meter.number("cgroup.memory.used_bytes", member.path, used, 1)
	text, _ := meter.files.read(path.Join(member.folder, "memory.stat"), fileLimit)
	meter.lines(text, member.path, groupMemoryLines)
	text, _ = meter.files.read(path.Join(member.folder, "memory.events"), fileLimit)
	meter.lines(text, member.path, map[string]string{"max": "cgroup.memory.limit_hits",
		"high": "cgroup.memory.high_hits", "oom_kill": "cgroup.memory.oom_kills"})
}

// groupIO adds what a cgroup has read and written, over all devices: io.stat of v2,
// blkio.throttle.* of v1, whose lines are "8:0 Read 4096".
func (meter *Meter) groupIO(member membership) {
	sums := map[string]float64{}
	text, _ := meter.files.read(path.Join(member.folder, "io.stat"), fileLimit)
	for _, word := range strings.Fields(text) {
		key, value, found := strings.Cut(word, "=")
		if name := map[string]string{"rbytes": "read_bytes", "wbytes": "written_bytes", "rios": "reads",
			"wios": "writes"}[key]; found && name != "" {
			sums[name] += amount(value)
		}
	}
	for file, names := range map[string][2]string{
		"blkio.throttle.io_service_bytes_recursive": {"read_bytes", "written_bytes"},
		"blkio.throttle.io_serviced_recursive":      {"reads", "writes"},
	} {
		text, _ := meter.files.read(path.Join(member.folder, file), fileLimit)
		for line := range strings.Lines(text) {
			words := strings.Fields(line)
			if len(words) == 3 && words[1] == "Read" {
				sums[names[0]] += amount(words[2])
			} else if len(words) == 3 && words[1] == "Write" {
				sums[names[1]] += amount(words[2])
			}
		}
	}
	for name, sum := range sums {
		meter.add("cgroup.io."+name, member.path, sum)
	}
}
