package rows

import (
	"fmt"
	"strings"
	"testing"

	"culprit/internal/fleet/window"
	"culprit/recording"
)

func example() (*window.Window, *recording.Recording) {
	w := &window.Window{Labels: map[string]string{"zone": "a", "rack": "7"}, Services: []window.Service{
		{Name: "web", CPUNs: 4e9, Pids: []int32{10, 11}, Labels: map[string]string{"zone": "b"}},
		{Name: "rest", CPUNs: 1e9}}}
	r := &recording.Recording{
		Frames: []recording.Frame{{Name: "main"}, {Name: "f"}, {Name: "g", Line: 3}, {Name: "g", Line: 3}},
		Stacks: []recording.Stack{{Frames: []int32{0, 1, 2}}, {Frames: []int32{0, 1, 3}}, {Frames: []int32{0, 1, 0, 1}}},
		Samples: []recording.Sample{
			{Signal: "cpu", Pid: 10, Stack: 0, Count: 1, ValueNs: 10, Target: true},
			{Signal: "cpu", Pid: 11, Stack: 1, Count: 1, ValueNs: 10, Target: true},
			{Signal: "cpu", Pid: 11, Stack: 2, Count: 2, ValueNs: 20, Target: true},
			{Signal: "cpu", Pid: 99, Stack: -1, Count: 1, ValueNs: 10, Target: true},
			{Signal: "cpu", Pid: 77, Stack: -1, Count: 1, ValueNs: 10},
			{Signal: "offcpu", Pid: 10, Stack: 0, Count: 1, ValueNs: 500, Target: true}},
		Facts: []recording.Fact{{Name: "a", Value: "line\nline"}, {Name: "b", Value: strings.Repeat("x", 9999)}},
	}
	return w, r
}

func TestMake(t *testing.T) {
	w, r := example()
	made := Make(w, r)
	if len(made.Services) != 2 || made.Services[0].Labels["zone"] != "b" || made.Services[0].Labels["rack"] != "7" ||
		made.Services[0].Samples != 4 {
		t.Errorf("services %+v", made.Services)
	}
	values := map[string]int64{}
	for _, sample := range made.Samples {
		values[sample.Service+" "+sample.Signal] += sample.ValueNs
	}
	// Scaled to the exact CPU time; time off the CPU is no sample.
	if values["web cpu"] != 4e9 || values["rest cpu"] != 1e9 || values["web offcpu"] != 500 || made.Nobodys != 10 {
		t.Errorf("%v, nobody's %d", values, made.Nobodys)
	}
	// Equal frames are one, so two of the stacks are; a function that calls itself stands once.
	if len(made.Frames) != 3 || len(made.Stacks) != 2 || len(made.Samples) != 4 {
		t.Errorf("%d frames, %d stacks, %d samples", len(made.Frames), len(made.Stacks), len(made.Samples))
	}
	for _, stack := range made.Stacks {
		if stack.ID <= 0 || len(stack.Frames) > 3 || stack.Leaf == 0 {
			t.Errorf("stack %+v", stack)
		}
	}
	if made.Facts[0].Value != "line?line" || len(made.Facts[1].Value) > maxText+3 {
		t.Errorf("facts %+v", made.Facts[0])
	}
	again := Make(w, r)
	if again.Stacks[0].ID != made.Stacks[0].ID {
		t.Error("the same stack has another id")
	}
}

// What does not fit is counted, the largest are kept.
func TestLimit(t *testing.T) {
	w, r := example()
	r.Samples = nil
	for i := range MaxSamples + 50 {
		r.Frames = append(r.Frames, recording.Frame{Name: fmt.Sprint("f", i)})
		r.Stacks = append(r.Stacks, recording.Stack{Frames: []int32{int32(len(r.Frames) - 1)}})
		r.Samples = append(r.Samples, recording.Sample{Signal: "offcpu", Pid: 10, Stack: int32(len(r.Stacks) - 1),
			Count: 1, ValueNs: int64(i)})
	}
	made := Make(w, r)
	if len(made.Samples) != MaxSamples || made.Beyond != 49*50/2 {
		t.Errorf("%d samples, beyond %d", len(made.Samples), made.Beyond)
	}
}
