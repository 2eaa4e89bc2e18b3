package spool

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"time"
)

const (
	stateName  = "state.json"
	stateLimit = 64 << 10
)

// State is what must outlive the agent beside the windows. One that is lost costs counts, never a
// window.
type State struct {
	Sequence int64 `json:"sequence"` // of the window that was begun last
	// Sent is the number up to which the hub of that name has all windows or refused them; SentTo
	// is its address.
	Sent   int64  `json:"sent"`
	SentTo string `json:"sent_to,omitempty"`
	// Dropped counts windows that the bound or the disk had no room for before the hub had them,
	// with the times of the first and the last; Told are those that a later window has told the hub
	// of.
	Dropped     int64     `json:"dropped"`
	DroppedFrom time.Time `json:"dropped_from,omitzero"`
	DroppedTo   time.Time `json:"dropped_to,omitzero"`
	Told        int64     `json:"told"`
	Removed     int64     `json:"removed"` // windows that were removed to keep to the bound, sent or not
	Torn        int64     `json:"torn"`    // files that could not be read
	Refused     int64     `json:"refused"` // windows that the hub will never take
	Adopted     int64     `json:"adopted"` // windows that a killed agent left without a manifest
	LastError   string    `json:"last_error,omitempty"`
	// Answered are the wishes of hubs that were answered, or given up, the last of them.
	Answered []string `json:"answered,omitempty"`
}

func readState(folder string) State {
	var state State
	if json.Unmarshal(readSmall(filepath.Join(folder, stateName), stateLimit), &state) != nil {
		return State{}
	}
	return state
}

// ReadState is the state of a folder as it was written last.
func ReadState(folder string) State { return readState(folder) }

func (s *State) write(folder string) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(folder, stateName), append(text, '\n'))
}

// drop counts a window that was removed.
func (s *State) drop(entry Entry) {
	s.Removed++
	if s.SentTo != "" && entry.Sequence > s.Sent {
		s.lose(entry.Start)
	}
}

// lose counts a window that nobody will see.
func (s *State) lose(start time.Time) {
	if s.Dropped++; s.DroppedFrom.IsZero() {
		s.DroppedFrom = start.UTC()
	}
	s.DroppedTo = start.UTC()
}

// State gives the counts as they are now.
func (s *Spool) State() State {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.state
}

// Save brings the state to disk.
func (s *Spool) Save() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.state.write(s.folder)
}

// NotRecorded counts a window that could not be written at all.
func (s *Spool) NotRecorded(start time.Time, why string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.state.LastError = why
	s.state.lose(start)
}

// ShipTo says to which hub windows go; one that has none yet is to have all that are kept. "":
// none.
func (s *Spool) ShipTo(hub string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.state.SentTo != hub {
		s.state.SentTo, s.state.Sent = hub, 0
	}
}

// Unsent is the oldest window that the hub has not; false when it has all.
func (s *Spool) Unsent() (Entry, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, entry := range s.entries {
		if entry.Sequence > s.state.Sent {
			return entry, true
		}
	}
	return Entry{}, false
}

// CountUnsent counts the windows that the hub has not.
func (s *Spool) CountUnsent() (count int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, entry := range s.entries {
		if entry.Sequence > s.state.Sent {
			count++
		}
	}
	return count
}

// MarkSent notes that the hub has a window, or will never take it. The note need not be on disk: a
// window that is sent twice is one at the hub.
func (s *Spool) MarkSent(entry Entry, refused bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.state.Sent = max(s.state.Sent, entry.Sequence)
	if refused {
		s.state.Refused++
	}
}

// maxAnswered is how many wishes are remembered.
const maxAnswered = 64

// Answer notes that a wish of the hub is answered; false when it was before.
func (s *Spool) Answer(id string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if slices.Contains(s.state.Answered, id) {
		return false
	}
	s.state.Answered = append(s.state.Answered, id)
	s.state.Answered = s.state.Answered[max(0, len(s.state.Answered)-maxAnswered):]
	return true
}

// WriteBeside writes a document of the agent into the folder, whole or not at all.
func (s *Spool) WriteBeside(name string, text []byte) error {
	return writeWhole(filepath.Join(s.folder, name), text)
}
