package report

import (
	"path/filepath"
	"strings"
	"testing"

	"culprit/internal/report/browser"
)

// The tabulator gets to everything on every page, and shows where it is.
func TestTabulatorReachesAll(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	b := browser.Start(t)
	pages, _ := viewsOf(t)
	for _, v := range pages {
		b.Window(1280, 900, "light")
		b.Go("file://" + v.path)
		b.Wait("document.readyState === 'complete' && document.querySelector('footer') !== null")
		b.Eval("(document.querySelectorAll('.suspect').forEach((one) => { one.open = true; }), '')")
		stops, wrong := b.Walk()
		if sections := b.Eval("document.querySelectorAll('main section').length"); stops < 20 {
			t.Errorf("%s: the tabulator stops %d times in %s sections", v.name, stops, sections)
		}
		for _, one := range wrong {
			t.Errorf("%s: %s", v.name, one)
		}
	}
}

// A reader without a mouse goes to the flame graph, chooses a shape, moves, zooms, searches, sorts
// and opens.
func TestPageByKeysAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	b := browser.Start(t)
	path := filepath.Join(t.TempDir(), "case.html")
	if err := HTML(path, threadedCase()); err != nil {
		t.Fatal(err)
	}
	show(b, path, 1280, 900, "light")
	b.TabTo("header nav a", "Flame graph")
	b.Key("Enter")
	b.Wait("location.hash === '#flame'")
	b.TabTo(".choice button", "by thread")
	if got := b.Eval("document.activeElement.closest('section').id"); got != "flame" {
		t.Errorf("after the link to the flame graph the tabulator is in %s", got)
	}
	b.Key(" ")
	b.Wait("location.hash.includes('shape=thread')")
	b.TabTo("canvas", "")
	status := func() string { return b.Eval("document.querySelector('.flame .status').innerText") }
	for _, step := range []struct{ key, want string }{
		{"ArrowDown", "all"}, {"ArrowDown", "helper"}, {"ArrowRight", "server"}, {"ArrowLeft", "helper"},
		{"ArrowDown", "helper"}, {"ArrowDown", "main"}, {"ArrowUp", "helper"}, {"Enter", "helper"},
	} {
		b.Key(step.key)
		if got := status(); !strings.HasPrefix(got, step.want) {
			t.Errorf("after %s the frame is %q, want %s", step.key, got, step.want)
		}
	}
	if got := b.Eval("decodeURIComponent(location.hash)"); !strings.Contains(got, "~helper") {
		t.Errorf("Enter zooms to %q", got)
	}
	b.Key("Escape")
	if got := b.Eval("location.hash"); strings.Contains(got, "zoom") {
		t.Errorf("Escape leaves %q", got)
	}
	b.TabTo("summary", "Table of the same data")
	b.Key("Enter")
	b.TabTo(".sort", "Frame")
	order := "[...document.querySelectorAll('#flame tbody .frame bdi')].map((one) => one.textContent).join()"
	before := b.Eval(order)
	b.Key("Enter")
	if b.Eval("document.activeElement.closest('th').ariaSort") != "ascending" || b.Eval(order) == before {
		t.Error("Enter does not sort by the heading")
	}
	b.Key(" ")
	if got := b.Eval("document.activeElement.closest('th').ariaSort"); got != "descending" {
		t.Errorf("Space sorts %s", got)
	}
	b.Key("/")
	b.Call("Input.insertText", browser.Fields{"text": "^ticker"})
	b.Wait("document.querySelector('#flame').innerText.includes('outermost matches cover')")
	b.TabTo(".top button", "Dark")
	b.Key(" ")
	b.Wait("document.documentElement.dataset.theme === 'dark'")
	b.TabTo(".suspect:not([open]) > summary", "2")
	b.Key("Enter")
	b.Wait("document.querySelectorAll('.suspect[open]').length === 2")
}
