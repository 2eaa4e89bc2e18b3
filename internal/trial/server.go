package trial

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
)

// server is a service that was started for loads: its processes, wherever they go, are those of its
// cgroup. Without one they are those below its first process.
type server struct {
	runner   *Runner
	spec     Spec
	template string // the command as it was given
	port     int
	gate     *gate
	group    *group
	out      *outputs
	ended    chan struct{} // closed when the first process has ended; it stays a zombie
	known    map[int]bool  // processes that were seen, to be waited for
}

// startServer starts the command of a side and returns when it is ready and warm.
func (r *Runner) startServer(ctx context.Context, spec Spec) (*server, error) {
	s := &server{runner: r, spec: spec, template: spec.Command, ended: make(chan struct{}),
		known: map[int]bool{}}
	var err error
	if s.port, err = r.freePort(); err != nil {
		return nil, err
	}
	s.spec.Kind, s.spec.Command = spec.Kind+"server", fillPort(spec.Command, s.port)
	if s.out, err = createOutputs(s.spec); err != nil {
		return nil, err
	}
	r.started++
	if s.group, err = r.group.forServer(r.started); err != nil {
		return nil, errors.Join(err, s.out.close())
	}
	if s.gate, err = holdCommand(s.spec, s.out, s.group); s.gate == nil {
		return nil, errors.Join(err, s.group.close(), s.out.close())
	}
	r.servers = append(r.servers, s)
	go func() {
		for errors.Is(unix.Waitid(unix.P_PID, s.gate.pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
		}
		close(s.ended)
	}()
	if err == nil {
		err = r.guardian.serves(s.gate.pid, true)
	}
	if err == nil && spec.Ready != nil {
		err = spec.Ready(s.gate.pid)
	}
	if err == nil {
		_, err = s.gate.release()
	}
	if err == nil {
		err = s.awaitReady(ctx)
	}
	if err == nil {
		err = s.warmUp(ctx)
	}
	if err != nil {
		return nil, first(err, s.stop())
	}
	return s, nil
}

// pids lists the processes of the server as they are now.
func (s *server) pids() []int {
	var pids []int
	if s.group != nil {
		pids = s.group.pids()
	} else {
		queue, seen := []int{s.gate.pid}, map[int]bool{}
		for ; len(queue) > 0 && len(seen) < maxBeside; queue = queue[1:] {
			if !seen[queue[0]] && !s.gone(queue[0]) {
				seen[queue[0]] = true
				pids = append(pids, queue[0])
				queue = append(queue, host.Children(queue[0])...)
			}
		}
	}
	for _, pid := range pids {
		s.known[pid] = true
	}
	return pids
}

// gone tells of the first process, which stays a zombie, that it has ended.
func (s *server) gone(pid int) bool {
	select {
	case <-s.ended:
		return pid == s.gate.pid
	default:
		return false
	}
}

// alive says what became of a server that no longer runs. One whose first process leaves others
// behind has gone into the background, and runs on.
func (s *server) alive(when string) error {
	select {
	case <-s.ended:
	default:
		return nil
	}
	if s.group != nil && len(s.pids()) > 0 {
		return nil
	}
	status, _, err := wait(s.gate.pid, unix.WNOHANG)
	delete(s.known, s.gate.pid)
	failed := &FailedError{Side: s.spec.Side, Command: s.spec.Command, LastLines: s.out.lastLines(),
		When: "the server ended " + when}
	switch {
	case err != nil: // somebody else waited for it; that it has ended is known
	case status.Signaled():
		failed.Signal = status.Signal()
	default:
		failed.ExitCode = status.ExitStatus()
	}
	if s.group == nil && failed.ExitCode == 0 && failed.Signal == 0 {
		failed.When += ", or went into the background, where it cannot be followed without a cgroup: run it in the " +
			"foreground"
	}
	return failed
}

// awaitEnd gives a server whose load failed the time to have ended: a process that ends closes its
// connections, which the load sees at once, before its parent is told.
func (s *server) awaitEnd() {
	const longest = 200 * time.Millisecond
	select {
	case <-s.ended:
	case <-time.After(longest):
	}
}

// awaitReady returns when the server is ready.
func (s *server) awaitReady(ctx context.Context) error {
	limit := s.spec.Load.StartLimit
	if limit <= 0 {
		limit = UsualStartLimit
	}
	deadline := time.Now().Add(limit)
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		if err := s.alive("before it was ready"); err != nil {
			return err
		}
		if ready, err := s.ready(ctx); ready || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return s.notReady(limit)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("run %s: %w", s.spec.Side, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// ready asks once.
func (s *server) ready(ctx context.Context) (bool, error) {
	load := s.spec.Load
	if load.Ready != "" {
		return s.asked(ctx, fillPort(load.Ready, s.port))
	}
	for _, listener := range host.Listening("/", s.pids()) {
		if port := s.waitsOn(); port == 0 || listener.Port == port {
			return true, nil
		}
	}
	return false, nil
}

// waitsOn is the port that makes the server ready, 0 for any.
func (s *server) waitsOn() int {
	switch {
	case s.spec.Load.ReadyPort > 0:
		return s.spec.Load.ReadyPort
	case strings.Contains(s.template, portWord):
		return s.port
	}
	return 0
}

// asked runs the command that tells readiness.
func (s *server) asked(ctx context.Context, text string) (bool, error) {
	const longest = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	command := exec.CommandContext(ctx, "/bin/sh", "-c", text)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	err := command.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) || ctx.Err() != nil {
		return err == nil, nil // not yet
	}
	return false, fmt.Errorf("run %s: ask whether the server is ready: %w", s.spec.Side, err)
}

// notReady says what a server that is up does instead.
func (s *server) notReady(limit time.Duration) error {
	want := fmt.Sprintf("listen on port %d", s.waitsOn())
	switch {
	case s.spec.Load.Ready != "":
		want = fmt.Sprintf("answer to %q", oneLine(s.spec.Load.Ready, maxShownCommand))
	case s.waitsOn() == 0:
		want = "listen anywhere"
	}
	var elsewhere []string
	for _, listener := range host.Listening("/", s.pids()) {
		elsewhere = append(elsewhere, oneLine(listener.String(), 60))
	}
	text := fmt.Sprintf("run %s: the server does not %s after %v", s.spec.Side, want, limit)
	if len(elsewhere) > 0 {
		text += ", but on " + strings.Join(elsewhere[:min(len(elsewhere), 3)], ", ")
	}
	text += fmt.Sprintf(": %q; --ready says when it is ready", oneLine(s.spec.Command, maxShownCommand))
	if lines := s.out.lastLines(); len(lines) > 0 {
		text += "; it printed last: " + strings.Join(lines, " | ")
	}
	return errors.New(text)
}

// stop ends the server as a service manager does: SIGTERM to all of its processes, and SIGKILL to
// what is left after a while.
func (s *server) stop() error {
	s.runner.forget(s)
	s.known[s.gate.pid] = true
	s.gate.close() // one that was not released ends
	for _, pid := range s.pids() {
		unix.Kill(pid, unix.SIGTERM)
	}
	for deadline := time.Now().Add(StopLimit); time.Now().Before(deadline) && len(s.pids()) > 0; {
		time.Sleep(2 * time.Millisecond)
	}
	for _, pid := range s.pids() {
		unix.Kill(pid, unix.SIGKILL)
	}
	s.group.kill()
	var err error
	for deadline := time.Now().Add(killTimeout); len(s.pids()) > 0; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			err = fmt.Errorf("stop the server of %s: process %d has not ended after %s; it waits in the kernel",
				s.spec.Side, s.pids()[0], killTimeout)
			break
		}
	}
	s.reap()
	return first(err, s.group.close(), s.runner.guardian.serves(s.gate.pid, false), s.out.close())
}

// reap waits for those processes that are children of culprit: the first one, and orphans. A
// process leaves its cgroup a moment before it can be waited for.
func (s *server) reap() {
	deadline := time.Now().Add(time.Second)
	for pid := range s.known {
		for {
			_, _, err := wait(pid, unix.WNOHANG)
			if !errors.Is(err, unix.EAGAIN) || time.Now().After(deadline) {
				break // waited for, or no child
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// forget takes a server off the list of those that are up.
func (r *Runner) forget(gone *server) {
	var up []*server
	for _, s := range r.servers {
		if s != gone {
			up = append(up, s)
		}
	}
	r.servers = up
}

// stopServers ends those that were kept.
func (r *Runner) stopServers() error {
	var errs []error
	for len(r.servers) > 0 {
		errs = append(errs, r.servers[0].stop())
	}
	return errors.Join(errs...)
}
