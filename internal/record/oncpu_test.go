package record

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

// spinner is a truth program that spends three parts of its CPU time in one function and one in
// another.
type spinner struct {
	language     string
	words        func(t *testing.T) []string
	main         string // in every stack of the two functions
	much, little string
	kind         recording.FrameKind
	python       bool
	arguments    []string
}

var spinners = []spinner{
	{language: "C", words: compiledWords("spin.c"), main: "main", much: "spin_much", little: "spin_little",
		kind: recording.KindNative, arguments: []string{"clock"}},
	{language: "C++", words: compiledWords("spin.cpp"), main: "main", much: "shop::Basket<long>::spin_much",
		little: "shop::Basket<long>::spin_little", kind: recording.KindNative},
	{language: "Go", words: compiledWords("spin.go"), main: "main.main", much: "main.spinMuch",
		little: "main.spinLittle", kind: recording.KindGo},
	{language: "Java 17", words: javaWords("17"), main: "Spin.main", much: "Spin.spinMuch", little: "Spin.spinLittle",
		kind: recording.KindJVM},
	{language: "Java 25", words: javaWords("25"), main: "Spin.main", much: "Spin.spinMuch", little: "Spin.spinLittle",
		kind: recording.KindJVM},
	{language: "Node", words: scriptWords("node", "testdata/spin.js"), much: "spinMuch", little: "spinLittle",
		kind: recording.KindNode},
	{language: "Python", words: pythonWords, main: "main", much: "spin_much",
		little: "spin_little", kind: recording.KindPython, python: true},
	{language: "Ruby", words: scriptWords("ruby", "testdata/spin.rb"), main: "main", much: "spin_much",
		little: "spin_little", kind: recording.KindRuby},
	{language: "PHP", words: scriptWords("php", "testdata/spin.php"), main: "main", much: "spin_much",
		little: "spin_little", kind: recording.KindPHP},
	{language: "Perl", words: scriptWords("perl", "testdata/spin.pl"), main: "Spin::run", much: "Spin::spin_much",
		little: "Spin::spin_little", kind: recording.KindOther},
}

func compiledWords(source string) func(*testing.T) []string {
	return func(t *testing.T) []string { return []string{programs.compile(t, source)} }
}

func javaWords(release string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		return []string{javaHome(t, release) + "/bin/java", "-cp", programs.compile(t, "Spin.java"), "Spin"}
	}
}

// javaHome finds a JDK of a release. Debian has no 25, so that one may be missing; any other is a
// failure.
func javaHome(t *testing.T, release string) string {
	t.Helper()
	homes, _ := filepath.Glob("/usr/lib/jvm/*" + release + "*/bin/java") // fails only on a bad pattern
	if len(homes) > 0 {
		return strings.TrimSuffix(homes[0], "/bin/java")
	}
	if release == "25" {
		t.Skip("no JDK 25 below /usr/lib/jvm (not a package of Debian: https://adoptium.net)")
	}
	path, err := exec.LookPath("java")
	if err != nil {
		t.Fatal("no java: apt-get install openjdk-17-jdk-headless (make test does)")
	}
	return strings.TrimSuffix(path, "/bin/java")
}

func scriptWords(words ...string) func(*testing.T) []string {
	return func(*testing.T) []string { return words }
}

// pythonWords names the interpreter itself: python3 may be a script that looks for it.
func pythonWords(t *testing.T) []string {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatalf("find python3: %v", err)
	}
	return []string{strings.TrimSpace(string(out)), "testdata/spin.py"}
}

// The two functions are found by name, in their true shares, in complete stacks, in every language.
func TestStacks(t *testing.T) {
	for _, s := range spinners {
		t.Run(s.language, func(t *testing.T) {
			recorder := standing.get(t)
			if s.python {
				recorder = start(t, Options{Hz: 499, RunTimes: []string{"Python"}})
			}
			words := s.words(t)
			watchCommand(t, recorder, append(words, append([]string{"0.3"}, s.arguments...)...)...)
			eventually(t, func() []string {
				return s.check(t, watchCommand(t, recorder, append(words, append([]string{"1"}, s.arguments...)...)...))
			})
		})
	}
}

// eventually repeats a measurement that a busy host can spoil; three bad ones in a row are no
// accident.
func eventually(t *testing.T, measure func() (problems []string)) {
	t.Helper()
	for attempt := 1; ; attempt++ {
		problems := measure()
		if len(problems) == 0 {
			return
		}
		t.Logf("attempt %d: %s", attempt, strings.Join(problems, "; "))
		if attempt == 3 {
			t.Error("no attempt was good")
			return
		}
	}
}

// check holds what was seen of a spinner against what it says of itself.
func (s spinner) check(t *testing.T, got seen) (problems []string) {
	t.Helper()
	truth := numbers(t, got.output)
	all, broken, much, little, rooted, misplaced := 0.0, 0.0, 0.0, 0.0, 0.0, 0
	for _, sample := range got.Samples {
		if sample.Signal != recording.SignalCPU || !sample.Target {
			continue
		}
		all += float64(sample.Count)
		stack := got.StackFrames(sample.Stack)
		if len(stack) == 0 {
			broken += float64(sample.Count)
		} else if _, is := stack[0].Broken(); is {
			broken += float64(sample.Count)
		}
		in := 0.0
		switch {
		case s.has(stack, s.much):
			much++
			in++
		case s.has(stack, s.little):
			little++
			in++
		}
		if in > 0 && (s.main == "" || s.has(stack, s.main)) {
			rooted++
		}
		if in > 0 && sample.Pid != got.pid {
			misplaced++
		}
	}
	busy := truth["spin_much"] + truth["spin_little"]
	expected := busy * float64(got.Manifest.Hz)
	wrong := func(format string, values ...any) { problems = append(problems, fmt.Sprintf(format, values...)) }
	if all < 50 || broken > 0.05*all {
		wrong("%.0f of %.0f stacks are incomplete", broken, all)
	}
	if much+little < 0.9*expected {
		wrong("the functions are in %.0f samples; %.0f ought to be theirs", much+little, expected)
	}
	if rooted < 0.95*(much+little) || misplaced > 0 {
		wrong("%.0f of %.0f samples of the functions are below %s, %d of another process", rooted, much+little,
			s.main, misplaced)
	}
	if share := much / (much + little); math.Abs(share-truth["spin_much"]/busy) > 0.07 {
		wrong("share of the function with more: %.3f, the truth is %.3f", share, truth["spin_much"]/busy)
	}
	if len(s.arguments) > 0 {
		problems = append(problems, clockProblems(got, truth["read_often"])...)
	}
	return problems
}

// has looks for a function among frames of the language's kind; the JVM's names carry types and
// parameters.
func (s spinner) has(stack []recording.Frame, name string) bool {
	for _, frame := range stack {
		short, _, _ := strings.Cut(frame.Name, "(")
		words := strings.Fields(short)
		if frame.Kind == s.kind && len(words) > 0 && words[len(words)-1] == name {
			return true
		}
	}
	return false
}

// clockProblems holds that reads of the clock show a frame of the vDSO with its name below the
// function that reads.
func clockProblems(got seen, seconds float64) (problems []string) {
	below, named, kernel := 0.0, 0.0, 0
	for _, sample := range got.Samples {
		stack := got.StackFrames(sample.Stack)
		for i, frame := range stack {
			if frame.Kind == recording.KindKernel && !strings.HasPrefix(frame.Name, "[") {
				kernel++
			}
			if frame.Name != "read_often" || sample.Signal != recording.SignalCPU {
				continue
			}
			below++
			for _, inner := range stack[i+1:] {
				if inner.Kind == recording.KindVDSO && strings.Contains(inner.Name, "clock_gettime") {
					named++
					break
				}
			}
		}
	}
	if expected := seconds * float64(got.Manifest.Hz); math.Abs(below-expected) > max(0.2*expected, 15) {
		problems = append(problems, fmt.Sprintf("%.0f samples read the clock, %.0f ought to", below, expected))
	}
	if named < 0.75*below { // the rest is the caller's own loop and the call through the library
		problems = append(problems, fmt.Sprintf("%.0f of %.0f samples that read the clock show the vDSO", named, below))
	}
	if kernel == 0 {
		problems = append(problems, "no kernel frame is named")
	}
	return problems
}

// A busy process outside of the target is one row with its name, without stacks.
func TestStrangers(t *testing.T) {
	recorder := standing.get(t)
	program := programs.compile(t, "spin.c")
	stranger := hold(t, "/bin/sh", "-c", `cp "$0" "$1/outsider"; exec "$1/outsider" 1`, program, t.TempDir())
	stranger.release()
	got := watchCommand(t, recorder, program, "0.8")
	rows, sampled := 0, time.Duration(0)
	for _, sample := range got.Samples {
		switch {
		case sample.Pid == int32(stranger.pid()) && sample.Comm == "outsider":
			rows++
			sampled += time.Duration(sample.ValueNs)
			if sample.Target || sample.Stack != recording.NoStack || sample.Signal != recording.SignalCPU ||
				sample.Count*1e9/int64(got.Manifest.Hz) != sample.ValueNs &&
					sample.Count*(1e9/int64(got.Manifest.Hz)) != sample.ValueNs {
				t.Errorf("stranger %+v", sample)
			}
		case sample.Pid == int32(stranger.pid()):
			t.Errorf("stranger under another name: %+v", sample)
		}
	}
	if rows != 1 {
		t.Errorf("the stranger has %d rows", rows)
	}
	for _, process := range got.Processes {
		if process.Pid == int32(stranger.pid()) {
			t.Errorf("the stranger is among the target's processes: %+v", process)
		}
	}
	// How much it got of a busy host nobody knows, but not less than was seen, give or take some
	// samples.
	if used := stranger.wait(t); sampled <= 0 || sampled > used+used/5+50*time.Millisecond {
		t.Errorf("the stranger was sampled for %v and has used %v in all", sampled, used)
	}
}
