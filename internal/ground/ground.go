package ground

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/knob"
)

// Ground is a file system that was made and is mounted.
type Ground struct {
	Spec   Spec
	Path   string   // the folder to work in: empty, but for lost+found
	Device string   // its block device, "" for tmpfs
	Below  string   // of a slow disk the device that is throttled
	Notes  []string // what is not as the recipe has it
	change *knob.Change
}

// made counts grounds, to tell the folders of one process apart.
var made atomic.Int64

// Prepare makes a ground. What it made is removed again when it fails halfway.
// knob.ErrBusy: another culprit is at work.
func Prepare(ctx context.Context, spec Spec) (*Ground, error) {
	if err := spec.Supported(); err != nil {
		return nil, err
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("prepare ground %s: loop devices and mounts are root's (run as root)", spec)
	}
	change, err := knob.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("prepare ground %s: %w", spec, err)
	}
	ground := &Ground{Spec: spec, change: change}
	if err := ground.build(ctx); err != nil {
		err = fmt.Errorf("prepare ground %s: %w", spec, err)
		if restoreErr := change.Restore(); restoreErr != nil {
			err = fmt.Errorf("%w; %w", err, restoreErr)
		}
		return nil, err
	}
	return ground, nil
}

// Close removes the ground with all that is in it. It may be called again.
func (ground *Ground) Close() error {
	if err := ground.change.Restore(); err != nil {
		return fmt.Errorf("remove ground %s: %w", ground.Spec, err)
	}
	return nil
}

// build makes everything from the bottom to the top.
func (ground *Ground) build(ctx context.Context) error {
	folder, err := ground.makeFolder(ctx)
	if err != nil {
		return err
	}
	ground.Path = filepath.Join(folder, "fs")
	if ground.Spec.Kind == "tmpfs" {
		return ground.mount(ctx, "none", ground.Path, "tmpfs", sized(ground.Spec.Bytes, ground.Spec.Mount))
	}
	image, err := ground.makeImage(ctx, folder)
	if err != nil {
		return err
	}
	if ground.Device, err = ground.attach(ctx, image, false); err != nil {
		return err
	}
	if ground.Spec.Slow {
		// A single throttled loop device queues without ever blocking whoever submits: it takes one
		// on another.
		ground.Below = ground.Device
		if ground.Device, err = ground.attach(ctx, ground.Below, true); err != nil {
			return err
		}
		if err := ground.narrow(); err != nil {
			return err
		}
	}
	if err := format(ctx, ground.Spec, ground.Device); err != nil {
		return err
	}
	if err := ground.mount(ctx, ground.Device, ground.Path, ground.Spec.Kind, ground.Spec.Mount); err != nil {
		return err
	}
	if err := syncFileSystem(ground.Path); err != nil {
		return err
	}
	if ground.Spec.Slow {
		return ground.throttle()
	}
	return nil
}

// home is where the folders of grounds are.
func home() string { return filepath.Join(knob.StateDir(), "ground") }

func (ground *Ground) makeFolder(ctx context.Context) (string, error) {
	above := home()
	if err := os.MkdirAll(above, 0o700); err != nil {
		return "", err
	}
	above, err := filepath.Abs(above)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(above, fmt.Sprintf("culprit-ground-%d-%d-%d", os.Getpid(), time.Now().UnixNano(), made.Add(1)))
	err = ground.change.Make(ctx, knob.Thing{Kind: knob.Folder, ID: folder}, func() error {
		for _, path := range []string{folder, filepath.Join(folder, "fs"), filepath.Join(folder, "ram")} {
			if err := os.Mkdir(path, 0o755); err != nil {
				return err
			}
		}
		return nil
	})
	return folder, err
}

// makeImage makes the file that the loop device shows as a disk; it takes space only as it is
// written.
func (ground *Ground) makeImage(ctx context.Context, folder string) (string, error) {
	image := filepath.Join(folder, "image")
	if ground.Spec.RAM {
		ram := filepath.Join(folder, "ram")
		if err := ground.mount(ctx, "none", ram, "tmpfs", sized(ground.Spec.Bytes+smallest, nil)); err != nil {
			return "", err
		}
		image = filepath.Join(ram, "image")
	}
	file, err := os.OpenFile(image, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	err = file.Truncate(ground.Spec.Bytes)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return image, err
}

func sized(bytes int64, options []string) []string {
	return append([]string{fmt.Sprintf("size=%d", bytes)}, options...)
}

// hasSpace refuses an image that could fill memory or the disk.
func (spec Spec) hasSpace() error {
	var free int64
	var where string
	if spec.RAM || spec.Kind == "tmpfs" {
		var info unix.Sysinfo_t
		if err := unix.Sysinfo(&info); err != nil {
			return fmt.Errorf("prepare ground %s: %w", spec, err)
		}
		where, free = "memory", int64(info.Totalram)*int64(info.Unit)/2
	} else {
		path := home()
		var status unix.Statfs_t
		err := unix.Statfs(path, &status)
		for errors.Is(err, unix.ENOENT) && path != "/" {
			path = filepath.Dir(path)
			err = unix.Statfs(path, &status)
		}
		if err != nil {
			return fmt.Errorf("prepare ground %s: %w", spec, err)
		}
		where, free = "space in "+path, int64(status.Bavail)*status.Bsize
	}
	if spec.Bytes > free {
		return fmt.Errorf("prepare ground %s: it takes %d MiB, and %d MiB of %s may be used: give it a @size=",
			spec, spec.Bytes/mebi, free/mebi, where)
	}
	return nil
}
