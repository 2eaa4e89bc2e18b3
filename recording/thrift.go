package recording

import (
	"encoding/binary"
	"errors"
	"io"
)

// Parquet's metadata is Thrift in its compact protocol
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
// The library decodes it, but makes room for as many elements as a list claims
// to have and follows any depth. skimStruct steps over one structure without
// keeping anything and refuses what lies about its lengths.

const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftI8     = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12

	maxThriftDepth    = 16
	maxThriftElements = 1 << 16
)

var (
	errThriftType  = errors.New("metadata of an unknown type")
	errThriftDepth = errors.New("metadata nested too deep")
	errThriftList  = errors.New("metadata with too many elements")
)

type skimmer struct {
	rest     []byte
	elements int
}

// skimStruct returns how many bytes the structure at the start of data takes.
func skimStruct(data []byte) (int, error) {
	s := &skimmer{rest: data}
	err := s.structure(0)
	return len(data) - len(s.rest), err
}

func (s *skimmer) structure(depth int) error {
	if depth > maxThriftDepth {
		return errThriftDepth
	}
	for {
		head, err := s.byte()
		if err != nil {
			return err
		}
		if head == 0 {
			return nil
		}
		if head>>4 == 0 { // the field's number follows, else it is a difference in these bits
			if _, err := s.uvarint(); err != nil {
				return err
			}
		}
		// These are their own value.
		if kind := head & 0xF; kind != thriftTrue && kind != thriftFalse {
			if err := s.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (s *skimmer) value(kind byte, depth int) error {
	switch kind {
	case thriftI8:
		return s.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := s.uvarint()
		return err
	case thriftDouble:
		return s.skip(8)
	case thriftBinary:
		length, err := s.uvarint()
		if err != nil {
			return err
		}
		return s.skip(length)
	case thriftList:
		return s.list(depth + 1)
	case thriftStruct:
		return s.structure(depth + 1)
	default: // sets, maps and lists of booleans are in no structure of Parquet that is read here
		return errThriftType
	}
}

func (s *skimmer) list(depth int) error {
	if depth > maxThriftDepth {
		return errThriftDepth
	}
	head, err := s.byte()
	if err != nil {
		return err
	}
	length := uint64(head >> 4)
	if length == 0xF {
		if length, err = s.uvarint(); err != nil {
			return err
		}
	}
	if length > uint64(len(s.rest)) { // each element takes a byte at least
		return io.ErrUnexpectedEOF
	}
	if s.elements += int(length); s.elements > maxThriftElements {
		return errThriftList
	}
	for range length {
		if err := s.value(head&0xF, depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *skimmer) byte() (byte, error) {
	if len(s.rest) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b, nil
}

func (s *skimmer) uvarint() (uint64, error) {
	value, n := binary.Uvarint(s.rest)
	if n <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	s.rest = s.rest[n:]
	return value, nil
}

func (s *skimmer) skip(n uint64) error {
	if n > uint64(len(s.rest)) {
		return io.ErrUnexpectedEOF
	}
	s.rest = s.rest[n:]
	return nil
}
