package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"culprit/internal/report"
)

// askMax bounds what a program asks for in JSON.
const askMax = 256 << 10

// showFront answers with the page of the library.
func (s *server) showFront(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", s.frontCSP)
	_, _ = w.Write(s.front) // who asked may have gone
}

// libraryAnswer is the listing and what may be done with it.
type libraryAnswer struct {
	Listing
	ReadOnly bool `json:"read_only"`
	Token    bool `json:"token"` // there is a session to end
	// Fleet is whose windows can be asked for at /fleet, in words; empty where there are none.
	Fleet string `json:"fleet,omitempty"`
}

// listLibrary answers with all entries.
func (s *server) listLibrary(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, libraryAnswer{s.library.list(), s.options.ReadOnly, s.door.token != "",
		s.fleet.where.Words()})
}

// sendFile answers with a recording or a document of the library as it is.
func (s *server) sendFile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("path")
	if !listed(path.Base(name)) {
		fail(w, r, http.StatusNotFound, "there is no recording and no document of that name")
		return
	}
	file, info, err := s.library.open(name)
	if err != nil {
		fail(w, r, statusOf(err), report.Line(err))
		return
	}
	defer file.Close()
	kind := "application/octet-stream"
	if strings.HasSuffix(name, ".json") {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition",
		mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	http.ServeContent(w, r, "", info.ModTime(), file)
}

// readJSON reads what was asked for; where it cannot, it has answered.
func readJSON(w http.ResponseWriter, r *http.Request, into any) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		fail(w, r, http.StatusUnsupportedMediaType, "send JSON, with Content-Type: application/json")
		return false
	}
	defer readWithin(w, bodyTime)()
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, askMax))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(into)
	if err == nil {
		if _, more := decoder.Token(); more != io.EOF {
			err = errors.New("something follows the document")
		}
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return true
	case errors.As(err, &large):
		fail(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("more than %d bytes", askMax))
	default:
		fail(w, r, http.StatusBadRequest, report.Line(fmt.Errorf("read request: %w", err)))
	}
	return false
}

// readWithin bounds how long a body may take, and returns what lifts the bound: left in place it
// would end the request later, since the connection is watched while an answer is made.
func readWithin(w http.ResponseWriter, within time.Duration) func() {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(within)) // a connection that has none is one of a test
	return func() { _ = control.SetReadDeadline(time.Time{}) }
}
