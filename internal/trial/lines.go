package trial

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxLine bounds one line: files may come from anywhere.
const maxLine = 1 << 20 // bytes

// Lines is a file of JSON lines to which one process at a time appends. Each line is on the disk
// before Append returns; one that a kill cut short is taken back when the file is read again.
type Lines struct {
	file *os.File
	name string
	end  int64
}

// OpenLines takes a file of lines for this process alone; of says what it belongs to: "search".
func OpenLines(path, of string) (*Lines, error) {
	name := filepath.Base(path)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		err = fmt.Errorf("open %s: another culprit works on this %s", path, of)
		return nil, errors.Join(err, file.Close())
	}
	return &Lines{file: file, name: name}, nil
}

// Read hands over what the file holds, at most so many of what noun calls them, and goes to its
// end. Damage anywhere but in a last line without an end is an error.
func (l *Lines) Read(most int, noun string, each func(line []byte) error) error {
	end, err := eachLine(l.file, most, noun, each)
	if err == nil {
		err = l.file.Truncate(end)
	}
	if err == nil {
		_, err = l.file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", l.name, err)
	}
	l.end = end
	return nil
}

// eachLine reads whole lines; end is where the last of them does.
func eachLine(file io.Reader, most int, noun string, each func(line []byte) error) (end int64, err error) {
	reader := bufio.NewReaderSize(file, maxLine)
	for count := 0; ; count++ {
		line, err := reader.ReadSlice('\n')
		switch {
		case err == io.EOF:
			return end, nil // what is left has no line end: it was being written
		case errors.Is(err, bufio.ErrBufferFull):
			return end, fmt.Errorf("line %d is longer than %d bytes", count+1, maxLine)
		case err != nil:
			return end, err
		case count == most:
			return end, fmt.Errorf("more than %d %s", most, noun)
		}
		if err := each(line); err != nil {
			return end, fmt.Errorf("line %d is %w", count+1, err)
		}
		end += int64(len(line))
	}
}

// Append writes a value and syncs it. A line that does not fit on the disk is taken back.
func (l *Lines) Append(value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write %s: %w", l.name, err)
	}
	written, err := l.file.Write(append(line, '\n'))
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", l.name, errors.Join(err, l.file.Truncate(l.end)))
	}
	l.end += int64(written)
	return nil
}

// Close ends the file, which another process may then take.
func (l *Lines) Close() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("close %s: %w", l.name, err)
	}
	return nil
}
