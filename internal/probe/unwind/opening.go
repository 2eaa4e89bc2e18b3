package unwind

import (
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
)

// One goroutine looks at all processes, and a file system that does not answer (NFS without its
// server, a FUSE program that is stopped, a disk that writes back) holds whoever opens or reads a
// file of it. One process that runs from there took the stacks of the whole host: 957 of 966
// samples had none. So each new file is opened, and what the library reads of it brought into
// memory, by a goroutine of its own. A look waits for it a little; then it goes on without that
// file, and the process is looked at again when the file is there.
//
// A recorder of the whole host has the rules of large programs read there, too, which takes tenths
// of a second, and a host runs some of them when its recording begins.

const (
	hostPatience = 200 * time.Millisecond // a look of a recorder of the whole host waits so long for a file
	patience     = 2 * time.Second        // and that of one who has nothing else to look at
	impatience   = 5 * time.Millisecond   // and so long where another file of the disk is still to come
	mostPatience = 10 * time.Second       // for the rules of other programs: the disk of one may have gone away

	mostOpening   = 64      // files at a time: each that hangs holds a thread
	mostOpeningOf = 4       // and of one disk that has not answered
	mostWaiting   = 16      // processes that are looked at again for one file
	mostLater     = 1024    // and in all, at a time
	largeProgram  = 8 << 20 // bytes of a file from which on its rules take tens of milliseconds
)

// opener opens files that a look shall not wait for.
type opener struct {
	patience time.Duration
	// rules reads those of a large program; nil: a look does.
	rules func(target process.Process, path string, file *os.File)
	turn  chan struct{} // rules of one program at a time: they take memory

	mu     sync.Mutex
	under  map[fileKey]*opening
	came   map[fileKey]kept  // until a process that waits for it is looked at again
	behind map[uint64]int    // files of a disk that looks went on without before it had answered
	late   int64             // such files since Unanswered was called
	again  chan libpf.PIDTID // processes to be looked at again
}

// opening is a file that is being opened.
type opening struct {
	read, done chan struct{} // closed when the disk has answered, and when the rules are known, too
	file       *os.File      // nil: it cannot be opened, or is no plain one
	late       bool          // a look went on before the disk had answered
	waiting    []libpf.PIDTID
}

// kept is a file that came too late for a look.
type kept struct {
	file *os.File // nil: it could not be opened
	at   time.Time
}

func newOpener() *opener {
	return &opener{patience: patience, turn: make(chan struct{}, 1), under: map[fileKey]*opening{},
		came: map[fileKey]kept{}, behind: map[uint64]int{}, again: make(chan libpf.PIDTID, mostLater)}
}

// open opens the file of a mapping, and reads it where it was modified since; nil where it cannot
// be opened. Not answered: it is not ready yet.
func (o *opener) open(key fileKey, target process.Process, mapping *process.RawMapping, since int64) (
	file *os.File, answered bool) {
	o.mu.Lock()
	if before, came := o.came[key]; came {
		delete(o.came, key)
		o.mu.Unlock()
		return before.file, true
	}
	one, wait := o.under[key], o.patience
	if one == nil {
		if len(o.under) >= mostOpening || o.of(key.device) >= mostOpeningOf {
			o.mu.Unlock()
			return nil, false
		}
		one = &opening{read: make(chan struct{}), done: make(chan struct{})}
		key.path = strings.Clone(key.path) // the list of mappings is read into one buffer
		o.under[key] = one
		own := *mapping
		own.Path = key.path
		go o.read(key, one, target, own, since)
	}
	switch {
	case one.late: // it was waited for
		wait = 0
	case o.behind[key.device] > 0:
		wait = min(wait, impatience)
	}
	o.mu.Unlock()
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case <-one.read: // rules are not waited for
	case <-timeout.C:
	}
	return o.take(key, one, libpf.PIDTID(uint64(target.PID())<<32|uint64(target.PID())))
}

// of counts the files that a disk has not answered for. The caller holds the lock.
func (o *opener) of(device uint64) (count int) {
	for key, one := range o.under {
		if key.device == device && !isClosed(one.read) {
			count++
		}
	}
	return count
}

func isClosed(channel chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// take gives the file that is ready, or has the process wait for it.
func (o *opener) take(key fileKey, one *opening, id libpf.PIDTID) (file *os.File, answered bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if isClosed(one.done) {
		file, one.file = one.file, nil
		return file, true
	}
	if !isClosed(one.read) && !one.late {
		one.late = true
		o.late++
		o.behind[key.device]++
	}
	if len(one.waiting) < mostWaiting && !slices.Contains(one.waiting, id) {
		one.waiting = append(one.waiting, id)
	}
	return nil, false
}

// read opens a file and brings it into memory, however long it takes, and has its rules read.
func (o *opener) read(key fileKey, one *opening, target process.Process, mapping process.RawMapping, since int64) {
	var file *os.File
	if opened, err := target.OpenMappingFile(&mapping); err == nil {
		plain := false
		if file, plain = opened.(*os.File); !plain {
			_ = opened.Close() // nothing was written to it
		}
	}
	large := false
	if file != nil && modifiedAt(file) != since {
		size := warm(file)
		large = o.rules != nil && size >= largeProgram
	}
	o.answered(key, one, file, !large)
	if large {
		select {
		case o.turn <- struct{}{}:
			o.rules(target, mapping.Path, file)
			<-o.turn
		case <-time.After(mostPatience): // a look reads them
		}
		o.ready(key, one)
	}
}

// answered is told that a disk has; ready: nothing more is to be done with the file.
func (o *opener) answered(key fileKey, one *opening, file *os.File, ready bool) {
	o.mu.Lock()
	one.file = file
	if one.late {
		if o.behind[key.device]--; o.behind[key.device] == 0 {
			delete(o.behind, key.device)
		}
	}
	if ready {
		o.hand(key, one)
	}
	close(one.read)
	o.mu.Unlock()
}

func (o *opener) ready(key fileKey, one *opening) {
	o.mu.Lock()
	o.hand(key, one)
	o.mu.Unlock()
}

// hand has the processes looked at again that wait for a file; a look that still waits takes it.
// The caller holds the lock.
func (o *opener) hand(key fileKey, one *opening) {
	delete(o.under, key)
	if len(one.waiting) > 0 {
		o.came[key], one.file = kept{one.file, time.Now()}, nil
	}
	for _, id := range one.waiting {
		o.later(id)
	}
	close(one.done)
}

// later has a process looked at again after the others that wait.
func (o *opener) later(id libpf.PIDTID) {
	select {
	case o.again <- id:
	default: // its next stack will tell it again
	}
}

// sweep closes what came for processes that have ended since.
func (o *opener) sweep(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, before := range o.came {
		if now.Sub(before.at) < heldFor {
			continue
		}
		delete(o.came, key)
		if before.file != nil {
			_ = before.file.Close() // nothing was written to it
		}
	}
}

// isBehind tells whether looks went on without a file of a disk that has not answered yet.
func (o *opener) isBehind(device uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.behind[device] > 0
}

// Unanswered counts the files since the last call that processes were looked at without, because
// their file system did not answer soon enough, and those that have not come yet.
func (u *Unwinder) Unanswered() int64 {
	o := u.monitor.files.opener
	o.mu.Lock()
	defer o.mu.Unlock()
	late := o.late
	o.late = 0
	for _, files := range o.behind {
		o.late += int64(files) // of the next window as well
	}
	return late
}
