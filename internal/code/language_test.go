package code

import (
	"testing"

	"culprit/recording"
)

// The language of code is told by its kind, its file, its name or its callers.
func TestLanguage(t *testing.T) {
	native := func(name, file string) recording.Frame {
		return recording.Frame{Name: name, Kind: recording.KindNative, File: file}
	}
	kernel := recording.Frame{Name: "asm_exc_page_fault", Kind: recording.KindKernel}
	for _, one := range []struct {
		frames []recording.Frame
		want   string
	}{
		{nil, ""},
		{[]recording.Frame{kernel}, ""},
		{[]recording.Frame{{Name: "main.worker", Kind: recording.KindGo}}, LanguageGo},
		{[]recording.Frame{{Name: "Work#run", Kind: recording.KindJVM}}, LanguageJava},
		{[]recording.Frame{{Name: "run", Kind: recording.KindPython}}, ""},
		{[]recording.Frame{native("start_thread", ""), native("count", ""), kernel}, LanguageC},
		{[]recording.Frame{native("count", "/src/count.rs")}, LanguageRust},
		{[]recording.Frame{native("count", "/src/count.cpp")}, LanguageCPP},
		{[]recording.Frame{native("main::{lambda()#1}::operator()", "")}, LanguageCPP},
		{[]recording.Frame{native("serve(long)", "")}, LanguageCPP},
		{[]recording.Frame{native("std::rt::lang_start::{{closure}}", ""), native("main::report", "")}, LanguageRust},
		{[]recording.Frame{{Name: "gzip+0x4f5c()", Kind: recording.KindNative, Module: "gzip"}}, LanguageC},
	} {
		if got := Language(one.frames); got != one.want {
			t.Errorf("%+v: %q, want %q", one.frames, got, one.want)
		}
	}
}
