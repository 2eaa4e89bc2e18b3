package store

import (
	"reflect"
	"testing"
)

// Frames of several ids are one place where their names are the same, and rows come out sorted.
func TestFrameTable(t *testing.T) {
	table := newFrameTable(map[int64]Place{7: {"work", "app"}, 8: {"main", "app"}, 9: {"work", "app"}, 5: {"work", ""}})
	type row struct {
		host, version      string
		frame, total, self int64
	}
	for _, r := range []row{{"b", "1", 7, 10, 5}, {"a", "2", 8, 4, 0}, {"a", "1", 9, 6, 6}, {"a", "1", 7, 1, 0},
		{"a", "1", 5, 2, 2}, {"a", "1", 404, 99, 99}} {
		if err := table.scan(func(into ...any) error {
			*into[0].(*string), *into[1].(*string) = r.host, r.version
			*into[2].(*int64), *into[3].(*int64), *into[4].(*int64) = r.frame, r.total, r.self
			return nil
		}, factors{{"a", "1"}: 2, {"a", "2"}: 1, {"b", "1"}: 1}); err != nil {
			t.Fatal(err)
		}
	}
	want := &FrameTable{Places: []Place{{"main", "app"}, {"work", ""}, {"work", "app"}},
		Rows: []HostFrames{{"a", "1", []int64{0, 4, 14}, []int64{0, 4, 12}},
			{"a", "2", []int64{4, 0, 0}, []int64{0, 0, 0}}, {"b", "1", []int64{0, 0, 10}, []int64{0, 0, 5}}}}
	if got := table.sorted(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestList(t *testing.T) {
	if got := list([]int64{5, -1, 1 << 62}); got != "5, -1, 4611686018427387904" {
		t.Error(got)
	}
}
