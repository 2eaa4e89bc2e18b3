package cause

import (
	"strings"

	"culprit/internal/code"
	"culprit/internal/compare/lines"
)

// SharedLine is the cache line of a suspect: what lies in it, who touches it, and how its code's
// language keeps such words apart.
type SharedLine struct {
	Words []lines.Word `json:"words"` // by offset; what was not seen to be touched is left out
	// Separate tells the way of each language of the code that touches it.
	Separate []Separation `json:"separate"`
}

// Price is what threads would gain if they did not share the lines that they share, all of them.
type Price struct {
	Verdict PriceVerdict `json:"verdict"`
	Gain    Effect       `json:"gain"` // how many times as much work they would do in the same CPU time
}

// PriceVerdict says whether sharing costs anything.
type PriceVerdict string

// The verdicts.
const (
	PriceCostly    PriceVerdict = "costly"
	PriceHarmless  PriceVerdict = "harmless"
	PriceUndecided PriceVerdict = "undecided"
)

// Separation is one language's way.
type Separation struct {
	Language string `json:"language"`
	How      string `json:"how"`
}

// padding is how words are kept on lines of their own; copies how each thread gets one of its own,
// which is what helps where they share one word.
var separations = map[string]struct{ padding, copies string }{
	code.LanguageC: {"_Alignas(64) (alignas(64) since C23) on the first member behind the mark, or on the struct " +
		"whose elements threads divide among themselves",
		"a _Thread_local counter for each thread, added up when it is read"},
	code.LanguageCPP: {"alignas(std::hardware_destructive_interference_size) (64) on the member behind the mark, or on " +
		"the type whose elements threads divide among themselves",
		"a thread_local counter for each thread, added up when it is read; of reference counts: pass by reference, " +
			"copy the shared_ptr less often"},
	code.LanguageGo: {"a field _ cpu.CacheLinePad (golang.org/x/sys/cpu) at the mark, or at the end of the " +
		"element's struct",
		"a slice with a padded counter for each worker, added up when it is read"},
	code.LanguageJava: {"@jdk.internal.vm.annotation.Contended on the field behind the mark (-XX:-RestrictContended " +
		"and --add-exports java.base/jdk.internal.vm.annotation=ALL-UNNAMED), or unused long fields in a superclass; " +
		"elements of an array 64 bytes apart (every eighth long)",
		"java.util.concurrent.atomic.LongAdder instead of one AtomicLong; a ThreadLocal"},
	code.LanguageRust: {"crossbeam_utils::CachePadded<T> around what stands behind the mark, or #[repr(align(64))] on " +
		"the type whose elements threads divide among themselves",
		"thread_local! or a padded counter for each worker, added up when it is read"},
}

// Drawn is the line as a suspect tells it; nil where it has no drawing.
func Drawn(line *lines.Line) *SharedLine {
	if line.Drawing == nil || len(line.Drawing.Words) == 0 {
		return nil
	}
	shared := &SharedLine{Words: line.Drawing.Words, Separate: []Separation{}}
	if line.Monitor { // a lock is one word by design: the remedy is its cause's
		return shared
	}
	for _, language := range line.Languages {
		if way, known := separations[language]; known && line.False {
			shared.Separate = append(shared.Separate, Separation{language, way.padding})
		} else if known {
			shared.Separate = append(shared.Separate, Separation{language, "padding does not help where it is one word; " +
				way.copies})
		}
	}
	return shared
}

// String is the ways in one sentence.
func (l *SharedLine) String() string {
	var ways []string
	for _, one := range l.Separate {
		ways = append(ways, one.Language+": "+one.How)
	}
	return strings.Join(ways, "; ")
}
