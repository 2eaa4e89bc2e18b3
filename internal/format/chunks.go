package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
)

const (
	chunkBytes = 1 << 20
	// More readers than this wait for each other's lock and cost memory for their caches.
	maxParallel = 4
)

// chunk is a stretch of the input that ends where a sample ends.
type chunk[T any] struct {
	text   []byte
	parsed T
	done   chan struct{}
}

// inParallel cuts the input into chunks, parses them on several CPUs, and hands
// the results to use in the input's order. newParser is called once per
// goroutine. It returns the bytes of lines that were longer than a chunk.
func inParallel[T any](input io.Reader, newParser func() func([]byte) T, use func(T)) (tooLong int64, err error) {
	workers := min(runtime.GOMAXPROCS(0), maxParallel)
	jobs := make(chan *chunk[T], workers)
	order := make(chan *chunk[T], 2*workers)
	// As many buffers as can be under way: the reader waits for one, so memory is bounded.
	buffers := make(chan []byte, 3*workers+2)
	for range cap(buffers) {
		buffers <- nil
	}
	for range workers {
		go func() {
			parse := newParser()
			for job := range jobs {
				job.parsed = parse(job.text)
				close(job.done)
			}
		}()
	}
	cutter := &cutter{input: input}
	go func() {
		defer close(jobs)
		defer close(order)
		for {
			text, ok := cutter.next(<-buffers)
			if !ok {
				return
			}
			job := &chunk[T]{text: text, done: make(chan struct{})}
			order <- job
			jobs <- job
		}
	}()
	for job := range order {
		<-job.done
		use(job.parsed)
		buffers <- job.text[:0]
	}
	return cutter.tooLong, cutter.err
}

// cutter reads chunks. Its fields may be read once next has returned false.
type cutter struct {
	input   io.Reader
	rest    []byte // read, behind the last cut
	ended   bool
	err     error
	tooLong int64
}

// next returns the following chunk, in buffer's memory, and false at the end.
func (c *cutter) next(buffer []byte) ([]byte, bool) {
	if buffer == nil {
		buffer = make([]byte, 0, chunkBytes)
	}
	for {
		if c.ended && len(c.rest) == 0 {
			return nil, false
		}
		buffer = append(buffer[:0], c.rest...)
		c.rest = c.rest[:0]
		if !c.ended {
			n, err := io.ReadFull(c.input, buffer[len(buffer):cap(buffer)])
			buffer = buffer[:len(buffer)+n]
			if err != nil {
				c.ended = true
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					c.err = fmt.Errorf("read: %w", err)
				}
			}
		}
		if c.ended {
			return buffer, len(buffer) > 0
		}
		if cut := cutAt(buffer); cut > 0 {
			c.rest = append(c.rest, buffer[cut:]...)
			return buffer[:cut], true
		}
		c.tooLong += int64(len(buffer)) // what follows is the tail of that line: not understood, and counted
	}
}

// cutAt finds the last end of a sample: a blank line where there are any, else a line's end.
func cutAt(text []byte) int {
	for _, blank := range [][]byte{[]byte("\n\n"), []byte("\n\r\n")} {
		if at := bytes.LastIndex(text, blank); at > len(text)/2 {
			return at + len(blank)
		}
	}
	return bytes.LastIndexByte(text, '\n') + 1
}

// textCache remembers the numbers of texts, within some memory.
type textCache struct {
	ids   map[string]int32
	bytes int
}

const cacheBytes = 8 << 20

func (c *textCache) get(text []byte) (int32, bool) {
	id, ok := c.ids[string(text)]
	return id, ok
}

func (c *textCache) put(text []byte, id int32) {
	const overhead = 48 // of an entry, about
	if c.ids == nil || c.bytes > cacheBytes {
		c.ids, c.bytes = map[string]int32{}, 0
	}
	c.ids[string(text)] = id
	c.bytes += len(text) + overhead
}
