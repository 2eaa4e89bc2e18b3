package format

import (
	"bytes"
	"strconv"
	"strings"

	"culprit/recording"
)

// object is what a call works on.
type object struct{ kind, name string }

// byDescriptor are the calls whose first argument is the descriptor that they work on.
var byDescriptor = set("read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 fsync " +
	"fdatasync close fstat ftruncate fallocate flock fcntl ioctl sendto recvfrom sendmsg " +
	"recvmsg sendmmsg recvmmsg connect accept accept4 shutdown epoll_wait epoll_pwait " +
	"epoll_pwait2 epoll_ctl getdents64 getdents lseek sync_file_range splice sendfile " +
	"copy_file_range syncfs fadvise64 fstatfs fchmod fchown dup dup2 dup3 bind listen " +
	"getsockopt setsockopt io_uring_enter timerfd_settime vmsplice tee readahead")

// withSize are the calls that return a number of bytes.
var withSize = set("read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 sendto " +
	"recvfrom sendmsg recvmsg splice sendfile copy_file_range getrandom vmsplice tee " +
	"getdents64 getdents")

// timed are the calls that end when their time is up.
var timed = set("nanosleep clock_nanosleep")

// sleeps are the calls whose time is waiting, however short; others may compute.
var sleeps = set("nanosleep clock_nanosleep pause poll ppoll select pselect6 epoll_wait epoll_pwait " +
	"epoll_pwait2 wait4 waitid futex fsync fdatasync sync syncfs msync sync_file_range " +
	"flock accept accept4 connect rt_sigsuspend rt_sigtimedwait msgrcv semop semtimedop " +
	"io_getevents")

func set(words string) map[string]bool {
	made := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		made[word] = true
	}
	return made
}

// objectOf tells what a call worked on: by strace -y, by the descriptors that the
// log saw opened, by the path among its arguments.
func (p *straceProcess) objectOf(call *straceCall, args [][]byte) (object, uint64) {
	if len(args) == 0 {
		return object{kind: recording.ObjectOther}, 0
	}
	if call.name == "futex" {
		address, err := strconv.ParseUint(string(args[0]), 0, 64)
		if err != nil {
			return object{kind: recording.ObjectLock}, 0
		}
		return object{recording.ObjectLock, "0x" + strconv.FormatUint(address, 16)}, address
	}
	if byDescriptor[call.name] {
		if fd, annotated, ok := parseDescriptor(args[0]); ok {
			if annotated.kind != "" {
				return annotated, uint64(fd)
			}
			if known, ok := p.files()[fd]; ok {
				return known, uint64(fd)
			}
			return object{recording.ObjectOther, "descriptor " + strconv.Itoa(int(fd))}, uint64(fd)
		}
	}
	for _, arg := range args[:min(len(args), 2)] {
		if path, ok := quoted(arg); ok {
			return object{recording.ObjectFile, path}, 0
		}
	}
	return object{kind: recording.ObjectOther}, 0
}

// parseDescriptor reads "3" and "3</var/log/x>" or "3<TCP:[a->b]>" of strace -y and -yy.
func parseDescriptor(text []byte) (fd int32, annotated object, ok bool) {
	number, rest, has := bytes.Cut(text, []byte("<"))
	if fd, ok = parseID(number); !ok || fd < 0 {
		return 0, object{}, false
	}
	if !has || len(rest) == 0 || rest[len(rest)-1] != '>' {
		return fd, object{}, true
	}
	name := string(rest[:len(rest)-1])
	switch {
	case strings.HasPrefix(name, "/"):
		return fd, object{recording.ObjectFile, name}, true
	case strings.HasPrefix(name, "pipe:"):
		return fd, object{recording.ObjectPipe, name}, true
	case strings.HasPrefix(name, "anon_inode:"):
		return fd, object{recording.ObjectOther, name}, true
	}
	protocol, peer, _ := strings.Cut(name, ":")
	return fd, object{recording.ObjectSocket, strings.ToLower(protocol) + " " + strings.Trim(peer, "[]")}, true
}

// quoted reads a string argument; strace cuts long ones and says so by "…"....
func quoted(text []byte) (string, bool) {
	if len(text) < 2 || text[0] != '"' {
		return "", false
	}
	end := skipString(text, 0)
	if end >= len(text) {
		return "", false
	}
	if plain, err := strconv.Unquote(string(text[:end+1])); err == nil {
		return plain, true
	}
	return string(text[1:end]), true // octal escapes of one digit, which Go does not know
}

const maxDescriptors = 64 << 10 // of one process

// follow keeps the table of descriptors up to date.
func (p *straceProcess) follow(call *straceCall, args [][]byte) {
	if !call.hasResult || call.result < 0 || len(args) == 0 {
		return
	}
	files := p.files()
	result := int32(min(call.result, 1<<31-1))
	switch call.name {
	case "open", "openat", "openat2", "creat", "memfd_create":
		for _, arg := range args[:min(len(args), 2)] {
			if path, ok := quoted(arg); ok {
				p.open(result, object{recording.ObjectFile, path})
			}
		}
	case "socket":
		p.open(result, object{recording.ObjectSocket, socketFamily(args)})
	case "accept", "accept4", "connect", "bind":
		fd, _, ok := parseDescriptor(args[0])
		if peer := peerOf(args); ok && peer != "" {
			if strings.HasPrefix(call.name, "accept") {
				fd = result
			}
			p.open(fd, object{recording.ObjectSocket, peer})
		}
	case "pipe", "pipe2", "socketpair":
		kind := object{recording.ObjectPipe, "pipe"}
		if call.name == "socketpair" {
			kind = object{recording.ObjectSocket, "socketpair"}
		}
		for _, arg := range args {
			first, second, ok := bytes.Cut(bytes.Trim(arg, "[]"), []byte(", "))
			a, _, isA := parseDescriptor(first)
			b, _, isB := parseDescriptor(second)
			if ok && isA && isB {
				p.open(a, kind)
				p.open(b, kind)
			}
		}
	case "dup", "dup2", "dup3", "fcntl":
		fd, _, ok := parseDescriptor(args[0])
		isDup := call.name != "fcntl" || len(args) > 1 && bytes.HasPrefix(args[1], []byte("F_DUPFD"))
		if known, is := files[fd]; ok && is && isDup {
			p.open(result, known)
		}
	case "close":
		if fd, _, ok := parseDescriptor(args[0]); ok {
			delete(files, fd)
		}
	case "epoll_create", "epoll_create1", "eventfd", "eventfd2", "timerfd_create", "signalfd4", "inotify_init1":
		p.open(result, object{recording.ObjectOther, call.name})
	}
}

func (p *straceProcess) open(fd int32, what object) {
	what.name = cutText(what.name, maxCommentBytes)
	if files := p.files(); len(files) < maxDescriptors {
		files[fd] = what
	}
}

// peerOf reads {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("10.0.0.1")} and AF_UNIX
// paths.
func peerOf(args [][]byte) string {
	for _, arg := range args[1:] {
		text := string(arg)
		if !strings.Contains(text, "sa_family=") {
			continue
		}
		port := between(text, "_port=htons(", ")")
		for _, mark := range []string{`inet_addr("`, `inet_pton(AF_INET6, "`} {
			if address := between(text, mark, `"`); address != "" {
				return "tcp " + address + ":" + port
			}
		}
		if path := between(text, `sun_path=`, "}"); path != "" {
			return "unix " + strings.Trim(path, `"`)
		}
	}
	return ""
}

func between(text, begin, end string) string {
	_, rest, ok := strings.Cut(text, begin)
	if !ok {
		return ""
	}
	part, _, _ := strings.Cut(rest, end)
	return part
}

func socketFamily(args [][]byte) string {
	return strings.ToLower(strings.TrimPrefix(string(args[0]), "AF_"))
}

// vectored calls have a list of buffers where others have a size.
func vectored(name string) bool {
	return strings.HasPrefix(name, "readv") || strings.HasPrefix(name, "writev") || strings.HasPrefix(name, "preadv") ||
		strings.HasPrefix(name, "pwritev") || strings.HasSuffix(name, "msg") || name == "vmsplice"
}
