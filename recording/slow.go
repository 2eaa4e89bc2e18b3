package recording

import "strings"

// receives are the calls that take in what somebody else has to send first.
var receives = map[string]bool{"read": true, "readv": true, "recvfrom": true, "recvmsg": true, "recvmmsg": true,
	"splice": true, "tee": true, "preadv2": true, "recv": true}

// accepts are the calls that wait for a client.
var accepts = map[string]bool{"accept": true, "accept4": true}

// Idle tells a call that waited for work, or for a time that its own program chose: a poll, a
// sleep, a wait for a child, a read of an empty pipe, an accept, the next request on a connection
// that a client had made. A service that has nothing to do is full of them, so they are no stalls.
// A futex is as often a queue without work as a lock: it is no stall by itself, but belongs to that
// of the thread that held it up.
//
// A read on a connection that the target itself had made is not idle: it has asked for something.
func (s *Slow) Idle() bool {
	switch s.ObjectKind {
	case ObjectPoll, ObjectTimer, ObjectProcess, ObjectLock:
		return true
	case ObjectFile:
		return false
	case ObjectSocket:
		return accepts[s.Name] || receives[s.Name] && !s.dialled()
	case ObjectPipe:
		return receives[s.Name]
	}
	return receives[s.Name] || waitsForWork[s.Name]
}

// waitsForWork are the calls on nothing that has a kind of its own.
var waitsForWork = map[string]bool{"pause": true, "rt_sigsuspend": true, "rt_sigtimedwait": true, "msgrcv": true,
	"mq_timedreceive": true, "semop": true, "semtimedop": true, "io_getevents": true, "io_pgetevents": true,
	"io_uring_enter": true, "restart_syscall": true, "epoll_wait": true, "sigsuspend": true}

// dialled tells a connection that the target made from one that it took, or of which that is not
// known.
func (s *Slow) dialled() bool {
	protocol, peer, named := strings.Cut(s.Object, " ")
	return named && protocol != "" && !strings.HasPrefix(peer, "from ") && !strings.HasPrefix(peer, "port ")
}
