package agent

import (
	"fmt"
	"math"
	"slices"
	"time"

	"culprit/internal/fleet/window"
)

// A service leaves its own band when its CPU time lies outside of it for some windows in a row. The
// band is about the median of its last hour, as wide as so many robust standard deviations of it.
// Simulated: of noise that is normal, has the tails of t with 3 degrees of freedom, or remembers
// half of the window before, and of a daily pattern of ±30 %, less than 0.1 alarms a service and
// month; a step to 1.5 times at 5 % of noise is found in three windows.
const (
	bandHistory = 60  // windows
	bandLeast   = 30  // windows that a band takes
	bandInRow   = 3   // windows outside, on the same side
	bandWidth   = 5.0 // robust standard deviations
	bandFresh   = 5   // windows after which the band is worked out again
	bandRest    = time.Hour
	bandCPU     = 0.01 // cores below which a service is not looked at
	maxBands    = 256  // services
)

// bandFloor is the smallest change that counts.
var bandFloor = math.Log(1.3)

// bands are those of the services of a host.
type bands struct {
	of   map[string]*band
	turn int64
}

// band is what one service used before.
type band struct {
	values       []float64 // logarithms of cores, the oldest first
	median, wide float64
	age          int // windows since these were worked out
	outside      int // windows in a row, below 0 where they lie below the band
	rests        time.Duration
	seen         int64
}

func newBands() *bands { return &bands{of: map[string]*band{}} }

// see notes a window, and tells why there is to be a full one: "" for no reason.
func (b *bands) see(manifest *window.Window, at time.Duration) (why string) {
	b.turn++
	for i := range manifest.Services {
		service := &manifest.Services[i]
		cores := float64(service.CPUNs) / float64(max(1, manifest.LengthNs))
		one := b.of[service.Name]
		if one == nil {
			if len(b.of) >= maxBands || cores < bandCPU {
				continue
			}
			one = &band{}
			b.of[service.Name] = one
		}
		one.seen = b.turn
		if before, left := one.see(math.Log(max(cores, bandCPU/10)), at); left && why == "" {
			why = fmt.Sprintf("%s left its band: %.3g cores instead of %.3g", service.Name, cores, math.Exp(before))
		}
	}
	for name, one := range b.of {
		if b.turn-one.seen > bandHistory {
			delete(b.of, name)
		}
	}
	return why
}

// see notes one value; true when it is the last of those in a row that lie outside, with the median
// of before.
func (b *band) see(value float64, at time.Duration) (before float64, left bool) {
	if len(b.values) >= bandLeast {
		if b.age++; b.wide == 0 || b.age >= bandFresh && b.outside == 0 {
			b.workOut()
		}
		switch distance := value - b.median; {
		case distance > b.wide && b.outside >= 0:
			b.outside++
		case distance < -b.wide && b.outside <= 0:
			b.outside--
		default:
			b.outside = 0
		}
	}
	b.values = append(b.values, value)
	b.values = b.values[max(0, len(b.values)-bandHistory):]
	if b.outside < bandInRow && b.outside > -bandInRow {
		return 0, false
	}
	before = b.median
	rests := at < b.rests
	// What it uses now is its band from here on.
	*b = band{values: slices.Clone(b.values[len(b.values)-bandInRow:]), seen: b.seen, rests: b.rests}
	if rests || before < math.Log(bandCPU) && value < math.Log(bandCPU) {
		return 0, false
	}
	b.rests = at + bandRest
	return before, true
}

// workOut finds the middle of the band and how far it reaches.
func (b *band) workOut() {
	b.age = 0
	sorted := slices.Sorted(slices.Values(b.values))
	b.median = sorted[len(sorted)/2]
	for i := range sorted {
		sorted[i] = math.Abs(sorted[i] - b.median)
	}
	slices.Sort(sorted)
	const perMAD = 1.4826 // standard deviations of normal noise
	b.wide = max(bandFloor, bandWidth*perMAD*sorted[len(sorted)/2])
}
