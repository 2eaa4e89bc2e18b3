package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/window"
	"culprit/internal/report/browser"
)

// buildCulprit is culprit, built once for all tests, with the program of the tests beside it as
// culprit-hub.
var buildCulprit = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "culprit-of-a-test-")
	if err != nil {
		return "", err
	}
	builtFolder = folder
	culprit := filepath.Join(folder, "culprit")
	build := exec.Command("go", "build", "-o", culprit, "./cmd/culprit")
	build.Dir = "../.." // as other tests are built, so that nothing is compiled for this alone
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return culprit, os.Symlink(self, filepath.Join(folder, "culprit-hub"))
})

// builtFolder is removed at the end of all tests.
var builtFolder string

// builtCulprit is the path of culprit.
func builtCulprit(t *testing.T) string {
	t.Helper()
	path, err := buildCulprit()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// serveFleet starts culprit serve with a fleet; culprit-hub beside it is the program of the tests.
func serveFleet(t *testing.T, args ...string) (address string) {
	t.Helper()
	serve := exec.Command(builtCulprit(t), append([]string{"serve", t.TempDir(), "--listen",
		"127.0.0.1:0"}, args...)...)
	serve.Env = append(os.Environ(), childVariable+"=1")
	serve.Stderr = os.Stderr
	serve.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		serve.Process.Signal(os.Interrupt)
		serve.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("culprit serve says nothing: %v", err)
	}
	address, _, _ = strings.Cut(line, "/ shows ")
	return address
}

// ofDay is the part of a link that chooses the simulated fleet's time.
const ofDay = "service=web&since=2026-11-20&until=2026-11-20T13:00"

// look opens a question's page and waits for its section.
func look(b *browser.Browser, address, link, section string) string {
	b.Go(address + "/fleet?" + link)
	b.Wait("location.search === " + strconv.Quote("?"+link) + " && document.querySelector('#" + section + "') !== null" +
		" && [...document.querySelectorAll('figure.plane')].every((e) => e.querySelector('svg') !== null)")
	return strings.ReplaceAll(b.Eval("document.body.innerText"), "\u00a0", " ")
}

// A simulated fleet with a planted band, fact and roll-out in a real hub, asked through culprit
// serve in a browser.
func TestFleetPages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds culprit and starts a browser: -short leaves it out")
	}
	p := newProcess(t, t.TempDir())
	all := fleetOf(t, 40, 12)
	all = append(all, makeUpload(t, "web-gone", day0.Add(-48*time.Hour), 1e9, 1000, 0, nil))
	p.sendAll(all, new(atomic.Int64))
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(p.tokens["read"]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := serveFleet(t, "--hub", "http://"+p.address, "--hub-token-file", token)
	b := browser.Start(t)
	b.Window(1280, 900, "light")
	lookAtServices(t, b, address)
	lookAtBands(t, b, address)
	askForLines(t, b, p)
	lookAtOthers(t, b, address)
	lookAtWidths(t, b, address)
	t.Run("accessible", func(t *testing.T) { checkFleet(t, b, address) })
	if page := b.Eval("document.documentElement.outerHTML"); strings.Contains(page, p.tokens["read"]) {
		t.Error("the page holds the hub's token")
	}
	trouble, requests := b.Troubles()
	if len(trouble) > 0 {
		t.Errorf("the pages complain: %.3000s", strings.Join(trouble, "\n"))
	}
	for _, request := range requests {
		if !strings.HasPrefix(request, address+"/") && !strings.HasPrefix(request, "about:") &&
			!strings.HasPrefix(request, "blob:") {
			t.Errorf("the pages asked %s", request)
		}
	}
	lookAtStore(t, b, p)
}

func lookAtServices(t *testing.T, b *browser.Browser, address string) {
	t.Helper()
	b.Go(address + "/")
	b.Wait("document.querySelector('.top a[href=\"/fleet\"]') !== null")
	b.Eval("(document.querySelector('.top a[href=\"/fleet\"]').click(), '')")
	b.Wait("location.pathname === '/fleet' && document.querySelectorAll('#services tbody tr').length === 1")
	text := b.Eval("document.querySelector('#services tbody tr').innerText")
	if !strings.Contains(text, "web") || !strings.Contains(text, "41") || !strings.Contains(text, "481") {
		t.Errorf("the services are %q", text)
	}
	// The way of a reader: the service, its question, a time, and the answer; back leads back.
	b.Eval("([...document.querySelectorAll('#services .quick button')].find((x) => x.innerText === 'Hosts').click(), '')")
	b.Wait("location.search === '?question=hosts&service=web' && document.querySelector('[role=alert]') !== null")
	if text := b.Eval("document.querySelector('[role=alert]').innerText"); !strings.Contains(text, "it has some from") {
		t.Errorf("a time without windows is told as %q", text)
	}
	for label, value := range map[string]string{"Since": "2026-11-20", "Until (UTC)": "2026-11-20T13:00"} {
		b.Eval(fmt.Sprintf(`(() => { const field = [...document.querySelectorAll('#ask label')]
			.find((e) => e.innerText === %q).querySelector('input'); field.value = %q;
			field.dispatchEvent(new Event('input', { bubbles: true })); })()`, label, value))
	}
	b.Eval("(document.querySelector('#ask form').requestSubmit(), '')")
	b.Wait("document.querySelectorAll('#hosts svg .spot').length === 40")
	if text := b.Eval("document.body.innerText"); !strings.Contains(text, "web-gone, last at 2026-11-18 00:00") {
		t.Errorf("a host without windows is not told: %.3000s", text)
	}
	b.Eval("(history.back(), '')")
	b.Wait("location.search === '?question=hosts&service=web' && document.querySelector('[role=alert]') !== null")
}

func lookAtBands(t *testing.T, b *browser.Browser, address string) {
	t.Helper()
	text := look(b, address, "question=bands&"+ofDay, "bands")
	for _, want := range []string{"Two bands, 1.3", "thp = never", "scan", "dear band: 5", "cheap band: 35",
		"culprit record -d 30s --cgroup /sys/fs/cgroup/web -o web-", "culprit fleet fetch ",
		"culprit compare --service web --a ", "culprit fleet bands web --hub http://127",
		"in the middle of the dear band", "1 host had windows in the week before and none in this time"} {
		if !strings.Contains(text, want) {
			t.Errorf("bands do not show %q:\n%.4000s", want, text)
		}
	}
	// Each dot has the mark and the row of its band.
	if dots := b.Eval("document.querySelectorAll('#bands svg[role=img] .spot.series1').length"); dots != "5" {
		t.Errorf("%s dots of the dear band", dots)
	}
	rows := b.Eval(`[...document.querySelectorAll('#bands tbody tr')]
		.filter((e) => e.innerText.includes('dear band')).length`)
	if rows != "5" {
		t.Errorf("%s rows of the dear band", rows)
	}
	told, wrong := b.Stays(browser.Look{Path: "testdata/bands.png", Selector: "#bands figure.plot", Most: 0.0022,
		Update: os.Getenv("CULPRIT_UPDATE") != "", Faults: map[string]string{
			"bands in one colour": "figure .spot { fill: gray !important; }",
			"levels missing":      ".level-line { display: none; }",
			"labels missing":      "figure svg text { display: none; }"}})
	t.Log(strings.Join(told, "\n"))
	if len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
	b.Eval("([...document.querySelectorAll('#bands .choice button')].find((x) => x.innerText === 'By load').click(), '')")
	b.Wait("document.querySelector('#bands svg').innerHTML.includes('requests a second')")
	csv := saved(b, "#bands .tablesave button", "CSV")
	if lines := strings.Split(csv, "\r\n"); !strings.HasPrefix(csv, `Host,"CPU time per request, s",Group,`) ||
		len(lines) != 42 {
		t.Errorf("the table as CSV has %d lines: %.300s", len(lines), csv)
	}
	var answer ask.Answer
	if err := json.Unmarshal([]byte(saved(b, "#asked button", "Download JSON")), &answer); err != nil ||
		answer.Bands == nil || len(answer.Bands.High.Hosts) != 5 || len(answer.Each) != 40 {
		t.Errorf("the answer as JSON: %v", err)
	}
	b.Keep("fleet-bands-light")
}

// askForLines presses the button by keys: the next window of each of the two hosts brings the wish
// to its agent.
func askForLines(t *testing.T, b *browser.Browser, p *process) {
	t.Helper()
	b.TabTo("#look .asklines button", "Ask their agents")
	b.Key("Enter")
	b.Wait("document.querySelector('#look .asklines').innerText.includes('Asked the agents of web-')")
	said := b.Eval("document.querySelector('#look .asklines [role=status]').innerText")
	asked := 0
	for host := range 40 {
		name := fmt.Sprintf("web-%03d", host)
		_, text := p.send(makeUpload(t, name, day0.Add(-47*time.Hour), 1e9, 1000, 0, nil))
		var answer window.Answer
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, one := range answer.Asks {
			asked++
			if !one.Lines || one.Service != "web" || !strings.Contains(said, name) {
				t.Errorf("%s is asked for %+v, the page says %q", name, one, said)
			}
		}
	}
	if asked != 2 {
		t.Errorf("%d hosts are asked for cache lines, the page says %q", asked, said)
	}
}

// saved is what a button of the page gives as a file.
func saved(b *browser.Browser, buttons, name string) string {
	return b.Eval(fmt.Sprintf(`(async () => { let text = ""; const old = URL.createObjectURL;
		URL.createObjectURL = (blob) => { text = blob.text(); return old(blob); };
		[...document.querySelectorAll(%q)].find((e) => e.innerText === %q).click();
		URL.createObjectURL = old; return await text; })()`, buttons, name))
}

func lookAtOthers(t *testing.T, b *browser.Browser, address string) {
	t.Helper()
	for _, c := range []struct {
		link, section string
		want          []string
	}{
		{"question=changes&" + ofDay, "changes", []string{"too little history", "went through version 2 as most did",
			"against the old version in the same hours", "culprit compare agent:web@"}},
		{"question=facts&" + ofDay, "facts", []string{"thp = never goes with it: 1.3", "with thp = never: 5"}},
		{"question=compare&service=web&a=version%3D1&b=version%3D2&since=2026-11-20T09%3A00&until=2026-11-20T13%3A00" +
			"&baseline=2026-11-20..2026-11-20T06%3A00", "compare", []string{"B is dearer: +", "side A: 20", "side B: 20"}},
		{"question=compare&service=web&a=zone%3Dz1&b=zone%3Dz2&since=2026-11-20&until=2026-11-20T13%3A00", "compare",
			[]string{"zone=z1", "p = "}},
		{"question=top&" + ofDay + "&per_core_hour=0.04", "top", []string{"cores of web", "a year, in the unit of the price",
			"work", "spends most of its time on"}},
		{"question=worth&" + ofDay + "&effect=-0.2&effect_low=-0.25&effect_high=-0.15", "worth",
			[]string{"cores over 40 hosts", "web as a whole"}},
	} {
		text := look(b, address, c.link, c.section)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not show %q:\n%.4000s", c.link, want, text)
			}
		}
		pictures := b.Eval("document.querySelectorAll('main svg[role=img]').length")
		if tables := b.Eval("document.querySelectorAll('main .tablesave').length"); tables == "0" || tables < pictures {
			t.Errorf("%s: %s pictures, %s tables", c.link, pictures, tables)
		}
		if bad := b.Eval(`[...document.querySelectorAll('main svg *')].flatMap((e) => [...e.attributes])
			.filter((a) => /NaN|undefined|Infinity/.test(a.value)).length`); bad != "0" || strings.Contains(text, "NaN") {
			t.Errorf("%s: %s places in pictures are no numbers, or one is shown", c.link, bad)
		}
		b.Keep("fleet-" + c.section)
	}
}

// lookAtWidths looks at each page as wide as a telephone, and in the dark.
func lookAtWidths(t *testing.T, b *browser.Browser, address string) {
	t.Helper()
	for _, question := range []string{"bands", "changes", "facts", "top", "hosts"} {
		b.Window(360, 740, "light")
		look(b, address, "question="+question+"&"+ofDay, question)
		if width := b.Eval("document.documentElement.scrollWidth"); width != "360" {
			t.Errorf("%s is %s pixels wide on a telephone", question, width)
		}
		if empty := b.Eval(browser.EmptyRows); empty != "[]" {
			t.Errorf("%s: on a telephone these rows are tall and empty: %s", question, empty)
		}
		b.Keep("fleet-" + question + "-narrow")
	}
	light := b.Eval("getComputedStyle(document.body).backgroundColor")
	b.Window(1280, 900, "dark")
	look(b, address, "question=bands&"+ofDay, "bands")
	if dark := b.Eval("getComputedStyle(document.body).backgroundColor"); dark == light {
		t.Error("dark and light look the same")
	}
	b.Keep("fleet-bands-dark")
}

// checkFleet has axe-core look at every question's answer, and goes through the largest by keys
// alone.
func checkFleet(t *testing.T, b *browser.Browser, address string) {
	source := browser.AxeSource(t)
	check := func(name, rules, within string) {
		t.Helper()
		for _, broken := range b.Axe(source, rules, within) {
			t.Errorf("%s: %.500s", name, broken)
		}
	}
	dark := map[string]bool{"bands": true, "changes": true} // what the others show has the same colours
	for _, question := range []string{"services", "hosts", "bands", "changes", "facts", "top"} {
		link := "question=" + question + "&" + ofDay
		b.Window(1280, 900, "light")
		look(b, address, link, question)
		check(question, browser.AxeAll, "html")
		if question == "bands" {
			if stops, wrong := b.Walk(); stops < 20 || len(wrong) > 0 {
				t.Errorf("by keys, %d stops: %s", stops, strings.Join(wrong, "\n"))
			}
		}
		if dark[question] {
			b.Window(360, 740, "dark")
			b.Wait("document.documentElement.dataset.theme === 'dark'")
			check(question+", dark", browser.AxeColours, "html")
		}
	}
}

// lookAtStore asks the same of the hub's directory, and of one that a hub has open.
func lookAtStore(t *testing.T, b *browser.Browser, p *process) {
	t.Helper()
	address := serveFleet(t, "--store", p.directory)
	b.Go(address + "/fleet")
	b.Wait("document.querySelector('[role=alert]') !== null")
	text := b.Eval("document.querySelector('[role=alert]').innerText")
	if !strings.Contains(text, "open in another culprit-hub") {
		t.Errorf("a store that a hub has open is told as %q", text)
	}
	p.kill()
	if text := look(b, address, "question=bands&"+ofDay, "bands"); !strings.Contains(text, "Two bands, 1.3") ||
		!strings.Contains(text, "culprit fleet bands web --store "+p.directory) {
		t.Errorf("the store's answer shows %.2000s", text)
	}
	if buttons := b.Eval("document.querySelectorAll('#look .command').length + ' ' + " +
		"document.querySelectorAll('.asklines').length"); !strings.HasSuffix(buttons, " 0") || buttons[0] == '0' {
		t.Errorf("commands and ways to ask agents, without a hub: %s", buttons)
	}
}
