package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"culprit/internal/report"
	"culprit/internal/serve/child"
)

// Limits of uploads.
const (
	uploadMax   = 1 << 30
	uploadsMax  = 2 // at one time
	uploadPause = 30 * time.Second
)

// upload takes a recording, or another tool's file of which a recording is made. It appears in the
// directory whole, under a name that was free, or not at all.
func (s *server) upload(w http.ResponseWriter, r *http.Request) {
	given := path.Base(path.Clean("/" + r.URL.Query().Get("name")))
	name, err := s.freeName(tidyName(given), "upload", recordingSuffix)
	if err != nil {
		fail(w, r, http.StatusBadRequest, report.Line(err))
		return
	}
	if r.ContentLength > uploadMax {
		fail(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("more than %d MiB; copy it into the directory instead",
			uploadMax>>20))
		return
	}
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	default:
		fail(w, r, http.StatusServiceUnavailable, "other files are being taken in; try again in a moment")
		return
	}
	folder, err := os.MkdirTemp(s.pages.folder, "upload-")
	if err != nil {
		fail(w, r, http.StatusInternalServerError, "no room for the file")
		return
	}
	came, err := receive(w, r, filepath.Join(folder, "given"))
	s.metrics.upload(came)
	if err != nil {
		_ = os.RemoveAll(folder) // it is looked for again at the end
		fail(w, r, http.StatusBadRequest, report.Line(fmt.Errorf("take in %s: %w", short(given), err)))
		return
	}
	s.start(w, r, Job{Kind: "upload", Title: short(given), Name: name}, false,
		func(ctx context.Context, _ *job) (string, error) {
			defer os.RemoveAll(folder)
			if err := s.takeIn(ctx, folder, name, tidyName(given)); err != nil {
				return "", err
			}
			return "/recording/" + name, nil
		})
}

// tidyName makes a name that is allowed of one that somebody else gave a file.
func tidyName(given string) string {
	tidy := strings.Map(func(r rune) rune {
		if r < 128 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' ||
			strings.ContainsRune("._-", r)) {
			return r
		}
		return '_'
	}, given)
	tidy = strings.TrimLeft(tidy, ".-")
	if tidy == "" {
		return "upload"
	}
	return tidy[:min(len(tidy), 80)]
}

// receive writes the body to a file; a sender who pauses for long is given up.
func receive(w http.ResponseWriter, r *http.Request, target string) (came int64, err error) {
	file, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	body := http.MaxBytesReader(w, r.Body, uploadMax)
	buffer := make([]byte, 256<<10)
	for {
		lift := readWithin(w, uploadPause)
		n, err := body.Read(buffer)
		lift()
		if _, failed := file.Write(buffer[:n]); failed != nil {
			return came, failed
		}
		came += int64(n)
		switch {
		case errors.Is(err, io.EOF) && came == 0:
			return came, errors.New("it is empty")
		case errors.Is(err, io.EOF):
			return came, nil
		case err != nil:
			return came, err
		}
	}
}

// takeIn makes a recording of what came: a child reads it whole, as a recording or as another
// tool's file, and only what it found whole gets its name.
func (s *server) takeIn(ctx context.Context, folder, name, given string) error {
	given = filepath.Join(folder, given)
	if err := os.Rename(filepath.Join(folder, "given"), given); err != nil {
		return err
	}
	made := filepath.Join(folder, ".made.culprit.new") // no tidy name begins with a dot
	zip, err := isZip(given)
	if err != nil {
		return err
	}
	if zip {
		args := []string{"explain", "--json=/dev/null", "--", "./" + filepath.Base(given)}
		if err := s.run(ctx, child.Child{Args: args, Dir: folder, Judges: true}); err != nil {
			return err
		}
		made = given
	} else {
		args := []string{"import", "--perf=", "--out=" + made, "--", "./" + filepath.Base(given)}
		if err := s.run(ctx, child.Child{Args: args, Dir: folder, Judges: true}); err != nil {
			return err
		}
	}
	return s.place(made, name)
}

// isZip tells recordings by their first bytes.
func isZip(name string) (bool, error) {
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	var begin [4]byte
	n, _ := io.ReadFull(file, begin[:]) // a shorter file is none
	return string(begin[:n]) == "PK\x03\x04", nil
}

// place copies a file into the directory under a name that is free: a link, unlike a rename,
// replaces nothing.
func (s *server) place(made, name string) error {
	from, err := os.Open(made)
	if err != nil {
		return err
	}
	defer from.Close()
	root := s.library.root
	partial := "." + name + ".partial"
	to, err := root.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, withoutDirectory(err))
	}
	defer func() { _ = root.Remove(partial) }() // the link stays
	_, err = io.Copy(to, from)
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Link(partial, name)
	}
	switch {
	case errors.Is(err, unix.EEXIST):
		return fmt.Errorf("%s exists by now; give another name", name)
	case err != nil:
		return fmt.Errorf("write %s: %w", name, withoutDirectory(err))
	}
	return nil
}
