package cause

import (
	"strings"
	"testing"

	"culprit/internal/code"
	"culprit/internal/compare/lines"
)

// Words are kept apart in the way of their code's language; who shares one word is told of copies,
// and of a lock neither helps.
func TestDrawn(t *testing.T) {
	drawing := &lines.Drawing{Words: []lines.Word{{Offset: 8, Size: 8}}}
	for name, test := range map[string]struct {
		line lines.Line
		want string
	}{
		"words of several threads": {lines.Line{False: true}, "every eighth long"},
		"one word":                 {lines.Line{}, "LongAdder"},
		"a lock":                   {lines.Line{Monitor: true}, ""},
	} {
		test.line.Drawing, test.line.Languages = drawing, []string{code.LanguageJava}
		drawn := Drawn(&test.line)
		if drawn == nil || len(drawn.Words) != 1 {
			t.Fatalf("%s: %+v", name, drawn)
		}
		if got := drawn.String(); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
	if drawn := Drawn(&lines.Line{}); drawn != nil {
		t.Errorf("without a drawing: %+v", drawn)
	}
}
