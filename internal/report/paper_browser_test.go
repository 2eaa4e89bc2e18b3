package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"culprit/internal/report/browser"
)

// paperWide is what A4 leaves between its margins, in CSS pixels.
const paperWide = 703

var pdfPage = regexp.MustCompile(`/Type\s*/Page\b`)

// On paper all is open, fits, and is dark on white; what a table leaves out is said. Afterwards the
// page is as before.
func TestPagesOnPaper(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	b := browser.Start(t)
	pages, _ := viewsOf(t)
	for _, v := range pages {
		b.Window(1280, 900, "dark")
		b.Go("file://" + v.path)
		b.Wait("document.readyState === 'complete' && document.querySelector('footer') !== null && " +
			"document.querySelectorAll('figure:not([hidden]) svg, canvas').length > 0")
		const state = "[...document.querySelectorAll('details')].map((one) => Number(one.open)).join('') + " +
			"document.documentElement.dataset.theme + document.documentElement.className"
		before := b.Eval(state)
		lookAtPDF(t, b, v.name)
		if after := b.Eval(state); after != before {
			t.Errorf("%s: printing leaves %s, before it was %s", v.name, after, before)
		}
		b.Eval("dispatchEvent(new Event('beforeprint'))")
		b.Call("Emulation.setEmulatedMedia", browser.Fields{"media": "print", "features": []browser.Fields{}})
		b.Call("Emulation.setDeviceMetricsOverride",
			browser.Fields{"width": paperWide, "height": 1000, "deviceScaleFactor": 1, "mobile": false})
		lookAtPaper(t, b, v.name)
		b.Keep("paper-" + v.name)
		b.Eval("dispatchEvent(new Event('afterprint'))")
		b.Call("Emulation.setEmulatedMedia", browser.Fields{"media": ""})
	}
}

func lookAtPaper(t *testing.T, b *browser.Browser, name string) {
	t.Helper()
	if over := b.Eval("document.documentElement.scrollWidth"); over != strconv.Itoa(paperWide) {
		t.Errorf("%s: on paper it is %s wide: %s", name, over, b.Eval(widest))
	}
	for _, check := range []struct{ what, expression string }{
		{"collapsed", "[...document.querySelectorAll('details:not([open])')].map((one) => one.textContent.slice(0, 80))"},
		{"cut", `[...document.querySelectorAll('svg, canvas, table')]
			.filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
			.map((one) => one.outerHTML.slice(0, 120))`},
		{"only for the screen", `[...document.querySelectorAll('nav, input, select, .tablesave, .top button')]
			.filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 120))`},
		{"scrolled", `[...document.querySelectorAll('.tablescroll')]
			.filter((one) => one.checkVisibility() && one.scrollHeight > one.clientHeight + 1)
			.map((one) => one.ariaLabel)`},
		{"broken words", `[...document.querySelectorAll('.short')].filter((one) => one.checkVisibility() &&
			one.getBoundingClientRect().height > 0 && (() => { const text = document.createRange();
				text.selectNodeContents(one); return text.getClientRects().length > 1 &&
				text.getBoundingClientRect().height > 26; })()).map((one) => one.innerText)`},
		{"pale", `[...document.querySelectorAll('h1, h2, td, th, p')].filter((one) => one.checkVisibility() &&
			!/^rgb\(([0-9]|[1-7][0-9]), ([0-9]|[1-7][0-9]), /.test(getComputedStyle(one).color) &&
			one.closest('[class*=told], [class*=verdict]') === null)
			.map((one) => getComputedStyle(one).color + ' ' + one.outerHTML.slice(0, 120))`},
		{"cut short without a word", `[...document.querySelectorAll('table')].filter((one) =>
			[...one.rows].some((row) => !row.checkVisibility()) && one.checkVisibility() &&
			!(one.closest('.tablescroll').nextElementSibling?.textContent.startsWith('The first ')))
			.map((one) => one.textContent.slice(0, 80))`},
	} {
		if got := b.Eval("JSON.stringify(" + check.expression + ")"); got != "[]" {
			t.Errorf("%s: on paper these are %s: %.1000s", name, check.what, got)
		}
	}
	if got := b.Eval("getComputedStyle(document.body).backgroundColor"); got != "rgb(255, 255, 255)" {
		t.Errorf("%s: on paper the ground is %s", name, got)
	}
	dark := b.Eval(`[...document.querySelectorAll('canvas')].filter((one) => { const { data } =
		one.getContext('2d').getImageData(2, 2, 60, 10); let sum = 0;
		for (let at = 0; at < data.length; at += 4) sum += data[at + 3] === 0 ? 255 : data[at];
		return sum / (data.length / 4) < 110; }).length`)
	if dark != "0" {
		t.Errorf("%s: %s pictures on paper are dark", name, dark)
	}
}

// lookAtPDF prints the page, and leaves it where CULPRIT_PICTURES says.
func lookAtPDF(t *testing.T, b *browser.Browser, name string) {
	t.Helper()
	var answer struct{ Data []byte }
	printed := b.Call("Page.printToPDF",
		browser.Fields{"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": true})
	if err := json.Unmarshal(printed, &answer); err != nil {
		t.Fatal(err)
	}
	pages := len(pdfPage.FindAll(answer.Data, -1))
	t.Logf("%s: %d pages of A4", name, pages)
	if pages < 2 || pages > 40 {
		t.Errorf("%s: printed it has %d pages", name, pages)
	}
	if folder := os.Getenv("CULPRIT_PICTURES"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, "paper-"+name+".pdf"), answer.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
