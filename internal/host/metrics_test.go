package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/recording"
)

// metered is a machine whose numbers are known, with a process in cgroups of both versions.
func metered() map[string]string {
	return map[string]string{
		"proc/stat": "cpu  1000 200 300 4000 50 6 7 8 0 0\ncpu0 600 0 100 2000 0 0 0 0 0 0\nintr 99\nctxt 12345\n" +
			"processes 77\nprocs_running 3\nprocs_blocked 1\n",
		"proc/meminfo": "MemTotal: 100 kB\nMemFree: 40 kB\nDirty: 12 kB\nWriteback: 0 kB\n",
		"proc/vmstat":  "pgfault 5000\npgmajfault 6\nnr_dirty 3\nunknown x\n",
		"proc/diskstats": " 254 0 vda 10 1 80 40 20 2 160 90 3 70 130 0 0 0 0 5 25\n" +
			"   7 0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nbroken line\n",
		"proc/net/dev": "Inter-| Receive\n face |bytes\n  eth0: 111 2 0 0 0 0 0 0 333 4 0 5 0 0 0 0\n",
		"proc/net/snmp": "Tcp: ActiveOpens RetransSegs\nTcp: 8 9\nUdp: RcvbufErrors\nUdp: 1\n" +
			"Torn: one two\n",
		"proc/net/netstat":  "TcpExt: ListenDrops DelayedACKs\nTcpExt: 4 55\n",
		"proc/pressure/cpu": "some avg10=1.00 avg60=0.00 avg300=0.00 total=2500000\n",
		"proc/42/cgroup":    "2:memory:/app\n1:cpu,cpuacct:/app/inner\n0::/two\n",
		"proc/self/mountinfo": mountinfo("cpu", "cgroup", "cpu,cpuacct") +
			mountinfo("mem", "cgroup", "memory") + mountinfo("unified", "cgroup2", "rw"),
		"sys/cg/cpu/app/cpu.cfs_quota_us":       "50000\n",
		"sys/cg/cpu/app/cpu.stat":               "nr_periods 100\nnr_throttled 40\nthrottled_time 3000000000\n",
		"sys/cg/cpu/app/inner/cpu.cfs_quota_us": "-1\n",
		"sys/cg/cpu/app/inner/cpu.stat":         "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
		"sys/cg/cpu/app/inner/cpuacct.usage":    "7000000000\n",
		"sys/cg/mem/app/memory.usage_in_bytes":  "4096\n",
		"sys/cg/mem/app/memory.failcnt":         "17\n",
		"sys/cg/mem/app/memory.stat":            "cache 1\ntotal_cache 2048\ntotal_dirty 512\n",
		"sys/cg/unified/two/cpu.max":            "max 100000\n",
		"sys/cg/unified/two/cpu.stat":           "usage_usec 9000000\nnr_throttled 2\nthrottled_usec 500000\n",
		"sys/cg/unified/two/memory.current":     "8192\n",
		"sys/cg/unified/two/memory.stat":        "anon 100\nfile_dirty 200\n",
		"sys/cg/unified/two/memory.events":      "max 5\noom_kill 1\n",
		"sys/cg/unified/two/io.stat": "254:0 rbytes=10 wbytes=20 rios=1 wios=2\n" +
			"7:0 rbytes=5 wbytes=0 rios=1 wios=0\n",
		"sys/cg/unified/two/memory.pressure":           "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n",
		"sys/cg/unified/two/cgroup.controllers":        "cpu memory io\n",
		"sys/cg/unified/cgroup.controllers":            "cpu memory io\n",
		"sys/cg/unified/two/cpu.pressure":              "nonsense\n",
		"sys/cg/unified/two/inner-of-somebody/cpu.max": "1 2\n",
	}
}

func mountinfo(folder, kind, options string) string {
	return fmt.Sprintf("30 20 0:30 / /sys/cg/%s rw - %s none %s\n", folder, kind, options)
}

func metric(rows []recording.Metric, name, scope string) (float64, bool) {
	for _, row := range rows {
		if row.Name == name && row.Scope == scope {
			return row.Value, true
		}
	}
	return 0, false
}

// Every number comes in the unit of its name, from both versions of cgroups, those above the
// process's own too.
func TestMeter(t *testing.T) {
	rows := NewMeter(plant(t, metered()), 42).Read(77)
	for _, want := range []recording.Metric{
		{Name: "cpu.user_s", Value: 12}, {Name: "cpu.system_s", Value: 3.13}, {Name: "cpu.steal_s", Value: 0.08},
		{Name: "cpu.busy_s", Scope: "cpu0", Value: 7}, {Name: "scheduler.switches", Value: 12345},
		{Name: "scheduler.running", Value: 3}, {Name: "memory.dirty_bytes", Value: 12 * 1024},
		{Name: "vm.faults", Value: 5000}, {Name: "vm.major_faults", Value: 6},
		{Name: "disk.reads", Scope: "vda", Value: 10}, {Name: "disk.written_bytes", Scope: "vda", Value: 160 * 512},
		{Name: "disk.in_flight", Scope: "vda", Value: 3}, {Name: "disk.busy_s", Scope: "vda", Value: 0.07},
		{Name: "disk.flushes", Scope: "vda", Value: 5}, {Name: "disk.flush_s", Scope: "vda", Value: 0.025},
		{Name: "network.received_bytes", Scope: "eth0", Value: 111},
		{Name: "network.sent_drops", Scope: "eth0", Value: 5},
		{Name: "tcp.retransmitted_segments", Value: 9}, {Name: "tcp.delayed_acks", Value: 55},
		{Name: "udp.receive_buffer_errors", Value: 1}, {Name: "pressure.cpu_some_s", Value: 2.5},
		{Name: "cgroup.cpu.throttled_s", Scope: "/app", Value: 3},
		{Name: "cgroup.cpu.throttled_periods", Scope: "/app", Value: 40},
		{Name: "cgroup.cpu.used_s", Scope: "/app/inner", Value: 7},
		{Name: "cgroup.memory.limit_hits", Scope: "/app", Value: 17},
		{Name: "cgroup.memory.dirty_bytes", Scope: "/app", Value: 512},
		{Name: "cgroup.cpu.throttled_s", Scope: "/two", Value: 0.5},
		{Name: "cgroup.memory.used_bytes", Scope: "/two", Value: 8192},
		{Name: "cgroup.memory.limit_hits", Scope: "/two", Value: 5},
		{Name: "cgroup.io.read_bytes", Scope: "/two", Value: 15},
		{Name: "cgroup.pressure.memory_some_s", Scope: "/two", Value: 1},
	} {
		value, found := metric(rows, want.Name, want.Scope)
		if difference := value - want.Value; !found || difference > 1e-9 || difference < -1e-9 {
			t.Errorf("%s of %q is %v (found: %v), want %v", want.Name, want.Scope, value, found, want.Value)
		}
	}
	if _, twice := metric(rows, "cgroup.cpu.used_s", "/two"); twice {
		t.Error("the CPU time is told by both versions")
	}
	for _, row := range rows {
		if row.TimeNs != 77 || row.Scope == "loop0" {
			t.Errorf("%+v", row)
		}
	}
}

// A process that goes into another cgroup is told until that one has been read; one that has ended
// stays where it was.
func TestMeterMoves(t *testing.T) {
	root := plant(t, metered())
	meter := NewMeter(root, 42)
	meter.Read(0)
	if meter.Moved() || NewMeter(root, 0).Moved() {
		t.Error("a process that stays is said to have moved")
	}
	file := filepath.Join(root, "proc/42/cgroup")
	if err := os.WriteFile(file, []byte("2:memory:/app\n1:cpu,cpuacct:/app\n0::/two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !meter.Moved() {
		t.Error("a process that moved is said to have stayed")
	}
	meter.Read(1)
	if meter.Moved() {
		t.Error("a move that was read is told again")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if meter.Moved() {
		t.Error("a process that ended is said to have moved")
	}
}

// A machine whose files are missing, torn or hostile gives fewer numbers, and each name and scope
// once.
func TestMeterOfStrangeFiles(t *testing.T) {
	if rows := NewMeter(plant(t, map[string]string{"x": ""}), 42).Read(0); len(rows) != 0 {
		t.Errorf("numbers out of nothing: %+v", rows)
	}
	files := metered()
	files["proc/diskstats"] = strings.Repeat(" 1 1 \x1b[31mdisk 1 1 1 1 1 1 1 1 1 1 1\n", 9000)
	files["proc/stat"] = "cpu 1 2\ncpu0 x\nctxt -5\nprocs_running 99999999999999999999999999\n"
	files["proc/42/cgroup"] = "0::/../../etc\n1:cpu\n"
	devices := 0
	for _, row := range NewMeter(plant(t, files), 42).Read(0) {
		if strings.ContainsRune(row.Scope, '\x1b') || strings.HasPrefix(row.Name, "cgroup.") || row.Value < 0 {
			t.Errorf("%+v", row)
		}
		if row.Name == "disk.reads" {
			devices++
		}
	}
	if devices > meteredDevices {
		t.Errorf("%d devices", devices)
	}
}

// The running machine has at least these numbers, once each.
func TestMeterOfThisMachine(t *testing.T) {
	rows := NewMeter("/", 1).Read(0)
	seen := map[[2]string]bool{}
	for _, row := range rows {
		key := [2]string{row.Name, row.Scope}
		if seen[key] {
			t.Errorf("%v twice", key)
		}
		seen[key] = true
	}
	for _, name := range []string{"cpu.user_s", "scheduler.switches", "memory.dirty_bytes", "vm.faults"} {
		if !seen[[2]string{name, ""}] {
			t.Errorf("no %s", name)
		}
	}
}
