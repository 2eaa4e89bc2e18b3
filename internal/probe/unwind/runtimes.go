package unwind

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"go.opentelemetry.io/ebpf-profiler/interpreter/interpreterconfig"
	"go.opentelemetry.io/ebpf-profiler/support"
	"go.opentelemetry.io/ebpf-profiler/tracer"
)

// runTime is a language's run time whose stacks need a program of their own. Its program is loaded
// when the first process that maps one of its files comes by, also within a window.
type runTime struct {
	name     string
	files    []string          // how the base names of its executable and libraries begin
	programs map[string]uint32 // of the library's object, and their places among its tail calls
	enable   func(config *interpreterconfig.Config, all interpreterconfig.Config)
	ownCode  bool // the library walks the code that it makes
}

// runTimes are those that culprit reads. To add one: a row here, its kind of frames in name.go, a
// truth test.
var runTimes = []runTime{
	{"Python", []string{"python", "libpython"}, map[string]uint32{"unwind_python": support.ProgUnwindPython},
		func(c *interpreterconfig.Config, all interpreterconfig.Config) { c.Python = all.Python }, false},
	{"Java", []string{"libjvm.so", "java"}, map[string]uint32{"unwind_hotspot": support.ProgUnwindHotspot},
		func(c *interpreterconfig.Config, all interpreterconfig.Config) { c.Hotspot = all.Hotspot }, true},
	{"Node", []string{"node", "libnode"}, map[string]uint32{"unwind_v8": support.ProgUnwindV8},
		func(c *interpreterconfig.Config, all interpreterconfig.Config) { c.V8 = all.V8 }, true},
	{"Ruby", []string{"ruby", "libruby"}, map[string]uint32{"unwind_ruby": support.ProgUnwindRuby},
		func(c *interpreterconfig.Config, all interpreterconfig.Config) {
			c.Ruby = all.Ruby
			// Else it looks for native frames behind each C function, and takes one that another C
			// function called straight (map on a range calls each) for the next rb_vm_exec: the
			// Ruby functions between are lost.
			c.Ruby.SkipNativeResume = true
		}, false},
	{"PHP", []string{"php", "libphp"}, map[string]uint32{"unwind_php": support.ProgUnwindPHP},
		func(c *interpreterconfig.Config, all interpreterconfig.Config) { c.PHP = all.PHP }, true},
	{"Perl", []string{"perl", "libperl"}, map[string]uint32{"unwind_perl": support.ProgUnwindPerl},
		func(c *interpreterconfig.Config, all interpreterconfig.Config) { c.Perl = all.Perl }, false},
}

// RunTimeOf names the run time that a file belongs to, an executable or a library, by its path; ""
// when to none.
func RunTimeOf(path string) string {
	if known := runTimeOf(path); known >= 0 {
		return runTimes[known].name
	}
	return ""
}

// runTimeOf tells by the name of a mapped file; -1 when it belongs to none.
func runTimeOf(path string) int {
	base := filepath.Base(path)
	return slices.IndexFunc(runTimes, func(known runTime) bool {
		return slices.ContainsFunc(known.files, func(start string) bool { return strings.HasPrefix(base, start) })
	})
}

// makesOwnCode tells whether a mapped file is that of a run time whose code the library walks
// itself.
func makesOwnCode(path string) bool {
	known := runTimeOf(path)
	return known >= 0 && runTimes[known].ownCode
}

// interpreters is what the library's own side of the process is to know. Labels of goroutines are
// not used.
func interpreters() interpreterconfig.Config {
	config, all := interpreterconfig.NoInterpreters(), interpreterconfig.AllInterpreters()
	config.Go = all.Go
	config.Go.Labels.Disabled = true
	for _, known := range runTimes {
		known.enable(&config, all)
	}
	return config
}

// loader loads the programs of run times as they are needed.
type loader struct {
	maps     map[string]*ebpf.Map // the library's
	oneDelta bool                 // stack deltas are in the first of its maps of them

	loading sync.Mutex     // held while programs are loaded
	coming  sync.WaitGroup // run times that were seen and are not loaded yet
	loaded  []*ebpf.Program
	closed  bool

	mu     sync.Mutex
	asked  map[int]bool
	late   []string // names of those that came by since the last reset
	failed []string
}

// newLoader has the run times' places lead to the end of a stack, until their programs are there.
func newLoader(t *tracer.Tracer, oneDelta bool) (*loader, error) {
	maps, err := fieldOf[map[string]*ebpf.Map](t, "ebpfMaps")
	if err != nil {
		return nil, err
	}
	programs, err := fieldOf[map[string]*ebpf.Program](t, "ebpfProgs")
	if err != nil {
		return nil, err
	}
	stop := programs["perf_unwind_stop"]
	if maps["perf_progs"] == nil || stop == nil {
		return nil, errors.New("the unwinder library has no tail calls")
	}
	for _, known := range runTimes {
		for _, place := range known.programs {
			if err := maps["perf_progs"].Update(place, stop, ebpf.UpdateAny); err != nil {
				return nil, fmt.Errorf("prepare %s: %w", known.name, err)
			}
		}
	}
	return &loader{maps: maps, oneDelta: oneDelta, asked: map[int]bool{}}, nil
}

// saw is told of each mapped file; it does not wait.
func (l *loader) saw(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := runTimeOf(path)
	if found < 0 || l.asked[found] {
		return
	}
	l.asked[found] = true
	l.late = append(l.late, runTimes[found].name)
	l.coming.Go(func() { l.fetch(found) })
}

// first loads a run time before any process is seen.
func (l *loader) first(index int) {
	l.asked[index] = true
	l.fetch(index)
}

// fetch loads the programs of a run time, one after the other run times.
func (l *loader) fetch(index int) {
	l.loading.Lock()
	defer l.loading.Unlock()
	if l.closed {
		return
	}
	loaded, err := l.load(runTimes[index])
	l.loaded = append(l.loaded, loaded...)
	if err != nil {
		l.mu.Lock()
		l.failed = append(l.failed, err.Error())
		l.mu.Unlock()
	}
}

// load puts the programs of a run time where the library's others call them.
func (l *loader) load(wanted runTime) (loaded []*ebpf.Program, err error) {
	spec, err := collection(l.oneDelta)
	if err != nil {
		return nil, fmt.Errorf("load the unwinder of %s: %w", wanted.name, err)
	}
	for name, place := range wanted.programs {
		program, err := l.loadProgram(spec.Programs["perf_"+name])
		if err != nil {
			return loaded, fmt.Errorf("load the unwinder of %s: %w", wanted.name, err)
		}
		loaded = append(loaded, program)
		if err := l.maps["perf_progs"].Update(place, program, ebpf.UpdateAny); err != nil {
			return loaded, fmt.Errorf("enter the unwinder of %s: %w", wanted.name, err)
		}
	}
	return loaded, nil
}

func (l *loader) loadProgram(spec *ebpf.ProgramSpec) (*ebpf.Program, error) {
	if spec == nil {
		return nil, errors.New("the library has no such program")
	}
	for name, used := range l.maps {
		err := spec.Instructions.AssociateMap(name, used)
		if err != nil && !errors.Is(err, asm.ErrUnreferencedSymbol) {
			return nil, fmt.Errorf("connect map %s: %w", name, err)
		}
	}
	return ebpf.NewProgram(spec)
}

// reset forgets what came late, once what is being loaded is there.
func (l *loader) reset() {
	l.loading.Lock()
	defer l.loading.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = nil
}

// close waits for what is being loaded and unloads all.
func (l *loader) close() {
	l.loading.Lock()
	defer l.loading.Unlock()
	l.closed = true
	for _, program := range l.loaded {
		program.Close()
	}
	l.loaded = nil
}

// Late names the run times whose first process came by since the last Reset: until their programs
// were loaded stacks ended where their frames begin. Errors of loading are told in place of the
// name.
func (u *Unwinder) Late() []string {
	u.loader.mu.Lock()
	defer u.loader.mu.Unlock()
	return append(slices.Clone(u.loader.late), u.loader.failed...)
}

// loadFirst loads what is expected to be needed.
func (u *Unwinder) loadFirst(options Options) {
	for index, known := range runTimes {
		if slices.Contains(options.RunTimes, known.name) {
			u.loader.first(index)
		}
	}
}
