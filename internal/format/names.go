package format

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"culprit/recording"
)

// The memory of an import, whatever the size of the input: frames, stacks and
// rows beyond these are counted as lost, times are added up more coarsely.
const (
	maxFrames   = 150_000
	maxStacks   = 400_000
	maxElements = 10_000_000 // frames of all stacks together
	maxName     = 512        // bytes of one name: what is cut off a C++ name is template arguments
	maxTexts    = 1 << 16    // distinct thread names, events
	maxText     = 256
)

// names gives frames, stacks and short texts one number each. It is safe for
// several goroutines at a time; those that read much keep caches before it.
type names struct {
	mu      sync.Mutex
	builder *recording.Builder
	texts   []string
	textIDs map[string]int32
	lost    int64 // texts beyond the limit
	cut     int64 // names cut at maxName
}

func newNames() *names {
	return &names{builder: recording.NewBuilderWithin(maxFrames, maxStacks, maxElements),
		texts: []string{""}, textIDs: map[string]int32{"": 0}}
}

// frame returns the number of a frame.
func (n *names) frame(frame recording.Frame) int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	frame.Name = n.shorten(frame.Name)
	frame.Module = n.shorten(frame.Module)
	frame.File = n.shorten(frame.File)
	frame.BuildID = n.shorten(frame.BuildID)
	return n.builder.Frame(frame)
}

func (n *names) shorten(text string) string {
	if len(text) <= maxName {
		return text
	}
	n.cut++
	return cutText(text, maxName)
}

// stack returns the number of a stack, root first.
func (n *names) stack(frames []int32) int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.builder.Stack(frames)
}

// text returns the number of a thread's name or an event's.
func (n *names) text(text []byte) int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(text) > maxText {
		text = []byte(cutText(string(text), maxText))
	}
	if id, ok := n.textIDs[string(text)]; ok {
		return id
	}
	if len(n.texts) >= maxTexts {
		n.lost++
		return 0
	}
	id := int32(len(n.texts))
	n.texts = append(n.texts, string(text))
	n.textIDs[n.texts[id]] = id
	return id
}

// into puts the frames and stacks into the recording, with what was lost.
func (n *names) into(rec *recording.Recording) {
	n.builder.Into(rec)
	lose(rec, "thread names and events beyond the limit", n.lost)
	lose(rec, "names over 512 bytes, end cut", n.cut)
}

func lose(rec *recording.Recording, what string, count int64) {
	if count > 0 {
		rec.Manifest.Losses = append(rec.Manifest.Losses, recording.Loss{What: what, Count: count})
	}
}

// cutText cuts at a character's start.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// kindByFile tells the language of a frame by its source file.
func kindByFile(file string) recording.FrameKind {
	if file == "<string>" || file == "<stdin>" || strings.HasPrefix(file, "<frozen ") { // of CPython
		return recording.KindPython
	}
	switch strings.ToLower(path.Ext(file)) {
	case ".go":
		return recording.KindGo
	case ".py", ".pyx":
		return recording.KindPython
	case ".rb":
		return recording.KindRuby
	case ".php":
		return recording.KindPHP
	case ".java", ".kt", ".scala", ".groovy", ".clj":
		return recording.KindJVM
	case ".js", ".mjs", ".cjs", ".ts":
		return recording.KindNode
	}
	return recording.KindNative
}

// kindByModule tells kernel and vDSO from user code by the mapped file as perf and pprof name it.
func kindByModule(module string, kernelAddress bool) recording.FrameKind {
	switch {
	case strings.HasPrefix(module, "[kernel"), strings.HasPrefix(module, "[guest.kernel"),
		strings.HasSuffix(module, ".ko"), strings.Contains(module, ".ko."), strings.HasSuffix(module, "vmlinux"):
		return recording.KindKernel
	case module == "[vdso]", module == "[vsyscall]", strings.HasPrefix(module, "linux-vdso"):
		return recording.KindVDSO
	case kernelAddress && (module == "" || strings.HasPrefix(module, "[") || strings.HasPrefix(module, "bpf_prog_")):
		return recording.KindKernel
	case strings.HasPrefix(module, "[") && !userArea(module): // a module: [ext4]
		return recording.KindKernel
	}
	return recording.KindNative
}

// userArea tells the kernel's names for memory of a process from those of its modules.
func userArea(module string) bool {
	for _, area := range []string{"[jit]", "[heap]", "[stack", "[anon", "[unknown]", "[uprobes]", "[vvar"} {
		if strings.HasPrefix(module, area) {
			return true
		}
	}
	return false
}

// javaName tells Lcom/a/B;::run, Lcom/a/B;.run(I)V of older agents, and Lcom/a/B that was cut.
var javaName = regexp.MustCompile(`^L(([^;:/ ]+/)*[^;:/ ]+;(::|\.)|([^;:/ ]+/)+[^;:/ ]+$)`)

// kindByName tells the frames of just-in-time compilers by the form of their names.
func kindByName(name string) recording.FrameKind {
	switch {
	case javaName.MatchString(name), name == "Interpreter",
		strings.HasPrefix(name, "StubRoutines"), strings.HasPrefix(name, "vtable stub"), name == "call_stub":
		return recording.KindJVM
	case strings.HasPrefix(name, "py::"):
		return recording.KindPython
	case strings.HasPrefix(name, "LazyCompile:"), strings.HasPrefix(name, "JS:"), strings.HasPrefix(name, "Function:"),
		strings.HasPrefix(name, "Script:"), strings.HasPrefix(name, "Builtin:"):
		return recording.KindNode
	}
	return recording.KindOther
}
