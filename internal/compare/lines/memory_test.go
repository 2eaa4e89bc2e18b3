package lines

import (
	"testing"

	"culprit/recording"
)

// A line of memory that processes share is one, whatever its address in each; who touches it is
// told with the process. Registers confirm it when they saw both processes.
func TestMemoryOfProcesses(t *testing.T) {
	row := func(pid int32, offset int32, hits int64) recording.Line {
		return recording.Line{Line: uint64(pid) << 12, Pid: pid, Tid: pid, Comm: "work", Offset: offset, Size: 8, Write: true,
			Count: 50, Hits: hits, WatchedNs: 1, Memory: "00:01 77 /memfd:board", MemoryOffset: 4096}
	}
	for _, test := range []struct {
		rows      []recording.Line
		confirmed bool
	}{{[]recording.Line{row(7, 0, 4), row(8, 8, 4)}, true}, {[]recording.Line{row(7, 0, 4), row(8, 8, 0)}, false}} {
		rec := &recording.Recording{}
		rec.Frames = []recording.Frame{{Name: "note", Kind: recording.KindNative}}
		rec.Stacks = []recording.Stack{{Frames: []int32{0}}}
		rec.Lines = test.rows
		found := Find(nil, []*recording.Recording{rec}, []float64{1})
		if len(found) != 1 || found[0].Processes != 2 || !found[0].False || found[0].Memory != "board" ||
			found[0].Confirmed != test.confirmed {
			t.Fatalf("%+v", found)
		}
		if name := found[0].Drawing.Words[1].Users[0].Name; name != "process work/8" {
			t.Errorf("drawn as %q", name)
		}
	}
	elsewhere := []recording.Line{row(7, 0, 0), row(8, 8, 0)}
	elsewhere[1].MemoryOffset = 8192
	rec := &recording.Recording{}
	rec.Lines = elsewhere
	for i := range rec.Lines {
		rec.Lines[i].Stack = recording.NoStack
	}
	if found := Find(nil, []*recording.Recording{rec}, []float64{1}); len(found) != 0 {
		t.Errorf("two lines are told as one: %+v", found)
	}
}

func TestPathOfMemory(t *testing.T) {
	const nameless = "shared memory without a name"
	for text, want := range map[string]string{"": "", "00:01 9 /memfd:a b": "a b", "00:01 9 /dev/zero": nameless,
		"00:01 9 /SYSV00000000": "System V segment 9", "fd:01 4 /dev/shm/x": "/dev/shm/x", "fd:01 4": nameless} {
		if got := (&use{memory: text}).path(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
