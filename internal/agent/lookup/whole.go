package lookup

import (
	"fmt"
	"os"
	"path/filepath"

	"culprit/recording"
)

// Whole makes one recording of the windows of a name, as if it had been recorded in one go: what
// lay between two of them stands among its gaps.
func (f *Found) Whole() (whole *recording.Recording, err error) {
	if len(f.Windows) == 1 {
		return f.Windows[0].Recording, nil
	}
	folder, err := os.MkdirTemp("", "culprit-windows-")
	if err != nil {
		return nil, fmt.Errorf("join windows: %w", err)
	}
	defer func() {
		if removed := os.RemoveAll(folder); err == nil && removed != nil {
			err = fmt.Errorf("join windows: %w", removed)
		}
	}()
	var parts []string
	for i, one := range f.Windows {
		if i > 0 {
			before := f.Windows[i-1].Manifest
			one.Recording.Manifest.Gaps = append([]recording.Gap{{Why: "between two windows of the agent",
				LengthNs: max(0, one.Manifest.Start.Sub(before.End).Nanoseconds())}}, one.Recording.Manifest.Gaps...)
		}
		part := filepath.Join(folder, fmt.Sprintf("%04d.culprit", i))
		if err := recording.Write(part, one.Recording); err != nil {
			return nil, fmt.Errorf("join windows: %w", err)
		}
		parts = append(parts, part)
	}
	path := filepath.Join(folder, "whole.culprit")
	if err := recording.Join(path, parts, nil); err != nil {
		return nil, err
	}
	return recording.Open(path)
}
