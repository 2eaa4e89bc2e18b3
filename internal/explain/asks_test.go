package explain

import (
	"testing"

	"culprit/recording"
)

// asking is a recording of a service that asks so many times for each of 100 requests, and waits so
// many ms each time.
func asking(times, ms int64) []*recording.Recording {
	return []*recording.Recording{{RequestTables: recording.RequestTables{Requests: []recording.Request{
		{Side: recording.SideServer, Count: 100, TotalNs: 100 * (times*ms + 1) * 1e6},
		{Side: recording.SideClient, Count: 100 * times, TotalNs: 100 * times * ms * 1e6}}}}}
}

func TestAskedOftener(t *testing.T) {
	for name, one := range map[string]struct {
		a, b [2]int64 // times, ms
		want bool
	}{
		"eight questions in place of one":      {[2]int64{1, 2}, [2]int64{8, 2}, true},
		"slower answers":                       {[2]int64{1, 2}, [2]int64{1, 16}, false},
		"a few more questions, slow answers":   {[2]int64{2, 2}, [2]int64{3, 9}, false},
		"many more questions, a bit slower":    {[2]int64{1, 4}, [2]int64{6, 5}, true},
		"a service that the other asks not":    {[2]int64{0, 0}, [2]int64{1, 9}, false},
		"nothing that can be seen is asked":    {[2]int64{0, 0}, [2]int64{0, 0}, false},
		"fewer questions, much slower answers": {[2]int64{4, 1}, [2]int64{1, 20}, false},
	} {
		a, b := asksOf(asking(one.a[0], one.a[1])), asksOf(asking(one.b[0], one.b[1]))
		if got := b.oftenerThan(a); got != one.want {
			t.Errorf("%s: oftener %t, want %t (%+v, %+v)", name, got, one.want, a, b)
		}
	}
}
