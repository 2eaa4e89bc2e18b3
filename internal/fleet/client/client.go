// Package client puts a question to a store: to a hub over HTTP, or to a directory or a cluster by a child
// "culprit-hub ask", since the embedded store needs cgo and culprit is static.
//
//	answer, err := client.Where{Store: "/var/lib/culprit-hub"}.Ask(ctx, request)
//
// It refuses hubs that are neither https nor on loopback, answers above a limit, and says where
// culprit-hub was looked for when there is none.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/window"
)

// Where is a store: of a hub, with a token to read, in a directory, or on a ClickHouse cluster that a hub fills.
type Where struct {
	Hub, Token    string
	Store, Tenant string
}

const (
	maxAnswer = 64 << 20
	patience  = 3 * time.Minute
	program   = "culprit-hub"
	// cluster begins the DSN of a ClickHouse cluster.
	cluster = "clickhouse://"
)

// Ask puts a question.
func (w Where) Ask(ctx context.Context, request ask.Request) (*ask.Answer, error) {
	switch {
	case w.Hub != "" && w.Store != "":
		return nil, errors.New("--hub and --store are two places: give one")
	case w.Hub == "" && w.Store == "":
		return nil, errors.New("say where the windows are: --store DIR, or --hub URL with its token in --token-file")
	}
	question, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	var text []byte
	if w.Hub != "" {
		text, err = w.post(ctx, "/v1/ask", question)
	} else {
		text, err = w.child(ctx, question)
	}
	if err != nil {
		return nil, err
	}
	answer := &ask.Answer{}
	if err := json.Unmarshal(text, answer); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	return answer, nil
}

// AskAgents has the agents of some hosts record a full window.
func (w Where) AskAgents(ctx context.Context, request any) error {
	if w.Hub == "" {
		return errors.New("agents are asked by their hub: give --hub URL")
	}
	text, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("ask agents: %w", err)
	}
	_, err = w.post(ctx, "/v1/asks", text)
	return err
}

func (w Where) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	address, err := url.Parse(w.Hub)
	if err != nil || address.Host == "" {
		return nil, fmt.Errorf("hub %q is no address: https://hub.example:8430", w.Hub)
	}
	if address.Scheme != "https" && !(address.Scheme == "http" && isLoopback(address.Hostname())) {
		return nil, fmt.Errorf("hub %s: a token is sent over https only (http on loopback)", w.Hub)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	to := address.JoinPath(path).String()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask hub: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+w.Token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask hub: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask hub: %w", err)
	case len(text) > maxAnswer:
		return nil, fmt.Errorf("ask hub: more than %d bytes came", maxAnswer)
	case answer.StatusCode != http.StatusOK:
		var refusal window.Refusal
		if json.Unmarshal(text, &refusal) != nil || refusal.Error == "" {
			refusal.Error = answer.Status
		}
		return nil, fmt.Errorf("hub: %s", refusal.Error)
	}
	return text, nil
}

func isLoopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// child asks a directory.
func (w Where) child(ctx context.Context, question []byte) ([]byte, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	arguments, environment := []string{"ask", "--store", w.Store}, os.Environ()
	if strings.HasPrefix(w.Store, cluster) { // its password is for no list of processes
		arguments, environment = []string{"ask"}, append(environment, "CULPRIT_HUB_DSN="+w.Store)
	}
	if w.Tenant != "" {
		arguments = append(arguments, "--tenant", w.Tenant)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	command := exec.CommandContext(ctx, path, arguments...)
	command.Stdin, command.Env = bytes.NewReader(question), environment
	var out, failure bytes.Buffer
	command.Stdout, command.Stderr = &out, &failure
	if err := command.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(failure.String()), "\n")
		if last := strings.TrimPrefix(lines[len(lines)-1], program+": "); last != "" {
			return nil, errors.New(last)
		}
		return nil, fmt.Errorf("run %s: %w", path, err)
	}
	return out.Bytes(), nil
}

// find looks beside culprit first: both come in one package.
func find() (string, error) {
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), program)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("%s is needed for --store, and is neither beside culprit nor in PATH: 'make hub' builds it",
			program)
	}
	return path, nil
}
