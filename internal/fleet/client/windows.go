package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"culprit/internal/fleet/ask"
	"culprit/internal/fleet/window"
)

// maxSides bounds the windows of an answer that are fetched by one command.
const maxSides = 64

// fetched has the commands of an answer fetch the windows that they compare: they lie on the hub.
func (w Where) fetched(answer *ask.Answer) *ask.Answer {
	for i := range answer.Look {
		look := &answer.Look[i]
		if len(look.Sides) != 2 || len(look.Commands) == 0 {
			continue
		}
		ids, here := []string{}, [2][]string{}
		for side, files := range look.Sides {
			for _, file := range files {
				id := strings.TrimSuffix(filepath.Base(file), window.RecordingSuffix)
				ids = append(ids, id)
				here[side] = append(here[side], id+window.RecordingSuffix)
			}
		}
		if len(ids) > maxSides || slices.ContainsFunc(ids, func(id string) bool { return !window.IsContentID(id) }) {
			continue // what a hub says is not taken for a part of a command
		}
		slices.Sort(ids)
		fetch := fmt.Sprintf("culprit fleet fetch %s --hub %s --token-file FILE", strings.Join(slices.Compact(ids), " "),
			ask.Quote(w.Hub))
		look.Commands = append(look.Commands[:len(look.Commands)-1], fetch,
			ask.CompareFiles(answer.Service, here[0], here[1]))
	}
	return answer
}

// Fetch brings a window of the hub into a folder: the recording under its id, its manifest beside
// it.
func (w Where) Fetch(ctx context.Context, id, folder string) (path string, err error) {
	if !window.IsContentID(id) {
		return "", fmt.Errorf("window %.80q: give its id, 64 hexadecimal digits, as an answer names it", id)
	}
	if w.Hub == "" {
		return "", errors.New("windows of a directory lie in it: --hub URL says which hub to fetch them from")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := w.send(ctx, http.MethodGet, window.Path(id), nil, window.ContentType)
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", id, err)
	}
	defer answer.Body.Close()
	file, err := os.CreateTemp(folder, ".culprit-window-")
	if err != nil {
		return "", fmt.Errorf("fetch window: %w", err)
	}
	defer func() {
		_ = file.Close()           // closed before where it was kept
		_ = os.Remove(file.Name()) // not there any more
	}()
	found, err := window.ReadBody(answer.Body, file)
	if err == nil && found.Content != id {
		err = fmt.Errorf("the hub sent window %s", found.Content)
	}
	if err == nil {
		err = file.Chmod(0o600) // what root saw of a host
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", id, err)
	}
	at := filepath.Join(folder, id)
	manifest, err := found.Manifest()
	if err == nil {
		err = os.WriteFile(at+window.ManifestSuffix, manifest, 0o600)
	}
	if err == nil {
		err = os.Rename(file.Name(), at+window.RecordingSuffix)
	}
	if err != nil {
		return "", fmt.Errorf("fetch window: %w", err)
	}
	return at + window.RecordingSuffix, nil
}
