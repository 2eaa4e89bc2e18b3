package format

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"culprit/recording"
)

// The places that samplers of scripting languages write into a frame's name: "work (app.py:12)" of
// py-spy, "work (libz.so.1)" of its native frames, "work - /srv/app.rb:12" of rbspy,
// "app.py:work:12" of austin. A place kept in the name would make of one function as many as it has
// lines.
var (
	placeBehind = regexp.MustCompile(`^(.+?)(?: \(([^()]+)\)| - ([^()]+))$`)
	placeBefore = regexp.MustCompile(`^([^:]+):([^:]+|<[^>]+>):(\d{1,9})$`)
	sharedFile  = regexp.MustCompile(`^[^:]+\.so(\.[0-9]+)*$`)
)

// placed takes the place out of a frame's name, where there is one.
func placed(frame recording.Frame) recording.Frame {
	if last := frame.Name[len(frame.Name)-1]; last != ')' && (last < '0' || last > '9') {
		return frame
	}
	// Most names have none of these: looking for them costs a tenth of what the expressions do.
	if !strings.Contains(frame.Name, ":") && !strings.Contains(frame.Name, " (") && !strings.Contains(frame.Name, " - ") {
		return frame
	}
	if m := placeBefore.FindStringSubmatch(frame.Name); m != nil && isSource(m[1]) {
		frame.Name, frame.File, frame.Line = m[2], m[1], parsedLine(m[3])
		frame.Kind = kindByFile(m[1])
		return frame
	}
	m := placeBehind.FindStringSubmatch(frame.Name)
	if m == nil {
		return frame
	}
	if sharedFile.MatchString(m[2]) {
		frame.Name, frame.Module = m[1], path.Base(m[2])
		return frame
	}
	file, line := m[2]+m[3], int32(0)
	if at := strings.LastIndexByte(file, ':'); at > 0 {
		if line = parsedLine(file[at+1:]); line > 0 || file[at+1:] == "0" {
			file = file[:at]
		}
	}
	if !isSource(file) {
		return frame
	}
	frame.Name, frame.File, frame.Line, frame.Kind = m[1], file, line, kindByFile(file)
	return frame
}

// isSource tells files of the languages that these samplers are for, and CPython's names of code
// without a file. Others do not write so: what looks like it there ("operator()(x.h)") is a name.
func isSource(file string) bool {
	switch kindByFile(file) {
	case recording.KindPython, recording.KindRuby, recording.KindPHP, recording.KindNode:
		return true
	}
	return false
}

func parsedLine(text string) int32 {
	line, err := strconv.ParseInt(text, 10, 32)
	if err != nil || line < 0 {
		return 0
	}
	return int32(line)
}
