package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"culprit/recording"
)

// madeRecording is one command: so many milliseconds in work and in a system call, with the calls
// counted.
func madeRecording(t *testing.T, path string, workMs, callMs, calls int64) {
	t.Helper()
	const ms = int64(1e6)
	rec := &recording.Recording{Manifest: recording.Manifest{Schema: recording.SchemaVersion, Program: "culprit test",
		Host: "elsewhere", Hz: 1000, SliceNs: ms, WindowNs: (workMs + callMs) * ms,
		Target: recording.Target{Kind: "command", Command: "prog", Pid: 10}}}
	for _, name := range []string{"main", "work", "write"} {
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: recording.KindNative, Module: "prog"})
	}
	rec.Frames = append(rec.Frames, recording.Frame{Name: "__x64_sys_write", Kind: recording.KindKernel})
	rec.Stacks = []recording.Stack{{Frames: []int32{0, 1}}, {Frames: []int32{0, 2, 3}}}
	rec.Processes = []recording.Process{{Pid: 10, Ppid: 1, Comm: "prog", EndNs: (workMs + callMs) * ms,
		CPUNs: (workMs + callMs) * ms}}
	rec.Threads = []recording.Thread{{Pid: 10, Tid: 10, Comm: "prog", CPUNs: (workMs + callMs) * ms}}
	rec.Syscalls = []recording.Syscall{{Pid: 10, Tid: 10, Comm: "prog", Name: "write", Count: calls}}
	for at := range workMs + callMs {
		stack := int32(0)
		if at >= workMs {
			stack = 1
		}
		rec.Samples = append(rec.Samples, recording.Sample{Signal: recording.SignalCPU, TimeNs: at * ms, Pid: 10, Tid: 10,
			Stack: stack, Count: 1, ValueNs: ms, Target: true, Comm: "prog"})
	}
	if err := recording.Write(path, rec); err != nil {
		t.Fatal(err)
	}
}

// madeGroups are three recordings a side; B takes twice the calls.
func madeGroups(t *testing.T) (a, b []string) {
	t.Helper()
	folder := t.TempDir()
	for i := range int64(3) {
		a = append(a, filepath.Join(folder, fmt.Sprintf("a%d.culprit", i)))
		b = append(b, filepath.Join(folder, fmt.Sprintf("b%d.culprit", i)))
		madeRecording(t, a[i], 200+i, 100+i, 1000)
		madeRecording(t, b[i], 201+i, 200+2*i, 2000)
	}
	return a, b
}

func TestCompareNamesWhatGrew(t *testing.T) {
	a, b := madeGroups(t)
	page, document := filepath.Join(t.TempDir(), "page.html"), filepath.Join(t.TempDir(), "c.json")
	args := slices.Concat([]string{"compare", "--a"}, a, []string{"--b"}, b,
		[]string{"--metric", "cpu", "--html", page, "--json", document})
	got := here(t, args...)
	if got.status != exitWorse || got.stderr != "" {
		t.Fatalf("status %d: %s", got.status, got.stderr)
	}
	for _, want := range []string{"WORSE", "B uses 1.34× the CPU time of A", "▲  syscall  write",
		"1,000 → 2,000 calls/run", "recordings of A"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no %q in\n%s", want, got.stdout)
		}
	}
	for line := range strings.Lines(got.stdout) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > textWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Schema, Outcome string
		Ranking         struct {
			Items []struct {
				Name    string
				Decided bool
				Calls   struct{ Often struct{ Value float64 } }
			}
		}
	}
	if err := json.Unmarshal(text, &c); err != nil || c.Schema != "culprit.comparison/1" || c.Outcome != "worse" ||
		c.Ranking.Items[0].Name != "write" || !c.Ranking.Items[0].Decided || c.Ranking.Items[0].Calls.Often.Value < 0.09 {
		t.Errorf("document %+v, %v", c, err)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "data-profile") ||
		!strings.Contains(string(html), "1,000 → 2,000 calls/run") {
		t.Errorf("page of %d bytes, %v", len(html), err)
	}
}

func TestCompareAnswers(t *testing.T) {
	a, b := madeGroups(t)
	groups := func(a, b []string, more ...string) []string {
		return slices.Concat([]string{"compare", "--a"}, a, []string{"--b"}, b, []string{"--metric", "cpu"}, more)
	}
	for name, c := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"better":               {groups(b, a), exitDone, "BETTER"},
		"same":                 {groups(a, a), exitDone, "SAME"},
		"under the limit":      {groups(a, b, "--fail-over", "50%"), exitDone, "WORSE"},
		"over the limit":       {groups(a, b, "--fail-over", "20%"), exitWorse, "over +20 %"},
		"per request":          {groups(a, b, "--per", "request=100,200"), exitDone, "BETTER"},
		"per call":             {groups(a, b, "--per", "request=write"), exitDone, "per call of write"},
		"by parts":             {groups(a, b, "--per", "cpu-second"), exitDone, "by parts of the CPU time"},
		"one recording a side": {[]string{"compare", a[0], b[0]}, exitDone, "one recording a side decides nothing"},
		"two windows": {[]string{"compare", a[0] + "@0s..0.1s", a[0] + "@0.15s..0.25s"}, exitDone,
			"windows of what runs on"},
		"one window of each":     {groups(a, b, "--window", "0s..0.1s"), exitDone, "SAME"},
		"a window for each side": {groups(a, a, "--window", "0s..0.1s", "--window", "0s..0.2s"), exitDone, "SAME"},
	} {
		if got := here(t, c.args...); got.status != c.status || !strings.Contains(got.stdout, c.want) {
			t.Errorf("%s: status %d, %s\n%s", name, got.status, got.stderr, got.stdout)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	a, b := madeGroups(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{a[0]}, "give two recordings"},
		{[]string{"--a", a[0]}, "one side only"},
		{[]string{a[0], "--a", a[1], "--b", b[0]}, "outside of --a and --b"},
		{[]string{a[0], filepath.Join(t.TempDir(), "none.culprit")}, "no such file"},
		{[]string{a[0], b[0], "--fail-over", "5%"}, "two or more recordings"},
		{[]string{a[0], b[0], "--smallest", "x"}, "--smallest"},
		{[]string{a[0], b[0], "--smallest", "5"}, "5% or 500%"},
		{[]string{"--a", a[0], a[0], "--b", b[0], b[1]}, "are the same recording"},
		{[]string{a[0], b[0], "--per", "mile"}, `"mile"`},
		{[]string{a[0], b[0], "--per", "request=accept4"}, "has no call of accept4"},
		{[]string{a[0], b[0], "--metric", "speed"}, `"speed"`},
		{[]string{a[0] + "@5s..6s", b[0]}, "within the recording"},
		{[]string{a[0] + "@6s..5s", b[0]}, `"6s..5s"`},
		{[]string{a[0] + "@0s..0.1s", b[0], "--metric", "wall"}, "from start to end"},
		{[]string{a[0], b[0], "--window", "1s..2s", "--window", "1s..2s", "--window", "1s..2s"}, "3 times"},
		{[]string{a[0], b[0], "--json", "/none/x"}, "folder /none"},
		{[]string{"--a", a[0], a[1], "--b", b[0], b[1], "--per", "cpu-second", "--fail-over", "5%"}, "--per"},
	} {
		oneLine(t, here(t, append([]string{"compare"}, c.args...)...), c.want)
	}
}

// A host that grows slower all the while makes the later side look worse; a change beyond that
// drift is one.
func TestCompareOneSideAfterTheOther(t *testing.T) {
	recorded := func(second, workMs int64) string {
		path := filepath.Join(t.TempDir(), "r.culprit")
		madeRecording(t, path, workMs, 100, 1000)
		rec, err := recording.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		rec.Manifest.StartedAt = time.Unix(1700000000+second, 0)
		if err := recording.Write(path, rec); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const block = "older than those of B"
	for name, c := range map[string]struct {
		a, b   []string
		status int
		want   string
		warned bool
	}{
		"a drift": {[]string{recorded(1, 200), recorded(2, 206), recorded(3, 210)},
			[]string{recorded(4, 216), recorded(5, 221), recorded(6, 226)}, exitDone, "UNDECIDED", true},
		"a change": {[]string{recorded(1, 201), recorded(2, 200), recorded(3, 202)},
			[]string{recorded(4, 400), recorded(5, 402), recorded(6, 401)}, exitWorse, "WORSE", true},
		"a change within a day": {[]string{recorded(1, 201), recorded(2, 200), recorded(3, 202)},
			[]string{recorded(90004, 400), recorded(90005, 405), recorded(90006, 401)}, exitWorse, "WORSE", true},
		"the drift's times, in turn": {[]string{recorded(1, 200), recorded(4, 206), recorded(5, 210)},
			[]string{recorded(2, 216), recorded(3, 221), recorded(6, 226)}, exitWorse, "WORSE", false},
	} {
		got := here(t, slices.Concat([]string{"compare", "--a"}, c.a, []string{"--b"}, c.b, []string{"--metric", "cpu"})...)
		if got.status != c.status || !strings.Contains(got.stdout, c.want) ||
			strings.Contains(strings.Join(strings.Fields(got.stdout), " "), block) != c.warned {
			t.Errorf("%s: status %d, %s\n%s", name, got.status, got.stderr, got.stdout)
		}
	}
}
