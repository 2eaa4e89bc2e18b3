package perfdata

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A perf that prints what it was given, fails, or does not exist.
func TestScript(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "perf.data")
	if err := os.WriteFile(data, []byte("PERFILE2 and so on"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !Is(data) || Is(folder) || Is(filepath.Join(folder, "none")) || Is("/dev/zero") {
		t.Error("what is a perf.data file is not told")
	}
	perf := filepath.Join(folder, "perf")
	for _, test := range []struct{ text, want, fails string }{
		{"#!/bin/sh\necho \"$1 of\" $6 $7 ${DEBUGINFOD_URLS:-nowhere}\n", "script of -i " + data + " nowhere\n", ""},
		{"#!/bin/sh\necho some\necho 'incompatible file format' >&2\nexit 3\n", "some\n", "incompatible file format"},
	} {
		if err := os.WriteFile(perf, []byte(test.text), 0o700); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(Script(t.Context(), perf, data))
		if string(text) != test.want || (err == nil) != (test.fails == "") ||
			err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%q and %v of %s", text, err, test.text)
		}
	}
	if _, err := io.ReadAll(Script(t.Context(), filepath.Join(folder, "no"), data)); err == nil ||
		!strings.Contains(err.Error(), "install it") {
		t.Errorf("without perf: %v", err)
	}
	if err := os.WriteFile(perf, []byte("#!/bin/sh\necho some\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	reader := Script(ctx, perf, data)
	if _, err := reader.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := io.ReadAll(reader); err == nil {
		t.Error("it ended well, though it was stopped")
	}
}
