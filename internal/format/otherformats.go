package format

import (
	"bytes"
	"regexp"

	"google.golang.org/protobuf/encoding/protowire"
)

// others are what people have lying around that is not read: how its first bytes are known, and
// what to give instead. All of the marks have to be there.
var others = []struct {
	begins  string
	marks   []string
	instead string
}{
	{"{", []string{"speedscope.app/file-format-schema"}, "a speedscope profile, which is written and not read; give the " +
		"file it was made of, or folded stacks of the same (py-spy record -f raw)"},
	{"{", []string{`"meta":`, `"processType":`}, firefoxInstead},
	{"{", []string{`"meta":`, `"preprocessedProfileVersion":`}, firefoxInstead},
	{"{", []string{`"linux-perf-json-version":`}, "what perf data convert wrote; give the perf.data file, or the text " +
		"of perf script"},
	{"{", []string{`"selfSize":`, `"callFrame":`}, "a heap profile of V8; of V8 profiles of CPU time are read (node " +
		"--cpu-prof)"},
	{"{", []string{`"traceEvents":`}, chromeInstead},
	{"[", []string{`"ph":`, `"ts":`}, chromeInstead},
	{"v8-version,", nil, "a log of V8; node --prof-process makes a text of it, node --cpu-prof a profile that is read"},
	{"PERFILE2", nil, "a perf.data file; run `perf script -i FILE` and import its text"},
	{"PK\x03\x04", nil, "a zip; a .culprit recording needs no import"},
	{"MOJ", nil, "a file of austin; mojo2austin of austin-python makes folded stacks of it, which count µs: give " +
		"--period 1us"},
	{"\x7fELF", nil, "a program"},
	{"\xff\xfe", nil, utf16Instead},
	{"\xfe\xff", nil, utf16Instead},
	{"\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00", nil, gperftoolsInstead}, // 64-bit words 0, 3
	{"\x00\x00\x00\x00\x03\x00\x00\x00", nil, gperftoolsInstead},                                 // 32-bit
	{"heap profile: ", nil, noTimeInstead},
	{"--- heapz", nil, noTimeInstead},
	{"--- contentionz", nil, noTimeInstead},
	{"--- threadz", nil, noTimeInstead},
	{"threadcreate profile: ", nil, noTimeInstead},
	{"HPROF", nil, "a heap dump of Java; of Java recordings of Flight Recorder are read"},
	{"JAVA PROFILE 1.0", nil, "a heap dump of Java; of Java recordings of Flight Recorder are read"},
}

const (
	utf16Instead      = "text in UTF-16; iconv -f UTF-16 -t UTF-8 FILE makes one that is read"
	gperftoolsInstead = "a CPU profile of gperftools; pprof -proto PROGRAM FILE makes one that is read"
	noTimeInstead     = "a profile of memory, locks or threads in pprof's old text form; those of CPU time are read, in " +
		"the form that pprof -proto writes"
	firefoxInstead = "a profile of the Firefox Profiler, which is written and not read; give the file it was made of " +
		"(samply works on perf.data)"
	chromeInstead = "a trace in Chrome's form, whose slices are no samples; give a profile (.cpuprofile)"
)

// perfTraceLine is "     0.007 ( 0.002 ms): app/7812 close(fd: 3) = 0", the time and the length of
// a call.
var perfTraceLine = regexp.MustCompile(`(?m)^ *(\?|[0-9]+\.[0-9]+) \( *([0-9]+\.[0-9]+ ms)? *\): [^ ]`)

// otherFormat names what is known and not read; "" where it is not known.
func otherFormat(head []byte) string {
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	for _, other := range others {
		if !bytes.HasPrefix(trimmed, []byte(other.begins)) {
			continue
		}
		all := true
		for _, mark := range other.marks {
			all = all && bytes.Contains(trimmed, []byte(mark))
		}
		if all {
			return other.instead
		}
	}
	if perfTraceLine.Match(trimmed) {
		return "a text of perf trace, which has no stacks; give the text of perf script, or of strace -f -ttt -T"
	}
	if looksLikePerfetto(head) {
		return "a trace of Perfetto, which is written and not read; give the file it was made of"
	}
	return ""
}

// looksLikePerfetto tells packets, one behind the other, each field 1 of the whole.
func looksLikePerfetto(head []byte) bool {
	const enough = 3
	for range enough {
		number, wire, length := protowire.ConsumeTag(head)
		if length != 1 || number != 1 || wire != protowire.BytesType {
			return false
		}
		packet, size := protowire.ConsumeBytes(head[1:])
		if size < 0 || len(packet) < 2 {
			return false
		}
		if _, _, field := protowire.ConsumeTag(packet); field < 0 {
			return false
		}
		head = head[1+size:]
	}
	return true
}
