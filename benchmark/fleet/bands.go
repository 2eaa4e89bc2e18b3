package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"culprit/internal/fleet/bands"
)

// law draws the logarithm of a host's cost; noise of its measurement is added.
type law struct {
	name string
	draw func(*rand.Rand) float64
}

func normal(sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return sd * r.NormFloat64() }
}

// single are fleets with one mode, as fleets have it.
var single = []law{
	{"normal", normal(0.08)},
	{"raw lognormal", func(r *rand.Rand) float64 { return math.Exp(0.4*r.NormFloat64()) / 5 }},
	{"raw gamma 4", func(r *rand.Rand) float64 { return gamma(r, 4) / 20 }},
	{"log gamma 2", func(r *rand.Rand) float64 { return math.Log(gamma(r, 2)) / 5 }},
	{"t with 3 degrees", func(r *rand.Rand) float64 {
		return 0.05 * r.NormFloat64() / math.Sqrt(2*gamma(r, 1.5)/3)
	}},
	{"Laplace", func(r *rand.Rand) float64 { return 0.05 * (r.ExpFloat64() - r.ExpFloat64()) }},
	{"skew normal", func(r *rand.Rand) float64 { return 0.098*math.Abs(r.NormFloat64()) + 0.02*r.NormFloat64() }},
	{"flat load", func(r *rand.Rand) float64 { return math.Log(1+0.4*r.Float64()) + 0.01*r.NormFloat64() }},
	{"sloping load", func(r *rand.Rand) float64 {
		a, b := gamma(r, 2), gamma(r, 5)
		return math.Log(1+0.5*a/(a+b)) + 0.03*r.NormFloat64()
	}},
	{"2 % sick hosts", func(r *rand.Rand) float64 {
		if r.Float64() < 0.02 {
			return 0.4 + 0.04*r.NormFloat64()
		}
		return 0.04 * r.NormFloat64()
	}},
}

// gamma sums exponentials, and half a square of a normal for a half.
func gamma(r *rand.Rand, shape float64) float64 {
	sum := 0.0
	for ; shape >= 1; shape-- {
		sum += r.ExpFloat64()
	}
	if shape > 0 {
		z := r.NormFloat64()
		sum += z * z / 2
	}
	return sum
}

func measureBands(fleets int, seed uint64) error {
	fmt.Println("one band, told as two, %\nhosts", names(single))
	for _, hosts := range []int{20, 40, 100} {
		fmt.Printf("%5d", hosts)
		for _, one := range single {
			share, err := told(fleets, hosts, one.draw, 0, 1, seed)
			if err != nil {
				return err
			}
			fmt.Printf(" %5.1f", 100*share)
		}
		fmt.Println()
	}
	fmt.Println("two bands, found, %: share of the dear band, ratio, sd within a band")
	for _, two := range []struct {
		hosts            int
		share, ratio, sd float64
	}{{40, 0.12, 1.3, 0.03}, {40, 0.12, 1.3, 0.05}, {100, 0.12, 1.3, 0.03}, {100, 0.12, 1.3, 0.05}, {100, 0.12, 1.3, 0.06},
		{100, 0.12, 1.3, 0.08}, {100, 0.88, 1.3, 0.05}, {100, 0.05, 1.3, 0.03}, {100, 0.12, 1.15, 0.03},
		{40, 0.3, 1.3, 0.05}, {100, 0.3, 1.3, 0.08}, {200, 0.12, 1.3, 0.05}, {200, 0.12, 1.3, 0.08}} {
		share, err := told(fleets, two.hosts, normal(two.sd), two.share, two.ratio, seed)
		if err != nil {
			return err
		}
		fmt.Printf("%5d hosts %3.0f %% × %.2f, %2.0f %%: %5.1f\n", two.hosts, 100*two.share, two.ratio, 100*two.sd, 100*share)
	}
	return nil
}

func names(laws []law) []string {
	var names []string
	for _, law := range laws {
		names = append(names, law.name)
	}
	return names
}

// told is the share of fleets in which two bands are told.
func told(fleets, n int, draw func(*rand.Rand) float64, share, ratio float64, seed uint64) (float64, error) {
	two := 0
	for fleet := range fleets {
		random := rand.New(rand.NewPCG(seed, uint64(fleet)))
		hosts := make([]bands.Host, n)
		for i := range hosts {
			y := draw(random) + 0.01*random.NormFloat64()
			if i < int(math.Round(share*float64(n))) {
				y += math.Log(ratio)
			}
			hosts[i] = bands.Host{Name: fmt.Sprint(i), Value: math.Exp(y)}
		}
		answer, err := bands.Find(hosts, bands.Options{Seed: seed + uint64(fleet)})
		if err != nil {
			return 0, err
		}
		if answer.Two {
			two++
		}
	}
	return float64(two) / float64(fleets), nil
}
