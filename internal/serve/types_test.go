package serve

import (
	"flag"
	"os"
	"testing"

	"culprit/internal/fleet/client"
	"culprit/internal/report/typescript"
)

var update = flag.Bool("update", false, "write the page's types anew")

// TestTypeScriptTypes keeps the library's types in the page the same as those of the answers.
func TestTypeScriptTypes(t *testing.T) {
	compareTypes(t, "../../web/src/api/library.ts", libraryAnswer{}, jobsAnswer{}, recordingRequest{}, tailRequest{},
		investigationRequest{}, comparison{})
	compareTypes(t, "../../web/src/api/fleet.ts", fleetAnswer{}, client.Typed{}, FleetLine{}, linesRequest{})
}

func compareTypes(t *testing.T, path string, values ...any) {
	t.Helper()
	want := typescript.Of(values)
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
		t.Errorf("%s is not what the Go types say: run go generate ./internal/serve, then make generate", path)
	}
}
