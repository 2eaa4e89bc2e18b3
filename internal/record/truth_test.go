package record

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// programs are the truth programs of testdata, compiled once.
var programs compiled

type compiled struct {
	folder string
	mu     sync.Mutex
	failed map[string]error
	made   map[string]string
}

// compile builds testdata/<source> with the compiler of its language and returns the words that run
// it.
func (c *compiled) compile(t *testing.T, source string) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made, c.failed = map[string]string{}, map[string]error{}
	}
	if c.made[source] == "" && c.failed[source] == nil {
		name := strings.NewReplacer(".", "-", "/", "-").Replace(source)
		out := filepath.Join(c.folder, name)
		if ready, err := filepath.Abs(filepath.Join("testdata", "built", name)); err == nil && exists(ready) {
			out = ready // in a guest, which has no compilers (cases/guest)
		} else {
			c.failed[source] = build(source, out)
		}
		c.made[source] = out
	}
	if err := c.failed[source]; err != nil {
		t.Fatal(err)
	}
	return c.made[source]
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func build(source, out string) error {
	path := filepath.Join("testdata", source)
	var words []string
	switch filepath.Ext(source) {
	case ".c":
		words = []string{"gcc", "-O2", "-fomit-frame-pointer", "-pthread", "-o", out, path}
	case ".cpp":
		words = []string{"clang-19", "-O2", "-fomit-frame-pointer", "-o", out, path}
	case ".go":
		words = []string{"go", "build", "-o", out, path}
	case ".java": // the class runs on 17 and 25
		words = []string{"javac", "--release", "17", "-d", out, path}
	default:
		return errors.New("no compiler for " + source)
	}
	command := exec.Command(words[0], words[1:]...)
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("compile %s: %w: %s", source, err, text)
	}
	return nil
}
