package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"culprit/internal/report/browser"
)

// TestExperimentPageInBrowser opens the page of an experiment with hostile names in Chromium: it
// fits a telephone and a desk, is dark and light, and neither complains nor asks for anything.
func TestExperimentPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	b := browser.Start(t)
	path := filepath.Join(t.TempDir(), "report.html")
	if err := ExperimentHTML(path, hostileExperiment()); err != nil {
		t.Fatal(err)
	}
	grounds := map[string]string{}
	for width, scheme := range map[int]string{360: "light", 1200: "dark"} {
		b.Window(width, 900, scheme)
		b.Go("file://" + path)
		b.Wait("document.readyState === 'complete' && document.querySelector('footer') !== null")
		if over := b.Eval("document.documentElement.scrollWidth"); over != fmt.Sprint(width) {
			t.Errorf("at %d pixels the page is %s wide", width, over)
		}
		grounds[scheme] = b.Eval("getComputedStyle(document.body).backgroundColor")
	}
	if grounds["light"] == grounds["dark"] {
		t.Error("dark and light look the same")
	}
	if style := b.Eval("getComputedStyle(document.querySelector('main')).display"); style != "grid" {
		t.Errorf("the policy keeps the page's own style out: %s", style)
	}
	if title := b.Eval("document.title"); !strings.HasPrefix(title, "culprit: <SCRIPT>ALERT(1)") {
		t.Errorf("title is %q", title)
	}
	trouble, requests := b.Troubles()
	if len(trouble) > 0 {
		t.Errorf("the page made noise: %.3000s", strings.Join(trouble, "\n"))
	}
	for _, request := range requests {
		if request != "file://"+path && request != "about:blank" {
			t.Errorf("the page asked for %s", request)
		}
	}
}
