package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"culprit/internal/fleet/client"
	"culprit/internal/fleet/hub"
)

// batchFolder is a batch on disk.
func batchFolder(t *testing.T, text string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{"case.json": text, "recordings/A-1.culprit": strings.Repeat(text, 1000)} {
		path := filepath.Join(folder, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// Batches of checks are kept by name, the latest, for who may; what they hold comes back the same,
// and outlives the hub's end.
func TestBaselines(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	tokens := map[string]string{}
	for name, of := range map[string][2]string{"saves": {"default", hub.Baseline}, "other": {"other", hub.Baseline}} {
		secret, err := hub.AddToken(directory, of[0], of[1], "")
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = secret
	}
	p := newProcess(t, directory)
	as := func(token string) client.Where { return client.Where{Hub: "http://" + p.address, Token: token} }
	saves, reads := as(tokens["saves"]), as(p.tokens[hub.Read])
	fails := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := saves.MaySave(t.Context(), "app"); err != nil {
		t.Error(err)
	}
	_, err := saves.Baseline(t.Context(), "app")
	fails(err, `there is no baseline "app", nor any other`)
	for day := range 4 {
		batch := fmt.Sprintf("2026112%d-120000", day)
		listed, err := saves.SaveBatch(t.Context(), "app", batch, batchFolder(t, fmt.Sprint("day ", day)), 3)
		if err != nil || len(listed.Batches) != min(day+1, 3) {
			t.Fatalf("%+v, %v", listed, err)
		}
	}
	_, err = saves.SaveBatch(t.Context(), "app", "20261123-120000", batchFolder(t, "again"), 3)
	fails(err, "has a batch 20261123-120000 already")
	_, err = reads.SaveBatch(t.Context(), "app", "20261124-120000", batchFolder(t, "no"), 3)
	fails(err, "the token is for read, this needs baseline")
	_, err = as(p.tokens[hub.Write]).Baseline(t.Context(), "app")
	fails(err, "the token is for write, this needs read or baseline")
	_, err = as("no such token").Baseline(t.Context(), "app")
	fails(err, "the token is not known here")
	_, err = as(tokens["other"]).Baseline(t.Context(), "app")
	fails(err, "nor any other")
	_, err = reads.Baseline(t.Context(), "ap")
	fails(err, `there is no baseline "ap"; there are app`)
	fails(saves.MaySave(t.Context(), "../app"), "small letters")
	refusesBatches(t, p, tokens["saves"])
	p.kill()
	_, err = reads.Baseline(t.Context(), "app")
	fails(err, "does not answer")
	p.start()
	listed, err := reads.Baseline(t.Context(), "app")
	if err != nil || len(listed.Batches) != 3 || listed.Batches[0].Name != "20261121-120000" {
		t.Fatalf("%+v, %v", listed, err)
	}
	to := filepath.Join(t.TempDir(), "batch")
	if err := reads.FetchBatch(t.Context(), "app", "20261123-120000", to); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(to, "recordings/A-1.culprit"))
	if err != nil || string(text) != strings.Repeat("day 3", 1000) {
		t.Errorf("%.20q, %v", text, err)
	}
	fails(reads.FetchBatch(t.Context(), "app", "20261120-120000", filepath.Join(t.TempDir(), "x")), "there is no batch")
}

// refusesBatches sends what is none, and names that lead elsewhere.
func refusesBatches(t *testing.T, p *process, token string) {
	t.Helper()
	for path, want := range map[string]int{
		"/v1/baselines/app/20261124-120000":             http.StatusUnprocessableEntity,
		"/v1/baselines/app/20261124-120000?keep=0":      http.StatusBadRequest,
		"/v1/baselines/app/yesterday":                   http.StatusBadRequest,
		"/v1/baselines/..%2f..%2fother/20261124-120000": http.StatusBadRequest,
		"/v1/baselines/App/20261124-120000":             http.StatusBadRequest,
	} {
		request, err := http.NewRequest(http.MethodPut, "http://"+p.address+path, bytes.NewReader([]byte("PK no zip")))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != want || !strings.HasPrefix(string(text), `{"error":"`) {
			t.Errorf("%s: %d %s, want %d", path, answer.StatusCode, text, want)
		}
	}
	left, _ := filepath.Glob(filepath.Join(p.directory, "tenants/*/baselines/.upload-*"))
	if len(left) > 0 {
		t.Errorf("what was refused is left: %v", left)
	}
}

// culprit ci keeps three batches in a hub and holds a fourth run against them.
func TestCheckAgainstAHub(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds culprit and runs trials: -short leaves it out")
	}
	directory := t.TempDir()
	secret, err := hub.AddToken(directory, "default", hub.Baseline, "")
	if err != nil {
		t.Fatal(err)
	}
	p := newProcess(t, directory)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "token"), []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(name string, words ...string) (status int, out, failure string) {
		words = append([]string{"ci", "--hub", "http://" + p.address, "--token-file", "token", "--baseline", name,
			"--budget", "3s"}, words...)
		command := exec.Command(builtCulprit(t), append(words, "--", "sleep", "0.02")...)
		command.Dir = folder
		var said, failed bytes.Buffer
		command.Stdout, command.Stderr = &said, &failed
		_ = command.Run() // its status tells
		return command.ProcessState.ExitCode(), said.String(), failed.String()
	}
	if status, _, failed := check("app"); status != 2 || !strings.Contains(failed, `there is no baseline "app"`) {
		t.Errorf("a check against nothing: %d %s", status, failed)
	}
	for i := range 3 {
		status, out, failed := check("app", "--save", "--case", fmt.Sprint("saved-", i))
		if status != 0 || !strings.Contains(out, fmt.Sprintf(" of baseline app in http://%s: %d stored", p.address, i+1)) {
			t.Fatalf("saved: %d %s%s", status, out, failed)
		}
	}
	// What the host shows is its own; but that the stored batches are what it was held against is
	// not.
	status, out, failed := check("app", "--case", "checked", "--fail-over", "50%")
	if !strings.Contains(out, "3 stored batches") || (status == 2) != strings.Contains(failed, "not judged") {
		t.Errorf("checked: %d\n%s\n%s", status, out, failed)
	}
	p.kill()
	if status, _, failed := check("app", "--save"); status != 2 || !strings.Contains(failed, "does not answer") ||
		strings.Count(strings.TrimSpace(failed), "\n") != 0 {
		t.Errorf("a hub that is away: %d %s", status, failed)
	}
}
