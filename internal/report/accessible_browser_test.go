package report

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/internal/compare"
	"culprit/internal/investigate"
	"culprit/internal/report/browser"
	"culprit/internal/tail"
	"culprit/recording"
)

// threadedCase is a case whose time several threads of two processes spent. Its lists are short:
// each row takes a check longer, and none of them another way.
func threadedCase() *investigate.Case {
	c := judgedCase()
	c.Trials, c.Items = c.Trials[:18], c.Items[:18]
	c.Suspects = append(c.Suspects, lineCase().Suspects...)
	for _, profile := range []*compare.Profile{c.Profile, c.Waits} {
		profile.Threads = []compare.ProfileThread{{Process: "server", Name: "server"},
			{Process: "server", Name: "ticker <b>1</b>"}, {Process: "helper", Name: "helper"}}
		for at, node := range profile.Nodes {
			if node.SelfA == 0 && node.SelfB == 0 {
				continue
			}
			thread := at % 2
			profile.ByThread = append(profile.ByThread,
				compare.ThreadShare{Node: at, Thread: thread, SelfA: node.SelfA / 4, SelfB: node.SelfB / 4},
				compare.ThreadShare{Node: at, Thread: 2, SelfA: node.SelfA * 3 / 4, SelfB: node.SelfB * 3 / 4})
		}
	}
	return c
}

// A view is a page with what was clicked on it.
type view struct {
	name, path string
	clicks     []string // expressions
	checked    string   // the part that axe-core looks at; "" where another view has the same parts
}

const openAll = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"

// viewsOf are the pages, and what can be chosen on that of a case.
func viewsOf(t *testing.T) (pages, choices []view) {
	t.Helper()
	folder := t.TempDir()
	page := func(name, checked string, write func(path string) error) view {
		path := filepath.Join(folder, name+".html")
		if err := write(path); err != nil {
			t.Fatal(err)
		}
		return view{name, path, []string{openAll}, checked}
	}
	rec := requestRecording(40, "GET /")
	sided := []RequestSide{{Title: "a", Recordings: []*recording.Recording{rec}},
		{Title: "b", Recordings: []*recording.Recording{requestRecording(60, "GET /")}}}
	pages = []view{
		page("case", "html", func(path string) error { return HTML(path, threadedCase()) }),
		page("requests", "#requests", func(path string) error { return HTMLWith(path, threadedCase(), sided...) }),
		page("tail", "html", func(path string) error { return TailHTML(path, tail.Explain(rec, slowOver), rec, slowOver) }),
		page("experiment", "html", func(path string) error { return ExperimentHTML(path, sweptExperiment(2)) }),
	}
	found := pages[0].path
	for _, shape := range []string{"inverted", "by kind of code", "by process"} {
		choices = append(choices, view{shape, found, []string{press(shape), openAll}, ""})
	}
	return pages, append(choices,
		view{"around one function", found, []string{press("around one function"), openAll}, "#flame"},
		view{"by thread", found, []string{openAll, press("by thread"), "document.querySelector('#flame td button').click()",
			press("share of its side")}, "#flame"},
		view{"waiting", found, []string{press("Waiting"), openAll}, ""})
}

// Every view of the pages is checked by axe-core in light and dark colours, and fits a telephone.
func TestViewsAreAccessible(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	source := browser.AxeSource(t)
	b := browser.Start(t)
	pages, choices := viewsOf(t)
	for _, v := range slices.Concat(pages, choices) {
		begin := time.Now()
		b.Window(1280, 900, "light")
		b.Go("about:blank")
		b.Go("file://" + v.path)
		b.Wait("document.readyState === 'complete' && document.querySelector('footer') !== null && " +
			"document.querySelectorAll('figure:not([hidden]) svg, canvas').length > 0")
		for _, click := range v.clicks {
			b.Eval("(" + click + ", new Promise((done) => setTimeout(done, 0)))")
		}
		name := "view-" + strings.ReplaceAll(v.name, " ", "-")
		b.Keep(name + "-light")
		if v.checked != "" {
			for _, broken := range b.Axe(source, browser.AxeAll, v.checked) {
				t.Errorf("%s: %.500s", v.name, broken)
			}
		}
		b.Window(360, 740, "dark")
		b.Wait("document.documentElement.dataset.theme === 'dark' && " +
			"document.querySelector('main').getBoundingClientRect().width <= 360")
		b.Keep(name + "-dark")
		if v.checked != "" {
			for _, broken := range b.Axe(source, browser.AxeColours, v.checked) {
				t.Errorf("%s, dark: %.500s", v.name, broken)
			}
		}
		if over := b.Eval("document.documentElement.scrollWidth"); over != "360" {
			t.Errorf("%s: at 360 pixels the page is %s wide: %s", v.name, over, b.Eval(widest))
		}
		if empty := b.Eval(browser.EmptyRows); empty != "[]" {
			t.Errorf("%s: on a telephone these rows are tall and empty: %s", v.name, empty)
		}
		t.Logf("%s took %v", v.name, time.Since(begin))
	}
}

// widest names what reaches furthest to the right of what is not within a part that scrolls by
// itself.
const widest = `(() => { let found = '', most = 0;
	for (const one of document.querySelectorAll('main *, header *, footer')) {
		const { right } = one.getBoundingClientRect();
		if (right <= most || one.closest('.tablescroll, .plot, nav') !== null) continue;
		[most, found] = [right, one.outerHTML.slice(0, 200)];
	}
	return most + ' ' + found; })()`
