package code

import (
	"path"
	"strings"

	"culprit/recording"
)

// The languages that Language tells.
const (
	LanguageC    = "C"
	LanguageCPP  = "C++"
	LanguageGo   = "Go"
	LanguageJava = "Java" // or another of its machine
	LanguageRust = "Rust"
)

// sources are the languages of source files.
var sources = map[string]string{".c": LanguageC, ".cc": LanguageCPP, ".cpp": LanguageCPP, ".cxx": LanguageCPP,
	".hpp": LanguageCPP, ".rs": LanguageRust, ".go": LanguageGo}

// rustStart are parts of the names that functions of Rust's standard library have at the begin of
// threads (Rust 1.0 to 1.90).
var rustStart = []string{"std::rt::lang_start", "__rust_begin_short_backtrace", "__rust_try", "std::panicking::",
	"<alloc::boxed::Box<dyn core::ops::function::FnOnce", "std::sys::pal::unix::thread::", "std::sys::thread::"}

// Language is what the innermost function of a stack outside the kernel is written in, as far as
// its kind, its file, its name and its callers tell; "" for what is interpreted.
func Language(frames []recording.Frame) string {
	for len(frames) > 0 && frames[len(frames)-1].Kind == recording.KindKernel {
		frames = frames[:len(frames)-1]
	}
	if len(frames) == 0 {
		return ""
	}
	switch last := frames[len(frames)-1]; last.Kind {
	case recording.KindGo:
		return LanguageGo
	case recording.KindJVM:
		return LanguageJava
	case recording.KindNative:
		if of := sources[path.Ext(last.File)]; of != "" {
			return of
		}
		for _, frame := range frames {
			if containsAny(frame.Name, rustStart) {
				return LanguageRust
			}
		}
		if strings.Contains(last.Name, "::") || strings.HasSuffix(last.Name, ")") && !ByAddress(last) {
			return LanguageCPP
		}
		return LanguageC
	}
	return ""
}
