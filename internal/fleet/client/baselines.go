package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"time"

	"culprit/internal/fleet/baseline"
)

// batchTime is how long one batch may take on its way.
const batchTime = 3 * time.Minute

const baselinesPath = "/v1/baselines"

// Baseline lists what the hub keeps of a baseline.
func (w Where) Baseline(ctx context.Context, name string) (*baseline.Listed, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return w.listed(ctx, http.MethodGet, path.Join(baselinesPath, name), nil)
}

// MaySave fails where the hub would not take a batch of this name: before anything is measured for
// it.
func (w Where) MaySave(ctx context.Context, name string) error {
	if !baseline.IsName(name) {
		return fmt.Errorf("baseline %.100q: small letters, digits, . _ and -, at most 63", name)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := w.send(ctx, http.MethodGet, baselinesPath, nil, "application/json")
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// SaveBatch sends the batch of a folder and says what is kept then.
func (w Where) SaveBatch(ctx context.Context, name, batch, folder string, keep int) (*baseline.Listed, error) {
	file, err := os.CreateTemp("", "culprit-batch-")
	if err != nil {
		return nil, fmt.Errorf("save batch: %w", err)
	}
	defer func() {
		_ = file.Close() // was read to its end
		_ = os.Remove(file.Name())
	}()
	if err := baseline.Pack(file, folder); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("save batch: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	to := fmt.Sprintf("%s?keep=%d", path.Join(baselinesPath, name, batch), keep)
	return w.listed(ctx, http.MethodPut, to, io.NopCloser(file))
}

// FetchBatch unpacks a batch of the hub into a folder that it makes.
func (w Where) FetchBatch(ctx context.Context, name, batch, folder string) error {
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	answer, err := w.send(ctx, http.MethodGet, path.Join(baselinesPath, name, batch), nil, "application/zip")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	file, err := os.CreateTemp(filepath.Dir(folder), ".culprit-batch-")
	if err != nil {
		return fmt.Errorf("fetch batch: %w", err)
	}
	defer func() {
		_ = file.Close() // was read to its end
		_ = os.Remove(file.Name())
	}()
	size, err := io.Copy(file, io.LimitReader(answer.Body, baseline.MaxBytes+1))
	if err != nil {
		return fmt.Errorf("fetch batch %s of %s: %w", batch, name, err)
	}
	if err := baseline.Unpack(file, size, folder); err != nil {
		return fmt.Errorf("fetch batch %s of %s: %w", batch, name, err)
	}
	return nil
}

func (w Where) listed(ctx context.Context, method, to string, body io.Reader) (*baseline.Listed, error) {
	answer, err := w.send(ctx, method, to, body, "application/json")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	listed := &baseline.Listed{}
	if err := json.NewDecoder(w.bounded(answer.Body)).Decode(listed); err != nil {
		return nil, fmt.Errorf("read the hub's list: %w", err)
	}
	for _, batch := range listed.Batches {
		if _, is := baseline.Taken(batch.Name); !is {
			return nil, fmt.Errorf("read the hub's list: batch %.100q is no time", batch.Name)
		}
	}
	return listed, nil
}
