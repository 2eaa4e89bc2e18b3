package investigate

import "testing"

// The limit that is lifted does not depend on the order of a map: it is the tightest.
func TestTightestLimitFirst(t *testing.T) {
	const name = "target.cgroup.io."
	for _, each := range []struct {
		what         string
		facts, other map[string]string
		want         string
	}{
		{"the lower rate", map[string]string{name + "read_bps": "8:0 2000000", name + "write_bps": "8:0 1000000"},
			nil, "wbps 8:0 1000000"},
		{"operations count as pages", map[string]string{name + "read_bps": "8:0 2000000",
			name + "read_iops": "8:0 10"}, nil, "riops 8:0 10"},
		{"many operations", map[string]string{name + "read_bps": "8:0 2000000", name + "read_iops": "8:0 5000"},
			nil, "rbps 8:0 2000000"},
		{"equal ones by kind", map[string]string{name + "write_bps": "8:0 1000000",
			name + "read_bps": "8:0 1000000"}, nil, "rbps 8:0 1000000"},
		{"the device with the lower rate", map[string]string{name + "read_bps": "8:0 2000000 8:16 1000000"},
			nil, "rbps 8:16 1000000"},
		{"not what both sides have", map[string]string{name + "read_bps": "8:0 9", name + "write_bps": "8:0 99"},
			map[string]string{name + "read_bps": "8:0 9"}, "wbps 8:0 99"},
		{"no number", map[string]string{name + "read_bps": "8:0 max"}, nil, ""},
		{"none", nil, nil, ""},
	} {
		for range 20 {
			got := ""
			if limits := ioLimits(each.facts, each.other); len(limits) > 0 {
				got = limits[0].kind + " " + limits[0].device + " " + limits[0].rate
			}
			if got != each.want {
				t.Fatalf("%s: %q, want %q", each.what, got, each.want)
			}
		}
	}
}
