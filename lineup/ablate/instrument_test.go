package ablate

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

const judged = `package cause

import "time"

const (
	least = 0.2
	half  = least / 2
	few   = 3
	long  = 4 * time.Second
)

type rule struct {
	name string
	ask  func(int) bool
}

type reason struct{ Rule }

type Rule string

var rules = []rule{{"even", even}}

var longest = long + time.Minute

func even(n int) bool { return float64(n) < 100*half && n%few == 0 }

func reasons() []reason { return []reason{{"first"}, {"second"}} }

var all = reasons()

func kept(list []int) []int { return list[:min(few, len(list))] }

var fixed [few]int
`

// typed checks sources as if they were the judging package.
func typed(t *testing.T, text string) *code {
	t.Helper()
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, "a.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	c := &code{path: module + "/" + judging, sources: []source{{"a.go", text, syntax, files}},
		info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
			Defs: map[*ast.Ident]types.Object{}}}
	c.types, err = (&types.Config{Importer: importer.ForCompiler(files, "source", nil)}).Check(c.path, files,
		[]*ast.File{syntax}, &c.info)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Numbers are read from the tables, also those that are made of a varied one; rules ask; what must
// be a constant is left to be compiled alone.
func TestInstrument(t *testing.T) {
	c := typed(t, judged)
	variants := find(c.sources)
	in := newInstrument([]*code{c}, variants)
	files := in.together([]*code{c}, "")
	text := files["a.go"]
	for _, want := range []string{
		`{"even", vary.Gives1(8, even)}`,
		"vary.Value(func() bool { return float64(n) < float64(vary.FloatIn(0)) }, []int{0}, []int{})",
		"time.Duration(vary.Integer(0))",
		`vary.Without([]reason{{"first"}, {"second"}}, 9, 10)`,
		"all = first_all()",
		"longest = first_longest()",
		"vary.Value(func() int { return min(int(vary.IntegerIn(",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the changed source lacks %s:\n%s", want, text)
		}
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "a.go", text, 0); err != nil {
		t.Errorf("the changed source is no Go: %v", err)
	}
	for i, v := range variants {
		if alone := in.alone[i] != ""; alone != strings.Contains(v.Of, ".few") {
			t.Errorf("%s: alone %q", v, in.alone[i])
		}
	}
	table := files[tablesFile]
	for _, want := range []string{"floats = []float64{10}", "{[]float{{0, 7.5}}, []integer{}, false, false, false}",
		"{[]float{}, []integer{}, true, false, false}"} {
		if !strings.Contains(table, want) {
			t.Errorf("the tables lack %s:\n%s", want, table)
		}
	}
}
