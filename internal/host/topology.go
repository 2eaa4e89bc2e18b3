package host

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// topologyLimit bounds the CPUs whose place is looked at.
const topologyLimit = 4096

// notableFlags are features of a processor that change how fast programs run and that
// hypervisors are known to hide.
var notableFlags = []string{"constant_tsc", "nonstop_tsc", "tsc_adjust", "rdtscp", "pcid", "invpcid", "pge", "pdpe1gb",
	"fsrm", "erms", "sse4_2", "avx2", "avx512f", "avx512_vnni", "amx_tile", "aes", "vaes", "sha_ni", "bmi2", "popcnt",
	"x2apic", "tsc_deadline_timer", "waitpkg", "hypervisor"}

// topology keeps how the CPUs hang together: sockets, cores, threads, caches, nodes, and what they
// can do.
func (collect *collector) topology() {
	sockets, cores, threads := map[string]bool{}, map[string]bool{}, 0
	for _, name := range collect.files.names(cpuFolder) {
		place := cpuFolder + name + "/topology/"
		if !strings.HasPrefix(name, "cpu") || threads == topologyLimit {
			continue
		}
		socket, core := collect.files.line(place+"physical_package_id"), collect.files.line(place+"core_id")
		if core == "" {
			continue // cpufreq, cpuidle, or a CPU that is offline
		}
		threads++
		sockets[socket], cores[socket+"/"+collect.files.line(place+"die_id")+"/"+core] = true, true
	}
	if threads > 0 {
		collect.add("cpu.topology", fmt.Sprintf("%d sockets, %d cores, %d threads", len(sockets), len(cores), threads),
			cpuFolder+"cpu*/topology")
	}
	const caches = cpuFolder + "cpu0/cache/"
	for _, index := range collect.files.names(caches) {
		read := func(file string) string { return collect.files.line(path.Join(caches, index, file)) }
		level, kind, size := read("level"), read("type"), read("size")
		if level == "" || size == "" {
			continue
		}
		name := "cpu.cache.l" + clean(level, 4)
		if kind == "Data" || kind == "Instruction" {
			name += strings.ToLower(kind[:1])
		}
		collect.add(name, size+" for CPUs "+read("shared_cpu_list"), caches+index)
	}
	collect.add("cpu.flags", collect.processorFlags(), "/proc/cpuinfo")
	for _, node := range collect.files.names("/sys/devices/system/node") {
		if _, err := strconv.Atoi(strings.TrimPrefix(node, "node")); err == nil && strings.HasPrefix(node, "node") {
			collect.file("numa."+node+".distances", "/sys/devices/system/node/"+node+"/distance")
			collect.file("numa."+node+".cpus", "/sys/devices/system/node/"+node+"/cpulist")
		}
	}
}

// processorFlags lists the known ones that the first processor has.
func (collect *collector) processorFlags() string {
	text, _ := collect.files.read("/proc/cpuinfo", cpuinfoLimit)
	var has []string
	for _, flag := range notableFlags {
		if hasWord(text, "flags", flag) {
			has = append(has, flag)
		}
	}
	return strings.Join(has, " ")
}

// interfacesLimit bounds the network interfaces that are looked at.
const interfacesLimit = 16

// interfaces keeps the settings of network interfaces that have a device: those of containers come
// and go.
func (collect *collector) interfaces() {
	const folder = "/sys/class/net/"
	count := 0
	for _, name := range collect.files.names(folder) {
		if !collect.files.exists(folder+name+"/device") || count == interfacesLimit {
			continue
		}
		count++
		for _, file := range []string{"mtu", "tx_queue_len", "speed", "gro_flush_timeout", "napi_defer_hard_irqs"} {
			collect.file("net.interface."+clean(name, 32)+"."+file, folder+name+"/"+file)
		}
	}
}
