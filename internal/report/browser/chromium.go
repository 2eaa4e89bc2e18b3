package browser

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// chromium is a process that is driven over its debugging pipe, which needs no library: JSON
// messages that end in a zero byte, on descriptors 3 and 4. Each window has a session.
type chromium struct {
	process *exec.Cmd
	in, out *os.File
	writing sync.Mutex // whole messages, one after the other

	mutex    sync.Mutex
	next     int
	answers  map[int]chan message
	sessions map[string]*Browser
}

// shared is the Chromium of a package's tests; folder is where Run lets it keep its profiles.
var shared struct {
	mutex    sync.Mutex
	folder   string
	chromium *chromium
}

// Run runs the tests of a package, and ends the Chromium that they shared.
func Run(m interface{ Run() int }) (status int) {
	folder, err := os.MkdirTemp("", "culprit-chromium-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared.folder = folder
	status = m.Run()
	if shared.chromium != nil {
		shared.chromium.end()
	}
	_ = os.RemoveAll(folder) // a process that is just ending may write there once more
	return status
}

// sharedChromium starts the package's Chromium for the first test that needs it.
func sharedChromium() (*chromium, error) {
	shared.mutex.Lock()
	defer shared.mutex.Unlock()
	if shared.folder == "" {
		return nil, errors.New("a package with tests in a browser needs a TestMain with browser.Run")
	}
	var err error
	if shared.chromium == nil {
		shared.chromium, err = startChromium(shared.folder)
	}
	return shared.chromium, err
}

// startChromium starts one with its profiles in a folder.
func startChromium(folder string) (*chromium, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, errors.New("no chromium to look at the page with: apt-get install chromium")
	}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	command := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--disable-background-timer-throttling", "--disable-renderer-backgrounding",
		"--disable-backgrounding-occluded-windows", "--user-data-dir="+folder, "--remote-debugging-pipe", "about:blank")
	command.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, err
	}
	_, _ = toBrowser.Close(), fromBrowser.Close()
	// It ends by itself when the pipe is closed, and so with the tests, however they end.
	c := &chromium{process: command, in: in, out: out, answers: map[int]chan message{}, sessions: map[string]*Browser{}}
	go c.listen()
	return c, nil
}

// end ends the whole group: it has many processes.
func (c *chromium) end() {
	_ = syscall.Kill(-c.process.Process.Pid, syscall.SIGKILL)
	_ = c.process.Wait()
	_, _ = c.in.Close(), c.out.Close()
}

// listenFor tells a window what comes with its session, and no longer those that are closed.
func (c *chromium) listenFor(b *Browser, closed ...string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if b != nil {
		c.sessions[b.session] = b
	}
	for _, session := range closed {
		delete(c.sessions, session)
	}
}

func (c *chromium) listen() {
	reader := bufio.NewReaderSize(c.out, 1<<20)
	for {
		text, err := reader.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		c.mutex.Lock()
		if answer := c.answers[m.ID]; m.ID != 0 && answer != nil {
			delete(c.answers, m.ID)
			answer <- m
		}
		window := c.sessions[m.SessionID]
		c.mutex.Unlock()
		if window != nil && m.Method != "" {
			window.hear(m)
		}
	}
}

// ask sends one command to a session, or to the browser where there is none yet, and waits for the
// answer.
func (c *chromium) ask(session, method string, params any) (m message, err error) {
	text, err := json.Marshal(params)
	if err != nil {
		return m, err
	}
	answer := make(chan message, 1)
	c.mutex.Lock()
	c.next++
	c.answers[c.next] = answer
	text, err = json.Marshal(message{ID: c.next, Method: method, Params: text, SessionID: session})
	c.mutex.Unlock()
	if err == nil {
		c.writing.Lock()
		_, err = c.in.Write(append(text, 0))
		c.writing.Unlock()
	}
	if err != nil {
		return m, err
	}
	select {
	case m = <-answer:
		return m, nil
	case <-time.After(browserTimeout):
		return m, fmt.Errorf("no answer from the browser in %v", browserTimeout)
	}
}
