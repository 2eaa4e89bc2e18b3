package knob

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sweep are settings that nobody else on the machine feels: of an unused loop
// device, and of cgroups and processes of our own.
var sweep = []struct{ name, value, loose string }{
	{name: "block.LOOP.scheduler", value: "mq-deadline"}, {name: "block.LOOP.nr_requests", value: "64"},
	{name: "block.LOOP.read_ahead_kb", value: "256"}, {name: "block.LOOP.max_sectors_kb", value: "128"},
	{name: "block.LOOP.nomerges", value: "2"}, {name: "block.LOOP.rq_affinity", value: "2"},
	{name: "block.LOOP.rotational", value: "1"}, {name: "block.LOOP.iostats", value: "0"},
	{name: "block.LOOP.wbt_lat_usec", value: "0"}, {name: "block.LOOP.stable_writes", value: "1"},
	{name: "bdi.NUMBER.max_ratio", value: "50"}, {name: "bdi.NUMBER.max_bytes", value: "8388608", loose: "8"},
	{name: "bdi.NUMBER.strict_limit", value: "1"}, {name: "bdi.NUMBER.min_ratio", value: "1"},
	{name: "cgroup.cpu.max", value: "30000 50000"}, {name: "cgroup.cpu.weight", value: "300"},
	{name: "cgroup.memory.max", value: "128M", loose: "134217728"}, {name: "cgroup.memory.swappiness", value: "7"},
	{name: "cgroup.pids.max", value: "55"}, {name: "cgroup.io.wbps.NUMBER", value: "1048576"},
	{name: "cgroup.io.riops.NUMBER", value: "500"}, {name: "cpuset", value: "0"},
	{name: "cgroup.cpuset.mems", value: "0"},
}

// Every one of them is set, read back and put back; those of a cgroup in a v1 or v2 group of our
// own.
func TestSweepOfThisMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("settings of the host need root: -short leaves it out")
	}
	if os.Geteuid() != 0 {
		t.Skip("settings of the host are root's")
	}
	state := newState(t)
	change, err := Begin(t.Context())
	must(t, err)
	defer change.Restore()
	loop, number := unusedLoop(t)
	command := exec.Command("/bin/sh", "-c", "read -r x || exit 125; exec sleep 60")
	input, err := command.StdinPipe()
	must(t, err)
	must(t, command.Start())
	defer func() { input.Close(); _ = command.Process.Kill(); _ = command.Wait() }()
	enterGroups(t, change, command.Process.Pid)
	done := 0
	exact := contentOf(t, "/sys/class/bdi/"+number+"/max_ratio_fine")
	for _, each := range sweep {
		name := strings.NewReplacer("LOOP", loop, "NUMBER", number).Replace(each.name)
		t.Run(name, func(t *testing.T) {
			target := Target{}
			if isGroupName(name) {
				target.Pid = command.Process.Pid
			}
			found, err := Find(name, target)
			if err != nil && (strings.Contains(err.Error(), "has no") || strings.Contains(err.Error(), "there is no cgroup")) {
				t.Skipf("not on this machine: %v", err)
			}
			must(t, err)
			before, err := found.Current()
			must(t, err)
			inner, err := Begin(t.Context(), found)
			must(t, err)
			defer inner.Restore()
			must(t, inner.Set(name, each.value))
			want := each.value
			if each.loose != "" {
				want = each.loose
			}
			if now, err := found.Current(); err != nil || !strings.HasPrefix(now, want) {
				t.Errorf("set to %q it is %q (%v)", each.value, now, err)
			}
			must(t, inner.Restore())
			now, err := found.Current()
			if strings.HasSuffix(name, ".max_bytes") && strings.HasPrefix(name, "bdi.") {
				// It moves with the memory that is free; what it is a view of does not.
				now, before = contentOf(t, "/sys/class/bdi/"+number+"/max_ratio_fine"), exact
			}
			if err != nil || now != before {
				t.Errorf("afterwards it is %q (%v), was %q", now, err, before)
			}
			done++
		})
	}
	if done < len(sweep)/2 {
		t.Errorf("only %d of %d are on this machine", done, len(sweep))
	}
	must(t, change.Restore())
	if left := entries(t, state); len(left) != 0 {
		t.Errorf("the journal still holds %v", left)
	}
}

// unusedLoop is the last loop device that shows nothing, and its number.
func unusedLoop(t *testing.T) (name, number string) {
	t.Helper()
	folders, err := filepath.Glob("/sys/block/loop*")
	must(t, err)
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, "loop")); os.IsNotExist(err) {
			name, number = filepath.Base(folder), contentOf(t, filepath.Join(folder, "dev"))
		}
	}
	if name == "" {
		t.Skip("this machine has no unused loop device")
	}
	return name, number
}

// enterGroups puts a process into cgroups of our own, one for each hierarchy.
func enterGroups(t *testing.T, change *Change, pid int) {
	t.Helper()
	launch, err := change.Launch(t.Context(), Level{"cgroup.cpu.weight", "100"}, Level{"cgroup.memory.max", noLimit},
		Level{"cgroup.pids.max", noLimit}, Level{"cgroup.io.wbps.7:0", noLimit}, Level{"cgroup.cpuset.mems", "0"})
	if err != nil && strings.Contains(err.Error(), "has no") {
		t.Skipf("this machine's cgroups hand no controller down: %v", err)
	}
	must(t, err)
	must(t, launch.Apply(pid))
}
