package ground

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/internal/knob"
)

// ownerVerb makes the test binary an experiment that can be killed.
const ownerVerb = "experiment"

// heldKnobs are settings of this machine that matter to nobody for a moment.
var heldKnobs = []knob.Level{{Name: "vm.stat_interval", Value: "3"}, {Name: "vm.extfrag_threshold", Value: "499"}}

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == knob.GuardianVerb:
		exit(knob.RunGuardian(os.Args[2:]))
	case len(os.Args) > 2 && os.Args[1] == ownerVerb:
		exit(experiment(context.Background(), os.Args[2]))
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// experiment does all that one can do to a host: knobs, a cgroup with a command in it, and a
// ground; over and over.
func experiment(ctx context.Context, text string) error {
	spec, err := Parse(text)
	if err != nil {
		return err
	}
	var knobs []knob.Knob
	for _, level := range heldKnobs {
		found, err := knob.Find(level.Name, knob.Target{})
		if err != nil {
			return err
		}
		knobs = append(knobs, found)
	}
	for {
		change, err := knob.Begin(ctx, knobs...)
		if err != nil {
			return err
		}
		fmt.Println("begun")
		if err := change.SetAll(heldKnobs...); err != nil {
			return err
		}
		if err := runCommand(ctx, change, spec); err != nil {
			return err
		}
		if err := change.Restore(); err != nil {
			return err
		}
	}
}

// runCommand starts a command in a cgroup on a ground and writes beside it.
func runCommand(ctx context.Context, change *knob.Change, spec Spec) error {
	launch, err := change.Launch(ctx, knob.Level{Name: "cgroup.memory.max", Value: "256M"})
	if err != nil {
		return err
	}
	made, err := Prepare(ctx, spec)
	if err != nil {
		return err
	}
	// A gate, as trials have one: killed before it opens, the command never begins.
	command := exec.Command("/bin/sh", "-c",
		"read -r x || exit 125; while :; do dd if=/dev/zero of=f bs=64k count=64 2>/dev/null; done")
	command.Dir = made.Path
	input, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	if err := launch.Apply(command.Process.Pid); err != nil {
		return err
	}
	if _, err := input.Write([]byte("\n")); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond)
	_ = command.Process.Kill()
	_ = command.Wait()
	return made.Close()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// traces are all that an experiment of ours could have left on the host.
func traces(t *testing.T, state string) []string {
	t.Helper()
	var found []string
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, state) {
			found = append(found, "mount "+strings.TrimSpace(line))
		}
	}
	loops, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	must(t, err)
	lower := ""
	for range 2 { // the second time for those on a device of ours
		for _, file := range loops {
			backing, err := os.ReadFile(file)
			if err != nil {
				continue // detached meanwhile
			}
			text := strings.TrimSpace(string(backing))
			if strings.Contains(text, state) || lower != "" && text == lower {
				found = append(found, "loop "+file+" on "+text)
				lower = "/dev/" + strings.Split(file, "/")[3]
			}
		}
	}
	folders, err := filepath.Glob(filepath.Join(state, "ground", "*"))
	must(t, err)
	return append(found, folders...)
}

// leftOf tells what a process of ours left behind: cgroups, children, settings.
func leftOf(t *testing.T, pid int, before map[string]string) []string {
	t.Helper()
	var found []string
	groups, err := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/*/*/culprit-knob-%d-*", pid))
	must(t, err)
	for depth := range 3 {
		more, err := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/%sculprit-knob-%d-*", strings.Repeat("*/", depth), pid))
		must(t, err)
		groups = append(groups, more...)
	}
	found = append(found, groups...)
	for name, value := range before {
		if now := valueOf(t, name); now != value {
			found = append(found, fmt.Sprintf("%s is %q, was %q", name, now, value))
		}
	}
	if device := throttled(t); device != "" {
		found = append(found, "throttle "+device)
	}
	return found
}

// throttled tells whether a loop device is left throttled.
func throttled(t *testing.T) string {
	t.Helper()
	var left []string
	for _, kind := range []string{"bps", "iops"} {
		text, err := os.ReadFile("/sys/fs/cgroup/blkio/blkio.throttle.write_" + kind + "_device")
		if os.IsNotExist(err) {
			continue
		}
		must(t, err)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "7:") {
				left = append(left, strings.TrimSpace(line))
			}
		}
	}
	return strings.Join(left, ", ")
}

func valueOf(t *testing.T, name string) string {
	t.Helper()
	found, err := knob.Find(name, knob.Target{})
	must(t, err)
	value, err := found.Current()
	must(t, err)
	return value
}
