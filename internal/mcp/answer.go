package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"culprit/internal/serve/child"
)

// Limits of one answer: an assistant reads it whole.
const (
	textMax     = 64 << 10
	documentMax = 192 << 10
	fileMax     = 256 << 20 // of the document before the pictures' parts are taken off
)

// pictures are the members of documents that pictures are drawn from: most of their size, and
// nothing to read. Others are cut from the longest on where an answer is still too long.
var pictures = []string{"profile", "waits", "wait_profile", "trials"}

func said(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// read answers with what a verb prints and with its document.
func (s *server) read(ctx context.Context, args []string, words ...string) (*sdk.CallToolResult, any, error) {
	return s.readIn(ctx, s.options.Dir, args, words...)
}

func (s *server) readIn(ctx context.Context, dir string, args []string, words ...string) (*sdk.CallToolResult, any,
	error) {
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	folder, err := os.MkdirTemp("", "culprit-mcp-")
	if err != nil {
		return nil, nil, fmt.Errorf("make room for the document: %w", err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "document.json")
	args = append(args, "--json="+path)
	if len(words) > 0 { // a name that looks like a flag is none
		args = append(append(args, "--"), words...)
	}
	printed := &firstBytes{limit: textMax}
	run := child.Child{Program: s.options.Program, Args: args, Dir: dir, Stdout: printed, Judges: true}
	if err := run.Run(ctx); err != nil {
		return nil, nil, err
	}
	document, err := readDocument(path)
	if err != nil {
		return nil, nil, err
	}
	return said(printed.String()), document, nil
}

// firstBytes keeps the begin of what is written, and says where it cut.
type firstBytes struct {
	limit int
	text  bytes.Buffer
	cut   bool
}

// Write keeps what fits.
func (f *firstBytes) Write(p []byte) (int, error) {
	room := f.limit - f.text.Len()
	if len(p) > room {
		f.cut = true
	}
	f.text.Write(p[:min(len(p), room)])
	return len(p), nil
}

func (f *firstBytes) String() string {
	text := string(bytes.ToValidUTF8(f.text.Bytes(), nil))
	if f.cut {
		text += "\n… cut here; the document has more\n"
	}
	return text
}

// readDocument reads what a verb wrote, without what nobody reads; "left_out" names that.
func readDocument(path string) (map[string]any, error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() > fileMax {
		return nil, errors.New("there is no document of a size that can be read")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	return slim(text)
}

// slim takes members off until the document is short enough to be read.
func slim(text []byte) (map[string]any, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	var leftOut []string
	drop := func(name string) {
		if _, has := members[name]; has {
			delete(members, name)
			leftOut = append(leftOut, name)
		}
	}
	for _, name := range pictures {
		drop(name)
	}
	size := 0
	for _, value := range members {
		size += len(value)
	}
	for size > documentMax {
		longest := ""
		for name, value := range members {
			if longest == "" || len(value) > len(members[longest]) {
				longest = name
			}
		}
		size -= len(members[longest])
		drop(longest)
	}
	document := map[string]any{}
	for name, value := range members {
		document[name] = value
	}
	if len(leftOut) > 0 {
		document["left_out"] = leftOut
	}
	return document, nil
}
