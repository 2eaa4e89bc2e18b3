package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"culprit/internal/fleet/facts"
)

// factsOf draws families of facts that change together, with strays, lone ones, numbers and own
// names.
func factsOf(n int, random *rand.Rand) []facts.Fact {
	var table []facts.Fact
	add := func(name string, value func(host int) string) {
		fact := facts.Fact{Name: name, Values: make([]string, n)}
		for host := range n {
			fact.Values[host] = value(host)
		}
		table = append(table, fact)
	}
	shares := []float64{0.03, 0.1, 0.2, 0.3, 0.5}
	for family := range 25 {
		of, share := make([]int, n), shares[random.IntN(len(shares))]
		for host := range n {
			if random.Float64() < share {
				of[host] = 1
			}
		}
		for member := range int(math.Exp(random.Float64() * math.Log(120))) {
			stray := -1
			if random.Float64() < 0.2 {
				stray = random.IntN(n)
			}
			add(fmt.Sprintf("family%d.%d", family, member), func(host int) string {
				if host == stray {
					return fmt.Sprint(1 - of[host])
				}
				return fmt.Sprint(of[host])
			})
		}
	}
	for i := range 60 {
		add(fmt.Sprint("alone", i), func(int) string { return fmt.Sprint(random.IntN(2 + i%4)) })
	}
	for i := range 5 {
		add(fmt.Sprint("number", i), func(int) string { return fmt.Sprint(random.IntN(1000)) })
	}
	add("name", func(host int) string { return fmt.Sprint("host", host) })
	return table
}

func measureFacts(fleets int, seed uint64) error {
	fmt.Println("hosts, sd within a band, mislabelled: any fact without one %, true one first %, facts, partitions")
	for _, n := range []int{20, 40, 100, 200} {
		for _, c := range []struct{ sd, wrong float64 }{{0.05, 0}, {0.05, 0.05}, {0.05, 0.1}, {0.12, 0}} {
			var any, first float64
			var last *facts.Answer
			for fleet := range fleets {
				random := rand.New(rand.NewPCG(seed, uint64(fleet)))
				table := factsOf(n, random)
				strata, values, band := make([]string, n), make([]float64, n), make([]string, n)
				for host := range n {
					strata[host] = fmt.Sprint("zone", random.IntN(3))
					values[host] = c.sd * random.NormFloat64()
					band[host] = fmt.Sprint(host < max(2, int(math.Round(0.12*float64(n)))))
				}
				options := facts.Options{Strata: strata, Seed: uint64(fleet)}
				answer, err := facts.Search(values, table, options)
				if err != nil {
					return err
				}
				if len(answer.Findings) > 0 {
					any += 100 / float64(fleets)
				}
				for host := range n {
					if band[host] == "true" {
						values[host] += math.Log(1.3)
					}
					if random.Float64() < c.wrong {
						band[host] = fmt.Sprint(band[host] != "true")
					}
				}
				table = append(table, facts.Fact{Name: "true one", Values: band})
				if last, err = facts.Search(values, table, options); err != nil {
					return err
				}
				if len(last.Findings) > 0 && holds(last.Findings[0], "true one") {
					first += 100 / float64(fleets)
				}
			}
			fmt.Printf("%4d %4.2f %4.2f: %5.1f %5.1f %5d %4d\n", n, c.sd, c.wrong, any, first, last.Facts, last.Partitions)
		}
	}
	return nil
}

func holds(f facts.Finding, name string) bool {
	for _, fact := range f.Facts {
		if fact.Fact == name {
			return true
		}
	}
	return false
}
