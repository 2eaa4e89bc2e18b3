package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// portWord stands for a free port in the commands of servers and of their loads.
const portWord = "{port}"

// The ways to name a side that runs already.
const (
	livePid    = "pid"
	livePort   = "port"
	liveCgroup = "cgroup"
)

// liveStart bounds the time until a server listens.
const liveStart = time.Minute

// service is one side of a live scenario: a server that runs, and its load, which goes on until the
// investigation is over.
type service struct {
	port   int
	server *exec.Cmd
	load   context.CancelFunc
	over   chan struct{} // the load is
	group  string        // its cgroup; "": none
}

// startService starts a server and puts the load on it.
func startService(ctx context.Context, command, load, folder, cgroup string) (*service, error) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	s := &service{port: listener.Addr().(*net.TCPAddr).Port, group: cgroup, over: make(chan struct{})}
	if err := listener.Close(); err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	s.server = s.command(context.WithoutCancel(ctx), command, folder)
	if cgroup != "" {
		if err := os.MkdirAll(cgroup, 0o755); err != nil {
			return nil, fmt.Errorf("make cgroup: %w", err)
		}
		s.server.Args[2] = "echo $$ > " + filepath.Join(cgroup, "cgroup.procs") + "; " + s.server.Args[2]
	}
	if err := s.server.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	loaded, cancel := context.WithCancel(ctx)
	s.load = cancel
	address := "localhost:" + strconv.Itoa(s.port)
	for until := time.Now().Add(liveStart); ; time.Sleep(20 * time.Millisecond) {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			connection.Close()
			break
		}
		if time.Now().After(until) {
			close(s.over)
			return nil, errors.Join(fmt.Errorf("the server %q does not listen: %w", command, err), s.stop())
		}
	}
	failed := make(chan error, 1)
	go func() {
		defer close(s.over)
		for loaded.Err() == nil { // it ends, or is ended, and begins again
			if err := s.command(loaded, load, folder).Run(); err != nil && loaded.Err() == nil {
				failed <- err
				return
			}
		}
	}()
	select {
	case err := <-failed:
		return nil, errors.Join(fmt.Errorf("the load %q ended at once: %w", load, err), s.stop())
	case <-time.After(loadSettles):
		return s, nil
	}
}

// loadSettles is how long a load has to show that it cannot run at all: a generator that is not
// installed, for one. One that fails later leaves a service without requests, which the
// investigation tells.
const loadSettles = 300 * time.Millisecond

// command is a shell command with the port, in a process group of its own.
func (s *service) command(ctx context.Context, text, folder string) *exec.Cmd {
	command := exec.CommandContext(ctx, "/bin/sh", "-c", strings.ReplaceAll(text, portWord, strconv.Itoa(s.port)))
	command.Dir = folder
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	return command
}

// named is how the side is called.
func (s *service) named(how string) string {
	switch how {
	case livePort:
		return fmt.Sprintf("port:%d", s.port)
	case liveCgroup:
		return "cgroup:" + s.group
	}
	return fmt.Sprintf("pid:%d", s.server.Process.Pid)
}

func (s *service) stop() error {
	s.load()
	<-s.over
	_ = syscall.Kill(-s.server.Process.Pid, syscall.SIGTERM) // it may have ended
	time.AfterFunc(5*time.Second, func() { _ = syscall.Kill(-s.server.Process.Pid, syscall.SIGKILL) })
	_ = s.server.Wait() // ended by a signal
	if s.group == "" {
		return nil
	}
	for range 100 {
		err := os.Remove(s.group)
		if err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("remove cgroup %s: processes stay in it", s.group)
}

// live starts both services of a scenario; stop ends them.
func live(ctx context.Context, scenario Scenario, commands Commands, folder string) (sides Commands,
	stop func() error, err error) {
	var services []*service
	var monitors []*monitor
	stop = func() error {
		var failed error
		for _, m := range monitors {
			m.stop()
		}
		for _, s := range services {
			failed = errors.Join(failed, s.stop())
		}
		return failed
	}
	for i, command := range []string{commands.A, commands.B} {
		cgroup := ""
		if scenario.Live == liveCgroup {
			cgroup = filepath.Join(liveGroups(), fmt.Sprintf("%s-%c", groupName(), 'a'+i))
		}
		one, err := startService(ctx, command, commands.Load, folder, cgroup)
		if err != nil {
			return sides, nil, errors.Join(err, stop())
		}
		services = append(services, one)
	}
	for i, one := range services {
		if commands.Monitor == "" || i == 0 && !scenario.Both {
			continue
		}
		watching, err := watch(ctx, commands.Monitor, folder, one.server.Process.Pid)
		if err != nil {
			return sides, nil, errors.Join(err, stop())
		}
		monitors = append(monitors, watching)
	}
	return Commands{A: services[0].named(scenario.Live), B: services[1].named(scenario.Live)}, stop, nil
}

// liveGroups is where cgroups of version 2 are.
func liveGroups() string {
	const beside = "/sys/fs/cgroup/unified" // where version 1 has the rest
	if _, err := os.Stat(filepath.Join(beside, "cgroup.procs")); err == nil {
		return beside
	}
	return "/sys/fs/cgroup"
}
