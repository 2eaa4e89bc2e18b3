package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"culprit/internal/probe"
	"culprit/internal/probe/counters/event"
)

func TestDoctorSeesItsTestProgramThroughEveryProbe(t *testing.T) {
	needsRoot(t)
	path := filepath.Join(t.TempDir(), "doctor.json")
	got := here(t, "doctor", "--json", path)
	if got.status != exitDone || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found diagnosis
	if err := json.Unmarshal(content, &found); err != nil {
		t.Fatal(err)
	}
	if found.Schema != doctorSchema || !found.CanRecord || found.Why != "" {
		t.Errorf("schema %q, can record: %v, %q", found.Schema, found.CanRecord, found.Why)
	}
	wanted := len(probe.All()) + 2 - 1 // allocations, which is not tried
	if event.Host.CorePMU() == "" {
		wanted-- // cpi, which takes the CPU's counters
	}
	if len(found.Probes) != wanted {
		t.Errorf("%d probes of %d", len(found.Probes), wanted)
	}
	for _, check := range found.Probes {
		if !check.Works || check.Saw == "" || check.Sees == "" {
			t.Errorf("%s: works %v, saw %q, why %q", check.Name, check.Works, check.Saw, check.Why)
		}
		if !strings.Contains(got.stdout, "works    "+check.Name) {
			t.Errorf("%s is not in the table", check.Name)
		}
	}
	for _, capability := range found.Capabilities {
		if !strings.Contains(got.stdout, capability.Name) {
			t.Errorf("%s is not in the table", capability.Name)
		}
		if !capability.Available && (capability.Why == "" || capability.Hides == "" || capability.Fix == "") {
			t.Errorf("%s is missing without a word: %+v", capability.Name, capability)
		}
	}
	if found.Clock.Current == "" || found.Clock.ReadNs <= 0 || found.Recorder.LoadCPUS <= 0 {
		t.Errorf("clock %+v, recorder %+v", found.Clock, found.Recorder)
	}
	for line := range strings.Lines(got.stdout) {
		if columns := len([]rune(strings.TrimRight(line, "\n"))); columns > textWidth {
			t.Errorf("line of %d columns: %s", columns, line)
		}
	}
}

// A user without rights gets the table, and one line that says what is missing.
func TestDoctorWithoutRights(t *testing.T) {
	if os.Geteuid() != 0 {
		got := here(t, "doctor")
		oneLine(t, got, "nothing can be recorded here", "CAP_BPF")
		return
	}
	folder, err := os.MkdirTemp("", "culprit-nobody-*") // unlike t.TempDir below a folder that everybody may enter
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	made := command(t, folder, "doctor", "--json", "-")
	copied := filepath.Join(folder, "culprit")
	copyProgram(t, made.Path, copied)
	made.Path = copied
	made.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	got := finish(t, made)
	oneLine(t, got, "nothing can be recorded here", "CAP_BPF")
	var found diagnosis
	if err := json.Unmarshal([]byte(got.stdout), &found); err != nil {
		t.Fatalf("%v in %q", err, got.stdout)
	}
	open := filepath.Join(folder, "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	made = command(t, open, "record", "-o", "x", "--", "true")
	made.Path, made.SysProcAttr = copied, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	oneLine(t, finish(t, made), "recording needs root", "CAP_BPF")
	if found.CanRecord || found.TracersNote == "" || len(found.Capabilities) == 0 {
		t.Errorf("can record %v, note %q", found.CanRecord, found.TracersNote)
	}
	for _, check := range found.Probes {
		if check.Works || check.Why == "" || check.Hides == "" || !strings.Contains(check.Fix, "CAP_BPF") {
			t.Errorf("%s: %+v", check.Name, check)
		}
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTableSpellsOutWhatCouldMoveTheCursor(t *testing.T) {
	table := &table{}
	table.line("evil\x1b[2Jname\nnext")
	table.row(false, "probe", "", "why\rnot", "much", "way")
	if text := table.out.String(); strings.ContainsAny(text, "\x1b\r") || strings.Count(text, "\n") != 5 {
		t.Errorf("%q", text)
	}
}
