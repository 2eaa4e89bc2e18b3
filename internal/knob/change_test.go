package knob

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFlipAndRestore(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock", "hpet")
	change, err := Begin(t.Context(), ClockSource(root))
	must(t, err)
	original, err := change.Original("clocksource")
	if err != nil || original != "tsc" || value(t, root) != "tsc" {
		t.Errorf("original is %q (%v), the setting %q", original, err, value(t, root))
	}
	for _, wanted := range []string{"kvm-clock", "tsc", "hpet", "kvm-clock"} {
		must(t, change.Set("clocksource", wanted))
		if value(t, root) != wanted {
			t.Errorf("setting is %q after Set(%q)", value(t, root), wanted)
		}
	}
	journal, err := OpenJournal(state)
	must(t, err)
	defer journal.Close()
	written, err := journal.load(filepath.Base(change.entryPath()))
	must(t, err)
	step := written.Steps[0]
	if len(written.Steps) != 1 || step.Original != "tsc" || !slices.Equal(step.Ours, []string{"kvm-clock", "hpet"}) ||
		written.Owner.Pid != os.Getpid() || !written.Owner.alive() || step.Path != settingOf(root) {
		t.Errorf("on disk is %+v", written)
	}
	must(t, change.Restore())
	must(t, change.Restore())
	if value(t, root) != "tsc" || len(entries(t, state)) != 0 {
		t.Errorf("afterwards the setting is %q, the journal %v", value(t, root), entries(t, state))
	}
	if change.guardian.alive() {
		t.Error("the guardian is still there")
	}
	refused(t, change.Set("clocksource", "hpet"), "closed")
}

func TestRefusals(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
	change, err := Begin(t.Context(), ClockSource(root))
	must(t, err)
	err = change.Set("clocksource", "acpi_pm")
	refused(t, err, "clocksource", `"acpi_pm"`, "available: tsc kvm-clock")
	if !errors.Is(err, ErrRefused) {
		t.Errorf("%v is not ErrRefused", err)
	}
	_, err = Begin(t.Context(), ClockSource(root))
	refused(t, err, "clocksource", "this run")
	if !errors.Is(err, ErrHeld) {
		t.Errorf("%v is not ErrHeld", err)
	}
	must(t, change.Restore())
	if value(t, root) != "tsc" || len(entries(t, state)) != 0 {
		t.Errorf("a refusal left the setting %q and the journal %v", value(t, root), entries(t, state))
	}
	_, err = Begin(t.Context(), ClockSource(t.TempDir()))
	refused(t, err, "current_clocksource", "no such file")
	_, err = Begin(t.Context(), ClockSource(machine(t, "xen", "tsc")))
	refused(t, err, `"xen"`, "available: tsc") // could not be set back
	_, err = Find("clocksauce", Target{})
	refused(t, err, `"clocksauce"`, "clocksource")
}

func TestReadOnlySettingIsRefused(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
	must(t, os.Chmod(settingOf(root), 0o444))
	result := make(chan error)
	go func() {
		// Root may write read-only files; this thread gives that up and ends with the goroutine.
		runtime.LockOSThread()
		change, err := Begin(t.Context(), ClockSource(root))
		if err == nil {
			err = errors.Join(dropOverride(), change.Set("clocksource", "kvm-clock"))
			if restoreErr := change.Restore(); restoreErr != nil {
				err = restoreErr
			}
		}
		result <- err
	}()
	refused(t, <-result, "permission denied", "run as root")
	if value(t, root) != "tsc" || len(entries(t, state)) != 0 {
		t.Errorf("afterwards the setting is %q, the journal %v", value(t, root), entries(t, state))
	}
}

// dropOverride takes CAP_DAC_OVERRIDE (1) from the effective set of this thread.
func dropOverride() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Effective &^= 1 << 1
	return unix.Capset(&header, &data[0])
}

// stubborn is a clock source that takes another value than the one that was written.
func stubborn(root, takes string) Knob {
	clock := ClockSource(root)
	plain := clock.parts
	clock.parts = func() ([]part, error) {
		parts, err := plain()
		write := parts[0].write
		parts[0].write = func(value string) error {
			if value == "kvm-clock" {
				value = takes
			}
			return write(value)
		}
		return parts, err
	}
	return clock
}

func TestVerifyMismatchIsAnErrorAndUndone(t *testing.T) {
	for _, takes := range []string{"hpet", "tsc"} {
		state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock", "hpet")
		change, err := Begin(t.Context(), stubborn(root, takes))
		must(t, err)
		refused(t, change.Set("clocksource", "kvm-clock"), `"kvm-clock"`, "did not take it", `"`+takes+`"`)
		must(t, change.Set("clocksource", "hpet"))
		must(t, change.Restore())
		if value(t, root) != "tsc" || len(entries(t, state)) != 0 {
			t.Errorf("afterwards the setting is %q, the journal %v", value(t, root), entries(t, state))
		}
	}
}

func TestDriftIsReportedAndLeft(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock", "hpet")
	change, err := Begin(t.Context(), ClockSource(root))
	must(t, err)
	must(t, change.Set("clocksource", "kvm-clock"))
	put(t, settingOf(root), "hpet\n")
	refused(t, change.Set("clocksource", "tsc"), "somebody else", `"hpet"`)
	err = change.Restore()
	refused(t, err, `"hpet"`, `"tsc"`, "left as it is", "echo tsc > "+settingOf(root))
	var drift *DriftError
	if !errors.As(err, &drift) || drift.Current != "hpet" {
		t.Errorf("%v is no DriftError", err)
	}
	if again := change.Restore(); again == nil || again.Error() != err.Error() {
		t.Errorf("the second Restore gives %v", again)
	}
	if value(t, root) != "hpet" || len(entries(t, state)) != 0 {
		t.Errorf("afterwards the setting is %q, the journal %v", value(t, root), entries(t, state))
	}
}

func TestRestoreThatFailsCanBeRepeated(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
	change, err := Begin(t.Context(), ClockSource(root))
	must(t, err)
	must(t, change.Set("clocksource", "kvm-clock"))
	// A folder in the file's place can be neither read nor written.
	must(t, os.Rename(settingOf(root), settingOf(root)+".away"))
	must(t, os.Mkdir(settingOf(root), 0o755))
	refused(t, change.Restore(), settingOf(root), "is a directory")
	if len(entries(t, state)) != 1 {
		t.Errorf("the entry is gone though the setting was not put back")
	}
	must(t, os.Remove(settingOf(root)))
	must(t, os.Rename(settingOf(root)+".away", settingOf(root)))
	must(t, change.Restore())
	if value(t, root) != "tsc" || len(entries(t, state)) != 0 {
		t.Errorf("afterwards the setting is %q, the journal %v", value(t, root), entries(t, state))
	}
}

func TestKilledGuardianIsReplacedBeforeTheNextWrite(t *testing.T) {
	_, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
	change, err := Begin(t.Context(), ClockSource(root))
	must(t, err)
	first := change.guardian
	must(t, first.process.Kill())
	eventually(t, restoreLimit, "the guardian's end", func() bool { return !first.alive() })
	must(t, change.Set("clocksource", "kvm-clock"))
	if change.guardian == first || !change.guardian.alive() {
		t.Error("a value was written with no guardian")
	}
	must(t, syscall.Kill(change.guardian.process.Pid, 0))
	must(t, change.Restore())
}

func TestOneOfManyGetsTheKnob(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
	const many = 8
	changes := make(chan *Change, many)
	var group sync.WaitGroup
	for range many {
		group.Go(func() {
			change, err := Begin(t.Context(), ClockSource(root))
			if err == nil {
				changes <- change
			} else if !errors.Is(err, ErrHeld) {
				t.Errorf("the others get %v, not ErrHeld", err)
			}
		})
	}
	group.Wait()
	if len(changes) != 1 {
		t.Errorf("%d hold the same knob", len(changes))
	}
	close(changes)
	for change := range changes {
		must(t, change.Restore())
	}
	if len(entries(t, state)) != 0 {
		t.Errorf("the journal still holds %v", entries(t, state))
	}
}
