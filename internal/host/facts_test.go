package host

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
	"testing"

	"culprit/recording"
)

func TestFactsOfAFixture(t *testing.T) {
	facts := Facts(plant(t, machine()))
	expect(t, facts, map[string]string{
		"kernel.release": "5.15.0-1031-aws", "cpu.model": "Xeon E5", "cpu.count": "2", "cpu.microcode": "0x42",
		"kernel.command_line": "root=/dev/xvda1 db_password=[hidden] quiet",
		"hypervisor":          "xen Xen", "clocksource.current": "xen", "clocksource.available": "xen tsc hpet",
		"memory.total_bytes": "16777216", "swap.total_bytes": "0", "thp.enabled": "madvise",
		"vm.dirty_ratio": "20", "vm.lowmem_reserve_ratio": "256 256 32", "vm.drop_caches": "",
		"net.core.somaxconn": "4096", "net.ipv4.tcp_fastopen_key": "", "mitigation.meltdown": "Mitigation: PTI",
		"cpufreq.scaling_governor": "performance ×1, powersave ×1", "psi": "on",
		"cgroup.path": "/web/api", "cgroup.path.cpu,cpuacct": "/web/api", "cgroup.cpu.quota_us": "-1",
		"cgroup.cpu.limit_cpus": "1.5", "cgroup.memory.limit_bytes": "1073741824", "cgroup.memory.max": "max",
		"cgroup.cpu.weight": "100",
		"mount.root.type":   "ext4", "mount.root.journal": "jbd2", "mount.root.journal_data": "ordered",
		"mount.root.journal_commit": "5", "mount.root.journal_nobarrier": "on", "mount.root.block": "xvda",
		"mount.cwd.point": "/data/my disk", "mount.cwd.type": "btrfs", "mount.cwd.super_options": "rw,compress=zstd",
		"mount.cwd.block": "sdb", "mount.cwd.journal": "",
		"block.xvda.scheduler": "mq-deadline", "block.xvda.read_ahead_kb": "128", "block.sdb.scheduler": "none",
	})
	for _, fact := range facts {
		if fact.Source == "" || !strings.HasPrefix(fact.Source, "/") {
			t.Errorf("%s has source %q, want the path it was read from", fact.Name, fact.Source)
		}
	}
	if !sort.SliceIsSorted(facts, func(i, j int) bool { return facts[i].Name < facts[j].Name }) {
		t.Error("facts are not sorted by name")
	}
}

func TestFactsOfThisMachine(t *testing.T) {
	facts := Facts("/")
	current, err := os.ReadFile("/" + clocks + "current_clocksource")
	if err == nil && lookUp(facts, FactClockSource) == "" {
		t.Errorf("no fact %s, though the kernel says %q", FactClockSource, current)
	}
	for _, name := range []string{FactKernelRelease, "cpu.count", FactMemoryTotal, "vm.swappiness", "mount.root.type"} {
		if lookUp(facts, name) == "" {
			t.Errorf("no fact %s on this machine", name)
		}
	}
	seen := map[string]bool{}
	for _, fact := range facts {
		if seen[fact.Name] {
			t.Errorf("fact %s is there twice: it cannot be compared", fact.Name)
		}
		seen[fact.Name] = true
	}
}

func TestSummaries(t *testing.T) {
	summary := Summarize(plant(t, machine()))
	want := Summary{Name: "db-7", Kernel: "5.15.0-1031-aws", CPU: "Xeon E5", CPUs: 2, MemoryBytes: 16 << 20,
		Hypervisor: "xen Xen", ClockSource: "xen"}
	if summary != want {
		t.Errorf("summary is %+v, want %+v", summary, want)
	}
	if empty := Summarize(t.TempDir()); empty != (Summary{}) {
		t.Errorf("summary of an empty tree is %+v, want nothing made up", empty)
	}
}

func TestHypervisors(t *testing.T) {
	const dmi = "sys/class/dmi/id/"
	for want, files := range map[string]map[string]string{
		"":    {clocks + "available_clocksource": "tsc hpet"},
		"kvm": {clocks + "available_clocksource": "tsc kvm-clock"},
		"kvm (Amazon EC2 c6i.large)": {clocks + "available_clocksource": "kvm-clock tsc", dmi + "sys_vendor": "Amazon EC2",
			dmi + "product_name": "c6i.large"},
		"unknown (VMware, Inc. VMware7,1)": {"proc/cpuinfo": "flags : hypervisor\n", dmi + "sys_vendor": "VMware, Inc.",
			dmi + "product_name": "VMware7,1"},
	} {
		if found := hypervisor(tree{plant(t, files)}).value; found != want {
			t.Errorf("hypervisor is %q, want %q", found, want)
		}
	}
}

func TestHostileFilesAreBounded(t *testing.T) {
	files := machine()
	files["proc/sys/vm/swappiness"] = strings.Repeat("9", fileLimit+1)
	files["proc/sys/vm/overcommit_ratio"] = "50\x1b[2J\u202e evil"
	files["proc/self/cgroup"] = "0::/../../etc\n0:not a line\n:::::\n1:cpu:relative\n"
	root := plant(t, files)
	if err := syscall.Mkfifo(filepath.Join(root, "proc/sys/vm/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect(t, Facts(root), map[string]string{
		"vm.swappiness": "", "vm.overcommit_ratio": "50?[2J? evil", "vm.pipe": "", "cgroup.path": "",
	})
}

func TestPressureIsOffWhereItCannotBeRead(t *testing.T) {
	files := machine()
	delete(files, "proc/pressure/cpu")
	expect(t, Facts(plant(t, files)), map[string]string{"psi": "off"})
}

func TestJournalIsNone(t *testing.T) {
	files := machine()
	files["sys/fs/ext4/xvda1/journal_task"] = "<none>\n"
	expect(t, Facts(plant(t, files)), map[string]string{"mount.root.journal": "none", "mount.root.journal_data": ""})
}

func FuzzMountTable(f *testing.F) {
	f.Add("21 1 202:1 / / rw,relatime - ext4 /dev/xvda1 rw\n", "a\\040b")
	f.Add("1 2 3 4 5 6 - x\n", "\\999\\0")
	f.Fuzz(func(t *testing.T, table, escaped string) {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "proc/self"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "proc/self/mountinfo"), []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, mount := range mountTable(tree{root}) {
			if mount.kind == "" || mount.device == "" {
				t.Errorf("half a mount: %+v", mount)
			}
		}
		if unescaped := unescape(escaped); len(unescaped) > len(escaped) {
			t.Errorf("%q grew to %q", escaped, unescaped)
		}
		if cleaned := clean(escaped, 16); len(cleaned) > 16+len("…") || strings.ContainsAny(cleaned, "\n\x1b\x00") {
			t.Errorf("%q is not clean", cleaned)
		}
	})
}

// Security modules are facts where nobody has mounted securityfs, too; what is mounted has been
// read from there.
func TestSecurityModulesOfAnUnmountedFileSystem(t *testing.T) {
	read := func(kind, name string) (string, error) {
		return map[string]string{"lsm": "capability,apparmor", "lockdown": "none [integrity] confidentiality\n"}[name], nil
	}
	collect := &collector{files: tree{t.TempDir()}}
	collect.unmounted(read)
	want := []recording.Fact{
		{Name: "security.modules", Value: "capability,apparmor", Source: "securityfs, not mounted: lsm"},
		{Name: "security.lockdown", Value: "integrity", Source: "securityfs, not mounted: lockdown"}}
	if !slices.Equal(collect.facts, want) {
		t.Errorf("facts %+v, want %+v", collect.facts, want)
	}
	collect = &collector{files: tree{plant(t, map[string]string{"sys/kernel/security/lsm": "capability\n"})}}
	if collect.unmounted(read); len(collect.facts) != 0 {
		t.Errorf("read again what is mounted: %+v", collect.facts)
	}
}
