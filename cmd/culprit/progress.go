package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a line on a terminal for what takes longer than a moment; nothing anywhere else.
type progress struct {
	bar        *progressbar.ProgressBar
	stop       chan struct{}
	expectedMs atomic.Int64
	longer     bool // than was expected at first
}

// newProgress shows how much of an expected time has gone by.
func newProgress(w world, what string, expected time.Duration) *progress {
	p := &progress{stop: make(chan struct{})}
	p.expectedMs.Store(expected.Milliseconds())
	if !isTerminal(w.stderr) || expected < 2*time.Second {
		return p
	}
	p.bar = progressbar.NewOptions64(expected.Milliseconds(), progressbar.OptionSetDescription(what),
		progressbar.OptionSetWriter(w.stderr), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false))
	begin := time.Now()
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				// Drawing may fail on a terminal that went away; the work goes on.
				_ = p.bar.Set64(min(time.Since(begin).Milliseconds(), p.expectedMs.Load()-1))
			}
		}
	}()
	return p
}

// expect changes the expected time, and reports whether that is the first time that it is longer
// than it was.
func (p *progress) expect(expected time.Duration) (first bool) {
	first = !p.longer && expected.Milliseconds() > p.expectedMs.Load()
	p.longer = p.longer || first
	p.expectedMs.Store(expected.Milliseconds())
	if p.bar != nil {
		p.bar.ChangeMax64(expected.Milliseconds())
	}
	return first
}

// describe says what is being done now.
func (p *progress) describe(what string) {
	if p.bar != nil {
		p.bar.Describe(what)
	}
}

// end removes the line.
func (p *progress) end() {
	close(p.stop)
	if p.bar != nil {
		_ = p.bar.Finish() // see above
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// says prints lines of which the progress is not to wait for the end.
func (p *progress) says(w world) func(text string) {
	return func(text string) {
		p.hide()
		fmt.Fprintf(w.stderr, "culprit: %s\n", text)
	}
}

// hide clears the line for a question; the next tick draws it again.
func (p *progress) hide() {
	if p.bar != nil {
		_ = p.bar.Clear() // see newProgress
	}
}
