package format

import (
	"bytes"

	"culprit/recording"
)

// straceThread is one thread; strace does not tell its process, clone's flags do.
type straceThread struct {
	tid     int32
	process *straceProcess
	comm    string
	pending *straceCall
	rows    []*recording.Syscall
	firstNs int64
	lastNs  int64
	ended   bool
}

// straceProcess is one process with its descriptors, which a fork copies.
type straceProcess struct {
	pid, ppid      int32
	comm, command  string
	line           string // its command line
	execs, exit    int32
	startNs, endNs int64 // -1: not seen
	fds            map[int32]object
}

func (p *straceProcess) files() map[int32]object {
	if p.fds == nil {
		p.fds = map[int32]object{}
	}
	return p.fds
}

// threadOf finds the thread of a line. strace leaves "[pid N]" out while there is
// only one process: the first N that nobody started is that one.
func (s *straceReader) threadOf(l straceLine, own int32) *straceThread {
	tid := l.tid
	if !l.hasTid {
		tid = own
		if tid == 0 && s.main != nil {
			return s.main
		}
	}
	if known := s.threads[tid]; known != nil && !known.ended { // an id may be used again
		return known
	}
	if l.bracket && s.main != nil && s.main.tid == 0 && !s.children[tid] {
		s.rename(s.main, tid)
		return s.main
	}
	if len(s.order) >= maxThreads {
		return nil
	}
	made := s.newThread(tid, &straceProcess{pid: tid, startNs: -1, endNs: -1})
	if !l.hasTid && own == 0 {
		s.main = made
	}
	return made
}

func (s *straceReader) newThread(tid int32, process *straceProcess) *straceThread {
	made := &straceThread{tid: tid, process: process, firstNs: -1}
	s.threads[tid] = made
	s.order = append(s.order, made)
	return made
}

func (s *straceReader) rename(thread *straceThread, tid int32) {
	delete(s.threads, thread.tid)
	thread.tid, thread.process.pid = tid, tid
	s.threads[tid] = thread
}

// started is the parent's side of fork and clone: result is the new id.
func (s *straceReader) started(parent *straceThread, call *straceCall) {
	tid := int32(min(call.result, 1<<31-1))
	child := s.threads[tid]
	if child == nil || child.ended && child.lastNs < call.startNs {
		if len(s.order) >= maxThreads {
			s.lostRows++
			return
		}
		child = s.newThread(tid, &straceProcess{pid: tid, startNs: -1, endNs: -1})
	}
	if bytes.Contains(call.args, []byte("CLONE_THREAD")) {
		child.process = parent.process
		return
	}
	process := child.process
	process.ppid, process.startNs = parent.process.pid, call.startNs
	if process.comm == "" {
		process.comm = parent.process.comm
	}
	const copied = 4096 // a process with more open files is rare, one that forks often too
	for fd, what := range parent.process.fds {
		if _, known := process.files()[fd]; !known && len(process.fds) < copied {
			process.fds[fd] = what
		}
	}
}
