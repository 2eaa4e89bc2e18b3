package record

import (
	"os/exec"
	"testing"

	"culprit/recording"
)

// A JVM that takes long between its code heaps, as on a busy host: compiled code has whole stacks
// all the same, whichever heap it is in. strace holds each mmap up.
func TestJVMWhoseHeapsComeSlowly(t *testing.T) {
	recorder := standing.get(t)
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatalf("%v: `make deps` installs what the tests need", err)
	}
	of := spinner{kind: recording.KindJVM}
	words := append([]string{strace, "-f", "-o", "/dev/null", "-e", "trace=mmap", "-e", "inject=mmap:delay_exit=8000"},
		javaWords("17")(t)...)
	got := watchCommand(t, recorder, append(words, "0.5")...)
	whole, broken := int64(0), int64(0)
	for _, sample := range got.Samples {
		stack := got.StackFrames(sample.Stack)
		if sample.Signal != recording.SignalCPU || !sample.Target || len(stack) == 0 {
			continue
		}
		if _, is := stack[0].Broken(); is {
			broken += sample.Count
		} else if of.has(stack, "Spin.spinMuch") || of.has(stack, "Spin.spinLittle") {
			whole += sample.Count
		}
	}
	if whole < 20 || broken > whole/4 {
		t.Errorf("%d stacks of compiled code, %d are broken", whole, broken)
	}
}
