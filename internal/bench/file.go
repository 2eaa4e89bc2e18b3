package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// blockBytes is what a write writes.
const blockBytes = 4096

// scratch opens a file without a name: nothing is left when it is closed, or when culprit is
// killed.
func scratch(dir string) (*os.File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	file, err := os.CreateTemp(dir, ".culprit-bench-*")
	if err != nil {
		return nil, fmt.Errorf("make a file to write: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("unname the file to write: %w", err)
	}
	return file, nil
}

func writePage(ctx context.Context, s Settings) (*measurement, error) {
	const batch = 64 // writes of one round: one alone is short against reading the clock
	return writes(ctx, s, batch, func(file *os.File, block []byte) error {
		_, err := file.WriteAt(block, 0)
		return err
	})
}

// writeSync writes the same block again and forces it to the device each time.
func writeSync(ctx context.Context, s Settings) (*measurement, error) {
	return writes(ctx, s, 1, func(file *os.File, block []byte) error {
		if _, err := file.WriteAt(block, 0); err != nil {
			return err
		}
		return file.Sync()
	})
}

// writes repeats an operation on a file in batches, as long as the time allows.
func writes(ctx context.Context, s Settings, batch int, once func(*os.File, []byte) error) (*measurement, error) {
	file, err := scratch(s.Dir)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	block := make([]byte, blockBytes)
	// The first one allocates the block; it is not what is asked.
	if err := once(file, block); err != nil {
		return nil, fmt.Errorf("write file: %w", err)
	}
	m, err := rounds(ctx, s, func() (float64, error) {
		start := time.Now()
		for i := range batch {
			block[0] = byte(i)
			if err := once(file, block); err != nil {
				return 0, fmt.Errorf("write file: %w", err)
			}
		}
		return float64(time.Since(start).Nanoseconds()) / float64(batch), nil
	})
	if err != nil {
		return nil, err
	}
	m.path = append(m.path, "file system "+fileSystem(file))
	return m, nil
}

// fileSystems names the types that a service's files lie on, by the magic number of statfs(2).
var fileSystems = map[int64]string{unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs",
	unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs: fsync costs nothing there",
	unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.NFS_SUPER_MAGIC: "nfs"}

func fileSystem(file *os.File) string {
	var of unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &of); err != nil {
		return "unknown"
	}
	if name, known := fileSystems[of.Type]; known {
		return name
	}
	return fmt.Sprintf("of type %#x", of.Type)
}
