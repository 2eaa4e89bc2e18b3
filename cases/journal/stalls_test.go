package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Lines that wait behind one slow line are one stall; what lies apart is another.
func TestStallsAreCountedNotLines(t *testing.T) {
	lines := "0 100\n" + // in time
		"1000 95000\n2000 94000\n3000 93000\n" + // one stall until 96 ms
		"100000 12000\n" + // begins within 10 ms of its end: the same
		"300000 20000\n" + // another
		"400000 10000\n" // at the limit, not over it
	c, err := count(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	if c.Lines != 7 || c.Over != 5 || c.Stalls != 2 || c.LongestMs != 95 || math.Abs(c.StalledMs-(95+12+20)) > 1e-9 {
		t.Errorf("%+v", c)
	}
	c.Program = "Java"
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte(c.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := readCounted(path)
	if err != nil || len(again) != 1 || again[0] != c {
		t.Errorf("read back %+v, %v; want %+v", again, err, c)
	}
}

// A program that logged nothing has not shown that nothing stalls.
func TestNoLinesIsAnError(t *testing.T) {
	for _, text := range []string{"", "1000\n", "a b\n"} {
		if c, err := count(strings.NewReader(text)); err == nil {
			t.Errorf("%q gave %+v", text, c)
		}
	}
}

// The interval of a count: exact for none and for one (0 to 3.689, 0.0253 to 5.572; Garwood 1936).
func TestPoissonInterval(t *testing.T) {
	for n, want := range map[int][2]float64{0: {0, 3.689}, 1: {0.0253, 5.572}, 10: {4.795, 18.39}} {
		low, high := poisson(n)
		if math.Abs(low-want[0]) > 2e-3*max(1, want[0]) || math.Abs(high-want[1]) > 2e-3*want[1] {
			t.Errorf("%d: %g to %g, want %g to %g", n, low, high, want[0], want[1])
		}
	}
}
