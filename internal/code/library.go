package code

import (
	"strings"

	"culprit/recording"
)

// BeginsIn is the part of a library in which a thread begins, "" where the program's own code comes
// before one.
func (m *Memo) BeginsIn(frames []recording.Frame) string {
	own := m.Own(frames)
	for at, frame := range frames {
		library := PartOfLibrary(frame)
		switch {
		case IsStartUp(frame):
		case own[at] || IsEntry(frame):
			return ""
		case library != "" && library != "java.util.concurrent.ForkJoinWorkerThread" &&
			!strings.HasSuffix(library, "/threading.py"):
			return library
		}
	}
	return ""
}

// PartOfLibrary is the part of a library that a frame belongs to: a source file, or a class or type
// where names have one. "" for native code, which has neither, and for Go's and Node's run times,
// whose threads serve everybody.
func PartOfLibrary(frame recording.Frame) string {
	switch frame.Kind {
	case recording.KindKernel, recording.KindNative, recording.KindVDSO, recording.KindNode,
		recording.KindOther:
		return ""
	case recording.KindJVM: // java.util.concurrent.ThreadPoolExecutor$Worker.run
		class, _, _ := strings.Cut(frame.Name[:max(0, strings.LastIndexByte(frame.Name, '.'))], "$")
		return class
	case recording.KindGo: // net/http.(*persistConn).writeLoop, net/http.(*Transport).dialConn.gowrap3
		folder := strings.LastIndexByte(frame.Name, '/') + 1
		parts := strings.SplitN(frame.Name[folder:], ".", 3)
		if parts[0] == "runtime" {
			return ""
		}
		return frame.Name[:folder] + strings.Join(parts[:min(len(parts), 2)], ".")
	}
	return frame.File
}
