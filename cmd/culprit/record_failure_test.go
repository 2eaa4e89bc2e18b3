package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Where there is no room the command is not even begun; what was there stays.
func TestNoRoomForARecording(t *testing.T) {
	needsRoot(t)
	folder := t.TempDir()
	full := filepath.Join(folder, "full")
	if err := os.Mkdir(full, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", full, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(full, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(full, "fill"), make([]byte, 48<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	got := apart(t, folder, "record", "-o", "full/x.culprit", "--", "sh", "-c", "touch begun")
	oneLine(t, got, "no space left in full", "x.culprit")
	if _, err := os.Stat(filepath.Join(folder, "begun")); err == nil {
		t.Error("the command was run")
	}
	if left, err := os.ReadDir(full); err != nil || len(left) != 1 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// A recording whose culprit was killed is made whole, and every verb reads it.
func TestSalvageAfterKill(t *testing.T) {
	needsRoot(t)
	folder := t.TempDir()
	process, wait := started(t, folder, "i=0; while :; do i=$((i+1)); done")
	text, err := os.ReadFile(filepath.Join(folder, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // the command outlives culprit
	ran := 0
	for deadline := time.Now().Add(time.Minute); ran < 200e6 && time.Now().Before(deadline); { // ns: about 20 samples
		time.Sleep(20 * time.Millisecond)
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		_, _ = fmt.Sscan(string(text), &ran) // stays 0 where it is not to be read
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := wait(); got.status != -1 {
		t.Fatalf("%+v", got)
	}
	part := filepath.Join(folder, "x.culprit.parts", "0001.culprit")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(part); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the recorder wrote nothing down")
		}
	}
	oneLine(t, apart(t, folder, "record", "-o", "x.culprit", "--", "true"), "--salvage")
	got := apart(t, folder, "record", "--salvage", "x.culprit.parts")
	if got.status != exitDone || got.stderr != "culprit: x.culprit: made whole from 1 part\n" {
		t.Fatalf("%+v", got)
	}
	if _, err := os.Stat(filepath.Dir(part)); err == nil {
		t.Error("the parts are still there")
	}
	for _, args := range [][]string{{"explain", "x.culprit"}, {"compare", "x.culprit", "x.culprit"}} {
		if got := apart(t, folder, args...); got.status != exitDone || !strings.Contains(got.stdout, "killed") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := apart(t, folder, "export", "x.culprit", "--as", "folded", "--signal", "cpu"); got.status != exitDone ||
		!strings.Contains(got.stdout, "sh;") {
		t.Errorf("export: %+v", got)
	}
	oneLine(t, apart(t, folder, "record", "--salvage", "x.culprit.parts", "-o", "y"), "no part of a recording")
}

// Who is root in a user namespace only is told of that, not to become root.
func TestRecordInAUserNamespace(t *testing.T) {
	needsRoot(t)
	for _, limit := range []string{"user/max_user_namespaces", "kernel/unprivileged_userns_clone"} {
		if text, err := os.ReadFile("/proc/sys/" + limit); err == nil && strings.TrimSpace(string(text)) == "0" {
			t.Skipf("user namespaces are switched off here (%s)", limit)
		}
	}
	folder := t.TempDir()
	made := command(t, folder, "record", "-o", filepath.Join(folder, "x"), "--", "true")
	root := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}}
	made.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: root, GidMappings: root}
	oneLine(t, finish(t, made), "in a user namespace", "root of the host")
}
