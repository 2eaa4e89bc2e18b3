package report

import (
	"flag"
	"os"
	"testing"

	"culprit/internal/investigate"
	"culprit/internal/report/typescript"
	"culprit/internal/try"
)

var update = flag.Bool("update", false, "write the golden files and the page's types anew")

// TestTypeScriptTypes keeps the page's types the same as those of the document, and of what the
// page gets beside it.
func TestTypeScriptTypes(t *testing.T) {
	for file, types := range map[string][]any{
		"case.ts":       {investigate.Case{}},
		"page.ts":       {verdict{}, requestPage{}, callColumns{}},
		"experiment.ts": {try.Result{}, experimentWords{}},
		"worth.ts":      {weighedView{}},
	} {
		path, want := "../../web/src/api/"+file, typescript.Of(types)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the Go types say: run go generate ./internal/report, then make generate",
				path)
		}
	}
}
