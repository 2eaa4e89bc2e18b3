package ground

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/knob"
)

const (
	attachTries = 20 // others may take the number that was free
	formatLimit = 60 * time.Second
)

// attach shows a file, or another device, as a block device.
func (ground *Ground) attach(ctx context.Context, backing string, direct bool) (string, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return "", fmt.Errorf("make loop device: %w (is the kernel's module loop there?)", err)
	}
	defer control.Close()
	for range attachTries {
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return "", fmt.Errorf("make loop device: %w", err)
		}
		name := fmt.Sprintf("loop%d", number)
		err = ground.change.Make(ctx, knob.Thing{Kind: knob.Loop, ID: name + " " + backing}, func() error {
			return configure("/dev/"+name, backing, direct)
		})
		if errors.Is(err, unix.EBUSY) {
			continue
		}
		return "/dev/" + name, err
	}
	return "", errors.New("make loop device: others take every one that is free")
}

func configure(device, backing string, direct bool) error {
	file, err := os.OpenFile(backing, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	loop, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer loop.Close()
	config := unix.LoopConfig{Fd: uint32(file.Fd())}
	copy(config.Info.File_name[:], backing)
	if direct {
		config.Info.Flags = unix.LO_FLAGS_DIRECT_IO
	}
	return unix.IoctlLoopConfigure(int(loop.Fd()), &config)
}

// format runs mkfs. It dies with culprit: otherwise it would hold the device.
func format(ctx context.Context, spec Spec, device string) error {
	ctx, cancel := context.WithTimeout(ctx, formatLimit)
	defer cancel()
	words := map[string][]string{
		// Below 512 MiB it would choose blocks of 1 KiB, which no real file system of a service
		// has.
		"ext4":  {"mkfs.ext4", "-F", "-q", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0"},
		"xfs":   {"mkfs.xfs", "-f", "-q"},
		"btrfs": {"mkfs.btrfs", "-f", "-q"},
	}[spec.Kind]
	if len(spec.Features) > 0 {
		words = append(words, "-O", strings.Join(spec.Features, ","))
	}
	command := exec.CommandContext(ctx, words[0], append(words[1:], device)...)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	command.Env = append(os.Environ(), "LC_ALL=C")
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	// The kernel sends that signal when the thread ends that started it, not the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w: %.300q", words[0], err, strings.TrimSpace(output.String()))
	}
	return nil
}

// flags are mount options that mount(2) takes as numbers.
var flags = map[string]uintptr{"noatime": unix.MS_NOATIME, "nodiratime": unix.MS_NODIRATIME,
	"relatime": unix.MS_RELATIME, "strictatime": unix.MS_STRICTATIME, "lazytime": unix.MS_LAZYTIME,
	"sync": unix.MS_SYNCHRONOUS, "dirsync": unix.MS_DIRSYNC, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV,
	"noexec": unix.MS_NOEXEC}

func (ground *Ground) mount(ctx context.Context, device, point, kind string, options []string) error {
	var flag uintptr
	var data []string
	for _, word := range options {
		if number, known := flags[word]; known {
			flag |= number
		} else {
			data = append(data, word)
		}
	}
	return ground.change.Make(ctx, knob.Thing{Kind: knob.Mount, ID: point}, func() error {
		err := unix.Mount(device, point, kind, flag, strings.Join(data, ","))
		switch {
		case errors.Is(err, unix.EINVAL):
			return fmt.Errorf("%w (does %s know %q? the kernel's log says more)", err, kind, strings.Join(options, ","))
		case errors.Is(err, unix.ENODEV):
			return fmt.Errorf("this kernel has no %s", kind)
		}
		return err
	})
}

func syncFileSystem(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return unix.Syncfs(int(folder.Fd()))
}
