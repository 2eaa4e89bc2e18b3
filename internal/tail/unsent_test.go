package tail

import (
	"testing"

	"culprit/internal/cause"
	"culprit/recording"
)

// What answers lie in sockets for counts where deliveries are compared, and nowhere else.
func TestAnswersKeptBack(t *testing.T) {
	for _, test := range []struct {
		why   string
		which string
		cause cause.ID // of the first suspect; "" for none
	}{
		{recording.UnsentSmall, Delivered, cause.NetDelayed},
		{recording.UnsentResent, Delivered, cause.NetLoss},
		{recording.UnsentFull, Delivered, ""},
		{recording.UnsentSmall, All, ""},
	} {
		dear := sideOf(usualSide)
		for _, rec := range dear {
			for i := range rec.SlowRequests {
				rec.SlowRequests[i].UnsentNs, rec.SlowRequests[i].UnsentBy = 40e6, test.why
			}
		}
		got := Between(sideOf(usualSide), dear, test.which)
		first := cause.ID("")
		if len(got.Suspects) > 0 {
			first = got.Suspects[0].Cause
		}
		if first != test.cause {
			t.Errorf("%s of %s: %q, want %q (%s)", test.why, test.which, first, test.cause, got.Why)
		}
	}
}
