package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// tailLoad is who asks: connections that stay open, each with a pause between an answer and the
// next request.
type tailLoad struct {
	Connections int           `yaml:"connections"`
	Think       time.Duration `yaml:"think"` // mean of the pauses, which are exponential
	// Burst: each connection asks for one second in two without pauses of its own as long as this;
	// 0: no bursts.
	Burst time.Duration `yaml:"burst"`
	Paths []string      `yaml:"paths"`
	// Ask is sent instead of a request of HTTP, and Until ends the answer to it.
	Ask   string `yaml:"ask"`
	Until string `yaml:"until"`
	Fresh bool   `yaml:"fresh"` // each request has a connection of its own
	// Command makes the load instead, with {port}; it is killed when the time is over.
	Command string `yaml:"command"`
}

// run asks until ctx is done.
func (l *tailLoad) run(ctx context.Context, port int, folder string) error {
	if l.Command != "" {
		return l.runCommand(ctx, port, folder)
	}
	var all sync.WaitGroup
	failed := make(chan error, l.Connections)
	for range l.Connections {
		all.Go(func() { failed <- l.ask(ctx, port) })
	}
	all.Wait()
	close(failed)
	var err error
	for one := range failed {
		err = errors.Join(err, one)
	}
	return err
}

// runCommand has another program ask; one that ends by itself has failed.
func (l *tailLoad) runCommand(ctx context.Context, port int, folder string) error {
	text := strings.ReplaceAll(l.Command, portWord, strconv.Itoa(port))
	command := exec.CommandContext(ctx, "sh", "-c", text)
	command.Dir = folder
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	output, err := command.CombinedOutput()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("it ended too soon (%v): %s", err, lastLines(string(output), 3))
}

func (l *tailLoad) ask(ctx context.Context, port int) error {
	address := fmt.Sprintf("127.0.0.1:%d", port)
	var connection net.Conn
	defer func() {
		if connection != nil {
			connection.Close()
		}
	}()
	for began := time.Now(); ctx.Err() == nil; {
		if connection == nil {
			var err error
			if connection, err = net.Dial("tcp4", address); err != nil {
				return err
			}
		}
		if err := l.one(connection); err != nil {
			return err
		}
		if l.Fresh {
			connection.Close()
			connection = nil
		}
		pause := time.Duration(rand.ExpFloat64() * float64(l.Think))
		if l.Burst > 0 && time.Since(began)%(4*time.Second) < l.Burst {
			pause = 0
		}
		time.Sleep(min(pause, 10*l.Think))
	}
	return nil
}

// one asks and reads the answer.
func (l *tailLoad) one(connection net.Conn) error {
	request := l.Ask
	if request == "" {
		path := l.Paths[rand.IntN(len(l.Paths))]
		request = fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	}
	if _, err := io.WriteString(connection, request); err != nil {
		return err
	}
	if err := connection.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	for have := 0; ; {
		n, err := connection.Read(answer[have:])
		if err != nil {
			return err
		}
		if have += n; l.isWhole(answer[:have]) {
			return nil
		}
	}
}

// isWhole tells the end of an answer: of HTTP a body of two bytes.
func (l *tailLoad) isWhole(answer []byte) bool {
	if l.Until != "" {
		return bytes.HasSuffix(answer, []byte(l.Until))
	}
	head := bytes.Index(answer, []byte("\r\n\r\n"))
	return head >= 0 && len(answer) >= head+6
}

func awaitPort(ctx context.Context, port int) error {
	for range 600 {
		connection, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return connection.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("nobody listens at port %d after half a minute", port)
}
