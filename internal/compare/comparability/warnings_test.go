package comparability

import (
	"slices"
	"strings"
	"testing"
	"time"

	"culprit/recording"
)

func TestOneAfterOther(t *testing.T) {
	at := func(seconds ...int) (group []*recording.Recording) {
		for _, second := range seconds {
			rec := &recording.Recording{}
			if second >= 0 {
				rec.Manifest.StartedAt = time.Unix(1700000000+int64(second), 0)
			}
			group = append(group, rec)
		}
		return group
	}
	for name, c := range map[string]struct {
		a, b   []*recording.Recording
		blocks bool
		says   string
	}{
		"A first":           {at(1, 2, 3), at(4, 5, 6), true, "all recordings of A are older than those of B"},
		"B first":           {at(14, 12, 13), at(4, 5), true, "all recordings of B are older than those of A"},
		"a day between":     {at(1, 2, 3), at(90000, 90001), true, "by far more time than either side took"},
		"a minute between":  {at(1, 20), at(80, 90), true, "allows for a steady drift"},
		"in turn":           {at(1, 4, 5), at(2, 3, 6), false, ""},
		"no time is known":  {at(1, 2), at(-1, 5), false, ""},
		"one side":          {at(1, 2), nil, false, ""},
		"one of each":       {at(1), at(2), true, ""},
		"begun at one time": {at(1, 2), at(2, 3), false, ""},
	} {
		timesA, timesB := OneAfterOther(c.a, c.b)
		if (timesA != nil) != c.blocks || c.blocks && (len(timesA) != len(c.a) || len(timesB) != len(c.b)) {
			t.Errorf("%s: %v, %v", name, timesA, timesB)
		}
		warned := slices.ContainsFunc(inBlocks(c.a, c.b), func(text string) bool { return strings.Contains(text, c.says) })
		if warned != (c.says != "") {
			t.Errorf("%s: %v", name, inBlocks(c.a, c.b))
		}
	}
}

func TestNumbersOfWarnings(t *testing.T) {
	for value, want := range map[float64]string{200000: "200000", 1e7 + 0.4: "10000000", 12.5: "12.5", 0.0041: "0.004",
		999.9996: "1000", 0: "0"} {
		if got := number(value); got != want {
			t.Errorf("%v is written %q, want %q", value, got, want)
		}
	}
}

func TestHostsOfTwoNames(t *testing.T) {
	on := func(names ...string) (group []*recording.Recording) {
		for _, name := range names {
			group = append(group, &recording.Recording{Manifest: recording.Manifest{Host: name}})
		}
		return group
	}
	for name, c := range map[string]struct {
		a, b []*recording.Recording
		warn bool
	}{
		"two hosts": {on("web1", "web1"), on("web2"), true}, "one host": {on("web1"), on("web1"), false},
		"the same hosts on both sides": {on("web1", "web2"), on("web2", "web1"), false},
		"a name is missing":            {on("web1"), on(""), false},
	} {
		got := strings.Join(otherHosts(c.a, c.b), " ")
		if strings.Contains(got, "recorded on other hosts, web1 and web2") != c.warn || !c.warn && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
