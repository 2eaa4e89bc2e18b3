package main

import (
	"context"
	"fmt"
	"os"

	"culprit/internal/explain"
)

// isCase tells the directory of a case from a recording and a cause.
func isCase(word string) bool {
	information, err := os.Stat(word)
	return err == nil && information.IsDir()
}

// explainCase judges the recordings of a case again, by what the case keeps beside them.
func explainCase(ctx context.Context, w world, o explainOptions, path string) error {
	c, folder, err := readCase(ctx, path)
	if err != nil {
		return err
	}
	shown, known, err := explain.Open(folder)
	if err != nil {
		return err
	}
	if err := known.About(o.metric); err != nil {
		return err
	}
	judged, err := shown.Judge(*known)
	if err != nil {
		return fmt.Errorf("explain %s: %w", path, err)
	}
	c.TellAgain(judged, known.Warnings)
	return o.tellCase(w, c, c)
}
