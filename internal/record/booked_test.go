package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"culprit/recording"
)

// briefRuns is how often each of the two programs is run; of the first ones of each the code is not
// known yet. On a busy host the recorder learns it late: the script waits a second for it.
const (
	briefRuns  = 50
	briefFirst = 25
)

// Processes that come and go have whole stacks from their first moment on, once their code is
// known, and those of a program that was written over in place have the new one's: it is another
// one for all that path and inode say.
func TestBriefProcessesHaveWholeStacks(t *testing.T) {
	recorder := start(t, Options{WholeHost: true, Hz: 499})
	folder := t.TempDir()
	for _, name := range []string{"before", "after"} {
		out, err := exec.Command("gcc", "-O2", "-fomit-frame-pointer", "-DWORK=work_"+name, "-o",
			filepath.Join(folder, name), "testdata/brief.c").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run := filepath.Join(folder, "brief")
	script := fmt.Sprintf(`runs() { i=0; while [ $i -lt $1 ]; do %[2]s; i=$((i+1)); done; }
cp %[1]s/before %[2]s; runs %[3]d; sleep 1; runs %[4]d
cat %[1]s/after > %[2]s; runs %[3]d; sleep 1; runs %[4]d; exit 0`, folder, run, briefFirst, briefRuns-briefFirst)
	path := filepath.Join(folder, "script")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	got := watchCommand(t, recorder, "/bin/sh", path)
	place := map[int32]int{} // of each process among its kind, by when it started
	for _, process := range got.Processes {
		if process.Comm == "brief" {
			place[process.Pid] = len(place)
		}
	}
	if len(place) != 2*briefRuns {
		t.Fatalf("%d processes were seen, %d ran", len(place), 2*briefRuns)
	}
	all, whole, cut := 0, 0, map[string]int{}
	builds := [2]map[string]bool{{}, {}}
	var elsewhere [][]recording.Frame
	for _, sample := range got.Samples {
		nth, is := place[sample.Pid]
		if !is || sample.Signal != recording.SignalCPU || nth%briefRuns < briefFirst {
			continue
		}
		stack := got.StackFrames(sample.Stack)
		work := slices.IndexFunc(stack, func(frame recording.Frame) bool {
			return frame.Name == "work_before" || frame.Name == "work_after"
		})
		if work < 0 { // before and after its work
			elsewhere = append(elsewhere, stack)
			continue
		}
		// What was in the file before is gone, and its names: they are read at the end. Its build
		// was known at once.
		builds[nth/briefRuns][stack[work].BuildID] = true
		if nth >= briefRuns && stack[work].Name != "work_after" {
			t.Errorf("process %d of %d is in the program that was written over: %v", nth, len(place), stack)
		}
		all++
		if _, broken := stack[0].Broken(); !broken && work > 0 && stack[work-1].Name == "main" {
			whole++
		} else {
			cut[fmt.Sprintf("process %d of its program: %v", nth%briefRuns, stack[0].Name)]++
		}
	}
	for id := range builds[1] {
		if builds[0][id] || len(builds[0]) != 1 || len(builds[1]) != 1 || id == "" {
			t.Errorf("builds %v were seen before it was written over, %v after", builds[0], builds[1])
		}
	}
	if all < 2*(briefRuns-briefFirst) || float64(whole) < 0.95*float64(all) {
		t.Errorf("%d of %d stacks are whole; others are cut: %v", whole, all, cut)
	}
	if t.Failed() {
		t.Logf("%d samples not in the work, such as %v; losses %+v", len(elsewhere), elsewhere[:min(3, len(elsewhere))],
			got.Manifest.Losses)
	}
}
