package cause

import (
	"math"
	"slices"
	"strings"
	"testing"

	"culprit/internal/compare/differs"
)

// perMs is how many samples are taken in a millisecond.
const perMs = 10

// layouts are two threads that count, with their words as operands for as many milliseconds as
// told; apart puts these in lines of their own.
func layouts(ms float64, samples int64, apart bool) plan {
	const own = "clone3;start_thread;count"
	words := []line{{56, rootPid, true, work, 0}, {16, 101, true, own, 0}}
	if apart {
		words[1] = line{0, 101, true, own, 64}
	}
	return plan{command: "/srv/prog -n 5", cpu: map[string]float64{work: ms, "w|" + own: ms}, lines: words,
		lineSamples: samples * perMs, onCPUs: 2}
}

// The same program that shares a line on one side only is told with what differs: where its memory
// lies. Of another build, or with other arguments, it is the line alone.
func TestLayoutIsTold(t *testing.T) {
	for _, test := range []struct {
		name, command string
		live          bool // told by the processes alone
		differs       []differs.Difference
		told          bool
	}{
		{"the same", "/srv/prog -n 5", false, nil, true},
		{"other arguments", "/srv/prog -n 6", false, nil, false},
		{"two processes", "/srv/prog -n 5", true, nil, true},
		{"two processes with other arguments", "/srv/prog -n 6", true, nil, false},
		{"another build", "/srv/prog -n 5", false, []differs.Difference{{Kind: differs.Binary, Name: "prog",
			Of: "program", A: "1",
			B: "2", Evidence: "x"}}, false},
	} {
		a, b := layouts(200, 120, true), layouts(600, 520, false)
		b.command = test.command
		if test.live {
			a.facts = map[string]string{"target.command": a.command}
			b.facts = map[string]string{"target.command": b.command}
			a.command, b.command = "", ""
		}
		in := inputOf(t, "cpu", a, b, Costs{})
		in.Differs = test.differs
		suspects := Judge(in).Suspects
		if len(suspects) == 0 || suspects[0].Cause != LineFalseSharing {
			t.Fatalf("%s: %+v", test.name, suspects)
		}
		if told := strings.Contains(suspects[0].Claim, "; A is the same program"); told != test.told {
			t.Errorf("%s: %s", test.name, suspects[0].Claim)
		}
		own := slices.IndexFunc(suspects[0].Evidence, func(e Evidence) bool {
			return strings.Contains(e.Text, "each for itself")
		})
		if own < 0 || suspects[0].Evidence[own].A < 200*perMs || suspects[0].Evidence[own].B != 0 {
			t.Errorf("%s: %+v", test.name, suspects[0].Evidence)
		}
	}
}

// Words that came to lie in one line cost nothing where code is at them for as long as before,
// beside what it does more of. Code that fights for a lock may be at its line for no larger a part
// than where each thread had a lock for itself, for the rest is at the instruction behind; a part
// too small to stand for the growth leaves it to code.
func TestHarmlessLayout(t *testing.T) {
	const lock = "monitor of shop.Till"
	for _, test := range []struct {
		name, words string
		from, to    int64 // milliseconds at each word
		want        ID
	}{
		{"as often beside more work", "", 44, 77, CodeGrew},
		{"as often at all", "", 60, 60, CodeGrew},
		{"three times as long", "", 44, 200, LineFalseSharing},
		{"hardly anything else", "", 190, 345, LineFalseSharing},
		{"nothing known of A", "", 0, 77, LineFalseSharing},
		{"a lock, for as large a part", lock, 44, 77, LockContended},
		{"a lock, hardly ever", lock, 44, 20, CodeGrew},
	} {
		a, b := layouts(200, test.from, true), layouts(350, test.to, false)
		a.lineName, b.lineName = test.words, test.words
		if test.words == lock { // one for both
			b.lines[0].offset = b.lines[1].offset
		}
		if test.from == 0 {
			a.lines = nil
		}
		suspects := judged(t, "cpu", a, b, Costs{})
		if len(suspects) == 0 || suspects[0].Cause != test.want {
			t.Errorf("%s: %+v", test.name, suspects)
		}
	}
}

// A line that is written in common all along, and into which words came that are only read, is
// shared falsely by these; one whose common word is touched more is not.
func TestWordsThatCameBeside(t *testing.T) {
	const check = "clone3;start_thread;check"
	side := func(ms float64, cache, list int64) plan {
		return plan{command: "/srv/prog", cpu: map[string]float64{work: ms, "w|" + check: ms}, onCPUs: 2,
			lineName: "Order::_cache", lines: []line{{8, rootPid, true, work, 0}, {8, 101, true, check, 0}},
			lineSamples: cache * perMs, beside: list * perMs}
	}
	for _, test := range []struct {
		name        string
		cache, list int64
		want        ID
	}{
		{"a list that is read", 130, 200, LineFalseSharing},
		{"the cache alone", 330, 0, LineTrueSharing},
		{"mostly the cache", 330, 40, LineTrueSharing},
	} {
		suspects := judged(t, "cpu", side(200, 100, 0), side(600, test.cache, test.list), Costs{})
		if len(suspects) == 0 || suspects[0].Cause != test.want {
			t.Errorf("%s: %+v", test.name, suspects)
		}
	}
}

// What a shared line costs is what code is longer at its words for, beside as much other work,
// while others ran.
func TestCostOfSharing(t *testing.T) {
	for _, test := range []struct {
		name             string
		shared, at, self sides
		calls            bool
		want             float64
	}{
		{"nothing known of lines of one thread", sides{0, 0.5}, sides{}, sides{1, 2}, false, 0.5},
		{"as long beside more work", sides{0, 0.4}, sides{0.2, 0.4}, sides{1, 2}, false, 0},
		{"longer beside as much work", sides{0, 0.7}, sides{0.2, 0.7}, sides{1, 1.5}, false, 0.5},
		{"nothing but the words", sides{0, 0.9}, sides{0.54, 0.9}, sides{0.6, 1.0}, false, 0.36},
		{"while others ran for less", sides{0, 0.3}, sides{0.54, 0.9}, sides{0.6, 1.0}, false, 0.3},
		{"behind calls, as long beside more work", sides{0, 0.3}, sides{0.3, 0.3}, sides{1, 2}, true, 0},
		{"behind calls, longer", sides{0, 0.3}, sides{0.07, 0.3}, sides{0.2, 0.7}, true, 0.23},
	} {
		of := borne{shared: test.shared, at: test.at, self: test.self, calls: test.calls}
		if got := of.cost(); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: %g s, want %g", test.name, got, test.want)
		}
	}
}
