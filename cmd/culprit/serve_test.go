package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/report/browser"
)

// served is a server that runs as a process of its own.
type served struct {
	t       *testing.T
	address string
	process *exec.Cmd
	ended   chan error
}

// startServe starts culprit serve on any free port.
func startServe(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	s := &served{t: t, ended: make(chan error, 1)}
	s.process = command(t, dir, append([]string{"serve", dir, "--listen", "127.0.0.1:0"}, args...)...)
	s.process.Stderr = os.Stderr
	s.process.Env = append(s.process.Env, "TMPDIR="+t.TempDir()) // one that is killed leaves its pages there
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := s.process.StdoutPipe()
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.address, _, _ = strings.Cut(line, "/ shows ")
	go func() { s.ended <- s.process.Wait() }()
	t.Cleanup(func() {
		_ = s.process.Process.Kill() // it may have ended
	})
	return s
}

// interrupt ends the server as its user would, and checks that it ends well.
func (s *served) interrupt() {
	s.t.Helper()
	if err := s.process.Process.Signal(os.Interrupt); err != nil {
		s.t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Errorf("an interrupted server: %v", err)
		}
	case <-time.After(time.Minute):
		s.t.Error("an interrupted server does not end")
	}
}

// ask asks the server, with a document where one is given, and reads its answer into another.
func (s *served) ask(path, document string, into any) {
	s.t.Helper()
	method := http.MethodGet
	if document != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, s.address+path, strings.NewReader(document))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 400 {
		err = fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	if page, is := into.(*string); is && err == nil {
		*page = string(text)
	} else if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
}

// jobState is what the tests look at of a job.
type jobState struct {
	ID, State, Error, Href string
	Progress               struct {
		Stage    string
		Estimate *struct{ Pairs int }
	}
}

// await waits until a job has one of the states, or has told the stage.
func (s *served) await(id string, reached func(jobState) bool) jobState {
	s.t.Helper()
	var j jobState
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if s.ask("/api/jobs/"+id, "", &j); reached(j) {
			return j
		}
	}
	s.t.Fatalf("job %s stays %+v", id, j)
	return j
}

func over(j jobState) bool { return j.State == "done" || j.State == "failed" || j.State == "stopped" }

const hostileName = "<img src=x onerror=alert(1)>\u202e.culprit"

// The flow of a reader: find recordings, pick two sides, look at their comparison, and go back.
func TestServeInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	t.Parallel()
	dir := t.TempDir()
	for i := range int64(3) {
		madeRecording(t, filepath.Join(dir, fmt.Sprintf("old-%d.culprit", i)), 200+i, 100+i, 1000)
		madeRecording(t, filepath.Join(dir, fmt.Sprintf("new-%d.culprit", i)), 201+i, 200+2*i, 2000)
	}
	madeRecording(t, filepath.Join(dir, hostileName), 20, 10, 100)
	cut, now := filepath.Join(dir, "cut.culprit"), time.Now()
	// The kernel dates files by its last tick, up to 4 ms ago: it would be older than the recording
	// before it.
	if err := errors.Join(os.WriteFile(cut, []byte("PK\x03\x04"), 0o644), os.Chtimes(cut, now, now)); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, dir)
	b := browser.Start(t)
	b.Window(1280, 900, "light")
	b.Go(s.address + "/")
	b.Wait("document.querySelectorAll('#library tbody tr').length === 8")
	if shown := b.Eval("document.querySelector('#library').innerText"); !strings.Contains(shown, "damaged:") ||
		!strings.Contains(shown, `<img src=x onerror=alert(1)>\u202e.culprit`) {
		t.Errorf("the library shows:\n%s", shown)
	}
	b.Keep("library-light")
	stays(t, b, "library-light", map[string]string{"names missing": "#library td:first-child * { color: transparent; }",
		"kinds missing": ".tag { visibility: hidden; }"})
	b.Key("/")
	b.Call("Input.insertText", browser.Fields{"text": "old-"})
	b.Wait("document.querySelectorAll('#library tbody tr').length === 3")
	b.Eval("(document.querySelector('.toolbar .pickA').click(), '')")
	b.Eval("(document.querySelector('input[type=search]').select(), '')")
	b.Call("Input.insertText", browser.Fields{"text": "new- culprit"})
	b.Wait("document.querySelectorAll('#library tbody tr').length === 3 && " +
		"document.querySelector('#library tbody').innerText.includes('new-')")
	b.Eval("(document.querySelectorAll('tbody .pickB').forEach((button) => button.click()), '')")
	b.Wait("document.querySelector('.comparebar').innerText.includes('old-0.culprit and 2 more') && " +
		"document.querySelector('.comparebar').innerText.includes('new-0.culprit and 2 more')")
	b.Keep("library-picked")
	stays(t, b, "library-picked", map[string]string{
		"colours swapped": ":root { --a: #c24e00 !important; --b: #00669f !important; }",
		"nothing marked":  ".pickside { background: none !important; color: var(--ink) !important; }"})
	b.Eval("(document.querySelector('.comparebar .strong').focus(), '')")
	b.Key("Enter")
	b.Wait("location.pathname === '/comparison' && document.querySelector('h1') !== null")
	if shown := b.Eval("document.body.innerText"); !strings.Contains(shown, "1.34×") {
		t.Errorf("the comparison shows:\n%.500s", shown)
	}
	b.Eval("(document.querySelector('.top a.button').click(), '')")
	b.Wait("location.pathname === '/' && document.querySelector('.job') !== null && " +
		"document.querySelector('#library a[href*=onerror]') !== null")
	b.Eval("(document.querySelector('#library a[href*=onerror]').click(), '')")
	b.Wait("location.pathname.startsWith('/recording/') && document.querySelector('h1') !== null")
	lookNarrow(t, b, s.address)
	trouble, requests := b.Troubles()
	if len(trouble) > 0 {
		t.Errorf("the pages complain: %v", trouble)
	}
	for _, address := range requests {
		if !strings.HasPrefix(address, s.address+"/") && !strings.HasPrefix(address, "about:") {
			t.Errorf("the pages asked %s", address)
		}
	}
	s.interrupt()
}

// A reader without the token gets the form, and with it the page that was asked for.
func TestServeLogin(t *testing.T) {
	if testing.Short() {
		t.Skip("the browser takes seconds: -short leaves it out")
	}
	t.Parallel()
	const token = "0123456789abcdef-token"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, t.TempDir(), "--token-file", file)
	b := browser.Start(t)
	b.Window(360, 740, "light")
	b.Go(s.address + "/?from=here")
	for _, typed := range []string{"not the token at all", token} {
		b.Wait("location.pathname === '/login' && document.querySelector('[name=token]') !== null")
		b.Eval("(document.querySelector('[name=token]').focus(), '')")
		b.Call("Input.insertText", browser.Fields{"text": typed})
		b.Eval("(document.querySelector('form').requestSubmit(), '')")
		if typed != token {
			b.Wait("document.querySelector('[role=alert]') !== null")
		}
	}
	b.Wait("location.search === '?from=here' && document.body?.innerText.includes('Nothing here yet') === true")
	if cookies := b.Eval("document.cookie"); cookies != "" {
		t.Errorf("scripts see the session: %q", cookies)
	}
	b.Eval("([...document.querySelectorAll('.top button')].find((x) => x.innerText === 'Log out').click(), '')")
	b.Wait("location.pathname === '/login'")
	s.interrupt()
}

// listApart is the part of a list's blocks that may differ: with another font its columns stand
// elsewhere (0.0061), and the least of the planted faults is 0.0098.
const listApart = 0.008

// stays holds the library against its picture, without when, how long and how large, which differ
// each time; -update renews it.
func stays(t *testing.T, b *browser.Browser, name string, faults map[string]string) {
	t.Helper()
	told, wrong := b.Stays(browser.Look{Path: "testdata/pictures/" + name + ".png", Selector: "#library", Most: listApart,
		Hidden: "#library td.number { visibility: hidden; }", Faults: faults, Update: *update})
	t.Log(strings.Join(told, "\n"))
	if len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
}

// lookNarrow looks at the library on a telephone, in the dark.
func lookNarrow(t *testing.T, b *browser.Browser, address string) {
	t.Helper()
	b.Window(360, 740, "dark")
	b.Go(address + "/")
	b.Wait("document.querySelectorAll('#library tbody tr').length === 8")
	if width := b.Eval("document.documentElement.scrollWidth"); width != "360" {
		t.Errorf("the library is %s pixels wide on a telephone", width)
	}
	b.Eval("([...document.querySelectorAll('#start .choice button')]" +
		".find((x) => x.innerText === 'Investigate').click(), '')")
	b.Wait("document.querySelector('#start [name=b]') !== null")
	if valid := b.Eval("document.querySelector('#start form').checkValidity()"); valid != "false" {
		t.Error("a form without its commands can be sent")
	}
	b.Keep("library-narrow-dark")
	b.Window(1280, 900, "dark")
	b.Keep("library-dark")
}

// Real recordings and an investigation over HTTP; other users stay out; a stopped recording is
// kept; nothing outlives a server that is killed.
func TestServeRecords(t *testing.T) {
	needsRoot(t)
	t.Parallel()
	dir := t.TempDir()
	s := startServe(t, dir)
	var j jobState
	s.ask("/api/record", `{"command":"sleep 0.2","name":"naps"}`, &j)
	if j = s.await(j.ID, over); j.State != "done" || j.Href != "/recording/naps.culprit" {
		t.Fatalf("the recording is %+v", j)
	}
	var page string
	if s.ask(j.Href, "", &page); !strings.Contains(page, "culprit-served") {
		t.Errorf("its page is %.300s", page)
	}
	s.ask("/api/record", `{"all":true,"seconds":60,"name":"host"}`, &j)
	s.await(j.ID, func(now jobState) bool { return now.Progress.Stage == "recording" || over(now) })
	s.ask("/api/jobs/"+j.ID+"/stop", "{}", nil)
	if j = s.await(j.ID, over); j.State != "stopped" || j.Href != "/recording/host.culprit" {
		t.Errorf("the stopped recording is %+v", j)
	}
	s.ask("/api/investigate", `{"a":"sleep 0.02","b":"sleep 0.06","budget_s":8,"name":"slower"}`, &j)
	if j = s.await(j.ID, over); j.State != "done" || j.Href != "/case/slower" || j.Progress.Estimate == nil {
		t.Errorf("the investigation is %+v", j)
	}
	if s.ask(j.Href, "", &page); !strings.Contains(page, "data-case") {
		t.Errorf("its page is %.300s", page)
	}
	port := s.address[strings.LastIndexByte(s.address, ':')+1:]
	stranger := exec.Command("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/"+port+
		"; printf 'GET / HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3; cat <&3")
	stranger.Dir = "/"
	stranger.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if text, err := stranger.CombinedOutput(); !strings.HasPrefix(string(text), "HTTP/1.1 403") {
		t.Errorf("another user gets %q, %v", text, err)
	}
	s.ask("/api/record", `{"command":"sleep 30","name":"cut"}`, &j)
	s.await(j.ID, func(now jobState) bool { return now.Progress.Stage == "recording" || over(now) })
	if err := s.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "cut.culprit")); err == nil {
			break // what it saw is kept
		}
		if time.Now().After(deadline) {
			left, _ := filepath.Glob(filepath.Join(dir, "*"))
			running, _ := exec.Command("pgrep", "-af", "record.*"+dir+"|sleep 30").CombinedOutput()
			t.Fatalf("the recording outlives the server that was killed, or is not kept: files %q, processes %q", left, running)
		}
	}
}

func TestServePortTaken(t *testing.T) {
	s := startServe(t, t.TempDir(), "--read-only")
	oneLine(t, apart(t, t.TempDir(), "serve", "--listen", strings.TrimPrefix(s.address, "http://")), "in use", "--listen")
	if err := unix.Kill(s.process.Process.Pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("a terminated server: %v", err)
	}
}
