package record

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

func TestJudgeCheck(t *testing.T) {
	slower, level := make([]float64, 12), make([]float64, 12)
	for i := range slower {
		slower[i] = math.Log(0.7) + 0.01*float64(i%3)
		level[i] = 0.001 * float64(i%3-1)
	}
	for _, test := range []struct {
		ratios  []float64
		outcome string
	}{{slower, "slower"}, {level, "same"}, {slower[:3], "undecided"},
		{[]float64{0.2, -0.2, 0.21, -0.19, 0.18, -0.22, 0.01}, "undecided"}} {
		check := recording.SelfCheck{Outcome: "undecided", Confidence: checkConfidence}
		judgeCheck(&check, test.ratios, time.Second)
		if check.Outcome != test.outcome || check.Pairs != len(test.ratios) || check.Low > check.Ratio ||
			check.Ratio > check.High || (check.MoreNs > 0) != (test.outcome == "undecided") {
			t.Errorf("%v: %+v", test.ratios, check)
		}
	}
}

// A rate is chosen by how steady it is without the recorder; counts of a few events are none.
func TestChooseRate(t *testing.T) {
	at := time.Now()
	var readings []reading
	for i := range 6 {
		work := float64(i) * 1000
		readings = append(readings, reading{at: at.Add(time.Duration(i) * time.Second), threads: map[int]account{
			7: {cpuNs: float64(i) * 1e8, counts: [...]float64{work + float64(i%2)*900, work, float64(i), work * work}}}})
	}
	name, rejected := chooseRate(readings)
	if name != "system calls that write per CPU second" {
		t.Errorf("chose %q, rejected %q", name, rejected)
	}
	if !slices.ContainsFunc(rejected, func(why string) bool { return strings.HasPrefix(why, "voluntary switches") }) {
		t.Errorf("a count of five events was not rejected: %q", rejected)
	}
	if name, rejected = chooseRate([]reading{{at: at}, {at: at.Add(time.Second)}}); name != "" || len(rejected) != 8 {
		t.Errorf("chose %q of nothing", name)
	}
}

func TestPrinted(t *testing.T) {
	var out strings.Builder
	printed, err := NewPrinted(&out, `rate ([0-9.]+)`)
	if err != nil {
		t.Fatal(err)
	}
	text := "rate 1.5\nnone\n" + strings.Repeat("x", 2*maxPrintedLine) + "rate 3\nrate 2\nrate 9"
	for i := range len(text) {
		if _, err := io.WriteString(printed, text[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if got := printed.take(); out.String() != text || !slices.Equal(got, []float64{1.5, 2}) {
		t.Errorf("numbers %v, passed on %d of %d bytes", got, out.Len(), len(text))
	}
	for _, bad := range []string{"(", "rate"} {
		if _, err := NewPrinted(&out, bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
