package trial

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/host"
)

// serveLines is a server: "PORT MICROSECONDS" answers each line after so much CPU time.
func serveLines(argument string) {
	var port, micros int
	fmt.Sscan(argument, &port, &micros)
	listener, err := net.Listen("tcp", "localhost:"+strconv.Itoa(port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			os.Exit(4)
		}
		go func() {
			runtime.LockOSThread() // the clock below is the thread's
			for lines := bufio.NewScanner(connection); lines.Scan(); {
				if lines.Text() == "die" {
					fmt.Fprintln(os.Stderr, "dying as asked")
					os.Exit(7)
				}
				begun, _ := clockTime(unix.CLOCK_THREAD_CPUTIME_ID)
				for used := begun; used < begun+time.Duration(micros)*time.Microsecond; {
					used, _ = clockTime(unix.CLOCK_THREAD_CPUTIME_ID)
				}
				fmt.Fprintln(connection, "ok")
			}
		}()
	}
}

// requestLines is a load: "PORT COUNT WORD" sends so many lines and prints what wrk would.
func requestLines(argument string) {
	var port, count int
	var word string
	fmt.Sscan(argument, &port, &count, &word)
	connection, err := net.Dial("tcp", "localhost:"+strconv.Itoa(port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	answers, failed := bufio.NewScanner(connection), 0
	for range count {
		fmt.Fprintln(connection, word)
		if !answers.Scan() {
			os.Exit(1)
		}
	}
	if word == "bad" {
		failed = 3
	}
	fmt.Printf("  %d requests in 1.00s, 1MB read\n  Non-2xx or 3xx responses: %d\nRequests/sec: %d.00\n",
		count, failed, count)
}

func loadSpec(t *testing.T, server, word string, count int) Spec {
	s := spec(t, as(server))
	s.Load = &Load{Command: as(fmt.Sprintf("requests {port} %d %s", count, word))}
	return s
}

// The account is the server's alone, per request; the load's stands beside it.
func TestServerUnderLoad(t *testing.T) {
	runner := newRunner(t)
	for _, withGroup := range []bool{true, false} {
		if group := runner.group; !withGroup {
			runner.group = nil
			defer func() { runner.group = group }()
		}
		s := loadSpec(t, "server {port} 1000", "good", 200)
		begun, ended := 0, Run{}
		s.Load.WarmUpRequests = 20
		s.Load.Begin = func(pid int, group string) error {
			begun = pid
			if (group != "") != (runner.group != nil) {
				t.Errorf("cgroup %q", group)
			}
			return nil
		}
		s.Load.End = func(run Run) error {
			if ended = run; unix.Kill(begun, 0) != nil {
				t.Error("the server was stopped before the end was told")
			}
			return nil
		}
		run := mustRun(t, runner, s)
		if got := run.Metrics[MetricCPU]; got < 1e-3 || got > 2e-3 {
			t.Errorf("%g s of CPU time for a request that takes 1 ms: %v", got, run.Metrics)
		}
		if run.Metrics[MetricRequests] != 200 || run.Metrics[MetricThroughput] != 200 || !run.Valid ||
			run.Metrics[MetricServerCPU] < 0.2 || run.Metrics[MetricLoadCPU] > 0.15 || ended.Metrics == nil {
			t.Errorf("%+v", run)
		}
		if run.Metrics[MetricMemory] < 1<<20 || run.Metrics[MetricServerBusy] <= 0 {
			t.Errorf("%+v", run.Metrics)
		}
		if left := host.Children(os.Getpid()); len(left) != 1 || left[0] != runner.guardian.pid {
			t.Errorf("children left: %v", left)
		}
	}
}

// A server whose first process ends, and whose workers have another session, is followed and ended.
func TestServerInTheBackground(t *testing.T) {
	runner := newRunner(t)
	if runner.group == nil {
		t.Skip("no cgroup here")
	}
	s := loadSpec(t, "server {port} 10", "good", 50)
	s.Command = "setsid -f env " + strings.Replace(s.Command, "exec ", "", 1) + "; sleep 0.05; exit 0"
	var pids []int
	s.Load.End = func(Run) error { pids = runner.servers[0].pids(); return nil }
	if run := mustRun(t, runner, s); run.Metrics[MetricServerCPU] <= 0 || len(pids) != 1 || !gone(pids[0], 0) {
		t.Errorf("processes %v, %v", pids, run.Metrics)
	}
}

func TestKeptServersAlternate(t *testing.T) {
	runner := newRunner(t)
	seen := map[string]map[int]bool{"A": {}, "B": {}}
	for round := range 4 {
		for _, side := range []string{"A", "B"} {
			s := loadSpec(t, "server {port} 10", "good", 20)
			s.Side, s.Load.Keep, s.Order = side, true, 2*round
			s.Load.Begin = func(pid int, _ string) error { seen[side][pid] = true; return nil }
			mustRun(t, runner, s)
		}
	}
	if len(seen["A"]) != 1 || len(seen["B"]) != 1 || len(runner.servers) != 2 {
		t.Errorf("processes %v, %d servers", seen, len(runner.servers))
	}
	if err := runner.stopServers(); err != nil || len(runner.servers) != 0 {
		t.Errorf("%v, %d servers", err, len(runner.servers))
	}
	if left := host.Children(os.Getpid()); len(left) != 1 {
		t.Errorf("children left: %v", left)
	}
}

func TestLoadsThatGoWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for limits of time: -short leaves it out")
	}
	runner := newRunner(t)
	for want, change := range map[string]func(*Spec){
		"the server ended before it was ready: exit status 5": func(s *Spec) {
			s.Command = "echo no memory >&2; echo {port} >&2; exit 5"
		},
		"no memory | 2":             func(s *Spec) { s.Command = "echo no memory >&2; echo {port} >&2; exit 5" },
		"does not listen on port 2": func(s *Spec) { s.Command = "echo {port}; exec sleep 60" },
		"but on port 15": func(s *Spec) { // below the ports that the kernel hands out
			s.Command = "P={port}; " + strings.Replace(as("server $((P-5000)) 1"), "'", "\"", 2)
		},
		"does not answer to \"false\"": func(s *Spec) { s.Load.Ready = "false" },
		"the server ended under the load: exit status 7": func(s *Spec) {
			s.Load.Command = as("requests {port} 5 die")
		},
		"dying as asked":                    func(s *Spec) { s.Load.Command = as("requests {port} 5 die") },
		"the load failed: exit status 9":    func(s *Spec) { s.Load.Command = "exit 9" },
		"3 of 5 requests failed (3 non-2xx": func(s *Spec) { s.Load.Command = as("requests {port} 5 bad") },
		"does not take it":                  func(s *Spec) { s.Command = "sleep 1" },
		"the load does not say": func(s *Spec) {
			s.Load.Command, s.Load.WarmUpRequests = "true", 10
		},
		"not done after": func(s *Spec) { s.Load.Command, s.Timeout = "sleep 60", 200*time.Millisecond },
	} {
		s := loadSpec(t, "server {port} 10", "good", 5)
		s.Load.StartLimit = 500 * time.Millisecond
		change(&s)
		begun := time.Now()
		_, err := runner.Run(context.Background(), s)
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%v, want %q", err, want)
		}
		if left := host.Children(os.Getpid()); len(left) != 1 || len(runner.servers) != 0 {
			t.Errorf("after %q: children %v, %d servers", want, left, len(runner.servers))
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%q took %v", want, took)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := loadSpec(t, "server {port} 10", "good", 5)
	s.Load.Command = "sleep 60"
	s.Load.Begin = func(int, string) error { time.AfterFunc(100*time.Millisecond, cancel); return nil }
	if _, err := runner.Run(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if left := host.Children(os.Getpid()); len(left) != 1 {
		t.Errorf("children left after an interrupt: %v", left)
	}
}

// Killed with -9, culprit leaves neither the server nor the load behind.
func TestNothingOfALoadSurvivesCulprit(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "pids")
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	note := "echo $$ >>" + file + "; "
	command := exec.Command(path)
	command.Env = append(os.Environ(), roleVariable+"=culprit "+note+as("server {port} 10"), "CASE="+folder,
		"LOAD="+note+"exec sleep 100")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	pids := pidsFrom(t, file, 2)
	if err := command.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // killed
	for _, pid := range pids {
		if !gone(pid, 5*time.Second) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

// A port whose last connection is in TIME_WAIT is not free to every server.
func TestPortsThatWaitAreLeftOut(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(lowestPort+7))
	if err != nil {
		t.Skipf("somebody has the port: %v", err)
	}
	client, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []io.Closer{server, client, listener} { // the server first: it waits
		if err := end.Close(); err != nil {
			t.Fatal(err)
		}
	}
	runner := &Runner{port: lowestPort + 6}
	if port, err := runner.freePort(); err != nil || port == lowestPort+7 {
		t.Errorf("port %d, %v", port, err)
	}
}
