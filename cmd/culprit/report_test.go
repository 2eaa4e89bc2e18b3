package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page is made again out of case.json alone; what is no case is refused in one line.
func TestReportMakesThePageAgain(t *testing.T) {
	folder := t.TempDir()
	made := here(t, "investigate", "--a", "echo v=1", "--b", "echo v=1", "--metric", `v=v=(\d+)`,
		"--budget", "20s", "--case", filepath.Join(folder, "case"))
	if made.status != 0 {
		t.Fatal(made.stderr)
	}
	page := filepath.Join(folder, "page.html")
	again := here(t, "report", filepath.Join(folder, "case"), "-o", page)
	if again.status != 0 || strings.TrimSpace(again.stdout) != page {
		t.Fatalf("%+v", again)
	}
	before, err := os.ReadFile(filepath.Join(folder, "case", "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(page)
	if err != nil || len(after) == 0 || string(after) != string(before) {
		t.Errorf("%d bytes, and %d of the first page: they differ; %v", len(after), len(before), err)
	}
	text := here(t, "report", filepath.Join(folder, "case"), "--text")
	if text.status != 0 || !strings.HasPrefix(text.stdout, "SAME") {
		t.Errorf("text: %+v", text)
	}
	broken := filepath.Join(folder, "case.json")
	if err := os.WriteFile(broken, []byte(`{"schema":`), 0o644); err != nil {
		t.Fatal(err)
	}
	parts := filepath.Join(folder, "run.culprit.parts")
	if err := os.Mkdir(parts, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(folder, "none"): "there is no case",
		broken: "it is no case", folder + "/case/runs": "there is no case", parts: "record --salvage"} {
		oneLine(t, here(t, "report", path), want)
	}
}

// A case that an earlier culprit wrote is shown, and one of a newer culprit refused in one line.
func TestReportOfOtherSchemas(t *testing.T) {
	const old = "../../internal/report/testdata/case-1.json"
	page := filepath.Join(t.TempDir(), "page.html")
	if made := here(t, "report", old, "-o", page); made.status != 0 || strings.TrimSpace(made.stdout) != page {
		t.Errorf("%+v", made)
	}
	text := here(t, "report", old, "--text")
	if text.status != 0 || !strings.Contains(text.stdout, "where      <module> main.js › main › findTemplate › statx") {
		t.Errorf("text: %+v", text)
	}
	document, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(t.TempDir(), "case.json")
	changed := strings.Replace(string(document), "culprit.case/1", "culprit.case/3", 1)
	if err := os.WriteFile(newer, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	refused := here(t, "report", newer)
	oneLine(t, refused)
	if !strings.Contains(refused.stderr, "newer") {
		t.Errorf("refused with %q", refused.stderr)
	}
}
