package knob

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes files below a root.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		put(t, filepath.Join(root, path), content+"\n")
	}
	return root
}

const firstMounts = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n" +
	"cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0"

// Every family on a fixture tree: the value it has, one that is set, what the files
// hold then, one that is refused with a word, and all files as before after Restore.
var fixtures = []struct {
	name    string
	files   map[string]string
	cgroup  string
	current string
	set     string
	then    map[string]string
	refuse  string
	word    string
}{
	{name: "governor", files: map[string]string{
		policyFolder + "policy0/scaling_governor": "powersave", policyFolder + "policy1/scaling_governor": "powersave",
		policyFolder + "policy0/scaling_available_governors": "performance powersave"},
		current: "powersave", set: "performance", refuse: "turbo", word: "available: performance powersave",
		then: map[string]string{policyFolder + "policy0/scaling_governor": "performance",
			policyFolder + "policy1/scaling_governor": "performance"}},
	{name: "boost", files: map[string]string{policyFolder + "boost": "1"}, current: "1", set: "0", refuse: "2",
		word: "available: 0 1", then: map[string]string{policyFolder + "boost": "0"}},
	{name: "boost", files: map[string]string{cpuFolder + "intel_pstate/no_turbo": "0"}, current: "1", set: "0",
		refuse: "on", word: "available: 0 1", then: map[string]string{cpuFolder + "intel_pstate/no_turbo": "1"}},
	{name: "smt", files: map[string]string{cpuFolder + "smt/control": "on"}, current: "on", set: "off",
		refuse: "forceoff", word: "available: on off", then: map[string]string{cpuFolder + "smt/control": "off"}},
	{name: "vm.swappiness", files: map[string]string{"/proc/sys/vm/swappiness": "60"}, current: "60", set: "10",
		refuse: "1\n2", word: "one line", then: map[string]string{"/proc/sys/vm/swappiness": "10"}},
	{name: "swappiness", files: map[string]string{"/proc/sys/vm/swappiness": "60"}, current: "60", set: "0",
		refuse: strings.Repeat("9", 5000), word: "at most", then: map[string]string{"/proc/sys/vm/swappiness": "0"}},
	{name: "net.ipv4.tcp_rmem", files: map[string]string{"/proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456"},
		current: "4096 131072 6291456", set: "4096 65536 65536", refuse: "\x00", word: "one line",
		then: map[string]string{"/proc/sys/net/ipv4/tcp_rmem": "4096 65536 65536"}},
	{name: "vm.swappiness+vm.stat_interval", files: map[string]string{"/proc/sys/vm/swappiness": "60",
		"/proc/sys/vm/stat_interval": "1"}, current: "60+1", set: "10+5", refuse: "10", word: "2 values joined by +",
		then: map[string]string{"/proc/sys/vm/swappiness": "10", "/proc/sys/vm/stat_interval": "5"}},
	{name: "net.ipv4.conf.eth0/1.rp_filter", files: map[string]string{"/proc/sys/net/ipv4/conf/eth0.1/rp_filter": "0"},
		current: "0", set: "1", refuse: "\n", word: "one line",
		then: map[string]string{"/proc/sys/net/ipv4/conf/eth0.1/rp_filter": "1"}},
	{name: "nmi_watchdog", files: map[string]string{"/proc/sys/kernel/nmi_watchdog": "1"}, current: "1", set: "0",
		refuse: "\n", word: "one line", then: map[string]string{"/proc/sys/kernel/nmi_watchdog": "0"}},
	{name: "irq.7.affinity", files: map[string]string{"/proc/irq/7/smp_affinity_list": "0"}, current: "0", set: "0",
		refuse: "7777", word: "not online", then: map[string]string{"/proc/irq/7/smp_affinity_list": "0"}},
	{name: "block.sda.nr_requests", files: map[string]string{"/sys/block/sda/queue/nr_requests": "64"}, current: "64",
		set: "32", refuse: "many", word: "whole number", then: map[string]string{"/sys/block/sda/queue/nr_requests": "32"}},
	{name: "block.sda.write_cache", files: map[string]string{"/sys/block/sda/queue/write_cache": "write back"},
		current: "write back", set: "write through", refuse: "none", word: "write back write through",
		then: map[string]string{"/sys/block/sda/queue/write_cache": "write through"}},
	{name: "bdi.8:0.strict_limit", files: map[string]string{"/sys/class/bdi/8:0/strict_limit": "0"}, current: "0",
		set: "1", refuse: "x", word: "whole number", then: map[string]string{"/sys/class/bdi/8:0/strict_limit": "1"}},
	{name: "cgroup.cpu.max", cgroup: "/service", files: map[string]string{"/proc/self/mounts": firstMounts,
		"/sys/fs/cgroup/cpu/service/cpu.cfs_quota_us":  "-1",
		"/sys/fs/cgroup/cpu/service/cpu.cfs_period_us": "100000"}, current: "max 100000", set: "50000 20000",
		refuse: "half", word: "QUOTA and PERIOD",
		then: map[string]string{"/sys/fs/cgroup/cpu/service/cpu.cfs_quota_us": "50000",
			"/sys/fs/cgroup/cpu/service/cpu.cfs_period_us": "20000"}},
	{name: "cgroup.cpu.max", cgroup: "/sys/fs/cgroup/service", files: map[string]string{
		"/proc/self/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0", "/sys/fs/cgroup/service/cpu.max": "max 100000"},
		current: "max 100000", set: "50000", refuse: "0 100000", word: "QUOTA and PERIOD",
		then: map[string]string{"/sys/fs/cgroup/service/cpu.max": "50000 100000"}},
	{name: "cgroup.cpu.weight", cgroup: "/service", files: map[string]string{"/proc/self/mounts": firstMounts,
		"/sys/fs/cgroup/cpu/service/cpu.shares": "1024"}, current: "100", set: "200", refuse: "0", word: "1 to 10000",
		then: map[string]string{"/sys/fs/cgroup/cpu/service/cpu.shares": "2048"}},
	{name: "cgroup.memory.max", cgroup: "/sys/fs/cgroup/memory/service", files: map[string]string{
		"/proc/self/mounts": firstMounts,
		"/sys/fs/cgroup/memory/service/memory.limit_in_bytes": "9223372036854771712"}, current: "max", set: "64M",
		refuse: "-5", word: "bytes such as",
		then: map[string]string{"/sys/fs/cgroup/memory/service/memory.limit_in_bytes": "67108864"}},
	{name: "cpuset", cgroup: "/service", files: map[string]string{"/proc/self/mounts": firstMounts,
		"/sys/fs/cgroup/cpuset/service/cpuset.cpus": "0"}, current: "0", set: "0", refuse: "7777", word: "not online",
		then: map[string]string{"/sys/fs/cgroup/cpuset/service/cpuset.cpus": "0"}},
}

func TestFamiliesOnAFixture(t *testing.T) {
	for _, each := range fixtures {
		t.Run(each.name, func(t *testing.T) {
			state, root := newState(t), tree(t, each.files)
			found, err := Find(each.name, Target{Root: root, Cgroup: each.cgroup})
			must(t, err)
			if current, err := found.Current(); err != nil || current != each.current {
				t.Errorf("it is %q (%v), want %q", current, err, each.current)
			}
			refused(t, found.Check(each.refuse), each.word)
			change, err := Begin(t.Context(), found)
			must(t, err)
			must(t, change.Set(each.name, each.set))
			for path, want := range each.then {
				if got := contentOf(t, filepath.Join(root, path)); got != want {
					t.Errorf("%s holds %q, want %q", path, got, want)
				}
			}
			must(t, change.Restore())
			if now, err := found.Current(); err != nil || now != each.current || len(entries(t, state)) != 0 {
				t.Errorf("afterwards it is %q (%v), journal %v", now, err, entries(t, state))
			}
			about := found.About()
			if about.Text == "" || about.Effect == "" || about.Place.Path == "" {
				t.Errorf("little is known of it: %+v", about)
			}
		})
	}
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return strings.TrimSpace(string(content))
}

func TestNamesThatAreNoKnobs(t *testing.T) {
	newState(t)
	root := tree(t, map[string]string{"/proc/sys/vm/drop_caches": "0", "/proc/sys/kernel/modules_disabled": "0",
		"/proc/self/mounts": firstMounts, "/sys/block/sda/queue/nr_requests": "64", "/proc/sys/vm/swappiness": "60",
		"/sys/devices/system/cpu/smt/control": "notsupported"})
	for name, word := range map[string]string{
		"audit": "cannot be put back", "vm.drop_caches": "action", "kernel.modules_disabled": "until the next boot",
		"vm.no_such": "no such knob", "clocksauce": "no such knob", "governor": "does not let the kernel choose",
		"vm/../../etc.passwd": "no such knob", "vm...swappiness": "no such knob", "": "no such knob",
		"block.sda.color": "block.DEVICE.SETTING", "block...nr_requests": "block.DEVICE.SETTING",
		"block.nvme0n1.nr_requests": "this host has no", "bdi.x": "bdi.MAJOR:MINOR", "irq.99.affinity": "no interrupt 99",
		"cgroup.cpu.max": "--cgroup PATH", "cgroup.color": "of a cgroup", "mount:var": "mount point",
		"nice": "-p PID", "mitigations": "at boot",
	} {
		_, err := Find(name, Target{Root: root})
		refused(t, err, word)
	}
	smt, err := Find("smt", Target{Root: root})
	must(t, err)
	refused(t, smt.Check("off"), "notsupported")
	_, err = Begin(t.Context(), smt)
	refused(t, err, "none to switch")
}

// Twins: the one that was set is put back, not the 0 of the other.
func TestTwinsAreRestoredAsTheOneThatWasSet(t *testing.T) {
	newState(t)
	const bytes, ratio = "/proc/sys/vm/dirty_bytes", "/proc/sys/vm/dirty_ratio"
	root := tree(t, map[string]string{bytes: "0", ratio: "20"})
	found, err := Find("vm.dirty_bytes", Target{Root: root})
	must(t, err)
	refused(t, found.Check("0"), "vm.dirty_ratio")
	twin, err := Find("vm.dirty_ratio", Target{Root: root})
	must(t, err)
	_, err = Begin(t.Context(), found, twin)
	refused(t, err, "vm.dirty_bytes and vm.dirty_ratio change the same setting")
	change, err := Begin(t.Context(), found)
	must(t, err)
	must(t, change.Set("vm.dirty_bytes", "1048576"))
	put(t, filepath.Join(root, ratio), "0\n") // as the kernel does
	if original, err := change.Original("vm.dirty_bytes"); err != nil || original != "0" {
		t.Errorf("the original is %q (%v)", original, err)
	}
	written := change.entry.Steps[0]
	if written.Original != "vm.dirty_ratio 20" || written.Ours[0] != "vm.dirty_bytes 1048576" {
		t.Errorf("the journal says %+v", written)
	}
	// The fixture's kernel zeroes the twin as well when the original is written.
	step, err := written.part()
	must(t, err)
	must(t, step.write(written.Original))
	put(t, filepath.Join(root, bytes), "0\n")
	must(t, change.Restore())
	if got := contentOf(t, filepath.Join(root, ratio)); got != "20" {
		t.Errorf("the ratio is %s afterwards", got)
	}
}

// Half a transaction: what was set is put back in reverse order, what was not is left alone.
func TestSeveralKnobsInOneTransaction(t *testing.T) {
	state := newState(t)
	root := tree(t, map[string]string{"/proc/sys/vm/swappiness": "60", "/proc/sys/vm/laptop_mode": "0",
		"/proc/sys/vm/page-cluster": "3"})
	var knobs []Knob
	for _, name := range []string{"vm.swappiness", "vm.laptop_mode", "vm.page-cluster"} {
		found, err := Find(name, Target{Root: root})
		must(t, err)
		knobs = append(knobs, found)
	}
	change, err := Begin(t.Context(), knobs[0], knobs[1])
	must(t, err)
	refused(t, change.Add(knobs[0]), "named twice")
	refused(t, change.Set("vm.page-cluster", "1"), "not in this change")
	must(t, change.Add(knobs[2]))
	must(t, change.SetAll(Level{"vm.swappiness", "1"}, Level{"vm.page-cluster", "0"}))
	if names := len(change.entry.Steps); names != 3 || len(entries(t, state)) != 1 {
		t.Errorf("%d steps in %v", names, entries(t, state))
	}
	put(t, filepath.Join(root, "/proc/sys/vm/laptop_mode"), "5\n") // somebody else, on a knob that we hold
	err = change.Restore()
	refused(t, err, "vm.laptop_mode", `"5"`, "left as it is")
	for path, want := range map[string]string{"swappiness": "60", "laptop_mode": "5", "page-cluster": "3"} {
		if got := contentOf(t, filepath.Join(root, "/proc/sys/vm", path)); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if len(entries(t, state)) != 0 {
		t.Errorf("the journal still holds %v", entries(t, state))
	}
}

// A second culprit refuses any change while the first one holds one, and names it.
func TestTwoCulpritsAtOnce(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
	owner := startOwner(t, state, root, "kvm-clock")
	other := tree(t, map[string]string{"/proc/sys/vm/swappiness": "60"})
	found, err := Find("vm.swappiness", Target{Root: other})
	must(t, err)
	_, err = Begin(t.Context(), found)
	refused(t, err, "another culprit", "clocksource", "pid")
	must(t, owner.input.Close())
	must(t, owner.command.Wait())
	change, err := Begin(t.Context(), found)
	must(t, err)
	must(t, change.Restore())
}

// A name is a path in disguise: whatever is typed, nothing outside the kernel's own folders is
// found.
func FuzzFind(f *testing.F) {
	root := f.TempDir()
	for _, path := range []string{"/proc/sys/vm/swappiness", "/proc/self/mounts", "/etc/passwd",
		"/sys/block/sda/queue/nr_requests", "/proc/self/mountinfo"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), []byte("1\n"), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	for _, name := range []string{"vm.swappiness", "vm/../../etc.passwd", "block.sda.nr_requests", "block...x",
		"irq.1.affinity", "mount:/etc", "cgroup.io.wbps.8:0", "bdi.8:0.max_ratio", "vm.swappiness/", "cgroup.cpu.max"} {
		f.Add(name, "/x")
	}
	f.Fuzz(func(t *testing.T, name, group string) {
		found, err := Find(name, Target{Root: root, Cgroup: group})
		if err != nil {
			if found.Name() != "" {
				t.Errorf("an error and a knob: %v, %s", err, found.Name())
			}
			return
		}
		path := found.Place().Path
		if path != filepath.Clean(path) || !strings.HasPrefix(path, "/proc/") && !strings.HasPrefix(path, "/sys/") {
			t.Errorf("%q is found at %s", name, path)
		}
	})
}
