package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/hub"
	"culprit/internal/fleet/store"
	"culprit/internal/fleet/window"
	"culprit/internal/report/browser"
)

// childVariable makes the program of the tests a culprit-hub.
const childVariable = "CULPRIT_HUB_OF_A_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		main()
		os.Exit(0)
	}
	status := browser.Run(m)
	if builtFolder != "" {
		os.RemoveAll(builtFolder)
	}
	os.Exit(status)
}

// process is a culprit-hub of a test, on a port and directory that stay through its ends.
type process struct {
	t         testing.TB
	directory string
	address   string
	flags     []string
	tokens    map[string]string
	child     *exec.Cmd
	said      *bytes.Buffer
}

func newProcess(t testing.TB, directory string, flags ...string) *process {
	t.Helper()
	p := &process{t: t, directory: directory, flags: flags, tokens: map[string]string{},
		address: fmt.Sprintf("127.0.0.1:%d", freePorts(t, 1)[0]), said: &bytes.Buffer{}}
	for _, scope := range []string{hub.Write, hub.Read} {
		secret, err := hub.AddToken(directory, "default", scope, "")
		if err != nil {
			t.Fatal(err)
		}
		p.tokens[scope] = secret
	}
	t.Cleanup(p.kill)
	p.start()
	return p
}

func (p *process) start() {
	p.t.Helper()
	p.child = exec.Command(os.Args[0], append([]string{"serve", "--store", p.directory, "--listen", p.address},
		p.flags...)...)
	p.child.Env = append(os.Environ(), childVariable+"=1")
	p.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.child.Stderr = p.said
	if err := p.child.Start(); err != nil {
		p.t.Fatal(err)
	}
	for range 1200 {
		answer, err := http.Get("http://" + p.address + "/v1/health")
		if err == nil {
			answer.Body.Close()
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	p.t.Fatalf("the hub does not listen: %s", p.said)
}

// kill is kill -9.
func (p *process) kill() {
	if p.child != nil {
		p.child.Process.Kill()
		p.child.Wait()
		p.child = nil
	}
}

// send puts an upload; a status of 0: the connection broke.
func (p *process) send(one upload) (status int, text string) {
	request, err := http.NewRequest("PUT", "http://"+p.address+window.Path(one.w.Content), bytes.NewReader(one.body))
	if err != nil {
		return 0, err.Error()
	}
	request.Header.Set("Authorization", "Bearer "+p.tokens[hub.Write])
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	var body bytes.Buffer
	body.ReadFrom(answer.Body)
	return answer.StatusCode, body.String()
}

// sendAll sends as agents do: each host's windows in order, each until it is acknowledged.
func (p *process) sendAll(all []upload, sent *atomic.Int64) {
	hosts := map[string][]upload{}
	for _, one := range all {
		hosts[one.w.Host] = append(hosts[one.w.Host], one)
	}
	var group sync.WaitGroup
	for _, of := range hosts {
		group.Go(func() {
			for _, one := range of {
				for deadline := time.Now().Add(100 * time.Second); ; time.Sleep(20 * time.Millisecond) {
					status, text := p.send(one)
					if status == http.StatusOK {
						break
					}
					var refusal window.Refusal
					if status != 0 && (json.Unmarshal([]byte(text), &refusal) != nil || !refusal.Again) {
						p.t.Errorf("status %d: %s", status, text)
						return
					}
					if time.Now().After(deadline) {
						p.t.Errorf("never acknowledged: %d %s", status, text)
						return
					}
				}
				sent.Add(1)
			}
		})
	}
	group.Wait()
}

// ask puts a question of the whole fleet.
func (p *process) ask(question string) (*ask.Answer, error) {
	text, _ := json.Marshal(ask.Request{Question: question, Service: "web",
		Span: store.Span{From: day0.Unix(), Until: day0.Add(24 * time.Hour).Unix()}})
	request, err := http.NewRequest("POST", "http://"+p.address+"/v1/ask", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+p.tokens[hub.Read])
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var body bytes.Buffer
	body.ReadFrom(answer.Body)
	found := &ask.Answer{}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.New(body.String())
	}
	return found, json.Unmarshal(body.Bytes(), found)
}

// checkWhole says where not every window is there, once.
func (p *process) checkWhole(all []upload) {
	p.t.Helper()
	hosts, cpu := map[string]bool{}, 0.0
	for _, one := range all {
		hosts[one.w.Host] = true
		cpu += float64(one.w.Services[0].CPUNs)
	}
	var last string
	for range 600 {
		found, err := p.ask(ask.Top)
		switch {
		case err != nil:
			last = err.Error()
		case len(found.Incomplete) > 0:
			last = strings.Join(found.Incomplete, "; ")
		default:
			if found.Windows != int64(len(all)) || found.Hosts != len(hosts) {
				p.t.Errorf("%d windows of %d hosts, sent were %d of %d", found.Windows, found.Hosts, len(all), len(hosts))
			}
			// Shares of the root of all stacks: no sample is lost or counted twice.
			if share := found.Top.Total[0].Share.Value; share < 0.999 || share > 1.001 {
				p.t.Errorf("samples hold %.4f of the CPU time", share)
			}
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.t.Fatalf("no whole answer: %s\n%s", last, p.said)
}
