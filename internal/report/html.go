package report

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the page
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"

	"culprit/internal/compare"
	"culprit/internal/investigate"
	"culprit/internal/tail"
)

// template is the page that web/ builds. It is committed, so that a clone builds
// with Go alone; a test fails when it was not built from the committed sources.
//
//go:embed assets/report.html
var template []byte

// dataMark stands in the page where the data goes, fallbackMark where readers
// without JavaScript look.
const (
	dataMark     = "<!--culprit:data-->"
	fallbackMark = "<!--culprit:text-->"
)

// HTML writes the case as one self-contained page. The file appears under its
// name only when it is whole: it is written beside it and renamed.
func HTML(path string, c *investigate.Case) error { return HTMLWith(path, c) }

// HTMLWith writes the same page with the requests of one side, or of A and B; those of recordings
// that have none are left out.
func HTMLWith(path string, c *investigate.Case, requests ...RequestSide) error {
	text, err := render(c, requests...)
	if err != nil {
		return err
	}
	return writePage(path, text)
}

// writePage writes a whole page beside its place and renames it.
func writePage(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".report-*.html")
	if err != nil {
		return fmt.Errorf("create report: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // fails after the rename, as it should
	_, err = file.Write(text)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return fmt.Errorf("name report: %w", err)
	}
	return nil
}

func render(c *investigate.Case, requests ...RequestSide) ([]byte, error) {
	if c == nil {
		return nil, fmt.Errorf("write report: no case given")
	}
	data, err := scripts(c, verdictOf(c), requestPageOf(requests...), nil)
	if err != nil {
		return nil, err
	}
	var fallback bytes.Buffer
	if err := Text(&fallback, c, TextOptions{}); err != nil {
		return nil, err
	}
	return fill(data, fallback.String())
}

// fill puts the data, and the text for readers without JavaScript, into the page.
func fill(data []byte, fallback string) ([]byte, error) {
	for _, mark := range []string{dataMark, fallbackMark} {
		if bytes.Count(template, []byte(mark)) != 1 {
			return nil, fmt.Errorf("fill report: the page has no single %s: rebuild it in web/", mark)
		}
	}
	escaped := "<pre>" + html.EscapeString(fallback) + "</pre>"
	page := bytes.Replace(template, []byte(fallbackMark), []byte(escaped), 1)
	return bytes.Replace(page, []byte(dataMark), data, 1), nil
}

// scripts returns the script elements that hold the data. They are of no
// type that a browser runs, and base64 has no character that ends an element.
// document is what the page's download gives; nil where that is the case.
func scripts(c *investigate.Case, words verdict, requests *requestPage, document *tail.Result) ([]byte, error) {
	slim := *c
	slim.Profile, slim.Waits = nil, nil
	var out bytes.Buffer
	parts := []struct {
		id    string
		value any
	}{
		{"case", &slim}, {"words", words}, {"requests", requests}, {"document", document},
	}
	for _, part := range parts {
		text, err := dataScript(part.id, part.value)
		if err != nil {
			return nil, err
		}
		out.WriteString(text)
	}
	for _, tree := range []struct {
		id      string
		profile *compare.Profile
	}{{"profile", c.Profile}, {"waits", c.Waits}} {
		text, err := columnsOf(tree.profile).binary()
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", tree.id, err)
		}
		packed, err := pack(text)
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", tree.id, err)
		}
		out.WriteString(script(tree.id, packed))
	}
	return out.Bytes(), nil
}

// dataScript is the script element that holds one part of the data.
func dataScript(id string, value any) (string, error) {
	e := &encoder{}
	if err := e.value(value); err != nil {
		return "", fmt.Errorf("encode %s: %w", id, err)
	}
	packed, err := pack(e.out.Bytes())
	if err != nil {
		return "", fmt.Errorf("pack %s: %w", id, err)
	}
	return script(id, packed), nil
}

func script(id, packed string) string {
	return fmt.Sprintf("<script type=\"application/octet-stream\" id=\"data-%s\">%s</script>\n", id, packed)
}

// pack compresses and encodes: gzip because browsers unpack it without a library.
func pack(text []byte) (string, error) {
	var out bytes.Buffer
	encoder := base64.NewEncoder(base64.StdEncoding, &out)
	compressor := gzip.NewWriter(encoder)
	if _, err := io.Copy(compressor, bytes.NewReader(text)); err != nil {
		return "", err
	}
	if err := compressor.Close(); err != nil {
		return "", err
	}
	if err := encoder.Close(); err != nil {
		return "", err
	}
	return out.String(), nil
}
