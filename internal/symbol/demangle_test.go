package symbol

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDemangle(t *testing.T) {
	for name, want := range map[string]string{
		"main":                                   "main",
		"_ZN3foo3barEi":                          "foo::bar",
		"_ZN3foo3barEi@plt":                      "foo::bar@plt",
		"_ZN3foo3barEi.part.0":                   "foo::bar",
		"_ZNSt6vectorIiSaIiEE9push_backEOi":      "std::vector<int, std::allocator<int> >::push_back",
		"_ZN4core3fmt5write17h0123456789abcdefE": "core::fmt::write",
		"_RNvCs1234_7mycrate3foo":                "mycrate::foo",
		"_ZN":                                    "_ZN",
		"_Rubbish":                               "_Rubbish",
		"main.(*Server).Run":                     "main.(*Server).Run",
		"größe":                                  "größe",
		"evil\x1b[31mred\n":                      "evil[31mred",
		"right\u202eto left":                     "rightto left",
		"bad\xff":                                "bad?",
		"":                                       "",
	} {
		if got := Demangle(name); got != want {
			t.Errorf("Demangle(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDemangleKeepsNamesShort(t *testing.T) {
	deep := "_ZN1aI" + strings.Repeat("N1bI", 60) + "i" + strings.Repeat("EE", 60) + "E1fEv"
	for _, name := range []string{deep, strings.Repeat("x", 100_000), strings.Repeat("ö", 5000),
		"_Z" + strings.Repeat("S_", 40_000), "_R" + strings.Repeat("I", 50_000)} {
		got := Demangle(name)
		if len(got) > maxReadableBytes || !utf8.ValidString(got) || got == "" {
			t.Errorf("%d bytes out of %d: %.80q", len(got), len(name), got)
		}
	}
	if got := Demangle(deep); got != "a::f" {
		t.Errorf("template arguments are kept: %q", got)
	}
}

func TestDemanglerRemembers(t *testing.T) {
	demangler := NewDemangler(2)
	for range 3 {
		for name, want := range map[string]string{"_ZN1a1bEv": "a::b", "_ZN1a1cEv": "a::c", "d": "d"} {
			if got := demangler.Name(name); got != want {
				t.Errorf("Name(%q) = %q", name, got)
			}
		}
	}
	if len(demangler.known) > 2 {
		t.Errorf("%d names are remembered", len(demangler.known))
	}
}

func FuzzDemangle(f *testing.F) {
	for _, name := range []string{"_ZNSt6vectorIiSaIiEE9push_backEOi", "_RNvCs1234_7mycrate3foo", "a\x1b\xff",
		"f.isra.0"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := Demangle(name)
		if !utf8.ValidString(got) || len(got) > maxReadableBytes || strings.ContainsAny(got, "\x00\n\x1b") {
			t.Errorf("Demangle(%q) = %q", name, got)
		}
		if short := Normalise(got); len(short) > len(got)+len(unknownName) {
			t.Errorf("Normalise(%q) = %q", got, short)
		}
	})
}

func BenchmarkDemangle(b *testing.B) {
	for b.Loop() {
		Demangle("_ZNSt6vectorIiSaIiEE9push_backEOi")
	}
}
