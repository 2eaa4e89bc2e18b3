package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestFamilyChooses(t *testing.T) {
	scenarios := []Scenario{
		{Name: "gc-tree-go", Family: "gc", Truth: Truth{Causes: []string{"runtime.gc"}}},
		{Name: "cold-sum-node", Family: "cold", Truth: Truth{Causes: []string{"runtime.cold"}}},
		{Name: "lock-go", Family: "lock", Truth: Truth{Causes: []string{"lock.contended"}}},
		{Name: "same-cpu-c", Family: "same", Truth: Truth{Outcome: "same"}},
	}
	cases := []struct{ names, want string }{
		{"", "gc-tree-go cold-sum-node lock-go same-cpu-c"},
		{"gc", "gc-tree-go"},
		{"runtime", "cold-sum-node gc-tree-go"},
		{"lock,runtime.cold,cold", "cold-sum-node lock-go"},
		{"same", "same-cpu-c"},
	}
	for _, c := range cases {
		kept, err := ofFamilies(scenarios, c.names)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range kept {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("family %q: %s, want %s", c.names, got, c.want)
		}
	}
	if _, err := ofFamilies(scenarios, "lock,disk"); err == nil || !strings.Contains(err.Error(), `"disk"`) {
		t.Errorf("unknown family: error %v", err)
	}
}

func TestScoreboardByFamily(t *testing.T) {
	program, _ := fakeCulprit(t, chattyAnswer, 1)
	_, stdout, _, _ := lineup(t, "-bin", program, "-run", "^(chatty-write-python|added-python|same-io-python)$")
	for _, want := range []string{
		"| code | 1 | 1 | 0 | 0 | 0 | – |",
		"| same | 1 | 0 | 0 | 0 | 0 | 1 |",
		"| syscall | 1 | 1 | 1 | 1 | 1 | – |",
		"outcome right: 2 of 3", "said to be worse or better: 1.",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("output lacks %q:\n%s", want, stdout)
		}
	}
}

// Two lineups at the same time write to folders of their own.
func TestReserveTwice(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	first, err := reserve(folder)
	if err != nil || first.path != folder {
		t.Fatalf("first: %q, %v", first.path, err)
	}
	second, err := reserve(folder)
	if err != nil || second.path == folder || filepath.Dir(second.path) != folder {
		t.Errorf("second: %q, %v; want a folder of its own in %s", second.path, err, folder)
	}
	if _, err := reserve(folder); err == nil || !strings.Contains(err.Error(), "-out") {
		t.Errorf("third by the same process: error %v", err)
	}
	second.release()
	first.release()
	again, err := reserve(folder)
	if err != nil || again.path != folder {
		t.Errorf("after release: %q, %v", again.path, err)
	}
	again.release()
}

// A killed lineup leaves cgroups; those of living ones are not touched.
func TestLeftGroups(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	left := filepath.Join(root, "cpu", fmt.Sprintf("%s%d-quota", groupPrefix, ended.Process.Pid))
	version2 := filepath.Join(root, fmt.Sprintf("%s%d", groupPrefix, ended.Process.Pid))
	mine, foreign := filepath.Join(root, "cpu", groupName()), filepath.Join(root, "cpu", groupPrefix+"other")
	for _, group := range []string{left, version2, mine, foreign} {
		if err := os.MkdirAll(group, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	removeLeftGroups(root)
	for group, want := range map[string]bool{left: false, version2: false, mine: true, foreign: true} {
		if fileExists(group) != want {
			t.Errorf("%s: there %v, want %v", group, !want, want)
		}
	}
	workshop := Workshop{folder: root}
	got, err := workshop.expand(Scenario{}, "echo > /sys/{group}/x")
	if err != nil || got != "echo > /sys/"+groupName()+"/x" {
		t.Errorf("{group} became %q, %v", got, err)
	}
}

func TestFamiliesOfThisFolder(t *testing.T) {
	status, stdout, stderr, _ := lineup(t, "-list", "-family", "runtime")
	if status != exitRight || !strings.Contains(stdout, "gc-tree-go") || strings.Contains(stdout, "lock-go") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// A command that begins with a variable must run when a script hides it.
func TestScriptTakesVariables(t *testing.T) {
	workshop := Workshop{folder: t.TempDir(), renames: true}
	script, err := workshop.script(`LINEUP_WORD="two words" sh -c 'test "$LINEUP_WORD" = "two words"'`)
	if err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command(script).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}
