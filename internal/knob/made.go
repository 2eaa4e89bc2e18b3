package knob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// undoLimit is how long each thing may take to go. Usually it is some milliseconds; udev
// may look into a device just then, on a host that is busy.
const undoLimit = 3 * time.Second

func findFolder(path string) (bool, error) {
	information, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find folder: %w", err)
	}
	status, known := information.Sys().(*syscall.Stat_t)
	if !information.IsDir() || !known || int(status.Uid) != os.Geteuid() {
		return false, fmt.Errorf("find folder: %s is not a folder of ours", path)
	}
	return true, nil
}

// removeFolder removes a folder of ours with all that is in it, but not what is still mounted
// below.
func removeFolder(path string) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("remove folder: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(unescape(fields[4]), path+"/") {
			return fmt.Errorf("remove folder: something is mounted at %s", unescape(fields[4]))
		}
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove folder: %w", err)
	}
	return nil
}

func findMounted(point string) (bool, error) {
	_, err := mountedAt("/", point)
	if errors.Is(err, errGone) {
		return false, nil
	}
	return err == nil, err
}

// shutdown is FS_IOC_SHUTDOWN of ext4, xfs and btrfs; 2 says that nothing is to be
// written out any more. Without it an unmount writes all that is dirty, which on a
// slow disk takes longer than the guardian has.
const (
	shutdown        = 0x8004587d
	shutdownNoFlush = 2
)

// unmount takes a file system of ours away. What still uses it keeps it from its
// place all the same: then it goes when they do.
func unmount(point string) error {
	if folder, err := os.Open(point); err == nil {
		// Refused by file systems that do not know it: they are unmounted in the usual way.
		_ = unix.IoctlSetPointerInt(int(folder.Fd()), shutdown, shutdownNoFlush)
		_ = folder.Close() // nothing was written through it
	}
	err := eventuallyDone(undoLimit, func() (bool, error) {
		err := unix.Unmount(point, unix.UMOUNT_NOFOLLOW)
		if errors.Is(err, unix.EBUSY) {
			return false, nil
		}
		return err == nil, err
	})
	if err == nil {
		return nil
	}
	if err := unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
		return fmt.Errorf("unmount %s: %w", point, err)
	}
	return nil
}

func findLoop(id string) (bool, error) {
	device, backing, _ := strings.Cut(id, " ")
	text, err := os.ReadFile("/sys/block/" + device + "/loop/backing_file")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find loop device: %w", err)
	}
	found := strings.TrimSuffix(strings.TrimSpace(string(text)), " (deleted)")
	return found == backing, nil
}

// detachLoop frees a loop device. The kernel finishes that when the last one that has
// it open lets go (udev looks into each), so it is waited for.
func detachLoop(id string) error {
	device, _, _ := strings.Cut(id, " ")
	file, err := os.OpenFile("/dev/"+device, os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("detach loop device: %w", err)
	}
	err = unix.IoctlSetInt(int(file.Fd()), unix.LOOP_CLR_FD, 0)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil && !errors.Is(err, unix.ENXIO) {
		return fmt.Errorf("detach loop device %s: %w", device, err)
	}
	err = eventuallyDone(undoLimit, func() (bool, error) {
		still, err := findLoop(id)
		return !still, err
	})
	if err != nil {
		return fmt.Errorf("detach loop device %s: %w", device, err)
	}
	return nil
}

func findMadeGroup(path string) (bool, error) {
	_, err := os.Lstat(filepath.Join(path, "cgroup.procs"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// removeGroup kills what is in a cgroup of ours and removes it.
func removeGroup(path string) error {
	err := eventuallyDone(undoLimit, func() (bool, error) {
		err := unix.Rmdir(path)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return true, nil
		}
		if !errors.Is(err, unix.EBUSY) {
			return false, err
		}
		return false, killGroup(path)
	})
	if err != nil {
		return fmt.Errorf("remove cgroup %s: %w", path, err)
	}
	return nil
}

// killGroup kills all processes of a cgroup, at once where the kernel offers it.
func killGroup(path string) error {
	if os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0) == nil {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, field := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 1 && pid != os.Getpid() {
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
		}
	}
	return nil
}
