package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// waiting are acknowledged windows whose rows are not written because their shard was down: their
// files lie in incoming.
type waiting struct {
	mutex    sync.Mutex
	contents map[string]wait
	why      map[int]string
}

type wait struct {
	shard int
	since time.Time
}

// Often the store tries to write what waits; so many windows at once.
const (
	fillEvery = 2 * time.Second
	fillAt    = 64
)

func newWaiting() *waiting { return &waiting{contents: map[string]wait{}, why: map[int]string{}} }

func (w *waiting) has(content string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	_, there := w.contents[content]
	return there
}

func (w *waiting) add(content string, shard int, now time.Time, why error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if before, there := w.contents[content]; there {
		now = before.since
	}
	w.contents[content] = wait{shard, now}
	w.why[shard] = why.Error()
}

// shardOf is the shard that a window waits for, the first where that is not known.
func (w *waiting) shardOf(content string) int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.contents[content].shard
}

func (w *waiting) remove(content string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.contents, content)
}

// of are the contents that wait for a shard, the longest first.
func (w *waiting) of(shard int) []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var all []string
	for content, wait := range w.contents {
		if wait.shard == shard {
			all = append(all, content)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(w.contents[a].since.Compare(w.contents[b].since), cmp.Compare(a, b))
	})
	return all
}

// words say what waits, for the answers that lack it.
func (w *waiting) words() (all []string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	count, since := map[int]int{}, map[int]time.Time{}
	for _, wait := range w.contents {
		if count[wait.shard]++; since[wait.shard].IsZero() || wait.since.Before(since[wait.shard]) {
			since[wait.shard] = wait.since
		}
	}
	for _, shard := range slices.Sorted(maps.Keys(count)) {
		all = append(all, fmt.Sprintf("%d windows that came since %s wait for shard %d (%s)", count[shard],
			since[shard].UTC().Format("2006-01-02 15:04"), shard+1, w.why[shard]))
	}
	return all
}

// fillOften writes what waits when its shard is back.
func (s *Store) fillOften() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	ticker := time.NewTicker(fillEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-s.stop:
			return
		}
		for _, one := range s.shards {
			s.fill(ctx, one)
		}
	}
}

// fill tries one window first: where that one waits on, the others do.
func (s *Store) fill(ctx context.Context, one *shard) {
	all := s.waiting.of(one.number)
	if len(all) == 0 {
		return
	}
	if s.recoverAll(ctx, all[:1]); s.waiting.has(all[0]) {
		return
	}
	s.recoverAll(ctx, all[1:])
	if left := len(s.waiting.of(one.number)); left == 0 {
		s.log.Info("what waited for a shard is written", "shard", one.number+1, "windows", len(all))
	}
}

// recoverAll writes windows that lie in incoming, many at once so that they are committed together.
func (s *Store) recoverAll(ctx context.Context, contents []string) {
	var group sync.WaitGroup
	places := make(chan struct{}, fillAt)
	for _, content := range contents {
		if !s.claim(content) {
			continue
		}
		places <- struct{}{}
		group.Go(func() {
			defer func() { s.release(content); <-places }()
			err := s.recoverOne(ctx, content)
			switch {
			case err == nil:
			case errors.Is(err, errTorn):
				s.waiting.remove(content)
				s.log.Warn("a window of the last run is left out", "content", content, "error", err)
				s.discard(content)
			default:
				// It is acknowledged: it waits, and is told of, until it is written.
				s.waiting.add(content, s.waiting.shardOf(content), s.now(), err)
			}
		})
	}
	group.Wait()
}
