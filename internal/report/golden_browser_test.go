package report

import (
	"path/filepath"
	"strings"
	"testing"

	"culprit/internal/report/browser"
)

// Part of all blocks of a picture that may differ, as measured: decision 0055.
const (
	svgApart    = 0.0022
	canvasApart = 0.01  // labels that do not fit their boxes are cut elsewhere in another font
	listApart   = 0.004 // of a narrow list, where all stands closer; with another font 0.0022
)

// drawnPart is a part of a page, drawn from data that stay.
type drawnPart struct {
	name, path, part, scheme string
	width                    int
	most                     float64
	faults                   map[string]string
}

func drawnParts(t *testing.T) []drawnPart {
	t.Helper()
	folder := t.TempDir()
	found, swept := filepath.Join(folder, "case.html"), filepath.Join(folder, "experiment.html")
	if err := HTML(found, worseCase()); err != nil {
		t.Fatal(err)
	}
	if err := ExperimentHTML(swept, sweptExperiment(4)); err != nil {
		t.Fatal(err)
	}
	return []drawnPart{
		{"dots-light", found, "#trials figure", "light", 1280, svgApart, map[string]string{
			"colours swapped":                ":root { --a: #c24e00 !important; --b: #00669f !important; }",
			"labels missing":                 "figure svg text { display: none; }",
			"labels that lie on the drawing": "figure svg .tick { translate: 60px -40px; }"}},
		{"dots-dark", found, "#trials figure", "dark", 1280, svgApart, nil},
		{"dots-narrow", found, "#trials figure", "light", 360, svgApart, nil},
		// A style sheet reaches nothing in a canvas.
		{"flame-light", found, "#flame canvas", "light", 1280, canvasApart,
			map[string]string{"other colours": "canvas { filter: hue-rotate(180deg); }"}},
		{"flame-dark", found, "#flame canvas", "dark", 1280, canvasApart, nil},
		{"experiment-light", swept, "#worth figure", "light", 1280, svgApart, nil},
		{"suspects-light", found, "#suspects", "light", 1280, svgApart, map[string]string{
			"the other order":     "#suspects { display: flex; flex-direction: column-reverse; }",
			"bars missing":        ".sharebar { display: none; }",
			"bars without shares": ".sharebar .amount { width: 100px; }",
			"levels alike":        ".level { all: unset; }"}},
		{"suspects-narrow", found, "#suspects", "dark", 360, listApart, nil},
	}
}

// open shows the part, of the suspects the list of them alone: their text wraps elsewhere with
// another font.
func (g drawnPart) open(b *browser.Browser) {
	b.Window(g.width, 900, g.scheme)
	b.Go("about:blank")
	b.Go("file://" + g.path)
	b.Wait("document.readyState === 'complete' && document.querySelector('footer') !== null && " +
		"document.querySelector('" + g.part + "')?.getBoundingClientRect().height > 60 && " +
		"document.querySelector('" + g.part + "').matches('canvas[data-boxes], :has(svg)')")
	b.Eval("document.querySelectorAll('#suspects details').forEach((one) => { one.open = false; })")
}

// Pictures look as those that somebody looked at; `go test ./internal/report -run TestPicturesStay
// -update` renews them. Another font changes nothing, and what would be a fault is one.
func TestPicturesStay(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	b := browser.Start(t)
	b.Call("Emulation.setTimezoneOverride", browser.Fields{"timezoneId": "UTC"})
	b.Call("Emulation.setLocaleOverride", browser.Fields{"locale": "en-US"})
	for _, g := range drawnParts(t) {
		g.open(b)
		told, wrong := b.Stays(browser.Look{Path: filepath.Join("testdata/pictures", g.name+".png"), Selector: g.part,
			Most: g.most, Faults: g.faults, Update: *update})
		t.Log(strings.Join(told, "\n"))
		if len(wrong) > 0 {
			t.Error(strings.Join(wrong, "\n"))
			b.Keep("golden-" + g.name)
		}
	}
}
