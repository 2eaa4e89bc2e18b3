// Package browser drives a headless Chromium for the tests of the pages. It is part of no program.
package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Browser drives a headless Chromium over its debugging pipe, which needs no
// library: JSON messages that end in a zero byte, on descriptors 3 and 4.
type Browser struct {
	t       Test
	in      io.Writer
	session string

	mutex    sync.Mutex
	next     int
	answers  map[int]chan message
	trouble  []string // console messages, exceptions, dialogs, blocked content
	requests []string // addresses asked for
}

// Test is what uses a browser: a test, or a benchmark that measures pages.
type Test interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	TempDir() string
	Cleanup(end func())
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

const browserTimeout = 60 * time.Second

// Start starts a Chromium that ends with the test.
func Start(t Test) *Browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("no chromium to look at the page with: apt-get install chromium")
	}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	command.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	b := &Browser{t: t, in: in, answers: map[int]chan message{}}
	_, _ = toBrowser.Close(), fromBrowser.Close()
	go b.listen(out)
	t.Cleanup(func() {
		// The whole group: it has many processes.
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		_ = command.Wait()
		_, _ = in.Close(), out.Close()
	})
	b.open()
	return b
}

func (b *Browser) listen(out io.Reader) {
	reader := bufio.NewReaderSize(out, 1<<20)
	for {
		text, err := reader.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mutex.Lock()
		if answer := b.answers[m.ID]; m.ID != 0 && answer != nil {
			delete(b.answers, m.ID)
			answer <- m
		}
		switch m.Method {
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening":
			b.trouble = append(b.trouble, m.Method+" "+string(m.Params))
		case "Network.requestWillBeSent":
			var event struct{ Request struct{ URL string } }
			_ = json.Unmarshal(m.Params, &event)
			b.requests = append(b.requests, event.Request.URL)
		}
		b.mutex.Unlock()
	}
}

// Call sends one command and returns what it answers.
func (b *Browser) Call(method string, params any) json.RawMessage {
	b.t.Helper()
	m := b.send(method, params)
	if m.Error != nil {
		b.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	return m.Result
}

// send is Call with the answer as it came, which may be an error.
func (b *Browser) send(method string, params any) (m message) {
	b.t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		b.t.Fatal(err)
	}
	answer := make(chan message, 1)
	b.mutex.Lock()
	b.next++
	b.answers[b.next] = answer
	text, err = json.Marshal(message{ID: b.next, Method: method, Params: text, SessionID: b.session})
	b.mutex.Unlock()
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	select {
	case m = <-answer:
	case <-time.After(browserTimeout):
		b.t.Fatalf("%s: no answer from the browser in %v", method, browserTimeout)
	}
	return m
}

// Fields are the parameters of a call.
type Fields = map[string]any

func (b *Browser) open() {
	b.t.Helper()
	var target struct{ TargetID string }
	b.decode(b.Call("Target.createTarget", Fields{"url": "about:blank"}), &target)
	var session struct{ SessionID string }
	b.decode(b.Call("Target.attachToTarget", Fields{"targetId": target.TargetID, "flatten": true}), &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.Call(domain+".enable", Fields{})
	}
}

func (b *Browser) decode(text json.RawMessage, into any) {
	b.t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		b.t.Fatalf("decode %s: %v", text, err)
	}
}

// Go opens an address.
func (b *Browser) Go(address string) {
	b.t.Helper()
	b.Call("Page.navigate", Fields{"url": address})
}

// Window sets the size of the window and the colours.
func (b *Browser) Window(width, height int, scheme string) {
	b.t.Helper()
	b.Call("Emulation.setDeviceMetricsOverride",
		Fields{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	b.Call("Emulation.setEmulatedMedia",
		Fields{"features": []Fields{{"name": "prefers-color-scheme", "value": scheme}}})
}

// Wait waits until an expression is true.
func (b *Browser) Wait(condition string) {
	b.t.Helper()
	deadline := time.Now().Add(browserTimeout)
	for b.evaluate("String("+condition+")", true) != "true" {
		if time.Now().After(deadline) {
			b.t.Fatalf("the page never came to %s; trouble: %v; page: %.2000s", condition, b.trouble,
				b.Eval("document.body.innerText"))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Eval runs an expression whose value is text.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	return b.evaluate(expression, false)
}

// evaluate answers nothing where the page was left meanwhile and that may be.
func (b *Browser) evaluate(expression string, mayLeave bool) string {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	question := Fields{"expression": expression, "returnByValue": true, "awaitPromise": true}
	m := b.send("Runtime.evaluate", question)
	if m.Error != nil && mayLeave && strings.Contains(m.Error.Message, "navigated") {
		return ""
	}
	if m.Error != nil {
		b.t.Fatalf("evaluate %.200s: %s", expression, m.Error.Message)
	}
	b.decode(m.Result, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("evaluate %s: %s", expression, answer.ExceptionDetails)
	}
	return fmt.Sprint(answer.Result.Value)
}

// Picture returns a PNG of the whole page.
func (b *Browser) Picture() []byte {
	b.t.Helper()
	b.Eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))")
	var answer struct{ Data []byte }
	b.decode(b.Call("Page.captureScreenshot", Fields{"format": "png", "captureBeyondViewport": true}), &answer)
	return answer.Data
}

// Keep takes a picture and, where CULPRIT_PICTURES names a folder, leaves it there for a person to look at.
func (b *Browser) Keep(name string) []byte {
	b.t.Helper()
	data := b.Picture()
	if folder := os.Getenv("CULPRIT_PICTURES"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name+".png"), data, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	return data
}

// Troubles returns what went wrong on the page and what it asked the network for.
func (b *Browser) Troubles() (trouble, requests []string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return append([]string{}, b.trouble...), append([]string{}, b.requests...)
}
