package report

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"culprit/internal/report/browser"
	"culprit/internal/tail"
	"culprit/recording"
)

// TestRequestsInBrowser opens the page of a tail, and that of a comparison with requests on both
// sides: every picture is drawn and has its table, a range is chosen by keys and by a drag, and
// hostile names are text.
func TestRequestsInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	b := browser.Start(t)
	folder := t.TempDir()
	hostile := requestRecording(200, "GET /<script>alert(1)</script>\u202e"+strings.Repeat("x", 10_000))
	path := filepath.Join(folder, "tail.html")
	if err := TailHTML(path, tail.Explain(hostile, slowOver), hostile, slowOver); err != nil {
		t.Fatal(err)
	}
	lookAtTail(t, b, path)
	lookAtRange(t, b)
	both := filepath.Join(folder, "both.html")
	sides := []RequestSide{{Title: "a", Recordings: []*recording.Recording{requestRecording(200, "GET /")}},
		{Title: "b", Recordings: []*recording.Recording{requestRecording(400, "GET /")}}}
	if err := HTMLWith(both, worseCase(), sides...); err != nil {
		t.Fatal(err)
	}
	lookAtBoth(t, b, both)
	trouble, requests := b.Troubles()
	if len(trouble) > 0 {
		t.Errorf("the page made noise: %.3000s", strings.Join(trouble, "\n"))
	}
	for _, request := range requests {
		if !strings.HasPrefix(request, "file://"+folder) && request != "about:blank" && !strings.HasPrefix(request, "blob:") {
			t.Errorf("the page asked for %s", request)
		}
	}
}

const heatDrawn = "document.querySelector('.heat canvas[data-cells]') !== null && " +
	"document.querySelector('.flame canvas[data-boxes]') !== null && document.querySelector('.lines rect') !== null"

func lookAtTail(t *testing.T, b *browser.Browser, path string) {
	t.Helper()
	for _, look := range []struct {
		name   string
		width  int
		scheme string
	}{{"tail-dark", 1280, "dark"}, {"tail-narrow", 360, "light"}, {"tail-light", 1280, "light"}} {
		b.Window(look.width, 900, look.scheme)
		b.Go("file://" + path)
		b.Wait("document.readyState === 'complete' && " + heatDrawn)
		if over := b.Eval("document.documentElement.scrollWidth"); over != strconv.Itoa(look.width) {
			t.Errorf("%s: the page is %s wide", look.name, over)
		}
		keep(t, b, look.name)
	}
	text := strings.ReplaceAll(b.Eval("document.body.innerText"), space, " ")
	for _, want := range []string{"20 of 2,020 requests in 20 s were slow", "lock.contended", "of the extra time",
		"<script>alert(1)</script>\\u202e", "20 of them were kept in full", "keeper in compact", "The slowest 10"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of a tail does not show %q", want)
		}
	}
	if got := b.Eval("[...document.querySelectorAll('main > section')].map((e) => e.id).join()"); got !=
		"verdict,suspects,requests,limits" {
		t.Errorf("the page of a tail has the sections %s", got)
	}
	if got := b.Eval("document.querySelectorAll('#requests figure').length + ' ' + " +
		"document.querySelectorAll('#requests .tablesave').length"); got != "3 5" {
		t.Errorf("pictures and tables: %s, want 3 and 5", got)
	}
}

// lookAtRange chooses parts of the heat map by keys, by fields and by a drag, and looks at what the
// rest makes of it.
func lookAtRange(t *testing.T, b *browser.Browser) {
	t.Helper()
	status := func() string {
		return strings.ReplaceAll(b.Eval("document.querySelector('.heat [role=status]').innerText"), space, " ")
	}
	if got := status(); !strings.HasPrefix(got, "Slow ones, of 10 ms and more: 20 of 2,020 requests") {
		t.Errorf("at first the range is %q", got)
	}
	b.Eval("document.querySelector('.heat canvas').focus()")
	b.Key("ArrowRight")
	if got := status(); !strings.HasPrefix(got, "Range: 0 s to 1 s, 10 ms and more: about 1 of 2,020") {
		t.Errorf("after an arrow the range is %q", got)
	}
	b.Key("ArrowRight")
	if got := status(); !strings.HasPrefix(got, "Range: 1 s to 2 s") {
		t.Errorf("after two arrows the range is %q", got)
	}
	b.Eval(`(() => { const field = document.querySelectorAll('.rangefields input')[2];
		field.value = '40'; field.dispatchEvent(new Event('change', { bubbles: true })); })()`)
	b.Wait("document.querySelector('.rangepanel').innerText.includes('None of them was kept')")
	b.Eval(`(() => { const canvas = document.querySelector('.heat canvas'); const box = canvas.getBoundingClientRect();
		canvas.setPointerCapture = () => {};
		const send = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind,
			{ bubbles: true, clientX: box.left + x, clientY: box.top + y, pointerId: 1 }));
		send('pointerdown', 100, 150); send('pointermove', 600, 225); send('pointerup', 600, 225); })()`)
	b.Wait("document.querySelector('.heat [role=status]').innerText.startsWith('Range: ')")
	if got := status(); !strings.Contains(got, " s to 11 s, below ") || strings.Contains(got, "about 0 of") {
		t.Errorf("after a drag over the quick ones the range is %q", got)
	}
	b.Wait("!document.querySelector('.rangepanel').innerText.includes('None of them was kept')")
	if got := b.Eval("document.querySelector('.rangepanel tbody').innerText"); !strings.Contains(got, "runs") {
		t.Errorf("quick requests did %q", got)
	}
	keep(t, b, "tail-range")
	b.Eval("document.querySelector('.heat canvas').focus()")
	b.Key("Escape")
	b.Eval("document.querySelector('.linerows div').focus()")
	b.Key("ArrowRight")
	b.Wait("document.querySelector('.partdetail') !== null")
	detail := b.Eval("document.querySelector('.partdetail').innerText")
	for _, want := range []string{"lock", "held by keeper in compact", "look_up", "Who held it was at", "compact"} {
		if !strings.Contains(detail, want) {
			t.Errorf("the stretch does not tell %q: %q", want, detail)
		}
	}
	csv := b.Eval(`(async () => { let text = ""; const old = URL.createObjectURL;
		URL.createObjectURL = (blob) => { text = blob.text(); return old(blob); };
		document.querySelector('.lines .tablesave button').click();
		URL.createObjectURL = old; return await text; })()`)
	if !strings.HasPrefix(csv, "Line,Began,After,Length,What,Where,Held by\r\n1,") ||
		!strings.Contains(csv, "0.029,lock,look_up,keeper in compact") {
		t.Errorf("the table as CSV: %.300s", csv)
	}
}

func lookAtBoth(t *testing.T, b *browser.Browser, path string) {
	t.Helper()
	for _, scheme := range []string{"dark", "light"} {
		b.Window(1280, 900, scheme)
		b.Go("file://" + path)
		b.Wait("document.readyState === 'complete' && " + heatDrawn)
		keep(t, b, "requests-both-"+scheme)
	}
	for _, shape := range []string{"ECDF", "share that took longer", "histogram"} {
		b.Eval("[...document.querySelectorAll('.latency .choice button')].find((e) => e.textContent === '" + shape +
			"').click()")
		b.Wait("document.querySelectorAll('.latency path.curve').length === 2")
		keep(t, b, "requests-"+strings.ReplaceAll(shape, " ", "-"))
	}
	label := b.Eval("document.querySelector('.latency svg[role=img]').getAttribute('aria-label')")
	if !strings.Contains(label, "A: 2,020 requests") || !strings.Contains(label, "B: 4,020 requests") {
		t.Errorf("the latencies are %q", label)
	}
}
