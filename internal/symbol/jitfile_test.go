package symbol

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// procOf makes a procfs with one process, whose root is a folder of its own.
func procOf(t *testing.T, pid, inner, user int) (proc, root string) {
	t.Helper()
	proc, root = t.TempDir(), t.TempDir()
	folder := filepath.Join(proc, fmt.Sprint(pid))
	status := fmt.Sprintf("Name:\tx\nNSpid:\t%d\t%d\nUid:\t%d\t%d\t%d\t%d\n", pid, inner, user+1, user, user+1, user+1)
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Mkdir(filepath.Join(root, "tmp"), 0o700),
		os.WriteFile(folder+"/status", []byte(status), 0o600), os.Symlink(root, folder+"/root")); err != nil {
		t.Fatal(err)
	}
	return proc, root
}

// A map is found by the process's number in its own namespace, below its own root.
func TestOpenJITMap(t *testing.T) {
	user := os.Geteuid()
	proc, root := procOf(t, 1<<30, 7, user)
	if _, err := OpenJITMap(proc, 1<<30); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no map: %v", err)
	}
	if err := os.WriteFile(root+"/tmp/perf-7.map", []byte("10 20 f\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := OpenJITMap(proc, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if text, err := io.ReadAll(file); err != nil || string(text) != "10 20 f\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// In /tmp anybody can put anything under the name.
func TestHostileJITMaps(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("10 20 f\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"a link":                       func(path string) error { return os.Symlink(outside, path) },
		"a folder":                     func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe that nobody writes to": func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a link on the way out of the root": func(path string) error {
			if err := os.Remove(filepath.Dir(path)); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(filepath.Dir(outside), filepath.Base(path)), nil, 0o600); err != nil {
				return err
			}
			return os.Symlink(filepath.Dir(outside), filepath.Dir(path))
		},
	} {
		proc, root := procOf(t, 1<<30, 7, os.Geteuid())
		if err := put(root + "/tmp/perf-7.map"); err != nil {
			t.Fatal(err)
		}
		if file, err := OpenJITMap(proc, 1<<30); err == nil {
			t.Errorf("%s was opened", name)
			_ = file.Close()
		}
	}
}

// Only the process's user and root may name its code.
func TestForeignJITMap(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make files of others")
	}
	for owner, allowed := range map[int]bool{0: true, 4001: true, 4002: false} {
		proc, root := procOf(t, 1<<30, 7, 4001)
		path := root + "/tmp/perf-7.map"
		if err := errors.Join(os.WriteFile(path, []byte("10 20 f\n"), 0o644), os.Chown(path, owner, owner)); err != nil {
			t.Fatal(err)
		}
		file, err := OpenJITMap(proc, 1<<30)
		if allowed != (err == nil) || !allowed && !errors.Is(err, ErrForeign) {
			t.Errorf("a map of user %d: %v", owner, err)
		}
		if file != nil {
			_ = file.Close()
		}
	}
}
