package cause

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Every kind of a place, of a doubt and of an action, and every role, has a line in the reference:
// who reads the JSON goes by them.
func TestKindsAreDocumented(t *testing.T) {
	reference, err := os.ReadFile("../../docs/reference/json.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, file := range []string{"where.go", "ledger.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			kind, typed := spec.Type.(*ast.Ident)
			text, quoted := spec.Values[0].(*ast.BasicLit)
			if !typed || !quoted {
				return true
			}
			found[kind.Name]++
			value, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			if value != "" && !strings.Contains(string(reference), "`"+value+"`") {
				t.Errorf("docs/reference/json.md does not tell what the %s %q is", kind.Name, value)
			}
			return true
		})
	}
	for _, kind := range []string{"PlaceKind", "Role", "DoubtKind", "Action"} {
		if found[kind] < 4 {
			t.Errorf("%d values of %s were found: are they elsewhere now?", found[kind], kind)
		}
	}
}
