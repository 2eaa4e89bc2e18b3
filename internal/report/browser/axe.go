package browser

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// AxeSource is the script of axe-core, which the page does not hold: `npm ci` in web/ brings it,
// and `make deps`. Where that could not be, the test is skipped with what .ci/axe wrote down.
func AxeSource(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("CULPRIT_TEST_AXE")
	if folder == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		folder = filepath.Join(home, ".cache/culprit-test-axe")
	}
	const script = "node_modules/axe-core/axe.min.js"
	for _, place := range []string{filepath.Join(repository(t), "web"), folder} {
		if text, err := os.ReadFile(filepath.Join(place, script)); err == nil {
			return string(text)
		}
	}
	if why, err := os.ReadFile(filepath.Join(folder, "why")); err == nil {
		t.Skipf("axe-core could not be installed: %s", bytes.TrimSpace(why))
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("no axe-core, and no npm to get it with: apt-get install npm, then make deps")
	}
	t.Fatalf("no axe-core in %s: run `bash .ci/axe` (make test does)", folder)
	return ""
}

// repository is the folder that the page's sources lie in: a module may lie within another.
func repository(t *testing.T) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "web/package.json")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			t.Fatal("find the repository: no web/package.json above the working directory")
		}
	}
}

// AxeAll are the rules for everything that is shown; AxeColours only those that colours can break.
const (
	AxeAll     = `{type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}`
	AxeColours = `{type: 'rule', values: ['color-contrast']}`
)

// Axe checks what is shown within an element by some of the rules, and says what breaks them: the
// rule, the element, and what is wrong.
func (b *Browser) Axe(source, rules, within string) (broken []string) {
	b.t.Helper()
	if b.Eval("typeof axe") != "object" {
		b.Eval("(() => { " + source + "\n; return typeof axe; })()")
	}
	answer := b.Eval(`(async () => {
		const found = await axe.run(` + strconv.Quote(within) + `,
			{resultTypes: ['violations'], runOnly: ` + rules + `});
		return JSON.stringify(found.violations.flatMap((rule) => rule.nodes.map((node) =>
			rule.id + ': ' + node.target.join(' ') + ': ' + (node.failureSummary ?? '').replace(/\s+/g, ' '))));
	})()`)
	if err := json.Unmarshal([]byte(answer), &broken); err != nil {
		b.t.Fatalf("axe answered %.300s: %v", answer, err)
	}
	return broken
}
