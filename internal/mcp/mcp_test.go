package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// program stands for culprit: it prints what it was asked, and writes a document with it.
const program = `#!/bin/sh
case "$*" in "record "*"exit 3") touch "$3"; echo "culprit: $3: 0 samples" >&2; exit 3;; "record "*) exit 2;; esac
for word; do case "$word" in --json=*)
	printf '%s\n' "{\"schema\":\"x/1\",\"profile\":[1],\"asked\":\"$*\"}" > "${word#--json=}";; esac; done
echo "asked: $*"
`

func connect(t *testing.T, act bool) (*sdk.ClientSession, string) {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(t.TempDir(), "culprit")
	if err := os.WriteFile(script, []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := newServer(Options{Dir: dir, Act: act, Program: script, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	server, client := sdk.NewInMemoryTransports()
	running, err := s.offer().Connect(t.Context(), server, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		_ = running.Wait()
		_ = s.root.Close()
	})
	return session, dir
}

func call(t *testing.T, session *sdk.ClientSession, name string, arguments any) (text string, failed bool) {
	t.Helper()
	result, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	for _, content := range result.Content {
		if part, is := content.(*sdk.TextContent); is {
			text += part.Text
		}
	}
	if result.StructuredContent != nil {
		document, err := json.Marshal(result.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		text += "\n" + string(document)
	}
	return text, result.IsError
}

// Tools are the verbs that read, with their documents; those that act are offered only where it was
// asked for.
func TestTools(t *testing.T) {
	session, dir := connect(t, false)
	for _, name := range []string{"a.culprit", "--b.culprit"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is not marked as one that only reads", tool.Name)
		}
	}
	slices.Sort(names)
	if fmt.Sprint(names) != "[causes compare doctor explain library tail]" {
		t.Errorf("tools are %v", names)
	}
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      []string
		failed    bool
	}{
		{"explain", map[string]any{"path": "a.culprit", "why": true},
			[]string{"explain --why --json=", "-- ./a.culprit", `"left_out":["profile"]`}, false},
		{"explain", map[string]any{"path": "--b.culprit"}, []string{"-- ./--b.culprit"}, false},
		{"explain", map[string]any{"path": "../a.culprit"}, []string{"no path below"}, true},
		{"explain", map[string]any{"path": "/etc/passwd"}, []string{"no path below"}, true},
		{"explain", map[string]any{"path": "none"}, []string{"there is no"}, true},
		{"compare", map[string]any{"a": []string{"a.culprit"}, "b": []string{"a.culprit"}, "per": "run"},
			[]string{"--a=./a.culprit", "--b=./a.culprit", "--per=run"}, false},
		{"compare", map[string]any{"a": []string{"a.culprit"}, "b": []string{}}, []string{"give 1 to 100"}, true},
		{"tail", map[string]any{"path": "a.culprit"}, []string{"tail --json=", "-- ./a.culprit"}, false},
		{"causes", map[string]any{"cause": "lock.contended"}, []string{"explain", "-- lock.contended"}, false},
		{"causes", map[string]any{"cause": "../../etc"}, []string{"no cause"}, true},
		{"library", map[string]any{"search": "A.CULPRIT"}, []string{"a.culprit", `"total":1`}, false},
		{"record", map[string]any{"command": "true"}, []string{"unknown tool"}, true},
	} {
		text, failed := call(t, session, test.tool, test.arguments)
		for _, want := range test.want {
			if !strings.Contains(text, want) || failed != test.failed {
				t.Errorf("%s %v: failed %v, %q lacks %q", test.tool, test.arguments, failed, text, want)
			}
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "out.culprit")); err != nil {
		t.Fatal(err)
	}
	if text, failed := call(t, session, "explain", map[string]any{"path": "out.culprit"}); !failed {
		t.Errorf("a link out of the directory is read: %s", text)
	}
}

func TestActing(t *testing.T) {
	session, _ := connect(t, true)
	for _, bad := range []map[string]any{{}, {"pid": 1, "command": "true"}, {"command": "true", "seconds": 1e9}} {
		if text, failed := call(t, session, "record", bad); !failed {
			t.Errorf("record %v is not refused: %s", bad, text)
		}
	}
	if text, failed := call(t, session, "record", map[string]any{"command": "exit 3"}); failed ||
		!strings.Contains(text, "explain --json=") {
		t.Errorf("a recording of a command that failed is answered by %q", text)
	}
	if text, failed := call(t, session, "record", map[string]any{"command": "true"}); !failed {
		t.Errorf("where nothing was recorded, the answer is %q", text)
	}
	if text, failed := call(t, session, "investigate", map[string]any{"a": "x", "b": "y"}); failed ||
		!strings.Contains(text, "explain --json=") {
		t.Errorf("an investigation is answered by %q", text)
	}
}

// A document that is too long loses its longest members, and says which.
func TestSlim(t *testing.T) {
	long := strings.Repeat("x", documentMax)
	document, err := slim([]byte(`{"a":"b","long":"` + long + `","trials":[]}`))
	if err != nil || fmt.Sprint(document["left_out"]) != "[trials long]" || document["a"] == nil {
		t.Errorf("%.200v, %v", document, err)
	}
	if _, err := slim([]byte("[")); err == nil {
		t.Error("no document is taken for one")
	}
}
