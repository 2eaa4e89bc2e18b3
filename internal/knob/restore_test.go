package knob

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stale writes the entry of an owner that is gone and returns its path.
func stale(t *testing.T, state string, change func(*entry), root string) string {
	t.Helper()
	journal, err := OpenJournal(state)
	must(t, err)
	defer journal.Close()
	boot, err := bootID()
	must(t, err)
	setting := settingOf(root)
	left := entry{Schema: entrySchema, Begun: time.Now().UTC(),
		Steps: []step{{Knob: "clocksource", Target: Target{Root: root}, Part: ClockSource(root).Place().Path,
			Path: setting, Original: "tsc", Ours: []string{"kvm-clock"}}},
		// Our own pid with another start: a pid that was used again.
		Owner: owner{Pid: os.Getpid(), StartTicks: 1, BootID: boot}}
	change(&left)
	must(t, left.save(journal))
	return filepath.Join(journal.path, left.fileName())
}

func TestRestoreAfterEverythingElse(t *testing.T) {
	for name, each := range map[string]struct {
		found  string
		change func(*entry)
		action Action
		after  string
	}{
		"left changed":        {"kvm-clock", func(*entry) {}, PutBack, "tsc"},
		"not yet written":     {"tsc", func(*entry) {}, Already, "tsc"},
		"changed by somebody": {"hpet", func(*entry) {}, Drifted, "hpet"},
		"booted since":        {"kvm-clock", func(left *entry) { left.Owner.BootID = "another" }, Cleared, "kvm-clock"},
		"booted since, but survives it": {"kvm-clock",
			func(left *entry) { left.Owner.BootID, left.Steps[0].SurvivesBoot = "another", true }, PutBack, "tsc"},
	} {
		t.Run(name, func(t *testing.T) {
			state, root := newState(t), machine(t, each.found, "tsc", "kvm-clock", "hpet")
			stale(t, state, each.change, root)
			all, err := Restore(state)
			must(t, err)
			if len(all) != 1 || all[0].Action != each.action || all[0].Path != settingOf(root) {
				t.Errorf("restore tells %+v, want %s", all, each.action)
			}
			if value(t, root) != each.after || len(entries(t, state)) != 0 {
				t.Errorf("setting is %q, journal %v", value(t, root), entries(t, state))
			}
			change, err := Begin(t.Context(), ClockSource(root))
			must(t, err)
			must(t, change.Restore())
		})
	}
}

// The next start puts back what it finds and says so; what somebody changed since stops it until it
// was read.
func TestTheNextStartRestores(t *testing.T) {
	state, root := newState(t), machine(t, "kvm-clock", "tsc", "kvm-clock", "hpet")
	stale(t, state, func(*entry) {}, root)
	change, err := Begin(t.Context(), ClockSource(root))
	must(t, err)
	recovered := change.Recovered()
	if len(recovered) != 1 || recovered[0].Action != PutBack || recovered[0].From != "kvm-clock" {
		t.Errorf("it tells %+v", recovered)
	}
	if original, err := change.Original("clocksource"); err != nil || original != "tsc" {
		t.Errorf("it took %q for the original (%v)", original, err)
	}
	must(t, change.Restore())
	put(t, settingOf(root), "hpet\n")
	stale(t, state, func(*entry) {}, root)
	_, err = Begin(t.Context(), ClockSource(root))
	refused(t, err, `"hpet"`, "culprit restore")
	if !errors.Is(err, ErrStale) || len(entries(t, state)) != 1 {
		t.Errorf("%v is not ErrStale, or the journal is %v", err, entries(t, state))
	}
}

// After a power cut what was mounted is gone by itself; the folder with the image is not.
func TestRestoreOfThingsAfterAReboot(t *testing.T) {
	state := newState(t)
	folder := filepath.Join(state, "ground", privateFolder+"1-2-3")
	must(t, os.MkdirAll(filepath.Join(folder, "fs"), 0o700))
	put(t, filepath.Join(folder, "image"), "bytes")
	made := func(kind, id string) step {
		return step{Knob: madePrefix + kind, Target: Target{Root: "/"}, Part: id, Path: id, Original: absent,
			Ours: []string{there}, SurvivesBoot: kind == Folder}
	}
	stale(t, state, func(left *entry) {
		left.Owner.BootID = "another"
		left.Steps = []step{made(Folder, folder), made(Loop, "loop0 "+folder+"/image"), made(Mount, folder+"/fs")}
	}, state)
	all, err := Restore(state)
	must(t, err)
	if len(all) != 3 || all[0].Action != Cleared || all[1].Action != Cleared || all[2].Action != PutBack {
		t.Errorf("restore tells %+v", all)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) || len(entries(t, state)) != 0 {
		t.Errorf("the folder is still there (%v), journal %v", err, entries(t, state))
	}
}

func TestRestoreLeavesALivingOwnerAlone(t *testing.T) {
	state, root := newState(t), machine(t, "tsc", "tsc", "kvm-clock")
	change, err := Begin(t.Context(), ClockSource(root))
	must(t, err)
	must(t, change.Set("clocksource", "kvm-clock"))
	all, err := Restore(state)
	must(t, err)
	if len(all) != 1 || all[0].Action != InUse || value(t, root) != "kvm-clock" {
		t.Errorf("restore tells %+v, setting is %q", all, value(t, root))
	}
	must(t, change.Restore())
}

func TestRestoreWithNothingToDo(t *testing.T) {
	state := newState(t)
	all, err := Restore(state)
	must(t, err)
	if _, statErr := os.Stat(state); all != nil || !os.IsNotExist(statErr) {
		t.Errorf("restore tells %+v and has made %s", all, state)
	}
}

func TestDamagedEntriesAreNamedAndOthersRestored(t *testing.T) {
	state, root := newState(t), machine(t, "kvm-clock", "tsc", "kvm-clock")
	path := stale(t, state, func(*entry) {}, root)
	folder := filepath.Dir(path)
	whole, err := os.ReadFile(path)
	must(t, err)
	renamed := strings.Replace(string(whole), `"begun": "20`, `"begun": "19`, 1)
	for name, content := range map[string]string{
		"a-truncated.json": string(whole[:len(whole)/2]), "b-empty.json": "", "c-other-name.json": string(whole),
		"elsewhere.json": renamed, "d-large.json": strings.Repeat(" ", entryLimit+1),
	} {
		put(t, filepath.Join(folder, name), content)
	}
	put(t, path+partSuffix, "half")
	all, err := Restore(state)
	if len(all) != 1 || all[0].Action != PutBack || value(t, root) != "tsc" {
		t.Errorf("restore tells %+v, setting is %q", all, value(t, root))
	}
	for _, name := range []string{"a-truncated.json", "b-empty.json", "c-other-name.json", "elsewhere.json",
		"d-large.json"} {
		if err == nil || !strings.Contains(err.Error(), filepath.Join(folder, name)) {
			t.Errorf("%s is not named in %q", name, err)
		}
	}
	if left := entries(t, state); len(left) != 5 {
		t.Errorf("left in the journal: %v, want the five that are damaged", left)
	}
}

func TestATruncatedEntryStopsBegin(t *testing.T) {
	state, root := newState(t), machine(t, "kvm-clock", "tsc", "kvm-clock")
	path := stale(t, state, func(*entry) {}, root)
	must(t, os.Truncate(path, 20))
	_, err := Begin(t.Context(), ClockSource(root))
	refused(t, err, "damaged", path, "delete the file")
}

func TestAnEntryCannotMakeUsWriteElsewhere(t *testing.T) {
	state, root := newState(t), machine(t, "kvm-clock", "tsc", "kvm-clock")
	target := filepath.Join(root, "victim")
	put(t, target, "kvm-clock\n")
	stale(t, state, func(left *entry) { left.Steps[0].Part, left.Steps[0].Path = "/victim", "/victim" }, root)
	_, err := Restore(state)
	refused(t, err, "/victim")
	if content, err := os.ReadFile(target); err != nil || string(content) != "kvm-clock\n" {
		t.Errorf("the file holds %q (%v)", content, err)
	}
}

func TestJournalFoldersThatAreRefused(t *testing.T) {
	root := machine(t, "tsc", "tsc", "kvm-clock")
	for name, plant := range map[string]func(t *testing.T, state string) string{
		"symbolic link": func(t *testing.T, state string) string {
			must(t, os.MkdirAll(state, 0o700))
			must(t, os.Symlink(t.TempDir(), filepath.Join(state, journalFolder)))
			return "symbolic link"
		},
		"state is a symbolic link": func(t *testing.T, state string) string {
			elsewhere := t.TempDir()
			must(t, os.Mkdir(filepath.Join(elsewhere, journalFolder), 0o700))
			must(t, os.Symlink(elsewhere, state))
			return "symbolic link"
		},
		"others may write": func(t *testing.T, state string) string {
			must(t, os.MkdirAll(filepath.Join(state, journalFolder), 0o700))
			must(t, os.Chmod(filepath.Join(state, journalFolder), 0o777))
			return "others may write"
		},
		"a file": func(t *testing.T, state string) string {
			must(t, os.MkdirAll(state, 0o700))
			put(t, filepath.Join(state, journalFolder), "")
			return "not a folder"
		},
		"another's": func(t *testing.T, state string) string {
			must(t, os.MkdirAll(filepath.Join(state, journalFolder), 0o700))
			if os.Geteuid() != 0 {
				t.Skip("only root can give a folder away")
			}
			must(t, os.Chown(filepath.Join(state, journalFolder), 65534, 65534))
			return "another user"
		},
	} {
		t.Run(name, func(t *testing.T) {
			state := newState(t)
			word := plant(t, state)
			_, err := Begin(t.Context(), ClockSource(root))
			refused(t, err, word, state)
			_, err = Restore(state)
			refused(t, err, word, state)
			if value(t, root) != "tsc" {
				t.Errorf("setting is %q", value(t, root))
			}
		})
	}
}

// Who is not root, and finds root's journal, has no rights: nothing is to be moved away.
func TestRootsJournal(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a folder of root's")
	}
	state := filepath.Join(t.TempDir(), "state")
	must(t, os.Mkdir(state, 0o700))
	must(t, os.Chmod(filepath.Dir(state), 0o755))
	information, err := os.Lstat(state)
	must(t, err)
	if err := owned(information, state, 65534); err == nil || !strings.Contains(err.Error(), "run as root") {
		t.Errorf("as nobody: %v", err)
	}
	if err := owned(information, state, 0); err != nil {
		t.Errorf("as root: %v", err)
	}
}

func FuzzParseEntry(f *testing.F) {
	whole, err := json.Marshal(entry{Schema: entrySchema, Begun: time.Unix(1, 0), Owner: owner{1, 2, "b"},
		Steps: []step{{Knob: "clocksource", Target: Target{Root: "/"}, Part: "/sys/x", Path: "/sys/x", Original: "tsc",
			Ours: []string{"hpet"}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{"schema":2,"steps":[{"knob":"../x"}]}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, content []byte) {
		found, err := parseEntry(content)
		if err != nil {
			if len(found.Steps) != 0 || found.Owner.Pid != 0 {
				t.Errorf("an error and half an entry: %+v", found)
			}
			return
		}
		if strings.ContainsAny(found.fileName(), "/\x00") || found.Owner.BootID == "" {
			t.Errorf("accepted %+v", found)
		}
		again, err := json.Marshal(found)
		must(t, err)
		if _, err := parseEntry(again); err != nil {
			t.Errorf("what was written is not read again: %v", err)
		}
	})
}
