package store

import (
	"cmp"
	"slices"
)

// frameTable is a FrameTable that is filled.
type frameTable struct {
	FrameTable
	columns map[int64]int // by id of a frame: several ids may be one place
	rows    map[[2]string]int
}

func newFrameTable(names map[int64]Place) *frameTable {
	t := &frameTable{columns: make(map[int64]int, len(names)), rows: map[[2]string]int{}}
	numbers := make(map[Place]int, len(names))
	for _, place := range names {
		if _, there := numbers[place]; !there {
			numbers[place] = 0
			t.Places = append(t.Places, place)
		}
	}
	slices.SortFunc(t.Places, func(x, y Place) int {
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Module, y.Module))
	})
	for number, place := range t.Places {
		numbers[place] = number
	}
	for id, place := range names {
		t.columns[id] = numbers[place]
	}
	return t
}

// scan adds one row of what was found: host, version, frame, its time with what it calls and its
// own.
func (t *frameTable) scan(scan func(...any) error, scaled factors) error {
	var host, version string
	var frame, total, self int64
	if err := scan(&host, &version, &frame, &total, &self); err != nil {
		return err
	}
	at := [2]string{host, version}
	number, there := t.rows[at]
	if !there {
		number, t.rows[at] = len(t.Rows), len(t.Rows)
		t.Rows = append(t.Rows, HostFrames{Host: host, Version: version, TotalNs: make([]int64, len(t.Places)),
			SelfNs: make([]int64, len(t.Places))})
	}
	column, known := t.columns[frame]
	if !known {
		return nil // its name was not found: its week has just been thrown away
	}
	factor := scaled.of(host, version)
	t.Rows[number].TotalNs[column] += int64(factor * float64(total))
	t.Rows[number].SelfNs[column] += int64(factor * float64(self))
	return nil
}

func (t *frameTable) sorted() *FrameTable {
	slices.SortFunc(t.Rows, func(x, y HostFrames) int {
		return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.Version, y.Version))
	})
	return &t.FrameTable
}
