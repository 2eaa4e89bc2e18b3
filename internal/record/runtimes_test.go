package record

import (
	"os"
	"path/filepath"
	"testing"
)

// What a command needs is told before it runs: by its file, by what that is a link to, by its first
// line.
func TestRunTimeOfCommand(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(folder, "serve")
	if err := os.Symlink(write("python3.11", "\x7fELF"), link); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ words, want string }{
		{write("java", "\x7fELF"), "Java"},
		{link, "Python"},
		{write("report", "#!/usr/bin/env -S ruby -w\nputs 1\n"), "Ruby"},
		{write("page", "#!/usr/bin/php8.2\n"), "PHP"},
		{write("tool", "#!/bin/sh\nexec python3 x\n"), ""}, // what it starts is found out when it comes
		{write("empty", ""), ""},
		{filepath.Join(folder, "missing"), ""},
	} {
		if got := RunTimeOfCommand([]string{test.words}); got != test.want {
			t.Errorf("%s needs %q, want %q", filepath.Base(test.words), got, test.want)
		}
	}
	if got := RunTimeOfCommand(nil); got != "" {
		t.Errorf("no command needs %q", got)
	}
}
