package cause

import (
	"testing"

	"culprit/recording"
)

func goFrames(names ...string) []recording.Frame {
	var frames []recording.Frame
	for _, name := range names {
		frames = append(frames, recording.Frame{Name: name, Kind: recording.KindGo})
	}
	return frames
}

func TestOnTheWay(t *testing.T) {
	place := goFrames("runtime.goexit", "main.main.func1", "main.(*cache).store", "main.(*cache).store.deferwrap1")
	for _, test := range []struct {
		stack []recording.Frame
		want  bool
	}{
		{goFrames("runtime.goexit", "main.main.func1", "main.(*cache).store", "main.shrink"), true},
		{goFrames("runtime.goexit", "main.main.func1", "main.shrink"), false}, // only the far root in common
		{goFrames("runtime.goexit"), false},
		{nil, false},
	} {
		if got := onTheWay(place, test.stack); got != test.want {
			t.Errorf("onTheWay(%v) = %v", test.stack, got)
		}
	}
}
