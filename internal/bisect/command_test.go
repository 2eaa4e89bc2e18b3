package bisect

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Whatever a folder or a version is called, it stays one word and is never run.
func TestPlaceholdersStayWords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `a b'c"d$(touch x)`)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{
		{"printf", "%s|", "{dir}/x", "pre-{version}"},
		{`printf '%s|' {dir}/x pre-{version}`},
		{`printf '%s|' "{dir}/x" 'pre-{version}'`},
		{`printf "%s|" "{dir}"/x "pre-"{version}`},
		{`printf %s\| {dir}/x pre-"{version}"`},
	} {
		shell := exec.Command("/bin/sh", "-c", commandOf(words))
		shell.Dir = t.TempDir()
		shell.Env = append(os.Environ(), "CULPRIT_DIR="+dir, "CULPRIT_VERSION=1.0;true `x`")
		text, err := shell.CombinedOutput()
		if want := dir + "/x|pre-1.0;true `x`|"; err != nil || string(text) != want {
			t.Errorf("%q: %q, %v, want %q", commandOf(words), text, err, want)
		}
	}
}
