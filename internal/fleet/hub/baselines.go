package hub

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"culprit/internal/fleet/baseline"
	"culprit/internal/fleet/store"
)

// Limits of what is kept for checks in CI, of one tenant.
const (
	maxBaselines     = 1000
	maxBatches       = 200 // of a baseline
	defaultBatches   = 20
	maxBaselineBytes = 8 << 30 // of all batches
	shownBaselines   = 12      // in a refusal
)

// batchSuffix is that of a batch's file, in the folder of its baseline.
const batchSuffix = ".zip"

// baselines are folders of a tenant; one upload at a time is counted and put into its place.
type baselines struct{ mutex sync.Mutex }

func (h *Hub) baselineFolder(tenant string) string {
	return filepath.Join(TenantDirectory(h.directory, tenant), "baselines")
}

// listBaselines answers with all.
func (h *Hub) listBaselines(_ *http.Request, token Token, _ *store.Store, w http.ResponseWriter) error {
	names, err := baselineNames(h.baselineFolder(token.Tenant))
	if err != nil {
		return err
	}
	found := []baseline.Listed{}
	for _, name := range names {
		batches, err := batchesOf(filepath.Join(h.baselineFolder(token.Tenant), name))
		if err != nil {
			return err
		}
		found = append(found, baseline.Listed{Name: name, Batches: batches})
	}
	reply(w, http.StatusOK, map[string]any{"baselines": found})
	return nil
}

// showBaseline lists the batches of one.
func (h *Hub) showBaseline(r *http.Request, token Token, _ *store.Store, w http.ResponseWriter) error {
	name := r.PathValue("name")
	if !baseline.IsName(name) {
		return failure{http.StatusBadRequest, false, errName(name)}
	}
	folder := h.baselineFolder(token.Tenant)
	batches, err := batchesOf(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	if len(batches) == 0 {
		return failure{http.StatusNotFound, false, noBaseline(folder, name)}
	}
	reply(w, http.StatusOK, baseline.Listed{Name: name, Batches: batches})
	return nil
}

func errName(name string) error {
	return fmt.Errorf("baseline %.100q: small letters, digits, . _ and -, at most 63", name)
}

// noBaseline says what there is instead.
func noBaseline(folder, name string) error {
	names, err := baselineNames(folder)
	if err != nil || len(names) == 0 {
		return fmt.Errorf("there is no baseline %q, nor any other; 'culprit ci --save' makes one", name)
	}
	more := ""
	if len(names) > shownBaselines {
		more = fmt.Sprintf(" and %d more", len(names)-shownBaselines)
	}
	return fmt.Errorf("there is no baseline %q; there are %s%s", name,
		strings.Join(names[:min(len(names), shownBaselines)], ", "), more)
}

// sendBatch answers with the zip of a batch.
func (h *Hub) sendBatch(r *http.Request, token Token, _ *store.Store, w http.ResponseWriter) error {
	name, batch := r.PathValue("name"), r.PathValue("batch")
	if _, is := baseline.Taken(batch); !is || !baseline.IsName(name) {
		return failure{http.StatusNotFound, false, fmt.Errorf("there is no batch %.100q of %.100q", batch, name)}
	}
	file, err := os.Open(filepath.Join(h.baselineFolder(token.Tenant), name, batch+batchSuffix))
	if errors.Is(err, os.ErrNotExist) {
		return failure{http.StatusNotFound, false, fmt.Errorf("there is no batch %s of %s", batch, name)}
	}
	if err != nil {
		return fmt.Errorf("read batch: %w", err)
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/zip")
	_, _ = io.Copy(w, file) // who asked may have gone
	return nil
}

// saveBatch takes a batch, and throws the oldest away beyond as many as are to be kept.
func (h *Hub) saveBatch(r *http.Request, token Token, _ *store.Store, w http.ResponseWriter) error {
	name, batch := r.PathValue("name"), r.PathValue("batch")
	keep, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("keep"), strconv.Itoa(defaultBatches)))
	_, is := baseline.Taken(batch)
	switch {
	case !baseline.IsName(name):
		return failure{http.StatusBadRequest, false, errName(name)}
	case !is:
		return failure{http.StatusBadRequest, false, fmt.Errorf("batch %.100q is no time: 20261123-120000", batch)}
	case err != nil || keep < 1 || keep > maxBatches:
		return failure{http.StatusBadRequest, false, fmt.Errorf("keep 1 to %d batches", maxBatches)}
	}
	folder := filepath.Join(h.baselineFolder(token.Tenant), name)
	temporary, err := h.takeBatch(r, token, w)
	if temporary != "" {
		defer os.Remove(temporary) // not there any more when it was taken
	}
	if err != nil {
		return err
	}
	h.baselines.mutex.Lock()
	defer h.baselines.mutex.Unlock()
	if err := h.roomForBatch(token.Tenant, name, temporary); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("keep batch: %w", err)
	}
	to := filepath.Join(folder, batch+batchSuffix)
	if _, err := os.Stat(to); err == nil {
		return failure{http.StatusConflict, false, fmt.Errorf("%s has a batch %s already", name, batch)}
	}
	if err := os.Rename(temporary, to); err != nil {
		return fmt.Errorf("keep batch: %w", err)
	}
	batches, err := pruneBatches(folder, keep)
	if err != nil {
		return err
	}
	if err := syncFolder(folder); err != nil {
		return err
	}
	reply(w, http.StatusOK, baseline.Listed{Name: name, Batches: batches})
	return nil
}

// takeBatch writes what is sent to a file that survives a crash, and looks whether it is a batch.
func (h *Hub) takeBatch(r *http.Request, token Token, w http.ResponseWriter) (temporary string, err error) {
	folder := h.baselineFolder(token.Tenant)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("take batch: %w", err)
	}
	removeStale(folder, time.Now())
	file, err := os.CreateTemp(folder, uploadPrefix)
	if err != nil {
		return "", fmt.Errorf("take batch: %w", err)
	}
	defer file.Close()
	size, err := io.Copy(file, http.MaxBytesReader(w, r.Body, baseline.MaxBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return file.Name(), failure{http.StatusRequestEntityTooLarge, false,
			fmt.Errorf("more than %d bytes", baseline.MaxBytes)}
	case err != nil:
		return file.Name(), fmt.Errorf("take batch: %w", err)
	}
	if err := baseline.Check(file, size); err != nil {
		return file.Name(), failure{http.StatusUnprocessableEntity, false, err}
	}
	if err := file.Sync(); err != nil {
		return file.Name(), fmt.Errorf("take batch: %w", err)
	}
	return file.Name(), nil
}

// What a crash leaves of an upload is removed after so long.
const (
	uploadPrefix = ".upload-"
	staleAfter   = time.Hour
)

func removeStale(folder string, now time.Time) {
	left, _ := filepath.Glob(filepath.Join(folder, uploadPrefix+"*")) // the pattern is sound
	for _, name := range left {
		if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > staleAfter {
			_ = os.Remove(name) // the next upload looks again
		}
	}
}

// roomForBatch refuses what a tenant has no room for.
func (h *Hub) roomForBatch(tenant, name, temporary string) error {
	folder := h.baselineFolder(tenant)
	names, err := baselineNames(folder)
	if err != nil {
		return err
	}
	if len(names) >= maxBaselines && !slices.Contains(names, name) {
		return failure{http.StatusInsufficientStorage, false, fmt.Errorf("there are %d baselines already", len(names))}
	}
	info, err := os.Stat(temporary)
	if err != nil {
		return fmt.Errorf("take batch: %w", err)
	}
	sum := info.Size()
	for _, other := range names {
		batches, err := batchesOf(filepath.Join(folder, other))
		if err != nil {
			return err
		}
		for _, batch := range batches {
			sum += batch.Bytes
		}
	}
	if sum > maxBaselineBytes {
		return failure{http.StatusInsufficientStorage, false,
			fmt.Errorf("the batches of all baselines would take %d bytes, at most %d are kept; save with fewer --batches",
				sum, int64(maxBaselineBytes))}
	}
	return nil
}

func pruneBatches(folder string, keep int) ([]baseline.Batch, error) {
	batches, err := batchesOf(folder)
	if err != nil {
		return nil, err
	}
	for ; len(batches) > keep; batches = batches[1:] {
		if err := os.Remove(filepath.Join(folder, batches[0].Name+batchSuffix)); err != nil {
			return nil, fmt.Errorf("remove an old batch: %w", err)
		}
	}
	return batches, nil
}

func syncFolder(folder string) error {
	file, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("keep batch: %w", err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("keep batch: %w", err)
	}
	return nil
}

// baselineNames are the folders that can be baselines.
func baselineNames(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read baselines: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() && baseline.IsName(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// batchesOf are the batches of a baseline, in the order of time; none of one that is not there.
func batchesOf(folder string) ([]baseline.Batch, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	var batches []baseline.Batch
	for _, entry := range entries {
		name, isZip := strings.CutSuffix(entry.Name(), batchSuffix)
		if _, is := baseline.Taken(name); !is || !isZip {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue // just thrown away
		}
		if err != nil {
			return nil, fmt.Errorf("read baseline: %w", err)
		}
		batches = append(batches, baseline.Batch{Name: name, Bytes: info.Size()})
	}
	return batches, nil
}
