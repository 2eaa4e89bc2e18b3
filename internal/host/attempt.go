package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

var (
	errNoSystemCall = errors.New("the kernel does not have this system call")
	errNotCounting  = errors.New("the counter opens but stays at zero")
)

// kernelAttempts are the real calls.
func kernelAttempts() attempts {
	return attempts{
		countCycles:  countCycles,
		sampleHost:   sampleHost,
		createMap:    createMap,
		readDetached: ReadDetached,
		writable: func(path string) error {
			if err := unix.Access(path, unix.W_OK); err != nil {
				return fmt.Errorf("write %s: %w", path, err)
			}
			return nil
		},
		memlockMaximum: func() (uint64, error) {
			var limit unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
				return 0, fmt.Errorf("read the limit of locked memory: %w", err)
			}
			return limit.Max, nil
		},
	}
}

// countCycles opens a cycle counter on this thread and sees it count: some
// hypervisors let it be opened and never count.
func countCycles() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_CPU_CYCLES,
		Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	attributes.Size = uint32(unsafe.Sizeof(attributes))
	counter, err := unix.PerfEventOpen(&attributes, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return perfError("open a cycle counter", err)
	}
	defer unix.Close(counter)
	work := uint64(1)
	for range 1_000_000 {
		work = work*6364136223846793005 + 1
	}
	runtime.KeepAlive(work)
	var buffer [8]byte
	if length, err := unix.Read(counter, buffer[:]); err != nil || length != len(buffer) {
		return fmt.Errorf("read a cycle counter: %d bytes, error %v", length, err)
	}
	if binary.NativeEndian.Uint64(buffer[:]) == 0 {
		return errNotCounting
	}
	return nil
}

// sampleHost opens, and closes unused, the event that on-CPU sampling stands on.
func sampleHost() error {
	attributes := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Sample: 99, Bits: unix.PerfBitDisabled | unix.PerfBitFreq}
	attributes.Size = uint32(unsafe.Sizeof(attributes))
	event, err := unix.PerfEventOpen(&attributes, -1, 0, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return perfError("open a sampling event on CPU 0", err)
	}
	return unix.Close(event)
}

// perfError says what errno means here, where its own text misleads.
func perfError(what string, err error) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return fmt.Errorf("%s: this host has none (%w)", what, err)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf("%s: not permitted (%w)", what, err)
	case errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("%s: %w", what, errNoSystemCall)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// createMap creates a BPF array of one element and closes it again.
func createMap() error {
	// The first fields of union bpf_attr for BPF_MAP_CREATE (linux/bpf.h).
	attributes := struct{ kind, keySize, valueSize, entries uint32 }{
		kind: unix.BPF_MAP_TYPE_ARRAY, keySize: 4, valueSize: 4, entries: 1}
	descriptor, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_MAP_CREATE,
		uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes))
	switch {
	case errno == unix.ENOSYS:
		return fmt.Errorf("create a BPF map: %w", errNoSystemCall)
	case errno != 0:
		return fmt.Errorf("create a BPF map: %w", errno)
	}
	return unix.Close(int(descriptor))
}

// ReadDetached reads a file of a pseudo file system through a mount that is
// attached nowhere, so that nobody sees it and it ends with the descriptor.
func ReadDetached(kind, name string) (string, error) {
	context, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return "", fmt.Errorf("open file system %s: %w", kind, err)
	}
	defer unix.Close(context)
	if err := unix.FsconfigCreate(context); err != nil {
		return "", fmt.Errorf("set up file system %s: %w", kind, err)
	}
	folder, err := unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY)
	if err != nil {
		return "", fmt.Errorf("mount %s privately: %w", kind, err)
	}
	defer unix.Close(folder)
	descriptor, err := unix.Openat(folder, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", fmt.Errorf("open %s of %s: %w", name, kind, err)
	}
	file := os.NewFile(uintptr(descriptor), name)
	defer file.Close()
	buffer := make([]byte, fileLimit)
	length, err := file.Read(buffer)
	if err != nil {
		return "", fmt.Errorf("read %s of %s: %w", name, kind, err)
	}
	return string(buffer[:length]), nil
}
