package format

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line that is read whole: a deep stack of long C++ names.
const maxLine = 4 << 20

// lineReader reads lines of any length in bounded memory.
type lineReader struct {
	input   *bufio.Reader
	long    []byte // a line that is longer than the reader's buffer
	tooLong int64  // lines over maxLine, which were left out
}

// next returns a line without its end, valid until the next call; io.EOF at the end.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.input.ReadSlice('\n')
		if err == nil {
			return trimEnd(line), nil
		}
		if errors.Is(err, io.EOF) {
			if len(line) == 0 {
				return nil, io.EOF
			}
			return trimEnd(line), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("read: %w", err)
		}
		line, whole, err := r.rest(line)
		if err != nil {
			return nil, err
		}
		if whole {
			return trimEnd(line), nil
		}
		r.tooLong++
	}
}

// rest reads on to the end of a long line; one that is too long is dropped.
func (r *lineReader) rest(begin []byte) (line []byte, whole bool, err error) {
	r.long, whole = append(r.long[:0], begin...), true
	for {
		part, err := r.input.ReadSlice('\n')
		if len(r.long)+len(part) <= maxLine {
			r.long = append(r.long, part...)
		} else {
			whole = false
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, false, fmt.Errorf("read: %w", err)
		}
		return r.long, whole, nil
	}
}

func trimEnd(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}
