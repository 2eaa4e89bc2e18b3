package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The pairs of the repository are read, and the guest is told to investigate them with counters.
func TestPairsAreRead(t *testing.T) {
	pairs, err := readPairs("../../lineup/_guest")
	if err != nil || len(pairs) < 2 {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	for _, one := range pairs {
		if script := one.script(); !strings.Contains(script, "--counters '{cycles,instructions}' --cpi") ||
			strings.Contains(script, "{built") {
			t.Errorf("%s: %s", one.name, script)
		}
	}
	if _, err := readPairs(t.TempDir()); err == nil || !strings.Contains(err.Error(), "holds no PAIR/scenario.yaml") {
		t.Errorf("an empty folder: %v", err)
	}
}

// Cases come over the console between marks; one that is missing or cut off is named, and the
// others are kept.
func TestCasesAreUnpacked(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "case.json"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	packed, err := exec.Command("tar", "-C", folder, "-cz", "case.json").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(packed)
	whole := caseBegins + "\n" + text[:40] + "\n" + text[40:] + "\n" + caseEnds + "\n"
	console := "boot\n" + pairBegins + "one\nworse\n" + whole + pairBegins + "two\nno counters\n" +
		pairBegins + "three\nworse\n" + caseBegins + "\n" + text[:40] + "\n"
	into := t.TempDir()
	var out bytes.Buffer
	err = unpackAll(console, into, &out)
	if err == nil || !strings.Contains(err.Error(), "two: it left no case; three: it left no case") {
		t.Errorf("it says %v", err)
	}
	if !strings.Contains(out.String(), "one\nworse\n") || !strings.Contains(out.String(), "two\nno counters\n") {
		t.Errorf("it prints %q", out.String())
	}
	if _, err := os.Stat(filepath.Join(into, "one", "case", "case.json")); err != nil {
		t.Error(err)
	}
	if _, err := parse([]string{"-pairs", "x"}); err == nil {
		t.Error("pairs without a folder for their cases")
	}
}
