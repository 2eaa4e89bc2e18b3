package record

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"culprit/internal/host"
	"culprit/recording"
)

// Verb is the hidden word of the command line under which culprit runs as a recorder.
const Verb = "recorder"

// patience is how long the recorder may take to answer: loading on a busy small
// machine takes seconds, writing a long recording too.
const patience = 2 * time.Minute

// Recorder is the owner's end of a recorder process. It is safe for one goroutine at a time.
type Recorder struct {
	command *exec.Cmd
	in      io.WriteCloser
	answers chan answer
	stderr  *tail
	closed  sync.Once
	gone    chan struct{} // closed when the process has ended and was waited for
	failed  error

	// Probes says which probes run and why others do not.
	Probes []recording.ProbeStatus
	// StartCPU is what loading took.
	StartCPU time.Duration
}

// Start runs this program's own file as a recorder and waits until its probes are loaded.
func Start(ctx context.Context, options Options) (*Recorder, error) {
	options, err := options.Normal()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("write the recorder's options: %w", err)
	}
	r := &Recorder{command: exec.Command("/proc/self/exe", Verb, string(text)), answers: make(chan answer),
		stderr: &tail{}, gone: make(chan struct{})}
	r.command.Stderr = r.stderr
	// Its own session: an interrupt from the terminal must not end it before its owner has, and
	// where the scheduler shares the CPUs out by session it is preferred to more than its owner and
	// the target (see hurry).
	r.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if r.in, err = r.command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start recorder: %w", err)
	}
	out, err := r.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start recorder: %w", err)
	}
	if err := options.start(r.command); err != nil {
		return nil, fmt.Errorf("start recorder: %w", err)
	}
	go r.listen(out)
	ready, err := r.await(ctx)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("start recorder: %w", err)
	}
	r.Probes, r.StartCPU = ready.Probes, time.Duration(ready.StartCPUNs)
	return r, nil
}

// Pid of the recorder's process: its CPU time is not the target's, nor a stranger's.
func (r *Recorder) Pid() int { return r.command.Process.Pid }

// Gone is closed when the recorder's process has ended.
func (r *Recorder) Gone() <-chan struct{} { return r.gone }

// Begin opens a window on a target; the target should be held until it returns.
func (r *Recorder) Begin(ctx context.Context, target Target) error {
	_, err := r.ask(ctx, request{Do: "begin", Target: &target})
	return err
}

// End closes the window and writes its recording.
func (r *Recorder) End(ctx context.Context, finish Finish) (*Summary, error) {
	reply, err := r.ask(ctx, request{Do: "end", Finish: &finish})
	if err != nil {
		return nil, err
	}
	if reply.Summary == nil {
		return nil, fmt.Errorf("record: the recorder gave no summary")
	}
	return reply.Summary, nil
}

// load asks what recording took in the last second; nil when that is not known.
func (r *Recorder) load(ctx context.Context) (*load, error) {
	reply, err := r.ask(ctx, request{Do: "load"})
	return reply.Load, err
}

// live asks how much of the recorder's heap its last collection found alive, in bytes.
func (r *Recorder) live(ctx context.Context) (int64, error) {
	reply, err := r.ask(ctx, request{Do: "memory"})
	return reply.Live, err
}

// Close ends the recorder; everything is detached when it returns.
func (r *Recorder) Close() {
	r.closed.Do(func() {
		r.in.Close()
		go func() {
			for range r.answers { // let listen see the end of the pipe
			}
		}()
		select {
		case <-r.gone:
		case <-time.After(10 * time.Second):
			_ = r.command.Process.Kill() // it may have ended just now
			<-r.gone
		}
	})
}

func (r *Recorder) ask(ctx context.Context, asked request) (answer, error) {
	if r.failed != nil {
		return answer{}, r.failed
	}
	line, err := json.Marshal(asked)
	if err != nil {
		return answer{}, fmt.Errorf("ask the recorder: %w", err)
	}
	if _, err := r.in.Write(append(line, '\n')); err != nil {
		r.failed = r.ended()
		return answer{}, r.failed
	}
	return r.await(ctx)
}

// recorderError is an error that the recorder's process told of: its words, and which one it wraps.
type recorderError struct {
	text  string
	wraps error
}

func (e *recorderError) Error() string { return e.text }

func (e *recorderError) Unwrap() error { return e.wraps }

// failure is the error that an answer tells of.
func (a answer) failure() error {
	switch {
	case a.Error == "":
		return nil
	case a.NotSupported:
		return &recorderError{a.Error, ErrNotSupported}
	case a.Gone:
		return &recorderError{a.Error, ErrGone}
	case a.NoSpace:
		return &recorderError{a.Error, recording.ErrNoSpace}
	}
	return errors.New(a.Error)
}

func (r *Recorder) await(ctx context.Context) (answer, error) {
	select {
	case reply, ok := <-r.answers:
		if !ok {
			r.failed = r.ended()
			return answer{}, r.failed
		}
		if err := reply.failure(); err != nil {
			return answer{}, err
		}
		return reply, nil
	case <-ctx.Done():
		if r.failed = ctx.Err(); errors.Is(r.failed, context.DeadlineExceeded) {
			r.failed = whyLate(r.failed)
		}
	case <-time.After(patience):
		r.failed = whyLate(fmt.Errorf("the recorder did not answer within %v", patience))
	}
	return answer{}, r.failed
}

// whyLate adds what is known to hold up a recorder.
func whyLate(late error) error {
	thread := host.StarvedKernelThread()
	if thread == "" {
		return late
	}
	return fmt.Errorf("%w: the kernel's thread %s has no turn on a CPU, and until it has one no BPF program can be "+
		"attached or detached; leave a CPU idle now and then", late, thread)
}

// ended explains a recorder that is gone, with how it ended and its last words.
func (r *Recorder) ended() error {
	select {
	case <-r.gone:
	case <-time.After(time.Second): // it has closed its pipes and still runs
		return errClosed
	}
	err := errClosed
	if state := r.command.ProcessState; state != nil && !state.Success() {
		err = fmt.Errorf("%w: %v", err, state)
	}
	if words := r.stderr.last(); words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	return err
}

func (r *Recorder) listen(out io.Reader) {
	defer close(r.answers)
	defer close(r.gone)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var reply answer
		if err := json.Unmarshal(lines.Bytes(), &reply); err != nil {
			reply = answer{Error: fmt.Sprintf("the recorder answered nonsense: %v", err)}
		}
		r.answers <- reply
	}
	if lines.Err() != nil {
		_ = r.command.Process.Kill() // a line beyond the limit: it cannot be understood any more
	}
	_ = r.command.Wait() // ended looks at its state
}
