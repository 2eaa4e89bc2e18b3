package report

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"culprit/internal/report/browser"
	"culprit/internal/try"
)

// TestExperimentPageInBrowser opens pages of experiments in Chromium: every picture has its table,
// names are text whatever they hold, and the page fits a telephone, is dark and light, and neither
// complains nor asks for anything.
func TestExperimentPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	b := browser.Start(t)
	folder := t.TempDir()
	write := func(name string, r *try.Result) string {
		path := filepath.Join(folder, name)
		if err := ExperimentHTML(path, r); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lookAtExperiment(t, b, write("hostile.html", hostileExperiment()), "experiment-hostile")
	if title := b.Eval("document.title"); !strings.HasPrefix(title, "culprit: <SCRIPT>ALERT(1)") {
		t.Errorf("title is %q", title)
	}
	lookForHostile(t, b)
	lookAtExperiment(t, b, write("swept.html", sweptExperiment(6)), "experiment-swept")
	lookAtSwept(t, b)
	costs := hostileExperiment()
	costs.Allowed = 0.03
	costs.Conditions[2].Levels = map[string]string{"monitor": hostileNames()[1]}
	lookAtExperiment(t, b, write("costs.html", costs), "experiment-costs")
	lookForHostile(t, b)
	swept := sweptExperiment(3)
	hostileSwept(swept)
	lookAtExperiment(t, b, write("swept-hostile.html", swept), "experiment-swept-hostile")
	lookForHostile(t, b)
	trouble, requests := b.Troubles()
	if len(trouble) > 0 {
		t.Errorf("the page made noise: %.3000s", strings.Join(trouble, "\n"))
	}
	for _, request := range requests {
		if !strings.HasPrefix(request, "file://"+folder) && request != "about:blank" &&
			!strings.HasPrefix(request, "blob:") {
			t.Errorf("the page asked for %s", request)
		}
	}
}

// hostileSwept gives the factors and levels of an experiment that can be weighed hostile names.
func hostileSwept(r *try.Result) {
	names := hostileNames()
	load, change := names[0], names[3]
	r.Factors[0].Name, r.Factors[1].Name = load, change
	rename := func(levels map[string]string) map[string]string {
		of := map[string]string{"old": names[1], "new": names[2]}
		return map[string]string{load: levels["threads"], change: of[levels["lock"]]}
	}
	r.Factors[1].Levels[0].Name, r.Factors[1].Levels[1].Name = names[1], names[2]
	r.Metrics[0].Name = names[9]
	for i := range r.Conditions {
		r.Conditions[i].Levels, r.Conditions[i].Label = rename(r.Conditions[i].Levels), names[i]
		r.Conditions[i].Metrics[names[9]] = r.Conditions[i].Metrics["tput"]
	}
	for i := range r.Trials {
		r.Trials[i].Levels = rename(r.Trials[i].Levels)
		r.Trials[i].Metrics[names[9]] = r.Trials[i].Metrics["tput"]
	}
}

// lookAtExperiment shows a page at the widths and in the colours that people have.
func lookAtExperiment(t *testing.T, b *browser.Browser, path, name string) {
	t.Helper()
	grounds := map[string]string{}
	for _, look := range []struct {
		width  int
		scheme string
	}{{360, "light"}, {1280, "dark"}, {1280, "light"}} {
		if name != "experiment-swept" && look.width != 360 { // these pages are long, and take seconds to draw
			continue
		}
		b.Window(look.width, 900, look.scheme)
		b.Go("file://" + path)
		b.Wait("document.readyState === 'complete' && document.querySelector('footer') !== null")
		b.Wait("document.querySelectorAll('main figure').length === document.querySelectorAll('figure svg').length")
		if over := b.Eval("document.documentElement.scrollWidth"); over != strconv.Itoa(look.width) {
			t.Errorf("%s: at %d pixels the page is %s wide", name, look.width, over)
		}
		grounds[look.scheme] = b.Eval("getComputedStyle(document.body).backgroundColor")
		if name == "experiment-swept" {
			keep(t, b, fmt.Sprintf("%s-%s-%d", name, look.scheme, look.width))
		}
	}
	if name == "experiment-swept" && grounds["light"] == grounds["dark"] {
		t.Error("dark and light look the same")
	}
}

// lookForHostile looks for what a name may not become.
func lookForHostile(t *testing.T, b *browser.Browser) {
	t.Helper()
	text := b.Eval("document.getElementById('app').innerHTML + document.querySelector('noscript').textContent")
	for _, char := range []string{"\u202e", "\u2066", "\x00", "\x1b", "\x07", strings.Repeat("\u0301", 3)} {
		if strings.Contains(text, char) {
			t.Errorf("the page shows %q as it is", char)
		}
	}
	shown := b.Eval("document.body.innerText")
	if !strings.Contains(shown, "<script>alert(1)</script>") {
		t.Error("a name is not there as text")
	}
	if places := b.Eval(`[...document.querySelectorAll('main svg *')].flatMap((e) => [...e.attributes])
		.filter((a) => a.value.includes('NaN')).length`); places != "0" || strings.Contains(shown, "NaN") {
		t.Errorf("%s places in pictures are no numbers, or one is shown", places)
	}
	foreign := "document.querySelectorAll('script:not([id]):not([type=module]), img, iframe, object').length"
	if got := b.Eval(foreign); got != "0" {
		t.Errorf("%s elements that no view made", got)
	}
}

// lookAtSwept looks at dose and response, the interaction, the break-even and the scaling law.
func lookAtSwept(t *testing.T, b *browser.Browser) {
	t.Helper()
	text := strings.ReplaceAll(b.Eval("document.body.innerText"), space, " ")
	for _, want := range []string{"tput rises with threads", "Lines that run side by side", "It breaks even at a load of",
		"above it the change is better", "together more than apart?", "lock=old", "Download JSON"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	b.Eval(`(() => { const choice = document.querySelector('#worth select');
		choice.value = [...choice.options].findIndex((o) => o.text.startsWith('tput'));
		choice.dispatchEvent(new Event('change', { bubbles: true })); })()`)
	b.Wait("document.querySelectorAll('#worth h3').length === 3")
	b.Wait("document.querySelectorAll('#worth svg[role=img]').length === 3")
	if text := b.Eval("document.querySelector('#worth').innerText"); !strings.Contains(text, "contention 0.") ||
		!strings.Contains(text, "by the law") {
		t.Errorf("the scaling law is told as %.1500s", text)
	}
	keep(t, b, "experiment-scaling")
	pictures := b.Eval("document.querySelectorAll('main svg[role=img]').length")
	tables := b.Eval("document.querySelectorAll('main .tablesave').length")
	if n, _ := strconv.Atoi(tables); n == 0 || tables < pictures {
		t.Errorf("%s pictures, %s tables", pictures, tables)
	}
	// By the law that made the trials, the curve goes through the spots.
	gap := b.Eval(`(() => { const svg = [...document.querySelectorAll('#worth svg[role=img]')].at(-1);
		const line = svg.querySelector('path.line.series1'); const wide = line.getTotalLength();
		const spots = [...svg.querySelectorAll('path.spot')].map((s) => { const box = s.getBBox();
			return [box.x + box.width / 2, box.y + box.height / 2]; });
		return Math.max(...spots.map(([x, y]) => { let best = 1e9;
			for (let at = 0; at <= wide; at += 0.5) { const p = line.getPointAtLength(at);
				best = Math.min(best, Math.hypot(p.x - x, p.y - y)); } return best; })).toFixed(1); })()`)
	if value, err := strconv.ParseFloat(gap, 64); err != nil || value > 4 {
		t.Errorf("the law passes the spots by %s pixels", gap)
	}
	csv := b.Eval(`(async () => { let text = ""; const old = URL.createObjectURL;
		URL.createObjectURL = (blob) => { text = blob.text(); return old(blob); };
		[...document.querySelectorAll('#worth .tablesave button')].find((e) => e.textContent === 'CSV').click();
		URL.createObjectURL = old; return await text; })()`)
	if !strings.HasPrefix(csv, "threads,A,B,B costs,Low,High,Verdict,Pairs\r\n1,") {
		t.Errorf("the table as CSV: %.300s", csv)
	}
	document := b.Eval(`(async () => { let text = ""; const old = URL.createObjectURL;
		URL.createObjectURL = (blob) => { text = blob.text(); return old(blob); };
		[...document.querySelectorAll('button')].find((e) => e.textContent.includes('Download')).click();
		URL.createObjectURL = old; return await text; })()`)
	if r, err := try.ReadResult(strings.NewReader(document)); err != nil || len(r.Trials) != 48 {
		t.Errorf("the download is no experiment: %v", err)
	}
}
