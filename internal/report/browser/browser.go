// Package browser drives a headless Chromium for the tests of the pages. It is part of no program.
package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Browser drives a window of a headless Chromium with a profile of its own.
type Browser struct {
	t        Test
	chromium *chromium
	session  string
	profile  string

	mutex    sync.Mutex
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

const (
	browserTimeout = 60 * time.Second
	// waitEvery and waitLeast are how often a page looks whether it has come to something, and for
	// how long it does so for one question; a question whose page was left meanwhile is put again.
	waitEvery = 10 * time.Millisecond
	waitLeast = 2 * time.Second
)

// Start opens a window with a profile of its own, which is closed with the test, in the Chromium
// that all tests of a package share: to start one takes more CPU time than many a test. TestMain of
// the package has to be [Run].
func Start(t Test) *Browser {
	t.Helper()
	c, err := sharedChromium()
	if err != nil {
		t.Fatal(err)
	}
	return c.open(t)
}

// Apart is Start in a Chromium that does nothing else, for what measures.
func Apart(t Test) *Browser {
	t.Helper()
	c, err := startChromium(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.end)
	return c.open(t)
}

// open opens a window. It does not wait for what closing it does.
func (c *chromium) open(t Test) *Browser {
	t.Helper()
	b := &Browser{t: t, chromium: c}
	var profile struct{ BrowserContextID string }
	b.decode(b.Call("Target.createBrowserContext", Fields{}), &profile)
	b.profile = profile.BrowserContextID
	var target struct{ TargetID string }
	b.decode(b.Call("Target.createTarget", Fields{"url": "about:blank", "browserContextId": b.profile}), &target)
	var session struct{ SessionID string }
	b.decode(b.Call("Target.attachToTarget", Fields{"targetId": target.TargetID, "flatten": true}), &session)
	b.session = session.SessionID
	c.listenFor(b)
	t.Cleanup(func() {
		c.listenFor(nil, b.session)
		_, _ = c.ask("", "Target.disposeBrowserContext", Fields{"browserContextId": b.profile}) // it may have ended
	})
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.Call(domain+".enable", Fields{})
	}
	return b
}

// hear notes what the page does by itself.
func (b *Browser) hear(m message) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch m.Method {
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening":
		b.trouble = append(b.trouble, m.Method+" "+string(m.Params))
	case "Network.requestWillBeSent":
		var event struct{ Request struct{ URL string } }
		_ = json.Unmarshal(m.Params, &event)
		b.requests = append(b.requests, event.Request.URL)
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
func (b *Browser) send(method string, params any) message {
	b.t.Helper()
	m, err := b.chromium.ask(b.session, method, params)
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	return m
}

// Fields are the parameters of a call.
type Fields = map[string]any

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

// Wait waits until an expression is true. The page itself looks, so nothing is asked meanwhile.
func (b *Browser) Wait(condition string) {
	b.t.Helper()
	question := fmt.Sprintf(`(async () => { const until = performance.now() + %d;
		for (;;) {
			if (String(%s) === 'true') return 'true';
			if (performance.now() > until) return 'not yet';
			await new Promise((done) => setTimeout(done, %d));
		} })()`, waitLeast.Milliseconds(), condition, waitEvery.Milliseconds())
	deadline := time.Now().Add(browserTimeout)
	for b.evaluate(question, true) != "true" {
		if time.Now().After(deadline) {
			trouble, _ := b.Troubles()
			b.t.Fatalf("the page never came to %s; trouble: %v; page: %.2000s", condition, trouble,
				b.Eval("document.body.innerText"))
		}
		time.Sleep(waitEvery)
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
	b.drawn()
	return b.capture(Fields{"format": "png", "captureBeyondViewport": true})
}

// drawn waits until what was last changed is drawn.
func (b *Browser) drawn() {
	b.t.Helper()
	b.Eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))")
}

func (b *Browser) capture(what Fields) []byte {
	b.t.Helper()
	var answer struct{ Data []byte }
	b.decode(b.Call("Page.captureScreenshot", what), &answer)
	return answer.Data
}

// Keep leaves a picture where CULPRIT_PICTURES names a folder, for a person to look at. Where
// nobody asked for pictures it takes none: one of a long page costs a second.
func (b *Browser) Keep(name string) {
	b.t.Helper()
	folder := os.Getenv("CULPRIT_PICTURES")
	if folder == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), b.Picture(), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// glanceScale is the part of its width and height that a glance has: a sixteenth of the points.
const glanceScale = 0.25

// Glance is a small PNG of the whole page: enough to tell that something is drawn, for a small part
// of the time.
func (b *Browser) Glance() []byte {
	b.t.Helper()
	b.drawn()
	var size struct{ Width, Height float64 }
	b.decode(json.RawMessage(b.Eval(`JSON.stringify({ width: document.documentElement.scrollWidth,
		height: document.documentElement.scrollHeight })`)), &size)
	return b.capture(Fields{"format": "png", "optimizeForSpeed": true, "captureBeyondViewport": true,
		"clip": Fields{"x": 0, "y": 0, "width": size.Width, "height": size.Height, "scale": glanceScale}})
}

// Part returns a PNG of the first element that matches, as large as it is.
func (b *Browser) Part(selector string) []byte {
	b.t.Helper()
	b.drawn()
	var box struct{ X, Y, Width, Height float64 }
	b.decode(json.RawMessage(b.Eval(fmt.Sprintf(`(() => { const box = document.querySelector(%q).getBoundingClientRect();
		return JSON.stringify({ x: Math.round(box.x + scrollX), y: Math.round(box.y + scrollY),
			width: Math.round(box.width), height: Math.round(box.height) }); })()`, selector))), &box)
	return b.capture(Fields{"format": "png", "captureBeyondViewport": true,
		"clip": Fields{"x": box.X, "y": box.Y, "width": box.Width, "height": box.Height, "scale": 1}})
}

// Troubles returns what went wrong on the page and what it asked the network for.
func (b *Browser) Troubles() (trouble, requests []string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return append([]string{}, b.trouble...), append([]string{}, b.requests...)
}
