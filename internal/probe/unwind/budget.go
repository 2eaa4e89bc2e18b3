package unwind

import (
	"cmp"
	"runtime"
	"slices"
	"time"
	"unique"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"golang.org/x/sys/unix"
)

// What naming may cost in one window. A host that builds and tests maps hundreds of programs that
// are always new: decoding the DWARF or the Go table of each took tens of seconds at the end of a
// part (seen: 935 of 2,792 s recorded, the rest gaps) and hundreds of megabytes. So the files with
// most stacks are decoded first, one after the other; what is left over keeps its names out of the
// symbol table and is told among the losses.

// budget bounds the decoding of one window.
type budget struct {
	bytes int64         // of DWARF and Go tables, decoded
	cpu   time.Duration // of the thread that decodes: a busy host takes no lines away
	held  int64         // bytes decoded that may stay in memory when the next file's turn comes
}

// small is for the whole host, where most programs are not what the recording is about, and for a
// part of a long recording, during whose naming nothing is recorded.
var small = budget{bytes: 192 << 20, cpu: 2 * time.Second, held: 1 << 20}

func budgetOf(wholeHost bool) budget {
	if wholeHost {
		return small
	}
	return budget{bytes: 1 << 30, cpu: 20 * time.Second, held: 128 << 20}
}

// Left is what a window's naming went without.
type Left struct {
	Files  int64 // whose DWARF or Go table was not decoded, or not to its end
	Frames int64 // their frames without line and inlined functions, and calls between which one may be missing
}

// wanted are the questions that a window has for one file.
type wanted struct {
	module *module
	path   string
	stacks int // that go through the file, as often as they were taken
	frames map[unique.Handle[libpf.Frame]]bool
	calls  map[uint64]bool // return addresses in a Go program
}

func (w *wanted) questions() int64 { return int64(len(w.frames) + len(w.calls)) }

// Prepare decodes what the frames of traces need, within the budget, and names them; part: that of
// a part of a long recording. It is called once in a window, by the one that then calls Frames.
func (u *Unwinder) Prepare(traces []Trace, part bool) Left {
	limits := u.budget
	if part {
		limits = small
	}
	runtime.LockOSThread() // its CPU time is what counts
	defer runtime.UnlockOSThread()
	var left Left
	files := u.wantedFiles(traces)
	spent, held, until := int64(0), int64(0), ThreadCPU()+limits.cpu
	for _, file := range files {
		decodes := file.module.decodes()
		if spent+decodes > limits.bytes || ThreadCPU() >= until {
			file.module.spent = true
		} else {
			spent += decodes
			held += decodes
		}
		left.add(file.questions(), u.ask(file, until))
		if held > limits.held {
			file.module.forgetDecoded()
			held -= decodes
		}
	}
	if part {
		u.nameByFile(traces)
	}
	return left
}

// nameByFile names what is left, file by file, and lets go of each file's large symbol table before
// the next: those of all that a host builds with took as much memory together as the part itself.
func (u *Unwinder) nameByFile(traces []Trace) {
	files, seen := map[*module]map[unique.Handle[libpf.Frame]]bool{}, map[int]bool{}
	for _, trace := range traces {
		kept, known := u.kept(trace.Stack)
		if !known || seen[trace.Stack] {
			continue
		}
		seen[trace.Stack] = true
		for _, handle := range kept.frames {
			if frame := handle.Value(); frame.Type == libpf.NativeFrame && frame.Mapping.Valid() {
				of := u.moduleOf(fileOf(frame).FileID)
				if files[of] == nil {
					files[of] = map[unique.Handle[libpf.Frame]]bool{}
				}
				files[of][handle] = true
			}
		}
	}
	for of, frames := range files {
		for handle := range frames {
			u.named(handle)
		}
		of.forgetLargeTable()
	}
}

// add counts a file's questions, of which so many were answered.
func (l *Left) add(questions, answered int64) {
	if answered < questions {
		l.Files++
		l.Frames += questions - answered
	}
}

// ask names a file's frames and calls, until so much CPU time is spent, and counts them. A file
// over the budget answers only what is known already.
func (u *Unwinder) ask(file *wanted, until time.Duration) (answered int64) {
	over := func() bool {
		file.module.spent = file.module.spent || ThreadCPU() >= until
		return file.module.spent
	}
	for address := range file.calls {
		if !over() || file.module.golang.knows(address) {
			file.module.golang.skipped("", address)
			answered++
		}
	}
	for frame := range file.frames {
		if over() {
			break
		}
		u.named(frame)
		answered++
	}
	return answered
}

// wantedFiles lists the files that have something to decode, those of most stacks first.
func (u *Unwinder) wantedFiles(traces []Trace) []*wanted {
	taken := map[int]int{}
	for _, trace := range traces {
		taken[trace.Stack]++
	}
	files := map[*module]*wanted{}
	for stack, times := range taken {
		kept, _ := u.kept(stack) // one that did not fit has no frames
		frames := kept.frames
		seen := map[*wanted]bool{}
		if _, caller, code := u.leafCall(frames); code != nil {
			file := wantedOf(files, u.moduleOf(fileOf(caller).FileID), caller)
			file.calls[returnAddressOf(caller)] = true
			seen[file] = true
		}
		for _, handle := range frames {
			frame := handle.Value()
			if frame.Type != libpf.NativeFrame || !frame.Mapping.Valid() || frame.SourceLine != 0 || u.names.has(handle) {
				continue
			}
			known := u.moduleOf(fileOf(frame).FileID)
			if known.lines != nil && !known.places.has(uint64(frame.AddressOrLineno)) {
				file := wantedOf(files, known, frame)
				file.frames[handle] = true
				seen[file] = true
			}
		}
		for file := range seen {
			file.stacks += times
		}
	}
	return byStacks(files)
}

func wantedOf(files map[*module]*wanted, known *module, frame libpf.Frame) *wanted {
	file := files[known]
	if file == nil {
		file = &wanted{module: known, path: fileOf(frame).FileName.String(),
			frames: map[unique.Handle[libpf.Frame]]bool{}, calls: map[uint64]bool{}}
		files[known] = file
	}
	return file
}

func byStacks(files map[*module]*wanted) []*wanted {
	ordered := make([]*wanted, 0, len(files))
	for _, file := range files {
		ordered = append(ordered, file)
	}
	slices.SortFunc(ordered, func(a, b *wanted) int {
		return cmp.Or(cmp.Compare(b.stacks, a.stacks), cmp.Compare(a.path, b.path))
	})
	return ordered
}

// ThreadCPU is the CPU time of the calling thread.
func ThreadCPU() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
