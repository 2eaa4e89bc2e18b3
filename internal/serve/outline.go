package serve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// valueMax bounds one value that is kept of a document; suspects with their evidence are the
// largest.
const valueMax = 1 << 20

var errCutShort = errors.New("the document is cut short")

// outline returns a JSON object of the wanted members of a document, which must be an object. The
// rest is passed over without being kept, since a case's profiles have megabytes: only brackets and
// strings are told apart in it, so a document that is accepted here may still be refused by who
// reads it whole.
func outline(file io.ReaderAt, size int64, wanted ...string) ([]byte, error) {
	s := scanner{in: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 64<<10)}
	if first, err := s.next(); err != nil || first != '{' {
		return nil, errors.New("it is no JSON object")
	}
	found := bytes.NewBufferString("{")
	for {
		first, err := s.next()
		if err != nil {
			return nil, err
		}
		switch {
		case first == '}':
			found.WriteByte('}')
			return found.Bytes(), s.end()
		case first == ',':
			continue
		case first != '"':
			return nil, fmt.Errorf("a member begins with %q", first)
		}
		if err := s.member(found, wanted); err != nil {
			return nil, err
		}
	}
}

// scanner passes over JSON, one byte at a time.
type scanner struct {
	in   *bufio.Reader
	keep *bytes.Buffer // nil: what is read is not kept
}

// member reads one member whose first quote is read, and appends it where it is wanted.
func (s *scanner) member(found *bytes.Buffer, wanted []string) error {
	name := bytes.NewBufferString(`"`)
	s.keep = name
	err := s.text()
	s.keep = nil
	if err != nil {
		return err
	}
	if colon, err := s.next(); err != nil || colon != ':' {
		return errCutShort
	}
	var value bytes.Buffer
	if key, err := strconv.Unquote(name.String()); err == nil && slices.Contains(wanted, key) {
		s.keep = &value
	}
	err = s.value()
	if s.keep != nil && err == nil {
		if found.Len() > 1 {
			found.WriteByte(',')
		}
		fmt.Fprintf(found, "%s:%s", name, &value)
	}
	s.keep = nil
	return err
}

// value passes over one value: text, a list or object, or a word up to what ends it.
func (s *scanner) value() error {
	first, err := s.next()
	if err != nil {
		return err
	}
	if err := s.note(first); err != nil {
		return err
	}
	switch first {
	case '"':
		return s.text()
	case '{', '[':
		return s.nested()
	}
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return errCutShort
		}
		if bytes.IndexByte([]byte(",}] \t\r\n"), c) >= 0 {
			return s.in.UnreadByte()
		}
		if err := s.note(c); err != nil {
			return err
		}
	}
}

// nested passes over a list or an object whose first bracket is read.
func (s *scanner) nested() error {
	for depth := 1; depth > 0; {
		c, err := s.in.ReadByte()
		if err != nil {
			return errCutShort
		}
		if err := s.note(c); err != nil {
			return err
		}
		switch c {
		case '"':
			err = s.text()
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text passes over a string whose first quote is read.
func (s *scanner) text() error {
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return errCutShort
		}
		if err := s.note(c); err != nil || c == '"' {
			return err
		}
		if c == '\\' {
			if c, err = s.in.ReadByte(); err != nil {
				return errCutShort
			}
			if err := s.note(c); err != nil {
				return err
			}
		}
	}
}

// note keeps a byte of a wanted value.
func (s *scanner) note(c byte) error {
	if s.keep == nil {
		return nil
	}
	if s.keep.Len() >= valueMax {
		return fmt.Errorf("a value has more than %d bytes", valueMax)
	}
	return s.keep.WriteByte(c)
}

// next is the next byte that is no space.
func (s *scanner) next() (byte, error) {
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return 0, errCutShort
		}
		if bytes.IndexByte([]byte(" \t\r\n"), c) < 0 {
			return c, nil
		}
	}
}

// end refuses anything behind the document.
func (s *scanner) end() error {
	if _, err := s.next(); err == nil {
		return errors.New("something follows the document")
	}
	return nil
}
