package agent

import (
	"fmt"
	"time"
)

// The rates of light windows, in samples a second and CPU: the odd ones fall into step with nothing
// that ticks. Each is about two thirds of the one before.
var rates = []int{19, 13, 9, 5}

const (
	// saved is how long what was not spent is kept, and how much may be spent ahead: loading the
	// recorder takes what some minutes may.
	saved = 30 * time.Minute
	// patience is how many windows in a row are over the budget before the rate is lowered, and
	// calm how many are well below it before it is raised.
	patience = 2
	calm     = 10
	// wellBelow is the part of the budget that a window is to stay below to count as calm: the next
	// rate takes half more.
	wellBelow = 0.6
)

// budget keeps the cost of an agent to a share of the host's CPU time: it lowers the rate of
// samples, then leaves windows out. It is a purse that fills at the rate of the budget and that
// every window is paid from.
type budget struct {
	share float64 // of the host
	cpus  int
	purse float64 // seconds of CPU time
	step  int     // in rates
	over  int     // windows in a row
	below int
	last  float64 // share of the host that the last window took
}

func newBudget(share float64, cpus int) *budget {
	b := &budget{share: share, cpus: cpus}
	b.purse = b.most()
	return b
}

// most is what a full purse holds.
func (b *budget) most() float64 { return b.share * float64(b.cpus) * saved.Seconds() }

// hz is the rate of the next window.
func (b *budget) hz() int { return rates[b.step] }

// affords tells whether there is a next window. An empty purse has been overdrawn by what came
// before.
func (b *budget) affords() bool { return b.share <= 0 || b.purse > 0 }

// rest books a stretch without a window.
func (b *budget) rest(took, length time.Duration) {
	b.purse = min(b.most(), b.purse+b.share*float64(b.cpus)*length.Seconds()-took.Seconds())
}

// spend books a window, and tells what changes: "" for nothing.
func (b *budget) spend(took, length time.Duration) (did, why string) {
	if b.share <= 0 || length <= 0 {
		return "", ""
	}
	b.rest(took, length)
	b.last = took.Seconds() / length.Seconds() / float64(b.cpus)
	switch {
	case b.last > b.share:
		b.over, b.below = b.over+1, 0
	case b.last < wellBelow*b.share:
		b.over, b.below = 0, b.below+1
	default:
		b.over, b.below = 0, 0
	}
	before := b.hz()
	switch {
	case b.over >= patience && b.step < len(rates)-1 && b.purse < b.most()/2:
		b.step, b.over = b.step+1, 0
	case b.below >= calm && b.step > 0 && b.purse > b.most()/2:
		b.step, b.below = b.step-1, 0
	default:
		return "", ""
	}
	return fmt.Sprintf("%d instead of %d samples a second", b.hz(), before), b.text()
}

// text says how the last window stands to the budget.
func (b *budget) text() string {
	return fmt.Sprintf("the last window took %.2f %% of the host where %.2f %% are allowed", 100*b.last, 100*b.share)
}
