package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"culprit/internal/bench"
)

func TestBenchMeasures(t *testing.T) {
	got := here(t, "bench", "time", "syscall", "--time", "20ms")
	if got.status != exitDone || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{"time.vdso", "time.syscall", "syscall.bare", "95 % interval", "elsewhere"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no %q in\n%s", want, got.stdout)
		}
	}
	for line := range strings.Lines(got.stdout) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > textWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestBenchJSON(t *testing.T) {
	got := here(t, "bench", "fault", "--time", "10ms", "--json", "-")
	var d benchDocument
	if err := json.Unmarshal([]byte(got.stdout), &d); err != nil || got.status != exitDone {
		t.Fatalf("%v: %+v", err, got)
	}
	if d.Schema != benchSchema || len(d.Findings) != 1 || d.Findings[0].Name != "fault.minor" || d.Findings[0].Ns <= 0 ||
		d.Host.CPUs < 1 {
		t.Errorf("%+v", d)
	}
}

// What cannot be measured is told with its reason, beside what can.
func TestBenchText(t *testing.T) {
	d := benchDocument{Findings: []bench.Finding{
		{Name: "counter.read", Why: "no hardware counters"},
		{Name: "write.sync", What: "write and fsync", Clock: bench.ClockWall, Ns: 2.5e6, Low: 15e3, High: 3e6, CPUNs: 1500,
			Path: []string{"file system ext4"}},
	}, Warnings: []string{"others watch"}}
	var out strings.Builder
	if err := d.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"counter.read              not measured", "no hardware counters", "2.5 ms ",
		"15 µs … 3 ms",
		"1500 ns of CPU each; file system ext4", "others watch"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bench", "sundial"}, `"sundial"`},
		{[]string{"bench", "--time", "1ms"}, "--time 1ms"},
		{[]string{"bench", "--dir", "/none"}, "/none is no folder"},
		{[]string{"bench", "--json", "/none/x"}, "folder /none"},
	} {
		oneLine(t, here(t, c.args...), c.want)
	}
}
