package compare

import (
	"testing"

	"culprit/recording"
)

func withNames(kind recording.FrameKind, names ...string) []*recording.Recording {
	rec := &recording.Recording{}
	for _, name := range names {
		rec.Frames = append(rec.Frames, recording.Frame{Name: name, Kind: kind})
	}
	return []*recording.Recording{rec}
}

func TestFramesOfTwoVersionsAreMatched(t *testing.T) {
	for _, c := range []struct {
		name         string
		kindA, kindB recording.FrameKind
		a, b         []string
		old, now     string // now is of B; matched when both are one frame
		matched      bool
	}{
		{"a closure numbered anew", "go", "go", []string{"main.run.func2"}, []string{"main.run.func3"},
			"main.run.func2", "main.run.func3", true},
		{"a line that moved", "node", "node", []string{"work /srv/x.js:10:5"}, []string{"work /srv/x.js:14:5"},
			"work /srv/x.js:10:5", "work /srv/x.js:14:5", true},
		{"a parameter more", "native", "native", []string{"ns::f(int)"}, []string{"ns::f(int, long)"}, "ns::f(int)",
			"ns::f(int, long)", true},
		{"another kind of code", "native", "go", []string{"main.work"}, []string{"main.work"}, "main.work", "main.work",
			true},
		{"one more closure: which is which is not known", "go", "go", []string{"main.run.func2"},
			[]string{"main.run.func3", "main.run.func4"}, "main.run.func2", "main.run.func3", false},
		{"another function with a number", "native", "native", []string{"sha1_block"}, []string{"sha256_block"},
			"sha1_block", "sha256_block", false},
		{"both sides have it", "go", "go", []string{"f.func1", "f.func2"}, []string{"f.func1", "f.func3"}, "f.func1",
			"f.func3", false},
	} {
		a, b := withNames(c.kindA, c.a...), withNames(c.kindB, c.b...)
		shared := newPool()
		shared.matchRenamed(a, b)
		first := shared.frame(recording.Frame{Name: c.old, Kind: c.kindA})
		if second := shared.frame(recording.Frame{Name: c.now, Kind: c.kindB}); (first == second) != c.matched {
			t.Errorf("%s: matched %v", c.name, first == second)
		}
	}
}

func TestJavaNamesOfOtherTools(t *testing.T) {
	for _, name := range []string{"Lcom/shop/Cart;::add", "com/shop/Cart.add", "com.shop.Cart.add",
		"void com.shop.Cart.add(int)"} {
		if got := normalFrame(recording.Frame{Name: name, Kind: recording.KindJVM}).Name; got != "com.shop.Cart.add" {
			t.Errorf("%s is %s", name, got)
		}
	}
	if got := normalFrame(recording.Frame{Name: "net/http.(*conn).serve", Kind: recording.KindGo}).Name; got !=
		"net/http.(*conn).serve" {
		t.Errorf("Go's name became %s", got)
	}
}
