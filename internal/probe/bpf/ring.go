package bpf

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"

	"culprit/internal/probe/beat"
)

// drainEvery is how often a ring is emptied while a window is open: often enough
// that 4 MB hold what a busy host makes in between, seldom enough to cost nothing.
const drainEvery = beat.Length

// Ring empties a ring buffer in batches into fixed-size events.
type Ring[T any] struct {
	reader *ringbuf.Reader
	limit  int

	mu     sync.Mutex
	events []T
	over   int64
	failed error
	stop   chan struct{}
	done   chan struct{}
}

// NewRing reads events of a ring buffer map; at most limit are kept between two calls of Take.
func NewRing[T any](ring *ebpf.Map, limit int) (*Ring[T], error) {
	reader, err := ringbuf.NewReader(ring)
	if err != nil {
		return nil, fmt.Errorf("read ring buffer: %w", err)
	}
	return &Ring[T]{reader: reader, limit: limit}, nil
}

// Start begins to empty the ring from time to time.
func (r *Ring[T]) Start() {
	stop, done := make(chan struct{}), make(chan struct{})
	r.stop, r.done = stop, done
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				r.drain()
				return
			case <-beat.After(drainEvery):
				r.drain()
			}
		}
	}()
}

// Stop empties the ring a last time and ends the reading.
func (r *Ring[T]) Stop() {
	if r.stop == nil {
		return
	}
	close(r.stop)
	<-r.done
	r.stop = nil
}

// drain takes all that is in the ring now: programs submit without waking the reader.
func (r *Ring[T]) drain() {
	if r.reader.AvailableBytes() == 0 { // no system call for that
		return
	}
	if err := r.reader.Flush(); err != nil {
		r.fail(err)
		return
	}
	var record ringbuf.Record
	for {
		err := r.reader.ReadInto(&record)
		if errors.Is(err, ringbuf.ErrFlushed) {
			return
		}
		if err != nil {
			r.fail(err)
			return
		}
		event, ok := Decode[T](record.RawSample)
		r.mu.Lock()
		if ok && len(r.events) < r.limit {
			r.events = append(r.events, event)
		} else {
			r.over++
		}
		r.mu.Unlock()
	}
}

func (r *Ring[T]) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = fmt.Errorf("read ring buffer: %w", err)
}

// Take returns the events since the last call and how many were over the limit.
func (r *Ring[T]) Take() (events []T, over int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events, over, err = r.events, r.over, r.failed
	r.events, r.over, r.failed = nil, 0, nil
	return events, over, err
}

// Close frees the reader.
func (r *Ring[T]) Close() error {
	r.Stop()
	return r.reader.Close()
}
