package requests

import (
	"cmp"
	"errors"
	"slices"

	"culprit/internal/probe/bpf"
	"culprit/recording"
)

// The roles and families of service.h, and what names a family in text.
const (
	roleClient   = 2
	familyUnix   = 1
	familyIPv4   = 2
	firstOfKinds = 1 // 0 is none, of services too
)

// collection turns what was counted and handed over in one window into rows.
type collection struct {
	window   *bpf.Window
	services map[uint32]*recording.Service
	kinds    map[uint32]kindName
	aside    map[uint32]aside
	asked    map[int32][]asked // by process: its own requests to others that were handed over
	moves    map[int32]bool    // processes whose run time moves requests between threads
	hz       int               // samples per second of a CPU
	estimate *estimator        // nil: all requests were counted
	looked   *goroutines       // nil: nobody looked
	// byThread are the waits of the thread that read and answered a request whose goroutine may have
	// been elsewhere in between, by ID.
	byThread map[int64]recording.Spent
}

// kindName is what a kind is of.
type kindName struct {
	moves                         bool // the run time moves requests between threads
	side, service, protocol, kind string
	pid                           int32
	comm                          string
}

// Collect moves the requests into the window's tables.
func (s *Session) Collect(window *bpf.Window) error {
	events, over, err := s.ring.Take()
	if err = errors.Join(err, s.failed, s.watched()); err != nil {
		return err
	}
	window.Lose("requests: slow ones over the limit", over)
	c := &collection{window: window, services: map[uint32]*recording.Service{}, kinds: map[uint32]kindName{},
		aside: map[uint32]aside{}, asked: map[int32][]asked{}, moves: map[int32]bool{}, hz: s.shared.Options.Hz,
		estimate: s.estimator(window), byThread: map[int64]recording.Spent{}}
	if err := s.nameAll(c); err != nil {
		return err
	}
	rec := window.Recording
	s.tellUnseen(rec)
	rec.Requests = []recording.Request{}
	if s.watch != nil {
		c.addSlices(s.watch.slices)
		c.looked = s.watch.goroutines
		window.Lose("requests: looks at goroutines that did not fit", c.looked.lost)
	}
	events = append(events, s.unanswered...)
	slices.SortFunc(events, func(a, b requestsRequestEvent) int { return cmp.Compare(a.Begin, b.Begin) })
	c.addSlow(lastOfEach(events))
	c.addParts()
	for _, at := range sortedKeys(c.services) {
		rec.Services = append(rec.Services, *c.services[at])
	}
	if s.going {
		s.carried = &carried{toNs: bpf.Now(), kinds: map[uint32]tally{}, aside: c.aside}
		if w := s.watch; w != nil && len(w.slices) > 0 {
			s.carried.kinds, s.carried.toNs = w.before, w.slices[len(w.slices)-1].toNs
		}
	}
	s.unanswered, s.watch = nil, nil
	s.misses.Take(window, "requests", s.collection)
	if err := window.TakeLosses(s.collection.Maps["losses"], "requests: slow ones dropped",
		"requests: services that did not fit", "requests: kinds that did not fit (they are counted without a name)",
		"requests: sockets that could not be followed"); err != nil {
		return err
	}
	if s.going {
		return nil
	}
	return s.forget()
}

// watched takes the last slice, up to the window's end.
func (s *Session) watched() error {
	if s.watch == nil {
		return nil
	}
	s.watch.stop()
	if err := errors.Join(s.watch.failed, s.watch.goroutines.failed); err != nil {
		return err
	}
	if s.isSliced() {
		if !s.watch.on {
			return nil
		}
		return s.watch.sliceIsOver(s.watch.endedNs, s.watch.endedNs)
	}
	kinds, err := s.tallies()
	if err != nil {
		return err
	}
	from := s.watch.beganNs
	if n := len(s.watch.slices); n > 0 {
		from = s.watch.slices[n-1].toNs
	}
	s.watch.cut(from, bpf.Now(), kinds)
	return nil
}

// addSlices writes a row for each kind and slice.
func (c *collection) addSlices(slicesOf []slice) {
	for _, cut := range slicesOf {
		for _, at := range sortedKeys(cut.kinds) {
			counted, name := cut.kinds[at], c.kinds[at]
			if name.service == "" {
				continue
			}
			row := rowOf(&counted.sums)
			if name.moves {
				row.Spent, row.Handed, row.Interleaved = recording.Spent{}, 0, 0
				row.Unfollowed, row.UnfollowedNs = counted.count, row.ServeNs+row.AnswerNs
			}
			row.TimeNs, row.LengthNs = max(0, cut.fromNs-c.window.StartNs), cut.toNs-cut.fromNs
			row.Side, row.Service, row.Protocol, row.Kind = name.side, name.service, name.protocol, name.kind
			row.Pid, row.Comm, row.Count = name.pid, name.comm, counted.count
			for _, bucket := range sortedKeys(counted.buckets) {
				row.Buckets = append(row.Buckets, bucket)
				row.Counts = append(row.Counts, counted.buckets[bucket])
			}
			if c.estimate != nil {
				ended := max(c.window.EndNs, cut.atNs+cut.watchedNs) // the last slice ends a moment after the window
				row.LengthNs = min(cut.toNs, ended) - cut.fromNs
				row.WatchedAtNs, row.WatchedNs = cut.atNs-c.window.StartNs, cut.watchedNs
				c.estimate.estimate(&row)
			}
			c.window.Recording.Requests = append(c.window.Recording.Requests, row)
		}
	}
}

func rowOf(sums *requestsKindSums) recording.Request {
	return recording.Request{Errors: int64(sums.Errors), BytesIn: int64(sums.BytesIn), BytesOut: int64(sums.BytesOut),
		TotalNs: int64(sums.TotalNs), WaitNs: int64(sums.WaitNs), UploadNs: int64(sums.UploadNs),
		ServeNs: int64(sums.ServeNs), AnswerNs: int64(sums.AnswerNs), UnsentNs: int64(sums.UnsentNs),
		Handed: int64(sums.Handed), Interleaved: int64(sums.Interleaved), Unfollowed: int64(sums.Unfollowed),
		UnfollowedNs: int64(sums.UnfollowedNs),
		Spent:        spentOf(&sums.SpentNs, int64(sums.DownstreamNs), int64(sums.HandedNs))}
}

// The classes of waits, as in task.h.
const (
	otherwise = iota
	queued
	locked
	napped
	onDisk
	faulted
	onNet
	waitClasses
)

// spentOf names the classes; what was waited for downstream is a part of what was waited for on
// sockets.
func spentOf(spent *[waitClasses]uint64, downstreamNs, handoverNs int64) recording.Spent {
	ns := func(class int) int64 { return max(0, int64(spent[class])) }
	downstreamNs = min(max(0, downstreamNs), ns(onNet))
	return recording.Spent{HandoverNs: handoverNs, QueuedNs: ns(queued), LockNs: ns(locked), SleepNs: ns(napped),
		DiskNs: ns(onDisk), FaultNs: ns(faulted), DownstreamNs: downstreamNs, NetNs: ns(onNet) - downstreamNs,
		OtherNs: ns(otherwise)}
}

// lastOfEach drops what was handed over again when more of its answer was sent; events are in order
// of their begin.
func lastOfEach(events []requestsRequestEvent) []requestsRequestEvent {
	kept := events[:0]
	for _, event := range events {
		if n := len(kept); n > 0 && kept[n-1].Begin == event.Begin && kept[n-1].Reader == event.Reader &&
			kept[n-1].FirstRecv == event.FirstRecv {
			if event.LastSend > kept[n-1].LastSend {
				kept[n-1] = event
			}
			continue
		}
		kept = append(kept, event)
	}
	return kept
}

// addSlow writes the requests that were handed over in full.
func (c *collection) addSlow(events []requestsRequestEvent) {
	rec := c.window.Recording
	for i := range events {
		event := &events[i]
		name, known := c.kinds[event.Kind]
		if !known || int64(event.Begin) < c.window.StartNs || int64(event.Begin) >= c.window.EndNs {
			continue
		}
		if name.side == recording.SideClient {
			pid := int32(event.Tgid)
			c.asked[pid] = append(c.asked[pid], asked{fromNs: c.window.Since(event.Begin),
				toNs: c.window.Since(event.LastSend), service: name.service})
			continue
		}
		row := c.slowRow(event, name)
		row.ID = int64(len(rec.SlowRequests)) + 1
		if row.Unfollowed && event.Followed != 0 && row.Tid == row.WriterTid {
			c.byThread[row.ID] = spentOf(&event.UsedNs, int64(event.UsedDownstreamNs), 0)
		}
		rec.SlowRequests = append(rec.SlowRequests, row)
		if event.InProgress != 0 {
			c.countOpen(name, row.LatencyNs)
		}
	}
}

func (c *collection) slowRow(event *requestsRequestEvent, name kindName) recording.SlowRequest {
	row := recording.SlowRequest{TimeNs: c.window.Since(event.Begin), Service: name.service, Protocol: name.protocol,
		Kind: name.kind, Pid: int32(event.Tgid), Tid: int32(event.Reader), WriterTid: int32(event.Writer),
		Status: int32(event.Status), Failed: event.Failed != 0, Slow: event.Slow != 0, Weight: int64(event.Weight),
		BytesIn: int64(event.In), BytesOut: int64(event.Out), Interleaved: event.Interleaved != 0,
		NoWait: event.NoWait != 0, WaitNs: int64(event.FirstRecv - event.Begin)}
	if event.InProgress != 0 {
		row.InProgress, row.Slow, row.WriterTid = true, false, 0
		row.LatencyNs = c.window.EndNs - int64(event.Begin)
		return row
	}
	row.UnsentNs, row.UnsentBy = int64(event.UnsentNs), unsentBy(event)
	row.LatencyNs = int64(event.LastSend - event.Begin)
	row.UploadNs = int64(event.LastRecv - event.FirstRecv)
	row.ServeNs = int64(event.FirstSend - event.LastRecv)
	row.AnswerNs = int64(event.LastSend - event.FirstSend)
	if name.moves {
		c.moves[row.Pid] = true
	}
	if c.estimate != nil {
		row.Weight = scaled(row.Weight, c.estimate.weight(float64(row.LatencyNs)))
	}
	if name.moves || event.Followed == 0 {
		row.Unfollowed = true
		return row
	}
	handover := int64(0)
	if event.OnWorker > event.FirstRecv {
		handover = int64(event.OnWorker - event.FirstRecv)
	}
	row.Spent = spentOf(&event.UsedNs, int64(event.UsedDownstreamNs), handover)
	if of := c.services[event.Downstream]; of != nil && row.DownstreamNs > 0 {
		row.Downstream = of.Service
	}
	return row
}

// countOpen notes a request that was not answered.
func (c *collection) countOpen(name kindName, ageNs int64) {
	for _, service := range c.services {
		if service.Side == name.side && service.Service == name.service {
			service.InProgress++
			service.OldestNs = max(service.OldestNs, ageNs)
			return
		}
	}
}

func sortedKeys[K cmp.Ordered, V any](of map[K]V) []K {
	keys := make([]K, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
