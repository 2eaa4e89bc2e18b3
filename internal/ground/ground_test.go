package ground

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"culprit/internal/knob"
)

func newState(t *testing.T) string {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	t.Setenv("CULPRIT_STATE", state)
	return state
}

func needsRoot(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("loop devices and mounts need root: -short leaves it out")
	}
	if os.Geteuid() != 0 {
		t.Skip("loop devices and mounts are root's")
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"ext4": "ext4", "ext4:data=writeback": "ext4:data=writeback", "ext4:^has_journal": "ext4:^has_journal",
		"ext4:noatime+^has_journal@slow": "ext4:^has_journal+noatime@slow", "xfs@ram": "xfs@ram",
		"btrfs@size=512M": "btrfs@size=524288K", "tmpfs@size=16m": "tmpfs@size=16384K",
	} {
		spec, err := Parse(text)
		must(t, err)
		if spec.String() != want {
			t.Errorf("%s became %s, want %s", text, spec, want)
		}
		again, err := Parse(spec.String())
		if err != nil || again.String() != want {
			t.Errorf("%s is not read again: %s, %v", want, again, err)
		}
	}
	for text, word := range map[string]string{
		"": "there is no kind", "ntfs": "ext4 xfs btrfs tmpfs", "ext4:^color": "no feature of ext4",
		"xfs:^has_journal": "feature of ext4", "ext4:data=../x": "no mount option", "ext4:ro": "not for an experiment",
		"ext4@fast": "@slow @ram", "ext4@size=1": "at least 64M", "xfs@size=100M": "at least 300M",
		"tmpfs@slow": "no disk", "ext4@size=9999999G": "at most 1T", "ext4:data=writeback,exec": "no mount option",
		"ext4:" + strings.Repeat("noatime+", 40) + "noatime": "more than",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q gives %v, want %q", text, err, word)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("ext4:data=writeback+^has_journal@slow@size=1G")
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(spec.String()); err != nil || again.String() != spec.String() {
			t.Errorf("%q became %q, which is not read again: %v", text, spec, err)
		}
	})
}

// Each kind is made with what was asked for, can be written to, and leaves nothing.
func TestEachKind(t *testing.T) {
	needsRoot(t)
	for text, check := range map[string]struct {
		magic   int64
		options string
	}{
		"ext4@size=64M":                        {unix.EXT4_SUPER_MAGIC, ""},
		"ext4:data=writeback@ram@size=64M":     {unix.EXT4_SUPER_MAGIC, "data=writeback"},
		"ext4:^has_journal@ram@size=64M":       {unix.EXT4_SUPER_MAGIC, ""},
		"xfs:noatime@ram@size=320M":            {unix.XFS_SUPER_MAGIC, "noatime"},
		"btrfs@ram@size=256M":                  {unix.BTRFS_SUPER_MAGIC, ""},
		"tmpfs:nodiratime@size=1M":             {unix.TMPFS_MAGIC, "nodiratime"},
		"ext4:lazytime+commit=1@slow@size=64M": {unix.EXT4_SUPER_MAGIC, "lazytime"},
	} {
		t.Run(text, func(t *testing.T) {
			state := newState(t)
			spec, err := Parse(text)
			must(t, err)
			made, err := Prepare(t.Context(), spec)
			must(t, err)
			defer made.Close()
			var status unix.Statfs_t
			must(t, unix.Statfs(made.Path, &status))
			if int64(status.Type) != check.magic {
				t.Errorf("its magic number is %#x, want %#x", status.Type, check.magic)
			}
			if found := traces(t, state); len(found) == 0 || !strings.Contains(strings.Join(found, "\n"), check.options) {
				t.Errorf("made are %q, want options %q", found, check.options)
			}
			if spec.Slow && (throttled(t) == "" || valueOf(t, "block."+filepath.Base(made.Device)+".nr_requests") != "32") {
				t.Error("its disk is not slow")
			}
			if _, journal := os.Stat("/proc/fs/jbd2/" + filepath.Base(made.Device) + "-8"); spec.Kind == "ext4" {
				if has := journal == nil; has == strings.Contains(text, "^has_journal") {
					t.Errorf("%s: journal: %v", text, has)
				}
			}
			must(t, os.WriteFile(filepath.Join(made.Path, "file"), make([]byte, 1<<19), 0o600))
			must(t, made.Close())
			must(t, made.Close())
			if found := traces(t, state); len(found) != 0 || spec.Slow && throttled(t) != "" {
				t.Errorf("left are %q, throttled %q", found, throttled(t))
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	state := newState(t)
	spec, err := Parse("xfs@size=300M")
	must(t, err)
	spec.Bytes = 1 << 50
	if err := spec.Supported(); err == nil || !strings.Contains(err.Error(), "@size=") {
		t.Errorf("a disk of 1 PiB: %v", err)
	}
	t.Setenv("PATH", "/nowhere")
	spec.Bytes = 300 << 20
	_, err = Prepare(t.Context(), spec)
	if err == nil || !strings.Contains(err.Error(), "apt-get install xfsprogs") {
		t.Errorf("without mkfs.xfs: %v", err)
	}
	if _, err := os.Stat(state); !os.IsNotExist(err) {
		t.Errorf("a refusal has made %s", state)
	}
}

// What fails halfway takes away what it made.
func TestNothingIsLeftOfAFailure(t *testing.T) {
	needsRoot(t)
	state := newState(t)
	spec, err := Parse("ext4:colour=blue@ram@size=64M")
	must(t, err)
	_, err = Prepare(t.Context(), spec)
	if err == nil || !strings.Contains(err.Error(), "colour=blue") || strings.Contains(err.Error(), "\n") {
		t.Errorf("an unknown option gives %v", err)
	}
	if found := traces(t, state); len(found) != 0 {
		t.Errorf("left are %q", found)
	}
	if pending, err := knob.ListPending(state); err != nil || len(pending) != 0 {
		t.Errorf("pending are %+v (%v)", pending, err)
	}
	if _, err := knob.Restore(state); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
