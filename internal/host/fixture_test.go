package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/recording"
)

// plant makes a tree of files below a temporary root: path → content, "→ target" for a link.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, link := strings.CutPrefix(content, "→ "); link {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// lookUp returns the value of a fact, "" when it is missing.
func lookUp(facts []recording.Fact, name string) string {
	for _, fact := range facts {
		if fact.Name == name {
			return fact.Value
		}
	}
	return ""
}

// expect compares facts by name; an expected "" means that there must be none.
func expect(t *testing.T, facts []recording.Fact, wanted map[string]string) {
	t.Helper()
	for name, value := range wanted {
		if found := lookUp(facts, name); found != value {
			t.Errorf("%s is %q, want %q", name, found, value)
		}
	}
}

const clocks = "sys/devices/system/clocksource/clocksource0/"

// machine is a Xen guest with a v1 hierarchy for CPUs, v2 for the rest, and / on a partition.
func machine() map[string]string {
	return map[string]string{
		"proc/sys/kernel/osrelease": "5.15.0-1031-aws\n",
		"proc/sys/kernel/hostname":  "db-7\n",
		"proc/cmdline":              "root=/dev/xvda1 db_password=hunter2 quiet -- --token abc\n",
		"proc/cpuinfo": "processor\t: 0\nmodel name\t: Xeon E5\nmicrocode\t: 0x42\nflags\t\t: fpu hypervisor\n\n" +
			"processor\t: 1\nmodel name\t: Xeon E5\n",
		"proc/meminfo": "MemTotal:       16384 kB\n" +
			"SwapTotal:           0 kB\nHugepagesize:       2048 kB\n",
		"sys/hypervisor/type":                                     "xen\n",
		"sys/class/dmi/id/sys_vendor":                             "Xen\n",
		clocks + "current_clocksource":                            "xen\n",
		clocks + "available_clocksource":                          "xen tsc hpet \n",
		"sys/kernel/mm/transparent_hugepage/enabled":              "always [madvise] never\n",
		"proc/sys/vm/dirty_ratio":                                 "20\n",
		"proc/sys/vm/drop_caches":                                 "3\n",
		"proc/sys/vm/lowmem_reserve_ratio":                        "256\t256\t32\n",
		"proc/sys/net/ipv4/tcp_fastopen_key":                      "secret-key\n",
		"proc/sys/net/core/somaxconn":                             "4096\n",
		"sys/devices/system/cpu/vulnerabilities/meltdown":         "Mitigation: PTI\n",
		"sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "powersave\n",
		"sys/devices/system/cpu/cpufreq/policy1/scaling_governor": "performance\n",
		"proc/pressure/cpu":                                       "some avg10=0.00\n",
		"proc/self/cwd":                                           "→ /data/my disk/job",
		"proc/self/cgroup":                                        "4:cpu,cpuacct:/web/api\n0::/web/api\n",
		"proc/self/mountinfo": "21 1 202:1 / / rw,relatime - ext4 /dev/xvda1 rw,errors=remount-ro\n" +
			"22 21 0:40 / /data/my\\040disk rw,noatime - btrfs /dev/sdb rw,compress=zstd\n" +
			"23 21 0:31 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" +
			"24 21 0:32 / /cg/unified rw - cgroup2 cgroup2 rw\nbroken line\n",
		"cg/cpu/web/cpu.cfs_quota_us":                    "150000\n",
		"cg/cpu/web/cpu.cfs_period_us":                   "100000\n",
		"cg/cpu/web/api/cpu.cfs_quota_us":                "-1\n",
		"cg/cpu/web/api/cpu.cfs_period_us":               "100000\n",
		"cg/unified/web/api/memory.max":                  "max\n",
		"cg/unified/web/memory.max":                      "1073741824\n",
		"cg/unified/web/api/cpu.weight":                  "100\n",
		"sys/fs/ext4/xvda1/journal_task":                 "451:jbd2/xvda1-8\n",
		"proc/fs/ext4/xvda1/options":                     "rw\ndata=ordered\ncommit=5\nnobarrier\n",
		"sys/dev/block/202:1":                            "→ ../../devices/vbd/block/xvda/xvda1",
		"sys/devices/vbd/block/xvda/xvda1/partition":     "1\n",
		"sys/devices/vbd/block/xvda/queue/scheduler":     "none [mq-deadline] kyber\n",
		"sys/devices/vbd/block/xvda/queue/read_ahead_kb": "128\n",
		"sys/class/block/sdb":                            "→ ../../devices/sdb",
		"sys/devices/sdb/queue/scheduler":                "[none]\n",
	}
}
