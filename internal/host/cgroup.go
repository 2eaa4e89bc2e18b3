package host

import (
	"path"
	"strconv"
	"strings"
)

// unlimited is how cgroup v2 writes "no limit"; v1 values are turned into it.
const unlimited = "max"

// ancestorLimit bounds the walk from a cgroup to the root of its hierarchy.
const ancestorLimit = 64

// membership is the place of a process in one cgroup hierarchy.
type membership struct {
	controllers string // "" for v2, else as in /proc/PID/cgroup: "cpu,cpuacct"
	path        string // below the hierarchy's root
	mount       string // where the hierarchy is mounted
	folder      string // mount and path together
}

// memberships pairs the hierarchies of a process with where they are mounted.
// Hierarchies that are not mounted, or a path outside our namespace, are left out.
func memberships(files tree, pid string) []membership {
	text, _ := files.read("/proc/"+pid+"/cgroup", fileLimit)
	mounts := mountTable(files)
	var members []membership
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") || strings.HasPrefix(parts[2], "/..") {
			continue
		}
		member := membership{controllers: parts[1], path: path.Clean(parts[2])}
		for _, mount := range mounts {
			if !mount.holds(member.controllers) {
				continue
			}
			member.mount = mount.point
			below := member.path
			if mount.root != "/" && (below == mount.root || strings.HasPrefix(below, mount.root+"/")) {
				below = strings.TrimPrefix(below, mount.root)
			}
			member.folder = path.Join(mount.point, below)
			members = append(members, member)
			break
		}
	}
	return members
}

// holds tells whether a mount is that of a cgroup hierarchy; every controller
// must be named in the mount's options ("name=systemd" is one of them).
func (mount mountEntry) holds(controllers string) bool {
	if controllers == "" {
		return mount.kind == "cgroup2"
	}
	if mount.kind != "cgroup" {
		return false
	}
	options := "," + mount.superOptions + ","
	for _, controller := range strings.Split(controllers, ",") {
		if !strings.Contains(options, ","+controller+",") {
			return false
		}
	}
	return true
}

// cgroupFiles are the limits kept as they stand in the process's own cgroup.
var cgroupFiles = []struct{ fact, file string }{
	{"cpu.max", "cpu.max"}, {"cpu.weight", "cpu.weight"}, {"cpu.burst_us", "cpu.max.burst"},
	{"cpu.idle", "cpu.idle"}, {"cpu.shares", "cpu.shares"},
	{"cpu.quota_us", "cpu.cfs_quota_us"}, {"cpu.period_us", "cpu.cfs_period_us"},
	{"cpuset.cpus", "cpuset.cpus.effective"}, {"cpuset.cpus", "cpuset.effective_cpus"},
	{"memory.max", "memory.max"}, {"memory.high", "memory.high"}, {"memory.low", "memory.low"},
	{"memory.swap_max", "memory.swap.max"}, {"memory.limit", "memory.limit_in_bytes"},
	{"memory.soft_limit", "memory.soft_limit_in_bytes"}, {"memory.swappiness", "memory.swappiness"},
	{"io.max", "io.max"}, {"io.weight", "io.weight"}, {"io.latency", "io.latency"},
	{"io.read_bps", "blkio.throttle.read_bps_device"}, {"io.write_bps", "blkio.throttle.write_bps_device"},
	{"io.read_iops", "blkio.throttle.read_iops_device"}, {"io.write_iops", "blkio.throttle.write_iops_device"},
	{"pids.max", "pids.max"}, {"freezer", "cgroup.freeze"},
}

// cgroup keeps the limits that a process ("self" or a number) lives under.
// prefix stands before the names: "" for ourselves, "target." for a target.
func (collect *collector) cgroup(prefix, pid string) {
	members := memberships(collect.files, pid)
	source := "/proc/" + pid + "/cgroup"
	for _, member := range members {
		name := "cgroup.path"
		if member.controllers != "" {
			name += "." + member.controllers
		}
		collect.add(prefix+name, member.path, source)
		for _, limit := range cgroupFiles {
			if collect.files.exists(path.Join(member.folder, limit.file)) {
				collect.file(prefix+"cgroup."+limit.fact, path.Join(member.folder, limit.file))
			}
		}
	}
	processors := tightest(collect.files, members, cpuLimit)
	if processors.source != "" {
		value := unlimited
		if processors.amount >= 0 {
			value = strconv.FormatFloat(processors.amount, 'f', -1, 64)
		}
		collect.add(prefix+FactCPULimit, value, processors.source)
	}
	memory := tightest(collect.files, members, memoryLimit)
	if memory.source != "" {
		value := unlimited
		if memory.amount >= 0 {
			value = strconv.FormatFloat(memory.amount, 'f', 0, 64)
		}
		collect.add(prefix+FactMemoryLimit, value, memory.source)
	}
}

// limit is an amount that a cgroup allows; negative: no limit.
type limit struct {
	amount float64
	source string
}

// tightest walks from the process's own cgroups to the roots: a limit of any
// ancestor binds as much as its own. read returns an empty source where there is no such file.
func tightest(files tree, members []membership, read func(tree, string) limit) limit {
	found := limit{amount: -1}
	for _, member := range members {
		folder := member.folder
		for range ancestorLimit {
			here := read(files, folder)
			if here.source != "" && (found.source == "" || here.amount >= 0 &&
				(found.amount < 0 || here.amount < found.amount)) {
				found = here
			}
			if folder == member.mount || folder == "/" {
				break
			}
			folder = path.Dir(folder)
		}
	}
	return found
}

// cpuLimit returns how many CPUs the quota of one cgroup is worth.
func cpuLimit(files tree, folder string) limit {
	if source := path.Join(folder, "cpu.max"); files.exists(source) {
		quota, period, _ := strings.Cut(files.line(source), " ")
		return limit{ratio(quota, period), source}
	}
	source := path.Join(folder, "cpu.cfs_quota_us")
	if !files.exists(source) {
		return limit{}
	}
	return limit{ratio(files.line(source), files.line(path.Join(folder, "cpu.cfs_period_us"))), source}
}

// ratio divides a quota by its period; "max", -1 and what is no number are no limit.
func ratio(quota, period string) float64 {
	allowed, err := strconv.ParseUint(quota, 10, 62)
	every, periodErr := strconv.ParseUint(period, 10, 62)
	if err != nil || periodErr != nil || every == 0 {
		return -1
	}
	return float64(allowed) / float64(every)
}

// memoryLimit returns the bytes that one cgroup may hold.
func memoryLimit(files tree, folder string) limit {
	for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
		source := path.Join(folder, name)
		if !files.exists(source) {
			continue
		}
		bytes, err := strconv.ParseUint(files.line(source), 10, 64)
		// v1 writes "no limit" as the largest number of whole pages.
		if err != nil || bytes >= 1<<62 {
			return limit{-1, source}
		}
		return limit{float64(bytes), source}
	}
	return limit{}
}
