package agent

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"culprit/internal/fleet/window"
)

// labels are what a file of labels says: of the host, and of services by name.
type labels struct {
	host     map[string]string
	services map[string]map[string]string
}

// maxLabelFile bounds a file of labels.
const maxLabelFile = 1 << 20

// readLabels reads a file with a label a line: "zone=eu-1" of the host, "web: version=1.4.2" of a
// service. Blank lines and those that begin with # are left out.
func readLabels(path string) (labels, error) {
	read := labels{host: map[string]string{}, services: map[string]map[string]string{}}
	if path == "" {
		return read, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return read, fmt.Errorf("read labels: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxLabelFile))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := read.line(line); err != nil {
			return read, fmt.Errorf("read labels: line %d of %s: %w", number, path, err)
		}
	}
	if err := lines.Err(); err != nil {
		return read, fmt.Errorf("read labels in %s: %w", path, err)
	}
	return read, nil
}

func (l *labels) line(line string) error {
	into, text := l.host, line
	before, _, _ := strings.Cut(line, "=")
	if colon := strings.LastIndex(before, ": "); colon >= 0 {
		service := strings.TrimSpace(line[:colon])
		if l.services[service] == nil {
			if len(l.services) >= window.MaxServices {
				return fmt.Errorf("more than %d services", window.MaxServices)
			}
			l.services[service] = map[string]string{}
		}
		into, text = l.services[service], strings.TrimSpace(line[colon+1:])
	}
	key, value, err := ParseLabel(text)
	if err != nil {
		return err
	}
	if into[key] = value; len(into) > maxLabels {
		return fmt.Errorf("more than %d labels", maxLabels)
	}
	return nil
}

// maxLabels leaves room in a manifest for those that the agent finds out by itself.
const maxLabels = window.MaxLabels - 8

// ParseLabel reads "key=value".
func ParseLabel(text string) (key, value string, err error) {
	key, value, found := strings.Cut(text, "=")
	odd := strings.ContainsFunc(key, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("._/-", r)
	})
	switch {
	case !found || key == "":
		return "", "", fmt.Errorf("label %q: give it as key=value", text)
	case odd || len(key) > window.MaxLabelKey:
		return "", "", fmt.Errorf("label %q: its key may have letters, digits and . _ / - only, at most %d", text,
			window.MaxLabelKey)
	case len(value) > window.MaxLabelValue || !utf8.ValidString(value) ||
		strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", "", fmt.Errorf("label %s: its value is to be one line of at most %d bytes", key, window.MaxLabelValue)
	}
	return key, value, nil
}
