package report

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode"

	"culprit/internal/cause"
	"culprit/internal/investigate"

	"github.com/rivo/uniseg"
)

// judgedCase is the worse case with a ledger that has an entry of each kind.
func judgedCase() *investigate.Case {
	c := worseCase()
	const (
		stamp  = "main;serve;handle_request;stamp_now;syscall;clock_gettime"
		ticker = "clone;ticker_thread;nanosleep"
		parse  = "main;serve;parse_request"
		few    = "less than 5 % of the growth"
	)
	c.Why = &cause.Why{Growth: 0.359, Nobody: -0.0031,
		Entries: []cause.Entry{
			{Rule: "competitor", Action: cause.TookBack, Cause: "cpu.starved", Seconds: 0.0412,
				Because: "strangers had as much of the host's CPUs on the other side"},
			{Rule: "helper on the CPU", Action: cause.Passed, Cause: "code.grew", Seconds: 0.0114,
				Because: few},
			{Rule: "clock reads", Action: cause.Gave, Cause: "clock.vdso-bypassed", Place: stamp,
				Seconds: 0.334},
			{Rule: "ticker", Action: cause.Gave, Cause: "timer.ticker", Place: ticker, Seconds: 0.0124},
			{Rule: "lock", Action: cause.Passed, Cause: "lock.contended", Seconds: -0.00009647,
				Because: few},
			{Rule: "queue after a wait", Action: cause.Moved, Cause: "timer.ticker", Place: ticker,
				Seconds: 0.0021, From: []cause.ID{"cpu.starved", "code.grew"},
				Because: "who is woken queues for a CPU: that delay comes with each wait"},
			{Rule: "code", Action: cause.Gave, Cause: "code.grew", Place: parse, Seconds: 0.018},
		},
		Moves: []cause.Move{{Rule: "known cause before code", First: "timer.ticker", FirstPlace: ticker,
			Before: "clock.slow-source", BeforePlace: "clock source kvm-clock",
			Because: "the runs cannot tell which is larger, and code that waits is often slowed as well"}},
		LeftOut: []cause.LeftOut{{Cause: "code.grew", Place: parse,
			Because: "its interval reaches further below zero than its share is above"}},
		Second: &cause.Second{Cause: "timer.ticker", Place: ticker,
			Needs: "its interval would have to begin above that of the first, at 88 %; it begins at 1 %"},
	}
	return c
}

func whyOf(t *testing.T, c *investigate.Case, opts TextOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := Why(&out, c, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWhy(t *testing.T) {
	golden(t, "why.txt", []byte(whyOf(t, judgedCase(), TextOptions{})))
	narrow := TextOptions{Width: 60, Colour: true}
	golden(t, "why-colour-60.txt", []byte(whyOf(t, judgedCase(), narrow)))
	alone := judgedCase()
	alone.B, alone.Outcome, alone.Per, alone.Suspects = nil, investigate.Listed, "second", nil
	alone.Why.Moves, alone.Why.Second = nil, nil
	golden(t, "why-listed.txt", []byte(whyOf(t, alone, TextOptions{})))
}

// A case without a ledger says so, and why.
func TestWhyNothingWasJudged(t *testing.T) {
	empty := worseCase()
	empty.Why = &cause.Why{}
	for want, c := range map[string]*investigate.Case{
		"there is no difference": sameCase(), "is not decided": undecidedCase(),
		"nothing was recorded": worseCase(), "or the case is of a culprit": empty} {
		text := strings.Join(strings.Fields(whyOf(t, c, TextOptions{})), " ")
		if !strings.HasPrefix(text, "why nothing was judged: ") || !strings.Contains(text, want) {
			t.Errorf("%q, want %q in it", text, want)
		}
	}
}

// hostileWhy is a ledger with hostile text and numbers in every place.
func hostileWhy() *cause.Why {
	all := strings.Join(hostileNames(), ";")
	why := &cause.Why{Growth: math.MaxFloat64, Nobody: math.NaN(),
		Moves: []cause.Move{
			{Rule: cause.Rule(all), First: cause.ID(all), BeforePlace: all, Because: all}},
		LeftOut: []cause.LeftOut{{Cause: cause.ID(all), Place: all, Because: all}},
		Second:  &cause.Second{Cause: cause.ID(all), Place: all, Needs: all}}
	for _, action := range []cause.Action{cause.Gave, cause.Passed, cause.Action(all)} {
		why.Entries = append(why.Entries, cause.Entry{Rule: cause.Rule(all), Action: action,
			Cause: cause.ID(all), Place: all, From: []cause.ID{cause.ID(all)}, Seconds: math.Inf(-1),
			Because: all})
	}
	return why
}

// What a recorded program is called breaks neither the width nor the colours of the terminal.
func TestWhyOfHostileNames(t *testing.T) {
	c := hostileCase()
	for _, width := range []int{40, 60, 72, 100, 120} {
		for _, line := range strings.Split(whyOf(t, c, TextOptions{Width: width}), "\n") {
			if columns := uniseg.StringWidth(line); columns > width {
				t.Errorf("width %d: a line of %d columns: %s", width, columns, line)
			}
			if at := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); at >= 0 {
				t.Fatalf("width %d: the text contains %q", width, line[at:])
			}
		}
	}
}

func TestWhyRefusesNoCase(t *testing.T) {
	if err := Why(&bytes.Buffer{}, nil, TextOptions{}); err == nil {
		t.Error("no error without a case")
	}
	if err := Why(failingWriter{}, judgedCase(), TextOptions{}); !errors.Is(err, errFull) {
		t.Errorf("error is %v, want what the writer said", err)
	}
}
