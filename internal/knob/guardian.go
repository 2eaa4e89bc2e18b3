package knob

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// GuardianVerb is the hidden verb under which culprit starts itself as a guardian.
	GuardianVerb = "guardian"

	guardianStart = 10 * time.Second // until it must be ready
	guardianEnd   = 10 * time.Second // until it must have ended after its owner let go
	ownerPipe     = 3                // descriptors of the guardian
	readyPipe     = 4
	attemptLimit  = 5
	attemptPause  = 200 * time.Millisecond
)

// Guardian is a process of its own that puts settings back when its owner dies in
// any way, kill -9 included: it waits on a pipe whose other end the owner holds.
// It has its own session, so it survives the kill of the owner's process group,
// and ignores the signals that end programs. It cannot survive its own kill -9
// or that of its whole cgroup: then the journal is left for `culprit restore`.
type Guardian struct {
	process *os.Process
	hold    *os.File // closing it lets the guardian go
	ended   chan struct{}
}

// Guard starts a guardian for journal entries and returns when it is ready.
func Guard(entryPaths ...string) (*Guardian, error) {
	if len(entryPaths) == 0 {
		return nil, errors.New("start guardian: no journal entry is named")
	}
	read, hold, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start guardian: %w", err)
	}
	defer read.Close()
	ready, tell, err := os.Pipe()
	if err != nil {
		hold.Close()
		return nil, fmt.Errorf("start guardian: %w", err)
	}
	defer ready.Close()
	process, err := startGuardian(entryPaths, read, tell)
	tell.Close()
	if err != nil {
		hold.Close()
		return nil, fmt.Errorf("start guardian: %w", err)
	}
	guardian := &Guardian{process: process, hold: hold, ended: make(chan struct{})}
	go func() {
		// How it ended does not matter here: what it did stands in the journal.
		_, _ = process.Wait()
		close(guardian.ended)
	}()
	_ = ready.SetReadDeadline(time.Now().Add(guardianStart))
	if _, err := io.ReadFull(ready, make([]byte, 1)); err != nil {
		_ = process.Kill()
		return nil, both(fmt.Errorf("start guardian: it did not become ready: %w", err), guardian.Close())
	}
	return guardian, nil
}

// startGuardian runs ourselves again with nothing of ours but the two pipes: no
// terminal, no environment, no working folder that would keep a file system busy.
func startGuardian(entryPaths []string, read, tell *os.File) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return os.StartProcess("/proc/self/exe", append([]string{"culprit", GuardianVerb}, entryPaths...), &os.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=1"}, Files: []*os.File{null, null, null, read, tell},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// alive tells whether the guardian still runs.
func (guardian *Guardian) alive() bool {
	select {
	case <-guardian.ended:
		return false
	default:
		return true
	}
}

// Close lets the guardian go and waits for its end. Entries that are still in the
// journal it restores first.
func (guardian *Guardian) Close() error {
	if err := guardian.hold.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("end guardian: %w", err)
	}
	select {
	case <-guardian.ended:
		return nil
	case <-time.After(guardianEnd):
		return fmt.Errorf("end guardian: process %d is still there after %v", guardian.process.Pid, guardianEnd)
	}
}

// RunGuardian is the hidden verb: it waits until its owner is gone and restores
// the journal entries named in the arguments, unless they are gone by then.
func RunGuardian(entryPaths []string) error {
	var status unix.Stat_t
	err := unix.Fstat(ownerPipe, &status)
	if err != nil || status.Mode&unix.S_IFMT != unix.S_IFIFO || len(entryPaths) == 0 {
		return errors.New("guardian is started by culprit itself; to put settings back, run `culprit restore`")
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE,
		syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGUSR1, syscall.SIGUSR2)
	if err := closeInherited(); err != nil {
		return err
	}
	guarded := make([]*guardedEntry, 0, len(entryPaths))
	for _, path := range entryPaths {
		each, err := watch(path)
		if err != nil {
			return err
		}
		guarded = append(guarded, each)
	}
	tell := os.NewFile(readyPipe, "ready")
	if _, err := tell.Write([]byte{1}); err != nil {
		return fmt.Errorf("tell owner: %w", err)
	}
	if err := tell.Close(); err != nil {
		return fmt.Errorf("tell owner: %w", err)
	}
	// Nothing is ever written into the pipe: reading ends when the owner does.
	if _, err := io.Copy(io.Discard, os.NewFile(ownerPipe, "owner")); err != nil {
		return fmt.Errorf("wait for owner: %w", err)
	}
	var failures []error
	for _, each := range guarded {
		failures = append(failures, each.restore())
	}
	return errors.Join(failures...)
}

// closeInherited closes what the owner itself had inherited: a descriptor kept
// here would hold somebody's pipe open. All that Go opens closes on exec, so a
// descriptor above ours that does not is inherited.
func closeInherited() error {
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("close inherited descriptors: %w", err)
	}
	for _, each := range descriptors {
		descriptor, err := strconv.Atoi(each.Name())
		if err != nil || descriptor <= readyPipe {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(descriptor), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(descriptor)
		}
	}
	return nil
}

// guardedEntry is an entry as it was when the guardian started.
type guardedEntry struct {
	journal *Journal
	entry   entry
}

func watch(path string) (*guardedEntry, error) {
	folder, name := filepath.Split(path)
	state, last := filepath.Split(filepath.Clean(folder))
	if last != journalFolder || !filepath.IsAbs(path) {
		return nil, fmt.Errorf("guard %s: not the path of a journal entry", path)
	}
	journal, err := OpenJournal(state)
	if err != nil {
		return nil, err
	}
	found, err := journal.load(name)
	if err != nil {
		return nil, both(err, journal.Close())
	}
	return &guardedEntry{journal, found}, nil
}

// restore puts the setting back. On drift, or when it cannot, the entry stays
// with the reason in it, because nobody listens here: `culprit restore` tells.
func (guarded *guardedEntry) restore() error {
	defer guarded.journal.Close()
	var err error
	for range attemptLimit {
		err = guarded.attempt()
		var drift *DriftError
		if err == nil || errors.As(err, &drift) || errors.Is(err, errDamaged) {
			return err
		}
		time.Sleep(attemptPause)
	}
	return err
}

func (guarded *guardedEntry) attempt() error {
	guarded.silence()
	unlock, err := guarded.journal.lock()
	if err != nil {
		return err
	}
	defer unlock()
	found, err := guarded.journal.load(guarded.entry.fileName())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the owner put it back itself
	}
	if err != nil {
		return err
	}
	if !found.is(guarded.entry) {
		return nil // a later change of another owner, with a guardian of its own
	}
	undone := found.undo()
	if undone.failed == nil && undone.drift == nil {
		return guarded.journal.remove(found.fileName())
	}
	err = undone.failed
	if err == nil {
		err = undone.drift
	}
	found.Trouble = err.Error()
	return both(err, found.save(guarded.journal))
}

// silence kills what runs in the cgroups of the entry. It needs no lock and does not
// wait for one: the guardian of a file system may hold it, which is in use until then.
func (guarded *guardedEntry) silence() {
	found, err := guarded.journal.load(guarded.entry.fileName())
	if err != nil || !found.is(guarded.entry) {
		return
	}
	for _, step := range found.Steps {
		thing := Thing{Kind: Group, ID: step.Part}
		if step.Knob == madePrefix+Group && thing.ours() {
			_ = killGroup(step.Part) // it may be gone; undo says what is not
		}
	}
}
