package investigate

import (
	"fmt"
	"slices"

	"culprit/internal/cause"
	"culprit/internal/stat"
)

// worthApart is the gain from which sharing cache lines is called costly, and below which harmless.
const worthApart = 1.05

// priceOf is what threads would gain if they did not share lines. On one CPU no line moves: what
// the same work takes there is what it would take without. ratio is that of the CPU time.
func priceOf(ratio stat.Interval, confidence float64) *cause.Price {
	price := &cause.Price{Verdict: cause.PriceUndecided, Gain: cause.Effect{Ratio: 1 / ratio.Value, Low: 1 / ratio.High,
		High: 1 / ratio.Low, Confidence: confidence}}
	switch {
	case ratio.Low <= 0:
		return nil
	case price.Gain.Low > worthApart:
		price.Verdict = cause.PriceCostly
	case price.Gain.High < worthApart:
		price.Verdict = cause.PriceHarmless
	}
	return price
}

// byPrice reports whether the price alone is the proof: of one side a suspect's share is the time
// of the code that touches the line, of which sharing is a part.
func (inv *investigation) byPrice(planned flip) bool { return planned.prices && inv.c.B == nil }

// verdictOf is what the trials of a flip say so far.
func (inv *investigation) verdictOf(planned flip, suspect *cause.Suspect, decision stat.Decision) string {
	if !inv.byPrice(planned) {
		return weigh(claimedPart(suspect.Share, inv.c.Effect), removedPart(decision.Ratio))
	}
	switch price := priceOf(decision.Ratio, decision.Confidence); {
	case price == nil:
	case price.Verdict == cause.PriceCostly:
		return provenVerdict
	case price.Verdict == cause.PriceHarmless:
		return refutedVerdict
	}
	return undecidedVerdict
}

// closelyPriced is how far from the price the ends of its interval may be for trials to end.
const closelyPriced = 1.25

// closeEnough reports whether a price that is the proof is known well enough to decide what to mend
// first. That a line costs something shows in the first pairs, how much does not: where a host
// moves its virtual CPUs, the same sharing costs three times as much from one minute to the next. A
// line that is free has its price.
func (inv *investigation) closeEnough(planned flip, decision stat.Decision) bool {
	price := priceOf(decision.Ratio, decision.Confidence)
	if !inv.byPrice(planned) || price == nil || price.Verdict != cause.PriceCostly {
		return true
	}
	return price.Gain.High <= closelyPriced*price.Gain.Ratio && price.Gain.Ratio <= closelyPriced*price.Gain.Low
}

// takePrice tells a suspect its price, which answers the doubt that sharing may cost nothing.
func takePrice(suspect *cause.Suspect, price *cause.Price) {
	if suspect.Price = price; price == nil || price.Verdict == cause.PriceUndecided {
		return
	}
	suspect.Doubts = slices.DeleteFunc(slices.Clone(suspect.Doubts), func(one cause.Doubt) bool {
		return one.Kind == cause.DoubtFree
	})
	suspect.InWords()
}

// pricedWhy says what a verdict by price rests on.
func pricedWhy(price *cause.Price, more int) string {
	switch {
	case price == nil:
		return "the trials differ too much"
	case price.Verdict == cause.PriceCostly:
		return "on one CPU no line moves, and the same work takes less"
	case price.Verdict == cause.PriceHarmless:
		return fmt.Sprintf("on one CPU no line moves, and the same work takes as long: not sharing would gain less "+
			"than %.0f %%", max(100*(price.Gain.High-1), 1))
	case more > 0:
		return fmt.Sprintf("about %d more pairs of trials would decide", more)
	}
	return "the trials do not decide"
}
