package unwind

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.opentelemetry.io/ebpf-profiler/libpf"
	"go.opentelemetry.io/ebpf-profiler/process"
	"go.opentelemetry.io/ebpf-profiler/reporter"
	"golang.org/x/sys/unix"

	"culprit/internal/symbol"
	"culprit/recording"
)

// broken reports whether unwinding stopped before the root.
func broken(frames libpf.Frames) bool {
	for _, frame := range frames {
		if frame.Value().Type.IsError() {
			return true
		}
	}
	return len(frames) == 0
}

// kept gives a stack as it came.
func (u *Unwinder) kept(stack int) (kept keptStack, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if stack < 0 || stack >= len(u.stacks) {
		return keptStack{}, false
	}
	return u.stacks[stack], true
}

// Frames returns the named frames of a stack, root first: user frames, then kernel frames. nil for
// an unknown stack. Slices and frames are shared, for probes ask for the same stacks again and
// again, and stacks have most frames in common: they are not to be changed. It is not for
// concurrent use.
func (u *Unwinder) Frames(stack int) (user, kernel []*recording.Frame) {
	if whole, ok := u.whole[stack]; ok {
		return whole.user, whole.kernel
	}
	kept, known := u.kept(stack)
	if !known {
		return nil, nil
	}
	user, kernel = u.nameStack(kept)
	user, kernel = slices.Clip(user), slices.Clip(kernel)
	if u.whole == nil || len(u.whole) >= maxWhole {
		u.whole = map[int]namedStack{}
	}
	u.whole[stack] = namedStack{user, kernel}
	return user, kernel
}

// namedStack is a stack as Frames returns it, root first.
type namedStack struct{ user, kernel []*recording.Frame }

// maxWhole bounds the stacks whose named frames are kept, at some 300 bytes each.
const maxWhole = 2048

// Release lets go of a window's stacks once all that Frames is asked for was asked: a recording is
// about to be written.
func (u *Unwinder) Release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forgetStacks()
}

// forgetStacks is called with the lock held.
func (u *Unwinder) forgetStacks() {
	u.stacks, u.byHash, u.whole = nil, map[uint64]int{}, nil
}

func (u *Unwinder) nameStack(kept keptStack) (user, kernel []*recording.Frame) {
	frames := kept.frames
	u.made.finish(kept.pid, frames)
	if len(frames) == 0 {
		empty := recording.BrokenStack("empty")
		return []*recording.Frame{&empty}, nil
	}
	frames = u.wholeFromEntry(frames)
	missing, before := u.skippedCaller(frames)
	user = make([]*recording.Frame, 0, len(frames)+1)
	for i := len(frames) - 1; i >= 0; i-- {
		if i == before-1 {
			skipped := u.name(missing)
			user = append(user, &skipped)
		}
		named := u.named(frames[i])
		if named[0].Kind == recording.KindKernel {
			kernel = append(kernel, named...)
		} else {
			user = append(user, named...)
		}
	}
	return user, kernel
}

var kinds = map[libpf.FrameType]recording.FrameKind{
	libpf.KernelFrame:  recording.KindKernel,
	libpf.NativeFrame:  recording.KindNative,
	libpf.HotSpotFrame: recording.KindJVM,
	libpf.GoFrame:      recording.KindGo,
	libpf.PythonFrame:  recording.KindPython,
	libpf.V8Frame:      recording.KindNode,
	libpf.RubyFrame:    recording.KindRuby,
	libpf.PHPFrame:     recording.KindPHP,
	libpf.PHPJITFrame:  recording.KindPHP,
}

func (u *Unwinder) name(frame libpf.Frame) recording.Frame {
	named := recording.Frame{Name: frame.FunctionName.String(), Kind: kinds[frame.Type],
		File: frame.SourceFile.String(), Line: int32(frame.SourceLine)}
	if named.Kind == "" {
		named.Kind = recording.KindOther
	}
	if frame.Type.IsError() {
		return recording.BrokenStack(reason(frame))
	}
	if frame.Mapping.Valid() {
		u.nameByModule(frame, &named)
	} else if frame.Type == libpf.NativeFrame && named.Name != "" {
		named.Module = madeModule
	}
	if named.Name == "" {
		named.Name = fmt.Sprintf("[%s]+%#x", named.Kind, uint64(frame.AddressOrLineno))
	}
	if named.Kind == recording.KindGo {
		named.Name = symbol.GoFunction(named.Name)
	} else {
		named.Name = symbol.Demangle(named.Name)
	}
	return named
}

// nameByModule gives a native frame the name its ELF file has for the address.
func (u *Unwinder) nameByModule(frame libpf.Frame, named *recording.Frame) {
	file := frame.Mapping.Value().File.Value()
	named.Module = file.FileName.String()
	named.BuildID = file.GnuBuildID
	if named.BuildID == "" {
		named.BuildID = file.GoBuildID
	}
	module := u.moduleOf(file.FileID)
	if module.vdso {
		named.Kind, named.Module = recording.KindVDSO, "[vdso]"
	}
	if named.Name != "" {
		return
	}
	address := uint64(frame.AddressOrLineno)
	if table := module.symbols(); table != nil {
		if name, _, ok := table.Lookup(address); ok {
			if strings.HasPrefix(name, "+") { // a function known by its address alone
				name = filepath.Base(named.Module) + name
			}
			named.Name = name
			return
		}
	}
	named.Name = fmt.Sprintf("%s+%#x", filepath.Base(named.Module), address)
}

// expand gives a frame its line, and the functions that were inlined there frames of their own,
// outermost first.
func (u *Unwinder) expand(raw libpf.Frame, frame recording.Frame) []recording.Frame {
	var expanded []recording.Frame
	for _, source := range slices.Backward(u.sourcesOf(raw, &frame)) {
		inner := frame
		inner.File, inner.Line = source.File, int32(source.Line)
		if source.Function != "" {
			inner.Name = symbol.Demangle(source.Function)
		}
		expanded = append(expanded, inner)
	}
	if expanded == nil {
		return []recording.Frame{frame}
	}
	return expanded
}

// sourcesOf tells what was inlined where a frame is, innermost first; nil where nothing is known.
func (u *Unwinder) sourcesOf(raw libpf.Frame, frame *recording.Frame) []symbol.Source {
	switch {
	case !raw.Mapping.Valid() || raw.AddressOrLineno == 0:
		return nil
	case frame.Kind == recording.KindGo:
		if of := u.moduleOf(fileOf(raw).FileID); of.golang != nil {
			return of.golang.inlinedAt(uint64(raw.AddressOrLineno))
		}
	case frame.Kind == recording.KindNative && frame.Line == 0:
		return u.placeOf(u.moduleOf(fileOf(raw).FileID), uint64(raw.AddressOrLineno))
	}
	return nil
}

// isSystemLibrary tells the files of the distribution's libraries: their debug files are large
// (decoding that of the C library takes some hundred milliseconds), and what they were inlined from
// explains nothing about the program.
func isSystemLibrary(path string) bool {
	for _, folder := range []string{"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"} {
		if strings.HasPrefix(path, folder) {
			return true
		}
	}
	return false
}

// loadModule reads the symbols of a mapped file. A file without symbols, or one
// that is gone or damaged, gives an empty module: its frames are named by offset.
func loadModule(executable *reporter.ExecutableMetadata) *module {
	if executable.Mapping.IsVDSO() {
		table, err := symbol.VDSO()
		if err != nil {
			return &module{vdso: true}
		}
		return &module{table: table, vdso: true}
	}
	if strings.HasPrefix(executable.Mapping.Path, "[") {
		return &module{}
	}
	mapping, pid := executable.Mapping, executable.Process.PID()
	opened, err := executable.Process.OpenMappingFile(mapping)
	if err != nil { // the process is gone: the file itself may well be there, and is not told of again
		return moduleOfFile(openMapped(mapping), mapping.Path, pid, ownRoot)
	}
	file, ok := opened.(*os.File)
	if !ok {
		_ = opened.Close() // nothing was written to it
	}
	return moduleOfFile(file, mapping.Path, pid, rootOf(pid))
}

// moduleOfFile is of a file that a process mapped, in whose root its debug files are; an empty one
// of nil.
func moduleOfFile(file *os.File, path string, pid libpf.PID, root string) *module {
	if file == nil {
		return &module{}
	}
	loaded := &module{pid: pid, where: symbol.Options{Root: root, Path: path, Lasts: true,
		Unnamed: !isSystemLibrary(path)}}
	loaded.takeOver(file)
	return loaded
}

// openMapped opens a file where the recorder sees it; nil where that is not the one that was
// mapped.
func openMapped(mapping *process.RawMapping) *os.File {
	file, err := os.OpenFile(mapping.Path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	var status unix.Stat_t
	if unix.Fstat(int(file.Fd()), &status) != nil || status.Ino != mapping.Inode ||
		uint64(unix.Major(status.Dev))<<8+uint64(unix.Minor(status.Dev)) != mapping.Device {
		_ = file.Close() // nothing was written to it
		return nil
	}
	return file
}

// takeOver keeps a file open: the program may be gone when its symbols, its code or its lines are
// asked for.
func (m *module) takeOver(file *os.File) {
	m.file, m.golang, m.entry = file, openGoCode(file), entryOf(file)
	if m.golang != nil {
		return
	}
	if m.where.Root != ownRoot {
		_ = m.symbols() // now: the container, and the debug files in it, may be gone when they are asked for
	}
	lines := m.where
	lines.NoDebugFiles = isSystemLibrary(m.where.Path)
	m.lines, _ = symbol.OpenLines(file, lines) // nil without DWARF
}

// ownRoot is the recorder's.
const ownRoot = "/"

// rootOf is where a process would find its own debug files: its container's root, by a path that
// goes with it.
func rootOf(pid libpf.PID) string {
	root := fmt.Sprintf("/proc/%d/root", pid)
	of, err := os.Stat(root + "/")
	if own, ownErr := os.Stat(ownRoot); err == nil && ownErr == nil && os.SameFile(of, own) {
		return ownRoot
	}
	return root
}
