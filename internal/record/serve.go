package record

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"culprit/recording"
)

// request is one line from the recorder's owner.
type request struct {
	Do     string  `json:"do"` // "begin", "load", "memory", "left" or "end"
	Target *Target `json:"target,omitempty"`
	Finish *Finish `json:"finish,omitempty"`
}

// answer is one line back; the first says whether the recorder is loaded.
type answer struct {
	Error        string                  `json:"error,omitempty"`
	NotSupported bool                    `json:"not_supported,omitempty"`
	Gone         bool                    `json:"gone,omitempty"`
	NoSpace      bool                    `json:"no_space,omitempty"`
	Probes       []recording.ProbeStatus `json:"probes,omitempty"`
	StartCPUNs   int64                   `json:"start_cpu_ns,omitempty"`
	Summary      *Summary                `json:"summary,omitempty"`
	Load         *load                   `json:"load,omitempty"`
	Live         int64                   `json:"live,omitempty"` // bytes of the heap
	Left         []int                   `json:"left,omitempty"` // processes of the target
}

// maxLine bounds a line of the conversation.
const maxLine = 1 << 20

// lastWords is how long a recorder that has lost its owner may take to unload
// its probes; the kernel does it for one that is ended before.
const lastWords = 500 * time.Millisecond

// lastWrite is how long one may take that is to write down what it saw.
const lastWrite = 10 * time.Second

// Serve is the recorder's own process: it loads the probes as options (a JSON
// text) say, then obeys the lines of in until in ends, which is also how it
// learns that its owner was killed. It then returns soon, whatever it was at:
// the process is to end with it.
func Serve(ctx context.Context, options string, in io.Reader, out io.Writer) error {
	var plan Options
	if err := json.Unmarshal([]byte(options), &plan); err != nil {
		return fmt.Errorf("read the recorder's options: %w", err)
	}
	requests, alone := make(chan request), make(chan struct{})
	served, heard := make(chan error, 1), make(chan error, 1)
	go func() {
		defer close(alone)
		heard <- hear(in, requests)
	}()
	patience := make(chan time.Duration, 1)
	go func() { served <- serve(ctx, plan, requests, out, patience) }()
	select {
	case err := <-served:
		return err
	case <-alone:
	}
	select {
	case err := <-served:
		return errors.Join(<-heard, err)
	case <-time.After(lastWords):
	}
	select {
	case more := <-patience: // it is writing
		select {
		case err := <-served:
			return errors.Join(<-heard, err)
		case <-time.After(more):
		}
	default:
	}
	return <-heard
}

// hear reads requests until the owner's end of the pipe is closed.
func hear(in io.Reader, requests chan<- request) error {
	defer close(requests)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return fmt.Errorf("read a request to the recorder: %w", err)
		}
		requests <- asked
	}
	return lines.Err()
}

// serve asks for patience when it writes down what nobody has asked for: its owner was killed.
func serve(ctx context.Context, plan Options, requests <-chan request, out io.Writer,
	patience chan time.Duration) error {
	replies := json.NewEncoder(out)
	plan.keepToFew(runtime.NumCPU())
	switch {
	case plan.Requests, plan.Forever: // neither a service that runs nor a whole host is to wait for its recorder
		hurry(0)
	default:
		hurry(niceness)
	}
	session, err := Open(ctx, plan)
	if err != nil {
		return replies.Encode(failure(err))
	}
	defer session.Close()
	if err := replies.Encode(answer{Probes: session.statuses, StartCPUNs: session.startCPUNs}); err != nil {
		return err
	}
	for asked := range requests {
		if asked.Do == "end" { // an owner that is killed meanwhile leaves a recording all the same
			patience <- lastWrite
		}
		reply := session.obey(asked)
		select {
		case <-patience: // it was not needed
		default:
		}
		if err := replies.Encode(reply); err != nil {
			return err
		}
	}
	if session.window != nil && session.window.target.Salvage != "" {
		patience <- lastWrite
		return session.salvage()
	}
	return nil
}

// salvage writes the window that nobody ended.
func (s *Session) salvage() error {
	path := s.window.target.Salvage
	rec, err := s.End(Finish{Part: true})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("salvage the recording: %w", err)
	}
	s.hold(path)
	return recording.Write(path, rec)
}

func failure(err error) answer {
	return answer{Error: err.Error(), NotSupported: errors.Is(err, ErrNotSupported),
		Gone: errors.Is(err, ErrGone), NoSpace: errors.Is(err, recording.ErrNoSpace)}
}

func (s *Session) obey(asked request) answer {
	switch {
	case asked.Do == "begin" && asked.Target != nil:
		if err := s.Begin(*asked.Target); err != nil {
			return failure(err)
		}
		return answer{}
	case asked.Do == "end" && asked.Finish != nil:
		summary, err := s.finish(*asked.Finish)
		if err != nil {
			return failure(err)
		}
		return answer{Summary: summary}
	case asked.Do == "load" && s.window != nil:
		return answer{Load: s.window.costs.last()}
	case asked.Do == "left" && s.window != nil:
		left, err := s.left()
		if err != nil {
			return failure(err)
		}
		return answer{Left: left}
	case asked.Do == "memory":
		return answer{Live: liveHeap()}
	}
	return answer{Error: fmt.Sprintf("the recorder does not know %q", asked.Do)}
}

// finish ends the window, writes its recording and says what was in it.
func (s *Session) finish(finish Finish) (*Summary, error) {
	if s.options.Forever {
		defer Shrink()
	}
	if finish.Part {
		s.hold(finish.Path)
		defer s.options.endSmall()()
	}
	rec, err := s.End(finish)
	if err != nil {
		return nil, err
	}
	rec.Manifest.Thinned, rec.Manifest.Cost.Check = finish.Thinned, finish.Check
	rec.Manifest.AddRestarts(finish.Restarts...)
	_, broken, total := brokenByReason(rec)
	summary := &Summary{WindowNs: rec.Manifest.WindowNs, Gaps: rec.Manifest.Gaps, Thinned: finish.Thinned,
		Restarts: finish.Restarts,
		Samples:  int(total), Waits: len(rec.Waits), Broken: int(broken), Losses: rec.Manifest.Losses,
		Cost: rec.Manifest.Cost, Unseen: rec.Manifest.BlindSpots, Throttled: throttledOf(rec)}
	if s.unwinder != nil {
		summary.RunTimes = s.unwinder.Late()
	}
	for _, status := range rec.Manifest.Probes {
		if !status.On {
			summary.Off = append(summary.Off, status)
		}
	}
	if finish.Drop {
		return summary, nil
	}
	return summary, recording.Write(finish.Path, rec)
}
