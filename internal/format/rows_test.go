package format

import (
	"testing"

	"culprit/recording"
)

// Full rows forget the CPU, then the time, and never an amount.
func TestRowsAddUpMoreCoarsely(t *testing.T) {
	r := newRows()
	r.limit = 64
	want := int64(0)
	for i := range int64(5000) {
		r.seen(i * 1e7)
		r.add(rowKey{tid: 1, cpu: int32(i % 8), stack: int32(i % 3)}, i*1e7, 1, i)
		want += i
	}
	if r.lost != 0 || len(r.list) > r.limit || r.sliceNs <= firstSliceNs || !r.noCPU {
		t.Errorf("%d rows in slices of %d ns, %d lost", len(r.list), r.sliceNs, r.lost)
	}
	got, count := int64(0), int64(0)
	for i, one := range r.list {
		got, count = got+one.weight, count+one.count
		if r.index[one.rowKey] != int32(i) {
			t.Errorf("row %d is found at %d", i, r.index[one.rowKey])
		}
	}
	if got != want || count != 5000 {
		t.Errorf("%d samples add up to %d, want %d", count, got, want)
	}
	for i := range int32(100) { // stacks cannot be merged: they are counted
		r.add(rowKey{tid: 1, stack: 100 + i}, 0, 1, 1)
	}
	if r.lost == 0 || len(r.list) > r.limit {
		t.Errorf("%d rows, %d lost", len(r.list), r.lost)
	}
	var rec recording.Recording
	r.into(&rec, []string{""}, func(one row) int64 { return one.weight })
	if len(rec.Manifest.BlindSpots) != 1 || len(rec.Manifest.Losses) != 1 {
		t.Errorf("manifest %+v", rec.Manifest)
	}
}

// A histogram's median is within a step of the true one.
func TestHistogramMedian(t *testing.T) {
	var h histogram
	if h.median() != 0 {
		t.Errorf("median of nothing is %v", h.median())
	}
	for i := int64(1); i <= 10_001; i++ {
		h.add(i * 1000)
	}
	h.add(-5)
	if median := h.median(); median < 5001e3*15/16 || median > 5001e3*17/16 {
		t.Errorf("median %v, want about 5001000", median)
	}
}

// What a sample is worth: from the clock's period, from cycles, from the header, from the
// distances, or assumed.
func TestWorth(t *testing.T) {
	for _, c := range []struct {
		name     string
		worth    worth
		periods  int64
		weighted bool
		want     int64
	}{
		{"clock", worth{isTime: true}, 5_000_000, true, 5_000_000},
		{"cycles at 2 GHz", worth{}, 20_000_000, true, 10_000_000},
		{"header", worth{hz: 200}, -1, false, 5_000_000},
		{"distances", worth{}, -1, false, 10_000_000},
	} {
		c.worth.last = map[int32]lastSample{}
		for i := range int64(100) {
			c.worth.add(perfSample{timeNs: i * 10_000_000, period: c.periods, tid: 1})
		}
		got := c.worth.settle(c.weighted).ns(row{count: 1, weight: max(0, c.periods)})
		if got < c.want*99/100 || got > c.want*101/100 {
			t.Errorf("%s: a sample is worth %d ns, want %d", c.name, got, c.want)
		}
	}
	nothing := worth{last: map[int32]lastSample{}}
	if how := nothing.settle(true); how.how == "" || how.periodNs != defaultPeriodNs {
		t.Errorf("without anything: %+v", how)
	}
}
