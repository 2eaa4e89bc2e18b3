package compare

import (
	"slices"
	"testing"

	"culprit/recording"
)

// Subs of Perl are a program's own code below perl's interpreter, but for those of its library; its own functions in C
// are none then. Frames of other kinds that have a file are nobody's.
func TestPerlIsApplication(t *testing.T) {
	native := func(name string) recording.Frame {
		return recording.Frame{Name: name, Kind: recording.KindNative, Module: "perl"}
	}
	sub := func(name, file string) recording.Frame {
		return recording.Frame{Name: name, Kind: recording.KindOther, File: file, Line: 7}
	}
	frames := []recording.Frame{native("main"), native("Perl_runops_standard"), sub(perlMain, "src/gate.pl"),
		sub("Stamp::ask", "/srv/lib/Stamp.pm"), sub("POSIX::strftime", "/usr/lib/x86_64-linux-gnu/perl/5.36/POSIX.pm"),
		sub("Date::Parse::str2time", "/usr/share/perl5/Date/Parse.pm"),
		sub("Carp::croak", "/usr/share/perl/5.36/Carp.pm"), sub("Made::up", "(eval 3)"), native("Perl_pp_backtick"),
		{Name: "embedded", Kind: recording.KindNative, Module: "srv"}}
	want := []bool{false, false, true, true, false, false, false, false, false, false}
	if got := IsApplication(frames); !slices.Equal(got, want) {
		t.Errorf("the application's own: %v, want %v", got, want)
	}
	if !IsEntry(frames[2]) || IsEntry(frames[3]) {
		t.Error("a script outside of its subs is where it begins, a sub is not")
	}
	if own := IsApplication([]recording.Frame{sub("f", "/srv/f.lua")}); own[0] {
		t.Error("a frame of an unknown interpreter is taken for Perl's")
	}
}

// Where much of the time may be in subs without frames, that is said.
func TestPerlMainIsSaid(t *testing.T) {
	for _, test := range []struct {
		innermost string
		said      bool
	}{{perlMain, true}, {"Stamp::ask", false}} {
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
		result := compared(t, MetricCPU, []*recording.Recording{m.rec}, nil)
		if said := slices.Contains(result.Unseen, perlUnseen); said != test.said {
			t.Errorf("innermost %s: said %v, want %v (%q)", test.innermost, said, test.said, result.Unseen)
		}
	}
}
