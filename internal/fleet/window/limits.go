package window

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"culprit/recording"
)

// The limits of a manifest and of what comes with it.
const (
	MaxManifestBytes  = 256 << 10
	MaxRecordingBytes = 64 << 20 // one window: a full one of a large host has a few MB
	MaxServices       = 512
	MaxLabels         = 64
	MaxMetrics        = 64
	MaxPids           = 16 << 10 // of all services together
	MaxName           = 256      // bytes of a host's, service's or version's name
	MaxPath           = 4096     // bytes of a cgroup's path
	MaxLabelKey       = 64
	MaxLabelValue     = 256
	MaxLength         = 25 * time.Hour
)

// ErrRefused marks a manifest or an upload that can never be accepted: sending it again is of no
// use.
var ErrRefused = errors.New("not a window")

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// The clock of a host may be wrong by years; what no clock shows is a broken file.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Check says what is wrong with a manifest, nil for nothing.
func (w *Window) Check() error {
	switch {
	case w.Schema < 1:
		return refused("the manifest names no schema")
	case w.Schema > Schema:
		return refused("schema %d, this one reads up to %d: take a later culprit-hub", w.Schema, Schema)
	case !IsContentID(w.Content):
		return refused("content id %q is no SHA-256 in 64 hexadecimal digits", brief(w.Content))
	case w.Bytes <= 0 || w.Bytes > MaxRecordingBytes:
		return refused("a recording of %d bytes, the limit is %d", w.Bytes, MaxRecordingBytes)
	case w.Kind != Light && w.Kind != Full:
		return refused("kind %q is neither %q nor %q", brief(w.Kind), Light, Full)
	case w.Sequence < 0 || w.Dropped < 0:
		return refused("sequence %d and %d dropped windows cannot be below 0", w.Sequence, w.Dropped)
	}
	for _, name := range []struct {
		what, text string
		needed     bool
	}{{"host", w.Host, true}, {"boot", w.Boot, false}, {"why", w.Why, false}} {
		if err := checkName(name.what, name.text, name.needed); err != nil {
			return err
		}
	}
	if err := w.checkTimes(); err != nil {
		return err
	}
	if err := checkLabels("the host", w.Labels); err != nil {
		return err
	}
	return w.checkServices()
}

func (w *Window) checkTimes() error {
	for _, at := range []time.Time{w.Start, w.End} {
		if at.Before(earliest) || at.After(latest) {
			return refused("it was recorded from %s to %s", w.Start.Format(time.RFC3339), w.End.Format(time.RFC3339))
		}
	}
	if w.LengthNs <= 0 || w.LengthNs > int64(MaxLength) {
		return refused("a length of %d ns, at most %d", w.LengthNs, int64(MaxLength))
	}
	if w.Cost.CPUNs < 0 || !recording.Plausible(w.Cost.CPUNs) || w.Cost.MemoryBytes < 0 ||
		!finite(w.Cost.BudgetShare) {
		return refused("the cost of recording is no cost: %+v", w.Cost)
	}
	return nil
}

func (w *Window) checkServices() error {
	if len(w.Services) == 0 || len(w.Services) > MaxServices {
		return refused("%d services, at least 1 and at most %d", len(w.Services), MaxServices)
	}
	pids := 0
	seen := map[string]bool{}
	for i := range w.Services {
		service := &w.Services[i]
		if err := service.check(); err != nil {
			return err
		}
		if seen[service.Name] {
			return refused("service %q is there twice", service.Name)
		}
		seen[service.Name] = true
		if pids += len(service.Pids); pids > MaxPids {
			return refused("more than %d processes", MaxPids)
		}
	}
	return nil
}

func (s *Service) check() error {
	for _, name := range []struct {
		what, text string
		needed     bool
	}{{"service", s.Name, true}, {"version", s.Version, false}, {"version_from", s.VersionFrom, false},
		{"process", s.Process, false}} {
		if err := checkName(name.what, name.text, name.needed); err != nil {
			return err
		}
	}
	if len(s.Cgroup) > MaxPath || !printable(s.Cgroup) {
		return refused("the cgroup of service %q is no path", s.Name)
	}
	if !s.Started.IsZero() && (s.Started.Before(earliest) || s.Started.After(latest)) {
		return refused("service %q was started in %d", s.Name, s.Started.Year())
	}
	if !recording.Plausible(s.CPUNs) {
		return refused("service %q has a CPU time of %d ns", s.Name, s.CPUNs)
	}
	for _, count := range []*int64{s.Requests, s.LatencyNs} {
		if count != nil && (*count < 0 || *count > 1<<60) {
			return refused("service %q has requests or latencies of %d", s.Name, *count)
		}
	}
	if slices.ContainsFunc(s.Pids, func(pid int32) bool { return pid < 0 }) {
		return refused("service %q has a process below 0", s.Name)
	}
	if len(s.Metrics) > MaxMetrics {
		return refused("service %q has %d metrics, at most %d", s.Name, len(s.Metrics), MaxMetrics)
	}
	for name, value := range s.Metrics {
		if !isKey(name) || !finite(value) {
			return refused("service %q has a metric %q of %g", s.Name, brief(name), value)
		}
	}
	return checkLabels("service "+s.Name, s.Labels)
}

// checkName refuses what cannot be printed in one line.
func checkName(what, text string, needed bool) error {
	switch {
	case needed && text == "":
		return refused("it has no %s", what)
	case len(text) > MaxName:
		return refused("the %s has %d bytes, at most %d", what, len(text), MaxName)
	case !printable(text):
		return refused("the %s %q is not printable", what, brief(text))
	}
	return nil
}

func checkLabels(of string, labels map[string]string) error {
	if len(labels) > MaxLabels {
		return refused("%s has %d labels, at most %d", of, len(labels), MaxLabels)
	}
	for key, value := range labels {
		if !isKey(key) {
			return refused("label %q of %s: letters, digits and . _ / - only, at most %d", brief(key), of, MaxLabelKey)
		}
		if len(value) > MaxLabelValue || !printable(value) {
			return refused("label %s of %s has a value that is no line of at most %d bytes", key, of, MaxLabelValue)
		}
	}
	return nil
}

// isKey tells whether text can name a label or a metric: it is a column's name and a word of a
// command line.
func isKey(text string) bool {
	if text == "" || len(text) > MaxLabelKey {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("._/-", r)
	})
}

// IsContentID tells whether text is a SHA-256 in lower-case hexadecimal digits, which is safe as a
// file's name.
func IsContentID(text string) bool {
	if len(text) != 64 || strings.ToLower(text) != text {
		return false
	}
	_, err := hex.DecodeString(text)
	return err == nil
}

func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

func finite(value float64) bool { return !math.IsNaN(value) && !math.IsInf(value, 0) }

// brief keeps a hostile name from filling a message.
func brief(text string) string {
	if len(text) > 80 {
		return text[:80] + "…"
	}
	return text
}
