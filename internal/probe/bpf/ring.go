package bpf

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"

	"culprit/internal/probe/beat"
)

// DrainEvery is how often a ring is emptied while a window is open: often enough
// that 4 MB hold what a busy host makes in between, seldom enough to cost nothing.
const DrainEvery = beat.Length

// Pause is how often rings are emptied that are hardly used.
func (o Options) Pause() time.Duration {
	if o.WholeHost {
		return beat.Seldom
	}
	return DrainEvery
}

// Ring empties a ring buffer in batches into fixed-size events.
type Ring[T any] struct {
	reader *ringbuf.Reader
	record ringbuf.Record // the one that was read last
	limit  int
	calm   time.Duration // between two emptyings of a ring that is hardly used

	mu     sync.Mutex
	chunks [][]T // full but for the last one: one slice that grows is copied ten times on its way to a minute's events
	count  int
	over   int64
	failed error
	stop   chan struct{}
	done   chan struct{}
}

// NewRing reads events of a ring buffer map, and empties it at each pause while it is hardly used;
// at most limit events are kept between two calls of Take.
func NewRing[T any](ring *ebpf.Map, limit int, pause time.Duration) (*Ring[T], error) {
	reader, err := ringbuf.NewReader(ring)
	if err != nil {
		return nil, fmt.Errorf("read ring buffer: %w", err)
	}
	reader.SetDeadline(time.Unix(1, 0)) // long past
	return &Ring[T]{reader: reader, limit: limit, calm: pause}, nil
}

// Start begins to empty the ring from time to time.
func (r *Ring[T]) Start() {
	stop, done := make(chan struct{}), make(chan struct{})
	r.stop, r.done = stop, done
	go func() {
		defer close(done)
		for pause := r.calm; ; {
			select {
			case <-stop:
				r.drain()
				return
			case <-beat.After(pause):
				pause = r.pauseAfter(r.reader.AvailableBytes(), r.reader.BufferSize())
				r.drain()
			}
		}
	}()
}

// pauseAfter is how long to wait for the next emptying when so much of the ring was used at this
// one.
func (r *Ring[T]) pauseAfter(used, size int) time.Duration {
	if beat.Fills(used, size) {
		return DrainEvery
	}
	return r.calm
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

// drain takes all that is in the ring now: programs submit without waking the reader, which never
// waits for them.
func (r *Ring[T]) drain() {
	for r.reader.AvailableBytes() > 0 {
		err := r.reader.ReadInto(&r.record)
		if errors.Is(err, os.ErrDeadlineExceeded) { // what was left had been given up by the programs
			return
		}
		if err != nil {
			r.fail(err)
			return
		}
		event, ok := Decode[T](r.record.RawSample)
		r.mu.Lock()
		if ok && r.count < r.limit {
			r.keep(event)
		} else {
			r.over++
		}
		r.mu.Unlock()
	}
}

// chunkEvents is how many events are kept in one piece.
const chunkEvents = 512

// keep is called with the lock held.
func (r *Ring[T]) keep(event T) {
	last := len(r.chunks) - 1
	if last < 0 || len(r.chunks[last]) == chunkEvents {
		r.chunks = append(r.chunks, nil)
		last++
	}
	r.chunks[last] = append(r.chunks[last], event)
	r.count++
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
	events, over, err = slices.Concat(r.chunks...), r.over, r.failed
	r.chunks, r.count, r.over, r.failed = nil, 0, 0, nil
	return events, over, err
}

// Close frees the reader.
func (r *Ring[T]) Close() error {
	r.Stop()
	return r.reader.Close()
}
