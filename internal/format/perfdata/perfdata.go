// Package perfdata has perf turn the files of perf record into text, which package format reads.
//
//	if perfdata.Is("perf.data") {
//		source.Reader = perfdata.Script(ctx, "perf", "perf.data")
//	}
//
// A perf.data file holds addresses, and copies of stacks that only an unwinder can walk; perf has
// both, and knows the versions of its own format. What it reads is trusted by it: files of
// strangers are not given to it by serve.
package perfdata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Is tells a regular file that perf record wrote, of either byte order.
func Is(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close() // was only read
	head := make([]byte, 8)
	_, err = io.ReadFull(file, head)
	return err == nil && (string(head) == "PERFILE2" || string(head) == "2ELIFREP")
}

// Script returns the text of `perf script`, which starts at the first read and ends with ctx. perf
// is a name on the path, or a path.
func Script(ctx context.Context, perf, file string) io.Reader {
	return &script{ctx: ctx, perf: perf, file: file}
}

type script struct {
	ctx    context.Context
	perf   string
	file   string
	run    *exec.Cmd
	text   io.Reader
	said   head
	failed error
}

func (s *script) Read(p []byte) (int, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	if s.run == nil {
		if s.failed = s.start(); s.failed != nil {
			return 0, s.failed
		}
	}
	n, err := s.text.Read(p)
	if err != nil {
		s.failed = s.end(err)
	}
	return n, s.failed
}

func (s *script) start() error {
	path, err := exec.LookPath(s.perf)
	if err != nil {
		return fmt.Errorf("it is a perf.data file, which perf has to read, and there is no %s: install it (linux-perf, "+
			"perf, linux-tools), or import the text of `perf script -i FILE` from where it was recorded", s.perf)
	}
	s.run = exec.CommandContext(s.ctx, path, "script", "--header", "--no-inline", "-F", "+pid", "-i", s.file)
	// No names are asked for over the network, and nobody's configuration says what is printed.
	s.run.Env = append(os.Environ(), "DEBUGINFOD_URLS=", "PERF_CONFIG=/dev/null", "LC_ALL=C")
	s.run.Stderr = &s.said
	if s.text, err = s.run.StdoutPipe(); err != nil {
		return fmt.Errorf("read perf script: %w", err)
	}
	if err := s.run.Start(); err != nil {
		return fmt.Errorf("run perf script: %w", err)
	}
	return nil
}

// end is what the end of the text means: perf's own words where it failed.
func (s *script) end(err error) error {
	waited := s.run.Wait()
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case waited != nil:
		return fmt.Errorf("perf script: %w: %s", waited, s.said.line())
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read perf script: %w", err)
	}
	return io.EOF
}

// head keeps the first of what is written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	const most = 4 << 10
	if room := most - h.Len(); room > 0 {
		h.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// line is the first line that says something.
func (h *head) line() string {
	for line := range strings.Lines(h.String()) {
		if line = strings.TrimSpace(strings.ToValidUTF8(line, "?")); line != "" {
			return line
		}
	}
	return "it said nothing"
}
