package investigate

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"culprit/internal/knob"
)

// throttleFlip lifts the tightest rate of a device that the suffering side's cgroup has and the
// other side's has not.
func (inv *investigation) throttleFlip() (flip, error) {
	suffering := inv.suffering()
	folder := inv.groupOf(suffering, "blkio")
	if folder == "" {
		folder = inv.groupOf(suffering, "io")
	}
	limits := ioLimits(inv.facts[suffering], inv.facts[otherSide(suffering)])
	if len(limits) == 0 || folder == "" || folder == "/" {
		return flip{}, errNoFlip
	}
	name := "cgroup.io." + limits[0].kind + "." + limits[0].device
	found, err := knob.Find(name, knob.Target{Cgroup: folder})
	if err != nil {
		return flip{}, fmt.Errorf("cgroup %s: %w", folder, err)
	}
	return flip{what: name + " of cgroup " + folder, knob: &found, from: limits[0].rate, to: "max"}, nil
}

// ioLimit is a rate that a cgroup may use of a device.
type ioLimit struct {
	kind, device, rate string
	bytesPerSecond     float64
}

// ioKinds are the kinds of limits: the fact, the name of the knob, whether operations are counted.
var ioKinds = []struct {
	fact, kind string
	operations bool
}{{"read_bps", "rbps", false}, {"write_bps", "wbps", false}, {"read_iops", "riops", true},
	{"write_iops", "wiops", true}}

// ioLimits are the limits of a side that the other side has not, the tightest first: by bytes a
// second, an operation counted as one page, the least that the page cache reads. Equal ones stand
// in the order of ioKinds, and of their devices in the fact.
func ioLimits(facts, other map[string]string) []ioLimit {
	var limits []ioLimit
	for _, each := range ioKinds {
		name := "target.cgroup.io." + each.fact
		if facts[name] == other[name] {
			continue
		}
		words := strings.Fields(facts[name]) // "8:0 1048576 8:16 4194304"
		for i := 0; i+1 < len(words); i += 2 {
			rate, err := strconv.ParseFloat(words[i+1], 64)
			if err != nil {
				continue
			}
			if each.operations {
				rate *= float64(os.Getpagesize())
			}
			limits = append(limits, ioLimit{each.kind, words[i], words[i+1], rate})
		}
	}
	slices.SortStableFunc(limits, func(x, y ioLimit) int {
		return cmp.Compare(x.bytesPerSecond, y.bytesPerSecond)
	})
	return limits
}
