package compare_test

import (
	"slices"
	"testing"

	"culprit/internal/code"
	"culprit/internal/compare"
	"culprit/recording"
)

// Where much of the time may be in subs without frames, that is said.
func TestPerlMainIsSaid(t *testing.T) {
	for _, test := range []struct {
		innermost string
		said      bool
	}{{code.PerlMain, true}, {"Stamp::ask", false}} {
		m := newMade(100, 1)
		m.runs(100, 100, 0, 50*ms, "perl_run;Perl_runops_standard;Perl_pp_match")
		for i := range m.rec.Frames {
			if m.rec.Frames[i].Name == "Perl_runops_standard" {
				m.rec.Frames = append(m.rec.Frames, recording.Frame{Name: test.innermost, Kind: recording.KindOther,
					File: "src/gate.pl"})
				stack := &m.rec.Stacks[0].Frames
				*stack = slices.Insert(*stack, 2, int32(len(m.rec.Frames)-1))
				break
			}
		}
		result := compared(t, compare.MetricCPU, []*recording.Recording{m.rec}, nil)
		said := slices.ContainsFunc(result.Unseen, func(spot recording.BlindSpot) bool {
			return spot.Kind == recording.BlindPerl
		})
		if said != test.said {
			t.Errorf("innermost %s: said %v, want %v (%v)", test.innermost, said, test.said, result.Unseen)
		}
	}
}
