package knob

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// realKnobs are set on this machine, and put back by the guardian after kill -9 of
// the owner. Those that it does not have are left out with the reason.
var realKnobs = map[string]string{
	"thp": "never", "thp.defrag": "defer", "vm.dirty_bytes": "536870912",
	"vm.swappiness": "61", "vm.dirty_expire_centisecs": "2900", "perf.max_sample_rate": "90000",
	"net.ipv4.tcp_rmem": "4096 131072 6000000", "block.vda.nomerges": "1", "block.vda.scheduler": "none",
}

func TestRealKnobsAfterKill(t *testing.T) {
	if testing.Short() {
		t.Skip("settings of the host need root: -short leaves it out")
	}
	if os.Geteuid() != 0 {
		t.Skip("settings of the host are root's")
	}
	var names []string
	before := map[string]string{}
	for name := range realKnobs {
		found, err := Find(name, Target{})
		if err != nil {
			t.Logf("not on this machine: %v", err)
			continue
		}
		before[name], err = found.Current()
		must(t, err)
		names = append(names, name+"="+realKnobs[name])
	}
	if len(names) < 4 {
		t.Fatalf("only %v of this machine's settings are found", names)
	}
	state := newState(t)
	command := exec.Command("/proc/self/exe", append([]string{severalVerb}, names...)...)
	command.Env = append(os.Environ(), stateVariable+"="+state)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	_, err = bufio.NewReader(output).ReadString('\n')
	must(t, err)
	for _, pair := range names {
		name, value, _ := strings.Cut(pair, "=")
		if now := currentOf(t, name); now != value {
			t.Errorf("%s is %q while it is held, want %q", name, now, value)
		}
	}
	must(t, command.Process.Kill())
	_ = command.Wait()
	took := eventually(t, restoreLimit, "restore", func() bool { return len(entries(t, state)) == 0 })
	t.Logf("%d knobs were back %v after kill -9", len(names), took)
	for name, value := range before {
		if now := currentOf(t, name); now != value {
			t.Errorf("%s is %q afterwards, was %q", name, now, value)
		}
	}
}

func currentOf(t *testing.T, name string) string {
	t.Helper()
	found, err := Find(name, Target{})
	must(t, err)
	value, err := found.Current()
	must(t, err)
	return value
}

// A command in a cgroup of our own has its limits; afterwards neither is there.
func TestLaunchInACgroup(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("cgroups are root's")
	}
	newState(t)
	change, err := Begin(t.Context())
	must(t, err)
	levels := []Level{{"cgroup.cpu.max", "20000 100000"}, {"cgroup.memory.max", "64M"}, {"nice", "3"}}
	launch, err := change.Launch(t.Context(), levels...)
	if err != nil && strings.Contains(err.Error(), "has no cpu.max") {
		must(t, change.Restore())
		t.Skipf("this machine's cgroups hand no controller down: %v", err)
	}
	must(t, err)
	again, err := change.Launch(t.Context(), levels...)
	must(t, err)
	if len(again.groups) != len(launch.groups) || len(change.groups) != len(launch.groups) {
		t.Errorf("the same limits made other cgroups: %v and %v", launch.groups, again.groups)
	}
	command := exec.Command("/bin/sh", "-c", "read -r x; exec sleep 60")
	input, err := command.StdinPipe()
	must(t, err)
	must(t, command.Start())
	must(t, launch.Apply(command.Process.Pid))
	_, err = input.Write([]byte("\n"))
	must(t, err)
	limit, err := Find("cgroup.cpu.max", Target{Pid: command.Process.Pid})
	must(t, err)
	if value, err := limit.Current(); err != nil || value != "20000 100000" {
		t.Errorf("the command's quota is %q (%v)", value, err)
	}
	must(t, change.Restore())
	if err := command.Wait(); err == nil {
		t.Error("the command was not ended with its cgroup")
	}
	for _, folder := range launch.groups {
		if _, err := os.Stat(folder); !os.IsNotExist(err) {
			t.Errorf("%s is still there (%v)", folder, err)
		}
	}
}

// What is undone is never more than what we make.
func TestForeignThingsAreRefused(t *testing.T) {
	for _, thing := range []Thing{{Folder, "/etc"}, {Folder, "/tmp/../culprit-ground-1"}, {Folder, "culprit-ground-1"},
		{Mount, "/"}, {Mount, "/home"}, {Loop, "loop0 /home/disk.img"}, {Loop, "sda /x/culprit-ground-1/image"},
		{Loop, "loop0"}, {Loop, "loop0 /dev/vda"}, {Group, "/sys/fs/cgroup/system.slice"}, {"process", "1"}} {
		if _, err := thing.part(); err == nil {
			t.Errorf("%+v would be undone", thing)
		}
	}
}

func TestMountOptions(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting is root's")
	}
	newState(t)
	change, err := Begin(t.Context())
	must(t, err)
	folder := filepath.Join(t.TempDir(), privateFolder+strconv.Itoa(os.Getpid()))
	point := filepath.Join(folder, "mount")
	must(t, change.Make(t.Context(), Thing{Folder, folder}, func() error { return os.MkdirAll(point, 0o700) }))
	must(t, change.Make(t.Context(), Thing{Mount, point}, func() error {
		return exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "none", point).Run()
	}))
	name := mountPrefix + point
	found, err := Find(name, Target{})
	must(t, err)
	if found.Effect() != Remount {
		t.Errorf("its effect is %q", found.Effect())
	}
	before, err := found.Current()
	must(t, err)
	refused(t, found.Check("data=writeback"), "those that a remount can undo")
	refused(t, found.Check("commit=x"), "commit=SECONDS")
	must(t, change.Add(found))
	for value, want := range map[string]string{"noatime": "noatime", "nodiratime+relatime": "nodiratime"} {
		must(t, change.Set(name, value))
		now, err := found.Current()
		if err != nil || !strings.Contains(now, want) {
			t.Errorf("with %s it has %q (%v)", value, now, err)
		}
	}
	last := change.entry.Steps[len(change.entry.Steps)-1]
	_, err = last.undo(true)
	must(t, err)
	if now, err := found.Current(); err != nil || now != before {
		t.Errorf("afterwards %q (%v), before %q", now, err, before)
	}
	must(t, change.Restore())
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("%s is still there", folder)
	}
	_, err = Find(name, Target{})
	refused(t, err, "nothing is mounted")
}
