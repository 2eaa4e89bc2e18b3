package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/internal/knob"
)

// journaled makes a state folder with one journal entry and returns the entry's file.
func journaled(t *testing.T, name, content string) string {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	t.Setenv("CULPRIT_STATE", state)
	journal := filepath.Join(state, "journal")
	if err := os.MkdirAll(journal, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(journal, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRestoreWithADamagedJournal(t *testing.T) {
	path := journaled(t, "clocksource.json", `{"schema":1,"knob":"clocksource","orig`)
	got := here(t, "restore")
	oneLine(t, got, path, "delete the file")
	if _, err := os.Stat(path); err != nil || got.stdout != "" {
		t.Errorf("the damaged entry is gone or something is printed: %v, %q", err, got.stdout)
	}
	got = here(t, "restore", "--json", "-")
	oneLine(t, got, path)
	var document restored
	err := json.Unmarshal([]byte(got.stdout), &document)
	if err != nil || document.Error == "" || document.Settings == nil {
		t.Errorf("%v in %s", err, got.stdout)
	}
}

// An entry whose owner is gone and whose setting already has its value: nothing
// of this machine is written, and the whole way is gone.
func TestRestoreOfAnEntryThatAKilledRunLeft(t *testing.T) {
	source := knob.ClockSource("/")
	current, err := source.Current()
	if err != nil {
		t.Fatal(err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	entry := fmt.Sprintf(`{"schema":2,"owner":{"pid":%d,"start_ticks":1,"boot_id":%q},"begun":"1970-01-01T00:00:01Z",
		"steps":[{"knob":"clocksource","target":{"root":"/"},"part":%q,"path":%q,"original":%q,"ours":["other"]}]}`,
		os.Getpid(), strings.TrimSpace(string(boot)), source.Place().Path, source.Place().Path, current)
	path := journaled(t, fmt.Sprintf("change-%d-1000000000.json", os.Getpid()), entry)

	found := &diagnosis{}
	found.Pending, err = knob.ListPending(knob.StateDir())
	if err != nil {
		t.Fatal(err)
	}
	text := &table{}
	found.printPending(text)
	shown := text.out.String()
	if !strings.Contains(shown, "journal entry") || !strings.Contains(shown, "culprit restore") {
		t.Errorf("doctor says %q", shown)
	}
	text, found.Pending[0].Current = &table{}, "other"
	found.printPending(text)
	if shown := text.out.String(); !strings.Contains(shown, "clocksource is other, was "+current+": LEFT CHANGED") {
		t.Errorf("doctor says %q", shown)
	}

	got := here(t, "restore")
	if got.status != exitDone || got.stderr != "" || got.stdout != "already   clocksource: is "+current+", as it was ("+
		filepath.Join("/", source.Place().Path)+")\n" {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the entry is still there: %v", err)
	}
	if again := here(t, "restore"); again.stdout != "nothing to restore: no setting was left changed\n" {
		t.Errorf("%+v", again)
	}
}

func TestEachOutcomeOfRestoreIsSaid(t *testing.T) {
	for action, want := range map[knob.Action]string{
		knob.PutBack: "restored  k: new → old (/p)\n", knob.Already: "already   k: is old, as it was (/p)\n",
		knob.Drifted: "drifted   k: left at new\n", knob.Cleared: "cleared   k:", knob.InUse: "in use    k:",
	} {
		var out strings.Builder
		settings := []knob.Restored{{Knob: "k", Path: "/p", From: "new", To: "old", Action: action, Note: "note"}}
		if err := printRestored(world{stdout: &out}, settings, nil); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), "note\n") {
			t.Errorf("%s is told as %q", action, out.String())
		}
	}
}
