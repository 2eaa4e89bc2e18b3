package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"culprit/internal/report/browser"
)

// Every view of the server is checked by axe-core in light and dark colours, reached by keys, and
// fits a telephone.
func TestServeIsAccessible(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	source := browser.AxeSource(t)
	dir := t.TempDir()
	for i := range int64(3) {
		madeRecording(t, filepath.Join(dir, fmt.Sprintf("old-%d.culprit", i)), 200+i, 100+i, 1000)
	}
	if err := os.WriteFile(filepath.Join(dir, "cut.culprit"), []byte("PK\x03\x04"), 0o644); err != nil {
		t.Fatal(err)
	}
	const token = "0123456789abcdef-token"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, dir, "--token-file", file)
	b := browser.Start(t)
	check := func(name string) {
		t.Helper()
		for _, scheme := range []string{"dark", "light"} {
			rules := map[string]string{"dark": browser.AxeColours, "light": browser.AxeAll}[scheme]
			b.Window(360, 740, scheme)
			b.Wait("location.pathname === '/login' || document.documentElement.dataset.theme === '" + scheme + "'")
			for _, broken := range b.Axe(source, rules, "html") {
				t.Errorf("%s, %s: %.500s", name, scheme, broken)
			}
		}
		if width := b.Eval("document.documentElement.scrollWidth"); width != "360" {
			t.Errorf("%s: %s pixels wide on a telephone", name, width)
		}
		b.Keep("serve-" + strings.ReplaceAll(name, " ", "-"))
	}
	b.Window(360, 740, "light")
	b.Go(s.address + "/")
	b.Wait("location.pathname === '/login' && document.querySelector('[name=token]') !== null")
	check("login")
	b.Eval("(document.querySelector('[name=token]').focus(), '')")
	b.Call("Input.insertText", browser.Fields{"text": token})
	b.Key("Enter")
	b.Wait("document.querySelectorAll('#library tbody tr').length === 4")
	check("library")
	for _, form := range []string{"Slow requests", "Investigate", "Put a file in"} {
		b.TabTo("#start .choice button", form)
		b.Key(" ")
		b.Wait("document.activeElement.ariaPressed === 'true'")
		check(form)
	}
	b.TabTo(".pickA", "A")
	b.Key(" ")
	b.Wait("document.querySelector('.comparebar') !== null")
	check("compare")
	b.Window(1280, 900, "light")
	if _, wrong := b.Walk(); len(wrong) > 0 {
		t.Errorf("by keys: %s", strings.Join(wrong, "\n"))
	}
	b.TabTo("#library td a", "old-")
	b.Key("Enter")
	b.Wait("location.pathname.startsWith('/recording/') && document.querySelector('footer') !== null")
	check("recording")
	s.interrupt()
}
