package agent

import (
	"os"
	"testing"

	"culprit/internal/agent/service"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func newNamer(t *testing.T) *service.Namer {
	t.Helper()
	return service.NewNamer(t.TempDir())
}
