package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWriteRefuses(t *testing.T) {
	folder := t.TempDir()
	bad := example()
	bad.Samples[0].Stack = 77
	long := example()
	long.Frames[0].Name = strings.Repeat("x", MaxStringBytes+1)
	notANumber := example()
	notANumber.Manifest.Metrics["wall"] = 0 / notANumber.Manifest.Metrics["none"]
	for name, test := range map[string]struct {
		path string
		r    *Recording
		says string
	}{
		"id out of range":  {filepath.Join(folder, "a"), bad, "sample 0 refers to stack 77"},
		"name too long":    {filepath.Join(folder, "a"), long, "longer than the limit"},
		"not a number":     {filepath.Join(folder, "a"), notANumber, "NaN"},
		"folder":           {folder, example(), "not a file"},
		"device":           {"/dev/null", example(), "not a file"},
		"no such folder":   {filepath.Join(folder, "none", "a"), example(), "no such file or directory"},
		"no name":          {"", example(), "no file name"},
		"name of a folder": {filepath.Join(folder, "a") + "/", example(), "directory"},
	} {
		err := Write(test.path, test.r)
		if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestWriteReplacesThroughALink(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, example()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
}

func TestNoSpaceLeft(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	path := filepath.Join(folder, "a.culprit")
	err := Write(path, large(30_000, 1_000))
	if err == nil || err.Error() != fmt.Sprintf(
		"write recording %s: no space left in %s (free some or choose another place)", path, folder) {
		t.Errorf("write: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
