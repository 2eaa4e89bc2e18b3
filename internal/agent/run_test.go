package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"culprit/internal/agent/spool"
	"culprit/internal/fleet/window"
	"culprit/internal/record"
	"culprit/recording"
)

// fake is a recorder without a kernel. Its windows are of one process.
type fake struct {
	mutex   sync.Mutex
	gone    chan struct{}
	began   time.Time
	targets []record.Target
	thinned []recording.Thinning
	fail    func(window int) error // of End
	windows int
	closed  bool
}

func newFake() *fake { return &fake{gone: make(chan struct{})} }

func (f *fake) Begin(_ context.Context, target record.Target) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.began, f.targets = time.Now(), append(f.targets, target)
	return nil
}

func (f *fake) End(_ context.Context, finish record.Finish) (*record.Summary, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	select {
	case <-f.gone:
		return nil, errors.New("the recorder has ended: signal: killed")
	default:
	}
	f.windows++
	if f.fail != nil {
		if err := f.fail(f.windows); err != nil {
			return nil, err
		}
	}
	f.thinned = append(f.thinned, finish.Thinned...)
	length := time.Since(f.began).Nanoseconds()
	rec := &recording.Recording{Manifest: recording.Manifest{Host: "h", StartedAt: f.began, WindowNs: length}}
	rec.Processes = []recording.Process{{Pid: 7, Comm: "web", Command: "/srv/web", CPUNs: 1e6}}
	rec.Requests = []recording.Request{{Pid: 7, Side: recording.SideServer, Count: 40, TotalNs: 8e6},
		{Pid: 7, Side: recording.SideClient, Count: 9, TotalNs: 1e6}}
	return &record.Summary{WindowNs: length}, recording.Write(finish.Path, rec)
}

func (f *fake) Pid() int              { return 0 }
func (f *fake) Gone() <-chan struct{} { return f.gone }
func (f *fake) Close() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.closed = true
}

// lines is what an agent has told, and may tell yet.
type lines struct {
	mutex sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.Buffer.Write(text)
}

func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.Buffer.String()
}

// running is an agent of a test.
type running struct {
	folder string
	log    *lines
	end    context.CancelFunc
	ended  chan error
}

// run starts an agent with windows of a fifth of a second.
func run(t *testing.T, options Options) *running {
	t.Helper()
	r := &running{folder: options.Folder, log: &lines{}, ended: make(chan error, 1)}
	if r.folder == "" {
		r.folder = t.TempDir()
	}
	options.Folder, options.Log, options.Program = r.folder, r.log, "culprit test"
	if options.Keep == 0 {
		options.Keep = 64 << 20
	}
	if options.Every == 0 {
		options.Every = 200 * time.Millisecond
	}
	options.Host, options.firstPause = "web-1", 100*time.Millisecond
	var ctx context.Context
	ctx, r.end = context.WithCancel(t.Context())
	go func() { r.ended <- Run(ctx, options) }()
	t.Cleanup(r.end)
	return r
}

// stop ends it as a signal does.
func (r *running) stop(t *testing.T) {
	t.Helper()
	r.end()
	select {
	case err := <-r.ended:
		if err != nil {
			t.Fatalf("the agent ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the agent does not end")
	}
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("waited in vain for %s", what)
}

// windows are the manifests that lie in a folder.
func (r *running) windows(t *testing.T) (manifests []*window.Window) {
	t.Helper()
	entries, err := spool.List(r.folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		manifest, err := spool.ManifestOf(r.folder, entry)
		if err == nil {
			manifests = append(manifests, manifest)
		} else if !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
	return manifests
}

func with(recorders ...*fake) starter {
	next := 0
	return func(context.Context, record.Options) (recorder, error) {
		if next >= len(recorders) {
			return nil, errors.New("no memory for a recorder")
		}
		next++
		return recorders[next-1], nil
	}
}

func TestRunWritesWindows(t *testing.T) {
	t.Parallel()
	r := run(t, Options{start: with(newFake()), Labels: map[string]string{"zone": "eu-1"}, Cost: 0.5})
	await(t, "two windows", func() bool { return len(r.windows(t)) >= 2 })
	r.stop(t)
	all := r.windows(t)
	for i, w := range all {
		if w.Sequence != int64(i+1) || w.Host != "web-1" || w.Labels["zone"] != "eu-1" || w.Kind != window.Light ||
			len(w.Services) != 1 || w.Services[0].Name != "web" || *w.Services[0].Requests != 40 ||
			*w.Services[0].LatencyNs != 8e6 || w.Cost.CPUNs <= 0 || w.Cost.MemoryBytes <= 0 || w.Cost.BudgetShare != 0.5 {
			t.Errorf("window %+v", w)
		}
		if i > 0 && (w.Start.Before(all[i-1].End) || w.Start.Sub(all[i-1].End) > 2*time.Second) { // of a busy host
			t.Errorf("window %d begins at %v, the one before ended at %v", i, w.Start, all[i-1].End)
		}
	}
	status, err := ReadStatus(r.folder)
	if err != nil || status.Running || status.Windows != len(all) || status.Services[0] != "web" ||
		status.Cost.Share <= 0 {
		t.Errorf("status %+v, %v", status, err)
	}
}

// A recorder that is killed costs the window that is open, and is started again.
func TestRecorderIsKilled(t *testing.T) {
	t.Parallel()
	first, second := newFake(), newFake()
	r := run(t, Options{start: with(first, second)})
	await(t, "a window", func() bool { return len(r.windows(t)) >= 1 })
	close(first.gone)
	before := len(r.windows(t))
	await(t, "a window of the second recorder", func() bool { return len(r.windows(t)) > before+1 })
	r.stop(t)
	status, err := ReadStatus(r.folder)
	// One that ends between two windows costs none.
	if err != nil || status.Deaths != 1 || !first.closed || status.Dropped > 1 ||
		!strings.Contains(r.log.String(), "the recorder ended by itself") {
		t.Errorf("status %+v, %v, log %q", status, err, r.log.String())
	}
}

// A disk that is full for a while costs the windows of that time, which are counted and told of.
func TestDiskIsFull(t *testing.T) {
	t.Parallel()
	recorder := newFake()
	recorder.fail = func(number int) error {
		if number == 2 || number == 3 {
			return fmt.Errorf("write recording x: %w in /y", recording.ErrNoSpace)
		}
		return nil
	}
	r := run(t, Options{start: with(recorder)})
	await(t, "windows again", func() bool { return len(r.windows(t)) >= 3 })
	r.stop(t)
	all := r.windows(t)
	if all[1].Sequence != 4 || all[1].Dropped != 2 || all[2].Dropped != 0 {
		t.Errorf("windows %+v", all)
	}
	if log := r.log.String(); strings.Count(log, "no space left") != 1 || !strings.Contains(log, "written again") {
		t.Errorf("log %q", log)
	}
}

// What the budget does not afford is left out, counted, and told of by the next window.
func TestBudgetLeavesWindowsOut(t *testing.T) {
	a := &Agent{budget: newBudget(0.005, 2), log: newLog(nil), options: Options{Every: time.Second}}
	a.budget.purse = -1
	if wait := a.ready(t.Context()); wait <= 0 || wait > 2*time.Second || a.skipped != 1 || a.untold != 1 {
		t.Errorf("wait %v, skipped %d", wait, a.skipped)
	}
}

// An agent of another user's folder, or that has no recorder, says so at once.
func TestRunRefuses(t *testing.T) {
	options := Options{Folder: t.TempDir(), Keep: 1 << 30, Every: time.Minute, Host: "h", start: with()}
	if err := Run(t.Context(), options); err == nil || !strings.Contains(err.Error(), "no memory for a recorder") {
		t.Errorf("without a recorder: %v", err)
	}
	for _, test := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Every = time.Millisecond }, "--every"},
		{func(o *Options) { o.Full = time.Second }, "--full-for"},
		{func(o *Options) { o.Full, o.FullFor = time.Second, time.Second }, "--full-for"},
		{func(o *Options) { o.FullFor = time.Hour }, "--full-for"},
		{func(o *Options) { o.Keep = 5 }, "--keep"},
		{func(o *Options) { o.Hub = "https://hub" }, "--token-file"},
		{func(o *Options) { o.Hub, o.TokenFile = "http://hub", "x" }, "in the clear"},
		{func(o *Options) { o.Hub, o.TokenFile = "hub:8430", "x" }, "--hub"},
		{func(o *Options) { o.TokenFile = "x" }, "--hub"},
		{func(o *Options) { o.LabelFile = "/no/such/file" }, "labels"},
		{func(o *Options) { o.Hub, o.TokenFile = "https://hub", "/no/such/file" }, "token"},
	} {
		changed := options
		test.change(&changed)
		if err := Run(t.Context(), changed); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q is wanted in %v", test.want, err)
		}
	}
}
