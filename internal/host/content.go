package host

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// buffers are what files are read into: most of /proc fit into one, and are read in one call.
var buffers = sync.Pool{New: func() any { return &buffer{content: make([]byte, 0, 16<<10)} }}

// mostKept is up to which size a buffer is kept for the next file.
const mostKept = 64 << 10

type buffer struct{ content []byte }

// contentOf reads the first bytes of a regular file, at most limit. It calls the kernel by itself:
// os.File has Go's poller watch a file of /proc, and that wakes another thread for each; ten calls
// of the recorder's for one number.
func contentOf(path string, limit int64) (string, error) {
	descriptor, err := openToRead(path, false)
	if err != nil {
		return "", err
	}
	defer unix.Close(descriptor)
	held := buffers.Get().(*buffer)
	defer held.giveBack()
	for content := &held.content; int64(len(*content)) < limit; {
		if len(*content) == cap(*content) {
			*content = slices.Grow(*content, cap(*content))
		}
		free := (*content)[len(*content):cap(*content)]
		n, err := unix.Read(descriptor, free[:min(int64(len(free)), limit-int64(len(*content)))])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return "", err
		case n == 0:
			return string(*content), nil
		}
		*content = (*content)[:len(*content)+n]
	}
	return string(held.content), nil
}

func (b *buffer) giveBack() {
	if cap(b.content) > mostKept {
		return
	}
	b.content = b.content[:0]
	buffers.Put(b)
}

// openToRead opens a file that is regular or, where devices is set, a block device. O_NONBLOCK: a
// named pipe in the place of a file must not hold us up.
func openToRead(path string, devices bool) (descriptor int, err error) {
	for {
		descriptor, err = unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return -1, err
	}
	var status unix.Stat_t
	if err = unix.Fstat(descriptor, &status); err == nil {
		kind := status.Mode & unix.S_IFMT
		if kind == unix.S_IFREG || devices && kind == unix.S_IFBLK {
			return descriptor, nil
		}
		err = errNotRegular
	}
	unix.Close(descriptor)
	return -1, err
}
