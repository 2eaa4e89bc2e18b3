package knob

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// restoreLimit is what a host may take that is busy with everything else. The mission
// promises two seconds; the time that it took is logged.
const restoreLimit = 10 * time.Second

func TestOwnerKilledInTheMiddleOfAFlip(t *testing.T) {
	for name, kill := range map[string]func(*ownerProcess) error{
		"process": func(owner *ownerProcess) error { return owner.command.Process.Kill() },
		"process group": func(owner *ownerProcess) error {
			return syscall.Kill(-owner.command.Process.Pid, syscall.SIGKILL)
		},
		"hangup": func(owner *ownerProcess) error {
			return syscall.Kill(-owner.command.Process.Pid, syscall.SIGHUP)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "hangup" && signal.Ignored(syscall.SIGHUP) {
				t.Skip("run by nohup: a hangup ends nothing that is started here")
			}
			state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
			owner := startOwner(t, state, root, "kvm-clock")
			if value(t, root) != "kvm-clock" {
				t.Fatalf("setting is %q while the owner holds it", value(t, root))
			}
			must(t, kill(owner))
			took := eventually(t, restoreLimit, "restore", func() bool { return holds(root, "tsc") })
			t.Logf("restored %v after the kill", took)
			eventually(t, guardianEnd, "guardian's end", func() bool { return ended(owner.guardian) })
			if left := entries(t, state); len(left) != 0 {
				t.Errorf("the journal still holds %v", left)
			}
		})
	}
}

// ended tells whether a process is gone; nobody reaps a guardian here but init.
func ended(pid int) bool {
	_, err := startTicks(pid)
	return err != nil
}

func TestOwnerKilledOnTheRealClockSource(t *testing.T) {
	clock := ClockSource("/")
	available, err := clock.Allowed()
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(available) < 2 {
		t.Skipf("this machine offers %v: nothing to flip to", available)
	}
	must(t, err)
	if err := unix.Access(clock.Place().Path, unix.W_OK); err != nil {
		t.Skipf("may not write %s: %v", clock.Place().Path, err)
	}
	original, err := clock.Current()
	must(t, err)
	t.Cleanup(func() {
		// Whatever the test found out, the machine keeps its clock source.
		if now, err := clock.Current(); err != nil || now != original {
			t.Errorf("clock source was left at %q: setting %q by hand: %v", now, original, writeSetting(clock.Place(), original))
		}
	})
	other := available[0]
	if other == original {
		other = available[1]
	}
	owner := startOwner(t, newState(t), "/", other)
	if now, err := clock.Current(); err != nil || now != other {
		t.Fatalf("clock source is %q, want %q (%v)", now, other, err)
	}
	must(t, owner.command.Process.Kill())
	took := eventually(t, restoreLimit, "restore", func() bool {
		now, err := clock.Current()
		return err == nil && now == original
	})
	t.Logf("%s was back %v after kill -9 of the owner", original, took)
}

func TestOwnerThatEndsCleanlyLeavesNothing(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
	owner := startOwner(t, state, root, "kvm-clock")
	must(t, owner.input.Close())
	must(t, owner.command.Wait())
	if value(t, root) != "tsc" || len(entries(t, state)) != 0 || !ended(owner.guardian) {
		t.Errorf("left: setting %q, journal %v, guardian ended %v", value(t, root), entries(t, state), ended(owner.guardian))
	}
}

func TestGuardianIgnoresSignalsAndHoldsNothing(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
	owner := startOwner(t, state, root, "kvm-clock")
	for _, number := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		must(t, syscall.Kill(owner.guardian, number))
	}
	time.Sleep(50 * time.Millisecond)
	if ended(owner.guardian) {
		t.Fatal("the guardian was ended by a signal while a change is open")
	}
	folder := "/proc/" + strconv.Itoa(owner.guardian)
	if cwd, err := os.Readlink(folder + "/cwd"); err != nil || cwd != "/" {
		t.Errorf("its folder is %q (%v)", cwd, err)
	}
	if session, err := unix.Getsid(owner.guardian); err != nil || session != owner.guardian {
		t.Errorf("its session is %d (%v), not its own", session, err)
	}
	listed, err := os.ReadDir(folder + "/fd")
	must(t, err)
	for _, each := range listed {
		target, err := os.Readlink(filepath.Join(folder, "fd", each.Name()))
		must(t, err)
		known := target == "/dev/null" || each.Name() == "3" && strings.HasPrefix(target, "pipe:") ||
			strings.HasPrefix(target, "anon_inode:") || strings.HasPrefix(target, state) ||
			strings.HasPrefix(target, "/sys/fs/cgroup/") // Go's run time reads its CPU quota
		if !known {
			t.Errorf("it holds descriptor %s: %s", each.Name(), target)
		}
	}
	must(t, owner.command.Process.Kill())
	eventually(t, restoreLimit, "restore", func() bool { return holds(root, "tsc") })
}

func TestGuardianLeavesADriftToRestore(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock", "hpet")
	owner := startOwner(t, state, root, "kvm-clock")
	put(t, settingOf(root), "hpet\n")
	must(t, owner.command.Process.Kill())
	_ = owner.command.Wait() // its pipe is closed, and the guardian at work, before the process has gone
	eventually(t, guardianEnd, "guardian's end", func() bool { return ended(owner.guardian) })
	if value(t, root) != "hpet" {
		t.Errorf("the guardian overwrote somebody's %q", value(t, root))
	}
	_, err := Begin(t.Context(), ClockSource(root))
	refused(t, err, "culprit restore")
	all, err := Restore(state)
	must(t, err)
	if len(all) != 1 || all[0].Action != Drifted || !strings.Contains(all[0].Note, `"hpet"`) {
		t.Errorf("restore tells %+v", all)
	}
	if value(t, root) != "hpet" || len(entries(t, state)) != 0 {
		t.Errorf("afterwards the setting is %q, the journal %v", value(t, root), entries(t, state))
	}
}

func TestGuardianCannotBeStartedByHand(t *testing.T) {
	output, err := exec.Command("/proc/self/exe", GuardianVerb, "/tmp/journal/clocksource.json").CombinedOutput()
	if err == nil || !strings.Contains(string(output), "culprit restore") {
		t.Errorf("by hand it says %q (%v)", output, err)
	}
	_, err = Guard()
	refused(t, err, "no journal entry")
	_, err = Guard(filepath.Join(newState(t), journalFolder, "clocksource.json"))
	refused(t, err, "did not become ready")
}
