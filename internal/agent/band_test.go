package agent

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"culprit/internal/fleet/window"
)

const month = 30 * 24 * 60 // windows

// alarms runs a band over months of noise, and counts.
func alarms(months int, noise func(*rand.Rand, int) float64) (count int) {
	random := rand.New(rand.NewPCG(7, 11))
	for range months {
		one := &band{}
		for minute := range month {
			if _, left := one.see(noise(random, minute), time.Duration(minute)*time.Minute); left {
				count++
			}
		}
	}
	return count
}

// A service that does what it always does has less than 0.1 alarms a month.
func TestBandFalseAlarms(t *testing.T) {
	t.Parallel()
	months := 30
	if testing.Short() {
		months = 10
	}
	memory := 0.0
	for _, test := range []struct {
		name  string
		noise func(*rand.Rand, int) float64
	}{
		{"normal", func(r *rand.Rand, _ int) float64 { return 0.1 * r.NormFloat64() }},
		{"tails of t3", func(r *rand.Rand, _ int) float64 {
			sum := 0.0
			for range 3 {
				x := r.NormFloat64()
				sum += x * x
			}
			return 0.1 * r.NormFloat64() / math.Sqrt(sum/3)
		}},
		{"remembers half", func(r *rand.Rand, _ int) float64 {
			memory = 0.5*memory + 0.1*r.NormFloat64()
			return memory
		}},
		{"by day", func(r *rand.Rand, minute int) float64 {
			return 0.3*math.Sin(2*math.Pi*float64(minute)/1440) + 0.05*r.NormFloat64()
		}},
	} {
		if count := alarms(months, test.noise); count > months/10 {
			t.Errorf("%s: %d alarms in %d months", test.name, count, months)
		}
	}
}

// A step of half as much again is found in three windows.
func TestBandFindsSteps(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	found := 0
	for range 200 {
		one := &band{}
		for minute := range 123 {
			value := 0.05 * random.NormFloat64()
			if minute >= 120 {
				value += math.Log(1.5)
			}
			if _, left := one.see(value, time.Duration(minute)*time.Minute); left && minute == 122 {
				found++
			}
		}
	}
	if found < 190 {
		t.Errorf("%d of 200 steps are found in three windows", found)
	}
}

// The full window says which service it is for; there is one, and a service that hardly runs has
// none.
func TestBandsOfServices(t *testing.T) {
	b := newBands()
	told := []string{}
	for minute := range 200 {
		web, cron := int64(12e9), int64(1e7)
		if minute >= 100 {
			web, cron = 30e9, 3e8
		}
		why := b.see(&window.Window{LengthNs: 60e9, Services: []window.Service{{Name: "web", CPUNs: web},
			{Name: "cron", CPUNs: cron}}}, time.Duration(minute)*time.Minute)
		if why != "" {
			told = append(told, why)
		}
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "web left its band: 0.5 cores instead of 0.2") {
		t.Errorf("told %q", told)
	}
}
