package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// margins of a recording: until it has begun, and until what was asked last is written down.
const (
	loading  = 4 * time.Second
	settling = 300 * time.Millisecond
)

func programFiles() fs.FS {
	files, err := fs.Sub(programs, "programs")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return files
}

// seen is what culprit says of a kind of requests.
type seen struct {
	Service  string `json:"service"`
	Protocol string `json:"protocol"`
	Kind     string `json:"kind"`
	Count    int64  `json:"count"`
	Latency  struct {
		P50  float64 `json:"p50"`
		P99  float64 `json:"p99"`
		P999 float64 `json:"p99.9"`
	} `json:"latency"`
}

// agreement prints, for each server, what culprit and the clients saw.
func (o options) agreement(out io.Writer, folder string) error {
	fmt.Fprintf(out, "Times are in µs. Clients: between the end and the begin of the call that sent a request, to when "+
		"the kernel got the answer.\n\n")
	fmt.Fprintf(out, "| server | requests | seen | p50 clients | seen | p99 clients | seen | p99.9 clients | seen "+
		"| as |\n")
	fmt.Fprintf(out, "|---|---|---|---|---|---|---|---|---|---|\n")
	var failed []error
	for _, s := range servers() {
		if !o.only.MatchString(s.name) {
			continue
		}
		err := o.agreeOn(out, s, folder)
		if errors.Is(err, errNotInstalled) {
			fmt.Fprintf(out, "| %s | left out: %v |\n", s.name, err)
		} else if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return errors.Join(failed...)
}

func (o options) agreeOn(out io.Writer, s *server, folder string) error {
	if err := s.begin(folder); err != nil {
		return err
	}
	defer s.end()
	truth, of, err := o.recorded(s, filepath.Join(folder, "requests.culprit"))
	if err != nil {
		return err
	}
	all := int64(0)
	best := seen{}
	var names []string
	for _, kind := range of {
		if s.kind == "" || kind.Kind == s.kind {
			all += kind.Count
			if kind.Count > best.Count {
				best = kind
			}
		}
		names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s %s", kind.Count, kind.Protocol, kind.Kind)))
	}
	fmt.Fprintf(out, "| %s | %d | %d |", s.name, len(truth.most), all)
	for _, q := range []struct {
		at   float64
		seen float64
	}{{0.5, best.Latency.P50}, {0.99, best.Latency.P99}, {0.999, best.Latency.P999}} {
		at := int(q.at * float64(len(truth.most)-1))
		fmt.Fprintf(out, " %.0f–%.0f | %.0f |", float64(truth.least[at])/1e3, float64(truth.most[at])/1e3, q.seen*1e6)
	}
	fmt.Fprintf(out, " %s |\n", strings.Join(names, "; "))
	return nil
}

// recorded asks a server while culprit records it.
func (o options) recorded(s *server, path string) (*took, []seen, error) {
	gate, opened, done := make(chan struct{}), &sync.WaitGroup{}, make(chan struct{})
	opened.Add(o.connections)
	var truth *took
	var failed error
	go func() {
		defer close(done)
		truth, failed = o.askAll(s, gate, opened)
	}()
	opened.Wait()
	record := exec.Command(o.culprit, "record", "--requests", "-f", "-d", "2m", "-o", path, "-p",
		strconv.Itoa(s.command.Process.Pid))
	var said bytes.Buffer
	record.Stdout, record.Stderr = &said, &said
	if err := record.Start(); err != nil {
		return nil, nil, fmt.Errorf("start culprit: %w", err)
	}
	time.Sleep(loading)
	close(gate)
	<-done
	time.Sleep(settling)
	if err := errors.Join(failed, record.Process.Signal(os.Interrupt), record.Wait()); err != nil {
		return nil, nil, fmt.Errorf("%w: %s", err, said.Bytes())
	}
	text, err := exec.Command(o.culprit, "tail", path, "--json", "-").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("culprit tail: %w", err)
	}
	var answer struct {
		Requests []seen `json:"requests"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, nil, fmt.Errorf("read culprit tail: %w: %s", err, text)
	}
	return truth, answer.Requests, nil
}
