package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"culprit/internal/tail"
	"culprit/recording"
)

// What a page holds of requests; the recording has all.
const (
	pageKindsMax  = 40
	pageKeptMax   = 12_000
	pagePartsMax  = 120_000
	pageSlicesMax = 240
	heatShift     = 2 // cells of the heat map are 4 buckets high: an 8th of their power of two
)

// RequestSide is one side of what a page shows of requests.
type RequestSide struct {
	Title      string
	Recordings []*recording.Recording
	Options    tail.Options
}

// requestPage is what the page draws of requests: of one recording, or of A and of B.
type requestPage struct {
	Sides []requestSide `json:"sides"`
}

// requestSide is one side: the latencies of all its recordings, and the course of the first that
// has requests.
type requestSide struct {
	Title      string        `json:"title"`
	Recordings int           `json:"recordings"`
	Told       []string      `json:"told"`    // what culprit tail says of the course
	Seconds    float64       `json:"seconds"` // of the course
	Starts     []float64     `json:"starts"`  // of its slices of time, in seconds
	Kinds      []requestKind `json:"kinds"`
	MoreKinds  int           `json:"more_kinds"` // that are left out
	Stacks     stackColumns  `json:"stacks"`
	Texts      []string      `json:"texts"` // classes, places and names, by number
	Kept       keptColumns   `json:"kept"`
	KeptLeft   int           `json:"kept_left"` // that are left out of the page
}

// requestKind is one kind of requests of one service.
type requestKind struct {
	Side     string  `json:"side"`
	Service  string  `json:"service"` // in words, with who serves
	Name     string  `json:"name"`
	Count    int64   `json:"count"`
	Errors   int64   `json:"errors"`
	Rate     float64 `json:"rate"`
	Over     float64 `json:"over"` // what is slow, in seconds; 0: none is
	Slow     int64   `json:"slow"`
	Unsent   float64 `json:"unsent"`  // seconds an answer lies in the socket in the mean: no part of the latency
	Buckets  []int32 `json:"buckets"` // of recording.LatencyOf
	Counts   []int64 `json:"counts"`
	Slice    []int   `json:"slice"` // cells of the heat map: slice of time, bucket / 4, requests
	Cell     []int32 `json:"cell"`
	InCell   []int64 `json:"in_cell"`
	protocol string
	service  string
	kind     string
}

// stackColumns is a tree of frames, each behind its parent.
type stackColumns struct {
	Names  []string `json:"names"`
	Kinds  []string `json:"kinds"`
	Name   []int    `json:"name"`
	Kind   []int    `json:"kind"`
	Parent []int    `json:"parent"` // -1 for none
}

// keptColumns are the requests in full: one array a field, the stretches of all behind each other.
type keptColumns struct {
	Kind    []int     `json:"kind"`
	Start   []float64 `json:"start"`
	Seconds []float64 `json:"seconds"`
	Slow    []int     `json:"slow"`
	Weight  []int64   `json:"weight"`
	Status  []int32   `json:"status"`
	Parts   []int     `json:"parts"` // how many stretches it has
	Class   []int     `json:"class"` // of each stretch, as the others below; numbers of Texts
	At      []float64 `json:"at"`
	Long    []float64 `json:"long"`
	Before  []int     `json:"before"`
	Where   []int     `json:"where"`
	HeldBy  []int     `json:"held_by"`
	Stack   []int     `json:"stack"` // its innermost frame in Stacks, -1 for none
	Holder  []int     `json:"holder"`
}

// requestPageOf gathers what the page draws; nil where no recording has requests.
func requestPageOf(sides ...RequestSide) *requestPage {
	page := &requestPage{Sides: []requestSide{}}
	any := false
	for _, side := range sides {
		shown := newRequestSide(side)
		any = any || len(shown.Kinds) > 0
		page.Sides = append(page.Sides, shown)
	}
	if !any {
		return nil
	}
	return page
}

func newRequestSide(side RequestSide) requestSide {
	b := &requestBuilder{at: map[string]int{}, texts: map[string]int{}, names: map[string]int{},
		kinds: map[string]int{}, nodes: map[stackKey]int{}, leaf: map[int32]int{}}
	b.side = requestSide{Title: visible(side.Title, nameRunesMax), Told: []string{}, Starts: []float64{},
		Kinds: []requestKind{}}
	b.text("") // number 0 is nothing
	for _, rec := range side.Recordings {
		if len(rec.Requests) == 0 {
			continue
		}
		b.side.Recordings++
		b.latencies(rec)
		if b.side.Recordings > 1 {
			continue
		}
		b.course(rec)
		found := tail.Explain(rec, side.Options)
		b.side.Told = toldOfTail(found)
		b.threshold(found)
		b.kept(rec, tail.KeptRequests(rec, side.Options))
	}
	return b.side
}

// toldOfTail says in lines what culprit tail found.
func toldOfTail(r *tail.Result) []string {
	lines := []string{tailHeadline(r) + "."}
	if len(r.Suspects) == 0 {
		return append(lines, "No suspect: "+visible(r.Why, 300)+".")
	}
	for i, suspect := range r.Suspects[:min(len(r.Suspects), suspectsMax)] {
		text := fmt.Sprintf("%s: %s of the extra time (%s to %s), %s", suspect.Cause, percent(suspect.Share.Value),
			percent(suspect.Share.Low), percent(suspect.Share.High), plural(r.Stalls[i], "stall"))
		if len(suspect.Where) > 0 {
			text += ": " + visible(strings.Join(suspect.Where, ", "), 200)
		}
		lines = append(lines, text+".")
	}
	return lines
}

// requestBuilder numbers what a side repeats.
type requestBuilder struct {
	side  requestSide
	at    map[string]int // kinds by what they are called
	texts map[string]int
	names map[string]int
	kinds map[string]int
	nodes map[stackKey]int
	leaf  map[int32]int // of a stack of the recording
}

type stackKey struct{ parent, name, kind int }

func (b *requestBuilder) text(text string) int { return index(b.texts, &b.side.Texts, text) }

// latencies adds the kinds of a recording to those of the side.
func (b *requestBuilder) latencies(rec *recording.Recording) {
	seconds := float64(rec.Manifest.WindowNs) / 1e9
	for _, kind := range tail.Summarize(rec) {
		key := kindKey(kind.Side, kind.Service, kind.Protocol, kind.Kind)
		place, known := b.at[key]
		if !known {
			if len(b.side.Kinds) == pageKindsMax {
				b.side.MoreKinds++
				continue
			}
			place = len(b.side.Kinds)
			b.at[key] = place
			b.side.Kinds = append(b.side.Kinds, requestKind{Side: kind.Side, Service: serviceTitle(&kind),
				Name: visible(kindTitle(&kind), nameRunesMax), service: kind.Service, protocol: kind.Protocol,
				kind: kind.Kind, Slice: []int{}, Cell: []int32{}, InCell: []int64{}})
		}
		k := &b.side.Kinds[place]
		buckets, counts := kind.Counts()
		if known {
			buckets, counts = addCounts(k.Buckets, k.Counts, buckets, counts)
		}
		k.Buckets, k.Counts = buckets, counts
		k.Rate = (k.Rate*float64(b.side.Recordings-1) + float64(kind.Count)/max(seconds, 1e-9)) /
			float64(b.side.Recordings)
		k.Unsent += (kind.Unsent - k.Unsent) * float64(kind.Count) / float64(max(1, k.Count+kind.Count))
		k.Count += kind.Count
		k.Errors += kind.Errors
	}
}

func kindKey(side, service, protocol, kind string) string {
	return strings.Join([]string{side, service, protocol, kind}, "\x00")
}

// addCounts joins two histograms, the quickest bucket first.
func addCounts(bucketsA []int32, countsA []int64, bucketsB []int32, countsB []int64) ([]int32, []int64) {
	sums := map[int32]int64{}
	for i, bucket := range bucketsA {
		sums[bucket] += countsA[i]
	}
	for i, bucket := range bucketsB {
		sums[bucket] += countsB[i]
	}
	return tail.InOrder(sums)
}

// threshold tells from when on requests are slow.
func (b *requestBuilder) threshold(found *tail.Result) {
	for i := range found.Requests {
		slow := &found.Requests[i]
		if place, known := b.at[kindKey(slow.Side, slow.Service, slow.Protocol, slow.Kind.Kind)]; known {
			b.side.Kinds[place].Over, b.side.Kinds[place].Slow = slow.Slow.Over, slow.Slow.Count
		}
	}
}

// course cuts the recording into slices of time, and each kind into cells of time and latency.
func (b *requestBuilder) course(rec *recording.Recording) {
	b.side.Seconds = float64(rec.Manifest.WindowNs) / 1e9
	var starts []int64
	for i := range rec.Requests {
		starts = append(starts, rec.Requests[i].TimeNs)
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	join := (len(starts) + pageSlicesMax - 1) / pageSlicesMax
	for i := 0; i < len(starts); i += join {
		b.side.Starts = append(b.side.Starts, float64(starts[i])/1e9)
	}
	cells := make([]map[[2]int32]int64, len(b.side.Kinds))
	for i := range rec.Requests {
		row := &rec.Requests[i]
		place, known := b.at[kindKey(row.Side, row.Service, row.Protocol, row.Kind)]
		if !known {
			continue
		}
		if cells[place] == nil {
			cells[place] = map[[2]int32]int64{}
		}
		at, _ := slices.BinarySearch(starts, row.TimeNs)
		for k, bucket := range row.Buckets {
			cells[place][[2]int32{int32(at / join), bucket >> heatShift}] += row.Counts[k]
		}
	}
	for place, found := range cells {
		var order [][2]int32
		for cell := range found {
			order = append(order, cell)
		}
		slices.SortFunc(order, func(x, y [2]int32) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
		kind := &b.side.Kinds[place]
		for _, cell := range order {
			kind.Slice, kind.Cell = append(kind.Slice, int(cell[0])), append(kind.Cell, cell[1])
			kind.InCell = append(kind.InCell, found[cell])
		}
	}
}
