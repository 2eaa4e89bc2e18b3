package report

import (
	"bytes"
	"image"
	"image/png"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"culprit/internal/cause"
	"culprit/internal/compare/differs"
	"culprit/internal/compare/lines"
	"culprit/internal/investigate"
	"culprit/internal/report/browser"
)

// TestPageInBrowser opens reports in Chromium and looks at what a reader sees.
func TestPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes half a minute: -short leaves it out")
	}
	b := browser.Start(t)
	folder := t.TempDir()
	write := func(name string, c *investigate.Case) string {
		path := filepath.Join(folder, name)
		if err := HTML(path, c); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lookAtWorse(t, b, write("worse.html", hostileCase()))
	lookAtKeys(t, b)
	lookAtShapes(t, b, write("shapes.html", worseCase()))
	lookAtWhy(t, b, write("why.html", judgedCase()), write("old.html", worseCase()))
	for name, c := range outcomes() {
		show(b, write(name+".html", c), 1280, 900, "light")
		if got, want := b.Eval("document.querySelector('h1').textContent"), verdictOf(c).Headline; got != want {
			t.Errorf("%s: headline is %q, want %q", name, got, want)
		}
		keep(t, b, "outcome-"+name)
	}
	lookAtBig(t, b, write("big.html", bigCase()))
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

// hostileCase is the worse case with hostile text in every place that a program can fill.
func hostileCase() *investigate.Case {
	c := worseCase()
	for i, name := range hostileNames() {
		c.Items = append(c.Items, investigate.Item{Signal: name, Name: "main;" + name, Unit: name, A: 1, B: 2})
		c.Settings = append(c.Settings, sampleSettings()[0])
		c.Settings[len(c.Settings)-1].B = name
		c.Differs = append(c.Differs, differs.Difference{Kind: differs.Kind(name), Of: name, Name: name, A: name, B: name,
			PlaceA: name, Follows: name})
		c.Facts[i].Value = name
		c.Warnings = append(c.Warnings, name)
		c.BlindSpots = append(c.BlindSpots, name)
		c.Trials[2+i].Stdout = name
	}
	all := strings.Join(hostileNames()[:3], ";")
	c.Suspects = append(c.Suspects, cause.Suspect{Cause: cause.ID(all), Level: cause.Level(all),
		Where: []string{all}, Against: []string{all},
		Places: []cause.Place{{Kind: cause.PlaceKind(all), Role: cause.Role(all), Name: all}},
		Claim:  all, Remedy: all, Doubts: []cause.Doubt{{Kind: cause.DoubtKind(all), Text: all}},
		Price: &cause.Price{Verdict: cause.PriceVerdict(all)},
		Line: &cause.SharedLine{Words: []lines.Word{
			{Offset: 0, Size: 8, Name: all, Users: []lines.User{{Name: all, Writes: 1}, {Name: all + "2", Reads: 1}}},
			{Offset: 56, Size: 64, Name: all, Apart: true, Users: []lines.User{{Name: all, Hits: 1}}, More: 1}},
			Separate: []cause.Separation{{Language: all, How: all}}},
		Evidence: []cause.Evidence{{Signal: all, Text: all, A: 1, B: 2, Unit: all}}})
	c.B.Command = "./server " + all
	c.Why = hostileWhy()
	return c
}

func lookAtWorse(t *testing.T, b *browser.Browser, path string) {
	t.Helper()
	show(b, path, 1280, 900, "light")
	text := b.Eval("document.body.innerText")
	text = strings.ReplaceAll(text, space, " ")
	for _, want := range []string{"B is 1.35× slower than A (95 % between 1.31× and 1.38×)", "clock.vdso-bypassed",
		"timer.ticker", "183,000", "predicted", `<script>alert(1)</script>`, `rtl\u202egnp.exe`, "8371204511982734112",
		"2 of 44 trials left out", "no hardware counters were read",
		"A and B differ in: tablereader 3.1.0 → 3.2.0, and 1 other that no grown stack goes through", "/opt/b/tablereader"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	for _, char := range []string{"\u202e", "\x00", "\x1b"} {
		if strings.Contains(text, char) {
			t.Errorf("the page shows %q as it is", char)
		}
	}
	foreign := "document.querySelectorAll('script:not([id]):not([type=module]), img, iframe, object').length"
	if got := b.Eval(foreign); got != "0" {
		t.Errorf("%s elements that no view made", got)
	}
	if title := b.Eval("document.title"); !strings.HasPrefix(title, "culprit: B is 1.35×") {
		t.Errorf("title is %q", title)
	}
	document := b.Eval(`(async () => { let text = ""; const old = URL.createObjectURL;
		URL.createObjectURL = (blob) => { text = blob.text(); return old(blob); };
		[...document.querySelectorAll('button')].find((e) => e.textContent.includes('Download')).click();
		URL.createObjectURL = old; return await text; })()`)
	if c, err := Read(strings.NewReader(document)); err != nil {
		t.Errorf("the download is no case: %v", err)
	} else if c.Seed != worseCase().Seed || len(c.Profile.Nodes) != len(worseCase().Profile.Nodes) {
		t.Errorf("the download has seed %d and %d nodes", c.Seed, len(c.Profile.Nodes))
	}
	light := keep(t, b, "light")
	b.Window(1280, 900, "dark")
	b.Wait("document.documentElement.dataset.theme === 'dark'")
	dark := keep(t, b, "dark")
	if bytes.Equal(light, dark) {
		t.Error("dark and light look the same")
	}
	b.Call("Emulation.setEmulatedMedia", browser.Fields{"media": "print", "features": []browser.Fields{}})
	if got := b.Eval("getComputedStyle(document.body).backgroundColor"); got != "rgb(255, 255, 255)" {
		t.Errorf("on paper the ground is %s", got)
	}
	keep(t, b, "print")
	b.Call("Emulation.setEmulatedMedia", browser.Fields{"media": ""})
	b.Window(400, 800, "light")
	b.Wait("document.documentElement.dataset.theme === 'light'")
	if over := b.Eval("document.documentElement.scrollWidth"); over != "400" {
		t.Errorf("at 400 pixels the page is %s wide", over)
	}
	keep(t, b, "narrow")
	b.Window(1280, 900, "light")
}

// lookAtWhy opens what the order of the suspects rests on, by the keyboard, and looks for all of
// it. A case without it has no such section.
func lookAtWhy(t *testing.T, b *browser.Browser, path, without string) {
	t.Helper()
	for _, look := range []struct {
		name   string
		width  int
		scheme string
	}{{"why-light", 1280, "light"}, {"why-dark", 1280, "dark"}, {"why-narrow", 360, "light"}} {
		show(b, path, look.width, 1000, look.scheme)
		if got := b.Eval("document.querySelector('details.why').open"); got != "false" {
			t.Errorf("%s: at first it is open: %s", look.name, got)
		}
		b.Eval("document.querySelector('details.why > summary').focus()")
		b.Key("Enter")
		b.Wait("document.querySelector('details.why').open")
		b.Eval("document.querySelector('details.why').scrollIntoView()")
		if over := b.Eval("document.documentElement.scrollWidth"); over != strconv.Itoa(look.width) {
			t.Errorf("%s: the page is %s wide", look.name, over)
		}
		keep(t, b, look.name)
	}
	shown := b.Eval("document.querySelector('details.why').innerText")
	text := strings.Join(strings.Fields(shown), " ")
	for _, want := range []string{
		"Why this order", "359 ms of wall time per run more on the dearer side",
		"taken back from cpu.starved competitor: strangers had", "to clock.vdso-bypassed main › serve",
		"moved to timer.ticker", "from cpu.starved and code.grew queue after a wait: who is woken",
		"to nobody: what no claim got became cheaper", "helper on the CPU 11.4 ms, lock −96.5 µs",
		"4 % 1 % to 6 % timer.ticker", "stands before clock.slow-source clock source kvm-clock",
		"is left out: its interval reaches", "came second: its interval would have to begin above"} {
		if !strings.Contains(text, want) {
			t.Errorf("why this order does not tell %q: %s", want, text)
		}
	}
	b.Eval("document.querySelector('details.why').open = false")
	b.Eval("dispatchEvent(new Event('beforeprint'))")
	if got := b.Eval("document.querySelector('details.why').open"); got != "true" {
		t.Error("it is closed on paper")
	}
	show(b, without, 1280, 900, "light")
	if got := b.Eval("document.querySelectorAll('details.why').length"); got != "0" {
		t.Errorf("a case without a ledger has %s sections of it", got)
	}
}

// lookAtKeys goes through the flame graph with the keyboard alone.
func lookAtKeys(t *testing.T, b *browser.Browser) {
	t.Helper()
	status := func() string { return b.Eval("document.querySelector('.flame .status').innerText") }
	b.Eval("document.querySelector('canvas').focus()")
	for _, step := range []struct{ key, want string }{
		{"ArrowDown", "all"}, {"ArrowDown", "main"}, {"ArrowDown", "serve"}, {"ArrowDown", "handle_request"},
		{"ArrowRight", "parse_request"}, {"ArrowLeft", "handle_request"}, {"ArrowUp", "serve"},
		{"ArrowDown", "handle_request"},
		{"ArrowDown", "stamp_now"}, {"Enter", "stamp_now"},
	} {
		b.Key(step.key)
		if got := status(); !strings.HasPrefix(got, step.want) {
			t.Errorf("after %s the frame is %q, want %s", step.key, got, step.want)
		}
	}
	if got := status(); !strings.Contains(got, "Change +") || !strings.Contains(got, "between") ||
		strings.Contains(got, "grey") {
		t.Errorf("the frame does not tell its change: %q", got)
	}
	zoomed := b.Eval("document.querySelector('canvas').dataset.boxes")
	b.Key("Escape")
	if got := b.Eval("document.querySelector('canvas').dataset.boxes"); got == zoomed {
		t.Errorf("Enter and Escape leave the same %s boxes", got)
	}
	b.Key("/")
	if got := b.Eval("document.activeElement.type"); got != "search" {
		t.Errorf("slash leads to %q", got)
	}
	b.Call("Input.insertText", browser.Fields{"text": "^stamp"})
	b.Wait("document.querySelector('#flame').innerText.includes('outermost matches cover')")
	keep(t, b, "search")
	b.Eval(`document.querySelector('input[type=search][aria-label^="Search the frames"]').value = ''`)
	for _, choice := range []string{"A", "B", "share of its side", "seconds", "B + gone", "Waiting", "On CPU"} {
		b.Eval("[...document.querySelectorAll('#flame .choice button')].find((e) => e.textContent === '" + choice +
			"').click()")
		b.Wait("Number(document.querySelector('canvas').dataset.boxes) > 3")
		keep(t, b, "choice-"+strings.ReplaceAll(choice, " ", "-"))
	}
}

// bigNodes are what a week of a large service has.
const bigNodes = 800_000

func bigCase() *investigate.Case {
	c := worseCase()
	c.Profile = bigProfile(bigNodes)
	return c
}

func lookAtBig(t *testing.T, b *browser.Browser, path string) {
	t.Helper()
	show(b, path, 1280, 900, "light")
	// How long that takes is for people to read: it depends on who else is on the machine. What may
	// not happen on any is that more is drawn than can be seen.
	for _, name := range []string{"drawMs", "readyMs"} {
		t.Logf("%d nodes: %s %s", bigNodes, name, b.Eval("document.querySelector('canvas').dataset."+name))
	}
	text := b.Eval("document.querySelector('canvas').dataset.boxes")
	if boxes, err := strconv.Atoi(text); err != nil || boxes < 100 || boxes > bigNodes/10 {
		t.Errorf("%d nodes: %s boxes drawn, want those that can be seen", bigNodes, text)
	}
	t.Logf("%d nodes: search %s ms", bigNodes, b.Eval(redrawn("(() => { const field = "+
		"document.querySelector('#flame input'); field.value = 'frame_?1'; "+
		"field.dispatchEvent(new Event('input', {bubbles: true})); })()")))
	for _, shape := range []string{"inverted", "by kind of code", "around one function"} {
		t.Logf("%d nodes: %s %s ms", bigNodes, shape, b.Eval(redrawn(press(shape))))
	}
	keep(t, b, "big")
}

// redrawn gives the milliseconds from an act to the next picture of a flame graph.
func redrawn(act string) string {
	return `(async () => { const drawn = () => [...document.querySelectorAll('#flame canvas')]
		.map((c) => c.dataset.draws + c.getAttribute('aria-label')).join();
		const before = drawn(), from = performance.now(); ` + act + `;
		while (drawn() === before && performance.now() - from < 50000) await new Promise((done) => setTimeout(done, 0));
		return (performance.now() - from).toFixed(0); })()`
}

// press clicks a button of the flame graph by its text.
func press(text string) string {
	return "[...document.querySelectorAll('#flame button')].find((e) => e.textContent === '" + text + "').click()"
}

// lookAtShapes goes through the shapes of the flame graph: each holds the same time, and the
// address leads back.
func lookAtShapes(t *testing.T, b *browser.Browser, path string) {
	t.Helper()
	show(b, path, 1280, 900, "light")
	whole := b.Eval("document.querySelector('#flame td.number').textContent")
	status := func() string { return b.Eval("document.querySelector('.flame .status').innerText") }
	b.Eval("([...document.querySelectorAll('#flame td button')].find((e) => " +
		"e.textContent.startsWith('render')).click(), '')")
	b.Wait("document.querySelector('.flame .status').innerText.startsWith('render')")
	if got := status(); !strings.Contains(got, "Why grey: a change of") || !strings.Contains(got, "times as many") {
		t.Errorf("a grey frame does not say what would have been seen: %q", got)
	}
	for _, step := range []struct{ shape, want string }{
		{"inverted", "not tested"}, {"by kind of code", "native"}, {"around one function", "What calls"},
	} {
		b.Eval(press(step.shape))
		b.Wait("document.querySelector('#flame button[aria-pressed=true]') !== null && " +
			"document.querySelector('#flame').textContent.includes('" + step.want + "')")
		keep(t, b, "shape-"+strings.Fields(step.shape)[0])
	}
	if whole == "" {
		t.Error("the table of the flame graph is empty")
	}
	b.Eval("(document.querySelector('#flame .sort').closest('table').querySelectorAll('td button')[0].click(), '')")
	b.Eval(press("A"))
	address := b.Eval("location.hash")
	for _, want := range []string{"shape=sandwich", "width=a"} {
		if !strings.Contains(address, want) {
			t.Errorf("the address %q lacks %s", address, want)
		}
	}
	b.Go("about:blank")
	b.Go("file://" + path + "#flame?shape=inverted&width=b&search=serve")
	b.Wait("document.querySelector('canvas[data-boxes]') !== null")
	pressed := b.Eval("[...document.querySelectorAll('#flame [aria-pressed=true]')].map((e) => e.textContent).join()")
	if !strings.Contains(pressed, "inverted") || !strings.Contains(pressed, ",B,") {
		t.Errorf("a link shows %q", pressed)
	}
	if found := b.Eval("document.querySelector('#flame input').value"); found != "serve" {
		t.Errorf("a link searches for %q", found)
	}
}

// keep takes a picture, checks that it is not blank and, where CULPRIT_PICTURES
// names a folder, leaves it there for a person to look at.
func keep(t *testing.T, b *browser.Browser, name string) []byte {
	t.Helper()
	b.Keep(name)
	data := b.Glance()
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("decode the picture %s: %v", name, err)
	}
	colours, drawn := count(decoded)
	if colours < 20 || drawn < 0.02 {
		t.Errorf("the picture %s is blank: %d colours, %.1f %% drawn", name, colours, drawn*100)
	}
	return data
}

// count returns the number of colours and the part that differs from the most common one.
func count(picture image.Image) (colours int, drawn float64) {
	seen := map[[3]uint32]int{}
	total, most := 0, 0
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y += 2 {
		for x := bounds.Min.X; x < bounds.Max.X; x += 2 {
			r, g, b, _ := picture.At(x, y).RGBA()
			key := [3]uint32{r, g, b}
			seen[key]++
			total++
			most = max(most, seen[key])
		}
	}
	return len(seen), 1 - float64(most)/float64(total)
}

// show sets the window and the colours, opens a file and waits until the flame graph is drawn.
func show(b *browser.Browser, path string, width, height int, scheme string) {
	b.Window(width, height, scheme)
	b.Go("file://" + path)
	b.Wait("document.readyState === 'complete' && document.querySelector('h1') !== null && " +
		"(document.querySelector('#flame p.muted:not(.small)') !== null || " +
		"document.querySelector('canvas[data-boxes]') !== null)")
}
