package recording

import (
	"reflect"
	"strings"
	"testing"
)

func TestBuilderGivesEqualThingsOneID(t *testing.T) {
	builder := NewBuilder()
	a := builder.Frame(Frame{Name: "a"})
	b := builder.Frame(Frame{Name: "b"})
	if a == b || builder.Frame(Frame{Name: "a"}) != a {
		t.Error("frames are not interned")
	}
	one, two := builder.Stack([]int32{a, b}), builder.Stack([]int32{b, a})
	if one == two || builder.Stack([]int32{a, b}) != one {
		t.Error("stacks are not interned")
	}
	if builder.Stack(nil) != NoStack {
		t.Error("no frames are a stack")
	}
	if builder.Losses() != nil {
		t.Errorf("losses: %v", builder.Losses())
	}
	var r Recording
	builder.Into(&r)
	if !reflect.DeepEqual(r.StackNames(two), []string{"b", "a"}) {
		t.Errorf("names: %q", r.StackNames(two))
	}
}

func TestBuilderKeepsItsOwnCopy(t *testing.T) {
	builder := NewBuilder()
	frames := []int32{builder.Frame(Frame{Name: "a"}), builder.Frame(Frame{Name: "b"})}
	id := builder.Stack(frames)
	frames[0] = 1
	var r Recording
	builder.Into(&r)
	if !reflect.DeepEqual(r.StackNames(id), []string{"a", "b"}) {
		t.Errorf("names: %q", r.StackNames(id))
	}
}

func TestBuilderCountsWhatDoesNotFit(t *testing.T) {
	builder := NewBuilder()
	builder.limits = builderLimits{frames: 4, stacks: 3, elements: 3 * MaxStackFrames}
	a, b := builder.Frame(Frame{Name: "a"}), builder.Frame(Frame{Name: strings.Repeat("ö", MaxStringBytes)})
	c, d := builder.Frame(Frame{Name: "c"}), builder.Frame(Frame{Name: "d"})
	if c != d || c == a {
		t.Errorf("frames over the limit: %d %d", c, d)
	}
	deep := make([]int32, MaxStackFrames+100)
	deep[0], deep[len(deep)-1] = b, b
	cut := builder.Stack(deep)
	if builder.Stack([]int32{a, 99}) != NoStack || builder.Stack([]int32{-1}) != NoStack {
		t.Error("an unknown frame was taken")
	}
	builder.Stack([]int32{a})
	builder.Stack([]int32{b})
	if builder.Stack([]int32{c}) != NoStack {
		t.Error("a stack over the limit was taken")
	}
	want := []Loss{{"frames beyond the limit", 2}, {"stacks beyond the limit", 1}, {"stacks too deep, middle cut", 1},
		{"names too long, end cut", 1}, {"stacks with an unknown frame", 2}}
	if !reflect.DeepEqual(builder.Losses(), want) {
		t.Errorf("losses: %v", builder.Losses())
	}
	var r Recording
	builder.Into(&r)
	names := r.StackNames(cut)
	if len(names) != MaxStackFrames || names[MaxStackFrames/2] != FramesCut || names[MaxStackFrames-1] != names[0] {
		t.Errorf("cut stack: %d names, middle %q", len(names), names[MaxStackFrames/2])
	}
	if len(r.Frames[b].Name) > MaxStringBytes || len(r.Frames) != 4 {
		t.Errorf("%d frames, name of %d bytes", len(r.Frames), len(r.Frames[b].Name))
	}
	if _, err := r.StackFrames(cut), r.check(); err != nil {
		t.Errorf("what a builder made cannot be written: %v", err)
	}
}
