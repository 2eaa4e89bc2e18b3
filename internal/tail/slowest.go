package tail

import (
	"cmp"
	"fmt"
	"slices"

	"culprit/internal/cause"
	"culprit/recording"
)

const (
	slowestCount = 10
	stretchLeast = 0.02 // of a request: shorter ones are left out of its line
)

// slowest gives the slowest requests whole.
func slowest(groups []*group, reader *reader) []Line {
	var all []*asked
	for _, g := range groups {
		all = append(all, g.slow...)
	}
	slices.SortFunc(all, func(a, b *asked) int { return cmp.Compare(b.row.LatencyNs, a.row.LatencyNs) })
	lines := []Line{}
	for _, a := range all[:min(len(all), slowestCount)] {
		line := lineOf(a, reader, (*Stretch).joins)
		line.Parts = slices.DeleteFunc(line.Parts, func(s Stretch) bool { return s.Seconds < stretchLeast*line.Seconds })
		lines = append(lines, line)
	}
	return lines
}

// lineOf gives one request as a line of time; neighbours that join are one stretch.
func lineOf(a *asked, reader *reader, join func(before, next *Stretch) bool) Line {
	row := a.row
	line := Line{Kind: row.Kind, Service: row.Service, Started: float64(row.TimeNs) / 1e9,
		Seconds: float64(row.LatencyNs) / 1e9, Status: row.Status, Parts: []Stretch{}}
	order := make([]int, len(a.parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(a.parts[i].TimeNs, a.parts[k].TimeNs) })
	for _, i := range order {
		part := a.parts[i]
		stretch := Stretch{Class: part.Class, At: float64(part.TimeNs-row.TimeNs) / 1e9, Before: part.Before,
			Seconds: float64(part.LengthNs) / 1e9, Where: a.buckets[i].place, HeldBy: reader.heldBy(part),
			Stack: part.Stack, HolderStack: reader.holderStack(part)}
		switch {
		case reader.waitsInKernel(part):
			stretch.Class = recording.PartLock
		case a.buckets[i].cause == cause.SleepDeliberate: // by an event loop's timer as well
			stretch.Class = recording.PartSleep
		}
		if n := len(line.Parts); n > 0 && join(&line.Parts[n-1], &stretch) {
			line.Parts[n-1].Seconds += stretch.Seconds
			continue
		}
		line.Parts = append(line.Parts, stretch)
	}
	return line
}

// joins tells that a stretch goes on with the one before it.
func (s *Stretch) joins(next *Stretch) bool {
	return s.Class == next.Class && s.Before == next.Before && s.Where == next.Where && s.HeldBy == next.HeldBy
}

// heldBy says who kept the thread.
func (r *reader) heldBy(part *recording.RequestPart) string {
	switch {
	case part.Class == recording.PartQueued && part.RunnerComm != "":
		return part.RunnerComm
	case r.waitsForLock(part) && part.WakerComm != "":
		if held := r.holding(part); held.place != "" {
			return fmt.Sprintf("%s in %s", held.comm, held.place)
		}
		return part.WakerComm
	case part.Behind != 0:
		return fmt.Sprintf("request %d", part.Behind)
	}
	return ""
}

// unseen says how many requests could not be followed, and why.
func (r *Result) unseen(rec *recording.Recording, left int64) {
	tell := func(count int64, why string) {
		if count > 0 {
			r.Unseen.Requests += count
			r.Unseen.Why = append(r.Unseen.Why, fmt.Sprintf("%d %s", count, why))
		}
	}
	var multiplexed, open, unfollowed, unnamed int64
	encrypted := false
	for i := range rec.Services {
		multiplexed += rec.Services[i].Multiplexed
		open += rec.Services[i].InProgress
	}
	for i := range rec.Requests {
		if rec.Requests[i].Side == recording.SideServer {
			unfollowed += rec.Requests[i].Unfollowed
			encrypted = encrypted || rec.Requests[i].Protocol == "tls"
		}
		if rec.Requests[i].Kind == recording.PathNotSeen {
			unnamed += rec.Requests[i].Count
		}
	}
	tell(left, "left out: the recorder itself had the CPU meanwhile")
	tell(multiplexed, "streams of HTTP/2 that could not be followed")
	if unnamed > 0 {
		r.Unseen.Why = append(r.Unseen.Why, fmt.Sprintf("of %d requests the path: their connections (HTTP/2) are older "+
			"than the recording", unnamed))
	}
	if encrypted {
		r.Unseen.Why = append(r.Unseen.Why, "what is within TLS: its streams of HTTP/2 side by side count as one request")
	}
	tell(open, "not answered when the window ended")
	tell(unfollowed, "moved between threads: what those not looked at waited for is known as far as it was found "+
		"beside them")
	if watched := rec.Manifest.Watched; watched != nil {
		r.Unseen.Why = append(r.Unseen.Why, watched.String())
		return // what is not kept in full was not watched
	}
	for _, kind := range r.Requests {
		if missing := kind.Slow.Count - int64(kind.Slow.Kept); missing > kind.Slow.Count/20 {
			tell(missing, fmt.Sprintf("slow ones of %s were not kept in full: what is slow was learned as they came",
				kind.Kind.Kind))
		}
	}
}
