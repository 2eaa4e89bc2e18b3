package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"culprit/internal/report"
	"culprit/internal/serve/child"
)

// Limits of pages that are kept.
const (
	pagesMax     = 64
	pageBytesMax = 512 << 20 // together
	judgesMax    = 2         // that are made at one time
	waitingMax   = 32        // that wait for their turn
)

var errNoPage = errors.New("culprit made no page of it")

var errBusy = errors.New("too many pages are being made; try again in a moment")

// pages makes pages in children, each once, and keeps the latest.
type pages struct {
	folder string // of this server alone; removed at its end
	turns  chan struct{}

	mutex   sync.Mutex
	made    map[string]*page
	order   []string // least lately used first
	waiting int
	number  int
}

// page is one that is made or being made.
type page struct {
	ready chan struct{}
	path  string // valid once ready is closed, as are the others
	size  int64
	err   error
}

func newPages(folder string) *pages {
	return &pages{folder: folder, turns: make(chan struct{}, judgesMax), made: map[string]*page{}}
}

// keyOf tells two states of a file apart.
func keyOf(name string, info os.FileInfo) string {
	inode := uint64(0)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = stat.Ino
	}
	return fmt.Sprintf("%q %d %d %d", name, inode, info.Size(), info.ModTime().UnixNano())
}

// page returns a page that is made of files of the library, as they are now.
func (s *server) page(ctx context.Context, kind string, names []string,
	args func(target string) []string) (*page, error) {
	var files []*os.File
	defer func() {
		for _, file := range files {
			_ = file.Close() // was only read; the child has its own
		}
	}()
	key := kind
	for _, name := range names {
		file, info, err := s.library.open(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		key += " " + keyOf(name, info)
	}
	p := s.pages
	p.mutex.Lock()
	made, known := p.made[key]
	if known {
		p.touch(key)
		p.mutex.Unlock()
	} else {
		if p.waiting >= waitingMax {
			p.mutex.Unlock()
			return nil, errBusy
		}
		made = &page{ready: make(chan struct{})}
		p.made[key], p.order = made, append(p.order, key)
		p.waiting++
		p.number++
		folder := filepath.Join(p.folder, fmt.Sprint(p.number))
		p.mutex.Unlock()
		own := files
		files = nil // theirs now
		s.working.Go(func() { s.make(key, made, folder, names, own, args) })
	}
	select {
	case <-made.ready:
		return made, made.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// make makes one page; who asked may be gone by then.
func (s *server) make(key string, made *page, folder string, names []string, files []*os.File,
	args func(target string) []string) {
	p := s.pages
	defer close(made.ready)
	defer func() {
		for _, file := range files {
			_ = file.Close() // was only read
		}
	}()
	p.turns <- struct{}{}
	made.path, made.err = s.judge(folder, names, files, args)
	<-p.turns
	if info, err := os.Stat(made.path); made.err == nil && err == nil {
		made.size = info.Size()
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.waiting--
	if errors.Is(made.err, child.ErrTooLong) || errors.Is(made.err, errShutdown) {
		p.drop(key) // another time it may be quicker
	}
	p.trim()
}

// judge runs the child in a folder of its own, where links lead to files that are open already: the
// child reaches what the library let through, and nothing that was put in its place since.
func (s *server) judge(folder string, names []string, files []*os.File,
	args func(target string) []string) (string, error) {
	inside := filepath.Join(folder, "in")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		return "", fmt.Errorf("make room for a page: %w", err)
	}
	for i, name := range names {
		link := filepath.Join(inside, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			return "", fmt.Errorf("make room for a page: %w", err)
		}
		err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", 3+i), link)
		if err != nil && !errors.Is(err, fs.ErrExist) { // the same file twice
			return "", fmt.Errorf("make room for a page: %w", err)
		}
	}
	target := filepath.Join(folder, "page.html")
	err := s.run(s.context, child.Child{Args: args(target), Dir: inside, Files: files, Judges: true})
	if _, missing := os.Stat(target); err == nil && missing != nil {
		err = errNoPage
	}
	if removed := os.RemoveAll(inside); err == nil {
		err = removed
	}
	return target, err
}

// touch marks a page as used now. The caller holds the mutex.
func (p *pages) touch(key string) {
	if at := slices.Index(p.order, key); at >= 0 {
		p.order = append(slices.Delete(p.order, at, at+1), key)
	}
}

// drop forgets a page. The caller holds the mutex.
func (p *pages) drop(key string) {
	made := p.made[key]
	delete(p.made, key)
	p.order = slices.DeleteFunc(p.order, func(other string) bool { return other == key })
	if made != nil && made.path != "" {
		_ = os.RemoveAll(filepath.Dir(made.path)) // it is looked for again at the end
	}
}

// trim forgets what was not used for longest. Pages that are being made stay. The caller holds the
// mutex.
func (p *pages) trim() {
	var size int64
	for _, made := range p.made {
		size += made.size
	}
	for _, key := range slices.Clone(p.order[:max(0, len(p.order)-1)]) {
		if len(p.order) <= pagesMax && size <= pageBytesMax {
			return
		}
		if made := p.made[key]; made.path != "" || made.err != nil {
			size -= made.size
			p.drop(key)
		}
	}
}

// showPage answers with a page that a child made, or with its one line.
func (s *server) showPage(w http.ResponseWriter, r *http.Request, kind string, names []string,
	args func(target string) []string) {
	made, err := s.page(r.Context(), kind, names, args)
	if err != nil {
		fail(w, r, statusOf(err), report.Line(err))
		return
	}
	s.sendPage(w, r, made)
}

func (s *server) sendPage(w http.ResponseWriter, r *http.Request, made *page) {
	file, err := os.Open(made.path)
	if err != nil {
		fail(w, r, http.StatusNotFound, "the page is gone; ask for it again")
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", s.policy)
	const head = "<head>"
	begin := make([]byte, 256)
	n, _ := io.ReadFull(file, begin) // a shorter page is sent as it is
	text := strings.Replace(string(begin[:n]), head, head+"\n"+report.ServedHead, 1)
	if _, err := io.WriteString(w, text); err == nil {
		_, _ = io.Copy(w, file) // who asked may have gone
	}
}

// statusOf is how an error of a page is told to a program.
func statusOf(err error) int {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, fs.ErrPermission):
		return http.StatusForbidden
	case errors.Is(err, errBusy), errors.Is(err, errShutdown):
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// showCase answers with the page of a case or an experiment.
func (s *server) showCase(w http.ResponseWriter, r *http.Request) {
	folder := path.Clean("/" + r.PathValue("path"))[1:]
	name := path.Join(folder, caseName)
	if _, err := s.library.root.Lstat(name); err == nil {
		s.showPage(w, r, "case", []string{name}, func(target string) []string {
			return []string{"report", "--output=" + target, "--", name}
		})
		return
	}
	name = path.Join(folder, resultName)
	if _, err := s.library.root.Lstat(name); err == nil {
		s.showPage(w, r, "experiment", []string{name}, func(target string) []string {
			return []string{"report", "--output=" + target, "--", name}
		})
		return
	}
	fail(w, r, http.StatusNotFound, "there is no case of that name")
}

// showRecording answers with the page of one recording.
func (s *server) showRecording(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("path")
	if !strings.HasSuffix(name, recordingSuffix) {
		fail(w, r, http.StatusNotFound, "there is no recording of that name")
		return
	}
	s.showPage(w, r, "recording", []string{name}, func(target string) []string {
		return []string{"explain", "--html=" + target, "--", "./" + name}
	})
}
